/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/mock_mimalloc.h"

#include <stdlib.h>
#include <string.h>

#include "attach/mock.h"
#include "tests/harness.h"

#define SEGMENT 0x20000000000ull
#define DATA 0x7f0000100000ull
enum { DATA_SIZE = 8192, SLICE = 65536, SLICES = 512 };

/* Of include/mimalloc/types.h of each release. */
static const struct structs {
	const char *version;
	unsigned page_size, local_free, used, used_size, block_size, block_size_size,
		page_start, xthread_free, xheap;
	unsigned segment_used, cookie, segment_slices, info_slices, kind, entries,
		thread_id, slices;
	unsigned delayed, heap_thread, heap_cookie, page_count;
} structs[] = {
	{"2.0.9", 80,  32,  24,	 4,   28,  4,	0,    40,   48,	  208,
	 216,	  224, 232, 240, 248, 256, 264, 2840, 2848, 2864, 3024},
	{"2.1.2", 80,  32,  24,	 4,   28,  4,	0,    40,   48,	  208,
	 216,	  224, 232, 240, 248, 256, 264, 2840, 2848, 2864, 3024},
	{"2.1.9", 96,  24,  32,	 2,   40,  8,	48, 56, 64, 216,
	 224,	  248, 256, 264, 272, 280, 288, 8,  16, 32, 192},
};

void mock_mimalloc_set(struct mock_mimalloc *m, uint64_t addr, uint64_t value)
{
	void *p = hi_memory_mock_at(m->memory, addr);

	HI_ASSERT(p);
	memcpy(p, &value, sizeof(value));
}

static void set_small(struct mock_mimalloc *m, uint64_t addr, uint64_t value,
		      unsigned size)
{
	void *p = hi_memory_mock_at(m->memory, addr);

	HI_ASSERT(p);
	memcpy(p, &value, size);
}

static uint64_t get_word(const struct mock_mimalloc *m, uint64_t addr)
{
	uint64_t value;
	void *p = hi_memory_mock_at(m->memory, addr);

	HI_ASSERT(p);
	memcpy(&value, p, sizeof(value));
	return value;
}

static void add_mi_memory(struct mock_mimalloc *m, uint64_t start, uint64_t size)
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

static void destroy_mock_mimalloc(struct mock_mimalloc *m)
{
	hi_image_destroy(m->image);
	free(m);
}

static void init_segment(struct mock_mimalloc *m, const struct structs *s)
{
	mock_mimalloc_set(m, m->segment + s->cookie, m->cookie ^ m->segment);
	mock_mimalloc_set(m, m->segment + s->segment_slices, SLICES);
	mock_mimalloc_set(m, m->segment + s->info_slices, 1);
	mock_mimalloc_set(m, m->segment + s->entries, SLICES);
	mock_mimalloc_set(m, m->segment + s->thread_id, 0x7f0000200740);
	set_small(m, m->segment + s->slices, 1, 4);
	mock_mimalloc_set(m, m->heap, DATA + 4096); /* tld */
	mock_mimalloc_set(m, m->heap + s->heap_thread, 0x7f0000200740);
	mock_mimalloc_set(m, m->heap + s->heap_cookie, m->cookie);
}

struct mock_mimalloc *mock_mimalloc_create(enum mock_mi_release release)
{
	struct mock_mimalloc *m = calloc(1, sizeof(*m));
	struct hi_error err;

	HI_ASSERT(m);
	m->release = release;
	HI_ASSERT_OK(hi_memory_create_mock(&m->memory, &err), &err);
	HI_ASSERT_OK(hi_image_create_mock(m->memory, &m->image, &err), &err);
	hi_test_defer(destroy_mock_mimalloc, m);
	add_mi_memory(m, SEGMENT, SLICES * SLICE);
	add_mi_memory(m, DATA, DATA_SIZE);
	m->module = (struct hi_module){
		.name = "libmock.so", .start = DATA, .end = DATA + DATA_SIZE};
	m->segment = SEGMENT;
	m->heap = DATA + 64;
	m->cookie = 0x9d1c2fe4a76b8351;
	m->next_slice = 1;
	init_segment(m, &structs[release]);
	return m;
}

