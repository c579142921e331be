/* SPDX-License-Identifier: BSD-2-Clause */
/* glibc heaps made by hand: all layouts, damage of every kind, sweeps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/mock.h"
#include "base/alloc.h"
#include "tests/harness.h"
#include "tests/support/heap_sample.h"
#include "tests/support/random.h"

static const unsigned minors[] = {28, 29, 30, 31, 32, 33, 34, 35, 36, 38, 41, 42};

struct walked {
	struct hi_block items[4096];
	size_t count;
	const struct hi_allocator *allocator;
	const char *broken; /* an invariant that did not hold */
};

/* Blocks come in order, apart, inside their region. */
static bool keep(const struct hi_block *blocks, size_t n, unsigned region, void *arg)
{
	struct walked *w = arg;

	for (size_t i = 0; i < n; i++) {
		const struct hi_heap_region *r;
		const struct hi_block *last = w->count ? &w->items[w->count - 1] : NULL;

		if (region >= w->allocator->n_regions || w->count == 4096) {
			w->broken = "region";
			return false;
		}
		r = &w->allocator->regions[region];
		if (blocks[i].addr < r->start ||
		    blocks[i].addr + blocks[i].usable > r->end)
			w->broken = "a block leaves its region";
		if (last && last->addr >= r->start &&
		    last->addr + last->usable > blocks[i].addr)
			w->broken = "blocks overlap";
		if ((unsigned)blocks[i].state >= HI_BLOCK_STATES)
			w->broken = "state";
		w->items[w->count++] = blocks[i];
	}
	return true;
}

static const struct hi_block *at(const struct walked *w, uint64_t user)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->items[i].addr == user)
			return &w->items[i];
	return NULL;
}

static void expect(const struct walked *w, uint64_t user, enum hi_block_state state)
{
	const struct hi_block *b = at(w, user);

	HI_ASSERT_MSG(b, "no block at 0x%lx", (unsigned long)user);
	HI_ASSERT_EQ(state, b->state);
}

static void release(void *arg)
{
	hi_allocator_release(arg);
}

static struct hi_allocator *open_heap(struct hi_mock_heap *h)
{
	struct hi_allocator *a;
	struct hi_error err;

	HI_ASSERT_OK(hi_glibc_open(h->image, &h->where, &a, &err), &err);
	hi_test_defer(release, a);
	return a;
}

/* Whatever was damaged, the sums hold. */
static void check_sums(const struct hi_allocator *a)
{
	uint64_t regions = 0, blocks = 0;

	for (size_t i = 0; i < a->n_regions; i++)
		regions += a->regions[i].end - a->regions[i].start;
	for (int s = 0; s < HI_BLOCK_STATES; s++)
		blocks += a->bytes[s];
	HI_ASSERT_EQ(regions, blocks + a->skipped_bytes + a->overhead_bytes);
	HI_ASSERT(a->n_damage <= 64 && a->n_damage <= a->n_damage_total);
}

static struct walked *walk(struct hi_allocator *a)
{
	static struct walked w;
	struct hi_error err;

	w = (struct walked){.allocator = a};
	HI_ASSERT_OK(hi_allocator_walk(a, keep, &w, &err), &err);
	HI_ASSERT_MSG(!w.broken, "%s", w.broken);
	check_sums(a);
	return &w;
}

static void expect_damage(const struct hi_allocator *a, const char *text)
{
	for (size_t i = 0; i < a->n_damage; i++)
		if (strstr(a->damage[i].text, text))
			return;
	hi_test_fail(__FILE__, __LINE__, "no damage says \"%s\" (%zu, first: %s)", text,
		     a->n_damage, a->n_damage ? a->damage[0].text : "");
}

