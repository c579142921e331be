/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An image of a target that was not stopped: its mappings and files, no thread, and
 * memory that is read while the target runs. For finding probe sites before the stop:
 * only what never changes may be read from its memory (headers of ELF files). Code is to
 * be read from files: the kernel's own probe bytes may stand in the memory.
 */
#ifndef HI_ATTACH_RUNNING_IMAGE_H
#define HI_ATTACH_RUNNING_IMAGE_H

#include "attach/target.h"

/* Borrows nothing of target. Its mappings have the same indices. *ret: freed by
 * hi_image_destroy(). */
enum hi_status hi_image_unstopped(const struct hi_target *target, struct hi_image **ret,
				  struct hi_error *err);
/* The descriptor by which its memory is read; the image's own. */
int hi_image_unstopped_fd(const struct hi_image *image);
/* The same without its memory: what names of code need, also when that is not mapped any
 * more. */
enum hi_status hi_image_of_files(const struct hi_target *target, struct hi_image **ret,
				 struct hi_error *err);

#endif
