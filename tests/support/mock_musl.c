/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/mock_musl.h"

#include <stdlib.h>
#include <string.h>

#include "attach/mock.h"
#include "tests/harness.h"

enum { PAGE = 4096, DATA = 0x500000 };

static void add_musl_memory(struct mock_musl *m, uint64_t start, uint64_t size,
			    enum hi_mapping_kind kind)
{
	struct hi_mapping mapping = {.start = start,
				     .end = start + size,
				     .prot = HI_PROT_READ | HI_PROT_WRITE,
				     .kind = kind,
				     .held = true,
				     .resident = size,
				     .copied = size,
				     .path = ""};
	struct hi_error err;

	HI_ASSERT_OK(hi_memory_mock_add(m->memory, start, NULL, size, &err), &err);
	HI_ASSERT_OK(hi_image_add_mapping(m->image, &mapping, &err), &err);
}

static void destroy_mock_musl(struct mock_musl *m)
{
	hi_image_destroy(m->image);
	free(m);
}

static struct mock_musl *create_mock_musl(void)
{
	struct mock_musl *m = calloc(1, sizeof(*m));
	struct hi_error err;

	HI_ASSERT(m);
	HI_ASSERT_OK(hi_memory_create_mock(&m->memory, &err), &err);
	HI_ASSERT_OK(hi_image_create_mock(m->memory, &m->image, &err), &err);
	hi_test_defer(destroy_mock_musl, m);
	add_musl_memory(m, DATA, 2 * PAGE, HI_MAPPING_FILE);
	m->root = DATA + 64;
	return m;
}

static void set_musl_bytes(struct mock_musl *m, uint64_t addr, uint64_t value, size_t n)
{
	void *p = hi_memory_mock_at(m->memory, addr);

	HI_ASSERT(p);
	memcpy(p, &value, n);
}

uint64_t mock_musl_get(struct mock_musl *m, uint64_t addr)
{
	uint64_t value;

	memcpy(&value, hi_memory_mock_at(m->memory, addr), sizeof(value));
	return value;
}

void mock_musl_set(struct mock_musl *m, uint64_t addr, uint64_t value)
{
	set_musl_bytes(m, addr, value, sizeof(value));
}

/* ---- mallocng: src/malloc/mallocng/meta.h ---- */

enum {
	GROUPS = 40,
	SLOTS = 31,
	STRIDE = 128,
	AREA = 0x700000,
	HEAP = 0x7f0000000000,
	LARGE = 0x7f0001000000,
	LARGE_SIZE = 200001,
	CONTEXT_ACTIVE = 80,
	CONTEXT_USAGE = 464,
};
static const uint64_t secret = 0x8f3c11d09a7b42e5;

static uint64_t set_meta(struct mock_musl *m, unsigned i, uint64_t mem, uint64_t masks,
			 uint64_t bits)
{
	uint64_t meta = AREA + 24 + (uint64_t)i * 40;

	mock_musl_set(m, meta + 16, mem);
	mock_musl_set(m, meta + 24, masks);
	mock_musl_set(m, meta + 32, bits);
	mock_musl_set(m, mem, meta);
	return meta;
}

/* enframe() without an offset in the slot. */
static void set_slot(struct mock_musl *m, uint64_t mem, unsigned slot, uint64_t stride,
		     uint64_t size)
{
	uint64_t p = mem + 16 + slot * stride, end = p + stride - 4;
	uint64_t reserved = end - p - size;

	set_musl_bytes(m, p - 2, slot * stride / 16, 2);
	set_musl_bytes(m, p - 3, slot | (reserved < 5 ? reserved : 5) << 5, 1);
	if (reserved >= 5)
		set_musl_bytes(m, end - 4, reserved, 4);
	m->live++;
	m->live_bytes += size;
	if (slot == 2)
		m->some = p;
}

/* Slot 3 is freed, and the last two were never used. */
static void add_mock_group(struct mock_musl *m, unsigned i, bool is_divided)
{
	uint64_t mem = HEAP + (uint64_t)i * PAGE;
	uint32_t freed = 1u << 3 | 3u << 29;

	set_meta(m, i, mem, (uint64_t)freed << 32, 30 | 1 << 5 | 7 << 6 | 1 << 12);
	set_musl_bytes(m, mem + 8, 28, 1);
	for (unsigned slot = 0; slot < 29; slot++) {
		if (slot == 3 || (is_divided && slot == 5))
			continue;
		set_slot(m, mem, slot, STRIDE, 1 + (slot * 7 + i) % (STRIDE - 4));
	}
	m->free += 3;
}

/* In slot 5 of the first group: 2 slots of 48 bytes, the second one free. */
static void add_divided_slot(struct mock_musl *m)
{
	uint64_t mem = HEAP + 16 + 5 * STRIDE;

	set_musl_bytes(m, mem - 2, 5 * STRIDE / 16, 2);
	set_musl_bytes(m, mem - 3, 5 | 6 << 5, 1);
	set_meta(m, GROUPS, mem, 2, 1 | 1 << 5 | 2 << 6);
	set_musl_bytes(m, mem + 8, 1, 1);
	set_slot(m, mem, 0, 48, 40);
	m->free++;
}

