/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/inference/memory_windows.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/alloc.h"

enum { PAGE = 4096, MAX_GAP_STEPS = 1 << 16 };

enum hi_status hi_memory_windows_init(struct hi_memory_windows *memory_windows,
				      struct hi_memory *memory,
				      const struct hi_objects *objects,
				      struct hi_error *err)
{
	memory_windows->memory = memory;
	memory_windows->n_regions = 0;
	memory_windows->regions =
		hi_calloc(objects->n_regions, sizeof(*memory_windows->regions));
	if (!memory_windows->regions)
		return hi_fail_memory(err, "memory windows");
	for (uint32_t i = 0; i < objects->n_regions; i++) {
		uint64_t start = objects->regions[i].start;
		size_t avail = 0;
		const void *host = hi_memory_view(memory, start, &avail);

		memory_windows->regions[i] = (struct hi_memory_window){
			start, start + (host ? avail : 0), host};
	}
	memory_windows->n_regions = objects->n_regions;
	return HI_OK;
}

void hi_memory_windows_deinit(struct hi_memory_windows *memory_windows)
{
	free(memory_windows->regions);
	memory_windows->regions = NULL;
	memory_windows->n_regions = 0;
}

struct hi_memory_window
hi_memory_windows_find(const struct hi_memory_windows *memory_windows, uint64_t addr)
{
	uint32_t low = hi_search(i, memory_windows->n_regions,
				 memory_windows->regions[i].start <= addr);
	size_t avail = 0;
	const void *host;

	if (low && addr < memory_windows->regions[low - 1].end)
		return memory_windows->regions[low - 1];
	host = hi_memory_view(memory_windows->memory, addr, &avail);
	return (struct hi_memory_window){addr, addr + avail, host};
}

/* Copies, where there is no window: as much as is readable of this page or, at best, of a
 * whole scratch buffer. */
static uint64_t read_some(struct hi_spans *spans, uint64_t want)
{
	uint64_t to_page_end = PAGE - spans->addr % PAGE;

	if (!spans->scratch)
		return 0;
	if (want > HI_SPAN_SCRATCH)
		want = HI_SPAN_SCRATCH;
	if (hi_memory_read(spans->image->memory, spans->addr, spans->scratch, want,
			   NULL) == HI_OK)
		return want;
	if (want > to_page_end)
		want = to_page_end;
	return hi_memory_read(spans->image->memory, spans->addr, spans->scratch, want,
			      NULL) == HI_OK
		       ? want
		       : 0;
}

/* Bytes of [addr, end), which were not copied, that do not read as zeros. */
static uint64_t count_unreadable(struct hi_memory *memory, uint64_t addr, uint64_t end)
{
	uint64_t sum = 0;

	for (unsigned steps = 0; addr < end; steps++) {
		uint64_t left = end - addr, n = PAGE - addr % PAGE;
		size_t avail = 0;

		if (hi_memory_view(memory, addr, &avail))
			n = avail;
		else if (steps == MAX_GAP_STEPS)
			return sum + left;
		n = n < left ? n : left;
		if (!avail)
			sum += n;
		if (steps > MAX_GAP_STEPS)
			break; /* gigabytes of zeros */
		addr += n;
	}
	return sum;
}

/* Makes addr lie in a range that was copied; false at the end. */
static bool enter_held(struct hi_spans *spans)
{
	uint64_t start, end;

	if (spans->addr < spans->held_end)
		return true;
	if (!hi_image_next_held(spans->image, spans->addr, spans->end, &start, &end)) {
		start = spans->end;
		end = spans->end;
	}
	if (start > spans->addr)
		spans->unreadable +=
			count_unreadable(spans->image->memory, spans->addr, start);
	spans->addr = start;
	spans->held_end = end;
	return start < end;
}

bool hi_spans_next(struct hi_spans *spans, const uint8_t **host_ret, uint64_t *addr_ret,
		   uint64_t *size_ret)
{
	while (spans->addr < spans->end && enter_held(spans)) {
		uint64_t left = spans->held_end - spans->addr, n;
		size_t avail = 0;
		const uint8_t *host =
			hi_memory_view(spans->image->memory, spans->addr, &avail);

		if (host) {
			n = avail < left ? avail : left;
			if (n < left && n >= 8)
				n &= ~(uint64_t)7;
		} else {
			n = read_some(spans, left);
			host = spans->scratch;
		}
		if (n == 0 || (n < 8 && n < left)) {
			n = PAGE - spans->addr % PAGE;
			n = n < left ? n : left;
			spans->unreadable += n;
			spans->addr += n;
			continue;
		}
		*host_ret = host;
		*addr_ret = spans->addr;
		*size_ret = n;
		spans->addr += n;
		return true;
	}
	return false;
}

size_t hi_seam_next(struct hi_seam *seam, const uint8_t *host, uint64_t addr,
		    uint64_t size, uint8_t out[2 * HI_SEAM_SIDE], uint64_t *addr_ret)
{
	size_t side = size < HI_SEAM_SIDE ? size : HI_SEAM_SIDE;
	size_t before = seam->end == addr ? seam->n : 0;

	memcpy(out, seam->bytes, before);
	memcpy(out + before, host, side);
	*addr_ret = addr - before;
	memcpy(seam->bytes, host + size - side, side);
	seam->n = side;
	seam->end = addr + size;
	return before ? before + side : 0;
}
