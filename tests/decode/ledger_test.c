/* SPDX-License-Identifier: BSD-2-Clause */
/* The ledger adds up: on images whose residency the test decides page by page. */
#include <stdlib.h>
#include <string.h>

#include "attach/frozen_memory.h"
#include "attach/image.h"
#include "attach/image_internal.h"
#include "base/alloc.h"
#include "decode/allocators/joined.h"
#include "decode/usage/ledger.h"
#include "tests/harness.h"
#include "tests/support/random.h"

#define HEAP 0x10000000ull
#define STACK 0x20000000ull
#define TEXT 0x30000000ull
#define PAGE 4096ull
enum { HEAP_PAGES = 16, BLOCKS = HEAP_PAGES * 16 };

/* An allocator with 16 blocks of 256 bytes a page: live, live, free, internal,
 * tcache, … in turn. */
static enum hi_block_state state_of(unsigned i)
{
	static const enum hi_block_state states[] = {
		HI_BLOCK_LIVE,	   HI_BLOCK_LIVE,	 HI_BLOCK_FREE_BIN,
		HI_BLOCK_INTERNAL, HI_BLOCK_FREE_TCACHE, HI_BLOCK_FREE_FASTBIN,
		HI_BLOCK_LIVE,	   HI_BLOCK_FREE_TOP};

	return states[i % 8];
}

static enum hi_status walk_region(struct hi_allocator *a, unsigned region,
				  hi_blocks_fn *fn, void *arg, struct hi_error *err)
{
	(void)err;
	for (unsigned i = 0; i < BLOCKS; i++) {
		struct hi_block b = {.addr = HEAP + i * 256 + 16,
				     .usable = 232,
				     .cost = 240, /* the rest is fragmentation */
				     .state = state_of(i)};

		a->count[b.state]++;
		a->bytes[b.state] += b.cost;
		if (!fn(&b, 1, region, arg))
			break;
	}
	return HI_OK;
}

static void restart(struct hi_allocator *a)
{
	memset(a->count, 0, sizeof(a->count));
	memset(a->bytes, 0, sizeof(a->bytes));
}

static enum hi_status walk(struct hi_allocator *a, hi_blocks_fn *fn, void *arg,
			   struct hi_error *err)
{
	restart(a);
	return walk_region(a, 0, fn, arg, err);
}

static void release(struct hi_allocator *a)
{
	(void)a;
}

static const struct hi_allocator_ops ops = {.name = "mock",
					    .states = (1u << HI_BLOCK_STATES) - 1,
					    .walk = walk,
					    .walk_region = walk_region,
					    .restart = restart,
					    .release = release};
static const struct hi_heap_region region = {
	.start = HEAP, .end = HEAP + HEAP_PAGES * PAGE, .header = 16};

/* Page i of the heap is resident if bit i of `present` is set; of the stack 3
 * of 8 pages, of the text 2 of 4. known false: as a core. */
static struct hi_image *make_image(uint32_t present, bool known)
{
	struct hi_mapping mappings[] = {{.start = HEAP,
					 .end = HEAP + HEAP_PAGES * PAGE,
					 .prot = 3,
					 .kind = HI_MAPPING_HEAP,
					 .path = "[heap]"},
					{.start = STACK,
					 .end = STACK + 8 * PAGE,
					 .prot = 3,
					 .kind = HI_MAPPING_ANONYMOUS,
					 .path = ""},
					{.start = TEXT,
					 .end = TEXT + 4 * PAGE,
					 .prot = 5,
					 .kind = HI_MAPPING_FILE,
					 .path = "/lib/x"}};
	struct hi_thread thread = {.tid = 1, .regs.rsp = STACK + 7 * PAGE};
	struct hi_pages *pages = hi_calloc(64, sizeof(*pages));
	static unsigned char bytes[HEAP_PAGES * PAGE];
	struct hi_frozen *frozen;
	struct hi_image *image;
	struct hi_error err;
	size_t n = 0;

