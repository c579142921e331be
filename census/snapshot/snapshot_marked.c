/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/snapshot/snapshot_marked.h"

#include "census/snapshot/snapshot_internal.h"

static const char section[] = "recording.marks";
static const char rows_section[] = "marks.totals";

static const struct hi_row_member mark_members[] = {
#define MARK_MEMBER(name)                                                                \
	HI_ROW_MEMBER(struct hi_snapshot_mark_row, name, struct hi_recorded_mark, name)
	MARK_MEMBER(time_ns),
	MARK_MEMBER(text),
	MARK_MEMBER(n_rows),
	MARK_MEMBER(is_era),
#undef MARK_MEMBER
};
static const struct hi_row_map mark_map =
	HI_ROW_MAP(section, struct hi_recorded_mark, mark_members);

enum hi_status hi_snapshot_put_marked(struct hi_snapshot_writer *w,
				      const struct hi_recorded_marks *marked,
				      struct hi_error *err)
{
	enum hi_status status;

	if (!marked->n_marks)
		return HI_OK;
	status = hi_snapshot_put_rows(w, &mark_map, marked->marks, marked->n_marks, err);
	return status == HI_OK ? hi_snapshot_put_section(w, rows_section, marked->rows,
							 marked->n_rows, err)
			       : status;
}

/* Rows of marks come one after the other. No context has more than in total. */
static enum hi_status place_marked_rows(struct hi_snapshot *s,
					const struct hi_context_totals *totals,
					struct hi_recorded_marks *view,
					struct hi_recorded_mark *marks, uint64_t n_rows,
					struct hi_error *err)
{
	for (uint32_t i = 0; i < view->n_marks; i++) {
		if (marks[i].n_rows > n_rows - view->n_rows)
			return hi_snapshot_bad(s, section, err, "mark %u", i);
		marks[i].first_row = view->n_rows;
		view->n_rows += marks[i].n_rows;
	}
	if (view->n_rows != n_rows)
		return hi_snapshot_bad(s, rows_section, err, "rows without a mark");
	for (uint32_t i = 0; i < view->n_rows; i++) {
		const struct hi_recorded_mark_row *row = &view->rows[i];

		if (row->allocs > totals[row->context].allocs ||
		    row->bytes > totals[row->context].bytes)
			return hi_snapshot_bad(s, rows_section, err, "row %u", i);
	}
	return HI_OK;
}

enum hi_status hi_snapshot_marked(struct hi_snapshot *s,
				  const struct hi_context_totals *totals,
				  struct hi_recorded_marks *ret,
				  struct hi_recorded_mark **marks_ret,
				  struct hi_error *err)
{
	uint64_t n = 0, n_rows = 0;
	enum hi_status status =
		hi_snapshot_take_rows(s, &mark_map, NULL, marks_ret, &n, err);

	if (status != HI_OK || !*marks_ret)
		return status;
	*ret = (struct hi_recorded_marks){.marks = *marks_ret, .n_marks = (uint32_t)n};
	status = hi_snapshot_rows(s, rows_section, &ret->rows, &n_rows, err);
	return status == HI_OK
		       ? place_marked_rows(s, totals, ret, *marks_ret, n_rows, err)
		       : status;
}