uint64_t mock_mimalloc_slice(const struct mock_mimalloc *m, uint32_t slice)
{
	const struct structs *s = &structs[m->release];

	return m->segment + s->slices + (uint64_t)slice * s->page_size;
}

static void count_up(struct mock_mimalloc *m, uint64_t addr)
{
	mock_mimalloc_set(m, addr, get_word(m, addr) + 1);
}

/* n blocks from `first` on, in a list; its head. */
static uint64_t link_blocks(struct mock_mimalloc *m, uint64_t start, uint64_t size,
			    uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		mock_mimalloc_set(m, start + (first + i) * size,
				  i + 1 < n ? start + (first + i + 1) * size : 0);
	return n ? start + first * size : 0;
}

static uint64_t start_of_blocks(const struct mock_mimalloc *m, uint64_t area, uint64_t b)
{
	if (m->release == MOCK_MI_2_0_9)
		return area + (b <= 1024 ? 384 : 0);
	return area + (b <= 64 ? 3 * b : b <= 512 ? b : 0);
}

uint64_t mock_mimalloc_page(struct mock_mimalloc *m, uint32_t slices, uint64_t block_size,
			    uint32_t capacity, uint32_t free, uint32_t local,
			    uint32_t others)
{
	const struct structs *s = &structs[m->release];
	uint64_t page = mock_mimalloc_slice(m, m->next_slice);
	uint64_t area = m->segment + (uint64_t)m->next_slice * SLICE;
	uint64_t start = start_of_blocks(m, area, block_size);
	uint64_t reserved = (area + (uint64_t)slices * SLICE - start) / block_size;

	HI_ASSERT(capacity <= reserved && free + local + others <= capacity);
	set_small(m, page, slices, 4);
	set_small(m, page + 10, capacity, 2);
	set_small(m, page + 12, reserved, 2);
	mock_mimalloc_set(m, page + 16, link_blocks(m, start, block_size, 0, free));
	mock_mimalloc_set(m, page + s->local_free,
			  link_blocks(m, start, block_size, free, local));
	mock_mimalloc_set(m, page + s->xthread_free,
			  link_blocks(m, start, block_size, free + local, others) | 2);
	set_small(m, page + s->used, capacity - free - local, s->used_size);
	set_small(m, page + s->block_size, block_size, s->block_size_size);
	if (s->page_start)
		mock_mimalloc_set(m, page + s->page_start, start);
	mock_mimalloc_set(m, page + s->xheap, m->heap);
	count_up(m, m->segment + s->segment_used);
	count_up(m, m->heap + s->page_count);
	m->next_slice += slices;
	return start;
}

void mock_mimalloc_finish(struct mock_mimalloc *m)
{
	set_small(m, mock_mimalloc_slice(m, m->next_slice), SLICES - m->next_slice, 4);
}

const struct hi_mimalloc_layout *mock_mimalloc_layout(enum mock_mi_release release)
{
	const struct hi_mimalloc_layout *l = hi_mimalloc_layouts;

	while (l->version && strcmp(l->version, structs[release].version) != 0)
		l++;
	HI_ASSERT(l->version && !l->encoded);
	return l;
}

struct hi_mimalloc *mock_mimalloc_open(struct mock_mimalloc *m,
				       const struct hi_mimalloc_layout *layout)
{
	struct hi_mi_segments segments = {};
	struct hi_mi_root root = {m->cookie, m->heap + structs[m->release].heap_cookie,
				  &m->module};
	struct hi_mimalloc *ret = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_mimalloc_find_segments(m->image, layout, &segments, &err), &err);
	HI_ASSERT_OK(hi_mimalloc_open(m->image, layout, &segments, &root, &ret, &err),
		     &err);
	hi_vector_free(&segments);
	return ret;
}