	HI_ASSERT(pages);
	for (unsigned i = 0; i < HEAP_PAGES; i++)
		if (present >> i & 1)
			pages[n++] = (struct hi_pages){
				HEAP + i * PAGE, HEAP + (i + 1) * PAGE, HI_PAGES_PRESENT};
	pages[n++] =
		(struct hi_pages){STACK + 5 * PAGE, STACK + 8 * PAGE, HI_PAGES_PRESENT};
	pages[n++] = (struct hi_pages){TEXT, TEXT + 2 * PAGE, HI_PAGES_PRESENT};
	HI_ASSERT_OK(hi_frozen_create("ledger", &frozen, &err), &err);
	mappings[0].resident =
		known ? (uint64_t)__builtin_popcount(present) * PAGE : UINT64_MAX;
	mappings[1].resident = known ? 3 * PAGE : UINT64_MAX;
	mappings[2].resident = known ? 2 * PAGE : UINT64_MAX;
	HI_ASSERT_OK(
		hi_frozen_add_span(frozen, HEAP, HEAP + HEAP_PAGES * PAGE, bytes, &err),
		&err);
	HI_ASSERT_OK(hi_frozen_seal(frozen, pages, n, &err), &err);
	HI_ASSERT_OK(
		hi_image_create(hi_frozen_memory(frozen), HI_SNAPSHOT_COPY, &image, &err),
		&err);
	hi_test_defer(hi_image_destroy, image);
	if (known)
		image->priv->frozen = frozen;
	for (size_t i = 0; i < 3; i++)
		HI_ASSERT_OK(hi_image_add_mapping(image, &mappings[i], &err), &err);
	HI_ASSERT_OK(hi_image_add_thread(image, &thread, &err), &err);
	return image;
}

static bool ignore(const struct hi_block *blocks, size_t n, unsigned r, void *arg)
{
	(void)blocks, (void)n, (void)r, (void)arg;
	return true;
}

static struct hi_allocator make_allocator(void)
{
	struct hi_allocator a = {.ops = &ops, .regions = &region, .n_regions = 1};
	struct hi_error err;

	HI_ASSERT_OK(hi_allocator_walk(&a, ignore, NULL, &err), &err);
	return a;
}

static const struct hi_ledger_row *row(const struct hi_ledger *l, const char *key)
{
	for (size_t i = 0; i < l->n_rows; i++)
		if (strcmp(l->rows[i].key, key) == 0)
			return &l->rows[i];
	hi_test_fail(__FILE__, __LINE__, "no row %s", key);
}

static void check_sum(const struct hi_ledger *l)
{
	uint64_t sum = 0, free_parts = 0;

	for (size_t i = 0; i < l->n_rows; i++) {
		if (l->rows[i].resident == HI_UNKNOWN)
			continue;
		if (l->rows[i].level == 0)
			sum += l->rows[i].resident;
		else if (strncmp(l->rows[i].key, "free_", 5) == 0)
			free_parts += l->rows[i].resident;
	}
	HI_ASSERT_EQ(l->rss, sum + (uint64_t)l->unknown);
	if (row(l, "free")->resident != HI_UNKNOWN)
		HI_ASSERT_EQ(row(l, "free")->resident, free_parts);
}

/* What a slow look at every block and page says. */
static uint64_t by_hand(uint32_t present, unsigned first, unsigned last)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < BLOCKS; i++)
		for (uint64_t at = i * 256ull; at < i * 256ull + 240; at++)
			if (state_of(i) >= first && state_of(i) <= last)
				bytes += present >> (at / PAGE) & 1;
	return bytes;
}

