/* SPDX-License-Identifier: BSD-2-Clause */
/* Candidates and what is split off, against pairwise comparisons of plain lists. */
#include <stdlib.h>

#include "attach/mock.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "decode/inference/subobjects_internal.h"
#include "support/typing_world.h"
#include "tests/harness.h"
#include "tests/support/random.h"

HI_DEFINE_GUARD(struct hi_layouts *, hi_layouts_destroy)
#define OWNED(type) HI_GUARD(hi_##type##_destroy) struct hi_##type

#define HEAP 0x100000ull
#define POOL 0x4000000ull /* a mapping without blocks */
#define PAGE 4096ull
enum { POOL_SIZE = 4096, MAX_BLOCKS = 24, MAX_CANDIDATES = 160, EVIDENCE_SHIFT = 29 };

static struct hi_error err;
static uint64_t random_state;
/* ---- types ---- */

static struct hi_layouts *draw(struct world *w)
{
	struct hi_layouts *layouts;

	world_named(w, "long *"); /* 2: candidates are of types from 3 on */
	world_types(w, "struct inner { long a; long *p; };\n"
		       "struct both { inner one; inner two; };\n"
		       "struct other { long *x; long *y; long *z; };\n"
		       "struct table { long n; inner of[3]; };\n"
		       "union choice { both b; other o; };\n"
		       "struct wrapped { inner it; };\n"
		       "struct odd 20 { inner it; long s; };");
	HI_ASSERT_OK(hi_layouts_create(w->source.types, &layouts, &err), &err);
	for (hi_type_id id = 1; id < w->n_types; id++) {
		w->types[id].layout_hash = id * 7919 % 13;
		HI_ASSERT(hi_layouts_of(layouts, id) >= HI_LAYOUT_FIRST);
	}
	return layouts;
}

/* Everything that is inside a type, written out. */
static bool naive_has(const struct world *w, hi_type_id type, uint64_t offset,
		      hi_type_id wanted)
{
	const struct hi_type *t = &w->types[type];
	bool has = type == wanted && offset == 0;

	for (uint32_t i = 0; i < t->n_members; i++)
		if (t->members[i].offset <= offset)
			has |= naive_has(w, t->members[i].type,
					 offset - t->members[i].offset, wanted);
	for (uint64_t i = 0; t->kind == HI_KIND_ARRAY && i < t->count; i++)
		if (i * w->types[t->target].size <= offset)
			has |= naive_has(w, t->target,
					 offset - i * w->types[t->target].size, wanted);
	return has;
}

HI_TEST(subobjects, members_and_elements_are_found_in_a_type)
{
	struct world *w = world_create();
	OWNED(layouts) *layouts = draw(w);
	unsigned yes = 0;

	for (hi_type_id a = 1; a < w->n_types; a++)
		for (hi_type_id b = 1; b < w->n_types; b++)
			for (uint64_t offset = 0; offset < 64; offset++) {
				const struct hi_layout *x = hi_layouts_get(
					layouts, hi_layouts_of(layouts, a));
				const struct hi_layout *y = hi_layouts_get(
					layouts, hi_layouts_of(layouts, b));
				bool has = naive_has(w, a, offset, b);

				yes += has;
				HI_ASSERT_MSG(
					hi_layout_has_at(layouts, x, offset, y) == has,
					"%s at %d of %s", y->name, (int)offset, x->name);
			}
	HI_ASSERT(yes > 50);
}

HI_TEST(subobjects, types_that_contain_themselves_end)
{
	struct world *w = world_create();
	OWNED(layouts) *layouts = NULL;
	uint32_t b, word;

	world_types(w, "union a 64 { @0 b x; @0 b y; @0 b z; };\n"
		       "union b 64 { @0 a x; @0 a y; @0 b z; };");
	HI_ASSERT_OK(hi_layouts_create(w->source.types, &layouts, &err), &err);
	b = hi_layouts_of(layouts, world_named(w, "b"));
	word = hi_layouts_of(layouts, world_named(w, "long"));
	HI_ASSERT(!hi_layout_has_at(layouts, hi_layouts_get(layouts, b), 0,
				    hi_layouts_get(layouts, word)));
}

/* ---- a random heap and random candidates ---- */

