/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/alloc.h"
#include "decode/allocators/window.h"

#include <stdlib.h>

#define BUFFER_SIZE 65536

/* Fills the buffer from addr; how much of it is readable. */
static size_t fill_window(struct hi_window *w, uint64_t addr)
{
	struct hi_error err = {};
	size_t size = BUFFER_SIZE;

	if (addr + size < addr)
		size = -addr;
	if (hi_memory_read(w->memory, addr, w->buffer, size, &err) == HI_OK)
		return size;
	if (err.status != HI_FAULT || err.address <= addr || err.address - addr > size)
		return 0;
	size = err.address - addr;
	return hi_memory_read(w->memory, addr, w->buffer, size, NULL) == HI_OK ? size : 0;
}

const void *hi_window_move(struct hi_window *w, uint64_t addr, size_t need)
{
	size_t avail = 0;
	const uint8_t *view = hi_memory_view(w->memory, addr, &avail);

	if (view && avail >= need) {
		w->host = view;
		w->start = addr;
		w->end = addr + avail;
		return view;
	}
	if (!w->buffer)
		w->buffer = hi_alloc(BUFFER_SIZE);
	if (!w->buffer) {
		w->out_of_memory = true;
		return NULL;
	}
	w->start = w->end = 0;
	avail = fill_window(w, addr);
	if (avail < need)
		return NULL;
	w->host = w->buffer;
	w->start = addr;
	w->end = addr + avail;
	return w->buffer;
}

void hi_window_free(struct hi_window *w)
{
	free(w->buffer);
	w->buffer = NULL;
	w->start = w->end = 0;
}