static void check_pages(uint32_t present)
{
	struct hi_image *image = make_image(present, true);
	struct hi_allocator a = make_allocator();
	struct hi_ledger l;
	struct hi_error err;
	uint64_t pages = (uint64_t)__builtin_popcount(present);
	uint64_t rss = (pages + 5) * PAGE + 1234;

	HI_ASSERT_OK(hi_ledger_fill(image, &a, NULL, NULL, rss, &l, &err), &err);
	check_sum(&l);
	HI_ASSERT_EQ(1234, l.unknown);
	HI_ASSERT_EQ(by_hand(present, HI_BLOCK_LIVE, HI_BLOCK_LIVE),
		     row(&l, "live")->resident);
	HI_ASSERT_EQ(by_hand(present, HI_BLOCK_INTERNAL, HI_BLOCK_INTERNAL),
		     row(&l, "allocator")->resident);
	HI_ASSERT_EQ(by_hand(present, HI_BLOCK_FREE_TCACHE, HI_BLOCK_FREE_TOP),
		     row(&l, "free")->resident);
	HI_ASSERT_EQ(by_hand(present, HI_BLOCK_FREE_FASTBIN, HI_BLOCK_FREE_FASTBIN),
		     row(&l, "free_fastbin")->resident);
	HI_ASSERT_EQ(pages * 256, row(&l, "fragmentation")->resident);
	HI_ASSERT_EQ(BLOCKS / 8 * 3 * 240, row(&l, "live")->virtual_size);
	HI_ASSERT_EQ(3 * PAGE, row(&l, "stacks")->resident);
	HI_ASSERT_EQ(8 * PAGE, row(&l, "stacks")->virtual_size);
	HI_ASSERT_EQ(2 * PAGE, row(&l, "files")->resident);
	HI_ASSERT_EQ(0, row(&l, "other")->virtual_size);
	HI_ASSERT_EQ(BLOCKS / 8 * 3, a.count[HI_BLOCK_LIVE]);
}

HI_TEST(ledger, a_resident_heap_adds_up)
{
	check_pages(0xffff);
}

HI_TEST(ledger, any_missing_pages_are_taken_from_the_blocks_on_them)
{
	uint32_t x = 12345;

	check_pages(0);
	check_pages(1);
	check_pages(0x8000);
	check_pages(0x5555);
	for (int i = 0; i < 40; i++) {
		x = x * 1664525 + 1013904223;
		check_pages(x >> 16);
	}
}

/* ---- an allocator of slabs: each state a page, no header ---- */

static enum hi_status walk_page_region(struct hi_allocator *a, unsigned region_index,
				       hi_blocks_fn *fn, void *arg, struct hi_error *err)
{
	const struct hi_heap_region *r = &a->regions[region_index];

	(void)err;
	for (uint64_t addr = r->start; addr < r->end; addr += PAGE) {
		unsigned page = (unsigned)((addr - HEAP) / PAGE);
		struct hi_block b = {.addr = addr,
				     .usable = PAGE,
				     .cost = PAGE,
				     .state = page % HI_BLOCK_STATES};

		a->count[b.state]++;
		a->bytes[b.state] += b.cost;
		if (!fn(&b, 1, region_index, arg))
			break;
	}
	return HI_OK;
}

static enum hi_status walk_pages(struct hi_allocator *a, hi_blocks_fn *fn, void *arg,
				 struct hi_error *err)
{
	enum hi_status status = HI_OK;

	restart(a);
	for (unsigned i = 0; i < a->n_regions && status == HI_OK; i++)
		status = walk_page_region(a, i, fn, arg, err);
	return status;
}

static const struct hi_allocator_ops page_ops = {.name = "pages",
						 .states = (1u << HI_BLOCK_STATES) - 1,
						 .walk = walk_pages,
						 .walk_region = walk_page_region,
						 .restart = restart,
						 .release = release};
/* States 0 to 13 with objects, 14 and 15 (retained, metadata) without. */
static const struct hi_heap_region page_regions[] = {
	{.start = HEAP, .end = HEAP + 14 * PAGE},
	{.start = HEAP + 14 * PAGE, .end = HEAP + 16 * PAGE, .has_no_objects = true}};

