/* SPDX-License-Identifier: BSD-2-Clause */
/* The marks of a series: a snapshot that contains nothing else. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"
#include "census/snapshot/snapshot_series_format.h"
#include "census/snapshot/snapshot_series_internal.h"

HI_DEFINE_GUARD(struct hi_snapshot *, hi_snapshot_close)
HI_DEFINE_GUARD(struct hi_snapshot_writer *, hi_snapshot_writer_destroy)

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

static enum hi_status append_mark_rows(struct hi_snapshot_writer *w,
				       const struct hi_snapshots_mark *marks, size_t n,
				       struct hi_error *err)
{
	HI_GUARD(free) struct hi_snapshots_mark_row *rows = hi_calloc(n, sizeof(*rows));
	enum hi_status status = HI_OK;

	if (!rows)
		return hi_fail_memory(err, "marks");
	for (size_t i = 0; i < n && status == HI_OK; i++) {
		rows[i] = (struct hi_snapshots_mark_row){.census = marks[i].census,
							 .wall_ns = marks[i].wall_ns,
							 .cpu_ns = marks[i].cpu_ns};
		status = hi_snapshot_put_string(w, marks[i].text, &rows[i].text, err);
	}
	return status == HI_OK ? hi_snapshot_put(w, "marks", rows, sizeof(*rows), n, err)
			       : status;
}

enum hi_status hi_snapshots_write_marks(int fd, uint64_t at,
					const struct hi_snapshots_mark *marks, size_t n,
					struct hi_error *err)
{
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *w = NULL;
	struct hi_snapshot_options options = {.at = at};
	enum hi_status status = hi_snapshot_create(fd, &options, &w, err);

	if (status == HI_OK)
		status = append_mark_rows(w, marks, n, err);
	return status == HI_OK ? hi_snapshot_finish(w, err) : status;
}

/* ---- reading ---- */

static enum hi_status read_mark_row(const struct hi_snapshots *s,
				    struct hi_snapshot *part,
				    const struct hi_snapshots_mark_row *row,
				    struct hi_snapshots_marks *to, struct hi_error *err)
{
	const struct hi_census_point *first = &s->entries[0].point;
	const char *text = hi_snapshot_string(part, row->text);
	struct hi_snapshots_mark mark = {.census = row->census,
					 .wall_ns = row->wall_ns,
					 .cpu_ns = row->cpu_ns,
					 .time_ns = first->time_ns - first->wall_ns +
						    row->wall_ns};

	if (!text || strnlen(text, HI_SNAPSHOTS_MARK_TEXT + 1) > HI_SNAPSHOTS_MARK_TEXT)
		return hi_fail(err, HI_BAD_DATA, 0, "a mark without a text");
	return hi_snapshots_copy_mark(to, &mark, text, err);
}

static enum hi_status read_marks_part(const struct hi_snapshots *s,
				      const struct hi_snapshots_part *from,
				      struct hi_snapshots_marks *to, struct hi_error *err)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *part = NULL;
	const struct hi_snapshots_mark_row *rows;
	const void *items = NULL;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_open_part(s->fd, s->path, from->offset,
						      from->size, &part, err);

	if (status == HI_OK)
		status = hi_snapshot_get(part, "marks", sizeof(*rows), &items, &n, err);
	rows = items;
	for (uint64_t i = 0; i < n && status == HI_OK; i++)
		status = read_mark_row(s, part, &rows[i], to, err);
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
