/* SPDX-License-Identifier: BSD-2-Clause */
/* pieces: what is live of the sources of a recording without an object of its own; the
 * key is the place in the list. */
#include "query/query_internal.h"

enum { SOURCE, KIND, ADDRESS, SIZE, CONTEXT, THREAD, AGE_NS, BORN_NS };

static const struct hi_query_column columns[] = {
	[SOURCE] = {"source", HI_UNIT_TEXT, false,
		    "which gave it: \"pool_get\", \"mmap\""},
	[KIND] = {"kind", HI_UNIT_TEXT, false,
		  "of the source: allocator (whose heap is not decoded), pool, mappings"},
	[ADDRESS] = {"address", HI_UNIT_ADDRESS, false, "where it begins"},
	[SIZE] = {"size", HI_UNIT_BYTES, false, "that was requested; NULL: not known"},
	[CONTEXT] = {"context", HI_UNIT_ID, false,
		     "contexts.id: the call stack that got it"},
	[THREAD] = {"thread", HI_UNIT_ID, false, "id of the thread that got it"},
	[AGE_NS] = {"age_ns", HI_UNIT_ID, false, "to the end of the recording"},
	[BORN_NS] = {"born_ns", HI_UNIT_ID, false, "from the start of the recording"},
};

enum { A_FEW_PIECES = 1000 };

static uint64_t estimate_piece_rows(const struct hi_query *q)
{
	return q->recorded ? q->recorded->pieces.count : A_FEW_PIECES;
}

static enum hi_status find_piece_keys(struct hi_query *q, uint64_t *low_ret,
				      uint64_t *high_ret, struct hi_error *err)
{
	const struct hi_recorded *r = NULL;
	enum hi_status status = hi_query_recorded(q, &r, err);

	*low_ret = 0;
	*high_ret = status == HI_OK ? r->pieces.count : 0;
	return status;
}

static const char *kind_of_piece(const struct hi_recorded_source *source)
{
	return source->family == HI_FAMILY_CALLS      ? "pool"
	       : source->family == HI_FAMILY_MAPPINGS ? "mappings"
						      : "allocator";
}

static uint64_t age_of_queried_piece(const struct hi_births *b,
				     const struct hi_piece *piece)
{
	uint64_t length = b->end_ns > b->start_ns ? b->end_ns - b->start_ns : 0;

	return length > piece->time_ns ? length - piece->time_ns : 0;
}

static enum hi_status make_piece_cell(struct hi_query *q, uint64_t row, int column,
				      struct hi_result_cell *ret, struct hi_error *err)
{
	const struct hi_piece *piece = &q->recorded->pieces.items[row];
	const struct hi_recorded_source *source =
		&q->recorded->pieces.sources[piece->source];

	(void)err;
	*ret = column == SOURCE	   ? hi_cell_string(source->name)
	       : column == KIND	   ? hi_cell_string(kind_of_piece(source))
	       : column == ADDRESS ? hi_cell_u64(piece->addr)
	       : column == SIZE	   ? hi_cell_u64(piece->size ? piece->size : UINT64_MAX)
	       : column == CONTEXT ? hi_cell_u64(piece->context)
	       : column == THREAD  ? hi_cell_u64(piece->tid)
	       : column == AGE_NS
		       ? hi_cell_u64(age_of_queried_piece(q->recorded->births, piece))
		       : hi_cell_u64(piece->time_ns);
	return HI_OK;
}

const struct hi_query_ops hi_query_table_pieces = {
	.name = "pieces",
	.about = "what pools, mappings and heaps that are not decoded hold, by a "
		 "recording",
	HI_COLUMNS(columns),
	HI_WAYS(hi_way_of_keys),
	.grows = 1ull << HI_COLUMN_ROWID,
	.about_rows = estimate_piece_rows,
	.keys = find_piece_keys,
	.cell = make_piece_cell,
};
