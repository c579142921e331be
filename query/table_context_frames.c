/* SPDX-License-Identifier: BSD-2-Clause */
/* context_frames: functions of the call stacks of a recording; the key is the context,
 * and 32 bits of the depth. */
#include "query/query_internal.h"

enum { CONTEXT, DEPTH, FUNCTION, FILE_NAME, LINE, MODULE, OFFSET, INLINED };

static const struct hi_query_column columns[] = {
	[CONTEXT] = {"context", HI_UNIT_ID, false, "contexts.id"},
	[DEPTH] = {"depth", HI_UNIT_ID, false, "0: the innermost function"},
	[FUNCTION] = {"function", HI_UNIT_TEXT, false, "NULL: no name is known"},
	[FILE_NAME] = {"file", HI_UNIT_TEXT, false, "of the source"},
	[LINE] = {"line", HI_UNIT_ID, false, "in the file"},
	[MODULE] = {"module", HI_UNIT_TEXT, false, "path of what contains the function"},
	[OFFSET] = {"offset", HI_UNIT_ADDRESS, false,
		    "of the return address in its module"},
	[INLINED] = {"inlined", HI_UNIT_NUMBER, false,
		     "1: the function is inlined into the one of the next depth"},
};

static const struct hi_query_way ways[] = {
	/* A context has several. */
	{.column = -1, .order = CONTEXT, .share = 0.01},
};

enum { A_FEW_CONTEXTS = 1000, A_FEW_FRAMES = 16 };

static uint64_t estimate_context_frames(const struct hi_query *q)
{
	uint64_t n = q->recorded ? q->recorded->contexts.n_contexts : A_FEW_CONTEXTS;

	return n * A_FEW_FRAMES;
}

static enum hi_status find_context_frame_keys(struct hi_query *q, uint64_t *low_ret,
					      uint64_t *high_ret, struct hi_error *err)
{
	const struct hi_recorded *r = NULL;
	enum hi_status status = hi_query_recorded(q, &r, err);

	*low_ret = 0;
	*high_ret = status == HI_OK ? (uint64_t)r->contexts.n_contexts << 32 : 0;
	return status;
}

static bool advance_context_frames(struct hi_query *q, struct hi_query_walk *walk)
{
	while (walk->at < walk->end) {
		uint32_t context = (uint32_t)(walk->at >> 32);

		if ((uint32_t)walk->at < hi_query_stack_rows(q, context)) {
			walk->row = walk->at++;
			return true;
		}
		walk->at = ((uint64_t)context + 1) << 32;
	}
	return false;
}

static struct hi_result_cell context_frame_row_cell(const struct hi_frame_row *row,
						    int column)
{
	return column == FUNCTION    ? hi_cell_string(row->function)
	       : column == FILE_NAME ? hi_cell_string(row->file)
	       : column == LINE	     ? hi_cell_u64(row->line ? row->line : UINT64_MAX)
	       : column == MODULE    ? hi_cell_string(row->module)
	       : column == OFFSET    ? hi_cell_u64(row->offset)
				     : hi_cell_u64((row->flags & HI_FRAME_INLINED) != 0);
}

static enum hi_status make_context_frame_cell(struct hi_query *q, uint64_t key,
					      int column, struct hi_result_cell *ret,
					      struct hi_error *err)
{
	uint32_t context = (uint32_t)(key >> 32), depth = (uint32_t)key;
	const struct hi_frame_row *row = hi_query_stack_row(q, context, depth);

	(void)err;
	if (column == CONTEXT)
		*ret = hi_cell_u64(context);
	else if (column == DEPTH)
		*ret = hi_cell_u64(depth);
	else
		*ret = row ? context_frame_row_cell(row, column) : hi_cell_null();
	return HI_OK;
}

const struct hi_query_ops hi_query_table_context_frames = {
	.name = "context_frames",
	.about = "functions of the call stacks of a recording",
	HI_COLUMNS(columns),
	HI_WAYS(ways),
	.grows = 1ull << CONTEXT,
	.about_rows = estimate_context_frames,
	.keys = find_context_frame_keys,
	.bound = hi_query_bound_upper,
	.next = advance_context_frames,
	.cell = make_context_frame_cell,
};
