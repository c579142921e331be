/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz/sign.h"

#include <stddef.h>
#include <string.h>
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
