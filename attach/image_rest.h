/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads at once what an image has left to be read of its copy-on-write child. Internal to
 * attach/. */
#ifndef HI_ATTACH_IMAGE_REST_H
#define HI_ATTACH_IMAGE_REST_H

#include "attach/image.h"
#include "attach/pager.h"

/*
 * Fills rest's ranges, pages of the image's own memory; its area, budget and functions do
 * not count. If the image's own pages have bytes of the image before (changes) they are
 * compared. Pages that cannot be read become unreadable in the image and its figures.
 * The child may be ended then. *all_ret: there are none of those. HI_GONE: it ended
 * before. HI_NO_MEMORY.
 */
enum hi_status hi_image_read_rest(struct hi_image *image,
				  const struct hi_pager_request *rest, bool *all_ret,
				  struct hi_error *err);

#endif
