/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of the report `retained` in a snapshot: the top of the dominator tree with
 * its names. Without restrictions the report then needs no objects.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "session/operands.h"
#include "session/retained_names.h"
#include "session/snapshot/snapshot_source.h"

enum { KEPT = 100 }; /* of the top level */

struct retained_row {
	uint32_t depth, sort, kind, flags;
	uint32_t name, detail, type, node; /* offsets of strings; and its number */
	uint64_t address, shallow, retained, more, more_bytes, count;
};
_Static_assert(sizeof(struct retained_row) == 80, "retained.tree");
/* A flag beside those of an object. */
enum { LIST_FLAG = 1 << 8 };
static const char section_name[] = "retained.tree";

HI_DEFINE_GUARD(struct hi_retained_report *, hi_retained_report_destroy)

/* ---- writing ---- */

static enum hi_status put_row(struct hi_snapshot_writer *w,
			      const struct hi_retained_row *from,
			      struct retained_row *row, struct hi_error *err)
{
	const struct hi_node_info *info = &from->info;
	enum hi_status status;

	*row = (struct retained_row){.depth = from->depth,
				     .sort = info->sort,
				     .kind = info->kind,
				     .flags = (uint32_t)info->evidence |
					      (info->array ? HI_OBJECT_ARRAY : 0u) |
					      (info->internal ? HI_OBJECT_INTERNAL : 0u) |
					      (from->is_list ? LIST_FLAG : 0u),
				     .count = from->count,
				     .node = info->node,
				     .address = info->address,
				     .shallow = info->shallow,
				     .retained = info->retained,
				     .more = from->children_more,
				     .more_bytes = from->children_more_bytes};
	status = hi_snapshot_put_string(w, info->type, &row->type, err);
	if (status == HI_OK)
		status = hi_snapshot_put_string(w, info->detail, &row->detail, err);
	if (status == HI_OK)
		status = hi_snapshot_put_string(w, info->name, &row->name, err);
	return status;
}

static enum hi_status put_retained_rows(struct hi_snapshot_writer *w,
					const struct hi_retained_report *r,
					struct hi_error *err)
{
	HI_GUARD(free)
	struct retained_row *rows = hi_calloc(r->n_rows + 1, sizeof(*rows));
	uint64_t tops = r->beyond.rows, bytes = r->beyond.bytes;
	enum hi_status status = HI_OK;

	if (!rows)
		return hi_fail_memory(err, "retained");
	for (size_t i = 0; i < r->n_rows && status == HI_OK; i++) {
		status = put_row(w, &r->rows[i], &rows[i], err);
		tops += !r->rows[i].depth;
		bytes += r->rows[i].depth ? 0 : r->rows[i].info.retained;
	}
	if (status == HI_OK)
		status = hi_snapshot_put(w, section_name, rows, sizeof(*rows), r->n_rows,
					 err);
	if (status == HI_OK)
		status = hi_snapshot_put_number(w, "retained.rows", tops, err);
	return status == HI_OK ? hi_snapshot_put_number(w, "retained.bytes", bytes, err)
			       : status;
}

enum hi_status hi_snapshot_save_retained(struct hi_inspection *in,
					 struct hi_snapshot_writer *w,
					 const struct hi_report_header *header,
					 struct hi_error *err)
{
	HI_GUARD(hi_retained_report_destroy) struct hi_retained_report *r = NULL;
	struct hi_restrict only = {.top = KEPT};
	enum hi_status status;

	if (!in->results.dominators)
		return HI_OK;
	status = hi_retained_create(in, header, in->results.reach, &only, UINT64_MAX, &r,
				    err);
	if (status != HI_OK)
		return status;
	return put_retained_rows(w, r, err);
}

/* ---- reading ---- */

static enum hi_status get_rows(const struct hi_inspection *in,
			       const struct retained_row **ret, size_t *n_ret,
			       struct hi_error *err)
{
	const void *items = NULL;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_get(in->snapshot->snapshot, section_name,
						sizeof(**ret), &items, &n, err);

