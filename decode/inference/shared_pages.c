/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/inference/shared_pages.h"

#include <errno.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

enum { BLOCK = 1 << 16, PAGE = 4096, MAX_READS = 1 << 16 };

/* At most n bytes from `offset` on, up to the next hole. */
static uint64_t clip_to_data(int fd, uint64_t offset, uint64_t n)
{
	off_t hole = lseek(fd, (off_t)offset, SEEK_HOLE);

	return hole > (off_t)offset && (uint64_t)hole - offset < n
		       ? (uint64_t)hole - offset
		       : n;
}

uint64_t hi_shared_pages_read(const struct hi_image *image, uint64_t start, uint64_t end,
			      uint64_t *budget, hi_bytes_fn fn, void *arg)
{
	const struct hi_mapping *m = hi_image_mapping_at(image, start);
	HI_GUARD(free) uint8_t *bytes = hi_alloc(BLOCK);
	HI_GUARD(close) int fd = -1;
	uint64_t at = start;

	if (!bytes || !m || hi_image_open_file(image, m, &fd, NULL) != HI_OK)
		return end - start;
	for (unsigned reads = 0; at < end; reads++) {
		uint64_t offset = m->file_offset + (at - m->start);
		off_t data = lseek(fd, (off_t)offset, SEEK_DATA);
		uint64_t n = end - at < BLOCK ? end - at : BLOCK;
		ssize_t got;

		if (data < 0 && errno == ENXIO)
			return 0; /* only zeros from here on */
		if (data > (off_t)offset) {
			at += ((uint64_t)data - offset) & ~(uint64_t)(PAGE - 1);
			offset = m->file_offset + (at - m->start);
			if (at >= end)
				break;
			n = end - at < BLOCK ? end - at : BLOCK;
		}
		n = clip_to_data(fd, offset, n);
		if (reads == MAX_READS || n > *budget)
			return end - at;
		/* Pages that the kernel has written back and dropped come from the disk.
		 */
		got = pread(fd, bytes, n, (off_t)offset);
		if (got < 0)
			return end - at;
		fn(arg, bytes, at, (uint64_t)got & ~(uint64_t)7);
		*budget -= (uint64_t)got;
		at += got < PAGE ? PAGE : (uint64_t)got & ~(uint64_t)(PAGE - 1);
	}
	return 0;
}
