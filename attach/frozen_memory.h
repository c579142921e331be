/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Immutable memory: spans of target addresses, each one contiguous area of this process.
 * Filled by copy.c or core.c, then sealed; from then on immutable and read by any number
 * of threads. See Note [Spans] in frozen.c.
 */
#ifndef HI_ATTACH_FROZEN_MEMORY_H
#define HI_ATTACH_FROZEN_MEMORY_H

#include "attach/memory.h"
#include "attach/packed.h"

#define HI_PAGE 4096u

/* Facts about a run of pages; sorted, disjoint. */
enum hi_page_flags {
	HI_PAGES_PRESENT = 1,  /* in the target's RSS */
	HI_PAGES_HELD = 2,     /* copied, or to be copied */
	HI_PAGES_SWAPPED = 4,  /* not in memory at the stop */
	HI_PAGES_ZERO = 8,     /* the shared page of zeros: readable, not in RSS */
	HI_PAGES_LIVE = 16,    /* read while the target ran */
	HI_PAGES_MISSING = 32, /* in the child: read from the target itself */
};

struct hi_pages {
	uint64_t start, end;
	uint32_t flags;
};

struct hi_frozen;

/* An empty memory; name is borrowed. Destroyed through hi_frozen_memory().
 * HI_NO_MEMORY. */
enum hi_status hi_frozen_create(const char *name, struct hi_frozen **ret,
				struct hi_error *err);
/* The memory's interface. hi_memory_destroy() of it frees frozen. */
struct hi_memory *hi_frozen_memory(struct hi_frozen *frozen);
/* Target addresses [start, end) have their bytes at host. Spans may not overlap;
 * any order. */
enum hi_status hi_frozen_add_span(struct hi_frozen *frozen, uint64_t start, uint64_t end,
				  unsigned char *host, struct hi_error *err);
/* Takes over the pages that contain the hosts of the spans; the destroy gives them to
 * hi_pages_free. On failure they stay the caller's. */
enum hi_status hi_frozen_own(struct hi_frozen *frozen, void *pages, size_t size,
			     struct hi_error *err);
/* The same for pages of hi_sealed_alloc(); fd is closed then. -1: private pages. */
enum hi_status hi_frozen_own_sealed(struct hi_frozen *frozen, void *pages, size_t size,
				    int fd, struct hi_error *err);
/* Private anonymous memory: where it is neither held nor swapped, it is zeros.
 * In increasing order. */
enum hi_status hi_frozen_add_zeros(struct hi_frozen *frozen, uint64_t start, uint64_t end,
				   struct hi_error *err);
/* madvise() of all that it owns. */
void hi_frozen_advise(struct hi_frozen *frozen, int advice);
/* Frees the pages that were sent, and empties those that were not: nothing may be read
 * any more. */
void hi_frozen_give_away(struct hi_frozen *frozen);
/* After the seal: pages [start, end) are not held after all, and cannot be read.
 * HI_NO_MEMORY. */
enum hi_status hi_frozen_leave_out(struct hi_frozen *frozen, uint64_t start, uint64_t end,
				   struct hi_error *err);
/*
 * Takes pages (from hi_alloc) even on failure. NULL: everything in the spans is
 * held, and residency is unknown. Call once, last.
 */
enum hi_status hi_frozen_seal(struct hi_frozen *frozen, struct hi_pages *pages,
			      size_t n_pages, struct hi_error *err);
/* Compresses its private pages, if they hold so many bytes at least, and gives them back;
 * what is read of them later is unpacked (packed.h). Packs `most` bytes of each block
 * of them first, 0: all, and the rest when it is called again. After the seal. HI_UNSUPPORTED: that
 * is not possible here, or it has no such pages. HI_NO_MEMORY, HI_LIMIT, HI_OS: nothing has
 * changed, or only some of them were packed. */
enum hi_status hi_frozen_pack(struct hi_frozen *frozen, uint64_t least, uint64_t most,
			      struct hi_error *err);
/* The figures of all its blocks; zeros: none was packed. */
struct hi_packed_stats hi_frozen_packed(const struct hi_frozen *frozen);
/* Bytes of [start, end) that were present; partial pages count in part. */
uint64_t hi_frozen_resident(const struct hi_frozen *frozen, uint64_t start, uint64_t end);
/* See hi_image_next_held. */
bool hi_frozen_next_held(const struct hi_frozen *frozen, uint64_t addr, uint64_t limit,
			 uint64_t *start_ret, uint64_t *end_ret);

#endif