static void check_sample(const struct heap_sample *s, const struct walked *w)
{
	for (int i = 0; i < 6; i++)
		expect(w, s->live[i], HI_BLOCK_LIVE);
	for (int i = 0; i < 3; i++) {
		expect(w, s->tcache[i], HI_BLOCK_FREE_TCACHE);
		expect(w, s->fast[i], HI_BLOCK_FREE_FASTBIN);
	}
	expect(w, s->bin[0], HI_BLOCK_FREE_BIN);
	expect(w, s->bin[1], HI_BLOCK_FREE_BIN);
	expect(w, s->h->tcache, HI_BLOCK_INTERNAL);
	expect(w, s->arena, HI_BLOCK_INTERNAL);
	expect(w, s->mmapped, HI_BLOCK_LIVE);
	expect(w, s->aligned, HI_BLOCK_LIVE);
}

HI_TEST(glibc_walk, every_layout_has_its_blocks_in_their_states)
{
	for (size_t i = 0; i < sizeof(minors) / sizeof(minors[0]); i++) {
		struct heap_sample s = heap_sample_make(minors[i]);
		struct hi_allocator *a = open_heap(s.h);
		struct walked *w = walk(a);

		HI_ASSERT_MSG(a->n_damage_total == 0, "2.%u: %s", minors[i],
			      a->damage[0].text);
		check_sample(&s, w);
		/* 8 live in heaps, 2 mmapped; 8 free; 2 tops; tcache, arena. */
		HI_ASSERT_EQ(8, a->count[HI_BLOCK_LIVE]);
		HI_ASSERT_EQ(2, a->count[HI_BLOCK_INTERNAL]);
		HI_ASSERT_EQ(2, a->count[HI_BLOCK_FREE_TOP]);
		HI_ASSERT_EQ(20, w->count);
		HI_ASSERT_EQ(0, a->skipped_bytes);
	}
}

HI_TEST(glibc_walk, usable_and_cost_follow_the_chunk_formula)
{
	struct heap_sample s = heap_sample_make(36);
	struct walked *w = walk(open_heap(s.h));

	HI_ASSERT_EQ(24, at(w, s.live[0])->usable);
	HI_ASSERT_EQ(32, at(w, s.live[0])->cost);
	HI_ASSERT_EQ(24, at(w, s.live[1])->usable);
	HI_ASSERT_EQ(40, at(w, s.live[3])->usable);
	HI_ASSERT_EQ(48, at(w, s.live[3])->cost);
	HI_ASSERT_EQ(200704, at(w, s.mmapped)->cost);
	HI_ASSERT_EQ(200704 - 16, at(w, s.mmapped)->usable);
	HI_ASSERT(at(w, s.mmapped)->mmapped);
	HI_ASSERT_EQ(163840, at(w, s.aligned)->cost);
	HI_ASSERT_EQ(163840 - 16 - 0x6ff0, at(w, s.aligned)->usable);
}

HI_TEST(glibc_walk, a_large_heap_is_cut_into_regions_that_lose_nothing)
{
	enum { N = 2999 };
	struct hi_mock_heap *h = hi_mock_heap_create(36, 330 << 20);
	static uint64_t users[N];
	struct hi_allocator *a;
	struct walked *w;

	for (unsigned i = 0; i < N; i++)
		users[i] = hi_mock_heap_malloc(h, 100 * 1024 + i % 3 * 40);
	for (unsigned i = 7; i < N; i += 16)
		hi_mock_heap_free_to_bin(h, users[i]);
	hi_mock_heap_finish(h);
	a = open_heap(h);
	HI_ASSERT(a->n_regions >= 4);
	w = walk(a);
	HI_ASSERT_EQ(0, a->n_damage_total);
	HI_ASSERT_EQ(N + 2, w->count);
	for (unsigned i = 0; i < N; i++) {
		expect(w, users[i], i % 16 == 7 ? HI_BLOCK_FREE_BIN : HI_BLOCK_LIVE);
		HI_ASSERT_EQ(at(w, users[i])->cost - 8, at(w, users[i])->usable);
	}
}

HI_TEST(glibc_walk, a_second_walk_counts_anew)
{
	struct heap_sample s = heap_sample_make(36);
	struct hi_allocator *a = open_heap(s.h);
	size_t n = walk(a)->count;

	HI_ASSERT_EQ(n, walk(a)->count);
	HI_ASSERT_EQ(8, a->count[HI_BLOCK_LIVE]);
}

