/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes of objects and ranges, fast: host addresses of whole heap regions that
 * the image holds in one piece, and spans for everything else. Unreadable
 * bytes are skipped and counted, never invented.
 */
#ifndef HI_DECODE_INFERENCE_VIEWS_H
#define HI_DECODE_INFERENCE_VIEWS_H

#include "attach/image.h"
#include "census/graph/objects.h"

struct hi_view {
	uint64_t start, end;
	const uint8_t *host; /* of start */
};

struct hi_views {
	struct hi_memory *memory;
	struct hi_view *regions; /* sorted; first piece of each lookup region */
	uint32_t n_regions;
};

enum hi_status hi_views_init(struct hi_views *views, struct hi_memory *memory,
			     const struct hi_objects *objects, struct hi_error *err);
void hi_views_deinit(struct hi_views *views);

/* Slow path: a view that covers addr, NULL host if there is none. */
struct hi_view hi_views_find(const struct hi_views *views, uint64_t addr);

/* Host address of [addr, addr+size), or NULL where it is not in one piece;
 * *cache starts zeroed and is one thread's own. */
static inline const uint8_t *hi_views_at(const struct hi_views *views,
					 struct hi_view *cache, uint64_t addr,
					 uint64_t size)
{
	if (addr < cache->start || addr >= cache->end) {
		struct hi_view found = hi_views_find(views, addr);

		if (!found.host)
			return NULL;
		*cache = found;
	}
	return cache->end - addr >= size ? cache->host + (addr - cache->start) : NULL;
}

/*
 * Walks the readable parts of [addr, end), at most a scratch buffer at a time
 * where the memory has no view. What was never touched is passed over: zeros
 * hold no pointers, and there may be terabytes of them.
 */
struct hi_spans {
	const struct hi_image *image;
	uint64_t addr, end;
	uint64_t held_end;   /* 0 at first */
	uint64_t unreadable; /* bytes, so far */
	uint8_t *scratch;    /* HI_SPAN_SCRATCH bytes, or NULL: views only */
};
enum { HI_SPAN_SCRATCH = 1 << 16 };

/* The next span: *addr_ret is 8-aligned if the range's start was, its size a
 * multiple of 8 except at the end; false at the end. */
bool hi_spans_next(struct hi_spans *spans, const uint8_t **host_ret, uint64_t *addr_ret,
		   uint64_t *size_ret);

#endif
