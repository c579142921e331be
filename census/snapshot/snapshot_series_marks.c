/* SPDX-License-Identifier: BSD-2-Clause */
/* The marks of a series: a snapshot that contains nothing else. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"
#include "census/snapshot/snapshot_format.h"
#include "census/snapshot/snapshot_sections.h"
#include "census/snapshot/snapshot_series_internal.h"

void hi_snapshots_marks_free(struct hi_snapshots_marks *marks)
{
	free(marks->items);
	hi_arena_free(&marks->strings);
	*marks = (struct hi_snapshots_marks){};
}

enum hi_status hi_snapshots_copy_mark(struct hi_snapshots_marks *marks,
				      const struct hi_snapshots_mark *mark,
				      const char *text, struct hi_error *err)
{
	struct hi_snapshots_mark kept = *mark;

	if (marks->count >= HI_SNAPSHOTS_MARKS_MOST)
		return hi_fail(err, HI_LIMIT, 0, "a file has at most %d marks",
			       HI_SNAPSHOTS_MARKS_MOST);
	kept.text = hi_arena_strdup(&marks->strings, text);
	if (!kept.text || !hi_vector_push(marks, kept))
		return hi_fail_memory(err, "marks");
	return HI_OK;
}

/* ---- writing ---- */

static const struct hi_row_member mark_row_members[] = {
#define MARK_ROW_MEMBER(name)                                                            \
	HI_ROW_MEMBER(struct hi_snapshots_mark_row, name, struct hi_snapshots_mark, name)
	MARK_ROW_MEMBER(text),
	MARK_ROW_MEMBER(census),
	MARK_ROW_MEMBER(wall_ns),
	MARK_ROW_MEMBER(cpu_ns),
#undef MARK_ROW_MEMBER
};
static const struct hi_row_map mark_row_map =
	HI_ROW_MAP("marks", struct hi_snapshots_mark, mark_row_members);

enum hi_status hi_snapshots_write_marks(int fd, uint64_t at,
					const struct hi_snapshots_mark *marks, size_t n,
					struct hi_error *err)
{
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *w = NULL;
	struct hi_snapshot_options options = {.at = at};
	enum hi_status status = hi_snapshot_create(fd, &options, &w, err);

	if (status == HI_OK)
		status = hi_snapshot_put_rows(w, &mark_row_map, marks, n, err);
	return status == HI_OK ? hi_snapshot_finish(w, err) : status;
}

/* ---- reading ---- */

static enum hi_status read_marks_part(const struct hi_snapshots *s,
				      const struct hi_snapshots_part *from,
				      struct hi_snapshots_marks *to, struct hi_error *err)
{
	const struct hi_census_point *first = &s->entries[0].point;
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *part = NULL;
	HI_GUARD(free) struct hi_snapshots_mark *marks = NULL;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_open_part(s->fd, s->path, from->offset,
						      from->size, &part, err);

	if (status == HI_OK)
		status =
			hi_snapshot_take_rows(part, &mark_row_map, NULL, &marks, &n, err);
	for (uint64_t i = 0; i < n && status == HI_OK; i++) {
		struct hi_snapshots_mark *mark = &marks[i];

		mark->time_ns = first->time_ns - first->wall_ns + mark->wall_ns;
		if (strnlen(mark->text, HI_SNAPSHOTS_MARK_TEXT + 1) >
		    HI_SNAPSHOTS_MARK_TEXT)
			return hi_fail(err, HI_BAD_DATA, 0, "a mark without a text");
		status = hi_snapshots_copy_mark(to, mark, mark->text, err);
	}
	return status;
}

enum hi_status hi_snapshots_read_marks(const struct hi_snapshots *s,
				       struct hi_snapshots_marks *ret,
				       struct hi_error *err)
{
	struct hi_snapshots_marks marks = {};

	for (size_t i = 0; i < s->n_marks; i++) {
		enum hi_status status = read_marks_part(s, &s->marks[i], &marks, err);

		if (status == HI_NO_MEMORY) {
			hi_snapshots_marks_free(&marks);
			return status;
		}
		marks.lost += status != HI_OK;
	}
	*ret = marks;
	return HI_OK;
}