static void check_page_states(uint32_t present)
{
	_Static_assert((int)HI_BLOCK_STATES == (int)HEAP_PAGES, "a page for each state");
	struct hi_image *image = make_image(present, true);
	struct hi_allocator a = {
		.ops = &page_ops, .regions = page_regions, .n_regions = 2};
	struct hi_ledger l;
	struct hi_error err;

	HI_ASSERT_OK(hi_allocator_walk(&a, ignore, NULL, &err), &err);
	HI_ASSERT_OK(hi_ledger_fill(image, &a, NULL, NULL,
				    ((uint64_t)__builtin_popcount(present) + 5) * PAGE,
				    &l, &err),
		     &err);
	HI_ASSERT_EQ(0, l.unknown);
	check_sum(&l);
	HI_ASSERT_EQ(0, row(&l, "fragmentation")->resident);
	for (int s = HI_BLOCK_FREE_FIRST; s < HI_BLOCK_STATES; s++) {
		const struct hi_ledger_row *r =
			row(&l, hi_block_state_key((enum hi_block_state)s));

		HI_ASSERT_EQ(present >> s & 1 ? PAGE : 0, r->resident);
		HI_ASSERT_EQ(PAGE, r->virtual_size);
		HI_ASSERT_EQ(1, r->count);
		HI_ASSERT_EQ(1, a.count[s]); /* the walk's counters are kept */
	}
}

/* Retained addresses without pages, as they mostly are, take none of RSS. */
HI_TEST(ledger, each_state_has_a_row_of_its_resident_bytes)
{
	check_page_states(0xffff);
	check_page_states(0xffff & ~(1u << HI_BLOCK_FREE_RETAINED));
	check_page_states(1u << HI_BLOCK_METADATA);
	for (unsigned i = 0; i < 16; i++)
		check_page_states(0x9e3779b9u * (i + 1) >> 16);
}

HI_TEST(ledger, rows_are_those_of_the_states_that_the_allocator_has)
{
	struct hi_allocator_ops few = page_ops;
	struct hi_allocator a = {.ops = &few, .regions = page_regions, .n_regions = 0};
	struct hi_ledger l;
	struct hi_error err;

	few.states = 1u << HI_BLOCK_FREE_SLOT | 1u << HI_BLOCK_METADATA;
	HI_ASSERT_OK(
		hi_ledger_fill(make_image(0, true), &a, NULL, NULL, 5 * PAGE, &l, &err),
		&err);
	row(&l, "free_slot");
	for (size_t i = 0; i < l.n_rows; i++) {
		HI_ASSERT(strcmp(l.rows[i].key, "free_bin") != 0);
		if (strcmp(l.rows[i].key, "metadata") == 0)
			HI_ASSERT_STREQ("allocator", l.rows[i - 1].key);
	}
	row(&l, "metadata");
}

/* The parts of several are what the header shows. */
HI_TEST(ledger, the_counters_of_parts_are_kept_too)
{
	struct hi_allocator a = {
		.ops = &page_ops, .regions = page_regions, .n_regions = 2};
	struct hi_allocator_list list = {.items = {&a}, .count = 1};
	struct hi_allocator *all;
	struct hi_ledger l;
	struct hi_error err;

	HI_ASSERT_OK(hi_allocator_join(&list, &all, &err), &err);
	HI_ASSERT_OK(hi_allocator_walk(all, ignore, NULL, &err), &err);
	HI_ASSERT_OK(
		hi_ledger_fill(make_image(1, true), all, NULL, NULL, 6 * PAGE, &l, &err),
		&err);
	HI_ASSERT_EQ(1, a.count[HI_BLOCK_LIVE]);
	HI_ASSERT_EQ(PAGE, a.bytes[HI_BLOCK_FREE_RETAINED]);
	hi_allocator_release(all);
}

