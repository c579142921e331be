/* SPDX-License-Identifier: BSD-2-Clause */
/* The object table and its lookup, against a linear search over plain arrays. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "census/graph/objects.h"
#include "tests/harness.h"
#include "tests/support/random.h"

#define OWNED HI_GUARD(hi_objects_destroy) struct hi_objects

static uint64_t random_state;

static struct hi_objects_builder *builder(void)
{
	struct hi_objects_builder *b;
	struct hi_error err;

	HI_ASSERT_OK(hi_objects_builder_create(&b, &err), &err);
	return b;
}

static unsigned region(struct hi_objects_builder *b, uint64_t start, uint64_t end,
		       unsigned shift)
{
	struct hi_error err;
	unsigned index;

	HI_ASSERT_OK(hi_objects_builder_region(b, start, end, shift, &index, &err), &err);
	return index;
}

static void add(struct hi_objects_builder *b, unsigned r, uint64_t addr, uint64_t usable)
{
	struct hi_error err;

	HI_ASSERT_OK(hi_objects_builder_add(b, r, addr, usable, 0, &err), &err);
}

static struct hi_objects *seal(struct hi_objects_builder *b)
{
	struct hi_objects *o;
	struct hi_error err;

	HI_ASSERT_OK(hi_objects_seal(b, &o, &err), &err);
	return o;
}

/* ---- the truth ---- */

enum { MAX_TRUTH = 4000 };
struct truth {
	struct {
		uint64_t addr, usable;
		uint8_t flags;
	} objects[MAX_TRUTH];
	uint32_t count;
};

static hi_node truth_find(const struct truth *t, uint64_t addr, uint64_t *offset)
{
	for (uint32_t i = 0; i < t->count; i++) {
		*offset = addr - t->objects[i].addr;
		if (*offset == 0 || *offset < t->objects[i].usable)
			return i;
	}
	return HI_NODE_NONE;
}

