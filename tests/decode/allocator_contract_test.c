/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every allocator promises, asked of each of them: glibc on a heap made by
 * hand, and a mock that has three regions of equal blocks. To add one: a line
 * in `subjects`.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "decode/allocators/mallocng.h"
#include "decode/allocators/oldmalloc.h"
#include "tests/harness.h"
#include "tests/support/mock_heap.h"
#include "tests/support/mock_musl.h"
#include "tests/support/mock_mimalloc.h"
#include "tests/support/mock_tcmalloc.h"

/* ---- the mock ---- */

enum { MOCK_REGIONS = 3, MOCK_BLOCKS = 1000 };
struct mock_allocator {
	struct hi_allocator base;
	struct hi_heap_region regions[MOCK_REGIONS];
};

static enum hi_status mock_walk_region(struct hi_allocator *a, unsigned region,
				       hi_blocks_fn *fn, void *arg, struct hi_error *err)
{
	struct hi_block block = {.usable = 56, .cost = 64};

	if (region >= a->n_regions)
		return hi_fail(err, HI_NOT_FOUND, 0, "no region %u", region);
	for (unsigned i = 0; i < MOCK_BLOCKS; i++) {
		block.addr = a->regions[region].start + i * 64 + 8;
		block.state = i % 5 ? HI_BLOCK_LIVE : HI_BLOCK_FREE_BIN;
		__atomic_fetch_add(&a->count[block.state], 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&a->bytes[block.state], 64, __ATOMIC_RELAXED);
		if (!fn(&block, 1, region, arg))
			break;
	}
	return HI_OK;
}

static void mock_restart(struct hi_allocator *a)
{
	memset(a->count, 0, sizeof(a->count));
	memset(a->bytes, 0, sizeof(a->bytes));
}

struct stopper {
	hi_blocks_fn *fn;
	void *arg;
	bool stopped;
};

static bool forward(const struct hi_block *blocks, size_t n, unsigned region, void *arg)
{
	struct stopper *s = arg;

	s->stopped = !s->fn(blocks, n, region, s->arg);
	return !s->stopped;
}

static enum hi_status mock_walk(struct hi_allocator *a, hi_blocks_fn *fn, void *arg,
				struct hi_error *err)
{
	struct stopper s = {fn, arg, false};
	enum hi_status status = HI_OK;

	mock_restart(a);
	for (unsigned i = 0; i < a->n_regions && status == HI_OK && !s.stopped; i++)
		status = mock_walk_region(a, i, forward, &s, err);
	return status;
}

static void mock_release(struct hi_allocator *a)
{
	free(a);
}

static const struct hi_allocator_ops mock_ops = {
	.name = "mock",
	.walk = mock_walk,
	.walk_region = mock_walk_region,
	.restart = mock_restart,
	.release = mock_release,
};

static struct hi_allocator *make_mock(void)
{
	struct mock_allocator *m = calloc(1, sizeof(*m));

	HI_ASSERT(m);
	m->base.ops = &mock_ops;
	m->base.regions = m->regions;
	m->base.n_regions = MOCK_REGIONS;
	for (unsigned i = 0; i < MOCK_REGIONS; i++) {
		m->regions[i].start = 0x10000ull * (i + 1);
		m->regions[i].end = m->regions[i].start + MOCK_BLOCKS * 64;
		m->regions[i].align_shift = 3;
	}
	return &m->base;
}

/* ---- glibc ---- */

static struct hi_allocator *make_glibc(unsigned minor)
{
	struct hi_mock_heap *h = hi_mock_heap_create(minor, 4 << 20);
	struct hi_allocator *a;
	struct hi_error err;
	uint64_t user;

	for (unsigned i = 0; i < 4000; i++) {
		user = hi_mock_heap_malloc(h, 16 + i * 7 % 500);
		if (i % 11 == 5)
			hi_mock_heap_free_to_bin(h, user);
		if (i % 11 == 3 && i < 70)
			hi_mock_heap_free_to_tcache(h, user);
	}
	hi_mock_heap_mmap(h, 33, 0);
	hi_mock_heap_mmap(h, 40, 4096);
	hi_mock_heap_add_arena(h, &user);
	hi_mock_heap_finish(h);
	HI_ASSERT_OK(hi_glibc_open(h->image, &h->where, &a, &err), &err);
	return a;
}

static struct hi_allocator *make_glibc_31(void)
{
	return make_glibc(31);
}
static struct hi_allocator *make_glibc_36(void)
{
	return make_glibc(36);
}
static struct hi_allocator *make_glibc_42(void)
{
	return make_glibc(42);
}

/* ---- mimalloc ---- */

