/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/musl_blocks.h"

#include <string.h>

enum { LARGEST = 512 };

/* The address of a library: a struct dso begins with it. */
static bool is_library_base(const struct hi_image *image, uint64_t addr)
{
	const struct hi_mapping *m = hi_image_mapping_at(image, addr);

	return m && m->kind == HI_MAPPING_FILE && m->start == addr && m->file_offset == 0;
}

/* Where the linker has those of the program and of itself. */
static bool is_bss_of_libc(const struct hi_image *image, uint64_t addr)
{
	const struct hi_mapping *m = hi_image_mapping_at(image, addr), *before;

	if (!m || m->kind != HI_MAPPING_ANONYMOUS)
		return false;
	before = hi_image_mapping_at(image, m->start - 1);
	return before && strstr(before->path, "musl") && strstr(before->path, "libc.so");
}

bool musl_block_of_linker(const struct hi_image *image, const struct hi_block *block)
{
	uint64_t first, base;

	if (block->usable < 8 || block->usable > LARGEST ||
	    hi_memory_read_u64(image->memory, block->addr, &first, NULL) != HI_OK)
		return false;
	return is_library_base(image, first) || is_bss_of_libc(image, first) ||
	       (hi_memory_read_u64(image->memory, first, &base, NULL) == HI_OK &&
		is_library_base(image, base));
}