static int by_address(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static uint64_t random_size(uint64_t room, bool huge)
{
	uint64_t size = 0;

	switch (random_below(&random_state, 8)) {
	case 0:
		size = 0;
		break;
	case 1:
		size = random_below(&random_state, 100000);
		break;
	case 2:
		size = huge ? random_below(&random_state, 7ull << 30)
			    : random_below(&random_state, 5000);
		break;
	default:
		size = 1 + random_below(&random_state, 200);
	}
	return size < room ? size : room;
}

/* One region after start; returns its end. */
static uint64_t random_region(struct hi_objects_builder *b, struct truth *t,
			      uint64_t start, bool huge)
{
	unsigned shift = random_below(&random_state, 2) ? 4 : 3, r;
	uint64_t granule = 1ull << shift;
	uint64_t size =
		granule *
		(1 + random_below(&random_state, huge ? 3u << 27
						 : random_below(&random_state, 2) ? 2000
										  : 20));
	uint64_t addr = (start + granule - 1) & ~(granule - 1);
	uint64_t wanted =
		random_below(&random_state, 6) ? random_below(&random_state, 60) : 1;

	r = region(b, start, start + size + 16, shift);
	for (; wanted && t->count < MAX_TRUTH; wanted--) {
		uint64_t usable, used;

		if (random_below(&random_state, 3) == 0) /* a gap */
			addr += granule *
				random_below(&random_state,
					     random_below(&random_state, 2) ? 3 : 300);
		if (addr >= start + size)
			break;
		usable = random_size(start + size - addr, huge);
		add(b, r, addr, usable);
		t->objects[t->count].addr = addr;
		t->objects[t->count++].usable = usable;
		used = usable ? usable : 1;
		addr += (used + granule - 1) & ~(granule - 1);
	}
	return start + size + 16;
}

static uint64_t random_address(const struct truth *t, uint64_t low, uint64_t high)
{
	uint32_t i;

	if (t->count == 0 || random_below(&random_state, 5) == 0)
		return low - 64 + random_below(&random_state, high - low + 128);
	i = (uint32_t)random_below(&random_state, t->count);
	switch (random_below(&random_state, 5)) {
	case 0:
		return t->objects[i].addr;
	case 1:
		return t->objects[i].addr + t->objects[i].usable;
	case 2:
		return t->objects[i].addr + t->objects[i].usable - 1;
	case 3:
		return t->objects[i].addr - 1 - random_below(&random_state, 40);
	default:
		return t->objects[i].addr +
		       random_below(&random_state, t->objects[i].usable + 20);
	}
}

static void check_columns(const struct hi_objects *o, const struct truth *t)
{
	HI_ASSERT_EQ(t->count, o->count);
	for (uint32_t i = 0; i < t->count; i++) {
		HI_ASSERT_EQ(t->objects[i].addr, hi_objects_address(o, i));
		HI_ASSERT_EQ(t->objects[i].usable, hi_objects_usable(o, i));
		HI_ASSERT(t->objects[i].addr >= o->low && t->objects[i].addr < o->high);
	}
}

enum { N_WORDS = 700 };
static void check_lookup(const struct hi_objects *o, const struct truth *t, uint64_t low,
			 uint64_t high)
{
	uint64_t words[N_WORDS] = {};
	struct hi_hit hits[N_WORDS];
	size_t n = random_below(&random_state, N_WORDS), n_hits, k = 0;

	for (size_t i = 0; i < n; i++)
		words[i] = random_address(t, low, high);
	n_hits = hi_objects_find_many(o, words, n, hits);
	for (size_t i = 0; i < n; i++) {
		uint64_t offset, found_offset = 0;
		hi_node id = truth_find(t, words[i], &offset);

		HI_ASSERT_EQ(id, hi_objects_find(o, words[i], &found_offset));
		if (id == HI_NODE_NONE)
			continue;
		HI_ASSERT_EQ(offset, found_offset);
		HI_ASSERT(k < n_hits);
		HI_ASSERT_EQ(i, hits[k].index);
		HI_ASSERT_EQ(id, hits[k].id);
		HI_ASSERT_EQ(offset != 0, hits[k].interior);
		k++;
	}
	HI_ASSERT_EQ(n_hits, k);
}

static void random_table(bool huge)
{
	static struct truth t;
	struct hi_objects_builder *b = builder();
	uint64_t low = 0x10000 + 8 * random_below(&random_state, 100), at = low;
	OWNED *o = NULL;

	t.count = 0;
	for (uint64_t n = random_below(&random_state,
				       huge || random_below(&random_state, 4) ? 6 : 60);
	     n; n--) {
		at = random_region(b, &t, at, huge);
		if (random_below(&random_state, 2))
			at += 8 * random_below(&random_state, huge ? 4ull << 30 : 500);
	}
	qsort(t.objects, t.count, sizeof(t.objects[0]), by_address);
	o = seal(b);
	check_columns(o, &t);
	for (int i = 0; i < 5; i++)
		check_lookup(o, &t, low, at);
}

HI_TEST(objects, lookup_equals_a_linear_search_on_random_tables)
{
	for (unsigned seed = 1; seed <= 600; seed++) {
		random_state = seed * 0x9e3779b97f4a7c15;
		random_table(false);
	}
}

HI_TEST(objects, lookup_equals_a_linear_search_across_4_gib)
{
	for (unsigned seed = 1; seed <= 25; seed++) {
		random_state = seed * 0x9e3779b97f4a7c15;
		random_table(true);
	}
}

HI_TEST(objects, an_empty_table_finds_nothing)
{
	uint64_t words[3] = {0, 4096, UINT64_MAX};
	struct hi_hit hits[3];
	OWNED *o = seal(builder());

	HI_ASSERT_EQ(0, o->count);
	HI_ASSERT_EQ(HI_NODE_NONE, hi_objects_find(o, 0, NULL));
	HI_ASSERT_EQ(HI_NODE_NONE, hi_objects_find(o, UINT64_MAX, NULL));
	HI_ASSERT_EQ(0, hi_objects_find_many(o, words, 3, hits));
}

HI_TEST(objects, regions_may_come_in_any_order)
{
	struct hi_objects_builder *b = builder();
	unsigned high = region(b, 0x7f0000000000, 0x7f0000001000, 4);
	unsigned low = region(b, 0x1000, 0x2000, 4), mid = region(b, 0x9000, 0xa000, 3);
	OWNED *o = NULL;

	add(b, high, 0x7f0000000010, 24);
	add(b, mid, 0x9008, 8);
	add(b, low, 0x1010, 24);
	add(b, low, 0x1030, 24);
	o = seal(b);
	HI_ASSERT_EQ(0, hi_objects_find(o, 0x1010, NULL));
	HI_ASSERT_EQ(1, hi_objects_find(o, 0x1030, NULL));
	HI_ASSERT_EQ(2, hi_objects_find(o, 0x9008, NULL));
	HI_ASSERT_EQ(3, hi_objects_find(o, 0x7f0000000010, NULL));
	HI_ASSERT_EQ(2, o->n_windows);
}

HI_TEST(objects, flags_and_overhead_make_the_cost)
{
	struct hi_objects_builder *b = builder();
	unsigned r = region(b, 0x1000, 0x9000, 4);
	struct hi_error err;
	OWNED *o = NULL;

	hi_objects_builder_overhead(b, 0, 8);
	hi_objects_builder_overhead(b, 1, 16);
	HI_ASSERT_OK(hi_objects_builder_add(b, r, 0x1010, 24, 0, &err), &err);
	HI_ASSERT_OK(hi_objects_builder_add(
			     b, r, 0x1030, 40,
			     HI_OBJECT_INTERNAL | 1 << HI_OBJECT_OVERHEAD_SHIFT, &err),
		     &err);
	o = seal(b);
	HI_ASSERT_EQ(32, hi_objects_cost(o, 0));
	HI_ASSERT_EQ(56, hi_objects_cost(o, 1));
	HI_ASSERT(o->flags[1] & HI_OBJECT_INTERNAL);
	HI_ASSERT_EQ(0, o->type[1]);
}

/* ---- refusals ---- */

HI_TEST(objects, misplaced_objects_are_refused)
{
	HI_GUARD(hi_objects_builder_destroy) struct hi_objects_builder *b = builder();
	unsigned r = region(b, 0x1000, 0x2000, 4);
	static const struct {
		uint64_t addr, usable;
	} bad[] = {
		{0x1018, 8},	      /* unaligned */
		{0x1010, 8},	      /* before the last one */
		{0x1020, 8},	      /* the last one again */
		{0x1030, 8},	      /* inside the last one */
		{0xff0, 8},	      /* below the region */
		{0x2000, 0},	      /* above it */
		{0x1ff0, 17},	      /* ends above it */
		{0x1100, UINT64_MAX}, /* wraps */
		{UINT64_MAX - 15, 8},
	};

	add(b, r, 0x1020, 0x18);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct hi_error err = {};

		HI_ASSERT_STATUS(HI_BAD_DATA,
				 hi_objects_builder_add(b, r, bad[i].addr, bad[i].usable,
							0, &err));
		HI_ASSERT_EQ(bad[i].addr, err.address);
	}
	add(b, r, 0x1040, 8);
}