static struct hi_allocator *make_mimalloc_heap(void)
{
	struct mock_mimalloc *m = mock_mimalloc_create(MOCK_MI_2_0_9);
	struct hi_mimalloc *mi;
	struct hi_error err;

	mock_mimalloc_page(m, 1, 64, 900, 100, 20, 3);
	mock_mimalloc_page(m, 1, 96, 600, 0, 0, 0);
	mock_mimalloc_page(m, 8, 16384, 30, 2, 1, 0);
	mock_mimalloc_page(m, 20, 1310720, 1, 0, 0, 0);
	mock_mimalloc_finish(m);
	mi = mock_mimalloc_open(m, mock_mimalloc_layout(m->release));
	HI_ASSERT_OK(hi_mimalloc_accept(mi, &err), &err);
	return &mi->base;
}

/* ---- tcmalloc ---- */

static struct hi_allocator *make_tcmalloc(void)
{
	struct mock_tcmalloc *m = mock_tcmalloc_typical(MOCK_TCMALLOC_2_10, 13);
	struct hi_allocator *a;
	struct hi_error err = {};

	for (size_t i = 0; i < hi_tcmalloc_n_layouts; i++)
		if (hi_tcmalloc_open(m->image, &m->data, &hi_tcmalloc_layouts[i], &a,
				     &err) == HI_OK)
			return a;
	HI_ASSERT_OK(err.status, &err);
	return NULL;
}

/* ---- musl ---- */

static struct hi_allocator *make_mallocng(void)
{
	struct mock_musl *m = mock_mallocng();
	struct hi_mallocng_where where = {.context = m->root};
	struct hi_allocator *a;
	struct hi_error err;

	HI_ASSERT_OK(hi_mallocng_open(m->image, &where, &hi_mallocng_layout, &a, &err),
		     &err);
	return a;
}

static struct hi_allocator *make_oldmalloc(void)
{
	struct mock_musl *m = mock_oldmalloc();
	struct hi_oldmalloc_where where = {.mal = m->root};
	struct hi_allocator *a;
	struct hi_error err;

	HI_ASSERT_OK(
		hi_oldmalloc_open(m->image, NULL, &where, &hi_oldmalloc_layout, &a, &err),
		&err);
	return a;
}

static const struct {
	const char *name;
	struct hi_allocator *(*make)(void);
} subjects[] = {
	{"mock", make_mock},
	{"glibc 2.31", make_glibc_31},
	{"glibc 2.36", make_glibc_36},
	{"glibc 2.42", make_glibc_42},
	{"mimalloc 2.0.9", make_mimalloc_heap},
	{"tcmalloc", make_tcmalloc},
	{"musl mallocng", make_mallocng},
	{"musl oldmalloc", make_oldmalloc},
};
enum { SUBJECTS = sizeof(subjects) / sizeof(subjects[0]) };

/* ---- the promises ---- */

struct seen {
	const struct hi_allocator *a;
	uint64_t last[64]; /* end of the last block, by region */
	_Atomic uint64_t count[HI_BLOCK_STATES], bytes[HI_BLOCK_STATES];
	_Atomic uint64_t n, sum;
	const char *broken;
	uint64_t stop_after;
};

static bool look(const struct hi_block *blocks, size_t n, unsigned region, void *arg)
{
	struct seen *s = arg;

	for (size_t i = 0; i < n; i++) {
		const struct hi_block *b = &blocks[i];
		const struct hi_heap_region *r = &s->a->regions[region];

		if (region >= s->a->n_regions || b->addr < r->start ||
		    b->addr + b->usable > r->end)
			s->broken = "a block leaves its region";
		if (b->addr < s->last[region])
			s->broken = "blocks of a region come out of order or overlap";
		if (b->usable > b->cost + 16 || (unsigned)b->state >= HI_BLOCK_STATES ||
		    b->mmapped != r->mmapped_chunk)
			s->broken = "a block contradicts itself";
		s->last[region] = b->addr + b->usable;
		s->count[b->state]++;
		s->bytes[b->state] += b->cost;
		s->sum += b->addr * (b->state + 1);
	}
	s->n += n;
	return !s->stop_after || s->n < s->stop_after;
}

static struct hi_allocator *made;
static void release_made(void *arg)
{
	(void)arg;
	hi_allocator_release(made);
	made = NULL;
}
static struct hi_allocator *make(size_t i)
{
	hi_test_note("%s", subjects[i].name);
	hi_allocator_release(made);
	made = subjects[i].make();
	return made;
}

