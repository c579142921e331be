/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/modules/code_ranges.h"

#include "base/search.h"

bool hi_code_ranges_add(struct hi_code_ranges *ranges, uint64_t start, uint64_t end,
			uint64_t id)
{
	return start >= end ||
	       hi_vector_push(&ranges->all, ((struct hi_code_range){start, end, id}));
}

/* Outer ranges first. */
static int compare_code_ranges(const void *left, const void *right)
{
	const struct hi_code_range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* From start on it is id. */
static bool begin_code_segment(struct hi_code_ranges *ranges, uint64_t start, uint64_t id)
{
	size_t n = ranges->segments.count;

	if (n > 0 && ranges->segments.items[n - 1].start == start) {
		ranges->segments.items[n - 1].id = id;
		return true;
	}
	if (n > 0 && ranges->segments.items[n - 1].id == id)
		return true;
	return hi_vector_push(&ranges->segments, ((struct hi_code_segment){start, id}));
}

/* Ranges that are open at a point of a sweep, the innermost last. */
struct open_ranges HI_VECTOR(const struct hi_code_range *);

/* Closes those that end at or before `until`. Ranges need not be nested: one that ended
 * below another one is dropped when that is gone. */
static bool close_code_ranges(struct hi_code_ranges *ranges, struct open_ranges *open,
			      uint64_t until)
{
	uint64_t at = 0;

	while (open->count > 0 && open->items[open->count - 1]->end <= until) {
		uint64_t end = open->items[--open->count]->end;

		at = end > at ? end : at;
		if (!begin_code_segment(ranges, at,
					open->count ? open->items[open->count - 1]->id
						    : HI_CODE_NOTHING))
			return false;
	}
	return true;
}

static bool sweep_code_ranges(struct hi_code_ranges *ranges, struct open_ranges *open)
{
	for (size_t i = 0; i < ranges->all.count; i++) {
		const struct hi_code_range *range = &ranges->all.items[i];

		if (!close_code_ranges(ranges, open, range->start) ||
		    !begin_code_segment(ranges, range->start, range->id) ||
		    !hi_vector_push(open, range))
			return false;
	}
	return close_code_ranges(ranges, open, UINT64_MAX);
}

bool hi_code_ranges_seal(struct hi_code_ranges *ranges)
{
	struct open_ranges open = {};
	bool ok;

	if (ranges->all.count > 1)
		qsort(ranges->all.items, ranges->all.count, sizeof(*ranges->all.items),
		      compare_code_ranges);
	ok = sweep_code_ranges(ranges, &open);
	hi_vector_free(&open);
	hi_vector_free(&ranges->all);
	return ok;
}

uint64_t hi_code_ranges_find(const struct hi_code_ranges *ranges, uint64_t addr)
{
	const struct hi_code_segment *items = ranges->segments.items;
	size_t n = hi_search(i, ranges->segments.count, items[i].start <= addr);

	return n == 0 ? HI_CODE_NOTHING : items[n - 1].id;
}

void hi_code_ranges_free(struct hi_code_ranges *ranges)
{
	hi_vector_free(&ranges->all);
	hi_vector_free(&ranges->segments);
}