struct candidate {
	uint64_t addr, size;
	hi_type_id type;
	bool array;
	unsigned evidence;
	bool conflict;
};

struct heap {
	struct world *w;
	struct hi_layouts *layouts;
	struct hi_image *image;
	struct hi_objects *objects;
	uint64_t extents[MAX_BLOCKS];
	struct candidate candidates[MAX_CANDIDATES]; /* distinct */
	unsigned n_candidates;
};

static void add_mapping(struct hi_image *image, struct hi_mapping m)
{
	if (!m.path)
		m.path = "";
	HI_ASSERT_OK(hi_image_add_mapping(image, &m, &err), &err);
}

static struct hi_image *empty_image(void)
{
	struct hi_memory *memory;
	struct hi_image *image;

	HI_ASSERT_OK(hi_memory_create_mock(&memory, &err), &err);
	HI_ASSERT_OK(hi_image_create_mock(memory, &image, &err), &err);
	hi_test_defer(hi_image_destroy, image);
	return image;
}

static void random_blocks(struct heap *h)
{
	struct hi_objects_builder *b;
	uint64_t addr = HEAP;
	unsigned region;

	HI_ASSERT_OK(hi_objects_builder_create(&b, &err), &err);
	hi_objects_builder_overhead(b, 0, 8);
	HI_ASSERT_OK(
		hi_objects_builder_region(b, HEAP, HEAP + 64 * PAGE, 4, &region, &err),
		&err);
	for (unsigned i = 0; i < MAX_BLOCKS; i++) {
		uint64_t usable = random_below(&random_state, 3)
					  ? 504 + 16 * random_below(&random_state, 60)
					  : 24 + 16 * random_below(&random_state, 40);
		uint8_t flags = random_below(&random_state, 8) ? 0 : HI_OBJECT_INTERNAL;

		HI_ASSERT_OK(hi_objects_builder_add(b, region, addr, usable, flags, &err),
			     &err);
		h->extents[i] = random_below(&random_state, 2) ? 0
				: random_below(&random_state, 4)
					? random_below(&random_state, 80)
					: 1ull << 60;
		addr += usable + 8 + 16 * random_below(&random_state, 4);
	}
	HI_ASSERT_OK(hi_objects_seal(b, &h->objects, &err), &err);
	for (unsigned i = 0; i < MAX_BLOCKS; i++)
		h->objects->type[i] = i + 1;
}

static bool is_known(const struct heap *h, const struct candidate *c)
{
	for (unsigned i = 0; i < h->n_candidates; i++)
		if (h->candidates[i].addr == c->addr &&
		    h->candidates[i].size == c->size &&
		    h->candidates[i].type == c->type &&
		    h->candidates[i].array == c->array)
			return true;
	return false;
}

static void random_candidates(struct heap *h)
{
	uint64_t end = hi_objects_address(h->objects, MAX_BLOCKS - 1) + 64;
	unsigned dense = random_below(&random_state, 2) ? 1 : 8;

	while (h->n_candidates < MAX_CANDIDATES) {
		hi_type_id type =
			(hi_type_id)(3 + random_below(&random_state, h->w->n_types - 3));
		struct candidate c = {
			.type = type,
			.size = h->w->types[type].size,
			.evidence = 3 + (unsigned)random_below(&random_state, 4)};

		c.addr =
			random_below(&random_state, 3)
				? HEAP + 8 * random_below(&random_state, (end - HEAP) / 8)
				: POOL + 8 * random_below(&random_state,
							  POOL_SIZE / 8 / dense);
		if (random_below(&random_state, 4) == 0) {
			c.array = true;
			c.size *= 2 + random_below(&random_state, 4);
		}
		if (!is_known(h, &c))
			h->candidates[h->n_candidates++] = c;
	}
}

static void heap_create(struct heap *h)
{
	*h = (struct heap){.w = world_create()};
	h->layouts = draw(h->w);
	h->image = empty_image();
	add_mapping(h->image, (struct hi_mapping){.start = HEAP,
						  .end = HEAP + 64 * PAGE,
						  .prot = 3,
						  .kind = HI_MAPPING_HEAP});
	add_mapping(h->image, (struct hi_mapping){.start = POOL,
						  .end = POOL + POOL_SIZE,
						  .prot = 3,
						  .kind = HI_MAPPING_ANONYMOUS});
	random_blocks(h);
	random_candidates(h);
}

