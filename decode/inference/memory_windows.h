/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fast access to the bytes of objects and ranges: host addresses of whole heap regions
 * that the image holds in one piece (windows), and spans for everything else. Unreadable
 * bytes are skipped and counted, never replaced by zeros.
 */
#ifndef HI_DECODE_INFERENCE_MEMORY_WINDOWS_H
#define HI_DECODE_INFERENCE_MEMORY_WINDOWS_H

#include "attach/image.h"
#include "census/graph/objects.h"

/* Target bytes [start, end) that are at `host` in this process. */
struct hi_memory_window {
	uint64_t start, end;
	const uint8_t *host; /* of start */
};

struct hi_memory_windows {
	struct hi_memory *memory;
	struct hi_memory_window *regions; /* sorted; first piece of each lookup region */
	uint32_t n_regions;
};

/* Borrows memory. windows: hi_memory_windows_deinit(). */
enum hi_status hi_memory_windows_init(struct hi_memory_windows *windows,
				      struct hi_memory *memory,
				      const struct hi_objects *objects,
				      struct hi_error *err);
void hi_memory_windows_deinit(struct hi_memory_windows *windows);

/* The slow path of hi_memory_windows_at: the window that contains addr; its host is NULL
 * if there is none. */
struct hi_memory_window hi_memory_windows_find(const struct hi_memory_windows *windows,
					       uint64_t addr);

/* Host address of [addr, addr+size), NULL where it is not in one piece. *cache is zeroed
 * at first, and belongs to one thread. */
static inline const uint8_t *
hi_memory_windows_at(const struct hi_memory_windows *memory_windows,
		     struct hi_memory_window *cache, uint64_t addr, uint64_t size)
{
	if (addr < cache->start || addr >= cache->end) {
		struct hi_memory_window found =
			hi_memory_windows_find(memory_windows, addr);

		if (!found.host)
			return NULL;
		*cache = found;
	}
	return cache->end - addr >= size ? cache->host + (addr - cache->start) : NULL;
}

/*
 * Walks the readable parts of [addr, end). If the memory has no window, at most a scratch
 * buffer at a time. Pages that the target never touched are skipped: they are zeros, and
 * there may be terabytes of them.
 */
struct hi_spans {
	const struct hi_image *image;
	uint64_t addr, end;
	uint64_t held_end;   /* 0 at first */
	uint64_t unreadable; /* bytes, so far */
	uint8_t *scratch;    /* HI_SPAN_SCRATCH bytes, or NULL: windows only */
};
enum { HI_SPAN_SCRATCH = 1 << 16 };

/* The next span. *addr_ret is 8-aligned if the range's start is; *size_ret is a multiple
 * of 8 except at the end. False: there are no more. */
bool hi_spans_next(struct hi_spans *spans, const uint8_t **host_ret, uint64_t *addr_ret,
		   uint64_t *size_ret);

/* The seam of two spans: words that are not aligned lie in both. Zeroed before the first
 * span. */
enum { HI_SEAM_SIDE = 7 };
struct hi_seam {
	uint64_t end; /* of the last span */
	size_t n;     /* its last bytes */
	uint8_t bytes[HI_SEAM_SIDE];
};
/* To be called for each span in turn: writes the last bytes of the one before and the
 * first of this one into out, if they meet. Returns how many; *addr_ret: of the first. */
size_t hi_seam_next(struct hi_seam *seam, const uint8_t *host, uint64_t addr,
		    uint64_t size, uint8_t out[2 * HI_SEAM_SIDE], uint64_t *addr_ret);

#endif
