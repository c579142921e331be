/* SPDX-License-Identifier: BSD-2-Clause */
/* allocations: objects that a recording has; the key is the object. */
#include "query/query_internal.h"

enum { OBJECT, CONTEXT, THREAD, AGE_NS, BORN_NS, REQUESTED };

static const struct hi_query_column columns[] = {
	[OBJECT] = {"object", HI_UNIT_ID, false, "objects.id"},
	[CONTEXT] = {"context", HI_UNIT_ID, false,
		     "contexts.id: the call stack that allocated it"},
	[THREAD] = {"thread", HI_UNIT_ID, false, "id of the thread that allocated it"},
	[AGE_NS] = {"age_ns", HI_UNIT_ID, false,
		    "from its allocation to the end of the recording"},
	[BORN_NS] = {"born_ns", HI_UNIT_ID, false,
		     "from the start of the recording to its allocation"},
	[REQUESTED] = {"requested", HI_UNIT_BYTES, false,
		       "that the program asked for; of a piece of a block: for the "
		       "block"},
};

enum { WAY_CONTEXT = 1 };
static const struct hi_query_way ways[] = {
	{.column = -1, .order = OBJECT, .both_ways = true},
	[WAY_CONTEXT] = {.column = CONTEXT, .order = OBJECT},
};

/* The recording may not be there yet, and is not read for an estimate. */
static uint64_t estimate_allocation_rows(const struct hi_query *q)
{
	return q->source.graph->n_objects;
}

static enum hi_status find_allocation_keys(struct hi_query *q, uint64_t *low_ret,
					   uint64_t *high_ret, struct hi_error *err)
{
	const struct hi_recorded *r = NULL;
	enum hi_status status = hi_query_recorded(q, &r, err);

	*low_ret = 0;
	*high_ret = status == HI_OK ? r->births->n_objects : 0;
	return status;
}

static enum hi_status start_allocation_walk(struct hi_query *q,
					    struct hi_query_walk *walk,
					    struct hi_error *err)
{
	const struct hi_born_in *in = NULL;
	enum hi_status status;

	hi_query_walk_keys(walk);
	if (walk->way == 0)
		return HI_OK;
	status = hi_query_born_in(q, &in, err);
	walk->at = walk->end = 0;
	if (status != HI_OK || walk->integer < 0 || walk->integer >= in->n)
		return status;
	walk->list = in->objects;
	walk->at = in->first[walk->integer];
	walk->end = in->first[walk->integer + 1];
	return HI_OK;
}

static bool advance_allocation_walk(struct hi_query *q, struct hi_query_walk *walk)
{
	if (walk->way == WAY_CONTEXT) {
		if (walk->at >= walk->end)
			return false;
		walk->row = ((const hi_node *)walk->list)[walk->at++];
		return true;
	}
	while (hi_query_next_key(q, walk))
		if (hi_birth_is_known(q->recorded->births, (hi_node)walk->row))
			return true;
	return false;
}

static uint64_t age_of_allocation(const struct hi_births *b, uint64_t object)
{
	uint64_t length = b->end_ns > b->start_ns ? b->end_ns - b->start_ns : 0;

	return length > b->time_ns[object] ? length - b->time_ns[object] : 0;
}

static enum hi_status make_allocation_cell(struct hi_query *q, uint64_t row, int column,
					   struct hi_result_cell *ret,
					   struct hi_error *err)
{
	const struct hi_births *b = q->recorded->births;

	(void)err;
	/* Allocations that a program has traced by itself have neither. */
	if (b->is_traced && (column == THREAD || column == AGE_NS || column == BORN_NS)) {
		*ret = hi_cell_null();
		return HI_OK;
	}
	*ret = column == OBJECT	   ? hi_cell_u64(row)
	       : column == CONTEXT ? hi_cell_u64(b->context[row])
	       : column == THREAD  ? hi_cell_u64(b->threads[b->thread[row]])
	       : column == AGE_NS  ? hi_cell_u64(age_of_allocation(b, row))
	       : column == BORN_NS ? hi_cell_u64(b->time_ns[row])
				   : hi_cell_u64(b->size[row]);
	return HI_OK;
}

const struct hi_query_ops hi_query_table_allocations = {
	.name = "allocations",
	.about = "objects that a recording has: where and when they were allocated",
	HI_COLUMNS(columns),
	HI_WAYS(ways),
	.grows = 1ull << OBJECT | 1ull << HI_COLUMN_ROWID,
	.about_rows = estimate_allocation_rows,
	.keys = find_allocation_keys,
	.start = start_allocation_walk,
	.next = advance_allocation_walk,
	.cell = make_allocation_cell,
};