/* ---- the truth ---- */

static const struct hi_layout *layout_of(const struct heap *h, const struct candidate *c)
{
	return hi_layouts_get(h->layouts, hi_layouts_of(h->layouts, c->type));
}

static bool may_be(const struct heap *h, const struct candidate *c)
{
	if (c->addr >= POOL)
		return c->addr + c->size <= POOL + POOL_SIZE;
	for (hi_node i = 0; i < h->objects->count; i++) {
		uint64_t addr = hi_objects_address(h->objects, i);
		uint64_t usable = hi_objects_usable(h->objects, i);

		if (c->addr >= addr && c->addr + c->size <= addr + usable)
			return (usable >= 512 ||
				(usable >= 192 && c->size * 8 <= usable)) &&
			       h->extents[i] < usable &&
			       (c->addr - addr >= h->extents[i] ||
				(c->addr == addr && c->size >= h->extents[i])) &&
			       !(h->objects->flags[i] & HI_OBJECT_INTERNAL);
	}
	return false;
}

static bool is_better(const struct heap *h, const struct candidate *a,
		      const struct candidate *b)
{
	int order = hi_layout_compare(layout_of(h, a), layout_of(h, b));

	if (order)
		return order > 0;
	if (a->addr != b->addr)
		return a->addr < b->addr;
	return a->size != b->size ? a->size > b->size : a->array > b->array;
}

static bool contains(const struct heap *h, const struct candidate *a,
		     const struct candidate *b)
{
	uint64_t offset = b->addr - a->addr;

	if (b->addr < a->addr || b->addr + b->size > a->addr + a->size)
		return false;
	if (a->array)
		offset %= h->w->types[a->type].size;
	return naive_has(h->w, a->type, offset, b->type);
}

struct truth {
	const struct candidate *is_split_off[MAX_CANDIDATES];
	struct candidate kept[MAX_CANDIDATES];
	unsigned n;
	struct hi_subobject_stats stats;
};

/* The best of those left, while there are any. */
static void resolve(const struct heap *h, struct truth *t)
{
	bool done[MAX_CANDIDATES] = {};

	*t = (struct truth){.stats.candidates = h->n_candidates};
	for (unsigned round = 0; round < h->n_candidates; round++) {
		unsigned best = MAX_CANDIDATES, explained = 0, in_the_way = 0;

		for (unsigned i = 0; i < h->n_candidates; i++)
			if (!done[i] &&
			    (best == MAX_CANDIDATES ||
			     is_better(h, &h->candidates[i], &h->candidates[best])))
				best = i;
		done[best] = true;
		const struct candidate *c = &h->candidates[best];
		struct candidate *with[MAX_CANDIDATES];

		if (!may_be(h, c)) {
			t->stats.misplaced++;
			continue;
		}
		for (unsigned i = 0; i < t->n; i++) {
			struct candidate *k = &t->kept[i];

			if (k->addr >= c->addr + c->size || c->addr >= k->addr + k->size)
				continue;
			with[in_the_way++] = k;
			explained += contains(h, k, c) || contains(h, c, k);
		}
		if (!in_the_way) {
			t->kept[t->n++] = *c;
		} else if (explained) {
			t->stats.explained++;
		} else {
			t->stats.conflicts++;
			for (unsigned i = 0; i < in_the_way; i++)
				with[i]->conflict = true;
		}
	}
}

static const struct candidate *kept_at(const struct truth *t, uint64_t addr)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->kept[i].addr == addr)
			return &t->kept[i];
	return NULL;
}

/* ---- ours ---- */

struct adding {
	const struct heap *h;
	struct hi_subobjects *subobjects;
	unsigned order[2 * MAX_CANDIDATES];
	_Atomic unsigned added;
};

/* Every candidate twice, once with less evidence. */
static void add_candidate(void *arg, size_t task, unsigned worker)
{
	struct adding *a = arg;
	unsigned i = a->order[task];
	const struct candidate *c = &a->h->candidates[i / 2];
	unsigned evidence = i & 1 ? c->evidence : 2;

	(void)worker;
	a->added += hi_subobjects_add(a->subobjects, c->addr, c->size,
				      layout_of(a->h, c)->index |
					      (c->array ? HI_KEY_ARRAY : 0) |
					      evidence << EVIDENCE_SHIFT);
}