HI_TEST(objects, regions_that_overlap_or_have_no_room_are_refused)
{
	HI_GUARD(hi_objects_builder_destroy) struct hi_objects_builder *b = builder();
	static const uint64_t bad[][2] = {
		{0x1000, 0x2000}, {0x0800, 0x1001}, {0x1fff, 0x3000},
		{0x1800, 0x1900}, {0x0500, 0x5000}, {0x6000, 0x6000},
		{0x7000, 0x6000}, {0x6001, 0x6008}, {UINT64_MAX - 3, UINT64_MAX},
	};
	struct hi_error err;
	unsigned index;

	region(b, 0x1000, 0x2000, 4);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		HI_ASSERT_STATUS(HI_BAD_DATA,
				 hi_objects_builder_region(b, bad[i][0], bad[i][1], 4,
							   &index, &err));
	HI_ASSERT_EQ(1, region(b, 0x2000, 0x3000, 4));
	HI_ASSERT_EQ(2, region(b, 0x500, 0x1000, 4));
}

/* ---- many regions, large objects, threads ---- */

HI_TEST(objects, ten_thousand_regions_of_one_chunk)
{
	enum { N = 10000 };
	struct hi_objects_builder *b = builder();
	uint64_t base = 0x7f0000000000;
	OWNED *o = NULL;

	for (uint64_t i = 0; i < N; i++) {
		uint64_t start = base + i * 0x40000;

		add(b, region(b, start, start + 0x31000, 4), start + 0x10, 0x30ff0);
	}
	o = seal(b);
	HI_ASSERT_EQ(N, o->count);
	for (uint32_t i = 0; i < N; i++) {
		uint64_t start = base + i * 0x40000ull, offset = 0;

		HI_ASSERT_EQ(i, hi_objects_find(o, start + 0x10, NULL));
		HI_ASSERT_EQ(i, hi_objects_find(o, start + 0x30fff, &offset));
		HI_ASSERT_EQ(0x30fef, offset);
		HI_ASSERT_EQ(HI_NODE_NONE, hi_objects_find(o, start + 0x31000, NULL));
		HI_ASSERT_EQ(HI_NODE_NONE, hi_objects_find(o, start + 8, NULL));
	}
}

