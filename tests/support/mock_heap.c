/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/mock_heap.h"

#include <stdlib.h>
#include <string.h>

#include "attach/mock.h"
#include "tests/harness.h"

#define LIBC 0x7f0000100000ull
#define TLS 0x7f0000800000ull
#define HEAP 0x555500000000ull
#define MAPPINGS 0x7e0000000000ull
#define ARENAS 0x7d0000000000ull
#define HEAP_MAX (64ull << 20)

/* Of malloc_par and the tcache struct: from the releases' sources. */
struct release {
	unsigned first, par_size, n_mmaps, mmapped_mem, sbrk_base, tcache_bins;
	unsigned heap_info, tcache_size, entries, lists, count_bytes;
	bool counts_down, mangled;
};
static const struct release releases[] = {
	{28, 112, 40, 56, 72, 80, 32, 576, 64, 64, 1, false, false},
	{30, 112, 40, 56, 72, 80, 32, 640, 128, 64, 2, false, false},
	{32, 112, 40, 56, 72, 80, 32, 640, 128, 64, 2, false, true},
	{35, 136, 60, 80, 96, 104, 48, 640, 128, 64, 2, false, true},
	{42, 136, 60, 80, 96, 104, 48, 760, 152, 76, 2, true, true},
};

static const struct release *release_of(unsigned minor)
{
	const struct release *r = releases;

	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++)
		if (minor >= releases[i].first)
			r = &releases[i];
	return r;
}

uint64_t hi_mock_heap_get(struct hi_mock_heap *h, uint64_t addr)
{
	uint64_t value;
	void *p = hi_memory_mock_at(h->memory, addr);

	HI_ASSERT(p);
	memcpy(&value, p, sizeof(value));
	return value;
}

void hi_mock_heap_set(struct hi_mock_heap *h, uint64_t addr, uint64_t value)
{
	void *p = hi_memory_mock_at(h->memory, addr);

	HI_ASSERT(p);
	memcpy(p, &value, sizeof(value));
}

static void add_memory(struct hi_mock_heap *h, uint64_t start, uint64_t size,
		       enum hi_mapping_kind kind, const char *path)
{
	struct hi_mapping m = {.start = start,
			       .end = start + size,
			       .prot = HI_PROT_READ | HI_PROT_WRITE,
			       .kind = kind,
			       .path = path,
			       .held = true,
			       .resident = size,
			       .copied = size};
	struct hi_error err;

	HI_ASSERT_OK(hi_memory_mock_add(h->memory, start, NULL, size, &err), &err);
	HI_ASSERT_OK(hi_image_add_mapping(h->image, &m, &err), &err);
}

static void init_state(struct hi_mock_heap *h, uint64_t arena)
{
	for (unsigned bin = 1; bin <= 127; bin++) {
		uint64_t at = arena + 112 + (bin - 1) * 16;

		hi_mock_heap_set(h, at, at - 16);
		hi_mock_heap_set(h, at + 8, at - 16);
	}
	hi_mock_heap_set(h, arena + 2160, h->arena);
}

static void init_par(struct hi_mock_heap *h)
{
	const struct release *r = release_of(h->minor);

	hi_mock_heap_set(h, h->mp, 128 << 10);
	hi_mock_heap_set(h, h->mp + 16, 128 << 10);
	hi_mock_heap_set(h, h->mp + r->sbrk_base, h->heap);
	hi_mock_heap_set(h, h->mp + r->tcache_bins, 64);
	hi_mock_heap_set(h, h->mp + r->tcache_bins + 8, 1032);
	hi_mock_heap_set(h, h->mp + r->tcache_bins + 16, 7);
}

static void init_tcache(struct hi_mock_heap *h)
{
	const struct release *r = release_of(h->minor);

	h->tcache = hi_mock_heap_malloc(h, r->tcache_size);
	hi_mock_heap_set(h, TLS - 0x40, h->tcache);
	for (unsigned i = 0; r->counts_down && i < r->lists; i++) {
		uint16_t n = 7;

		memcpy(hi_memory_mock_at(h->memory, h->tcache + i * 2), &n, 2);
	}
}

