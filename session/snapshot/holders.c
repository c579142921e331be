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
#include "census/snapshot/snapshot_format.h"
#include "census/snapshot/snapshot_sections.h"
#include "session/computed.h"
#include "session/snapshot/snapshot_source.h"

enum { MOST_SUSPECTS = 64, MOST_OWNERS = 1 << 16 };

/* A file with much else has no room for them. */
enum { SECTIONS = 5, SECTIONS_OF_FINISH = 2 };

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

static const struct hi_row_member suspect_members[] = {
#define SUSPECT_MEMBER(name)                                                             \
	HI_ROW_MEMBER(struct hi_snapshot_suspect_row, name, struct hi_suspect, name)
	SUSPECT_MEMBER(top),
	SUSPECT_MEMBER(accumulation),
	SUSPECT_MEMBER(child_type),
	SUSPECT_MEMBER(held),
	SUSPECT_MEMBER(holder),
	SUSPECT_MEMBER(example),
	SUSPECT_MEMBER(threads),
	SUSPECT_MEMBER(retained),
	SUSPECT_MEMBER(accumulation_retained),
	SUSPECT_MEMBER(children),
	SUSPECT_MEMBER(children_bytes),
#undef SUSPECT_MEMBER
	HI_ROW_MEMBER(struct hi_snapshot_suspect_row, flags, struct hi_suspect, is_list),
};
static const struct hi_row_map suspect_map =
	HI_ROW_MAP("suspects", struct hi_suspect, suspect_members);
static const struct hi_row_map lesser_map =
	HI_ROW_MAP("suspects.lesser", struct hi_suspect, suspect_members);

static enum hi_status put_suspects(const struct hi_suspects *s,
				   struct hi_snapshot_writer *w, struct hi_error *err)
{
	size_t n = s->count < MOST_SUSPECTS ? s->count : MOST_SUSPECTS;
	size_t n_lesser = s->n_lesser < MOST_SUSPECTS ? s->n_lesser : MOST_SUSPECTS;
	enum hi_status status = hi_snapshot_put_rows(w, &suspect_map, s->items, n, err);

	if (status == HI_OK)
		status = hi_snapshot_put_rows(w, &lesser_map, s->lesser, n_lesser, err);
	return status == HI_OK
		       ? hi_snapshot_put_number(w, "suspects.below", s->is_below, err)
		       : status;
}

static enum hi_status put_owners(const struct hi_owners *o, struct hi_snapshot_writer *w,
				 struct hi_error *err)
{
	HI_GUARD(free)
	struct hi_snapshot_owner_row *rows = hi_calloc(o->n_rows + 1, sizeof(*rows));
	enum hi_status status;

