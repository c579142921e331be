/* SPDX-License-Identifier: BSD-2-Clause */
/* The private part of an image; see image.h for the public one. */
#ifndef HI_ATTACH_IMAGE_INTERNAL_H
#define HI_ATTACH_IMAGE_INTERNAL_H

#include "base/arena.h"
#include "base/vector.h"

struct hi_frozen;
struct hi_mapping;
struct hi_image_child;

/* One mapped file, opened while the target was there. */
struct hi_image_file {
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	int fd; /* -1: it cannot be opened */
};

struct hi_image_files HI_VECTOR(struct hi_image_file);

struct hi_image_private {
	struct hi_arena arena; /* paths */
	size_t mappings_capacity, threads_capacity;
	const struct hi_frozen *frozen; /* image->memory, if residency is known */
	struct hi_image_child *child;	/* mode FORK only */
	struct hi_image_files files;
	/* The target's root directory, if it is in another mount namespace; -1: it is in
	 * the same. */
	int root_fd;
	char *core_exe; /* core only: --exe; NULL */
	char *sysroot;	/* core only; NULL: "/" */
};

/* NULL if this file was never looked for. */
const struct hi_image_file *hi_image_files_find(const struct hi_image_files *files,
						const struct hi_mapping *mapping);
/* Closes the descriptors and frees the list. */
void hi_image_files_close(struct hi_image_files *files);

#endif
