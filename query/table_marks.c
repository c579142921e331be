/* SPDX-License-Identifier: BSD-2-Clause */
/* marks: named timestamps of a series; the key is the row. */
#include "query/query_internal.h"

enum { CENSUS, TIME_NS, WALL_NS, CPU_NS, TEXT };

static const struct hi_query_column columns[] = {
	[CENSUS] = {"census", HI_UNIT_ID, false,
		    "the last one before it; NULL: there was none yet"},
	[TIME_NS] = {"time_ns", HI_UNIT_ID, false, "when: nanoseconds since 1970, UTC"},
	[WALL_NS] = {"wall_ns", HI_UNIT_ID, false, "since the first census"},
	[CPU_NS] = {"cpu_ns", HI_UNIT_ID, false, "of the target, since the first census"},
	[TEXT] = {"text", HI_UNIT_TEXT, false, "what it was called"},
};

static uint64_t estimate_mark_rows(const struct hi_query *q)
{
	return q->marks ? q->marks->count : 16;
}

static enum hi_status find_mark_keys(struct hi_query *q, uint64_t *low_ret,
				     uint64_t *high_ret, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (!q->marks && q->source.marks)
		status = q->source.marks(q->source.arg, &q->marks, err);
	*low_ret = 0;
	*high_ret = status == HI_OK && q->marks ? q->marks->count : 0;
	return status;
}

static enum hi_status make_mark_cell(struct hi_query *q, uint64_t index, int column,
				     struct hi_result_cell *ret, struct hi_error *err)
{
	const struct hi_snapshots_mark *mark = &q->marks->items[index];

	(void)err;
	*ret = column == CENSUS	   ? hi_cell_u64(mark->census ? mark->census : UINT64_MAX)
	       : column == TIME_NS ? hi_cell_u64(mark->time_ns)
	       : column == WALL_NS ? hi_cell_u64(mark->wall_ns)
	       : column == CPU_NS  ? hi_cell_u64(mark->cpu_ns)
				   : hi_cell_string_n(mark->text, strlen(mark->text));
	return HI_OK;
}

const struct hi_query_ops hi_query_table_marks = {
	.name = "marks",
	.about = "marks of a series, made by heapinspect mark",
	HI_COLUMNS(columns),
	HI_WAYS(hi_way_of_keys),
	.grows = 1ull << HI_COLUMN_ROWID,
	.about_rows = estimate_mark_rows,
	.keys = find_mark_keys,
	.cell = make_mark_cell,
};
