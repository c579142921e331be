/* SPDX-License-Identifier: BSD-2-Clause */
/* The plan of a copy, on drawn mappings and pages: what is held, where it goes, and how
 * it is read, page by page against the rules of Note [Which pages are held] and Note
 * [Areas]. */
#include <stdlib.h>

#include "attach/copy_internal.h"
#include "base/alloc.h"
#include "tests/harness.h"
#include "tests/support/random.h"

#define PAGE 4096ull
#define MIB (1ull << 20)
#define BLOCK (2 * MIB)
enum { MAPPINGS = 30, RUNS = 60, ROUNDS = 150, BLOCK_PIECES = 256 };

static struct hi_error err;
static uint64_t seed;

/* ---- drawn mappings and pages ---- */

/* The one that was drawn last; their reservations are large. */
static struct hi_copy *drawn;

static void free_drawn(void *unused)
{
	struct hi_copy *copy = drawn;

	(void)unused;
	hi_alloc_fail_at(0);
	drawn = NULL;
	if (!copy)
		return;
	for (size_t i = 0; i < copy->reservations.count; i++)
		hi_pages_free(copy->reservations.items[i].pages,
			      copy->reservations.items[i].size);
	hi_vector_free(&copy->reservations);
	hi_vector_free(&copy->runs);
	hi_vector_free(&copy->pages);
	hi_vector_free(&copy->areas);
	hi_vector_free(&copy->fresh);
	hi_vector_free(&copy->pieces);
	hi_vector_free(&copy->blocks);
	free(copy->mappings);
	free(copy);
}

static void draw_mappings(struct hi_copy *copy)
{
	static const uint64_t gaps[] = {0, PAGE, MIB, 9 * MIB, 70 * MIB, 1ull << 36};
	static const enum hi_mapping_kind kinds[] = {
		HI_MAPPING_ANONYMOUS, HI_MAPPING_HEAP,	HI_MAPPING_FILE,
		HI_MAPPING_FILE,      HI_MAPPING_SHMEM, HI_MAPPING_OTHER};
	uint64_t at = 1ull << 32;

	copy->n_mappings = 1 + random_below(&seed, MAPPINGS);
	copy->mappings = calloc(MAPPINGS, sizeof(*copy->mappings));
	HI_ASSERT(copy->mappings);
	for (size_t i = 0; i < copy->n_mappings; i++) {
		struct hi_mapping *m = &copy->mappings[i];

		m->start = at + gaps[random_below(&seed, 6)];
		m->end = m->start +
			 PAGE * (1 +
				 random_below(&seed, random_below(&seed, 3) ? 20 : 9000));
		m->kind = kinds[random_below(&seed, 6)];
		m->shared = m->kind == HI_MAPPING_SHMEM || random_below(&seed, 4) == 0;
		m->prot = (uint8_t)random_below(&seed, 8);
		at = m->end;
	}
}

/* Between the runs that are there, others. Some go on into the next mapping. */
static void draw_runs(struct hi_copy *copy)
{
	static const uint32_t flags[] = {HI_RUN_PRESENT, HI_RUN_PRESENT | HI_RUN_FILE,
					 HI_RUN_SWAPPED, HI_RUN_PRESENT | HI_RUN_ZERO,
					 HI_RUN_GUARD,	 HI_RUN_PRESENT | HI_RUN_MISSING};

	copy->runs.count = 0;
	for (size_t i = 0; i < copy->n_mappings; i++) {
		uint64_t at = copy->mappings[i].start, end = copy->mappings[i].end;
		bool goes_on = i + 1 < copy->n_mappings &&
			       copy->mappings[i + 1].start == end &&
			       random_below(&seed, 2);

		if (copy->runs.count && copy->runs.items[copy->runs.count - 1].end > at)
			at = copy->runs.items[copy->runs.count - 1].end;
		while (at < end) {
			struct hi_page_run run = {.flags = flags[random_below(&seed, 6)]};

			run.start = at + PAGE * random_below(&seed, random_below(&seed, 2)
									    ? 3
									    : 600);
			run.end = run.start +
				  PAGE * (1 + random_below(&seed, random_below(&seed, 2)
									  ? 5
									  : 700));
			if (run.start >= end)
				break;
			if (run.end > end)
				run.end = goes_on ? end + PAGE : end;
			HI_ASSERT(hi_vector_push(&copy->runs, run));
			at = run.end;
		}
	}
}

