/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that is packed (attach/packed.h) against a copy of it. */
#include "tests/harness.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/packed.h"
#include "base/alloc.h"
#include "tests/support/random.h"

#define PAGE 4096u
#define PAGES 8192u /* 32 MiB */
#define SIZE ((size_t)PAGES * PAGE)

struct packed_world {
	unsigned char *area, *plain;
	struct hi_pager_range ranges[PAGES];
	size_t n_ranges, held;
	struct hi_packed *packed;
	_Atomic bool ended;
	_Atomic uint64_t reads, wrong;
};

static void end_packed_world(struct packed_world *w)
{
	hi_packed_destroy(w->packed);
	hi_pages_free(w->area, SIZE);
	hi_pages_free(w->plain, SIZE);
	free(w);
}

/* Addresses, texts, zeros; noise where it is to be incompressible. */
static void fill_page(unsigned char *page, uint64_t *state, bool noise)
{
	uint64_t kind = noise ? 3 : next_random(state) % 4, word;

	for (unsigned i = 0; i < PAGE / 8; i++) {
		word = next_random(state);
		word = kind == 0   ? 0
		       : kind == 1 ? 0x55d000000000 + word % 100000 * 16
		       : kind == 2 ? 0x6162636465666768 + word % 7
				   : word;
		memcpy(page + i * 8ul, &word, 8);
	}
}

/* Runs of 1 to 100 pages, held and not. */
static struct packed_world *make_packed_world(uint64_t seed, bool noise)
{
	struct packed_world *w = calloc(1, sizeof(*w));
	uint64_t state = seed;
	bool held = true;

	HI_ASSERT(w);
	hi_test_defer(end_packed_world, w);
	w->area = hi_pages_alloc(SIZE);
	w->plain = hi_pages_alloc(SIZE);
	HI_ASSERT(w->area && w->plain);
	for (size_t page = 0; page < PAGES; held = !held) {
		size_t n = 1 + next_random(&state) % 100;

		n = n < PAGES - page ? n : PAGES - page;
		if (!held) {
			page += n;
			continue;
		}
		w->ranges[w->n_ranges++] = (struct hi_pager_range){
			.host = w->area + page * PAGE, .size = n * PAGE};
		w->held += n * PAGE;
		for (size_t end = page + n; page < end; page++)
			fill_page(w->area + page * PAGE, &state, noise);
	}
	memcpy(w->plain, w->area, SIZE);
	return w;
}

static void pack_part_of_world(struct packed_world *w, uint64_t budget, uint64_t most)
{
	const struct hi_packed_request request = {.area = w->area,
						  .size = SIZE,
						  .ranges = w->ranges,
						  .n_ranges = w->n_ranges,
						  .budget = budget,
						  .most = most};
	struct hi_error err = {};

	HI_ASSERT_OK(hi_packed_create(&request, &w->packed, &err), &err);
}

static void pack_world(struct packed_world *w, uint64_t budget)
{
	pack_part_of_world(w, budget, 0);
}

static void read_somewhere(struct packed_world *w, uint64_t *state)
{
	size_t at = next_random(state) % SIZE;
	size_t n = 1 + next_random(state) % (next_random(state) % 4 ? 64 : 100000);

	n = n < SIZE - at ? n : SIZE - at;
	w->wrong += memcmp(w->area + at, w->plain + at, n) != 0;
	w->reads++;
}

static void *read_all_the_time(void *arg)
{
	struct packed_world *w = arg;
	uint64_t state = 7 + (uintptr_t)&w;

	while (!w->ended)
		read_somewhere(w, &state);
	return NULL;
}

