/* SPDX-License-Identifier: BSD-2-Clause */
/* What every memory source promises (attach/memory.h), tried on each of them. */
#include "tests/harness.h"
#include "tests/support/random.h"

#include <elf.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "attach/core.h"
#include "attach/frozen_memory.h"
#include "attach/mock.h"
#include "attach/pager.h"
#include "base/alloc.h"
#include "tests/support/tiny_core.h"

#define PAGE 4096u
/* The world: three pages, a hole of one page, one more page. */
#define LOW 0x10000ull
#define HOLE 0x13000ull
#define HIGH 0x14000ull
#define END 0x15000ull

static unsigned char world[5 * PAGE];

static void fill_world(void)
{
	for (size_t i = 0; i < sizeof(world); i++)
		world[i] = (unsigned char)(i * 7 + i / 256);
}

static struct hi_memory *make_mock(void)
{
	struct hi_memory *mem = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_memory_create_mock(&mem, &err), &err);
	HI_ASSERT_OK(hi_memory_mock_add(mem, HIGH, world + 4 * PAGE, PAGE, &err), &err);
	HI_ASSERT_OK(hi_memory_mock_add(mem, LOW, world, 2 * PAGE, &err), &err);
	HI_ASSERT_OK(
		hi_memory_mock_add(mem, LOW + 2 * PAGE, world + 2 * PAGE, PAGE, &err),
		&err);
	return mem;
}

/* As a live copy makes it: one span with a page in it that is not held. */
static struct hi_memory *make_frozen(void)
{
	struct hi_pages *pages = hi_calloc(2, sizeof(*pages));
	unsigned char *host = hi_pages_alloc(sizeof(world));
	struct hi_frozen *frozen = NULL;
	struct hi_error err = {};

	memcpy(host, world, sizeof(world));
	pages[0] = (struct hi_pages){LOW, HOLE, HI_PAGES_PRESENT | HI_PAGES_HELD};
	pages[1] = (struct hi_pages){HIGH, END, HI_PAGES_PRESENT | HI_PAGES_HELD};
	HI_ASSERT_OK(hi_frozen_create("frozen", &frozen, &err), &err);
	HI_ASSERT_OK(hi_frozen_add_span(frozen, LOW, END, host, &err), &err);
	HI_ASSERT_OK(hi_frozen_own(frozen, host, sizeof(world), &err), &err);
	HI_ASSERT_OK(hi_frozen_seal(frozen, pages, 2, &err), &err);
	return hi_frozen_memory(frozen);
}

static size_t read_world(void *arg, uint64_t addr, void *to, size_t size)
{
	(void)arg;
	memcpy(to, world + (addr - LOW), size);
	return size;
}

static struct hi_pager *pager;
static struct hi_pager_range ranges[2];
static unsigned char *paged;

/* As a child that is read in place: the same span, filled when it is touched. */
static struct hi_memory *make_paged(void)
{
	struct hi_pages *pages = hi_calloc(2, sizeof(*pages));
	struct hi_pager_request duty = {.size = sizeof(world),
					.ranges = ranges,
					.n_ranges = 2,
					.threads = 2,
					.read = read_world};
	struct hi_frozen *frozen = NULL;
	struct hi_error err = {};

	paged = hi_pages_alloc(sizeof(world));
	duty.area = paged;
	pages[0] = (struct hi_pages){LOW, HOLE, HI_PAGES_PRESENT | HI_PAGES_HELD};
	pages[1] = (struct hi_pages){HIGH, END, HI_PAGES_PRESENT | HI_PAGES_HELD};
	for (int i = 0; i < 2; i++)
		ranges[i] = (struct hi_pager_range){paged + (pages[i].start - LOW),
						    pages[i].start,
						    pages[i].end - pages[i].start};
	HI_ASSERT_OK(hi_pager_create(&duty, &pager, &err), &err);
	HI_ASSERT_OK(hi_frozen_create("paged", &frozen, &err), &err);
	HI_ASSERT_OK(hi_frozen_add_span(frozen, LOW, END, paged, &err), &err);
	HI_ASSERT_OK(hi_frozen_seal(frozen, pages, 2, &err), &err);
	return hi_frozen_memory(frozen);
}

