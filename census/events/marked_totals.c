/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/marked_totals.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/vector.h"
#include "census/events/sampling.h"

struct hi_marked_totals {
	struct HI_VECTOR(struct hi_recorded_mark) marks;
	struct HI_VECTOR(struct hi_recorded_mark_row) rows;
	struct HI_VECTOR(uint64_t) allocs; /* by context, at the last mark */
	struct hi_arena texts;
};

enum hi_status hi_marked_totals_create(struct hi_marked_totals **ret,
				       struct hi_error *err)
{
	struct hi_marked_totals *t = hi_calloc(1, sizeof(*t));

	if (!t)
		return hi_fail_memory(err, "marks of a recording");
	*ret = t;
	return HI_OK;
}

void hi_marked_totals_destroy(struct hi_marked_totals *totals)
{
	if (!totals)
		return;
	hi_vector_free(&totals->marks);
	hi_vector_free(&totals->rows);
	hi_vector_free(&totals->allocs);
	hi_arena_free(&totals->texts);
	free(totals);
}

/* Adds the contexts that have allocated since the last mark. */
static bool add_marked_rows(struct hi_marked_totals *t,
			    const struct hi_recording *recording, uint32_t n_contexts)
{
	const struct hi_context_totals *now = hi_recording_by_context(recording);
	const double *overheads = hi_recording_overheads(recording);

	for (uint32_t i = 0; i < n_contexts; i++)
		if (now[i].allocs != t->allocs.items[i] &&
		    (t->rows.count >= HI_MARKED_ROWS_MOST ||
		     !hi_vector_push(&t->rows, (struct hi_recorded_mark_row){
						       .context = i,
						       .allocs = now[i].allocs,
						       .bytes = now[i].bytes,
						       .overhead = hi_estimate_round(
							       overheads[i])})))
			return false;
	return true;
}

static void note_marked_rows(struct hi_marked_totals *t, size_t first)
{
	for (size_t i = first; i < t->rows.count; i++)
		t->allocs.items[t->rows.items[i].context] = t->rows.items[i].allocs;
}

static bool add_marked(struct hi_marked_totals *t, const struct hi_recording *recording,
		       struct hi_recorded_mark *mark, const char *text)
{
	struct hi_context_view contexts;

	hi_contexts_view(hi_recording_contexts(recording), &contexts);
	mark->text = hi_arena_strdup(&t->texts, text);
	while (mark->text && t->allocs.count < contexts.n_contexts)
		if (!hi_vector_push(&t->allocs, 0))
			return false;
	if (!mark->text || !add_marked_rows(t, recording, contexts.n_contexts))
		return false;
	mark->n_rows = (uint32_t)t->rows.count - mark->first_row;
	return hi_vector_push(&t->marks, *mark);
}

enum hi_status hi_marked_totals_add(struct hi_marked_totals *totals,
				    const struct hi_recording *recording,
				    uint64_t time_ns, const char *text, bool is_era,
				    struct hi_error *err)
{
	struct hi_recorded_mark mark = {.time_ns = time_ns,
					.first_row = (uint32_t)totals->rows.count,
					.is_era = is_era};

	if (totals->marks.count >= HI_MARKED_MOST ||
	    !add_marked(totals, recording, &mark, text)) {
		bool is_full = totals->marks.count >= HI_MARKED_MOST ||
			       totals->rows.count >= HI_MARKED_ROWS_MOST;

		totals->rows.count = mark.first_row;
		return is_full ? hi_fail(err, HI_LIMIT, 0,
					 "mark: the totals of a recording are kept for "
					 "%d contexts of marks at most",
					 HI_MARKED_ROWS_MOST)
			       : hi_fail_memory(err, "marks of a recording");
	}
	note_marked_rows(totals, mark.first_row);
	return HI_OK;
}

struct hi_recorded_marks hi_marked_totals_view(const struct hi_marked_totals *totals)
{
	return (struct hi_recorded_marks){totals->marks.items, totals->rows.items,
					  (uint32_t)totals->marks.count,
					  (uint32_t)totals->rows.count};
}
