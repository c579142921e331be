/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/mock_tcmalloc.h"

#include <stdlib.h>
#include <string.h>

#include "attach/mock.h"
#include "tests/harness.h"

#define DATA 0x7f0000000000ull
#define DATA_SIZE (4ull << 20)
#define META 0x7e0000000000ull
#define META_SIZE (4ull << 20)
#define SPANS (META + (2ull << 20))
#define CACHES (META + (3ull << 20))
#define HEAP 0x10000000000ull
#define HEAP_SIZE (16ull << 20)

enum { CENTRAL_BYTES = 1216, SPAN_BYTES = 48, CACHE_BYTES = 4160, PAGES_OF_ALL = 1 };

static const uint32_t sizes[] = {0,    8,    16,    32,	   48,	  64,	  80,
				 96,   112,  128,   256,   512,	  1024,	  2048,
				 4096, 8192, 16384, 32768, 65536, 131072, 262144};
enum { CLASSES = sizeof(sizes) / sizeof(*sizes) };

uint64_t mock_tcmalloc_get(struct mock_tcmalloc *m, uint64_t addr)
{
	uint64_t value;
	void *p = hi_memory_mock_at(m->memory, addr);

	HI_ASSERT(p);
	memcpy(&value, p, sizeof(value));
	return value;
}

void mock_tcmalloc_set(struct mock_tcmalloc *m, uint64_t addr, uint64_t value)
{
	void *p = hi_memory_mock_at(m->memory, addr);

	HI_ASSERT(p);
	memcpy(p, &value, sizeof(value));
}

static void set32(struct mock_tcmalloc *m, uint64_t addr, uint32_t value)
{
	void *p = hi_memory_mock_at(m->memory, addr);

	HI_ASSERT(p);
	memcpy(p, &value, sizeof(value));
}

static uint32_t get32(struct mock_tcmalloc *m, uint64_t addr)
{
	return (uint32_t)mock_tcmalloc_get(m, addr);
}

static void add_memory(struct mock_tcmalloc *m, uint64_t start, uint64_t size)
{
	struct hi_mapping mapping = {.start = start,
				     .end = start + size,
				     .prot = HI_PROT_READ | HI_PROT_WRITE,
				     .kind = HI_MAPPING_ANONYMOUS,
				     .path = "",
				     .held = true,
				     .resident = size,
				     .copied = size};
	struct hi_error err;

	HI_ASSERT_OK(hi_memory_mock_add(m->memory, start, NULL, size, &err), &err);
	HI_ASSERT_OK(hi_image_add_mapping(m->image, &mapping, &err), &err);
}

/* So that a block of every class fits. */
static uint64_t pages_of(const struct mock_tcmalloc *m, unsigned class)
{
	uint64_t pages = (sizes[class] + (1ull << m->shift) - 1) >> m->shift;

	return pages ? pages : PAGES_OF_ALL;
}

uint64_t mock_tcmalloc_size(unsigned class)
{
	return sizes[class];
}

unsigned mock_tcmalloc_moves(unsigned class)
{
	return sizes[class] <= 2048 ? 32 : 2;
}

static void init_size_map(struct mock_tcmalloc *m, enum mock_tcmalloc_release release)
{
	for (unsigned i = 1; i < CLASSES; i++) {
		set32(m, m->sizes + i * 4, sizes[i]);
		set32(m, m->sizes - 512 + i * 4, mock_tcmalloc_moves(i));
		mock_tcmalloc_set(m, m->sizes + 516 + i * 8, pages_of(m, i));
	}
	if (release == MOCK_TCMALLOC_2_10) {
		mock_tcmalloc_set(m, m->sizes + 1540, CLASSES);
	} else {
		mock_tcmalloc_set(m, m->sizes + 1540, 1);
		mock_tcmalloc_set(m, m->sizes + 1548, CLASSES);
	}
}

static void init_central(struct mock_tcmalloc *m)
{
	for (unsigned i = 0; i < CLASSES; i++) {
		uint64_t at = m->central + i * CENTRAL_BYTES;

		mock_tcmalloc_set(m, at + 8, i);
		set32(m, at + 1156, 16);
		set32(m, at + 1160, 64);
		for (unsigned head = 16; head <= 64; head += 48) {
			mock_tcmalloc_set(m, at + head + 16, at + head);
			mock_tcmalloc_set(m, at + head + 24, at + head);
		}
	}
}