/* All heaps of a test, in one deferred call: a test may make thousands. */
static struct hi_mock_heap *heaps;
static bool deferred;

void hi_mock_heap_destroy(struct hi_mock_heap *h)
{
	struct hi_mock_heap **link = &heaps;

	while (*link && *link != h)
		link = &(*link)->older;
	HI_ASSERT(*link);
	*link = h->older;
	hi_image_destroy(h->image);
	free(h);
}

static void destroy_heaps(void *arg)
{
	(void)arg;
	deferred = false;
	while (heaps)
		hi_mock_heap_destroy(heaps);
}

struct hi_mock_heap *hi_mock_heap_create(unsigned minor, uint64_t size)
{
	struct hi_mock_heap *h = calloc(1, sizeof(*h));
	struct hi_thread thread = {.tid = 1, .regs.fs_base = TLS};
	struct hi_error err;

	HI_ASSERT(h);
	h->minor = minor;
	HI_ASSERT_OK(hi_memory_create_mock(&h->memory, &err), &err);
	HI_ASSERT_OK(hi_image_create_mock(h->memory, &h->image, &err), &err);
	if (!deferred)
		hi_test_defer(destroy_heaps, NULL);
	deferred = true;
	h->older = heaps;
	heaps = h;
	add_memory(h, LIBC, 0x4000, HI_MAPPING_FILE, "/lib/libc.so.6");
	add_memory(h, TLS - 0x1000, 0x2000, HI_MAPPING_ANONYMOUS, "");
	add_memory(h, HEAP, size, HI_MAPPING_HEAP, "[heap]");
	HI_ASSERT_OK(hi_image_add_thread(h->image, &thread, &err), &err);
	h->arena = LIBC + 0xc60;
	h->mp = LIBC + 0x340;
	h->heap = h->next = HEAP;
	h->heap_end = HEAP + size;
	h->system_mem = size;
	h->next_mapping = MAPPINGS;
	init_state(h, h->arena);
	init_par(h);
	init_tcache(h);
	h->where = (struct hi_glibc_where){.main_arena = h->arena,
					   .mp = h->mp,
					   .main_arena_size = 2200,
					   .mp_size = release_of(minor)->par_size,
					   .has_tcache = true,
					   .tcache_offset = {-0x40},
					   .n_tcache_offsets = 1,
					   .minor = minor,
					   .version = "2.x",
					   .found_by = "hand"};
	return h;
}

uint64_t hi_mock_heap_malloc(struct hi_mock_heap *h, uint64_t n)
{
	uint64_t size = (n + 8 + 15) & ~15ull, p = h->next;

	size = size < 32 ? 32 : size;
	HI_ASSERT(h->heap_end - p > size + 32);
	hi_mock_heap_set(h, p + 8, size | 1);
	h->next = p + size;
	hi_mock_heap_set(h, h->next + 8, (h->heap_end - h->next) | 1);
	return p + 16;
}

static uint64_t size_of(struct hi_mock_heap *h, uint64_t user)
{
	return hi_mock_heap_get(h, user - 8) & ~7ull;
}

void hi_mock_heap_free_to_bin(struct hi_mock_heap *h, uint64_t user)
{
	uint64_t chunk = user - 16, size = size_of(h, user), bin = h->arena + 96;
	uint64_t first = hi_mock_heap_get(h, bin + 16);

	hi_mock_heap_set(h, chunk + size, size);
	hi_mock_heap_set(h, chunk + size + 8,
			 hi_mock_heap_get(h, chunk + size + 8) & ~1ull);
	hi_mock_heap_set(h, chunk + 16, first);
	hi_mock_heap_set(h, chunk + 24, bin);
	hi_mock_heap_set(h, first + 24, chunk);
	hi_mock_heap_set(h, bin + 16, chunk);
}