struct mock_musl *mock_mallocng(void)
{
	struct mock_musl *m = create_mock_musl();
	uint64_t pages = 49, size = pages * PAGE - 16;

	add_musl_memory(m, AREA, PAGE, HI_MAPPING_HEAP);
	add_musl_memory(m, HEAP, GROUPS * PAGE, HI_MAPPING_ANONYMOUS);
	add_musl_memory(m, LARGE, pages * PAGE, HI_MAPPING_ANONYMOUS);
	mock_musl_set(m, AREA, secret);
	mock_musl_set(m, AREA + 16, 101);
	for (unsigned i = 0; i < GROUPS; i++)
		add_mock_group(m, i, i == 0);
	add_divided_slot(m);
	set_meta(m, GROUPS + 1, LARGE, 0, 1 << 5 | 63 << 6 | pages << 12);
	set_slot(m, LARGE, 0, size, LARGE_SIZE < size - 4 ? LARGE_SIZE : size - 4);
	mock_musl_set(m, m->root, secret);
	mock_musl_set(m, m->root + 8, 1);
	mock_musl_set(m, m->root + 24, AREA + 24 + (GROUPS + 2) * 40);
	mock_musl_set(m, m->root + 32, 101 - (GROUPS + 2));
	mock_musl_set(m, m->root + 56, AREA);
	mock_musl_set(m, m->root + 64, AREA);
	mock_musl_set(m, m->root + CONTEXT_USAGE + 7 * 8, GROUPS * SLOTS);
	mock_musl_set(m, m->root + CONTEXT_USAGE + 2 * 8, 2);
	return m;
}

/* ---- oldmalloc: src/malloc/oldmalloc/malloc_impl.h ---- */

enum { OLD_HEAP = 0x10000000, OLD_AREA = 0x7f1000000000, OLD_MAPPED = 0x7f2000000000 };

/* As BIN_TO_CHUNK(i). */
static uint64_t old_bin(const struct mock_musl *m, unsigned i)
{
	return m->root + 8 + i * 24ull + 8 - 16;
}

/* To the end of the list of bin 5, as bin_chunk(). */
static void put_into_bin(struct mock_musl *m, uint64_t chunk)
{
	uint64_t bin = old_bin(m, 5), tail = mock_musl_get(m, bin + 24);

	mock_musl_set(m, chunk + 16, bin);
	mock_musl_set(m, chunk + 24, tail);
	mock_musl_set(m, bin + 24, chunk);
	mock_musl_set(m, tail + 16, chunk);
	mock_musl_set(m, m->root, 1 << 5);
	m->free++;
}

/* Chunks of 32 to 512 bytes from first until the end; every fifth is free. */
static void fill_old_area(struct mock_musl *m, uint64_t start, uint64_t end)
{
	uint64_t at = start + 16, last = end - 16, before = 1;

	for (unsigned i = 0; at < last; i++) {
		uint64_t size = 32 * (1 + i % 16), is_used = i % 5 != 3;

		if (size > last - at || last - at - size < 32)
			size = last - at;
		mock_musl_set(m, at, before);
		before = size | is_used;
		mock_musl_set(m, at + 8, before);
		if (!is_used) {
			put_into_bin(m, at);
		} else {
			m->live++;
			m->live_bytes += size - 16;
			if (i == 10)
				m->some = at + 16;
		}
		at += size;
	}
	mock_musl_set(m, last, before);
	mock_musl_set(m, last + 8, 1);
}

/* aligned: how far aligned_alloc() has moved it. */
static void add_old_mapping(struct mock_musl *m, uint64_t start, uint64_t size,
			    uint64_t aligned)
{
	add_musl_memory(m, start, size, HI_MAPPING_ANONYMOUS);
	mock_musl_set(m, start + 16, 16);
	mock_musl_set(m, start + 24, size - 16);
	mock_musl_set(m, start + aligned + 16, aligned + 16);
	mock_musl_set(m, start + aligned + 24, size - 16 - aligned);
	m->live++;
	m->live_bytes += size - 32 - aligned;
}

struct mock_musl *mock_oldmalloc(void)
{
	struct mock_musl *m = create_mock_musl();

	add_musl_memory(m, OLD_HEAP, 128 * PAGE, HI_MAPPING_HEAP);
	add_musl_memory(m, OLD_AREA, 8 * PAGE, HI_MAPPING_ANONYMOUS);
	for (unsigned i = 0; i < 64; i++) {
		mock_musl_set(m, old_bin(m, i) + 16, old_bin(m, i));
		mock_musl_set(m, old_bin(m, i) + 24, old_bin(m, i));
	}
	fill_old_area(m, OLD_HEAP, OLD_HEAP + 128 * PAGE);
	fill_old_area(m, OLD_AREA, OLD_AREA + 8 * PAGE);
	add_old_mapping(m, OLD_MAPPED, 64 * PAGE, 0);
	/* The user's address is a multiple of 8192, and not before 32. */
	add_old_mapping(m, OLD_MAPPED + 64 * PAGE, 64 * PAGE, 2 * PAGE - 32);
	return m;
}
