/* SPDX-License-Identifier: BSD-2-Clause */
/* events: what a recording kept of each call (record --keep-events), in the order in
 * which it was recorded; the key is the place in the list. */
#include "query/query_internal.h"

enum { SERIAL, TIME_NS, THREAD, KIND, SOURCE, ADDRESS, SIZE, OLD, CONTEXT, SAMPLED };

static const struct hi_query_column columns[] = {
	[SERIAL] = {"serial", HI_UNIT_ID, false,
		    "from 0, in the order in which they were recorded"},
	[TIME_NS] = {"time_ns", HI_UNIT_ID, false, "from the start of the recording"},
	[THREAD] = {"thread", HI_UNIT_ID, false, "id of the thread"},
	[KIND] = {"kind", HI_UNIT_TEXT, false,
		  "alloc, free, realloc_begin, realloc_end, lost"},
	[SOURCE] = {"source", HI_UNIT_TEXT, false,
		    "the functions that it is of: \"malloc\", \"pool_get\", \"mmap\""},
	[ADDRESS] = {"address", HI_UNIT_ADDRESS, false,
		     "what was given out, given back or, of realloc_end, the result; "
		     "NULL: none"},
	[SIZE] = {"size", HI_UNIT_BYTES, false,
		  "that was requested; of lost: how many events are missing here; NULL: "
		  "none, or not known"},
	[OLD] = {"old", HI_UNIT_ADDRESS, false,
		 "of realloc_end: the block that was passed"},
	[CONTEXT] = {"context", HI_UNIT_ID, false,
		     "contexts.id: the call stack; NULL: of this kind none is taken"},
	[SAMPLED] = {"sampled", HI_UNIT_NUMBER, false, "1: it is a sample (--sample)"},
};

enum { MANY_EVENTS = 1000000 };

static uint64_t estimate_event_rows(const struct hi_query *q)
{
	return q->recorded ? q->recorded->event_counts.kept : MANY_EVENTS;
}

static enum hi_status find_event_keys(struct hi_query *q, uint64_t *low_ret,
				      uint64_t *high_ret, struct hi_error *err)
{
	*low_ret = 0;
	return hi_query_events(q, high_ret, err);
}

static const char *name_event_kind(unsigned kind)
{
	static const char *const names[] = {[HI_EVENT_ALLOC] = "alloc",
					    [HI_EVENT_FREE] = "free",
					    [HI_EVENT_REALLOC_BEGIN] = "realloc_begin",
					    [HI_EVENT_REALLOC_END] = "realloc_end",
					    [HI_EVENT_LOST] = "lost"};

	return kind <= HI_EVENT_LOST ? names[kind] : NULL;
}

static uint64_t time_of_queried_event(const struct hi_births *b,
				      const struct hi_kept_event *e)
{
	return e->time_ns > b->start_ns ? e->time_ns - b->start_ns : 0;
}

static struct hi_result_cell source_of_queried_event(const struct hi_query *q,
						     const struct hi_kept_event *e)
{
	const struct hi_pieces *pieces = &q->recorded->pieces;

	return e->kind == HI_EVENT_LOST || e->source >= pieces->n_sources
		       ? hi_cell_null()
		       : hi_cell_string(pieces->sources[e->source].name);
}

static struct hi_result_cell size_of_queried_event(const struct hi_kept_event *e)
{
	bool has_none = e->kind == HI_EVENT_FREE && !e->size;

	return has_none ? hi_cell_null() : hi_cell_u64(e->size);
}

/* 0, as in the table allocations, where there should be a stack. */
static struct hi_result_cell context_of_queried_event(const struct hi_kept_event *e)
{
	bool gives = e->kind == HI_EVENT_ALLOC || e->kind == HI_EVENT_REALLOC_END;

	return e->context || gives ? hi_cell_u64(e->context) : hi_cell_null();
}

static struct hi_result_cell cell_of_event(const struct hi_query *q, uint64_t row,
					   const struct hi_kept_event *e, int column)
{
	switch (column) {
	case SERIAL:
		return hi_cell_u64(row);
	case TIME_NS:
		return hi_cell_u64(time_of_queried_event(q->recorded->births, e));
	case THREAD:
		return hi_cell_known_address(q->events->stored->threads[e->thread]);
	case KIND:
		return hi_cell_string(name_event_kind(e->kind));
	case SOURCE:
		return source_of_queried_event(q, e);
	case ADDRESS:
		return hi_cell_known_address(e->addr);
	case SIZE:
		return size_of_queried_event(e);
	case OLD:
		return hi_cell_known_address(e->old);
	case CONTEXT:
		return context_of_queried_event(e);
	case SAMPLED:
	default:
		return hi_cell_u64(!!(e->flags & HI_EVENT_SAMPLED));
	}
}

static enum hi_status make_event_cell(struct hi_query *q, uint64_t row, int column,
				      struct hi_result_cell *ret, struct hi_error *err)
{
	const struct hi_kept_event *e = NULL;
	enum hi_status status = hi_query_event(q, row, &e, err);

	if (status == HI_OK)
		*ret = cell_of_event(q, row, e, column);
	return status;
}

const struct hi_query_ops hi_query_table_events = {
	.name = "events",
	.about = "each allocation and each free of a recording (record --keep-events)",
	HI_COLUMNS(columns),
	HI_WAYS(hi_way_of_keys),
	.grows = 1ull << SERIAL | 1ull << HI_COLUMN_ROWID,
	.about_rows = estimate_event_rows,
	.keys = find_event_keys,
	.cell = make_event_cell,
};
