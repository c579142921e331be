/* SPDX-License-Identifier: BSD-2-Clause */
/* The coded list of events, against a plain array of the same events. */
#include "census/events/event_list.h"

#include <stdlib.h>

#include "tests/harness.h"
#include "tests/support/timeline.h"

enum { EVENTS = 3 * HI_EVENT_BLOCK + 1000, THREADS = 300, CONTEXTS = 70000 };

static const struct hi_event_bounds bounds = {THREADS, CONTEXTS};

/* A list, and what is in it. */
struct drawn_list {
	struct hi_kept_event *events;
	size_t n;
	uint8_t *bytes;
	size_t size;
};

static uint64_t draw_any(uint64_t *state, uint64_t usual)
{
	static const uint64_t edges[] = {0,	   1,	      UINT64_MAX, 1ull << 63,
					 127,	   128,	      1ull << 35, INT64_MAX,
					 1u << 31, UINT32_MAX};
	uint64_t high = timeline_draw(state, UINT32_MAX), what = timeline_draw(state, 20);

	if (what < 2)
		return edges[timeline_draw(state, 10)];
	return what < 3 ? high << 32 | timeline_draw(state, UINT32_MAX) : usual;
}

static struct hi_kept_event draw_kept_event(uint64_t *state, uint64_t time_ns)
{
	static const uint16_t kinds[] = {HI_EVENT_ALLOC, HI_EVENT_FREE,
					 HI_EVENT_REALLOC_BEGIN, HI_EVENT_REALLOC_END,
					 HI_EVENT_LOST};
	uint64_t addr = 0x550000000000 + 16ull * timeline_draw(state, 1 << 20);
	bool is_same = timeline_draw(state, 3);
	struct hi_kept_event e = {.kind = kinds[timeline_draw(state, 5)]};

	e.time_ns = draw_any(state, time_ns);
	e.addr = draw_any(state, addr);
	e.size = timeline_draw(state, 2) ? draw_any(state, 24) : 0;
	e.old = timeline_draw(state, 4) ? 0 : draw_any(state, addr + 64);
	e.context = timeline_draw(state, 2) ? timeline_draw(state, CONTEXTS) : 0;
	e.thread = is_same ? 3 : timeline_draw(state, THREADS);
	e.source = is_same ? 0 : (uint8_t)timeline_draw(state, HI_EVENT_SOURCES);
	e.flags = is_same ? 0 : (uint8_t)timeline_draw(state, 256);
	return e;
}

static void free_drawn_list(struct drawn_list *l)
{
	free(l->events);
	free(l->bytes);
}

static void append_drawn_block(struct drawn_list *l, struct hi_event_block *block)
{
	size_t size = hi_event_block_size(block);

	memcpy(l->bytes + l->size, block->bytes, size);
	l->size += size;
	*block = (struct hi_event_block){};
}

static void make_drawn_list(struct drawn_list *l, size_t n, uint64_t seed)
{
	static struct hi_event_block block;
	uint64_t state = seed, time_ns = 1ull << 40;

	*l = (struct drawn_list){.n = n};
	l->events = calloc(n + 1, sizeof(*l->events));
	l->bytes = malloc((n + 1) * (HI_EVENT_MOST_BYTES + HI_EVENT_HEADER));
	HI_ASSERT(l->events && l->bytes);
	hi_test_defer(free_drawn_list, l);
	block = (struct hi_event_block){};
	for (size_t i = 0; i < n; i++) {
		l->events[i] =
			draw_kept_event(&state, time_ns += timeline_draw(&state, 9999));
		HI_ASSERT(hi_event_block_add(&block, &l->events[i], UINT64_MAX));
		if (block.count == HI_EVENT_BLOCK)
			append_drawn_block(l, &block);
	}
	append_drawn_block(l, &block);
}

