/* SPDX-License-Identifier: BSD-2-Clause */
/* contexts: call stacks of a recording, with their totals; the key is the context. */
#include "census/events/birth_groups.h"
#include "query/query_internal.h"

enum {
	ID,
	FUNCTION,
	FILE_NAME,
	LINE,
	MODULE,
	ALLOCATIONS,
	BYTES,
	FREES,
	FREED_BYTES,
	MOST_LIVE,
	MOST_BYTES,
	TRUNCATED,
	OFFSET
};

static const struct hi_query_column columns[] = {
	[ID] = {"id", HI_UNIT_ID, false, "allocations.context; 0: without a stack"},
	[FUNCTION] = {"function", HI_UNIT_TEXT, false,
		      "its site: the innermost function that does not only allocate for "
		      "its caller; NULL: no name is known"},
	[FILE_NAME] = {"file", HI_UNIT_TEXT, false, "of the site's source"},
	[LINE] = {"line", HI_UNIT_ID, false, "of the site"},
	[MODULE] = {"module", HI_UNIT_TEXT, false, "path of what contains the site"},
	[ALLOCATIONS] = {"allocations", HI_UNIT_NUMBER, false,
			 "in the recording, freed or not"},
	[BYTES] = {"bytes", HI_UNIT_BYTES, false, "that these requested"},
	[FREES] = {"frees", HI_UNIT_NUMBER, false, "of these"},
	[FREED_BYTES] = {"freed_bytes", HI_UNIT_BYTES, false, "of bytes"},
	[MOST_LIVE] = {"most_live", HI_UNIT_NUMBER, false, "of these, at a time"},
	[MOST_BYTES] = {"most_bytes", HI_UNIT_BYTES, false, "of bytes, at a time"},
	[TRUNCATED] = {"truncated", HI_UNIT_NUMBER, false,
		       "1: outer frames are not known"},
	[OFFSET] = {"offset", HI_UNIT_ADDRESS, true, "of the site in its module"},
};

enum { A_FEW_ROWS = 1000 };

static uint64_t estimate_context_rows(const struct hi_query *q)
{
	return q->recorded ? q->recorded->contexts.n_contexts : A_FEW_ROWS;
}

static enum hi_status find_context_keys(struct hi_query *q, uint64_t *low_ret,
					uint64_t *high_ret, struct hi_error *err)
{
	const struct hi_recorded *r = NULL;
	enum hi_status status = hi_query_recorded(q, &r, err);

	*low_ret = 0;
	*high_ret = status == HI_OK ? r->contexts.n_contexts : 0;
	return status;
}

static struct hi_result_cell site_cell(const struct hi_recorded *r, uint32_t context,
				       int column)
{
	uint32_t site = hi_context_site(&r->contexts, &r->frames, context);
	const struct hi_frame_row *row;

	if (site >= r->frames.n_rows)
		return hi_cell_null();
	row = &r->frames.rows[site];
	return column == FUNCTION    ? hi_cell_string(row->function)
	       : column == FILE_NAME ? hi_cell_string(row->file)
	       : column == LINE	     ? hi_cell_u64(row->line ? row->line : UINT64_MAX)
	       : column == MODULE    ? hi_cell_string(row->module)
				     : hi_cell_u64(row->offset);
}

static struct hi_result_cell totals_cell(const struct hi_context_totals *t, int column)
{
	return column == ALLOCATIONS   ? hi_cell_u64(t->allocs)
	       : column == BYTES       ? hi_cell_u64(t->bytes)
	       : column == FREES       ? hi_cell_u64(t->frees)
	       : column == FREED_BYTES ? hi_cell_u64(t->freed_bytes)
	       : column == MOST_LIVE   ? hi_cell_u64(t->most_live)
				       : hi_cell_u64(t->most_bytes);
}

static enum hi_status make_context_cell(struct hi_query *q, uint64_t row, int column,
					struct hi_result_cell *ret, struct hi_error *err)
{
	const struct hi_recorded *r = q->recorded;
	uint32_t flags = r->contexts.contexts[row].flags;

	(void)err;
	if (column == ID)
		*ret = hi_cell_u64(row);
	else if (column == TRUNCATED)
		*ret = hi_cell_u64((flags & HI_CONTEXT_CUT) != 0);
	else if (column >= ALLOCATIONS && column < TRUNCATED)
		*ret = totals_cell(&r->totals[row], column);
	else
		*ret = site_cell(r, (uint32_t)row, column);
	return HI_OK;
}

const struct hi_query_ops hi_query_table_contexts = {
	.name = "contexts",
	.about = "call stacks of a recording, and what each has allocated",
	HI_COLUMNS(columns),
	HI_WAYS(hi_way_of_keys),
	.grows = 1ull << ID | 1ull << HI_COLUMN_ROWID,
	.about_rows = estimate_context_rows,
	.keys = find_context_keys,
	.cell = make_context_cell,
};
