/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/inference/unseen_pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/inference/shared_pages.h"
#include "decode/inference/typing_state.h"

enum { WORDS = 1024, MAX_READ = 256 << 20 /* from files, of all mappings */ };

struct block_search {
	const struct hi_objects *objects;
	uint64_t words[WORDS];
	struct hi_hit hits[WORDS];
	bool found;
};

/* Small numbers have the value of an address by chance where the heap is below 4 GiB. */
static bool is_block(const struct block_search *b, const struct hi_hit *hit)
{
	return !(hit->interior && b->words[hit->index] <= UINT32_MAX) &&
	       !hi_object_is_internal(b->objects, hit->id);
}

/* hi_bytes_fn */
static void search_blocks(void *arg, const uint8_t *bytes, uint64_t addr, uint64_t size)
{
	struct block_search *b = arg;

	(void)addr;
	for (uint64_t at = 0; at + 8 <= size && !b->found;) {
		uint64_t left = (size - at) / 8;
		size_t n = left < WORDS ? left : WORDS, n_hits;

		memcpy(b->words, bytes + at, n * 8);
		n_hits = hi_objects_find_many(b->objects, b->words, n, b->hits);
		for (size_t i = 0; i < n_hits; i++)
			b->found |= is_block(b, &b->hits[i]);
		at += n * 8;
	}
}

static bool leads_to_block(const struct hi_image *image, const struct hi_mapping *m,
			   uint64_t *budget, uint8_t *scratch, struct block_search *b)
{
	uint64_t at = m->start, start, end, addr, size;
	const uint8_t *host;

	b->found = false;
	while (at < m->end && !b->found) {
		struct hi_spans spans = {.image = image, .scratch = scratch};

		if (!hi_image_next_held(image, at, m->end, &start, &end))
			start = end = m->end;
		if (at < start && !b->found)
			(void)hi_shared_pages_read(image, at, start, budget,
						   search_blocks, b);
		spans.addr = start;
		spans.end = end;
		while (!b->found && hi_spans_next(&spans, &host, &addr, &size))
			search_blocks(b, host, addr, size);
		at = end;
	}
	return b->found;
}

static int compare_unseen(const void *a, const void *b)
{
	const struct hi_unseen_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

enum hi_status hi_unseen_grade(const struct hi_typing *typing,
			       struct hi_unseen_ranges *ranges, uint64_t *doubtful_ret,
			       uint64_t *apart_ret, struct hi_error *err)
{
	HI_GUARD(free) struct block_search *b = hi_calloc(1, sizeof(*b));
	HI_GUARD(free) uint8_t *scratch = hi_alloc(HI_SPAN_SCRATCH);
	const struct hi_mapping *last = NULL;
	uint64_t budget = MAX_READ, sums[2] = {};
	bool leads = true;

	if (!b || !scratch)
		return hi_fail_memory(err, "verdicts of leaks");
	b->objects = typing->objects;
	if (ranges->count > 1)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items),
		      compare_unseen);
	for (size_t i = 0; i < ranges->count; i++) {
		const struct hi_mapping *m =
			hi_image_mapping_at(typing->image, ranges->items[i].start);

		if (m != last)
			leads = !m ||
				leads_to_block(typing->image, m, &budget, scratch, b);
		last = m;
		sums[leads] += ranges->items[i].bytes;
	}
	*apart_ret = sums[false];
	*doubtful_ret = sums[true];
	return HI_OK;
}
