/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that fills itself (attach/pager.h), from a source made of arithmetic. */
#include "tests/harness.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/pager.h"
#include "base/alloc.h"

#define PAGE 4096u
#define PAGES 8192u /* 32 MiB */
#define SIZE ((size_t)PAGES * PAGE)
#define SOURCE 0x7000000000ull

struct world {
	struct hi_pager *pager;
	unsigned char *area;
	struct hi_pager_range *ranges;
	size_t n_ranges;
	bool held[PAGES];
	uint64_t held_bytes;
	_Atomic uint64_t
		dies_at; /* source address from which on nothing can be read; 0 */
	_Atomic unsigned told;
	_Atomic uint64_t read, calls;
};

static uint64_t word_at(uint64_t addr)
{
	uint64_t x = addr * 0x9e3779b97f4a7c15ull;

	return x ^ x >> 31;
}

static size_t read_source(void *arg, uint64_t addr, void *to, size_t size)
{
	struct world *w = arg;
	uint64_t *words = to;

	if (w->dies_at && addr + size > w->dies_at)
		size = addr < w->dies_at ? w->dies_at - addr : 0;
	for (size_t i = 0; i < size / 8; i++)
		words[i] = word_at(addr + i * 8);
	w->read += size;
	w->calls++;
	return size;
}

static void all_loaded(void *arg)
{
	((struct world *)arg)->told++;
}

static void end_world(struct world *w)
{
	hi_pager_destroy(w->pager);
	hi_pages_free(w->area, SIZE);
	free(w->ranges);
	free(w);
}

/* Runs of 1 to 200 pages, held and not; each comes from an address of its own. */
static struct world *make_world(uint64_t seed, uint64_t budget)
{
	struct world *w = calloc(1, sizeof(*w));
	struct hi_pager_request duty = {.size = SIZE,
					.budget = budget,
					.threads = 3,
					.read = read_source,
					.all_loaded = all_loaded,
					.arg = w};
	struct hi_error err = {};

	HI_ASSERT(w);
	hi_test_defer(end_world, w);
	w->area = hi_pages_alloc(SIZE);
	w->ranges = calloc(PAGES, sizeof(*w->ranges));
	for (size_t page = 0; page < PAGES;) {
		size_t n;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		n = 1 + (seed >> 33) % 200;
		n = n < PAGES - page ? n : PAGES - page;
		if (seed >> 60 > 3) {
			w->ranges[w->n_ranges++] = (struct hi_pager_range){
				w->area + page * PAGE, SOURCE + page * PAGE, n * PAGE};
			memset(w->held + page, 1, n);
			w->held_bytes += n * PAGE;
		}
		page += n;
	}
	duty.area = w->area;
	duty.ranges = w->ranges;
	duty.n_ranges = w->n_ranges;
	HI_ASSERT_OK(hi_pager_create(&duty, &w->pager, &err), &err);
	return w;
}

static bool page_is_right(const struct world *w, size_t page)
{
	const uint64_t *words = (const void *)(w->area + page * PAGE);

	for (size_t i = 0; i < PAGE / 8; i += 73) {
		uint64_t expected =
			w->held[page] ? word_at(SOURCE + page * PAGE + i * 8) : 0;

		if (words[i] != expected)
			return false;
	}
	return true;
}

HI_TEST(pager, every_page_is_what_its_source_says_and_the_rest_is_zeros)
{
	struct world *w = make_world(1, UINT64_MAX / 2);
	struct hi_pager_stats stats;

	for (size_t page = 0; page < PAGES; page++)
		HI_ASSERT_MSG(page_is_right(w, page), "page %zu", page);
	/* Told by another thread, after the last page was given. */
	for (int i = 0; i < 30000 && !w->told; i++)
		usleep(1000);
	stats = hi_pager_stats(w->pager);
	HI_ASSERT_EQ(w->held_bytes, stats.loaded);
	HI_ASSERT_EQ(w->held_bytes, stats.in_memory);
	HI_ASSERT_EQ(w->held_bytes, w->read);
	HI_ASSERT_EQ(0, stats.lost);
	for (size_t page = 0; page < PAGES; page++)
		HI_ASSERT(page_is_right(w, page));
	HI_ASSERT_EQ(1, w->told);
}

struct walker {
	pthread_t thread;
	struct world *world;
	uint64_t seed;
	bool wrong;
};