static uint64_t mangle(const struct hi_mock_heap *h, uint64_t at, uint64_t link)
{
	return release_of(h->minor)->mangled ? link ^ (at >> 12) : link;
}

void hi_mock_heap_free_to_tcache(struct hi_mock_heap *h, uint64_t user)
{
	const struct release *r = release_of(h->minor);
	uint64_t list = (size_of(h, user) - 32) / 16;
	uint8_t *count = hi_memory_mock_at(h->memory, h->tcache + list * r->count_bytes);
	uint64_t head = h->tcache + r->entries + list * 8;

	hi_mock_heap_set(h, user, mangle(h, user, hi_mock_heap_get(h, head)));
	hi_mock_heap_set(h, head, user);
	*count = (uint8_t)(r->counts_down ? *count - 1 : *count + 1);
}

void hi_mock_heap_free_to_fastbin(struct hi_mock_heap *h, uint64_t user)
{
	uint64_t head = h->arena + 16 + (size_of(h, user) - 32) / 16 * 8;

	hi_mock_heap_set(h, user, mangle(h, user, hi_mock_heap_get(h, head)));
	hi_mock_heap_set(h, head, user - 16);
}

uint64_t hi_mock_heap_mmap(struct hi_mock_heap *h, uint64_t pages, uint64_t alignment)
{
	uint64_t start = h->next_mapping, size = pages * 4096, lead = 0;

	add_memory(h, start, size, HI_MAPPING_ANONYMOUS, "");
	hi_mock_heap_set(h, start + 8, size | 2);
	if (alignment) {
		lead = ((start + 16 + alignment - 1) & -alignment) - 16 - start;
		hi_mock_heap_set(h, start + lead, lead);
		hi_mock_heap_set(h, start + lead + 8, (size - lead) | 2);
	}
	h->n_mmaps++;
	h->mmapped_mem += size;
	h->next_mapping += size;
	return start + lead + 16;
}

uint64_t hi_mock_heap_add_arena(struct hi_mock_heap *h, uint64_t *user_ret)
{
	const struct release *r = release_of(h->minor);
	uint64_t heap = ARENAS, arena, chunk, size = 132 << 10;

	while (hi_memory_mock_at(h->memory, heap))
		heap += HEAP_MAX;
	add_memory(h, heap, size, HI_MAPPING_ANONYMOUS, "");
	arena = heap + r->heap_info;
	hi_mock_heap_set(h, heap, arena);
	hi_mock_heap_set(h, heap + 16, size);
	hi_mock_heap_set(h, heap + 24, size);
	init_state(h, arena);
	hi_mock_heap_set(h, arena + 2160, hi_mock_heap_get(h, h->arena + 2160));
	hi_mock_heap_set(h, h->arena + 2160, arena);
	chunk = (arena + 2200 + 15) & ~15ull;
	hi_mock_heap_set(h, chunk + 8, 0x100 | 5);
	hi_mock_heap_set(h, chunk + 0x108, (heap + size - chunk - 0x100) | 1);
	hi_mock_heap_set(h, arena + 96, chunk + 0x100);
	hi_mock_heap_set(h, arena + 2184, size);
	*user_ret = chunk + 16;
	return arena;
}

void hi_mock_heap_finish(struct hi_mock_heap *h)
{
	const struct release *r = release_of(h->minor);
	uint64_t word;

	hi_mock_heap_set(h, h->next + 8, (h->heap_end - h->next) | 1);
	hi_mock_heap_set(h, h->arena + 96, h->next);
	hi_mock_heap_set(h, h->arena + 2184, h->system_mem);
	word = hi_mock_heap_get(h, h->mp + r->n_mmaps) & ~0xffffffffull;
	hi_mock_heap_set(h, h->mp + r->n_mmaps, word | h->n_mmaps);
	hi_mock_heap_set(h, h->mp + r->mmapped_mem, h->mmapped_mem);
}