static uint64_t extent(void *arg, hi_node id)
{
	const struct heap *h = arg;

	return h->extents[id];
}

#define PLACES(heap) (&(struct hi_subobject_places){.extent = extent, .arg = (heap)})

static void add_all(struct heap *h, struct hi_subobjects *subobjects, unsigned threads)
{
	struct adding a = {.h = h, .subobjects = subobjects};

	for (unsigned i = 0; i < 2 * h->n_candidates; i++) {
		unsigned k = (unsigned)random_below(&random_state, i + 1);

		a.order[i] = a.order[k];
		a.order[k] = i;
	}
	hi_parallel(threads, 2 * h->n_candidates, add_candidate, &a);
	HI_ASSERT_EQ(h->n_candidates, a.added);
	HI_ASSERT_EQ(h->n_candidates, hi_subobjects_count(subobjects));
}

/* Some may be refused. */
static void add_all_quietly(struct heap *h, struct hi_subobjects *subobjects)
{
	struct adding a = {.h = h, .subobjects = subobjects};

	for (unsigned i = 0; i < 2 * h->n_candidates; i++) {
		a.order[i] = i;
		add_candidate(&a, i, 0);
	}
}

static void check_node(const struct heap *h, const struct truth *t,
		       const struct hi_objects *o, hi_node id,
		       const struct hi_pools *pools)
{
	uint64_t addr = hi_objects_address(o, id);
	const struct candidate *c = kept_at(t, addr);
	hi_node block = hi_objects_find(h->objects, addr, NULL);

	if (!c) {
		HI_ASSERT(block != HI_NODE_NONE);
		HI_ASSERT_EQ(addr == hi_objects_address(h->objects, block) ? block + 1
									   : 0,
			     o->type[id]);
		return;
	}
	HI_ASSERT_EQ(layout_of(h, c)->index | (c->array ? (uint32_t)HI_KEY_ARRAY : 0) |
			     c->evidence << EVIDENCE_SHIFT,
		     o->type[id]);
	HI_ASSERT_EQ(c->conflict, (o->flags[id] & HI_OBJECT_CONFLICT) != 0);
	HI_ASSERT(hi_objects_usable(o, id) >= c->size);
	HI_ASSERT(hi_objects_usable(o, id) < c->size + HI_SUBOBJECT_GAP);
	HI_ASSERT(!(pools->is_remainder[id / 64] >> (id & 63) & 1));
}

static void check_outside(const struct truth *t, const struct hi_subobjects *c)
{
	const struct hi_range *ranges;
	size_t n = hi_subobjects_outside(c, &ranges);

	for (uint64_t addr = POOL; addr < POOL + POOL_SIZE; addr++) {
		bool is_split_off = false, told = false;

		for (unsigned i = 0; i < t->n; i++)
			is_split_off |=
				addr >= t->kept[i].addr &&
				addr < t->kept[i].addr + (t->kept[i].size + 7) / 8 * 8;
		for (size_t i = 0; i < n; i++) {
			told |= addr >= ranges[i].start && addr < ranges[i].end;
			HI_ASSERT(i == 0 || ranges[i - 1].end < ranges[i].start);
			HI_ASSERT(ranges[i].start >= POOL);
		}
		HI_ASSERT_EQ(is_split_off, told);
	}
}

static void check_sums(const struct heap *h, const struct truth *t,
		       const struct hi_objects *o, const struct hi_subobject_stats *stats)
{
	uint64_t before = 0, after = 0, bytes = 0, outside = 0, outside_bytes = 0;

	for (hi_node i = 0; i < h->objects->count; i++)
		before += hi_objects_cost(h->objects, i);
	for (hi_node i = 0; i < o->count; i++)
		after += hi_objects_cost(o, i);
	for (unsigned i = 0; i < t->n; i++) {
		bool is_outside = t->kept[i].addr >= POOL;

		bytes += t->kept[i].size;
		outside += is_outside;
		outside_bytes += is_outside ? t->kept[i].size : 0;
	}
	HI_ASSERT_EQ(before + outside_bytes, after);
	HI_ASSERT_EQ(t->n, stats->count);
	HI_ASSERT_EQ(bytes, stats->bytes);
	HI_ASSERT_EQ(outside, stats->outside);
	HI_ASSERT_EQ(t->stats.candidates, stats->candidates);
	HI_ASSERT_EQ(t->stats.misplaced, stats->misplaced);
	HI_ASSERT_EQ(t->stats.explained, stats->explained);
	HI_ASSERT_EQ(t->stats.conflicts, stats->conflicts);
}

