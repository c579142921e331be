/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HI_TESTS_SUPPORT_HEAP_SAMPLE_H
#define HI_TESTS_SUPPORT_HEAP_SAMPLE_H

#include "tests/support/mock_heap.h"

/* A heap with a block of every kind. */
struct heap_sample {
	struct hi_mock_heap *h;
	uint64_t live[6], tcache[3], fast[3], bin[2], mmapped, aligned;
	uint64_t arena, arena_block;
};

struct heap_sample heap_sample_make(unsigned minor);

#endif