HI_TEST(glibc_walk, another_release_is_refused_by_name)
{
	static const unsigned other[][2] = {{28, 36}, {34, 35}, {36, 34}, {36, 28}};

	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		struct heap_sample s = heap_sample_make(other[i][0]);
		struct hi_allocator *a = NULL;
		struct hi_error err;

		s.h->where.minor = other[i][1];
		s.h->where.mp_size = 0;
		HI_ASSERT_STATUS(HI_BAD_DATA,
				 hi_glibc_open(s.h->image, &s.h->where, &a, &err));
		HI_ASSERT(strstr(err.text, "mp_"));
		HI_ASSERT(!a);
	}
}

HI_TEST(glibc_walk, an_unknown_release_is_found_out)
{
	for (size_t i = 0; i < sizeof(minors) / sizeof(minors[0]); i++) {
		struct heap_sample s = heap_sample_make(minors[i]);
		struct hi_allocator *a;
		unsigned first = 0, last = 0;

		s.h->where.minor = 0;
		a = open_heap(s.h);
		check_sample(&s, walk(a));
		HI_ASSERT_EQ(0, a->n_damage_total);
		/* One release, or several. */
		if (sscanf(a->version, "2.%u-2.%u", &first, &last) == 1)
			last = first;
		HI_ASSERT(minors[i] >= first && minors[i] <= last);
	}
}

HI_TEST(glibc_walk, malloc_that_nobody_used_is_not_found)
{
	struct hi_mock_heap *h = hi_mock_heap_create(36, 4096);
	struct hi_allocator *a = NULL;
	struct hi_error err;

	hi_mock_heap_set(h, h->arena + 96, h->arena + 96);
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_glibc_open(h->image, &h->where, &a, &err));
	HI_ASSERT(strstr(err.text, "not used by this process"));
}

HI_TEST(glibc_walk, malloc_as_it_was_linked_in_is_not_found)
{
	struct hi_mock_heap *h = hi_mock_heap_create(36, 4096);
	struct hi_allocator *a = NULL;
	struct hi_error err;

	/* All zero but the ring, as the file has it. */
	for (unsigned offset = 0; offset < 2200; offset += 8)
		hi_mock_heap_set(h, h->arena + offset, offset == 2160 ? h->arena : 0);
	HI_ASSERT_STATUS(HI_NOT_FOUND, hi_glibc_open(h->image, &h->where, &a, &err));
}

/* 2.43: other offsets of main_arena and mp_; its bins may be set up before the first
 * call. */
HI_TEST(glibc_walk, malloc_of_2_43_that_nobody_used_is_not_found)
{
	for (int is_set_up = 0; is_set_up < 2; is_set_up++) {
		struct hi_mock_heap *h = hi_mock_heap_create(42, 4096);
		uint64_t bins = h->arena + 24;
		struct hi_allocator *a = NULL;
		struct hi_error err;

		h->where.minor = 43;
		h->where.main_arena_size = h->where.mp_size = 0;
		hi_mock_heap_set(h, h->mp + 112, 64);
		hi_mock_heap_set(h, h->mp + 120, 1032);
		hi_mock_heap_set(h, h->mp + 128, 7);
		for (unsigned offset = 0; offset < 2200; offset += 8)
			hi_mock_heap_set(h, h->arena + offset,
					 offset == 2072 ? h->arena : 0);
		for (unsigned i = 0; is_set_up && i < 254; i++)
			hi_mock_heap_set(h, bins + i * 8ull, bins + i / 2 * 16ull - 16);
		if (is_set_up)
			hi_mock_heap_set(h, h->arena + 8, bins - 16);
		HI_ASSERT_STATUS(HI_NOT_FOUND,
				 hi_glibc_open(h->image, &h->where, &a, &err));
		HI_ASSERT_MSG(strstr(err.text, "not used by this process"), "%s",
			      err.text);
	}
}

