/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heaps of tcmalloc made by hand, for tests: the structs of each release as its sources
 * say (not as decode/ thinks). Everything ends with the test.
 */
#ifndef HI_TESTS_SUPPORT_MOCK_TCMALLOC_H
#define HI_TESTS_SUPPORT_MOCK_TCMALLOC_H

#include "decode/allocators/tcmalloc.h"

enum mock_tcmalloc_release { MOCK_TCMALLOC_2_10, MOCK_TCMALLOC_2_11, MOCK_TCMALLOC_2_16 };

struct mock_tcmalloc {
	struct hi_memory *memory;
	struct hi_image *image;
	struct hi_tcmalloc_data data;
	unsigned shift;
	uint64_t sizes, central, root, head, leaf; /* addresses */
	uint64_t next_page, next_span, next_cache, last_cache;
	unsigned link_offset; /* of next_ in ThreadCache */
	uint64_t n_live;
};

/* An empty heap with the caches of no thread. */
struct mock_tcmalloc *mock_tcmalloc_create(enum mock_tcmalloc_release release,
					   unsigned page_shift);
/* A span of size class `class` whose first n_used blocks are in use; its Span. */
uint64_t mock_tcmalloc_add_span(struct mock_tcmalloc *m, unsigned class, unsigned n_used);
/* location 0: a large block; 1 or 2: free, or returned. */
uint64_t mock_tcmalloc_add_pages(struct mock_tcmalloc *m, unsigned pages,
				 unsigned location);
/* A large block that stands for one of `size` bytes that was sampled. */
uint64_t mock_tcmalloc_add_sampled(struct mock_tcmalloc *m, uint64_t size);
/* A thread's cache that is linked in; its address. */
uint64_t mock_tcmalloc_add_cache(struct mock_tcmalloc *m);
/* Blocks [first, first + n) of a span, which were in use, go there. */
void mock_tcmalloc_cache(struct mock_tcmalloc *m, uint64_t cache, uint64_t span,
			 unsigned first, unsigned n);
void mock_tcmalloc_transfer(struct mock_tcmalloc *m, uint64_t span, unsigned first);
unsigned mock_tcmalloc_moves(unsigned class); /* blocks of one transfer */
uint64_t mock_tcmalloc_size(unsigned class);
uint64_t mock_tcmalloc_block(struct mock_tcmalloc *m, uint64_t span, unsigned i);

uint64_t mock_tcmalloc_get(struct mock_tcmalloc *m, uint64_t addr);
void mock_tcmalloc_set(struct mock_tcmalloc *m, uint64_t addr, uint64_t value);
/* A heap with some of everything. */
struct mock_tcmalloc *mock_tcmalloc_typical(enum mock_tcmalloc_release release,
					    unsigned page_shift);

#endif
