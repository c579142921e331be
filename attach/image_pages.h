/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of an image that another one may get, and what is known of its changes:
 * image_kept.h. */
#ifndef HI_ATTACH_IMAGE_PAGES_H
#define HI_ATTACH_IMAGE_PAGES_H

#include <stdlib.h>

#include "attach/pager.h"
#include "base/vector.h"

struct hi_pager_runs HI_VECTOR(struct hi_pager_range);

/* Zero-initialised is empty. */
struct hi_image_kept {
	unsigned char *pages;	   /* from hi_dense_alloc(); NULL: none */
	size_t size;		   /* of pages, in bytes */
	struct hi_pager_runs runs; /* where bytes of the image are in it, by address */
};

enum { HI_IMAGE_WORD = 8 };

/* Which pages are as in the image before; of none: all zeros. */
struct hi_image_changes {
	unsigned char *area; /* borrowed from the image's memory */
	size_t n_pages;
	uint64_t *same; /* bits, by page of the area */
	/* Bits by word of the area, in other pages that were there before. NULL: not
	 * known. */
	uint64_t *same_words;
};

static inline void hi_image_changes_free(struct hi_image_changes *changes)
{
	free(changes->same);
	free(changes->same_words);
	*changes = (struct hi_image_changes){};
}

#endif