static void split_and_check(struct heap *h, const struct truth *t, unsigned threads)
{
	OWNED(subobjects) *c = NULL;
	OWNED(objects) *o = NULL;
	struct hi_subobject_stats stats;
	struct hi_pools pools;
	unsigned found = 0;

	HI_ASSERT_OK(hi_subobjects_create(h->image, NULL, NULL, h->objects, &c, &err),
		     &err);
	add_all(h, c, threads);
	HI_ASSERT_OK(hi_subobjects_split(c, h->layouts, h->objects, PLACES(h), &o, &pools,
					 &stats, &err),
		     &err);
	HI_ASSERT(o);
	for (hi_node i = 0; i < o->count; i++) {
		check_node(h, t, o, i, &pools);
		found += kept_at(t, hi_objects_address(o, i)) != NULL;
	}
	HI_ASSERT_EQ(t->n, found);
	check_sums(h, t, o, &stats);
	check_outside(t, c);
	hi_pools_free(&pools);
}

HI_TEST(subobjects, random_candidates_agree_with_pairwise_comparison)
{
	uint64_t conflicts = 0, explained = 0;
	static struct heap h;
	static struct truth t;

	for (unsigned i = 0; i < 60; i++) {
		random_state = 0x9e3779b97f4a7c15 + i;
		h.w = NULL;
		heap_create(&h);
		resolve(&h, &t);
		for (unsigned threads = 1; threads <= 4; threads += 3)
			split_and_check(&h, &t, threads);
		conflicts += t.stats.conflicts;
		explained += t.stats.explained;
		hi_objects_destroy(h.objects);
		hi_layouts_destroy(h.layouts);
	}
	HI_ASSERT(conflicts > 100 && explained > 100);
}

/* ---- limits and failures ---- */

static struct hi_subobjects *subobjects_of(struct heap *h)
{
	struct hi_subobjects *c;

	HI_ASSERT_OK(hi_subobjects_create(h->image, NULL, NULL, h->objects, &c, &err),
		     &err);
	return c;
}

HI_TEST(subobjects, beyond_the_limit_nothing_is_split_off_in_any_order)
{
	static struct heap h;

	random_state = 5;
	heap_create(&h);
	for (unsigned round = 0; round < 4; round++) {
		OWNED(subobjects) *c = subobjects_of(&h);
		struct hi_objects *o = NULL;
		struct hi_subobject_stats stats;
		struct hi_pools pools;

		c->max_candidates = h.n_candidates - round % 2;
		add_all_quietly(&h, c);
		HI_ASSERT_EQ(round % 2, hi_subobjects_failed(c));
		HI_ASSERT_EQ(round % 2, hi_subobjects_at_limit(c));
		HI_ASSERT_OK(hi_subobjects_split(c, h.layouts, h.objects, PLACES(&h), &o,
						 &pools, &stats, &err),
			     &err);
		HI_ASSERT_EQ(round % 2, stats.at_limit);
		HI_ASSERT_EQ(round % 2, o == NULL);
		hi_objects_destroy(o);
		hi_pools_free(&pools);
	}
	hi_objects_destroy(h.objects);
	hi_layouts_destroy(h.layouts);
}

