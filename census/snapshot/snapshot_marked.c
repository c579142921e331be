/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/snapshot/snapshot_marked.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/snapshot/snapshot_internal.h"

static const char section[] = "recording.marks";
static const char rows_section[] = "marks.totals";

struct stored_marked {
	uint64_t time_ns;
	uint32_t text, n_rows, is_era, unused;
};

enum hi_status hi_snapshot_put_marked(struct hi_snapshot_writer *w,
				      const struct hi_recorded_marks *marked,
				      struct hi_error *err)
{
	HI_GUARD(free) struct stored_marked *rows = NULL;
	enum hi_status status = HI_OK;

	if (!marked->n_marks)
		return HI_OK;
	rows = hi_calloc(marked->n_marks, sizeof(*rows));
	if (!rows)
		return hi_fail_memory(err, "marks");
	for (uint32_t i = 0; status == HI_OK && i < marked->n_marks; i++) {
		const struct hi_recorded_mark *mark = &marked->marks[i];

		rows[i] = (struct stored_marked){.time_ns = mark->time_ns,
						 .n_rows = mark->n_rows,
						 .is_era = mark->is_era};
		status = hi_snapshot_put_string(w, mark->text, &rows[i].text, err);
	}
	if (status == HI_OK)
		status = hi_snapshot_put(w, section, rows, sizeof(*rows), marked->n_marks,
					 err);
	return status == HI_OK
		       ? hi_snapshot_put(w, rows_section, marked->rows,
					 sizeof(*marked->rows), marked->n_rows, err)
		       : status;
}

static enum hi_status check_marked_rows(struct hi_snapshot *s,
					const struct hi_context_totals *totals,
					uint32_t n_contexts,
					const struct hi_recorded_marks *view,
					struct hi_error *err)
{
	for (uint32_t i = 0; i < view->n_rows; i++) {
		const struct hi_recorded_mark_row *row = &view->rows[i];

		if (row->context >= n_contexts ||
		    row->allocs > totals[row->context].allocs ||
		    row->bytes > totals[row->context].bytes)
			return hi_snapshot_bad(s, rows_section, err, "row %u", i);
	}
	return HI_OK;
}

/* Marks come in the order of time, and their rows behind each other. */
static enum hi_status take_marked(struct hi_snapshot *s, const struct stored_marked *from,
				  struct hi_recorded_mark *to,
				  struct hi_recorded_marks *view, uint64_t n_rows,
				  struct hi_error *err)
{
	uint64_t before_ns = 0;

	for (uint32_t i = 0; i < view->n_marks; i++) {
		to[i] = (struct hi_recorded_mark){
			.time_ns = from[i].time_ns,
			.text = hi_snapshot_string(s, from[i].text),
			.first_row = view->n_rows,
			.n_rows = from[i].n_rows,
			.is_era = from[i].is_era};
		if (!to[i].text || to[i].time_ns < before_ns ||
		    from[i].n_rows > n_rows - view->n_rows)
			return hi_snapshot_bad(s, section, err, "mark %u", i);
		before_ns = to[i].time_ns;
		view->n_rows += from[i].n_rows;
	}
	return view->n_rows == n_rows
		       ? HI_OK
		       : hi_snapshot_bad(s, rows_section, err, "rows without a mark");
}

enum hi_status hi_snapshot_marked(struct hi_snapshot *s,
				  const struct hi_context_totals *totals,
				  uint32_t n_contexts, struct hi_recorded_marks *ret,
				  struct hi_recorded_mark **marks_ret,
				  struct hi_error *err)
{
	const void *marks = NULL, *rows = NULL;
	uint64_t n = 0, n_rows = 0;
	enum hi_status status = hi_snapshot_get(s, section, sizeof(struct stored_marked),
						&marks, &n, err);

	if (status == HI_NOT_FOUND)
		return HI_OK;
	if (status == HI_OK)
		status = hi_snapshot_get(s, rows_section, sizeof(*ret->rows), &rows,
					 &n_rows, err);
	if (status == HI_NOT_FOUND)
		return hi_snapshot_bad(s, rows_section, err, "missing");
	if (status != HI_OK)
		return status;
	if (n > HI_MARKED_MOST || n_rows > HI_MARKED_ROWS_MOST)
		return hi_snapshot_bad(s, section, err, "too many rows");
	*marks_ret = hi_calloc(n + 1, sizeof(**marks_ret));
	if (!*marks_ret)
		return hi_fail_memory(err, "marks");
	*ret = (struct hi_recorded_marks){*marks_ret, rows, (uint32_t)n, 0};
	status = take_marked(s, marks, *marks_ret, ret, n_rows, err);
	return status == HI_OK ? check_marked_rows(s, totals, n_contexts, ret, err)
			       : status;
}

/* ---- pauses ---- */

static const char pauses_section[] = "pauses";

enum hi_status hi_snapshot_put_pauses(struct hi_snapshot_writer *w,
				      const struct hi_recording_pause *pauses, uint32_t n,
				      struct hi_error *err)
{
	return n ? hi_snapshot_put(w, pauses_section, pauses, sizeof(*pauses), n, err)
		 : HI_OK;
}

enum hi_status hi_snapshot_pauses(struct hi_snapshot *s,
				  const struct hi_recording_pause **ret, uint32_t *n_ret,
				  struct hi_error *err)
{
	const struct hi_recording_pause *rows;
	const void *items = NULL;
	uint64_t n = 0;
	enum hi_status status =
		hi_snapshot_get(s, pauses_section, sizeof(*rows), &items, &n, err);

	if (status == HI_NOT_FOUND)
		return HI_OK;
	if (status != HI_OK)
		return status;
	rows = items;
	if (n > HI_RECORDING_PAUSES_MOST)
		return hi_snapshot_bad(s, pauses_section, err, "too many rows");
	for (uint64_t i = 0; i < n; i++)
		if (rows[i].to_ns < rows[i].from_ns ||
		    (i && rows[i].from_ns < rows[i - 1].to_ns))
			return hi_snapshot_bad(s, pauses_section, err, "row %u",
					       (unsigned)i);
	*ret = rows;
	*n_ret = (uint32_t)n;
	return HI_OK;
}