HI_TEST(ledger, without_an_allocator_the_mappings_still_add_up)
{
	struct hi_image *image = make_image(0x00ff, true);
	struct hi_ledger l;
	struct hi_error err;

	HI_ASSERT_OK(hi_ledger_fill(image, NULL, NULL, NULL, 13 * PAGE, &l, &err), &err);
	check_sum(&l);
	HI_ASSERT_EQ(0, l.unknown);
	HI_ASSERT_EQ(8 * PAGE, row(&l, "other")->resident);
	HI_ASSERT_EQ(0, row(&l, "live")->virtual_size);
	HI_ASSERT_EQ(HI_UNKNOWN, row(&l, "leak")->resident);
	HI_ASSERT_EQ(HI_UNKNOWN, row(&l, "free")->virtual_size);
}

HI_TEST(ledger, a_core_has_no_residency)
{
	struct hi_image *image = make_image(0xffff, false);
	struct hi_allocator a = make_allocator();
	struct hi_ledger l;
	struct hi_error err;

	HI_ASSERT_OK(hi_ledger_fill(image, &a, NULL, NULL, HI_UNKNOWN, &l, &err), &err);
	HI_ASSERT_EQ(HI_UNKNOWN, l.rss);
	for (size_t i = 0; i < l.n_rows; i++)
		HI_ASSERT_EQ(HI_UNKNOWN, l.rows[i].resident);
	HI_ASSERT_EQ(BLOCKS / 8 * 3 * 240, row(&l, "live")->virtual_size);
}

HI_TEST(ledger, negative_unknown_after_races_is_reported)
{
	struct hi_image *image = make_image(0xffff, true);
	struct hi_allocator a = make_allocator();
	struct hi_ledger l;
	struct hi_error err;

	HI_ASSERT_OK(hi_ledger_fill(image, &a, NULL, NULL, 20 * PAGE, &l, &err), &err);
	HI_ASSERT_EQ(-(int64_t)PAGE, l.unknown);
}

/* ---- with a graph: what is live, what leaked ---- */

struct builder {
	struct hi_objects_builder *b;
	unsigned region;
};

static bool add_objects(const struct hi_block *blocks, size_t n, unsigned r, void *arg)
{
	struct builder *builder = arg;
	struct hi_error err;

	(void)r;
	for (size_t i = 0; i < n; i++) {
		if (blocks[i].state != HI_BLOCK_LIVE &&
		    blocks[i].state != HI_BLOCK_INTERNAL)
			continue;
		HI_ASSERT_OK(hi_objects_builder_add(builder->b, builder->region,
						    blocks[i].addr, blocks[i].usable,
						    blocks[i].state == HI_BLOCK_INTERNAL
							    ? HI_OBJECT_INTERNAL
							    : 0,
						    &err),
			     &err);
	}
	return true;
}

