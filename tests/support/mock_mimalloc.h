/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A heap of mimalloc made by hand, for tests: one segment with pages, by the structs of
 * the releases as their sources say (not as decode/ thinks). It ends with the test.
 */
#ifndef HI_TESTS_SUPPORT_MOCK_MIMALLOC_H
#define HI_TESTS_SUPPORT_MOCK_MIMALLOC_H

#include "decode/allocators/mimalloc.h"

enum mock_mi_release { MOCK_MI_2_0_9, MOCK_MI_2_1_2, MOCK_MI_2_1_9, MOCK_MI_RELEASES };

struct mock_mimalloc {
	enum mock_mi_release release;
	struct hi_memory *memory;
	struct hi_image *image;
	struct hi_module module; /* its data is [start, end) */
	uint64_t segment, heap, cookie;
	uint32_t next_slice;
};

/* A segment without pages, and the heap that it belongs to. */
struct mock_mimalloc *mock_mimalloc_create(enum mock_mi_release release);
/* The next page: `slices` of 64 KiB, of which `capacity` blocks were handed out and
 * `free` are in its list; then `local` in local_free, `others` in xthread_free. Returns
 * the address of block 0. Block k of those that are free is block k of the page. */
uint64_t mock_mimalloc_page(struct mock_mimalloc *m, uint32_t slices, uint64_t block_size,
			    uint32_t capacity, uint32_t free, uint32_t local,
			    uint32_t others);
/* The address of mi_page_t of the page that begins in this slice. */
uint64_t mock_mimalloc_slice(const struct mock_mimalloc *m, uint32_t slice);
/* What is left of the segment becomes a free span. */
void mock_mimalloc_finish(struct mock_mimalloc *m);
void mock_mimalloc_set(struct mock_mimalloc *m, uint64_t addr, uint64_t value);
/* Opens it by this layout; the caller releases it. */
struct hi_mimalloc *mock_mimalloc_open(struct mock_mimalloc *m,
				       const struct hi_mimalloc_layout *layout);
/* The plain layout of the release. */
const struct hi_mimalloc_layout *mock_mimalloc_layout(enum mock_mi_release release);

#endif
