/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/nearest_holder.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/analysis/walk_internal.h"

struct nearest_job {
	const struct hi_graph *graph;
	const struct hi_reach *reach;
	uint32_t *root_of;
	hi_node *queue; /* every node once, by distance */
	size_t first, n;
};

enum hi_nearest_class hi_nearest_class_of(const struct hi_root *root)
{
	switch (root->kind) {
	case HI_ROOT_RUNTIME:
		return strncmp(root->name, "module ", 7) == 0 ? HI_NEAREST_MODULES
							      : HI_NEAREST_RUNTIME;
	case HI_ROOT_GLOBAL:
		return HI_NEAREST_GLOBALS;
	case HI_ROOT_TLS:
		return HI_NEAREST_TLS;
	case HI_ROOT_STACK:
		return HI_NEAREST_STACK;
	default:
		return HI_NEAREST_WORDS;
	}
}

const char *hi_nearest_class_name(enum hi_nearest_class klass)
{
	static const char *const names[HI_NEAREST_CLASSES] = {
		"modules",	 "globals",	 "runtime",
		"thread-locals", "stack frames", "untyped words"};

	return klass < HI_NEAREST_CLASSES ? names[klass] : "";
}

static void queue_nearest(struct nearest_job *job, hi_node node, uint32_t root)
{
	if (job->root_of[node] != HI_NEAREST_NONE)
		return;
	job->root_of[node] = root;
	job->queue[job->n++] = node;
}

/* Note [Flow graph] in dominators.c */
static bool is_near_edge(const struct hi_reach *reach, hi_node from, hi_node to,
			 uint8_t grade)
{
	if (hi_bit(reach->exact, to))
		return hi_bit(reach->exact, from) && hi_grade_is_precise(grade);
	return grade != HI_GRADE_WEAK;
}

/* From all roots of a rank; what those of a better one reach is done. */
static void walk_by_distance(struct nearest_job *job, enum hi_root_rank rank)
{
	const struct hi_graph *g = job->graph;

	for (unsigned klass = 0; klass < HI_NEAREST_CLASSES; klass++)
		for (uint32_t i = 0; i < g->n_roots; i++)
			if (hi_root_rank(&g->roots[i]) == rank &&
			    hi_nearest_class_of(&g->roots[i]) == klass &&
			    hi_bit(job->reach->any, g->first_root + i))
				queue_nearest(job, g->first_root + i, i);
	while (job->first < job->n) {
		hi_node from = job->queue[job->first];
		struct hi_edges edges = hi_graph_edges(g, from);

		hi_walk_look_ahead(g, job->queue + job->first, job->n - job->first,
				   job->root_of);
		job->first++;
		for (uint32_t i = 0; i < edges.count; i++)
			if (is_near_edge(job->reach, from, edges.to[i], edges.grade[i]))
				queue_nearest(job, edges.to[i], job->root_of[from]);
	}
}

void hi_nearest_sum_kinds(const struct hi_nearest *nearest, const struct hi_graph *g,
			  const struct hi_dominators *d,
			  uint64_t bytes[HI_NEAREST_CLASSES])
{
	for (hi_node at = 1; at < d->n_order; at += d->span[at]) {
		hi_node node = d->order[at];
		uint32_t root = nearest->root_of[node];

		if (hi_graph_is_object(g, node) && root != HI_NEAREST_NONE)
			bytes[hi_nearest_class_of(&g->roots[root])] += d->retained[node];
	}
}

enum hi_status hi_nearest_compute(const struct hi_graph *g, const struct hi_reach *reach,
				  struct hi_nearest **ret, struct hi_error *err)
{
	HI_GUARD(hi_nearest_destroy)
	struct hi_nearest *nearest = hi_calloc(1, sizeof(*nearest));
	size_t size = ((size_t)g->n_nodes + 1) * sizeof(hi_node);
	struct nearest_job job = {
		.graph = g, .reach = reach, .queue = hi_pages_alloc(size)};
	bool ok = nearest && job.queue && hi_nearest_prepare(nearest, g);

	if (ok) {
		job.root_of = nearest->root_of;
		for (unsigned rank = HI_RANKS; rank-- > HI_RANK_NOBODY;)
			walk_by_distance(&job, (enum hi_root_rank)rank);
		*ret = hi_take(nearest);
	}
	hi_pages_free(job.queue, size);
	return ok ? HI_OK : hi_fail_memory(err, "nearest variables");
}

bool hi_nearest_prepare(struct hi_nearest *nearest, const struct hi_graph *g)
{
	nearest->size = ((size_t)g->n_nodes + 1) * sizeof(*nearest->root_of);
	nearest->root_of = hi_pages_alloc(nearest->size);
	if (nearest->root_of)
		memset(nearest->root_of, 0xff, nearest->size); /* HI_NEAREST_NONE */
	return nearest->root_of;
}

void hi_nearest_destroy(struct hi_nearest *nearest)
{
	if (!nearest)
		return;
	hi_pages_free(nearest->root_of, nearest->size);
	free(nearest);
}