static struct hi_copy *draw_copy(void)
{
	static struct hi_copy_child_source *const child = (void *)&seed;
	struct hi_copy *copy = calloc(1, sizeof(*copy));

	HI_ASSERT(copy);
	if (drawn)
		free_drawn(NULL);
	else
		hi_test_defer(free_drawn, NULL);
	drawn = copy;
	draw_mappings(copy);
	draw_runs(copy);
	copy->with_swap = random_below(&seed, 2);
	copy->forked = random_below(&seed, 2) ? child : NULL; /* whether there is one */
	return copy;
}

static const struct hi_mapping *find_mapping(const struct hi_copy *copy, uint64_t addr)
{
	for (size_t i = 0; i < copy->n_mappings; i++)
		if (addr >= copy->mappings[i].start && addr < copy->mappings[i].end)
			return &copy->mappings[i];
	return NULL;
}

/* ---- which pages ---- */

static uint32_t held_by_the_rules(const struct hi_copy *copy, const struct hi_mapping *m,
				  uint32_t run)
{
	uint32_t flags = 0;

	if (m->kind == HI_MAPPING_OTHER || run & HI_RUN_GUARD)
		return 0;
	if (run & HI_RUN_ZERO)
		return HI_PAGES_ZERO;
	if (run & HI_RUN_SWAPPED)
		flags = HI_PAGES_SWAPPED | (copy->with_swap ? HI_PAGES_HELD : 0);
	else if (m->kind == HI_MAPPING_FILE && m->shared && !(m->prot & HI_PROT_WRITE))
		flags = HI_PAGES_PRESENT;
	else if (m->kind == HI_MAPPING_FILE && !m->shared && run & HI_RUN_FILE)
		flags = HI_PAGES_PRESENT; /* as in the file */
	else
		flags = HI_PAGES_PRESENT | HI_PAGES_HELD;
	if (copy->forked && flags & HI_PAGES_HELD && run & HI_RUN_MISSING)
		flags |= HI_PAGES_LIVE | HI_PAGES_MISSING;
	if (copy->forked && flags & HI_PAGES_HELD && m->shared)
		flags |= HI_PAGES_LIVE;
	return flags;
}

/* The pages, one by one, are those that the runs and the mappings make. */
static void check_pages(const struct hi_copy *copy)
{
	const struct hi_pages *p = copy->pages.items, *end = p + copy->pages.count;

	for (size_t i = 0; i < copy->runs.count; i++)
		for (uint64_t at = copy->runs.items[i].start;
		     at < copy->runs.items[i].end; at += PAGE) {
			const struct hi_mapping *m = find_mapping(copy, at);
			uint32_t flags =
				m ? held_by_the_rules(copy, m, copy->runs.items[i].flags)
				  : 0;

			while (p < end && p->end <= at)
				p++;
			if (!flags) {
				HI_ASSERT(p == end || p->start > at);
				continue;
			}
			HI_ASSERT(p < end && p->start <= at);
			HI_ASSERT_EQ(flags, p->flags);
			HI_ASSERT(p->start >= m->start && p->end <= m->end);
		}
	/* No two could be one. */
	for (size_t i = 1; i < copy->pages.count; i++) {
		const struct hi_pages *a = &copy->pages.items[i - 1], *b = a + 1;

		HI_ASSERT(a->end <= b->start && a->start < a->end);
		HI_ASSERT(a->end < b->start || a->flags != b->flags ||
			  find_mapping(copy, a->start) != find_mapping(copy, b->start));
	}
}

static uint64_t sum_pages(const struct hi_copy *copy, uint32_t mask, uint32_t flags)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < copy->pages.count; i++)
		for (uint64_t at = copy->pages.items[i].start;
		     at < copy->pages.items[i].end; at += PAGE)
			sum += (copy->pages.items[i].flags & mask) == flags ? PAGE : 0;
	return sum;
}

/* ---- where they go ---- */

static bool is_reserved(const struct hi_copy *copy, const struct hi_area *area)
{
	for (size_t i = 0; i < copy->reservations.count; i++) {
		const struct hi_reservation *r = &copy->reservations.items[i];

		if (area->host >= (unsigned char *)r->pages &&
		    area->host + (area->end - area->start) <=
			    (unsigned char *)r->pages + r->size)
			return true;
	}
	return false;
}

