/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of edges, on several threads: each takes a part of the nodes and numbers the
 * names that it meets by itself; parts are then joined in order, so that the file does
 * not depend on the number of threads.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/vector.h"
#include "census/snapshot_internal.h"

enum { PARTS = 8 }; /* at a time */

struct part {
	hi_node first, end;
	struct hi_snapshot_strings strings;	    /* its own */
	struct names HI_VECTOR(uint32_t) names;	    /* offsets there, edge by edge */
	struct texts HI_VECTOR(const char *) texts; /* of one node */
	enum hi_status status;
	struct hi_error err;
};

struct labelling {
	const struct hi_snapshot_graph *in;
	struct part parts[PARTS];
	uint32_t *known; /* by offset in a part's strings: in all */
	size_t n_known;
};

static enum hi_status name_edges(const struct hi_snapshot_graph *in, struct part *p,
				 unsigned worker, hi_node node)
{
	uint32_t n = hi_graph_edges(in->graph, node).count;
	enum hi_status status;

	if (!n)
		return HI_OK;
	if (!hi_vector_reserve(&p->texts, n) ||
	    !hi_vector_reserve(&p->names, p->names.count + n))
		return hi_fail_memory(&p->err, "labels");
	memset(p->texts.items, 0, n * sizeof(*p->texts.items));
	status = in->label(in->arg, worker, node, p->texts.items, &p->err);
	for (uint32_t i = 0; i < n && status == HI_OK; i++)
		status = hi_snapshot_strings_add(&p->strings, p->texts.items[i],
						 &p->names.items[p->names.count++],
						 &p->err);
	return status;
}

/* hi_task_fn */
static void name_part(void *arg, size_t task, unsigned worker)
{
	struct labelling *l = arg;
	struct part *p = &l->parts[task];

	p->status = HI_OK;
	for (hi_node i = p->first; i < p->end && p->status == HI_OK; i++)
		p->status = name_edges(l->in, p, worker, i);
}

/* Where each string of a part is among all of them. */
static enum hi_status join_strings(struct labelling *l, const struct part *p,
				   struct hi_snapshot_writer *w, struct hi_error *err)
{
	const struct hi_snapshot_strings *own = &p->strings;

	if (own->size > l->n_known) {
		uint32_t *known = hi_realloc_array(l->known, own->size, sizeof(*known));

		if (!known)
			return hi_fail_memory(err, "labels");
		l->known = known;
		l->n_known = own->size;
	}
	for (size_t at = 0; at < own->size; at += strlen(own->text + at) + 1) {
		enum hi_status status =
			hi_snapshot_put_string(w, own->text + at, &l->known[at], err);

		if (status != HI_OK)
			return status;
	}
	return HI_OK;
}

static enum hi_status put_part(struct labelling *l, struct part *p,
			       struct hi_snapshot_writer *w, struct hi_error *err)
{
	enum hi_status status;

	if (p->status != HI_OK) {
		*err = p->err;
		return p->status;
	}
	status = join_strings(l, p, w, err);
	if (status != HI_OK)
		return status;
	for (size_t i = 0; i < p->names.count; i++)
		p->names.items[i] = l->known[p->names.items[i]];
	status = hi_snapshot_append(w, p->names.items,
				    p->names.count * sizeof(*p->names.items), err);
	p->names.count = 0;
	hi_snapshot_strings_free(&p->strings);
	return status;
}

static enum hi_status put_column(struct labelling *l, struct hi_snapshot_writer *w,
				 const char *name, hi_node first, hi_node end,
				 struct hi_error *err)
{
	unsigned threads = l->in->threads ? l->in->threads : 1;
	enum hi_status status = hi_snapshot_begin(w, name, sizeof(uint32_t), err);

	while (first < end && status == HI_OK) {
		size_t n = 0;

		for (; n < PARTS && first < end; n++) {
			hi_node left = end - first;

			l->parts[n].first = first;
			first += left < HI_CHUNK_NODES ? left : HI_CHUNK_NODES;
			l->parts[n].end = first;
		}
		hi_parallel(threads, n, name_part, l);
		for (size_t i = 0; i < n && status == HI_OK; i++)
			status = put_part(l, &l->parts[i], w, err);
	}
	return status == HI_OK ? hi_snapshot_end(w, err) : status;
}

enum hi_status hi_snapshot_put_labels(struct hi_snapshot_writer *w,
				      const struct hi_snapshot_graph *graph,
				      struct hi_error *err)
{
	const struct hi_graph *g = graph->graph;
	struct labelling *l = hi_calloc(1, sizeof(*l));
	enum hi_status status;

	if (!l)
		return hi_fail_memory(err, "labels");
	l->in = graph;
	status = put_column(l, w, "edges.label", 0, g->n_objects, err);
	if (status == HI_OK)
		status = put_column(l, w, "roots.label", g->first_root, g->first_kind,
				    err);
	for (unsigned i = 0; i < PARTS; i++) {
		hi_snapshot_strings_free(&l->parts[i].strings);
		hi_vector_free(&l->parts[i].names);
		hi_vector_free(&l->parts[i].texts);
	}
	free(l->known);
	free(l);
	return status;
}
