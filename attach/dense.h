/* SPDX-License-Identifier: BSD-2-Clause */
/* Huge pages for memory that will be filled in pieces: where at least half of a unit of
 * 2 MiB is. Internal to attach/. */
#ifndef HI_ATTACH_DENSE_H
#define HI_ATTACH_DENSE_H

#include <stddef.h>
#include <stdint.h>

#define HI_HUGE_PAGE (2ull << 20)

/* Set the bounds, zero the rest. Addresses are of this process. */
struct hi_dense {
	uint64_t floor, ceiling; /* advice is given for [floor, ceiling) */
	uint64_t unit;		 /* the one being counted */
	uint64_t held;		 /* its bytes */
	uint64_t start, end;	 /* dense units found so far, [start, end) */
	unsigned advised;
};

/* Bytes [start, start+size) will be filled. In increasing order. */
void hi_dense_add(struct hi_dense *dense, const unsigned char *start, size_t size);
/* No more bytes below the ceiling. New bounds may be set then. */
void hi_dense_end(struct hi_dense *dense);

/* As hi_pages_alloc(), of whole pages; where a huge page fits, the address is as offset
 * modulo its size. */
void *hi_dense_alloc(size_t size, uint64_t offset);

#endif