static struct hi_image *core_image;

static struct hi_memory *make_core(void)
{
	struct hi_tiny_segment segments[] = {
		{LOW, PAGE, PAGE, world, PF_R},
		{LOW + PAGE, 2 * PAGE, 2 * PAGE, world + PAGE, PF_R | PF_W},
		{HOLE, PAGE, 0, NULL, PF_R},
		{HIGH, PAGE, PAGE, world + 4 * PAGE, PF_R | PF_W},
	};
	struct hi_tiny_core core = {.segments = segments,
				    .n_segments = 4,
				    .tids = (int[]){7},
				    .n_tids = 1,
				    .pid = 7};
	struct hi_error err = {};
	unsigned char *bytes;
	char path[64];
	size_t size;

	bytes = hi_tiny_core_build(&core, &size);
	hi_tiny_core_save(bytes, size, path);
	free(bytes);
	HI_ASSERT_OK(hi_core_open(path, NULL, &core_image, &err), &err);
	return core_image->memory;
}

static void destroy_memory(struct hi_memory *mem)
{
	if (core_image)
		hi_image_destroy(core_image);
	else
		hi_memory_destroy(mem);
	core_image = NULL;
	hi_pager_destroy(pager);
	if (paged)
		hi_pages_free(paged, sizeof(world));
	pager = NULL;
	paged = NULL;
}

static const struct source {
	const char *name;
	struct hi_memory *(*make)(void);
} sources[] = {{"mock", make_mock},
	       {"frozen", make_frozen},
	       {"paged", make_paged},
	       {"core", make_core}};
#define N_SOURCES (sizeof(sources) / sizeof(sources[0]))

static void for_each_source(void (*check)(struct hi_memory *mem))
{
	fill_world();
	for (size_t i = 0; i < N_SOURCES; i++) {
		struct hi_memory *mem = sources[i].make();

		hi_test_note("source %s", sources[i].name);
		HI_ASSERT(mem->ops->name && mem->ops->read && mem->ops->destroy);
		check(mem);
		destroy_memory(mem);
	}
}

static bool is_there(uint64_t addr)
{
	return (addr >= LOW && addr < HOLE) || (addr >= HIGH && addr < END);
}

static void check_every_range(struct hi_memory *mem)
{
	unsigned char buf[3 * PAGE];

	for (uint64_t addr = LOW - 40; addr < END + 40; addr += 13)
		for (size_t size = 1; size < sizeof(buf); size = size * 3 + 1) {
			struct hi_error err = {};
			uint64_t bad = addr;
			enum hi_status status =
				hi_memory_read(mem, addr, buf, size, &err);

			while (bad < addr + size && is_there(bad))
				bad++;
			if (bad == addr + size) {
				HI_ASSERT_STATUS(HI_OK, status);
				HI_ASSERT(memcmp(buf, world + (addr - LOW), size) == 0);
			} else {
				HI_ASSERT_STATUS(HI_FAULT, status);
				HI_ASSERT_EQ(bad, err.address);
			}
		}
}

HI_TEST(memory, a_read_gives_all_bytes_or_faults_at_the_first_unreadable_one)
{
	for_each_source(check_every_range);
}

static void check_views(struct hi_memory *mem)
{
	for (uint64_t addr = LOW - 2 * PAGE; addr < END + 2 * PAGE; addr += 61) {
		size_t avail = 0;
		const void *at = hi_memory_view(mem, addr, &avail);

		HI_ASSERT_EQ(is_there(addr), at != NULL);
		if (!at)
			continue;
		HI_ASSERT(avail >= 1 && is_there(addr + avail - 1));
		HI_ASSERT(memcmp(at, world + (addr - LOW), avail) == 0);
	}
}

