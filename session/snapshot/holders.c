/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Suspects, and which variables hold the heap, in a snapshot file: the first page shows
 * both, and they take a walk over all edges.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/analysis/nearest_holder.h"
#include "census/analysis/owners.h"
#include "session/computed.h"
#include "session/snapshot/snapshot_source.h"

struct suspect_row {
	uint32_t top, accumulation, child_type, held, holder, example, threads, flags;
	uint64_t retained, accumulation_retained, children, children_bytes;
};
_Static_assert(sizeof(struct suspect_row) == 64, "suspects");
enum { SUSPECT_LIST = 1, MOST_SUSPECTS = 64 };

struct owner_row {
	uint64_t bytes, largest_bytes;
	uint32_t largest, n, flags, spare;
	uint32_t variables[HI_OWNERS_MAX];
};
_Static_assert(sizeof(struct owner_row) == 96, "owners");
enum { OWNER_MANY = 1, OWNER_NAMED = 2, MOST_OWNERS = 1 << 16 };

/* A file with much else has no room for them. */
enum { SECTIONS = 4, SECTIONS_OF_FINISH = 2 };

HI_DEFINE_GUARD(struct hi_suspects *, hi_suspects_destroy)
HI_DEFINE_GUARD(struct hi_owners *, hi_owners_destroy)
HI_DEFINE_GUARD(struct hi_nearest *, hi_nearest_destroy)

/* Objects directly below the super-root or a kind, in the dominators' order: of these
 * alone it is asked which root is nearest. */
struct shared_list HI_VECTOR(hi_node);

static bool list_shared_objects(const struct hi_inspection *in, struct shared_list *ret)
{
	const struct hi_dominators *d = in->results.dominators;
	const struct hi_graph *g = in->graph;

	for (hi_node at = 1; at < d->n_order;) {
		hi_node node = d->order[at];

		if (hi_graph_is_object(g, node) && !hi_vector_push(ret, node))
			return false;
		at += node >= g->first_kind ? 1 : d->span[at];
	}
	return true;
}

/* ---- writing ---- */

static enum hi_status put_suspects(const struct hi_suspects *s,
				   struct hi_snapshot_writer *w, struct hi_error *err)
{
	struct suspect_row rows[MOST_SUSPECTS] = {};
	size_t n = s->count < MOST_SUSPECTS ? s->count : MOST_SUSPECTS;
	enum hi_status status;

	for (size_t i = 0; i < n; i++) {
		const struct hi_suspect *from = &s->items[i];

		rows[i] = (struct suspect_row){.top = from->top,
					       .accumulation = from->accumulation,
					       .child_type = from->child_type,
					       .held = from->held,
					       .holder = from->holder,
					       .example = from->example,
					       .threads = from->threads,
					       .flags = from->is_list ? SUSPECT_LIST : 0,
					       .retained = from->retained,
					       .accumulation_retained =
						       from->accumulation_retained,
					       .children = from->children,
					       .children_bytes = from->children_bytes};
	}
	status = hi_snapshot_put(w, "suspects", rows, sizeof(*rows), n, err);
	return status == HI_OK
		       ? hi_snapshot_put_number(w, "suspects.below", s->is_below, err)
		       : status;
}

static enum hi_status put_owners(const struct hi_owners *o, struct hi_snapshot_writer *w,
				 struct hi_error *err)
{
	HI_GUARD(free) struct owner_row *rows = hi_calloc(o->n_rows + 1, sizeof(*rows));
	enum hi_status status;

	if (!rows)
		return hi_fail_memory(err, "owners");
	for (size_t i = 0; i < o->n_rows; i++) {
		const struct hi_owner_row *from = &o->rows[i];

		rows[i] =
			(struct owner_row){.bytes = from->bytes,
					   .largest_bytes = from->largest_bytes,
					   .largest = from->largest,
					   .n = from->n,
					   .flags = (from->is_many ? OWNER_MANY : 0u) |
						    (from->is_named ? OWNER_NAMED : 0u)};
		for (uint32_t k = 0; k < from->n; k++)
			rows[i].variables[k] = from->variables[k];
	}
	status = hi_snapshot_put(w, "owners", rows, sizeof(*rows), o->n_rows, err);
	return status == HI_OK ? hi_snapshot_put(w, "owners.many", o->shared_by_many,
						 sizeof(*o->shared_by_many),
						 o->n_shared_by_many, err)
			       : status;
}

/* Only where the summary asks for it. */
static enum hi_status put_nearest(struct hi_inspection *in, struct hi_snapshot_writer *w,
				  struct hi_error *err)
{
	const struct hi_nearest *nearest = NULL;
	struct shared_list nodes = {};
	enum hi_status status = hi_kept_nearest(in, &nearest, err);