HI_TEST(subobjects, invalid_candidates_are_not_taken)
{
	static struct heap h;

	random_state = 5;
	heap_create(&h);
	OWNED(subobjects) *c = subobjects_of(&h);
	uint32_t key = layout_of(&h, &h.candidates[0])->index | 4u << EVIDENCE_SHIFT;

	HI_ASSERT(!hi_subobjects_add(c, 0, 16, key));
	HI_ASSERT(!hi_subobjects_add(c, POOL + 4, 16, key));
	HI_ASSERT(!hi_subobjects_add(c, POOL, 7, key));
	HI_ASSERT(!hi_subobjects_add(c, POOL, 1ull << 43, key));
	HI_ASSERT(!hi_subobjects_add(c, 1ull << 56, 16, key));
	HI_ASSERT(!hi_subobjects_add(c, POOL, 16, HI_LAYOUT_NOTHING));
	HI_ASSERT_EQ(0, hi_subobjects_count(c));
	HI_ASSERT(!hi_subobjects_failed(c));
	/* The largest ones come through whole. */
	HI_ASSERT(hi_subobjects_add(c, (1ull << 56) - 8, (1ull << 43) - 1, key));
	HI_ASSERT(!hi_subobjects_add(c, (1ull << 56) - 8, (1ull << 43) - 1, key));
	HI_ASSERT(hi_subobjects_add(c, (1ull << 56) - 8, (1ull << 42) - 1, key));
	struct hi_objects *o = NULL;
	struct hi_subobject_stats stats;
	struct hi_pools pools;

	HI_ASSERT_OK(hi_subobjects_split(c, h.layouts, h.objects, PLACES(&h), &o, &pools,
					 &stats, &err),
		     &err);
	HI_ASSERT(!o && !pools.items && !pools.is_remainder);
	HI_ASSERT_EQ(2, stats.misplaced);
	hi_objects_destroy(h.objects);
	hi_layouts_destroy(h.layouts);
}

static enum hi_status split_all(struct heap *h)
{
	struct hi_subobjects *c = NULL;
	struct hi_objects *o = NULL;
	struct hi_subobject_stats stats;
	struct hi_pools pools = {};
	enum hi_status status =
		hi_subobjects_create(h->image, NULL, NULL, h->objects, &c, &err);

	if (status == HI_OK) {
		add_all_quietly(h, c);
		status = hi_subobjects_split(c, h->layouts, h->objects, PLACES(h), &o,
					     &pools, &stats, &err);
	}
	hi_subobjects_destroy(c);
	hi_objects_destroy(o);
	hi_pools_free(&pools);
	return status;
}

HI_TEST(subobjects, any_allocation_may_fail)
{
	static struct heap h;
	enum hi_status status;
	uint64_t nth = 0;

	random_state = 5;
	heap_create(&h);
	do {
		hi_alloc_fail_at(++nth);
		status = split_all(&h);
		hi_alloc_fail_at(0);
		HI_ASSERT(status == HI_OK || status == HI_NO_MEMORY);
	} while (status != HI_OK);
	HI_ASSERT(nth > 50);
	hi_objects_destroy(h.objects);
	hi_layouts_destroy(h.layouts);
}

/* All candidates at one address, or each over the end of the one before: what a
 * hostile target can do at most. */
HI_TEST(subobjects, many_overlaps_take_no_quadratic_time)
{
	enum { MANY = 200000 };
	static struct heap h;

	random_state = 5;
	heap_create(&h);
	h.image = empty_image();
	add_mapping(h.image, (struct hi_mapping){.start = POOL,
						 .end = POOL + MANY * 8 + PAGE,
						 .prot = 3,
						 .kind = HI_MAPPING_ANONYMOUS});
	OWNED(subobjects) *c = subobjects_of(&h);
	OWNED(objects) *o = NULL;
	struct hi_subobject_stats stats;
	struct hi_pools pools;
	struct candidate both = {.type = world_named(h.w, "both")};

	for (uint64_t i = 0; i < MANY; i++)
		HI_ASSERT(hi_subobjects_add(c, POOL + 8 * i, 32,
					    layout_of(&h, &both)->index));
	HI_ASSERT_OK(hi_subobjects_split(c, h.layouts, h.objects, PLACES(&h), &o, &pools,
					 &stats, &err),
		     &err);
	HI_ASSERT_EQ(MANY / 4, stats.count);
	HI_ASSERT_EQ(MANY - MANY / 4, stats.conflicts);
	hi_pools_free(&pools);
	hi_objects_destroy(h.objects);
	hi_layouts_destroy(h.layouts);
}

/* ---- memory without blocks ---- */

/* One character a page from 0x10000 on, '.' is not mapped: data of a file d, code
 * x, another file f, anonymous a, heap h, a stack's guard g, shared s, read-only r. */