struct filler {
	struct hi_objects_builder *b;
	unsigned regions[64];
};

static void fill_region(void *arg, size_t task, unsigned worker)
{
	struct filler *f = arg;
	uint64_t start = 0x100000 * (task + 1);

	(void)worker;
	for (uint64_t i = 0; i < 1000; i++)
		if (hi_objects_builder_add(f->b, f->regions[task], start + i * 32, 24, 0,
					   NULL) != HI_OK)
			return;
}

HI_TEST(objects, regions_are_filled_by_several_threads_at_once)
{
	struct filler f = {.b = builder()};
	OWNED *o = NULL;

	for (uint64_t i = 0; i < 64; i++)
		f.regions[i] = region(f.b, 0x100000 * (i + 1), 0x100000 * (i + 2), 4);
	hi_parallel(4, 64, fill_region, &f);
	o = seal(f.b);
	HI_ASSERT_EQ(64000, o->count);
	for (uint32_t i = 0; i < 64000; i++)
		HI_ASSERT_EQ(0x100000ull * (i / 1000 + 1) + i % 1000 * 32ull,
			     hi_objects_address(o, i));
}

/* ---- out of memory ---- */

static enum hi_status build_some(struct hi_objects **ret, struct hi_error *err)
{
	struct hi_objects_builder *b;
	enum hi_status status = hi_objects_builder_create(&b, err);

	if (status != HI_OK)
		return status;
	for (unsigned i = 0; i < 40 && status == HI_OK; i++) {
		/* Two of them hold an object of 4 GiB. */
		uint64_t big = i < 2 ? 0x100000000 : 0x10000;
		uint64_t start = 0x10000000000ull * (i + 1);
		unsigned r;

		status = hi_objects_builder_region(b, start, start + 0x101000000, 4, &r,
						   err);
		if (status == HI_OK)
			status = hi_objects_builder_add(b, r, start, big, 0, err);
		for (unsigned k = 0; k < i && status == HI_OK; k++)
			status = hi_objects_builder_add(
				b, r, start + 0x100000000 + 32 * k, 24, 0, err);
	}
	if (status != HI_OK) {
		hi_objects_builder_destroy(b);
		return status;
	}
	return hi_objects_seal(b, ret, err);
}

HI_TEST(objects, every_failed_allocation_is_reported_and_nothing_leaks)
{
	struct hi_objects *o = NULL;
	enum hi_status status = HI_NO_MEMORY;
	uint64_t nth;

	for (nth = 1; status != HI_OK && nth < 50000; nth++) {
		struct hi_error err = {};

		hi_alloc_fail_at(nth);
		status = build_some(&o, &err);
		hi_alloc_fail_at(0);
		HI_ASSERT(status == HI_OK || status == HI_NO_MEMORY);
		HI_ASSERT(status == HI_OK || (!o && err.status == HI_NO_MEMORY));
	}
	HI_ASSERT(nth > 100 && status == HI_OK);
	hi_objects_destroy(o);
}
