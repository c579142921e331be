/* SPDX-License-Identifier: BSD-2-Clause */
/* Modules of one image are those of a later one if the same files are mapped in the same
 * places: what was read of the files stays valid. */
#include <string.h>

#include "decode/modules/module.h"

static bool is_mapped_file(const struct hi_mapping *m)
{
	return m->path[0] != '\0' &&
	       (m->kind == HI_MAPPING_FILE || m->kind == HI_MAPPING_SHMEM ||
		m->kind == HI_MAPPING_VDSO);
}

bool hi_modules_remember(struct hi_modules *modules)
{
	const struct hi_image *image = modules->image;

	modules->files = hi_arena_alloc(&modules->arena, (image->n_mappings + 1) *
								 sizeof(*modules->files));
	for (size_t i = 0; modules->files && i < image->n_mappings; i++) {
		struct hi_mapping *copy = &modules->files[modules->n_files];

		if (!is_mapped_file(&image->mappings[i]))
			continue;
		*copy = image->mappings[i];
		copy->path = hi_arena_strdup(&modules->arena, copy->path);
		if (!copy->path)
			return false;
		modules->n_files++;
	}
	return modules->files != NULL;
}

static bool is_same_mapping(const struct hi_mapping *a, const struct hi_mapping *b)
{
	return a->start == b->start && a->end == b->end &&
	       a->file_offset == b->file_offset && a->inode == b->inode &&
	       a->dev_major == b->dev_major && a->dev_minor == b->dev_minor &&
	       a->prot == b->prot && a->shared == b->shared && a->kind == b->kind &&
	       strcmp(a->path, b->path) == 0;
}

static bool has_same_files(const struct hi_modules *modules, const struct hi_image *image)
{
	size_t n = 0;

	for (size_t i = 0; i < image->n_mappings; i++)
		if (is_mapped_file(&image->mappings[i])) {
			if (n == modules->n_files ||
			    !is_same_mapping(&modules->files[n], &image->mappings[i]))
				return false;
			n++;
		}
	return n == modules->n_files;
}

bool hi_modules_renew(struct hi_modules *modules, const struct hi_image *image)
{
	/* What a core has of a file may differ from core to core. */
	if (!hi_image_is_live(image) || !has_same_files(modules, image))
		return false;
	modules->image = image;
	return true;
}
