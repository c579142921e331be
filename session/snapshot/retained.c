/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of the report `retained` in a snapshot: the top of the dominator tree with
 * its names. Without restrictions the report then needs no objects.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/snapshot/snapshot_format.h"
#include "census/snapshot/snapshot_sections.h"
#include "session/edge_text.h"
#include "session/operands.h"
#include "session/retained_names.h"
#include "session/snapshot/snapshot_source.h"

enum { KEPT = 100 }; /* of the top level */

static const char section_name[] = "retained.tree";

_Static_assert((int)HI_NODE_ROOT == (int)HI_SNAPSHOT_RETAINED_SORTS - 1, "sorts of rows");

/* Of a row but its flags. Files have the texts in this order. */
static const struct hi_row_member retained_members[] = {
#define RETAINED_MEMBER(column, name)                                                    \
	HI_ROW_MEMBER(struct hi_snapshot_retained_row, column, struct hi_retained_row,   \
		      name)
	RETAINED_MEMBER(type, info.type),
	RETAINED_MEMBER(detail, info.detail),
	RETAINED_MEMBER(name, info.name),
	RETAINED_MEMBER(depth, depth),
	RETAINED_MEMBER(sort, info.sort),
	RETAINED_MEMBER(kind, info.kind),
	RETAINED_MEMBER(node, info.node),
	RETAINED_MEMBER(address, info.address),
	RETAINED_MEMBER(shallow, info.shallow),
	RETAINED_MEMBER(retained, info.retained),
	RETAINED_MEMBER(more, children_more),
	RETAINED_MEMBER(more_bytes, children_more_bytes),
	RETAINED_MEMBER(count, count),
#undef RETAINED_MEMBER
};
static const struct hi_row_map retained_map =
	HI_ROW_MAP(section_name, struct hi_retained_row, retained_members);

/* ---- writing ---- */

static uint32_t flags_of_row(const struct hi_retained_row *row)
{
	return (uint32_t)row->info.evidence | (row->info.array ? HI_OBJECT_ARRAY : 0u) |
	       (row->info.internal ? HI_OBJECT_INTERNAL : 0u) |
	       (row->is_list ? HI_SNAPSHOT_RETAINED_LIST : 0u);
}

static enum hi_status put_retained_rows(struct hi_snapshot_writer *w,
					const struct hi_retained_report *r,
					struct hi_error *err)
{
	HI_GUARD(free)
	struct hi_snapshot_retained_row *rows = hi_calloc(r->n_rows + 1, sizeof(*rows));
	uint64_t tops = r->hidden.by_top.rows, bytes = r->hidden.by_top.bytes;
	enum hi_status status = HI_OK;

	if (!rows)
		return hi_fail_memory(err, "retained");
	for (size_t i = 0; i < r->n_rows && status == HI_OK; i++) {
		rows[i].flags = flags_of_row(&r->rows[i]);
		status = hi_snapshot_pack_row(w, &retained_map, &r->rows[i], &rows[i],
					      err);
		tops += !r->rows[i].depth;
		bytes += r->rows[i].depth ? 0 : r->rows[i].info.retained;
	}
	if (status == HI_OK)
		status = hi_snapshot_put_section(w, section_name, rows, r->n_rows, err);
	if (status == HI_OK)
		status = hi_snapshot_put_number(w, "retained.rows", tops, err);
	return status == HI_OK ? hi_snapshot_put_number(w, "retained.bytes", bytes, err)
			       : status;
}

/* They are in the file already. */
struct names_put {
	const struct hi_graph *graph;
	const struct hi_snapshot_writer *w;
	const struct hi_snapshot_labels *labels;
};

/* struct hi_known_names */
static void name_edges_put(const void *arg, hi_node node, struct hi_edge_name *names)
{
	const struct names_put *put = arg;
	uint32_t n = hi_graph_edges(put->graph, node).count;

	for (uint32_t i = 0; i < n; i++)
		names[i] =
			hi_snapshot_label_put(put->w, put->labels, put->graph, node, i);
}

static void look_at_names_put(const void *arg, hi_node node, bool is_near)
{
	const struct names_put *put = arg;

	if (is_near)
		hi_snapshot_label_prefetch(put->labels, put->graph, node);
}

enum hi_status hi_snapshot_save_retained(struct hi_inspection *in,
					 struct hi_snapshot_writer *w,
					 const struct hi_report_header *header,
					 const struct hi_snapshot_labels *labels,
					 struct hi_error *err)
{
	struct names_put put = {in->graph, w, labels};
	struct hi_known_names known = {name_edges_put, look_at_names_put, &put};
	HI_GUARD(hi_retained_report_destroy) struct hi_retained_report *r = NULL;
	struct hi_restrict only = {.top = KEPT};
	enum hi_status status;

