/* SPDX-License-Identifier: BSD-2-Clause */
/* Pools that map their memory: what is one, by bytes made by hand. */
#include "attach/mock.h"
#include "decode/allocator.h"
#include "decode/usage/mapped_pools.h"
#include "tests/harness.h"

enum { PAGE = 4096, ENTRIES = 20, ENTRY = 64 };
#define HEAP 0x100000ull
#define POOL 0x4000000ull

static struct hi_error err;

struct memory_with_pools {
	struct hi_memory *memory;
	struct hi_image *image;
	struct hi_heap_region region;
	struct hi_allocator allocator;
};

static void map_pages(struct memory_with_pools *m, uint64_t start, uint64_t pages)
{
	struct hi_mapping mapping = {.start = start,
				     .end = start + pages * PAGE,
				     .prot = HI_PROT_READ | HI_PROT_WRITE,
				     .path = "",
				     .kind = HI_MAPPING_ANONYMOUS};

	HI_ASSERT_OK(hi_image_add_mapping(m->image, &mapping, &err), &err);
	HI_ASSERT_OK(hi_memory_mock_add(m->memory, start, NULL, pages * PAGE, &err),
		     &err);
}

static struct memory_with_pools *make_memory(void)
{
	static struct memory_with_pools m;

	m = (struct memory_with_pools){.region = {HEAP, HEAP + 16 * PAGE}};
	HI_ASSERT_OK(hi_memory_create_mock(&m.memory, &err), &err);
	HI_ASSERT_OK(hi_image_create_mock(m.memory, &m.image, &err), &err);
	hi_test_defer(hi_image_destroy, m.image);
	map_pages(&m, HEAP, 16);
	map_pages(&m, POOL, 64);
	m.allocator = (struct hi_allocator){.regions = &m.region, .n_regions = 1};
	return &m;
}

static void set_words(const struct memory_with_pools *m, uint64_t addr,
		      const uint64_t *words, size_t n)
{
	memcpy(hi_memory_mock_at(m->memory, addr), words, n * 8);
}

/* ---- nodes of APR ---- */

static void put_node(const struct memory_with_pools *m, uint64_t addr, uint64_t pages,
		     uint64_t first_avail)
{
	const uint64_t node[] = {0, addr, pages - 1, first_avail, addr + pages * PAGE};

	set_words(m, addr, node, 5);
}

HI_TEST(mapped_pools, nodes_of_apr_begin_with_their_bounds)
{
	struct memory_with_pools *m = make_memory();

	HI_ASSERT_EQ(0, hi_mapped_pools_apr(m->image, &m->allocator));
	put_node(m, POOL, 2, POOL + 40);
	put_node(m, POOL + 2 * PAGE, 3, POOL + 5 * PAGE);
	put_node(m, POOL + 63 * PAGE, 1, POOL + 63 * PAGE + 48);
	HI_ASSERT_EQ(6 * PAGE, hi_mapped_pools_apr(m->image, &m->allocator));
	/* In a block of malloc it is no memory beside it. */
	put_node(m, HEAP, 2, HEAP + 40);
	HI_ASSERT_EQ(6 * PAGE, hi_mapped_pools_apr(m->image, &m->allocator));
}

HI_TEST(mapped_pools, contradictory_nodes_are_refused)
{
	struct memory_with_pools *m = make_memory();

	put_node(m, POOL, 2, POOL + 2 * PAGE + 8);	      /* in use beyond its end */
	put_node(m, POOL + 2 * PAGE, 2, POOL + 2 * PAGE + 8); /* from within itself */
	put_node(m, POOL + 63 * PAGE, 2, POOL + 63 * PAGE + 40); /* larger than mapped */
	put_node(m, POOL + 8 * PAGE, 1ull << 32, POOL + 8 * PAGE + 40);
	HI_ASSERT_EQ(0, hi_mapped_pools_apr(m->image, &m->allocator));
}

/* ---- pages of gcc's collector ---- */

static void put_entry(const struct memory_with_pools *m, unsigned i, uint64_t page,
		      uint64_t bytes)
{
	const uint64_t entry[] = {i ? HEAP + (i - 1) * ENTRY : 0, 0, bytes, page, i, 1};

	set_words(m, HEAP + i * ENTRY, entry, 6);
}

HI_TEST(mapped_pools, pages_of_gccs_collector_are_those_of_its_table)
{
	struct memory_with_pools *m = make_memory();

	for (unsigned i = 0; i < ENTRIES; i++)
		put_entry(m, i, POOL + i * PAGE, PAGE);
	HI_ASSERT_EQ(ENTRIES * PAGE, hi_mapped_pools_ggc(m->image, &m->allocator));
	/* An entry that was freed, and one of several pages. */
	put_entry(m, ENTRIES, POOL + 3 * PAGE, PAGE);
	put_entry(m, ENTRIES + 1, POOL + 40 * PAGE, 4 * PAGE);
	HI_ASSERT_EQ((ENTRIES + 4) * PAGE, hi_mapped_pools_ggc(m->image, &m->allocator));
	HI_ASSERT_EQ(0, hi_mapped_pools_ggc(m->image, NULL));
}

HI_TEST(mapped_pools, few_pages_and_pages_of_malloc_are_no_collector)
{
	struct memory_with_pools *m = make_memory();

	for (unsigned i = 0; i < 15; i++)
		put_entry(m, i, POOL + i * PAGE, PAGE);
	for (unsigned i = 15; i < 40; i++)
		put_entry(m, i, i % 2 ? HEAP : POOL + i * PAGE + 8, PAGE);
	put_entry(m, 40, POOL + 60 * PAGE, 8 * PAGE); /* more than is mapped */
	put_entry(m, 41, POOL, UINT64_MAX - PAGE + 1);
	HI_ASSERT_EQ(0, hi_mapped_pools_ggc(m->image, &m->allocator));
}