HI_TEST(ledger, leaked_bytes_are_those_that_no_root_reaches)
{
	uint32_t present = 0xf0f3;
	struct hi_image *image = make_image(present, true);
	struct hi_allocator a = make_allocator();
	struct builder builder;
	struct hi_objects *objects;
	struct hi_graph_builder *gb;
	struct hi_graph *g;
	struct hi_reach *reach;
	struct hi_ledger l;
	struct hi_error err;
	uint32_t root;
	uint64_t live = 0, leak = 0;

	HI_ASSERT_OK(hi_objects_builder_create(&builder.b, &err), &err);
	hi_objects_builder_overhead(builder.b, 0, 8);
	HI_ASSERT_OK(hi_objects_builder_region(builder.b, region.start, region.end, 4,
					       &builder.region, &err),
		     &err);
	HI_ASSERT_OK(hi_allocator_walk(&a, add_objects, &builder, &err), &err);
	HI_ASSERT_OK(hi_objects_seal(builder.b, &objects, &err), &err);
	HI_ASSERT_OK(hi_graph_builder_create(objects, &gb, &err), &err);
	HI_ASSERT_OK(hi_graph_builder_root(gb,
					   &(struct hi_root){.kind = HI_ROOT_GLOBAL,
							     .name = "r",
							     .detail = "",
							     .type = ""},
					   &root, &err),
		     &err);
	/* Blocks 0 and 6 of eight are held, block 1 is leaked; ids count 0 1 3 6. */
	for (hi_node id = 0; id < objects->count; id++)
		if (id % 4 == 0 || id % 4 == 3)
			HI_ASSERT_OK(hi_graph_builder_root_edge(gb, root, id,
								HI_GRADE_EXACT, &err),
				     &err);
	HI_ASSERT_OK(hi_graph_seal(gb, &g, &err), &err);
	HI_ASSERT_OK(hi_reach_compute(g, 1, &reach, &err), &err);
	HI_ASSERT_OK(hi_ledger_fill(image, &a, g, reach, 20 * PAGE, &l, &err), &err);
	check_sum(&l);
	for (unsigned i = 0; i < BLOCKS; i++) {
		uint64_t bytes = present >> (i * 256 / PAGE) & 1 ? 240 : 0;

		live += i % 8 == 0 || i % 8 == 6 ? bytes : 0;
		leak += i % 8 == 1 ? bytes : 0;
	}
	HI_ASSERT_EQ(live, row(&l, "live")->resident);
	HI_ASSERT_EQ(leak, row(&l, "leak")->resident);
	HI_ASSERT_EQ(BLOCKS / 8, row(&l, "leak")->count);
	HI_ASSERT_EQ(BLOCKS / 8 * 2, row(&l, "live")->count);
	hi_reach_destroy(reach);
	hi_graph_destroy(g);
}

/* One chunk that is a mapping, and that memalign moved to its middle. */
static enum hi_status walk_aligned(struct hi_allocator *a, unsigned r, hi_blocks_fn *fn,
				   void *arg, struct hi_error *err)
{
	struct hi_block b = {.addr = HEAP + 8 * PAGE,
			     .usable = 8 * PAGE,
			     .cost = 16 * PAGE,
			     .state = HI_BLOCK_LIVE,
			     .mmapped = true};

	(void)a, (void)err;
	(void)fn(&b, 1, r, arg);
	return HI_OK;
}

HI_TEST(ledger, memory_before_an_aligned_mapped_chunk_is_not_counted_in_it)
{
	static const struct hi_allocator_ops aligned = {
		.states = (1u << HI_BLOCK_STATES) - 1,
		.name = "mock",
		.walk_region = walk_aligned,
		.release = release};
	struct hi_image *image = make_image(0x0181, true); /* pages 0, 7 and 8 */
	struct hi_allocator a = {.ops = &aligned, .regions = &region, .n_regions = 1};
	struct builder builder;
	struct hi_objects *objects;
	struct hi_graph_builder *gb;
	struct hi_graph *g;
	struct hi_reach *reach;
	struct hi_ledger l;
	struct hi_error err;

	HI_ASSERT_OK(hi_objects_builder_create(&builder.b, &err), &err);
	hi_objects_builder_overhead(builder.b, 0, 16);
	HI_ASSERT_OK(hi_objects_builder_region(builder.b, region.start, region.end, 4,
					       &builder.region, &err),
		     &err);
	HI_ASSERT_OK(walk_aligned(&a, 0, add_objects, &builder, &err), &err);
	HI_ASSERT_OK(hi_objects_seal(builder.b, &objects, &err), &err);
	HI_ASSERT_OK(hi_graph_builder_create(objects, &gb, &err), &err);
	HI_ASSERT_OK(hi_graph_seal(gb, &g, &err), &err);
	HI_ASSERT_OK(hi_reach_compute(g, 1, &reach, &err), &err);
	HI_ASSERT_OK(hi_ledger_fill(image, &a, g, reach, 8 * PAGE, &l, &err), &err);
	check_sum(&l);
	HI_ASSERT_EQ(0, l.unknown);
	HI_ASSERT_EQ(16 + PAGE, row(&l, "leak")->resident);
	HI_ASSERT_EQ(16 + 8 * PAGE, row(&l, "leak")->virtual_size);
	HI_ASSERT_EQ(2 * PAGE - 16, row(&l, "fragmentation")->resident);
	hi_reach_destroy(reach);
	hi_graph_destroy(g);
}

