/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a frozen memory: frozen.c makes and reads them, frozen_send.c sends
 * them. */
#ifndef HI_ATTACH_FROZEN_MEMORY_INTERNAL_H
#define HI_ATTACH_FROZEN_MEMORY_INTERNAL_H

#include "attach/frozen_memory.h"
#include "base/vector.h"

/* See Note [Spans] in frozen.c. */
#define GRANULE_BITS 29
#define GRANULES (1u << (47 - GRANULE_BITS))

struct hi_frozen_span {
	uint64_t start, end;
	unsigned char *host;
	void *block;	    /* holds the four below; NULL: no holes */
	uint64_t *readable; /* words */
	uint64_t *present;  /* words + 1, the last one 0 */
	uint32_t *rank;	    /* words + 1: present pages before that word */
	uint32_t *stop;	    /* words + 1: first word from here with a 0 bit */
};

struct hi_frozen_range {
	uint64_t start, end;
};

struct hi_frozen_block {
	void *pages; /* NULL: freed */
	size_t size;
	int fd;			  /* of hi_sealed_alloc(); -1: it is private memory */
	struct hi_packed *packed; /* NULL: it is as it was read */
};

struct hi_frozen {
	struct hi_memory memory; /* first */
	struct hi_memory_ops ops;
	struct spans HI_VECTOR(struct hi_frozen_span) spans;
	struct ranges HI_VECTOR(struct hi_frozen_range) zeros;
	struct owned HI_VECTOR(struct hi_frozen_block) owned;
	struct held HI_VECTOR(struct hi_frozen_range) held;
	uint32_t *lookup; /* GRANULES + 1 */
	bool knows_residency;
};

/* Words of bits that the pages of a span have. */
static inline uint64_t hi_frozen_words(const struct hi_frozen_span *span)
{
	return ((span->end - span->start + HI_PAGE - 1) / HI_PAGE + 63) / 64;
}
/* The size of its bitmaps. */
static inline size_t hi_frozen_bitmaps_size(uint64_t n_words)
{
	return (n_words + 1) * (2 * sizeof(uint64_t) + 2 * sizeof(uint32_t));
}

/* Zeroed bitmaps of n_words words. False: out of memory. */
bool hi_frozen_alloc_bitmaps(struct hi_frozen_span *span, uint64_t n_words);
/* Once the spans are sorted. */
void hi_frozen_fill_lookup(struct hi_frozen *frozen);
/* More than once is fine. */
void hi_frozen_free_block(struct hi_frozen_block *block);

#endif