	if (!in->results.dominators)
		return HI_OK;
	hi_inspect_phase(in, "dominator tree");
	status = hi_retained_create(in, header, in->results.reach, &only,
				    labels ? &known : NULL, UINT64_MAX, &r, err);
	hi_inspect_phase(in, "writing the snapshot");
	return status == HI_OK ? put_retained_rows(w, r, err) : status;
}

/* ---- reading ---- */

/* How many rows the first `top` of the top level are; false: not all are known. */
static bool count_rows(const struct hi_inspection *in,
		       const struct hi_snapshot_retained_row *rows, size_t n, size_t top,
		       size_t *n_ret)
{
	uint64_t all = hi_snapshot_number(in->snapshot->snapshot, "retained.rows", 0);
	size_t tops = 0, i = 0;

	for (; i < n; i++) {
		if (rows[i].depth)
			continue;
		if (tops == top)
			break;
		tops++;
	}
	*n_ret = i;
	return tops == top || tops == all;
}

enum hi_status hi_snapshot_retained_rows(struct hi_snapshot *s,
					 struct hi_retained_row **rows_ret,
					 uint64_t *n_ret, bool *is_all_ret,
					 struct hi_error *err)
{
	struct hi_retained_row *rows = NULL;
	uint64_t n = 0, tops = 0;
	enum hi_status status =
		hi_snapshot_has(s, section_name)
			? hi_snapshot_take_rows(s, &retained_map, NULL, &rows, &n, err)
			: hi_fail(err, HI_NOT_FOUND, 0, "no rows of retained");

	if (status != HI_OK)
		return status;
	for (uint64_t i = 0; i < n; i++)
		tops += !rows[i].depth;
	*is_all_ret = tops == hi_snapshot_number(s, "retained.rows", 0);
	*rows_ret = rows;
	*n_ret = n;
	return HI_OK;
}

bool hi_snapshot_source_knows_retained(const struct hi_inspection *in)
{
	const struct hi_options *o = in->options;
	const struct hi_snapshot_retained_row *rows = NULL;
	struct hi_error quiet;
	size_t n = 0, shown;

	if (o->selection.type || o->selection.min_size ||
	    !hi_snapshot_has(in->snapshot->snapshot, section_name))
		return false;
	/* Damage is reported by hi_snapshot_source_retained. */
	return hi_snapshot_rows(in->snapshot->snapshot, section_name, &rows, &n,
				&quiet) != HI_OK ||
	       count_rows(in, rows, n, hi_lookup_top(o, HI_RETAINED_TOP), &shown);
}

enum hi_status hi_snapshot_source_retained(struct hi_inspection *in,
					   const struct hi_report_header *header,
					   struct hi_retained_report **ret,
					   struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;
	size_t n = 0, shown = 0, top = hi_lookup_top(in->options, HI_RETAINED_TOP);
	struct hi_hidden beyond = {hi_snapshot_number(s, "retained.rows", 0),
				   hi_snapshot_number(s, "retained.bytes", 0)};
	const struct hi_snapshot_retained_row *from = NULL;
	struct hi_retained_row *rows;
	enum hi_status status = hi_snapshot_rows(s, section_name, &from, &n, err);

	if (status != HI_OK)
		return status;
	if (!count_rows(in, from, n, top, &shown))
		shown = n;
	rows = hi_calloc(shown + 1, sizeof(*rows));
	if (!rows)
		return hi_fail_memory(err, "retained");
	for (size_t i = 0; i < shown; i++) {
		uint32_t flags = from[i].flags;

		hi_snapshot_unpack_row(s, &retained_map, &from[i], &rows[i]);
		rows[i].info.evidence =
			(enum hi_evidence)(flags & HI_OBJECT_EVIDENCE_MASK);
		rows[i].info.array = flags & HI_OBJECT_ARRAY;
		rows[i].info.internal = flags & HI_OBJECT_INTERNAL;
		rows[i].is_list = flags & HI_SNAPSHOT_RETAINED_LIST;
		beyond.rows -= !from[i].depth;
		beyond.bytes -= from[i].depth ? 0 : from[i].retained;
	}
	return hi_retained_report_restore(
		header, in->graph, in->results.reach->live_bytes, in->results.census, top,
		rows, shown, beyond, ret, err);
}