HI_TEST(allocator_contract, regions_are_sorted_and_disjoint)
{
	hi_test_defer(release_made, NULL);
	for (size_t k = 0; k < SUBJECTS; k++) {
		struct hi_allocator *a = make(k);

		HI_ASSERT(a->n_regions > 0 && a->n_regions < 64);
		for (size_t i = 0; i < a->n_regions; i++) {
			HI_ASSERT(a->regions[i].start < a->regions[i].end);
			HI_ASSERT(i == 0 || a->regions[i].start >= a->regions[i - 1].end);
		}
	}
}

HI_TEST(allocator_contract, blocks_come_in_order_inside_their_region_and_add_up)
{
	hi_test_defer(release_made, NULL);
	for (size_t k = 0; k < SUBJECTS; k++) {
		struct seen s = {.a = make(k)};
		struct hi_error err;

		HI_ASSERT_OK(hi_allocator_walk(made, look, &s, &err), &err);
		HI_ASSERT_MSG(!s.broken, "%s", s.broken);
		HI_ASSERT(s.n > 1000);
		for (int i = 0; i < HI_BLOCK_STATES; i++) {
			HI_ASSERT_EQ(s.count[i], made->count[i]);
			HI_ASSERT_EQ(s.bytes[i], made->bytes[i]);
		}
		HI_ASSERT_EQ(0, made->n_damage_total);
	}
}

HI_TEST(allocator_contract, a_second_walk_says_the_same)
{
	hi_test_defer(release_made, NULL);
	for (size_t k = 0; k < SUBJECTS; k++) {
		struct seen one = {.a = make(k)}, two = {.a = made};
		struct hi_error err;

		HI_ASSERT_OK(hi_allocator_walk(made, look, &one, &err), &err);
		HI_ASSERT_OK(hi_allocator_walk(made, look, &two, &err), &err);
		HI_ASSERT_EQ(one.sum, two.sum);
		HI_ASSERT_EQ(one.count[HI_BLOCK_LIVE], made->count[HI_BLOCK_LIVE]);
	}
}

HI_TEST(allocator_contract, false_stops_the_walk_and_it_is_ok)
{
	hi_test_defer(release_made, NULL);
	for (size_t k = 0; k < SUBJECTS; k++) {
		struct seen s = {.a = make(k), .stop_after = 1};
		struct hi_error err;

		HI_ASSERT_OK(hi_allocator_walk(made, look, &s, &err), &err);
		HI_ASSERT(s.n >= 1 && s.n <= 1024);
	}
}

HI_TEST(allocator_contract, several_threads_see_what_one_sees)
{
	hi_test_defer(release_made, NULL);
	for (size_t k = 0; k < SUBJECTS; k++) {
		static struct seen s, t;
		uint64_t live;
		struct hi_error err;

		memset(&s, 0, sizeof(s));
		memset(&t, 0, sizeof(t));
		s.a = t.a = make(k);
		HI_ASSERT_OK(hi_allocator_walk(made, look, &s, &err), &err);
		live = made->count[HI_BLOCK_LIVE];
		HI_ASSERT_OK(hi_allocator_walk_parallel(made, 4, look, &t, &err), &err);
		HI_ASSERT_EQ(s.sum, t.sum);
		HI_ASSERT_EQ(s.n, t.n);
		HI_ASSERT_EQ(live, made->count[HI_BLOCK_LIVE]);
	}
}

HI_TEST(allocator_contract, a_region_that_is_not_there_is_refused)
{
	hi_test_defer(release_made, NULL);
	for (size_t k = 0; k < SUBJECTS; k++) {
		struct seen s = {.a = make(k)};

		HI_ASSERT_STATUS(HI_NOT_FOUND,
				 made->ops->walk_region(made, (unsigned)made->n_regions,
							look, &s, NULL));
	}
}

HI_TEST(allocator_contract, the_registry_has_names_and_all_required_functions)
{
	for (size_t i = 0; hi_allocators[i]; i++) {
		HI_ASSERT(hi_allocators[i]->name && hi_allocators[i]->probe &&
			  hi_allocators[i]->walk && hi_allocators[i]->release);
		HI_ASSERT(!hi_allocators[i]->walk_region == !hi_allocators[i]->restart);
	}
}

static unsigned n_released;

static void count_release(struct hi_allocator *allocator)
{
	n_released++;
	free(allocator);
}

HI_TEST(allocator_contract, releasing_null_is_allowed)
{
	static const struct hi_allocator_ops ops = {.release = count_release};
	struct hi_allocator *allocator = calloc(1, sizeof(*allocator));

	HI_ASSERT(allocator);
	allocator->ops = &ops;
	n_released = 0;
	hi_allocator_release(NULL);
	HI_ASSERT_EQ(0, n_released);
	hi_allocator_release(allocator);
	HI_ASSERT_EQ(1, n_released);
}