/* ---- self-check ---- */

static void expect_refused(struct hi_mock_heap *h, const char *why)
{
	struct hi_allocator *a = NULL;
	struct hi_error err;

	HI_ASSERT_STATUS(HI_BAD_DATA, hi_glibc_open(h->image, &h->where, &a, &err));
	HI_ASSERT_MSG(strstr(err.text, why), "%s", err.text);
}

HI_TEST(glibc_walk, a_wrong_main_arena_is_refused)
{
	struct heap_sample s = heap_sample_make(36);

	s.h->where.main_arena += 16;
	expect_refused(s.h, "arena");
}

HI_TEST(glibc_walk, a_ring_of_arenas_that_does_not_close_is_refused)
{
	struct heap_sample s = heap_sample_make(36);

	hi_mock_heap_set(s.h, s.arena + 2160, s.arena);
	expect_refused(s.h, "does not close");
	hi_mock_heap_set(s.h, s.arena + 2160, 0x1000);
	expect_refused(s.h, "does not close");
}

HI_TEST(glibc_walk, symbols_of_another_size_are_refused)
{
	struct heap_sample s = heap_sample_make(36);

	s.h->where.main_arena_size = 2208;
	expect_refused(s.h, "2208");
}

HI_TEST(glibc_walk, impossible_counters_in_mp_are_refused)
{
	struct heap_sample s = heap_sample_make(36);

	hi_mock_heap_set(s.h, s.h->mp + 80, 12345);
	expect_refused(s.h, "mmapped_mem");
}

/* ---- damage ---- */

static void check_damaged(struct heap_sample *s, const char *text)
{
	struct hi_allocator *a = open_heap(s->h);

	walk(a);
	expect_damage(a, text);
}

HI_TEST(glibc_walk, a_size_that_is_impossible_is_reported_and_the_walk_resumes)
{
	static const uint64_t heads[] = {0x41, 0x19, 0, 0x10000001, ~0ull, 0x33, 0x35};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		struct heap_sample s = heap_sample_make(36);
		struct hi_allocator *a;
		struct walked *w;

		/* live[1] lies before the fastbin chunks, which are known. */
		hi_mock_heap_set(s.h, s.live[1] - 8, heads[i]);
		a = open_heap(s.h);
		w = walk(a);
		HI_ASSERT_MSG(a->n_damage_total > 0, "head 0x%lx",
			      (unsigned long)heads[i]);
		expect(w, s.fast[0], HI_BLOCK_FREE_FASTBIN);
		expect(w, s.live[4], HI_BLOCK_LIVE);
		expect(w, s.live[0], HI_BLOCK_LIVE);
		/* 0x41 is a possible size; it leads into the middle of others. */
		HI_ASSERT(a->skipped_bytes > 0);
	}
}

HI_TEST(glibc_walk, a_free_chunk_whose_end_does_not_repeat_its_size_is_reported)
{
	struct heap_sample s = heap_sample_make(36);

	hi_mock_heap_set(s.h, s.live[3] - 16, 0x123);
	check_damaged(&s, "not repeated");
}

HI_TEST(glibc_walk, a_tcache_list_with_a_cycle_ends_at_its_counter)
{
	struct heap_sample s = heap_sample_make(31);

	hi_mock_heap_set(s.h, s.tcache[0], s.tcache[1]);
	check_damaged(&s, "longer than its counter");
}

/* Its counter, too, is the target's. */
HI_TEST(glibc_walk, free_lists_have_no_more_entries_than_the_heap_has_chunks)
{
	struct heap_sample s = heap_sample_make(31);
	struct hi_allocator *a;
	struct hi_glibc *g;

	hi_mock_heap_set(s.h, s.tcache[0], s.tcache[1]);
	hi_mock_heap_set(s.h, s.h->tcache, UINT64_MAX); /* of lists 0 to 3 */
	a = open_heap(s.h);
	g = (struct hi_glibc *)a;
	(void)walk(a);
	expect_damage(a, "more entries than the heap has chunks");
	HI_ASSERT(g->listed.count <= g->max_listed && g->max_listed < 1u << 16);
}