HI_TEST(ledger, out_of_memory_is_reported)
{
	struct hi_image *image = make_image(0x5555, true);
	struct hi_allocator a = make_allocator();
	bool done = false;

	for (uint64_t n = 1; !done && n < 50; n++) {
		struct hi_ledger l;
		struct hi_error err;
		enum hi_status status;

		hi_alloc_fail_at(n);
		status = hi_ledger_fill(image, &a, NULL, NULL, 0, &l, &err);
		done = hi_alloc_count() < n;
		hi_alloc_fail_at(0);
		HI_ASSERT_EQ(done ? HI_OK : HI_NO_MEMORY, status);
	}
	HI_ASSERT(done);
}

/* ---- subobjects ---- */

/* Four blocks of two pages each in the first half of the heap's mapping. */
static const struct hi_heap_region half = {
	.start = HEAP, .end = HEAP + 8 * PAGE, .header = 16};

static enum hi_status walk_pools(struct hi_allocator *a, unsigned r, hi_blocks_fn *fn,
				 void *arg, struct hi_error *err)
{
	(void)a, (void)err;
	for (unsigned i = 0; i < 4; i++) {
		struct hi_block b = {.addr = HEAP + 2 * PAGE * i + 16,
				     .usable = 2 * PAGE - 24,
				     .cost = 2 * PAGE - 16,
				     .state = HI_BLOCK_LIVE};

		if (!fn(&b, 1, r, arg))
			break;
	}
	return HI_OK;
}

static uint64_t ledger_random;
/* Objects all over the mapping, in the blocks and outside of them. */
static struct hi_objects *split_heap(bool blocks)
{
	struct hi_subobject subobjects[512];
	struct hi_objects *old, *ret;
	struct builder builder;
	struct hi_pools pools;
	struct hi_error err;
	size_t n = 0;

	HI_ASSERT_OK(hi_objects_builder_create(&builder.b, &err), &err);
	hi_objects_builder_overhead(builder.b, 0, 8);
	HI_ASSERT_OK(hi_objects_builder_region(builder.b, half.start, half.end, 4,
					       &builder.region, &err),
		     &err);
	if (blocks)
		HI_ASSERT_OK(walk_pools(NULL, 0, add_objects, &builder, &err), &err);
	HI_ASSERT_OK(hi_objects_seal(builder.b, &old, &err), &err);
	for (uint64_t at = HEAP + 16, size; n < 512; at += size) {
		uint64_t end = HEAP + HEAP_PAGES * PAGE;

		at = (at + 8 * random_below(&ledger_random, 40) + 7) & ~7ull;
		size = 8 + random_below(&ledger_random, 500);
		if (at + size > end)
			break;
		if (blocks && at < half.end) { /* not over the end of its block */
			uint64_t block_end = (at - HEAP - 16) / (2 * PAGE) * 2 * PAGE +
					     HEAP + 16 + 2 * PAGE - 24;

			if (at >= block_end || at + size > block_end)
				continue;
		}
		subobjects[n++] = (struct hi_subobject){.addr = at, .size = size};
	}
	HI_ASSERT_OK(hi_objects_split(old, subobjects, n, &ret, &pools, &err), &err);
	hi_objects_destroy(old);
	hi_pools_free(&pools);
	return ret;
}

/* Bytes that an object costs: those of a block lie 8 before where they begin, its
 * first ones 16 (its header). */