	*ret = items;
	*n_ret = (size_t)n;
	return status;
}

static bool row_holds(const struct hi_snapshot *s, const struct retained_row *rows,
		      size_t i)
{
	const struct retained_row *row = &rows[i];

	return row->depth <= (i ? rows[i - 1].depth + 1 : 0) &&
	       row->sort <= HI_NODE_ROOT && row->kind < HI_ROOT_KINDS &&
	       (row->flags & HI_OBJECT_EVIDENCE_MASK) <= HI_EVIDENCE_RUNTIME &&
	       hi_snapshot_string(s, row->type) && hi_snapshot_string(s, row->detail) &&
	       hi_snapshot_string(s, row->name);
}

/* How many rows the first `top` of the top level are; false: not all are known. */
static bool count_rows(const struct hi_inspection *in, const struct retained_row *rows,
		       size_t n, size_t top, size_t *n_ret)
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

bool hi_snapshot_source_knows_retained(const struct hi_inspection *in)
{
	const struct hi_options *o = in->options;
	const struct retained_row *rows = NULL;
	struct hi_error quiet;
	size_t n = 0, shown;

	if (o->selection.type || o->selection.min_size ||
	    !hi_snapshot_has(in->snapshot->snapshot, section_name))
		return false;
	/* Damage is reported by hi_snapshot_source_retained. */
	return get_rows(in, &rows, &n, &quiet) != HI_OK ||
	       count_rows(in, rows, n, hi_lookup_top(o, HI_RETAINED_TOP), &shown);
}

static struct hi_retained_row get_row(const struct hi_snapshot *s,
				      const struct retained_row *row)
{
	return (struct hi_retained_row){
		.info = {.node = row->node,
			 .sort = (enum hi_node_sort)row->sort,
			 .kind = (enum hi_root_kind)row->kind,
			 .name = hi_snapshot_string(s, row->name),
			 .detail = hi_snapshot_string(s, row->detail),
			 .type = hi_snapshot_string(s, row->type),
			 .address = row->address,
			 .shallow = row->shallow,
			 .retained = row->retained,
			 .evidence =
				 (enum hi_evidence)(row->flags & HI_OBJECT_EVIDENCE_MASK),
			 .array = row->flags & HI_OBJECT_ARRAY,
			 .internal = row->flags & HI_OBJECT_INTERNAL},
		.depth = row->depth,
		.count = row->count,
		.is_list = row->flags & LIST_FLAG,
		.children_more = row->more,
		.children_more_bytes = row->more_bytes};
}

enum hi_status hi_snapshot_source_retained(struct hi_inspection *in,
					   const struct hi_report_header *header,
					   struct hi_retained_report **ret,
					   struct hi_error *err)
{
	const struct hi_snapshot *s = in->snapshot->snapshot;
	size_t n = 0, shown = 0, top = hi_lookup_top(in->options, HI_RETAINED_TOP);
	struct hi_hidden beyond = {hi_snapshot_number(s, "retained.rows", 0),
				   hi_snapshot_number(s, "retained.bytes", 0)};
	const struct retained_row *from = NULL;
	struct hi_retained_row *rows;
	enum hi_status status = get_rows(in, &from, &n, err);

	if (status != HI_OK)
		return status;
	if (!count_rows(in, from, n, top, &shown))
		shown = n;
	rows = hi_calloc(shown + 1, sizeof(*rows));
	if (!rows)
		return hi_fail_memory(err, "retained");
	for (size_t i = 0; i < shown; i++) {
		if (!row_holds(s, from, i)) {
			free(rows);
			return hi_fail(
				err, HI_BAD_DATA, 0,
				"%.120s: section retained.tree: row %zu is inconsistent",
				in->options->target.file, i);
		}
		rows[i] = get_row(s, &from[i]);
		beyond.rows -= !from[i].depth;
		beyond.bytes -= from[i].depth ? 0 : from[i].retained;
	}
	return hi_retained_report_restore(
		header, in->graph, in->results.reach->live_bytes, in->results.census, top,
		rows, shown, beyond, ret, err);
}