HI_TEST(glibc_walk, a_tcache_list_that_leaves_the_heap_is_reported)
{
	struct heap_sample s = heap_sample_make(31);

	hi_mock_heap_set(s.h, s.tcache[1], 0x4141414141414140);
	check_damaged(&s, "points to something that is not a chunk of its size");
}

HI_TEST(glibc_walk, a_tcache_list_shorter_than_its_counter_is_reported)
{
	struct heap_sample s = heap_sample_make(31);

	hi_mock_heap_set(s.h, s.tcache[1], 0);
	check_damaged(&s, "shorter than its counter");
}

HI_TEST(glibc_walk, a_fastbin_with_a_cycle_ends)
{
	struct heap_sample s = heap_sample_make(31);

	hi_mock_heap_set(s.h, s.fast[0], s.fast[1] - 16);
	check_damaged(&s, "has a cycle");
}

HI_TEST(glibc_walk, a_chunk_on_two_lists_is_reported)
{
	struct heap_sample s = heap_sample_make(31);

	hi_mock_heap_set(s.h, s.fast[0], s.tcache[0] - 16);
	check_damaged(&s, "on two free lists");
}

HI_TEST(glibc_walk, a_wrong_top_is_reported)
{
	struct heap_sample s = heap_sample_make(36);

	hi_mock_heap_set(s.h, s.h->next + 8, 0x7fffffffffff0001);
	check_damaged(&s, "top chunk has size");
}

HI_TEST(glibc_walk, a_heap_of_another_arena_is_reported)
{
	struct heap_sample s = heap_sample_make(36);

	hi_mock_heap_set(s.h, s.arena & ~0x3ffffffull, 0x1234);
	check_damaged(&s, "belongs to another arena");
}

HI_TEST(glibc_walk, heaps_that_lead_in_a_circle_end)
{
	struct heap_sample s = heap_sample_make(36);
	uint64_t heap = s.arena & ~0x3ffffffull;

	hi_mock_heap_set(s.h, heap + 8, heap);
	check_damaged(&s, "arena 1");
}

HI_TEST(glibc_walk, mmapped_chunks_that_do_not_match_the_counter_are_reported)
{
	struct heap_sample s = heap_sample_make(36);

	hi_mock_heap_set(s.h, s.mmapped - 8, 0x31002 + 5);
	check_damaged(&s, "n_mmaps says 2");
}

/* ---- unreadable memory ---- */

HI_TEST(glibc_walk, unreadable_pages_are_counted_and_skipped)
{
	struct heap_sample probe = heap_sample_make(36);
	uint64_t heap = probe.h->heap, pages = (probe.h->heap_end - heap) / 4096;

	for (uint64_t page = 0; page < pages; page++) {
		struct heap_sample s = heap_sample_make(36);
		struct hi_allocator *a;

		hi_memory_mock_poison(s.h->memory, heap + page * 4096);
		a = open_heap(s.h);
		walk(a);
		if (page <= (s.h->next - heap) / 4096)
			HI_ASSERT(a->n_damage_total > 0);
	}
}

HI_TEST(glibc_walk, any_failing_read_is_an_answer)
{
	for (uint64_t n = 1; n < 2000; n++) {
		struct heap_sample s = heap_sample_make(36);
		struct hi_allocator *a = NULL;
		struct hi_error err;
		enum hi_status status;

		hi_memory_mock_fail_at(s.h->memory, n);
		status = hi_glibc_open(s.h->image, &s.h->where, &a, &err);
		if (status == HI_OK) {
			walk(a);
			hi_allocator_release(a);
		} else {
			HI_ASSERT_MSG(status == HI_BAD_DATA || status == HI_FAULT,
				      "read %lu: %s", (unsigned long)n,
				      hi_status_text(status));
		}
		hi_mock_heap_destroy(s.h);
	}
}