	if (status == HI_OK && !list_shared_objects(in, &nodes))
		status = hi_fail_memory(err, "nearest variables");
	for (size_t i = 0; status == HI_OK && i < nodes.count; i++)
		nodes.items[i] = nearest->root_of[nodes.items[i]];
	if (status == HI_OK)
		status = hi_snapshot_put(w, "owners.near", nodes.items,
					 sizeof(*nodes.items), nodes.count, err);
	hi_vector_free(&nodes);
	return status;
}

enum hi_status hi_snapshot_save_holders(struct hi_inspection *in,
					struct hi_snapshot_writer *w,
					struct hi_error *err)
{
	const struct hi_owners *owners = NULL;
	enum hi_status status;

	if (!in->results.suspects || in->shown.reach != in->results.reach ||
	    hi_snapshot_sections_left(w) < SECTIONS + SECTIONS_OF_FINISH)
		return HI_OK;
	status = put_suspects(in->results.suspects, w, err);
	if (status == HI_OK)
		status = hi_kept_owners(in, &owners, err);
	if (status != HI_OK || owners->n_rows > MOST_OWNERS)
		return status;
	status = put_owners(owners, w, err);
	return status == HI_OK && owners->n_shared_by_many ? put_nearest(in, w, err)
							   : status;
}

/* ---- reading ---- */

static enum hi_status fail_holder(const struct hi_inspection *in, const char *section,
				  uint64_t row, struct hi_error *err)
{
	return hi_fail(err, HI_BAD_DATA, 0,
		       "%.120s: section %s: row %" PRIu64 " is inconsistent",
		       in->options->target.file, section, row);
}

static bool suspect_holds(const struct hi_graph *g, const struct suspect_row *row)
{
	bool has_held = row->held != HI_NODE_NONE;

	return row->top < g->first_kind &&
	       (row->accumulation < g->first_kind ||
		row->accumulation == g->super_root) &&
	       row->child_type < g->n_types &&
	       has_held == (row->holder != HI_NODE_NONE) &&
	       (!has_held || (row->held < g->n_objects && row->holder < g->first_kind)) &&
	       (row->example == HI_NODE_NONE || row->example < g->first_kind) &&
	       (!row->threads || row->top >= g->first_root);
}

static struct hi_suspect take_suspect(const struct suspect_row *row)
{
	return (struct hi_suspect){.top = row->top,
				   .retained = row->retained,
				   .accumulation = row->accumulation,
				   .accumulation_retained = row->accumulation_retained,
				   .child_type = row->child_type,
				   .children = row->children,
				   .children_bytes = row->children_bytes,
				   .is_list = row->flags & SUSPECT_LIST,
				   .threads = row->threads,
				   .held = row->held,
				   .holder = row->holder,
				   .example = row->example};
}

enum hi_status hi_snapshot_source_suspects(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;
	HI_GUARD(hi_suspects_destroy) struct hi_suspects *found = NULL;
	const struct suspect_row *rows;
	const void *items = NULL;
	uint64_t n = 0;
	enum hi_status status =
		hi_snapshot_get(s, "suspects", sizeof(*rows), &items, &n, err);

	if (status != HI_OK)
		return status;
	rows = items;
	if (n > MOST_SUSPECTS)
		return fail_holder(in, "suspects", n, err);
	found = hi_calloc(1, sizeof(*found));
	if (!found || !(found->items = hi_calloc(n + 1, sizeof(*found->items))))
		return hi_fail_memory(err, "suspects");
	for (; found->count < n; found->count++) {
		if (!suspect_holds(in->graph, &rows[found->count]))
			return fail_holder(in, "suspects", found->count, err);
		found->items[found->count] = take_suspect(&rows[found->count]);
	}
	found->is_below = hi_snapshot_number(s, "suspects.below", 0);
	in->results.suspects = hi_take(found);
	return HI_OK;
}

static bool owner_holds(const struct hi_graph *g, const struct owner_row *row)
{
	bool is_many = row->flags & OWNER_MANY;

	if (row->n > HI_OWNERS_MAX || (is_many && row->n) ||
	    row->largest >= g->first_kind)
		return false;
	for (uint32_t i = 0; i < row->n; i++)
		if (row->variables[i] < g->first_root ||
		    row->variables[i] >= g->first_kind ||
		    (i && row->variables[i] <= row->variables[i - 1]))
			return false;
	return true;
}

