/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that is kept compressed after it was read: blocks are compressed one by one and
 * given back, and unpacked again when one is touched, by a pager (pager.h). Its addresses
 * stay valid, and reading it needs no special calls. Internal to attach/.
 */
#ifndef HI_ATTACH_PACKED_H
#define HI_ATTACH_PACKED_H

#include "attach/pager.h"
#include "base/cleanup.h"

struct hi_packed;

struct hi_packed_request {
	/* Private pages, borrowed until the destroy; nothing may write to them from now
	 * on. Threads may be reading them. */
	unsigned char *area;
	size_t size;
	/* The parts of it that have contents, by host, disjoint; whole pages. Others read
	 * as zeros. Borrowed for the call. addr does not matter. */
	const struct hi_pager_range *ranges;
	size_t n_ranges;
	uint64_t budget; /* bytes that may be unpacked at once, HI_PAGER_LEAST or more */
	uint64_t most;	 /* bytes to pack now, about; 0: all */
};

/* Packs it, or its first part. *ret: freed by hi_packed_destroy(). Memory that runs out while it is packed is
 * no failure: the rest stays as it is. HI_UNSUPPORTED: no userfaultfd here; then nothing
 * was packed. HI_NO_MEMORY, HI_LIMIT, HI_OS: the same. */
enum hi_status hi_packed_create(const struct hi_packed_request *request,
				struct hi_packed **ret, struct hi_error *err);

/* Packs the rest, if not all was packed. One thread at a time. */
void hi_packed_continue(struct hi_packed *packed);

struct hi_packed_stats {
	uint64_t packed; /* bytes that are given back */
	uint64_t stored; /* bytes that they take instead */
	uint64_t lost;	 /* bytes that could not be unpacked and were read as zeros */
};

/* The figures so far, when it was made. Thread-safe. */
struct hi_packed_stats hi_packed_stats(const struct hi_packed *packed);
/* Frees it; no thread may be reading the area, whose contents are lost. NULL is fine. */
void hi_packed_destroy(struct hi_packed *packed);
HI_DEFINE_GUARD(struct hi_packed *, hi_packed_destroy)

#endif