static void draw_mappings(struct hi_image *image, const char *pages)
{
	static const struct {
		char page;
		uint8_t prot;
		enum hi_mapping_kind kind;
		uint64_t inode;
	} kinds[] = {
		{'d', 3, HI_MAPPING_FILE, 1},  {'x', 5, HI_MAPPING_FILE, 1},
		{'f', 1, HI_MAPPING_FILE, 2},  {'a', 3, HI_MAPPING_ANONYMOUS, 0},
		{'h', 3, HI_MAPPING_HEAP, 0},  {'g', 0, HI_MAPPING_ANONYMOUS, 0},
		{'s', 3, HI_MAPPING_SHMEM, 0}, {'r', 1, HI_MAPPING_ANONYMOUS, 0},
		{'t', 3, HI_MAPPING_STACK, 0},
	};

	for (size_t i = 0, end; pages[i]; i = end) {
		for (end = i + 1; pages[end] == pages[i]; end++)
			;
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			if (kinds[k].page == pages[i])
				add_mapping(image, (struct hi_mapping){
							   .start = 0x10000 + i * PAGE,
							   .end = 0x10000 + end * PAGE,
							   .prot = kinds[k].prot,
							   .kind = kinds[k].kind,
							   .inode = kinds[k].inode});
	}
}

static void check_ranges(const struct hi_subobjects *c, const char *expected)
{
	for (size_t i = 0; expected[i]; i++)
		for (uint64_t at = 0; at < PAGE; at += 8) {
			uint64_t addr = 0x10000 + i * PAGE + at, start = 0, end = 0;
			bool in = hi_subobjects_range(c, addr, &start, &end);
			size_t first = i, last = i;

			HI_ASSERT_MSG(in == (expected[i] == '+'), "page %zu", i);
			if (!in)
				continue;
			while (first > 0 && expected[first - 1] == '+')
				first--;
			while (expected[last] == '+')
				last++;
			HI_ASSERT_EQ(0x10000 + first * PAGE, start);
			HI_ASSERT_EQ(0x10000 + last * PAGE, end);
		}
}

static void add_thread(struct hi_image *image, size_t sp_page, size_t fs_page)
{
	struct hi_thread t = {.tid = 1};

	t.regs.rsp = 0x10000 + sp_page * PAGE + 64;
	t.regs.fs_base = 0x10000 + fs_page * PAGE + 0x6c0;
	HI_ASSERT_OK(hi_image_add_thread(image, &t, &err), &err);
}

HI_TEST(subobjects, ranges_are_memory_that_is_nothing_else)
{
	struct hi_image *image = empty_image();
	struct hi_heap_region regions[] = {
		{.start = 0x10000 + 17 * PAGE, .end = 0x10000 + 18 * PAGE},
		{.start = 0x10000 + 40 * PAGE, .end = 0x10000 + 42 * PAGE}};
	struct hi_allocator allocator = {.regions = regions, .n_regions = 2};
	OWNED(subobjects) *c = NULL;
	OWNED(objects) *objects = NULL;
	struct hi_objects_builder *b;
	uint64_t low, high;

	HI_ASSERT_OK(hi_objects_builder_create(&b, &err), &err);
	HI_ASSERT_OK(hi_objects_seal(b, &objects, &err), &err);
	/*		      0         1         2         3         4         5 */
	/*		      0123456789012345678901234567890123456789012345678901234567
	 */
	draw_mappings(image,
		      "xddaa.ffaaa.s.rhhhh.gaaaaaa..aaa...g.aaaaaaaa.a.ttt.aaa...");
	add_thread(image, 22, 24); /* below its control block; what is above is not its */
	add_thread(image, 49, 30); /* static data in a small mapping */
	add_thread(image, 53, 46); /* a stack without a control block above it */
	HI_ASSERT_OK(hi_subobjects_create(image, NULL, &allocator, objects, &c, &err),
		     &err);
	check_ranges(c, "........+++....++.+......++....+.....+++..+++.............");
	hi_subobjects_bounds(c, &low, &high);
	HI_ASSERT_EQ(0x10000 + 8 * PAGE, low);
	HI_ASSERT_EQ(0x10000 + 45 * PAGE, high);
	HI_ASSERT_OK(
		hi_subobjects_exclude(c, 0x10000 + 9 * PAGE, 0x10000 + 16 * PAGE, &err),
		&err);
	check_ranges(c, "........+.......+.+......++....+.....+++..+++.............");
}
