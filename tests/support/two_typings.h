/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares what two runs of type inference made of one image. */
#ifndef HI_TESTS_SUPPORT_TWO_TYPINGS_H
#define HI_TESTS_SUPPORT_TWO_TYPINGS_H

#include "attach/image.h"
#include "decode/inference/typing.h"

/* Asserts that both graphs have the same objects, types, flags and rows. */
void two_graphs_same(const struct hi_graph *a, const struct hi_graph *b, uint64_t seed);
/* Asserts the same edges of integers, refined layouts and conflicts. */
void two_typings_same(const struct hi_typing *a, const struct hi_typing *b);

/* Compares the `size` bytes of an image that are at `area` in this process with those of
 * the last call, as where an image is read into kept pages. *before: NULL at first; to be
 * freed. */
void two_typings_note_changes(struct hi_image *image, void *area, size_t size,
			      unsigned char **before);

#endif