static void expect_same_event(const struct hi_kept_event *a,
			      const struct hi_kept_event *b)
{
	HI_ASSERT_EQ(a->time_ns, b->time_ns);
	HI_ASSERT_EQ(a->addr, b->addr);
	HI_ASSERT_EQ(a->size, b->size);
	HI_ASSERT_EQ(a->old, b->old);
	HI_ASSERT_EQ(a->context, b->context);
	HI_ASSERT_EQ(a->thread, b->thread);
	HI_ASSERT_EQ(a->kind, b->kind);
	HI_ASSERT_EQ(a->source, b->source);
	HI_ASSERT_EQ(a->flags, b->flags);
}

static void expect_same_list(const struct drawn_list *l, const struct hi_event_list *list)
{
	static struct hi_kept_event events[HI_EVENT_BLOCK];
	struct hi_error err;
	uint32_t n = 0;

	HI_ASSERT_EQ(l->n, list->count);
	/* The last block first: each one is read by itself. */
	for (uint64_t block = list->n_blocks; block--;) {
		size_t first = block * HI_EVENT_BLOCK, left = l->n - first;

		HI_ASSERT_OK(hi_event_list_read(list, block, events, &n, &err), &err);
		HI_ASSERT_EQ(left < HI_EVENT_BLOCK ? left : HI_EVENT_BLOCK, n);
		for (uint32_t i = 0; i < n; i++)
			expect_same_event(&l->events[first + i], &events[i]);
	}
}

HI_TEST(event_list, events_are_read_back)
{
	static const size_t lengths[] = {
		0, 1, HI_EVENT_BLOCK - 1, HI_EVENT_BLOCK, HI_EVENT_BLOCK + 1, EVENTS};
	static struct drawn_list lists[6];

	for (size_t i = 0; i < 6; i++) {
		struct hi_event_list list;
		struct hi_error err;

		make_drawn_list(&lists[i], lengths[i], i + 1);
		HI_ASSERT_OK(hi_event_list_open(lists[i].bytes, lists[i].size, &bounds,
						&list, &err),
			     &err);
		expect_same_list(&lists[i], &list);
		hi_event_list_free(&list);
	}
	hi_test_note("%zu bytes for %zu drawn events", lists[5].size, lists[5].n);
}

HI_TEST(event_list, a_block_ends_where_an_event_does_not_fit)
{
	static struct hi_event_block block, before;
	uint64_t state = 5, most = 1000;
	struct hi_kept_event e;

	block = (struct hi_event_block){};
	do {
		before = block;
		e = draw_kept_event(&state, 1);
	} while (hi_event_block_add(&block, &e, most));
	HI_ASSERT(hi_event_block_size(&block) <= most);
	HI_ASSERT(hi_event_block_size(&block) > most - HI_EVENT_MOST_BYTES);
	/* What does not fit leaves the block as it was. */
	HI_ASSERT_EQ(before.count, block.count);
	HI_ASSERT_EQ(before.size, block.size);
	HI_ASSERT(memcmp(before.bytes, block.bytes, hi_event_block_size(&block)) == 0);
	HI_ASSERT(memcmp(&before.last, &block.last, sizeof(block.last)) == 0);
}

/* ---- damage ---- */

/* False: refused. What is accepted is in bounds. */
static bool read_hostile_list(const uint8_t *bytes, size_t size)
{
	static struct hi_kept_event events[HI_EVENT_BLOCK];
	struct hi_event_list list;
	struct hi_error err;
	bool is_fine = hi_event_list_open(bytes, size, &bounds, &list, &err) == HI_OK;
	uint32_t n = 0;

	for (uint64_t i = 0; is_fine && i < list.n_blocks; i++) {
		is_fine = hi_event_list_read(&list, i, events, &n, &err) == HI_OK;
		for (uint32_t k = 0; is_fine && k < n; k++)
			HI_ASSERT(events[k].thread < THREADS &&
				  events[k].context < CONTEXTS &&
				  events[k].source < HI_EVENT_SOURCES);
	}
	if (!is_fine)
		HI_ASSERT_MSG(err.status == HI_BAD_DATA && strstr(err.text, "block "),
			      "%s", err.text);
	hi_event_list_free(&list);
	return is_fine;
}

/* Of exactly that size, so that a sanitizer sees what is read behind it. */
static bool read_hostile_copy(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	bool is_fine;

	HI_ASSERT(copy);
	memcpy(copy, bytes, size);
	is_fine = read_hostile_list(copy, size);
	free(copy);
	return is_fine;
}