static void release_mock(struct mock_tcmalloc *m)
{
	hi_image_destroy(m->image);
	free(m);
}

struct mock_tcmalloc *mock_tcmalloc_create(enum mock_tcmalloc_release release,
					   unsigned page_shift)
{
	struct mock_tcmalloc *m = calloc(1, sizeof(*m));
	struct hi_error err;

	HI_ASSERT(m);
	HI_ASSERT_OK(hi_memory_create_mock(&m->memory, &err), &err);
	HI_ASSERT_OK(hi_image_create_mock(m->memory, &m->image, &err), &err);
	hi_test_defer(release_mock, m);
	add_memory(m, DATA, DATA_SIZE);
	add_memory(m, META, META_SIZE);
	add_memory(m, HEAP, HEAP_SIZE);
	m->data = (struct hi_tcmalloc_data){.module = "mock.so",
					    .start = DATA,
					    .end = DATA + DATA_SIZE,
					    .ranges = {{DATA, DATA + DATA_SIZE, false}},
					    .n_ranges = 1};
	m->shift = page_shift;
	m->root = DATA + 0x1000;
	m->sizes = DATA + 0x280004;
	m->central = DATA + 0x290000;
	m->head = DATA + 0x2d0000;
	m->leaf = META;
	m->next_page = HEAP >> page_shift;
	m->next_span = SPANS;
	m->next_cache = CACHES;
	m->link_offset = release == MOCK_TCMALLOC_2_16 ? 4128 : 4144;
	init_size_map(m, release);
	init_central(m);
	mock_tcmalloc_set(m, m->root + (m->next_page >> ((48 - page_shift + 1) / 2)) * 8,
			  m->leaf);
	return m;
}

static uint64_t add_raw_span(struct mock_tcmalloc *m, uint64_t pages, bool all_pages)
{
	uint64_t span = m->next_span, mask = (1ull << ((48 - m->shift + 1) / 2)) - 1;

	m->next_span += SPAN_BYTES;
	mock_tcmalloc_set(m, span, m->next_page);
	mock_tcmalloc_set(m, span + 8, pages);
	for (uint64_t i = 0; i < pages; i++)
		if (all_pages || i == 0 || i + 1 == pages)
			mock_tcmalloc_set(m, m->leaf + ((m->next_page + i) & mask) * 8,
					  span);
	m->next_page += pages;
	HI_ASSERT(m->next_page << m->shift <= HEAP + HEAP_SIZE);
	return span;
}

uint64_t mock_tcmalloc_block(struct mock_tcmalloc *m, uint64_t span, unsigned i)
{
	unsigned class = get32(m, span + 40) >> 16 & 0xff;

	return (mock_tcmalloc_get(m, span) << m->shift) + (uint64_t)i * sizes[class];
}

static void link_span(struct mock_tcmalloc *m, uint64_t span, uint64_t head)
{
	uint64_t next = mock_tcmalloc_get(m, head + 16);

	mock_tcmalloc_set(m, span + 16, next);
	mock_tcmalloc_set(m, span + 24, head);
	mock_tcmalloc_set(m, next + 24, span);
	mock_tcmalloc_set(m, head + 16, span);
}

uint64_t mock_tcmalloc_add_span(struct mock_tcmalloc *m, unsigned class, unsigned n_used)
{
	uint64_t span = add_raw_span(m, pages_of(m, class), true);
	uint64_t central = m->central + class * CENTRAL_BYTES;
	unsigned n = (unsigned)((pages_of(m, class) << m->shift) / sizes[class]);

	HI_ASSERT(n_used <= n);
	set32(m, span + 40, n_used | class << 16);
	for (unsigned i = n_used; i < n; i++)
		mock_tcmalloc_set(m, mock_tcmalloc_block(m, span, i),
				  i + 1 < n ? mock_tcmalloc_block(m, span, i + 1) : 0);
	if (n_used < n)
		mock_tcmalloc_set(m, span + 32, mock_tcmalloc_block(m, span, n_used));
	link_span(m, span, central + (n_used < n ? 64 : 16));
	mock_tcmalloc_set(m, central + 112, mock_tcmalloc_get(m, central + 112) + 1);
	mock_tcmalloc_set(m, central + 120,
			  mock_tcmalloc_get(m, central + 120) + n - n_used);
	m->n_live += n_used;
	return span;
}

