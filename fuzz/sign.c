/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz/sign.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "census/snapshot/snapshot_format.h"

void sign_snapshot(uint8_t *file, size_t size)
{
	static const uint8_t magic[] = HI_SNAPSHOT_MAGIC_BYTES;
	struct hi_snapshot_header h;
	struct hi_snapshot_section e;

	if (size < HI_SNAPSHOT_FIRST)
		return;
	memcpy(&h, file, sizeof(h));
	memcpy(h.magic, magic, sizeof(magic));
	h.major = HI_SNAPSHOT_MAJOR;
	h.file_size = size;
	if (h.n_sections > HI_SNAPSHOT_SECTIONS)
		h.n_sections = HI_SNAPSHOT_SECTIONS;
	for (uint32_t i = 0; i < h.n_sections; i++) {
		uint8_t *at = file + sizeof(h) + i * sizeof(e);

		memcpy(&e, at, sizeof(e));
		if (e.offset > size || e.stored > size - e.offset)
			continue;
		e.hash = XXH3_64bits(file + e.offset, e.stored);
		memcpy(at, &e, sizeof(e));
	}
	h.directory_hash = XXH3_64bits(file + sizeof(h), h.n_sections * sizeof(e));
	h.hash = XXH3_64bits(&h, offsetof(struct hi_snapshot_header, hash));
	memcpy(file, &h, sizeof(h));
}

const char *signed_file(const uint8_t *data, size_t size, size_t least,
			void (*sign)(uint8_t *file, size_t size))
{
	static char path[64];
	static int fd = -1;
	uint8_t *copy = malloc(size + 1);
	bool written = false;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (copy && fd >= 0 && size >= least) {
		memcpy(copy, data, size);
		sign(copy, size);
		written = ftruncate(fd, 0) == 0 &&
			  pwrite(fd, copy, size, 0) == (ssize_t)size;
	}
	free(copy);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return written ? path : NULL;
}
