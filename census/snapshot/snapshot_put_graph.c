/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a graph as columns. The rows of roots are stored apart; the nodes of their
 * kinds are made again by the reader.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "base/parallel.h"
#include "base/vector.h"
#include "census/analysis/walk_internal.h"
#include "census/graph/graph_internal.h"
#include "census/graph/objects_internal.h"
#include "census/snapshot/snapshot_internal.h"

struct put {
	struct hi_snapshot_writer *w;
	const struct hi_snapshot_graph *in;
	const struct hi_graph *g;
	struct hi_error *err;
};

/* ---- names ---- */

static enum hi_status put_snapshot_types(struct put *p)
{
	enum hi_status status = hi_snapshot_begin_rows(p->w, "types", p->err);

	for (uint32_t i = 0; i < p->g->n_types && status == HI_OK; i++) {
		const struct hi_type_name *t = &p->g->types[i];
		struct hi_snapshot_type row = {};

		row.flags = t->indirect ? HI_SNAPSHOT_TYPE_INDIRECT : 0;
		row.flags |= (uint32_t)t->front << HI_SNAPSHOT_TYPE_FRONT;
		if (i && p->in->retains && p->in->retains(p->in->arg, i))
			row.flags |= HI_SNAPSHOT_TYPE_RETAINS;
		status = hi_snapshot_pack_row(p->w, &hi_snapshot_type_map, t, &row,
					      p->err);
		if (status == HI_OK)
			status = hi_snapshot_append(p->w, &row, sizeof(row), p->err);
	}
	return status == HI_OK ? hi_snapshot_end(p->w, p->err) : status;
}

static enum hi_status put_snapshot_roots(struct put *p)
{
	enum hi_status status = hi_snapshot_begin_rows(p->w, "roots", p->err);

	for (uint32_t i = 0; i < p->g->n_roots && status == HI_OK; i++) {
		const char *module = p->in->module ? p->in->module(p->in->arg, i) : "";
		struct hi_snapshot_root row = {};

		status = hi_snapshot_pack_row(p->w, &hi_snapshot_root_map,
					      &p->g->roots[i], &row, p->err);
		if (status == HI_OK)
			status =
				hi_snapshot_put_string(p->w, module, &row.module, p->err);
		if (status == HI_OK)
			status = hi_snapshot_append(p->w, &row, sizeof(row), p->err);
	}
	return status == HI_OK ? hi_snapshot_end(p->w, p->err) : status;
}

/* ---- objects ---- */

static enum hi_status put_windows(struct put *p)
{
	const struct hi_objects *o = p->g->objects;
	enum hi_status status = hi_snapshot_begin_rows(p->w, "windows", p->err);

	for (uint32_t i = 0; i < o->n_windows && status == HI_OK; i++) {
		struct hi_snapshot_window row = {.base = o->windows[i].base,
						 .first = o->windows[i].first};

		status = hi_snapshot_append(p->w, &row, sizeof(row), p->err);
	}
	return status == HI_OK ? hi_snapshot_end(p->w, p->err) : status;
}

static enum hi_status put_large(struct put *p)
{
	const struct hi_objects *o = p->g->objects;
	enum hi_status status = hi_snapshot_begin_rows(p->w, "large", p->err);

	for (hi_node i = 0; i < o->count && status == HI_OK; i++) {
		struct hi_snapshot_large row = {.object = i};

		if (o->usable_low[i] != UINT32_MAX)
			continue;
		row.usable = hi_objects_usable(o, i);
		status = hi_snapshot_append(p->w, &row, sizeof(row), p->err);
	}
	return status == HI_OK ? hi_snapshot_end(p->w, p->err) : status;
}

/* Objects whose used bytes are found at a time, and by one thread. */
enum { BATCH = 1 << 20, TASK = 1 << 14 };

struct used_batch {
	const struct hi_snapshot_graph *in;
	hi_node first, n;
	uint32_t *used;
};