HI_TEST(event_list, every_cut_within_a_block_is_refused)
{
	static struct drawn_list l;
	struct hi_event_list list;
	struct hi_error err;

	make_drawn_list(&l, HI_EVENT_BLOCK + 50, 8);
	HI_ASSERT_OK(hi_event_list_open(l.bytes, l.size, &bounds, &list, &err), &err);
	for (size_t size = list.blocks[1] - 100; size < l.size; size++)
		HI_ASSERT_EQ(size == list.blocks[1], read_hostile_copy(l.bytes, size));
	hi_event_list_free(&list);
}

HI_TEST(event_list, random_bytes_are_refused_or_stay_in_bounds)
{
	static struct drawn_list l;
	uint64_t state = 99;
	unsigned refused = 0;

	make_drawn_list(&l, 40, 9);
	for (unsigned i = 0; i < 20000; i++) {
		size_t at = timeline_draw(&state, (uint32_t)l.size);
		uint8_t was = l.bytes[at];

		l.bytes[at] = (uint8_t)timeline_draw(&state, 256);
		refused += !read_hostile_copy(l.bytes, l.size);
		l.bytes[at] = was;
	}
	hi_test_note("%u of 20000 refused", refused);
	HI_ASSERT(refused > 2000);
	HI_ASSERT(read_hostile_copy(l.bytes, l.size));
}

static bool read_made_up_block(const uint8_t *event, uint32_t size, uint32_t count)
{
	uint8_t bytes[64];
	uint32_t header[2] = {size, count};

	memcpy(bytes, header, sizeof(header));
	memcpy(bytes + sizeof(header), event, size);
	return read_hostile_copy(bytes, sizeof(header) + size);
}

HI_TEST(event_list, forged_numbers_are_refused)
{
	static const uint8_t fine[] = {1, 2, 2};
	static const uint8_t bad_kind[] = {5, 2, 2}, no_kind[] = {0, 2, 2};
	static const uint8_t beyond_thread[] = {1 | 8, 0xac, 2, 2, 2};
	static const uint8_t last_thread[] = {1 | 8, 0xab, 2, 2, 2};
	static const uint8_t large_thread[] = {1 | 8, 0x80, 0x80, 0x80, 0x80, 16, 2, 2};
	static const uint8_t beyond_source[] = {1 | 16, 32, 0, 2, 2};
	static const uint8_t beyond_context[] = {1 | 128, 2, 2, 0xf0, 0xa2, 4};
	static const uint8_t endless[] = {1,	2,    0xff, 0xff, 0xff, 0xff,
					  0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
	static const uint8_t greatest[] = {1,	 2,    0xff, 0xff, 0xff, 0xff,
					   0xff, 0xff, 0xff, 0xff, 0xff, 1};
	static const uint8_t more[] = {1, 2, 2, 0};

	HI_ASSERT(read_made_up_block(fine, sizeof(fine), 1));
	HI_ASSERT(!read_made_up_block(fine, sizeof(fine), 0));
	HI_ASSERT(!read_made_up_block(fine, sizeof(fine), 2));
	HI_ASSERT(!read_made_up_block(bad_kind, sizeof(bad_kind), 1));
	HI_ASSERT(!read_made_up_block(no_kind, sizeof(no_kind), 1));
	HI_ASSERT(!read_made_up_block(beyond_thread, sizeof(beyond_thread), 1));
	HI_ASSERT(read_made_up_block(last_thread, sizeof(last_thread), 1));
	HI_ASSERT(!read_made_up_block(large_thread, sizeof(large_thread), 1));
	HI_ASSERT(!read_made_up_block(beyond_source, sizeof(beyond_source), 1));
	HI_ASSERT(!read_made_up_block(beyond_context, sizeof(beyond_context), 1));
	HI_ASSERT(!read_made_up_block(endless, sizeof(endless), 1));
	HI_ASSERT(read_made_up_block(greatest, sizeof(greatest), 1));
	HI_ASSERT(!read_made_up_block(more, sizeof(more), 1));
}