HI_TEST(glibc_walk, out_of_memory_is_reported)
{
	bool done = false;

	for (uint64_t n = 1; !done && n < 1000; n++) {
		struct heap_sample s = heap_sample_make(36);
		struct hi_allocator *a = NULL;
		static struct walked w;
		struct hi_error err;
		enum hi_status status;

		hi_alloc_fail_at(n);
		status = hi_glibc_open(s.h->image, &s.h->where, &a, &err);
		w = (struct walked){.allocator = a};
		if (status == HI_OK)
			status = hi_allocator_walk(a, keep, &w, &err);
		done = hi_alloc_count() < n;
		hi_alloc_fail_at(0);
		HI_ASSERT_EQ(done ? HI_OK : HI_NO_MEMORY, status);
		hi_allocator_release(a);
		hi_mock_heap_destroy(s.h);
	}
	HI_ASSERT(done);
}

/* ---- garbage ---- */

static uint64_t random_state = 88172645463325252ull;
static uint64_t random_word(const struct heap_sample *s)
{
	switch (next_random(&random_state) % 5) {
	case 0:
		return next_random(&random_state);
	case 1:
		return s->h->heap + next_random(&random_state) % (132 << 10);
	case 2:
		return next_random(&random_state) % 0x40000;
	case 3:
		return s->arena + next_random(&random_state) % 4096;
	default:
		return ~0ull << next_random(&random_state) % 64;
	}
}

static void damage_at_random(struct heap_sample *s)
{
	uint64_t where[] = {s->h->heap,	    s->h->heap,		  s->h->arena,
			    s->h->mp,	    s->arena & ~0xfffull, s->mmapped - 16,
			    s->aligned - 16};
	uint64_t sizes[] = {s->h->next - s->h->heap + 16, 700, 2200, 136, 4096, 64, 64};
	unsigned n = 1 + (unsigned)(next_random(&random_state) % 6);

	for (unsigned i = 0; i < n; i++) {
		unsigned k = (unsigned)(next_random(&random_state) % 7);
		uint64_t addr =
			(where[k] + next_random(&random_state) % sizes[k]) & ~7ull;

		if (next_random(&random_state) % 2)
			hi_mock_heap_set(s->h, addr, random_word(s));
		else
			hi_mock_heap_set(s->h, addr,
					 hi_mock_heap_get(s->h, addr) ^
						 1ull << next_random(&random_state) % 20);
	}
}

HI_TEST(glibc_walk, random_damage_never_breaks_a_promise)
{
	/* One sample of each layout, put back after each round. */
	for (size_t m = 0; m < sizeof(minors) / sizeof(minors[0]); m++) {
		struct heap_sample s = heap_sample_make(minors[m]);
		uint64_t starts[] = {s.h->heap, s.h->arena & ~0xfffull,
				     s.arena & ~0xfffull, s.mmapped - 16,
				     s.aligned & ~0xfffffull};
		uint64_t sizes[] = {132 << 10, 0x3000, 0x4000, 4096, 0x9000};
		uint8_t *saved[5];

		starts[4] = s.aligned - 0x7000;
		for (int i = 0; i < 5; i++) {
			saved[i] = malloc(sizes[i]);
			memcpy(saved[i], hi_memory_mock_at(s.h->memory, starts[i]),
			       sizes[i]);
		}
		for (int round = 0; round < 1500; round++) {
			struct hi_allocator *a = NULL;
			struct hi_error err;

			damage_at_random(&s);
			if (hi_glibc_open(s.h->image, &s.h->where, &a, &err) == HI_OK) {
				walk(a);
				hi_allocator_release(a);
			} else {
				HI_ASSERT(err.text[0]);
			}
			for (int i = 0; i < 5; i++)
				memcpy(hi_memory_mock_at(s.h->memory, starts[i]),
				       saved[i], sizes[i]);
		}
		for (int i = 0; i < 5; i++)
			free(saved[i]);
	}
}