static void *walk(void *arg)
{
	struct walker *walker = arg;

	for (int i = 0; i < 4000 && !walker->wrong; i++) {
		size_t page;

		walker->seed =
			walker->seed * 6364136223846793005ull + 1442695040888963407ull;
		page = (walker->seed >> 33) % PAGES;
		for (size_t n = 0; n < 8 && page + n < PAGES; n++)
			walker->wrong |= !page_is_right(walker->world, page + n);
	}
	return NULL;
}

HI_TEST(pager, six_threads_walk_at_random_within_the_budget)
{
	const uint64_t budget = HI_PAGER_LEAST;
	struct world *w = make_world(2, budget);
	struct walker walkers[6] = {};
	struct hi_pager_stats stats;

	for (int i = 0; i < 6; i++) {
		walkers[i].world = w;
		walkers[i].seed = (uint64_t)i;
		HI_ASSERT(pthread_create(&walkers[i].thread, NULL, walk, &walkers[i]) ==
			  0);
	}
	for (int i = 0; i < 6; i++) {
		pthread_join(walkers[i].thread, NULL);
		HI_ASSERT(!walkers[i].wrong);
	}
	stats = hi_pager_stats(w->pager);
	HI_ASSERT(stats.peak <= budget);
	HI_ASSERT(stats.loaded > w->held_bytes);
	HI_ASSERT_EQ(0, stats.lost);
	HI_ASSERT_EQ(0, w->told);
}

HI_TEST(pager, unreadable_pages_are_zeros_and_counted)
{
	struct world *w = make_world(3, UINT64_MAX / 2);
	uint64_t lost = 0;

	w->dies_at = SOURCE + SIZE / 2;
	for (size_t page = 0; page < PAGES; page++) {
		if (page >= PAGES / 2 && w->held[page]) {
			w->held[page] = false;
			lost += PAGE;
		}
		HI_ASSERT_MSG(page_is_right(w, page), "page %zu", page);
	}
	for (int i = 0; i < 30000 && hi_pager_stats(w->pager).lost != lost; i++)
		usleep(1000); /* counted when the block is done */
	HI_ASSERT_EQ(lost, hi_pager_stats(w->pager).lost);
}

/* All of the area is held. */
static struct world *make_whole_world(void)
{
	struct world *w = make_world(5, UINT64_MAX / 2);
	struct hi_pager_request duty = {.area = w->area,
					.size = SIZE,
					.ranges = w->ranges,
					.n_ranges = 1,
					.budget = UINT64_MAX / 2,
					.threads = 2,
					.read = read_source,
					.arg = w};
	struct hi_error err = {};

	hi_pager_destroy(w->pager);
	w->pager = NULL;
	w->ranges[0] = (struct hi_pager_range){w->area, SOURCE, SIZE};
	memset(w->held, 1, PAGES);
	w->held_bytes = SIZE;
	HI_ASSERT_OK(hi_pager_create(&duty, &w->pager, &err), &err);
	return w;
}

HI_TEST(pager, a_pass_is_read_ahead)
{
	struct world *w = make_whole_world();

	for (size_t page = 0; page < PAGES; page++)
		HI_ASSERT(page_is_right(w, page));
	HI_ASSERT_EQ(SIZE, w->read);
	/* In pieces that double up to a MiB. */
	HI_ASSERT_MSG(w->calls <= SIZE / (1u << 20) + 8, "%zu calls", (size_t)w->calls);
}

HI_TEST(pager, a_jump_reads_a_block)
{
	struct world *w = make_whole_world();
	size_t jumps = 0;

	/* Downwards: nothing is behind what was read before. */
	for (size_t page = PAGES - 1; page > 100; page -= 100, jumps++)
		HI_ASSERT(page_is_right(w, page));
	HI_ASSERT_MSG(w->read <= jumps * HI_PAGER_BLOCK, "%zu bytes", (size_t)w->read);
}

/* User mode faults only: see pager.h. */
HI_TEST(pager, a_system_call_on_a_missing_page_fails_and_does_not_hang)
{
	struct world *w = make_world(4, UINT64_MAX / 2);
	int ends[2];
	size_t page = 0;

	while (!w->held[page])
		page++;
	HI_ASSERT(pipe(ends) == 0);
	HI_ASSERT_EQ(-1, write(ends[1], w->area + page * PAGE, 8));
	HI_ASSERT_EQ(EFAULT, errno);
	HI_ASSERT(page_is_right(w, page));
	HI_ASSERT_EQ(8, write(ends[1], w->area + page * PAGE, 8));
	close(ends[0]);
	close(ends[1]);
}