HI_TEST(memory, a_view_runs_over_readable_bytes_only_and_equals_what_is_read)
{
	for_each_source(check_views);
}

static void check_edges(struct hi_memory *mem)
{
	struct hi_error err = {};
	uint64_t word = 5;

	HI_ASSERT_STATUS(HI_OK, hi_memory_read(mem, HOLE, &word, 0, &err));
	HI_ASSERT_STATUS(HI_FAULT, hi_memory_read(mem, UINT64_MAX - 3, &word, 8, &err));
	HI_ASSERT_EQ(UINT64_MAX - 3, err.address);
	HI_ASSERT_STATUS(HI_FAULT, hi_memory_read(mem, 0, &word, 8, &err));
	HI_ASSERT_STATUS(HI_FAULT, hi_memory_read_u64(mem, HOLE - 4, &word, &err));
	HI_ASSERT_EQ(HOLE, err.address);
}

HI_TEST(memory, empty_wrapping_and_far_ranges_are_no_trouble)
{
	for_each_source(check_edges);
}

static void *read_much(void *arg)
{
	unsigned char buf[PAGE];

	for (unsigned i = 0; i < 20000; i++) {
		uint64_t addr = LOW + i * 97 % (3 * PAGE - 256);

		if (hi_memory_read(arg, addr, buf, 256, NULL) != HI_OK ||
		    memcmp(buf, world + (addr - LOW), 256) != 0)
			return arg;
	}
	return NULL;
}

static void check_threads(struct hi_memory *mem)
{
	pthread_t threads[4];
	void *failed = NULL, *result;

	for (int i = 0; i < 4; i++)
		HI_ASSERT(pthread_create(&threads[i], NULL, read_much, mem) == 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &result);
		failed = result ? result : failed;
	}
	HI_ASSERT(!failed);
}

HI_TEST(memory, four_threads_read_at_the_same_time)
{
	for_each_source(check_threads);
}

HI_TEST(memory, a_mock_fails_from_the_nth_access_on_and_on_poisoned_pages)
{
	struct hi_memory *mem;
	struct hi_error err = {};
	uint64_t word;
	size_t avail;

	fill_world();
	mem = make_mock();
	hi_memory_mock_fail_at(mem, 3);
	HI_ASSERT_STATUS(HI_OK, hi_memory_read_u64(mem, LOW, &word, &err));
	HI_ASSERT(hi_memory_view(mem, LOW, &avail));
	HI_ASSERT_STATUS(HI_FAULT, hi_memory_read_u64(mem, LOW, &word, &err));
	HI_ASSERT(!hi_memory_view(mem, LOW, &avail));
	hi_memory_mock_fail_at(mem, 0);
	HI_ASSERT(hi_memory_view(mem, LOW + 8, &avail));
	HI_ASSERT_EQ(2 * PAGE - 8, avail);
	hi_memory_mock_poison(mem, LOW + PAGE);
	HI_ASSERT(hi_memory_view(mem, LOW + 8, &avail));
	HI_ASSERT_EQ(PAGE - 8, avail);
	HI_ASSERT_STATUS(HI_FAULT, hi_memory_read_u64(mem, LOW + PAGE - 4, &word, &err));
	HI_ASSERT_EQ(LOW + PAGE, err.address);
	HI_ASSERT(hi_memory_mock_at(mem, LOW + PAGE + 1));
	hi_memory_destroy(mem);
}

/* Random spans, pages and zeros against a page table of our own. */
#define WORLD_PAGES 4096u
#define WORLD_START 0x7f0000000000ull

