/* SPDX-License-Identifier: BSD-2-Clause */
/* Matches the objects of two heaps. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/analysis/compare_internal.h"
#include "census/events/births.h"

/* Types of both sides by one number. */
struct types {
	uint32_t *of_a, *of_b;
};

static bool is_matched_object(const struct hi_graph *g, hi_node i)
{
	return !(g->objects->flags[i] & HI_OBJECT_INTERNAL);
}

/* ---- one process: both tables are in the order of addresses ---- */

static bool have_one_recording(const struct hi_heap_side *before,
			       const struct hi_heap_side *after)
{
	return before->births && after->births &&
	       before->births->start_ns == after->births->start_ns;
}

bool hi_compare_knows_births(const struct hi_heap_side *before,
			     const struct hi_heap_side *after)
{
	return have_one_recording(before, after) && !after->births->sample_bytes;
}

bool hi_compare_is_reused(const struct hi_heap_side *before,
			  const struct hi_heap_side *after, hi_node was, hi_node object)
{
	uint64_t earliest;

	if (!have_one_recording(before, after) ||
	    !hi_birth_is_known(after->births, object))
		return false;
	earliest = hi_birth_is_known(before->births, was)
			   ? before->births->time_ns[was]
			   : before->births->end_ns - before->births->start_ns;
	return after->births->time_ns[object] > earliest;
}

static void match_addresses(const struct hi_heap_side *before,
			    const struct hi_heap_side *after, const struct types *t,
			    hi_node *before_of)
{
	const struct hi_graph *a = before->graph, *b = after->graph;
	hi_node i = 0, k = 0;

	while (i < a->n_objects && k < b->n_objects) {
		uint64_t x = hi_objects_address(a->objects, i);
		uint64_t y = hi_objects_address(b->objects, k);

		if (x == y && is_matched_object(a, i) && is_matched_object(b, k) &&
		    t->of_a[a->objects->type[i]] == t->of_b[b->objects->type[k]] &&
		    !hi_compare_is_reused(before, after, i, k))
			before_of[k] = i;
		i += x <= y;
		k += y <= x;
	}
}

/* ---- two processes: by type and path ---- */

struct signature {
	uint64_t hash;
	hi_node node;
};

static int by_hash(const void *a, const void *b)
{
	const struct signature *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static uint64_t hash_two(uint64_t a, uint64_t b)
{
	uint64_t both[2] = {a, b};

	return XXH3_64bits(both, sizeof(both));
}

const char *hi_compare_root_name(const char *name, bool same_process)
{
	const char *p = name;

	if (same_process || strncmp(p, "thread ", 7) != 0)
		return name;
	for (p += 7; *p >= '0' && *p <= '9'; p++)
		;
	return *p == ' ' ? p + 1 : name;
}

/* Names outlive builds; numbers of types do not matter, as both sides share them. */
static uint64_t hash_root(const struct hi_graph *g, hi_node node)
{
	const char *name;

	if (node < g->first_root || node >= g->first_kind)
		return 1;
	name = hi_compare_root_name(g->roots[node - g->first_root].name, false);
	return XXH3_64bits(name, strlen(name));
}

/* Hashes the ways of all nodes, down the dominator tree; of unreached nodes the type
 * alone. */
static void hash_ways(const struct hi_heap_side *side, const uint32_t *types,
		      uint64_t *hashes)
{
	const struct hi_dominators *d = side->dominators;
	const struct hi_graph *g = side->graph;

	for (hi_node i = 0; i < g->n_objects; i++)
		hashes[i] = hash_two(2, types[g->objects->type[i]]);
	for (hi_node i = 0; i < d->n_order; i++) {
		hi_node node = d->order[i], up = d->idom[node];

		if (node >= g->n_objects)
			hashes[node] = hash_root(g, node);
		else if (up < g->n_objects &&
			 types[g->objects->type[up]] == types[g->objects->type[node]])
			hashes[node] = hashes[up];
		else if (up != HI_NODE_NONE)
			hashes[node] =
				hash_two(hashes[up], types[g->objects->type[node]]);
	}
}

static enum hi_status make_signatures(const struct hi_heap_side *side,
				      const uint32_t *types, struct signature **ret,
				      size_t *n_ret, struct hi_error *err)
{
	const struct hi_graph *g = side->graph;
	HI_GUARD(free) uint64_t *hashes = hi_calloc(g->n_nodes, sizeof(*hashes));
	struct signature *all = hi_alloc(((size_t)g->n_objects + 1) * sizeof(*all));
	size_t n = 0;

	if (!hashes || !all) {
		free(all);
		return hi_fail_memory(err, "comparison");
	}
	hash_ways(side, types, hashes);
	for (hi_node i = 0; i < g->n_objects; i++)
		if (is_matched_object(g, i))
			all[n++] = (struct signature){hashes[i], i};
	if (n)
		qsort(all, n, sizeof(*all), by_hash);
	*ret = all;
	*n_ret = n;
	return HI_OK;
}

static enum hi_status match_ways(const struct hi_heap_side *before,
				 const struct hi_heap_side *after, const struct types *t,
				 hi_node *before_of, struct hi_error *err)
{
	HI_GUARD(free) struct signature *a = NULL, *b = NULL;
	size_t n = 0, m = 0, i = 0, k = 0;
	enum hi_status status = make_signatures(before, t->of_a, &a, &n, err);

	if (status == HI_OK)
		status = make_signatures(after, t->of_b, &b, &m, err);
	if (status != HI_OK)
		return status;
	while (i < n && k < m) {
		if (a[i].hash < b[k].hash)
			i++;
		else if (b[k].hash < a[i].hash)
			k++;
		else
			before_of[b[k++].node] = a[i++].node;
	}
	return HI_OK;
}

enum hi_status hi_compare_match(const struct hi_heap_side *before,
				const struct hi_heap_side *after, bool same_process,
				hi_node *before_of, struct hi_error *err)
{
	HI_GUARD(free)
	uint32_t *of_a = hi_calloc(before->graph->n_types, sizeof(*of_a));
	HI_GUARD(free)
	uint32_t *of_b = hi_calloc(after->graph->n_types, sizeof(*of_b));
	HI_GUARD(free) const char **texts = NULL;
	struct types t = {of_a, of_b};
	uint32_t n;
	enum hi_status status;

	if (!of_a || !of_b)
		return hi_fail_memory(err, "comparison");
	status = hi_compare_merge_types(before->graph, after->graph, HI_COMPARE_BY_TYPE,
					of_a, of_b, &texts, &n, err);
	if (status != HI_OK)
		return status;
	if (!same_process)
		return match_ways(before, after, &t, before_of, err);
	match_addresses(before, after, &t, before_of);
	return HI_OK;
}