static void check_hosts(const struct hi_copy *copy)
{
	for (size_t i = 0; i < copy->areas.count; i++) {
		const struct hi_area *a = &copy->areas.items[i];

		HI_ASSERT(a->start < a->end && is_reserved(copy, a));
		HI_ASSERT(!i || a[-1].end <= a->start);
		if (a->end - a->start >= MIB)
			HI_ASSERT_EQ(a->start % BLOCK, (uintptr_t)a->host % BLOCK);
		for (size_t k = 0; k < i; k++) {
			const struct hi_area *b = &copy->areas.items[k];

			HI_ASSERT(a->host >= b->host + (b->end - b->start) ||
				  b->host >= a->host + (a->end - a->start));
		}
	}
}

static void check_cover(const struct hi_copy *copy)
{
	const struct hi_area *a = copy->areas.items, *end = a + copy->areas.count;

	for (size_t i = 0; i < copy->pages.count; i++)
		for (uint64_t at = copy->pages.items[i].start;
		     at < copy->pages.items[i].end; at += PAGE) {
			while (a < end && a->end <= at)
				a++;
			HI_ASSERT(a < end && a->start <= at);
		}
}

/* Stretches of the first plan are joined exactly where the gap is not too large. */
static void check_joins(const struct hi_copy *copy)
{
	size_t at = 0;

	for (size_t i = 0; i < copy->pages.count;) {
		const struct hi_pages *p = &copy->pages.items[i];
		bool live = p->flags & HI_PAGES_LIVE;
		uint64_t start = p->start, end = p->end, joined = end - p->start;

		for (i++; i < copy->pages.count; i++) {
			uint64_t gap, most = 8 * joined;

			p = &copy->pages.items[i];
			gap = p->start - end;
			most = most < MIB ? MIB : most > 64 * MIB ? 64 * MIB : most;
			if (gap > most || live != (bool)(p->flags & HI_PAGES_LIVE))
				break;
			end = p->end;
			joined += p->end - p->start;
		}
		HI_ASSERT(at < copy->areas.count);
		HI_ASSERT_EQ(start, copy->areas.items[at].start);
		HI_ASSERT_EQ(end, copy->areas.items[at].end);
		HI_ASSERT_EQ(live, copy->areas.items[at].live);
		at++;
	}
	HI_ASSERT_EQ(at, copy->areas.count);
}

/* ---- how they are read ---- */

static void check_pieces(const struct hi_copy *copy)
{
	size_t at = 0;
	uint64_t held = 0, done = 0;

	for (size_t i = 0; i < copy->pages.count; i++) {
		const struct hi_pages *p = &copy->pages.items[i];

		if (!(p->flags & HI_PAGES_HELD))
			continue;
		held += p->end - p->start;
		for (done = p->start; done < p->end; at++) {
			const struct hi_piece *piece = &copy->pieces.items[at];
			const struct hi_area *area = copy->areas.items;

			HI_ASSERT(at < copy->pieces.count);
			HI_ASSERT_EQ(done, piece->addr);
			HI_ASSERT(piece->size > 0 && piece->size <= BLOCK);
			while (area->end <= done)
				area++;
			HI_ASSERT(piece->host == area->host + (done - area->start));
			HI_ASSERT(piece->addr + piece->size <= area->end);
			HI_ASSERT_EQ((p->flags & HI_PAGES_LIVE) != 0, piece->live);
			HI_ASSERT_EQ((p->flags & HI_PAGES_MISSING) != 0, piece->missing);
			HI_ASSERT_EQ(!(find_mapping(copy, done)->prot & HI_PROT_READ),
				     piece->force);
			done += piece->size;
		}
		HI_ASSERT_EQ(p->end, done);
	}
	HI_ASSERT_EQ(at, copy->pieces.count);
	HI_ASSERT_EQ(held, copy->held_bytes);
}

