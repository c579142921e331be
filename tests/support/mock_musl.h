/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heaps of musl made by hand, as the sources of 1.2.5 say (not as decode/ thinks), for
 * tests. Everything ends with the test.
 */
#ifndef HI_TESTS_SUPPORT_MOCK_MUSL_H
#define HI_TESTS_SUPPORT_MOCK_MUSL_H

#include "attach/image.h"

struct mock_musl {
	struct hi_memory *memory;
	struct hi_image *image;
	uint64_t root; /* __malloc_context, or mal */
	/* What the walk has to say. */
	uint64_t live, live_bytes, free;
	uint64_t some; /* address of a live block, not the first or last one */
};

/* mallocng: groups of 31 slots of 128 bytes in pages of their own, one of which has a
 * group of 2 slots of 48 bytes in a slot; a block of 200,001 bytes. */
struct mock_musl *mock_mallocng(void);
/* oldmalloc: chunks in [heap], in an area of mmap, and two that are mappings. */
struct mock_musl *mock_oldmalloc(void);

uint64_t mock_musl_get(struct mock_musl *m, uint64_t addr);
void mock_musl_set(struct mock_musl *m, uint64_t addr, uint64_t value);

#endif
