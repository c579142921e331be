/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading the image on and on: a window that moves along. For allocators and tests. */
#ifndef HI_ALLOCATORS_WINDOW_H
#define HI_ALLOCATORS_WINDOW_H

#include "attach/memory.h"

/* Zero-initialise but for memory; free with hi_window_free(). */
struct hi_window {
	struct hi_memory *memory;
	uint64_t start, end;
	const uint8_t *host;
	uint8_t *buffer;
	bool out_of_memory; /* the buffer could not be made */
};
const void *hi_window_move(struct hi_window *w, uint64_t addr, size_t need);
void hi_window_free(struct hi_window *w);
/* `need` bytes (64 KiB at most) at addr, NULL if not readable. Valid until the next
 * call. */
static inline const void *hi_window_at(struct hi_window *w, uint64_t addr, size_t need)
{
	uint64_t offset = addr - w->start;

	if (addr >= w->start && offset < w->end - w->start &&
	    w->end - w->start - offset >= need)
		return w->host + offset;
	return hi_window_move(w, addr, need);
}
/* Reads one little-endian integer at addr. False: unreadable. */
static inline bool hi_window_u64(struct hi_window *w, uint64_t addr, uint64_t *ret)
{
	const void *p = hi_window_at(w, addr, sizeof(*ret));

	if (p)
		__builtin_memcpy(ret, p, sizeof(*ret));
	return p;
}
static inline bool hi_window_u32(struct hi_window *w, uint64_t addr, uint32_t *ret)
{
	const void *p = hi_window_at(w, addr, sizeof(*ret));

	if (p)
		__builtin_memcpy(ret, p, sizeof(*ret));
	return p;
}
static inline bool hi_window_u16(struct hi_window *w, uint64_t addr, uint16_t *ret)
{
	const void *p = hi_window_at(w, addr, sizeof(*ret));

	if (p)
		__builtin_memcpy(ret, p, sizeof(*ret));
	return p;
}

#endif
