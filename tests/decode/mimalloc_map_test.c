/* SPDX-License-Identifier: BSD-2-Clause */
/* mimalloc 3: a page map and pages made by hand, as two releases lay them out. */
#include <string.h>

#include "attach/mock.h"
#include "decode/allocators/mimalloc.h"
#include "tests/harness.h"

#define ARENA 0x20000000000ull
#define MAP 0x7f0000000000ull
#define TABLE 0x7f0000400000ull
enum { SLICE = 65536, SLICES = 16, BLOCK = 96, CAPACITY = 600 };

/* Of include/mimalloc/types.h and internal.h of 3.5.0; of 3.7.0 as Debian's library has
 * them. */
static const struct map_release {
	const char *version;
	unsigned thread, free, used, local_free, block_size, start, capacity,
		xthread_free, theap, size, submaps;
	bool is_relative;
} releases[] = {
	{"3.5", 8, 16, 24, 32, 40, 48, 56, 64, 72, 128, 80, true},
	{"3.7", 8, 16, 40, 24, 32, 48, 56, 64, 72, 128, 72, false},
};
enum { RELEASES = sizeof(releases) / sizeof(*releases) };

struct mock_map {
	const struct map_release *release;
	struct hi_memory *memory;
	struct hi_image *image;
	struct hi_module module;
	struct hi_allocator_list list;
};

static void put(struct mock_map *m, uint64_t addr, uint64_t value, unsigned size)
{
	void *p = hi_memory_mock_at(m->memory, addr);

	HI_ASSERT(p);
	memcpy(p, &value, size);
}

static void add_map_memory(struct mock_map *m, uint64_t start, uint64_t size)
{
	struct hi_mapping mapping = {.start = start,
				     .end = start + size,
				     .prot = HI_PROT_READ | HI_PROT_WRITE,
				     .kind = HI_MAPPING_ANONYMOUS,
				     .held = true,
				     .resident = size,
				     .copied = size};
	struct hi_error err;

	HI_ASSERT_OK(hi_memory_mock_add(m->memory, start, NULL, size, &err), &err);
	HI_ASSERT_OK(hi_image_add_mapping(m->image, &mapping, &err), &err);
}

static void destroy_map(struct mock_map *m)
{
	for (size_t i = 0; i < m->list.count; i++)
		hi_allocator_release(m->list.items[i]);
	hi_image_destroy(m->image);
}

/* A page of 3 slices' distance, its mi_page_t in front: 10 blocks in its list. */
static void add_map_page(struct mock_map *m, unsigned index)
{
	const struct map_release *r = m->release;
	uint64_t page = ARENA + (uint64_t)index * SLICE, first = page + 192;

	put(m, TABLE + (page / SLICE % 8192) * 8, page, 8);
	put(m, page + r->thread, 0x7f0000900740, 8);
	put(m, page + r->block_size, BLOCK, 8);
	put(m, page + r->start, r->is_relative ? 192 : first, 8);
	put(m, page + r->capacity, CAPACITY, 2);
	put(m, page + r->capacity + 2, (SLICE - 192) / BLOCK, 2);
	put(m, page + r->used, CAPACITY - 10, 2);
	put(m, page + r->theap, MAP, 8);
	put(m, page + r->free, first, 8);
	for (unsigned i = 0; i < 10; i++)
		put(m, first + i * BLOCK, i < 9 ? first + (i + 1) * BLOCK : 0, 8);
	put(m, page + r->xthread_free, (first + 20 * BLOCK) | 1, 8);
}

static void create_map(struct mock_map *m, const struct map_release *release)
{
	struct hi_error err;

	*m = (struct mock_map){.release = release, .module.name = "libmock.so"};
	HI_ASSERT_OK(hi_memory_create_mock(&m->memory, &err), &err);
	HI_ASSERT_OK(hi_image_create_mock(m->memory, &m->image, &err), &err);
	hi_test_defer(destroy_map, m);
	add_map_memory(m, ARENA, SLICES * SLICE);
	add_map_memory(m, MAP, 3 << 20);
	add_map_memory(m, TABLE, 65536);
	put(m, MAP + release->submaps + ARENA / SLICE / 8192 * 8, TABLE, 8);
	for (unsigned i = 0; i < SLICES; i++)
		add_map_page(m, i);
}

static void probe_mock_map(struct mock_map *m)
{
	struct hi_error err;

	HI_ASSERT_OK(hi_mimalloc_probe_map(m->image, &m->module, MAP, &m->list, &err),
		     &err);
}

static bool count_map_blocks(const struct hi_block *blocks, size_t n, unsigned region,
			     void *arg)
{
	uint64_t *counts = arg;

	(void)region;
	for (size_t i = 0; i < n; i++)
		counts[blocks[i].state]++;
	return true;
}

HI_TEST(mimalloc_map, each_release_is_known_by_its_pages)
{
	static struct mock_map m[RELEASES];

	for (size_t i = 0; i < RELEASES; i++) {
		uint64_t n[HI_BLOCK_STATES] = {};
		struct hi_error err;

		create_map(&m[i], &releases[i]);
		probe_mock_map(&m[i]);
		HI_ASSERT_EQ(1, m[i].list.count);
		HI_ASSERT(strcmp(m[i].list.items[0]->version, releases[i].version) == 0);
		HI_ASSERT_OK(
			hi_allocator_walk(m[i].list.items[0], count_map_blocks, n, &err),
			&err);
		HI_ASSERT_EQ(SLICES * (CAPACITY - 11), n[HI_BLOCK_LIVE]);
		HI_ASSERT_EQ(SLICES * 10, n[HI_BLOCK_FREE_SLOT]);
		HI_ASSERT_EQ(SLICES, n[HI_BLOCK_FREE_DEFERRED]);
	}
}

/* Fields that are elsewhere, as a release has them that we do not know. */
HI_TEST(mimalloc_map, unknown_releases_are_refused_or_not_found)
{
	static struct mock_map m[6];

	for (unsigned i = 0; i < 6; i++) {
		static struct map_release wrong;
		unsigned *fields[] = {&wrong.free,  &wrong.used,     &wrong.block_size,
				      &wrong.start, &wrong.capacity, &wrong.submaps};

		wrong = releases[1];
		*fields[i] += 80; /* behind everything else */
		create_map(&m[i], &wrong);
		probe_mock_map(&m[i]);
		hi_test_note("field %u: %s", i,
			     m[i].list.n_refused ? m[i].list.refused[0].text : "none");
		HI_ASSERT_EQ(0, m[i].list.count);
	}
}

HI_TEST(mimalloc_map, an_overwritten_list_is_damage_of_its_page)
{
	static struct mock_map m;
	struct hi_allocator *a;

	create_map(&m, &releases[1]);
	put(&m, ARENA + 192, 0x4141414141414141, 8);
	probe_mock_map(&m);
	HI_ASSERT_EQ(1, m.list.count);
	a = m.list.items[0];
	HI_ASSERT_EQ(1, a->n_damage_total);
	HI_ASSERT_EQ(ARENA + 192, a->damage[0].address);
	HI_ASSERT_EQ(SLICE, a->skipped_bytes);
}