/* hi_task_fn */
static void find_used(void *arg, size_t task, unsigned worker)
{
	const struct used_batch *b = arg;
	hi_node end = (hi_node)hi_min((task + 1) * TASK, b->n);

	(void)worker;
	for (hi_node i = (hi_node)task * TASK; i < end; i++) {
		uint64_t used = b->in->used(b->in->arg, b->first + i);

		b->used[i] = used < UINT32_MAX ? (uint32_t)used : UINT32_MAX;
	}
}

static enum hi_status put_used(struct put *p)
{
	hi_node count = p->g->n_objects;
	enum hi_status status;

	if (!p->in->used)
		return HI_OK;
	status = hi_snapshot_begin_rows(p->w, "objects.used", p->err);
	for (hi_node i = 0; i < count && status == HI_OK; i += BATCH) {
		struct used_batch b = {.in = p->in,
				       .first = i,
				       .n = count - i < BATCH ? count - i : BATCH};

		b.used = hi_alloc(b.n * sizeof(*b.used));
		if (!b.used)
			return hi_fail_memory(p->err, "snapshot");
		hi_parallel(p->in->threads ? p->in->threads : 1, (b.n + TASK - 1) / TASK,
			    find_used, &b);
		status = hi_snapshot_append_owned(p->w, b.used, b.n * sizeof(*b.used),
						  p->err);
		if (count - i <= BATCH)
			break;
	}
	return status == HI_OK ? hi_snapshot_end(p->w, p->err) : status;
}

/* Few have one: pairs. */
static enum hi_status put_unreachable_classes(struct put *p)
{
	enum hi_status status;

	if (!p->g->unreachable_classes)
		return HI_OK;
	status = hi_snapshot_begin_rows(p->w, "fates", p->err);
	for (hi_node i = 0; i < p->g->n_objects && status == HI_OK; i++) {
		struct hi_snapshot_unreachable row = {i, p->g->unreachable_classes[i]};

		if (row.unreachable_class)
			status = hi_snapshot_append(p->w, &row, sizeof(row), p->err);
	}
	return status == HI_OK ? hi_snapshot_end(p->w, p->err) : status;
}

static enum hi_status put_objects(struct put *p)
{
	enum hi_status status = hi_snapshot_put_properties(
		p->w, "", hi_snapshot_overheads, 4, p->g->objects, p->err);

	if (status == HI_OK)
		status = put_windows(p);
	if (status == HI_OK)
		status = put_large(p);
	if (status == HI_OK)
		status = hi_snapshot_put_lasting_members(p->w, hi_snapshot_object_columns,
							 4, p->g->objects, p->err);
	if (status == HI_OK)
		status = put_unreachable_classes(p);
	return status == HI_OK ? put_used(p) : status;
}

/* ---- edges ---- */

enum column { ROW, TO, GRADE };

static enum hi_status put_edge_chunk_column(struct put *p, const struct hi_edge_chunk *c,
					    uint32_t n, enum column column)
{
	size_t edges = c->row[n];

	if (column == ROW)
		return hi_snapshot_append_lasting(
			p->w, c->row, ((size_t)n + 1) * sizeof(*c->row), p->err);
	if (column == TO)
		return hi_snapshot_append_lasting(p->w, c->to, edges * sizeof(*c->to),
						  p->err);
	return hi_snapshot_append_lasting(p->w, c->grade, edges, p->err);
}

static enum hi_status put_edge_column(struct put *p, const char *name, enum column column)
{
	enum hi_status status = hi_snapshot_begin_rows(p->w, name, p->err);

	for (uint32_t i = 0; i < p->g->priv->n_chunks && status == HI_OK; i++)
		status = put_edge_chunk_column(
			p, &p->g->chunks[i], hi_chunk_nodes(p->g->n_objects, i), column);
	return status == HI_OK ? hi_snapshot_end(p->w, p->err) : status;
}