static void objects_by_hand(const struct hi_objects *o, const struct hi_reach *reach,
			    uint32_t present, bool blocks, uint64_t live_leak_outside[3])
{
	for (hi_node id = 0; id < o->count; id++) {
		uint64_t addr = hi_objects_address(o, id);
		bool inside = blocks && addr < half.end;
		uint64_t cost = hi_objects_cost(o, id);

		for (uint64_t b = 0; b < cost; b++) {
			uint64_t at = addr + b;

			if (inside)
				at -= cost == hi_objects_usable(o, id) ? 8 : 16;
			if (!(present >> ((at - HEAP) / PAGE) & 1))
				continue;
			live_leak_outside[!(reach->any[id / 64] >> (id & 63) & 1)]++;
			live_leak_outside[2] += !inside;
		}
	}
}

static void check_subobjects(uint32_t present, bool blocks)
{
	static const struct hi_allocator_ops pool_ops = {
		.states = (1u << HI_BLOCK_STATES) - 1,
		.name = "mock",
		.walk_region = walk_pools,
		.release = release};
	struct hi_image *image = make_image(present, true);
	struct hi_allocator a = {.ops = &pool_ops, .regions = &half, .n_regions = 1};
	struct hi_objects *objects = split_heap(blocks);
	uint64_t expected[3] = {}, pages = (uint64_t)__builtin_popcount(present);
	struct hi_graph_builder *gb;
	struct hi_graph *g;
	struct hi_reach *reach;
	struct hi_ledger l;
	struct hi_error err;
	uint32_t root;

	HI_ASSERT_OK(hi_graph_builder_create(objects, &gb, &err), &err);
	HI_ASSERT_OK(hi_graph_builder_root(gb,
					   &(struct hi_root){.kind = HI_ROOT_GLOBAL,
							     .name = "r",
							     .detail = "",
							     .type = ""},
					   &root, &err),
		     &err);
	for (hi_node id = 0; id < objects->count; id++)
		if (random_below(&ledger_random, 3))
			HI_ASSERT_OK(hi_graph_builder_root_edge(gb, root, id,
								HI_GRADE_EXACT, &err),
				     &err);
	HI_ASSERT_OK(hi_graph_seal(gb, &g, &err), &err);
	HI_ASSERT_OK(hi_reach_compute(g, 1, &reach, &err), &err);
	HI_ASSERT_OK(hi_ledger_fill(image, blocks ? &a : NULL, g, reach,
				    (pages + 5) * PAGE + 99, &l, &err),
		     &err);
	check_sum(&l);
	HI_ASSERT_EQ(99, l.unknown);
	objects_by_hand(g->objects, reach, present, blocks, expected);
	HI_ASSERT_EQ(expected[0], row(&l, "live")->resident);
	HI_ASSERT_EQ(blocks ? expected[1] : HI_UNKNOWN, row(&l, "leak")->resident);
	pages = (uint64_t)__builtin_popcount(blocks ? present >> 8 : present);
	HI_ASSERT_EQ(pages * PAGE - (blocks ? expected[2] : expected[0]),
		     row(&l, "other")->resident);
	HI_ASSERT_EQ(reach->live_bytes, row(&l, "live")->virtual_size);
	HI_ASSERT_EQ(3 * PAGE, row(&l, "stacks")->resident);
	hi_reach_destroy(reach);
	hi_graph_destroy(g);
}

HI_TEST(ledger, subobjects_are_counted_once)
{
	ledger_random = 7;
	for (unsigned i = 0; i < 40; i++)
		check_subobjects(i ? (uint32_t)random_below(&ledger_random, 0x10000)
				   : 0xffff,
				 true);
}

HI_TEST(ledger, subobjects_are_counted_once_without_an_allocator)
{
	ledger_random = 8;
	for (unsigned i = 0; i < 40; i++)
		check_subobjects(i ? (uint32_t)random_below(&ledger_random, 0x10000)
				   : 0xffff,
				 false);
}
