/* SPDX-License-Identifier: BSD-2-Clause */
/* A frozen memory that is kept compressed. */
#include <stdlib.h>

#include "attach/frozen_memory_internal.h"
#include "base/cleanup.h"
#include "base/search.h"

/* The part of a block that may be unpacked at once. */
enum { BUDGET_SHARE = 8 };

struct held_ranges HI_VECTOR(struct hi_pager_range);

static bool is_in_block(const struct hi_frozen_block *block, const unsigned char *host)
{
	uintptr_t at = (uintptr_t)host, pages = (uintptr_t)block->pages;

	return at >= pages && at - pages < block->size;
}

/* The held parts of a span, where they are in this process. */
static bool list_held_of_span(const struct hi_frozen *frozen,
			      const struct hi_frozen_span *span, struct held_ranges *ret)
{
	uint64_t at = span->start, from, to;

	for (; hi_frozen_next_held(frozen, at, span->end, &from, &to); at = to) {
		struct hi_pager_range range = {.host = span->host + (from - span->start),
					       .size = to - from};

		if (!hi_vector_push(ret, range))
			return false;
	}
	return true;
}

static int compare_hosts(const void *a, const void *b)
{
	const struct hi_pager_range *x = a, *y = b;

	return (x->host > y->host) - (x->host < y->host);
}

static bool list_held_of_block(const struct hi_frozen *frozen,
			       const struct hi_frozen_block *block,
			       struct held_ranges *ret)
{
	for (size_t i = 0; i < frozen->spans.count; i++)
		if (is_in_block(block, frozen->spans.items[i].host) &&
		    !list_held_of_span(frozen, &frozen->spans.items[i], ret))
			return false;
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_hosts);
	return true;
}

/* A page that is cut (a mapping of a file may end anywhere) is kept as a whole. */
static uint64_t round_to_pages(struct held_ranges *ranges)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < ranges->count; i++) {
		struct hi_pager_range *range = &ranges->items[i];
		uint64_t cut = (uintptr_t)range->host % HI_PAGE;

		range->host -= cut;
		range->size = (range->size + cut + HI_PAGE - 1) / HI_PAGE * HI_PAGE;
		sum += range->size;
	}
	return sum;
}

static enum hi_status pack_frozen_block(const struct hi_frozen *frozen,
					struct hi_frozen_block *block, uint64_t least,
					uint64_t most, struct hi_error *err)
{
	struct held_ranges ranges = {};
	struct hi_packed_request request = {
		.area = block->pages, .size = block->size, .most = most};
	enum hi_status status = HI_OK;
	uint64_t held;

	if (!list_held_of_block(frozen, block, &ranges))
		status = hi_fail_memory(err, "packed image");
	held = round_to_pages(&ranges);
	request.ranges = ranges.items;
	request.n_ranges = ranges.count;
	request.budget = held / BUDGET_SHARE;
	if (status == HI_OK && held && held >= least)
		status = hi_packed_create(&request, &block->packed, err);
	hi_vector_free(&ranges);
	return status;
}

enum hi_status hi_frozen_pack(struct hi_frozen *frozen, uint64_t least, uint64_t most,
			      struct hi_error *err)
{
	enum hi_status status = HI_OK;
	bool packed = false;

	for (size_t i = 0; i < frozen->owned.count && status == HI_OK; i++) {
		struct hi_frozen_block *block = &frozen->owned.items[i];

		if (block->packed)
			hi_packed_continue(block->packed);
		else if (block->pages && block->fd < 0)
			status = pack_frozen_block(frozen, block, least, most, err);
		packed |= block->packed != NULL;
	}
	if (status == HI_OK && !packed)
		return hi_fail(err, HI_UNSUPPORTED, 0, "the image is not packed");
	return status;
}

struct hi_packed_stats hi_frozen_packed(const struct hi_frozen *frozen)
{
	struct hi_packed_stats sum = {};

	for (size_t i = 0; i < frozen->owned.count; i++) {
		struct hi_packed_stats stats = {};

		if (frozen->owned.items[i].packed)
			stats = hi_packed_stats(frozen->owned.items[i].packed);
		sum.packed += stats.packed;
		sum.stored += stats.stored;
		sum.lost += stats.lost;
	}
	return sum;
}