/* As many pieces of a kind in a block as there is room for. */
static void check_blocks(const struct hi_copy *copy)
{
	size_t at = 0;

	for (size_t i = 0; i < copy->blocks.count; i++) {
		const struct hi_copy_block *block = &copy->blocks.items[i];
		const struct hi_piece *first = &copy->pieces.items[at], *piece = first;
		uint64_t bytes = 0;

		HI_ASSERT_EQ(at, block->first);
		HI_ASSERT(block->count > 0 && block->count <= BLOCK_PIECES);
		for (size_t k = 0; k < block->count; k++, piece++) {
			bytes += piece->size;
			HI_ASSERT(piece->force == first->force &&
				  piece->live == first->live &&
				  piece->missing == first->missing);
		}
		at += block->count;
		HI_ASSERT(bytes <= BLOCK && at <= copy->pieces.count);
		if (at < copy->pieces.count)
			HI_ASSERT(bytes + piece->size > BLOCK ||
				  block->count == BLOCK_PIECES ||
				  piece->force != first->force ||
				  piece->live != first->live ||
				  piece->missing != first->missing);
	}
	HI_ASSERT_EQ(at, copy->pieces.count);
}

/* ---- tests ---- */

static void check_plan(struct hi_copy *copy)
{
	check_hosts(copy);
	check_cover(copy);
	HI_ASSERT_OK(hi_copy_make_pieces(copy, &err), &err);
	check_pieces(copy);
	check_blocks(copy);
	HI_ASSERT_EQ(sum_pages(copy, HI_PAGES_HELD, HI_PAGES_HELD), copy->held_bytes);
	HI_ASSERT_EQ(sum_pages(copy, HI_PAGES_HELD | HI_PAGES_LIVE, HI_PAGES_HELD),
		     hi_copy_sum(copy, HI_PAGES_HELD | HI_PAGES_LIVE, HI_PAGES_HELD));
}

HI_TEST(copy_plan, follows_the_rules_page_by_page)
{
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		struct hi_copy *copy;

		seed = round;
		copy = draw_copy();
		HI_ASSERT_OK(hi_copy_classify(copy, &err), &err);
		check_pages(copy);
		HI_ASSERT_OK(hi_copy_add_areas(copy, false, &err), &err);
		check_joins(copy);
		check_plan(copy);
	}
}

/* Before the stop there is room added; at the stop, pages that came meanwhile. */
HI_TEST(copy_plan, keeps_the_areas_that_there_are)
{
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		struct hi_area before[RUNS * MAPPINGS];
		struct hi_copy *copy;
		size_t n, kept = 0;

		seed = round;
		copy = draw_copy();
		copy->in_place = random_below(&seed, 2);
		HI_ASSERT_OK(hi_copy_classify(copy, &err), &err);
		HI_ASSERT_OK(hi_copy_add_areas(copy, random_below(&seed, 2), &err), &err);
		check_plan(copy);
		n = copy->areas.count;
		HI_ASSERT(n < RUNS * MAPPINGS);
		for (size_t i = 0; i < n; i++)
			before[i] = copy->areas.items[i];
		draw_runs(copy);
		HI_ASSERT_OK(hi_copy_classify(copy, &err), &err);
		HI_ASSERT_OK(hi_copy_add_areas(copy, false, &err), &err);
		check_plan(copy);
		for (size_t i = 0; i < copy->areas.count && kept < n; i++)
			if (copy->areas.items[i].start == before[kept].start) {
				HI_ASSERT_EQ(before[kept].end, copy->areas.items[i].end);
				HI_ASSERT(before[kept].host == copy->areas.items[i].host);
				kept++;
			}
		HI_ASSERT_EQ(n, kept);
	}
}

HI_TEST(copy_plan, every_failed_allocation_is_reported)
{
	uint64_t nth = 1;

	for (;; nth++) {
		struct hi_copy *copy;
		enum hi_status status;

		seed = 7;
		copy = draw_copy();
		hi_alloc_fail_once(nth);
		status = hi_copy_classify(copy, &err);
		if (status == HI_OK)
			status = hi_copy_add_areas(copy, true, &err);
		if (status == HI_OK)
			status = hi_copy_make_pieces(copy, &err);
		if (hi_alloc_count() < nth)
			break;
		hi_alloc_fail_at(0);
		HI_ASSERT_EQ(HI_NO_MEMORY, status);
	}
	hi_alloc_fail_at(0);
	HI_ASSERT(nth > 6);
}