static enum hi_status take_owner_rows(const struct hi_inspection *in,
				      const struct owner_row *rows, uint64_t n,
				      struct hi_owners *o, struct hi_error *err)
{
	o->rows = hi_calloc(n + 1, sizeof(*o->rows));
	o->members = hi_calloc(n * HI_OWNERS_MAX + 1, sizeof(*o->members));
	if (!o->rows || !o->members)
		return hi_fail_memory(err, "owners");
	for (; o->n_rows < n; o->n_rows++) {
		const struct owner_row *row = &rows[o->n_rows];
		hi_node *members = o->members + o->n_rows * HI_OWNERS_MAX;

		if (!owner_holds(in->graph, row))
			return fail_holder(in, "owners", o->n_rows, err);
		for (uint32_t k = 0; k < row->n; k++)
			members[k] = row->variables[k];
		o->rows[o->n_rows] =
			(struct hi_owner_row){.variables = members,
					      .n = row->n,
					      .is_many = row->flags & OWNER_MANY,
					      .is_named = row->flags & OWNER_NAMED,
					      .bytes = row->bytes,
					      .largest = row->largest,
					      .largest_bytes = row->largest_bytes};
	}
	return HI_OK;
}

static enum hi_status take_shared_by_many(const struct hi_inspection *in,
					  const hi_node *nodes, uint64_t n,
					  struct hi_owners *o, struct hi_error *err)
{
	o->shared_by_many = hi_calloc(n + 1, sizeof(*o->shared_by_many));
	if (!o->shared_by_many)
		return hi_fail_memory(err, "owners");
	for (; o->n_shared_by_many < n; o->n_shared_by_many++) {
		if (nodes[o->n_shared_by_many] >= in->graph->n_objects)
			return fail_holder(in, "owners.many", o->n_shared_by_many, err);
		o->shared_by_many[o->n_shared_by_many] = nodes[o->n_shared_by_many];
	}
	return HI_OK;
}

enum hi_status hi_snapshot_source_owners(struct hi_inspection *in, struct hi_owners **ret,
					 struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;
	HI_GUARD(hi_owners_destroy) struct hi_owners *o = NULL;
	const void *rows = NULL, *nodes = NULL;
	uint64_t n = 0, n_nodes = 0;
	enum hi_status status =
		hi_snapshot_get(s, "owners", sizeof(struct owner_row), &rows, &n, err);

	if (status == HI_OK)
		status = hi_snapshot_get(s, "owners.many", sizeof(hi_node), &nodes,
					 &n_nodes, err);
	if (status != HI_OK)
		return status;
	if (n > MOST_OWNERS || n_nodes > in->graph->n_objects)
		return fail_holder(in, "owners", n, err);
	o = hi_calloc(1, sizeof(*o));
	if (!o)
		return hi_fail_memory(err, "owners");
	status = take_owner_rows(in, rows, n, o, err);
	if (status == HI_OK)
		status = take_shared_by_many(in, nodes, n_nodes, o, err);
	if (status == HI_OK)
		*ret = hi_take(o);
	return status;
}

static enum hi_status take_nearest(const struct hi_inspection *in, const uint32_t *roots,
				   uint64_t n, struct hi_nearest *ret,
				   struct hi_error *err)
{
	struct shared_list nodes = {};
	enum hi_status status = HI_OK;

	if (!list_shared_objects(in, &nodes))
		status = hi_fail_memory(err, "nearest variables");
	else if (nodes.count != n)
		status = fail_holder(in, "owners.near", n, err);
	for (size_t i = 0; status == HI_OK && i < nodes.count; i++) {
		if (roots[i] != HI_NEAREST_NONE && roots[i] >= in->graph->n_roots)
			status = fail_holder(in, "owners.near", i, err);
		ret->root_of[nodes.items[i]] = roots[i];
	}
	hi_vector_free(&nodes);
	return status;
}

enum hi_status hi_snapshot_source_nearest(struct hi_inspection *in,
					  struct hi_nearest **ret, struct hi_error *err)
{
	HI_GUARD(hi_nearest_destroy) struct hi_nearest *nearest = NULL;
	size_t size = ((size_t)in->graph->n_nodes + 1) * sizeof(*nearest->root_of);
	const void *roots = NULL;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_get(in->snapshot->snapshot, "owners.near",
						sizeof(uint32_t), &roots, &n, err);

	if (status != HI_OK)
		return status;
	nearest = hi_calloc(1, sizeof(*nearest));
	if (!nearest || !(nearest->root_of = hi_alloc(size)))
		return hi_fail_memory(err, "nearest variables");
	memset(nearest->root_of, 0xff, size);
	status = take_nearest(in, roots, n, nearest, err);
	if (status == HI_OK)
		*ret = hi_take(nearest);
	return status;
}