static enum hi_status put_root_column(struct put *p, const char *name, enum column column)
{
	enum hi_status status = hi_snapshot_begin_rows(p->w, name, p->err);

	if (status == HI_OK)
		status = put_edge_chunk_column(p, &p->g->root_chunk, p->g->n_roots,
					       column);
	return status == HI_OK ? hi_snapshot_end(p->w, p->err) : status;
}

static enum hi_status put_snapshot_edges(struct put *p)
{
	enum hi_status status = put_edge_column(p, "edges.row", ROW);

	if (status == HI_OK)
		status = put_edge_column(p, "edges.to", TO);
	if (status == HI_OK)
		status = put_edge_column(p, "edges.grade", GRADE);
	if (status == HI_OK)
		status = put_root_column(p, "roots.row", ROW);
	if (status == HI_OK)
		status = put_root_column(p, "roots.to", TO);
	if (status == HI_OK)
		status = put_root_column(p, "roots.grade", GRADE);
	return status;
}

/* ---- what was computed ---- */

static enum hi_status put_reach(struct put *p)
{
	const struct hi_reach *r = p->in->reach;
	uint64_t words = hi_bits_size(p->g->n_nodes) / 8;
	enum hi_status status =
		hi_snapshot_put_lasting_section(p->w, "reach.any", r->any, words, p->err);

	if (status == HI_OK)
		status = hi_snapshot_put_lasting_section(p->w, "reach.exact", r->exact,
							 words, p->err);
	if (status == HI_OK && r->likely)
		status = hi_snapshot_put_lasting_section(p->w, "reach.likely", r->likely,
							 words, p->err);
	if (status == HI_OK)
		status = hi_snapshot_put_lasting_section(p->w, "reach.internal",
							 r->internal_roots,
							 r->n_internal_roots, p->err);
	return status == HI_OK ? hi_snapshot_put_reach_numbers(p->w, r, p->err) : status;
}

static enum hi_status put_dominators(struct put *p)
{
	return p->in->dominators
		       ? hi_snapshot_put_dominators(p->w, p->in->dominators, p->err)
		       : HI_OK;
}

static enum hi_status put_snapshot_sections(struct put *p,
					    struct hi_snapshot_labels *labels)
{
	enum hi_status status = put_snapshot_types(p);

	if (status == HI_OK)
		status = put_snapshot_roots(p);
	if (status == HI_OK)
		status = put_objects(p);
	if (status == HI_OK)
		status = put_snapshot_edges(p);
	if (status == HI_OK)
		status = put_reach(p);
	if (status == HI_OK)
		status = put_dominators(p);
	return status == HI_OK && labels ? hi_snapshot_put_labels(p->w, labels, p->err)
					 : status;
}

/* Names take longest: they are made while all else is written. */
enum hi_status hi_snapshot_put_graph(struct hi_snapshot_writer *w,
				     const struct hi_snapshot_graph *graph,
				     struct hi_error *err)
{
	struct put p = {w, graph, graph->graph, err};
	struct hi_snapshot_labels *labels = NULL;
	const bool keeps = graph->kept;
	enum hi_status status = HI_OK;

	if (keeps)
		labels = *graph->kept;
	if (graph->label && !labels)
		status = hi_snapshot_labels_begin(graph, &labels, err);
	if (status == HI_OK)
		status = put_snapshot_sections(&p, labels);
	hi_snapshot_labels_stop(labels);
	if (keeps)
		*graph->kept = labels;
	else
		hi_snapshot_labels_end(labels);
	return status;
}

enum hi_status hi_snapshot_put_outline(struct hi_snapshot_writer *w,
				       const struct hi_snapshot_graph *graph,
				       struct hi_error *err)
{
	struct put p = {w, graph, graph->graph, err};
	enum hi_status status = put_snapshot_types(&p);

	return status == HI_OK ? hi_snapshot_put_reach_numbers(w, graph->reach, err)
			       : status;
}
