/* SPDX-License-Identifier: BSD-2-Clause */
/* frames: functions that have variables; the key is the row. */
#include "query/query_internal.h"

enum { THREAD, FUNCTION, PLACE, VARIABLES, RETAINED };

static const struct hi_query_column columns[] = {
	[THREAD] = {"thread", HI_UNIT_ID, false, "its number"},
	[FUNCTION] = {"function", HI_UNIT_TEXT, false, "NULL: no name is known"},
	[PLACE] = {"place", HI_UNIT_TEXT, false, "its module; of Python, file and line"},
	[VARIABLES] = {"variables", HI_UNIT_NUMBER, false, "of it, that are roots"},
	[RETAINED] = {"retained", HI_UNIT_BYTES, false,
		      "what each of these alone keeps alive, together"},
};

static uint64_t estimate_frame_rows(const struct hi_query *q)
{
	return q->frames.is_there ? q->frames.rows.count : 16;
}

static enum hi_status find_frame_keys(struct hi_query *q, uint64_t *low_ret,
				      uint64_t *high_ret, struct hi_error *err)
{
	const struct hi_stack_frames *frames = NULL;
	enum hi_status status = hi_query_frames(q, &frames, err);

	*low_ret = 0;
	*high_ret = status == HI_OK ? frames->rows.count : 0;
	return status;
}

static enum hi_status make_frame_cell(struct hi_query *q, uint64_t index, int column,
				      struct hi_result_cell *ret, struct hi_error *err)
{
	const struct hi_stack_frame *row = &q->frames.rows.items[index];

	(void)err;
	*ret = column == THREAD ? hi_cell_u64(row->thread)
	       : column == FUNCTION
		       ? hi_cell_string(strcmp(row->function, "?") == 0 ? ""
									: row->function)
	       : column == PLACE     ? hi_cell_string(row->place)
	       : column == VARIABLES ? hi_cell_u64(row->variables)
				     : hi_cell_u64(row->retained);
	return HI_OK;
}

const struct hi_query_ops hi_query_table_frames = {
	.name = "frames",
	.about = "functions on the stacks that have variables",
	HI_COLUMNS(columns),
	HI_WAYS(hi_way_of_keys),
	.grows = 1ull << HI_COLUMN_ROWID,
	.about_rows = estimate_frame_rows,
	.keys = find_frame_keys,
	.cell = make_frame_cell,
};