static void check_frozen(struct hi_frozen *frozen, const unsigned char *flags,
			 const unsigned char *zero, uint64_t *seed)
{
	struct hi_memory *mem = hi_frozen_memory(frozen);

	for (int i = 0; i < 500; i++) {
		uint64_t a = next_random(seed) % WORLD_PAGES;
		uint64_t b = a + next_random(seed) % 200, expected = 0, readable = 0;
		uint64_t start, end, addr = WORLD_START + a * PAGE + 100;
		size_t avail = 0;

		if (b > WORLD_PAGES)
			b = WORLD_PAGES;
		for (uint64_t p = a; p < b; p++)
			expected += flags[p] & HI_PAGES_PRESENT ? PAGE : 0;
		HI_ASSERT_EQ(expected, hi_frozen_resident(frozen, WORLD_START + a * PAGE,
							  WORLD_START + b * PAGE));
		while (a + readable < WORLD_PAGES &&
		       (flags[a + readable] & (HI_PAGES_HELD | HI_PAGES_ZERO) ||
			(zero[a + readable] && !flags[a + readable])))
			readable++;
		HI_ASSERT_EQ(readable > 0, hi_memory_view(mem, addr, &avail) != NULL);
		HI_ASSERT(avail <= readable * PAGE);
		HI_ASSERT(!readable || avail >= PAGE - 100);
		for (b = a; b < WORLD_PAGES && !(flags[b] & HI_PAGES_HELD); b++)
			;
		HI_ASSERT_EQ(b < WORLD_PAGES,
			     hi_frozen_next_held(frozen, WORLD_START + a * PAGE,
						 UINT64_MAX, &start, &end));
		if (b < WORLD_PAGES)
			HI_ASSERT_EQ(WORLD_START + b * PAGE, start);
	}
}

static void random_frozen(uint64_t seed)
{
	static unsigned char flags[WORLD_PAGES], zero[WORLD_PAGES];
	static const unsigned char kinds[] = {0,
					      HI_PAGES_PRESENT | HI_PAGES_HELD,
					      HI_PAGES_PRESENT,
					      HI_PAGES_ZERO,
					      HI_PAGES_SWAPPED,
					      0,
					      HI_PAGES_PRESENT | HI_PAGES_HELD,
					      0};
	struct hi_pages *pages = hi_calloc(WORLD_PAGES, sizeof(*pages));
	unsigned char *host = hi_pages_alloc(WORLD_PAGES * PAGE);
	struct hi_frozen *frozen = NULL;
	struct hi_error err = {};
	size_t n = 0;

	HI_ASSERT_OK(hi_frozen_create("random", &frozen, &err), &err);
	HI_ASSERT_OK(hi_frozen_own(frozen, host, WORLD_PAGES * PAGE, &err), &err);
	for (size_t p = 0; p < WORLD_PAGES;) {
		size_t run = 1 + next_random(&seed) % (next_random(&seed) % 3 ? 5 : 300);
		unsigned char kind = kinds[next_random(&seed) % 8], z = kind % 2;

		for (; run && p < WORLD_PAGES; run--, p++) {
			flags[p] = kind;
			zero[p] = z;
			if (kind)
				pages[n++] = (struct hi_pages){
					WORLD_START + p * PAGE,
					WORLD_START + (p + 1) * PAGE, kind};
			if (z)
				HI_ASSERT_OK(hi_frozen_add_zeros(
						     frozen, WORLD_START + p * PAGE,
						     WORLD_START + (p + 1) * PAGE, &err),
					     &err);
		}
	}
	/* Spans of 512 pages, in falling order. */
	for (size_t p = WORLD_PAGES; p > 0; p -= 512)
		HI_ASSERT_OK(hi_frozen_add_span(frozen, WORLD_START + (p - 512) * PAGE,
						WORLD_START + p * PAGE,
						host + (p - 512) * PAGE, &err),
			     &err);
	HI_ASSERT_OK(hi_frozen_seal(frozen, pages, n, &err), &err);
	check_frozen(frozen, flags, zero, &seed);
	hi_memory_destroy(hi_frozen_memory(frozen));
}

HI_TEST(memory, random_frozen_pages_answer_as_a_plain_table_of_pages_does)
{
	for (uint64_t seed = 1; seed <= 40; seed++)
		random_frozen(seed);
}
