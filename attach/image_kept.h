/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages of an image of a series that the next one is read into. Fresh pages cost several
 * times as much as the reading: the kernel has to find and to zero them. And as the bytes
 * of the image before are there, it is known which pages have changed since.
 *
 * Only private memory of a copy-on-write child that another process reads at once is kept
 * (Note [Images that are sent]); of all other memory nothing is known.
 *
 * Note [Kept pages]
 *
 * The new image has a plan of its own, as heaps grow. Pages are moved to where its
 * plan has them (mremap), which copies nothing; the rest is freed. A block is then
 * read into scratch memory, which stays in the processor's cache, and only pages that
 * differ are written.
 */
#ifndef HI_ATTACH_IMAGE_KEPT_H
#define HI_ATTACH_IMAGE_KEPT_H

#include "attach/image.h"
#include "attach/image_pages.h"

struct hi_image_change_counts {
	uint64_t read, same; /* bytes that were read of the child, and those as before */
};

/* Takes the pages of an image that is then destroyed, if they may be kept: not where they
 * would be a large part of the free memory. kept is empty. */
void hi_image_keep(struct hi_image *image, struct hi_image_kept *kept);
void hi_image_kept_free(struct hi_image_kept *kept);
/* Bytes that may be kept of an image beside its pages; 0: not even those. */
uint64_t hi_image_room_to_keep(const struct hi_image *image);

/* Are all bytes of [start, end) known to be as in the image before? O(pages). */
bool hi_image_is_unchanged(const struct hi_image *image, uint64_t start, uint64_t end);
/* The same for `size` bytes of the image's memory that are at `host` in this process. */
bool hi_image_bytes_are_unchanged(const struct hi_image *image, const void *host,
				  size_t size);
struct hi_image_change_counts hi_image_count_changes(const struct hi_image *image);

/* Internal to attach/: moves the pages of kept to where the request has their
 * addresses; kept is empty then. changes: hi_image_changes_free(). Out of memory nothing
 * is kept. */
void hi_image_kept_move(struct hi_image_kept *kept,
			const struct hi_pager_request *request,
			struct hi_image_changes *changes);
/* Joins ranges of a request that lie side by side; none where memory runs out. */
void hi_pager_join_ranges(const struct hi_pager_request *request,
			  struct hi_pager_runs *ret);

#endif
