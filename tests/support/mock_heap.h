/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * glibc heaps made by hand, for tests: the structs of each release as its
 * sources say (not as decode/ thinks), chunks one behind the other, lists as
 * malloc links them. Everything ends with the test.
 */
#ifndef HI_TESTS_SUPPORT_MOCK_HEAP_H
#define HI_TESTS_SUPPORT_MOCK_HEAP_H

#include "decode/allocators/glibc.h"

struct hi_mock_heap {
	struct hi_mock_heap *older;
	struct hi_memory *memory;
	struct hi_image *image;
	struct hi_glibc_where where;
	unsigned minor;
	uint64_t arena, mp; /* main_arena, mp_ */
	uint64_t heap, heap_end;
	uint64_t next;	 /* where the next chunk comes */
	uint64_t tcache; /* its user bytes; 0 none */
	uint64_t system_mem;
	uint32_t n_mmaps;
	uint64_t mmapped_mem, next_mapping;
};

/* A main arena of 2.minor with an empty heap of `size` bytes and one thread
 * with a tcache. */
struct hi_mock_heap *hi_mock_heap_create(unsigned minor, uint64_t size);
/* Before the test ends, where it makes very many. */
void hi_mock_heap_destroy(struct hi_mock_heap *h);
/* User address of the next chunk for a request of n bytes. */
uint64_t hi_mock_heap_malloc(struct hi_mock_heap *h, uint64_t n);
/* To the unsorted bin. Neighbours must be in use. */
void hi_mock_heap_free_to_bin(struct hi_mock_heap *h, uint64_t user);
void hi_mock_heap_free_to_tcache(struct hi_mock_heap *h, uint64_t user);
void hi_mock_heap_free_to_fastbin(struct hi_mock_heap *h, uint64_t user);
/* A chunk that is a mapping; alignment > 0: as memalign leaves it. */
uint64_t hi_mock_heap_mmap(struct hi_mock_heap *h, uint64_t pages, uint64_t alignment);
/* Another arena whose only heap (64 MiB aligned) has one chunk; its address. */
uint64_t hi_mock_heap_add_arena(struct hi_mock_heap *h, uint64_t *user_ret);
/* Writes the top and the counters: the heap is whole now. */
void hi_mock_heap_finish(struct hi_mock_heap *h);

uint64_t hi_mock_heap_get(struct hi_mock_heap *h, uint64_t addr);
void hi_mock_heap_set(struct hi_mock_heap *h, uint64_t addr, uint64_t value);

#endif