HI_TEST(packed, random_reads_find_the_plain_bytes)
{
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct packed_world *w = make_packed_world(seed, false);
		uint64_t state = seed;
		struct hi_packed_stats stats;

		pack_world(w, HI_PAGER_LEAST);
		for (unsigned i = 0; i < 3000; i++)
			read_somewhere(w, &state);
		stats = hi_packed_stats(w->packed);
		HI_ASSERT_EQ(0, w->wrong);
		HI_ASSERT(memcmp(w->area, w->plain, SIZE) == 0);
		HI_ASSERT_EQ(0, stats.lost);
		/* Blocks that are held in part are packed as a whole. */
		HI_ASSERT(stats.packed >= w->held && stats.packed <= SIZE);
		HI_ASSERT(stats.stored < stats.packed / 4 * 3);
	}
}

HI_TEST(packed, is_packed_in_parts_as_at_once)
{
	const uint64_t most = 4 << 20;

	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct packed_world *whole = make_packed_world(seed, false);
		struct packed_world *w = make_packed_world(seed, false);
		struct hi_packed_stats first, stats;

		pack_world(whole, HI_PAGER_LEAST);
		pack_part_of_world(w, HI_PAGER_LEAST, most);
		first = hi_packed_stats(w->packed);
		HI_ASSERT(first.packed >= most && first.packed < w->held / 2);
		HI_ASSERT(memcmp(w->area, w->plain, SIZE) == 0);
		hi_packed_continue(w->packed);
		stats = hi_packed_stats(w->packed);
		HI_ASSERT_EQ(hi_packed_stats(whole->packed).packed, stats.packed);
		HI_ASSERT_EQ(hi_packed_stats(whole->packed).stored, stats.stored);
		HI_ASSERT(memcmp(w->area, w->plain, SIZE) == 0);
		hi_packed_continue(w->packed);
		HI_ASSERT_EQ(stats.packed, hi_packed_stats(w->packed).packed);
		HI_ASSERT_EQ(0, hi_packed_stats(w->packed).lost);
	}
}

HI_TEST(packed, threads_may_read_while_it_is_packed)
{
	struct packed_world *w = make_packed_world(11, false);
	pthread_t readers[3];

	for (unsigned i = 0; i < 3; i++)
		HI_ASSERT_EQ(0, pthread_create(&readers[i], NULL, read_all_the_time, w));
	pack_world(w, HI_PAGER_LEAST);
	for (uint64_t from = w->reads; w->reads < from + 300;)
		usleep(100);
	w->ended = true;
	for (unsigned i = 0; i < 3; i++)
		pthread_join(readers[i], NULL);
	HI_ASSERT_EQ(0, w->wrong);
	HI_ASSERT_EQ(0, hi_packed_stats(w->packed).lost);
	HI_ASSERT(memcmp(w->area, w->plain, SIZE) == 0);
}

HI_TEST(packed, what_does_not_shrink_stays)
{
	struct packed_world *w = make_packed_world(5, true);

	pack_world(w, HI_PAGER_LEAST);
	HI_ASSERT(hi_packed_stats(w->packed).packed <= (9u << 20));
	HI_ASSERT(memcmp(w->area, w->plain, SIZE) == 0);
	HI_ASSERT_EQ(0, hi_packed_stats(w->packed).lost);
}

/* The nth allocation fails: all that is read is right, or nothing was packed. */
HI_TEST(packed, memory_that_runs_out_loses_nothing)
{
	for (uint64_t nth = 1; nth < 12; nth += nth) {
		struct packed_world *w = make_packed_world(3, false);
		const struct hi_packed_request request = {.area = w->area,
							  .size = SIZE,
							  .ranges = w->ranges,
							  .n_ranges = w->n_ranges,
							  .budget = HI_PAGER_LEAST};
		struct hi_error err = {};
		enum hi_status status;

		hi_alloc_fail_at(nth);
		status = hi_packed_create(&request, &w->packed, &err);
		hi_alloc_fail_at(0);
		HI_ASSERT(status == HI_OK || status == HI_NO_MEMORY);
		HI_ASSERT(memcmp(w->area, w->plain, SIZE) == 0);
	}
}