uint64_t mock_tcmalloc_add_pages(struct mock_tcmalloc *m, unsigned pages,
				 unsigned location)
{
	uint64_t span = add_raw_span(m, pages, false);

	set32(m, span + 40, location << 24);
	m->n_live += location == 0;
	return span;
}

uint64_t mock_tcmalloc_add_sampled(struct mock_tcmalloc *m, uint64_t size)
{
	uint64_t pages = (size + (1ull << m->shift) - 1) >> m->shift;
	uint64_t span = mock_tcmalloc_add_pages(m, (unsigned)pages, 0);
	uint64_t trace = m->next_span;

	m->next_span += 264; /* sizeof(StackTrace) */
	mock_tcmalloc_set(m, trace, size);
	mock_tcmalloc_set(m, span + 32, trace);
	set32(m, span + 40, 1u << 26);
	return span;
}

uint64_t mock_tcmalloc_add_cache(struct mock_tcmalloc *m)
{
	uint64_t cache = m->next_cache, first = mock_tcmalloc_get(m, m->head);

	m->next_cache += CACHE_BYTES;
	for (unsigned i = 1; i < CLASSES; i++)
		set32(m, cache + i * 32 + 24, sizes[i]);
	mock_tcmalloc_set(m, cache + m->link_offset, first);
	if (first)
		mock_tcmalloc_set(m, first + m->link_offset + 8, cache);
	mock_tcmalloc_set(m, m->head, cache);
	return cache;
}

static void link_blocks(struct mock_tcmalloc *m, uint64_t span, unsigned first,
			unsigned n, uint64_t after)
{
	for (unsigned i = 0; i < n; i++)
		mock_tcmalloc_set(m, mock_tcmalloc_block(m, span, first + i),
				  i + 1 < n ? mock_tcmalloc_block(m, span, first + i + 1)
					    : after);
	m->n_live -= n;
}

void mock_tcmalloc_cache(struct mock_tcmalloc *m, uint64_t cache, uint64_t span,
			 unsigned first, unsigned n)
{
	unsigned class = get32(m, span + 40) >> 16 & 0xff;
	uint64_t list = cache + class * 32;

	link_blocks(m, span, first, n, mock_tcmalloc_get(m, list));
	mock_tcmalloc_set(m, list, mock_tcmalloc_block(m, span, first));
	set32(m, list + 8, get32(m, list + 8) + n);
	set32(m, cache + 4096, get32(m, cache + 4096) + n * sizes[class]);
}

void mock_tcmalloc_transfer(struct mock_tcmalloc *m, uint64_t span, unsigned first)
{
	unsigned class = get32(m, span + 40) >> 16 & 0xff;
	unsigned n = mock_tcmalloc_moves(class);
	uint64_t central = m->central + class * CENTRAL_BYTES;
	uint32_t used = get32(m, central + 1152);

	link_blocks(m, span, first, n, 0);
	mock_tcmalloc_set(m, central + 128 + used * 16,
			  mock_tcmalloc_block(m, span, first));
	mock_tcmalloc_set(m, central + 136 + used * 16,
			  mock_tcmalloc_block(m, span, first + n - 1));
	set32(m, central + 1152, used + 1);
}

struct mock_tcmalloc *mock_tcmalloc_typical(enum mock_tcmalloc_release release,
					    unsigned page_shift)
{
	struct mock_tcmalloc *m = mock_tcmalloc_create(release, page_shift);
	uint64_t one = mock_tcmalloc_add_cache(m), two = mock_tcmalloc_add_cache(m);

	mock_tcmalloc_add_span(m, 1, 400);
	for (unsigned class = 2; class < 12; class ++) {
		uint64_t span, full;
		unsigned n = (unsigned)((pages_of(m, class) << m->shift) / sizes[class]);

		mock_tcmalloc_add_pages(m, 2, class % 3);
		mock_tcmalloc_add_span(m, class, n / 3);
		mock_tcmalloc_add_span(m, class, n);
		span = mock_tcmalloc_add_span(m, class, n / 2);
		full = mock_tcmalloc_add_span(m, class, n);
		if (n < 64)
			continue;
		mock_tcmalloc_cache(m, one, span, 0, 5);
		mock_tcmalloc_cache(m, two, full, 3, 4);
		mock_tcmalloc_cache(m, two, span, 9, 2);
		mock_tcmalloc_transfer(m, full, 20);
	}
	return m;
}