	if (!rows)
		return hi_fail_memory(err, "owners");
	for (size_t i = 0; i < o->n_rows; i++) {
		const struct hi_owner_row *from = &o->rows[i];

		rows[i] = (struct hi_snapshot_owner_row){
			.bytes = from->bytes,
			.largest_bytes = from->largest_bytes,
			.largest = from->largest,
			.n = from->n,
			.flags = (from->is_many ? HI_SNAPSHOT_OWNER_MANY : 0u) |
				 (from->is_named ? HI_SNAPSHOT_OWNER_NAMED : 0u)};
		for (uint32_t k = 0; k < from->n; k++)
			rows[i].variables[k] = from->variables[k];
	}
	status = hi_snapshot_put_section(w, "owners", rows, o->n_rows, err);
	return status == HI_OK
		       ? hi_snapshot_put_section(w, "owners.many", o->shared_by_many,
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
		status = hi_snapshot_put_section(w, "owners.near", nodes.items,
						 nodes.count, err);
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

enum hi_status hi_snapshot_source_suspects(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;
	HI_GUARD(hi_suspects_destroy)
	struct hi_suspects *found = hi_calloc(1, sizeof(*found));
	enum hi_status status;

	if (!found)
		return hi_fail_memory(err, "suspects");
	status = hi_snapshot_take_rows(s, &suspect_map, NULL, &found->items,
				       &found->count, err);
	if (status == HI_OK)
		status = hi_snapshot_take_rows(s, &lesser_map, NULL, &found->lesser,
					       &found->n_lesser, err);
	if (status != HI_OK)
		return status;
	found->is_below = hi_snapshot_number(s, "suspects.below", 0);
	in->results.suspects = hi_take(found);
	return HI_OK;
}

static enum hi_status take_owner_rows(const struct hi_snapshot_owner_row *rows,
				      uint64_t n, struct hi_owners *o,
				      struct hi_error *err)
{
	o->rows = hi_calloc(n + 1, sizeof(*o->rows));
	o->members = hi_calloc(n * HI_OWNERS_MAX + 1, sizeof(*o->members));
	if (!o->rows || !o->members)
		return hi_fail_memory(err, "owners");
	for (; o->n_rows < n; o->n_rows++) {
		const struct hi_snapshot_owner_row *row = &rows[o->n_rows];
		hi_node *members = o->members + o->n_rows * HI_OWNERS_MAX;

		for (uint32_t k = 0; k < row->n; k++)
			members[k] = row->variables[k];
		o->rows[o->n_rows] = (struct hi_owner_row){
			.variables = members,
			.n = row->n,
			.is_many = row->flags & HI_SNAPSHOT_OWNER_MANY,
			.is_named = row->flags & HI_SNAPSHOT_OWNER_NAMED,
			.bytes = row->bytes,
			.largest = row->largest,
			.largest_bytes = row->largest_bytes};
	}
	return HI_OK;
}

enum hi_status hi_snapshot_source_owners(struct hi_inspection *in, struct hi_owners **ret,
					 struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;
	HI_GUARD(hi_owners_destroy) struct hi_owners *o = NULL;
	const struct hi_snapshot_owner_row *rows;
	const hi_node *nodes = NULL;
	uint64_t n = 0, n_nodes = 0;
	enum hi_status status = hi_snapshot_rows(s, "owners", &rows, &n, err);

	if (status == HI_OK)
		status = hi_snapshot_rows(s, "owners.many", &nodes, &n_nodes, err);
	if (status != HI_OK)
		return status;
	o = hi_calloc(1, sizeof(*o));
	if (!o ||
	    !(o->shared_by_many = hi_calloc(n_nodes + 1, sizeof(*o->shared_by_many))))
		return hi_fail_memory(err, "owners");
	for (; o->n_shared_by_many < n_nodes; o->n_shared_by_many++)
		o->shared_by_many[o->n_shared_by_many] = nodes[o->n_shared_by_many];
	status = take_owner_rows(rows, n, o, err);
	if (status == HI_OK)
		*ret = hi_take(o);
	return status;
}

enum hi_status hi_snapshot_source_nearest(struct hi_inspection *in,
					  struct hi_nearest **ret, struct hi_error *err)
{
	HI_GUARD(hi_nearest_destroy) struct hi_nearest *nearest = NULL;
	struct shared_list nodes = {};
	const uint32_t *roots = NULL;
	uint64_t n = 0;
	enum hi_status status =
		hi_snapshot_rows(in->snapshot->snapshot, "owners.near", &roots, &n, err);

	if (status != HI_OK)
		return status;
	nearest = hi_calloc(1, sizeof(*nearest));
	if (!nearest || !hi_nearest_prepare(nearest, in->graph))
		return hi_fail_memory(err, "nearest variables");
	if (!list_shared_objects(in, &nodes))
		status = hi_fail_memory(err, "nearest variables");
	else if (nodes.count != n)
		status = hi_fail(err, HI_BAD_DATA, 0,
				 "%.120s: section owners.near: %" PRIu64
				 " rows where %zu belong",
				 in->options->target.file, n, nodes.count);
	for (size_t i = 0; i < nodes.count && status == HI_OK; i++)
		nearest->root_of[nodes.items[i]] = roots[i];
	hi_vector_free(&nodes);
	if (status == HI_OK)
		*ret = hi_take(nearest);
	return status;
}
_Static_assert(HI_NEAREST_NONE == UINT32_MAX, "as owners.near has it");
