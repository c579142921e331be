/* SPDX-License-Identifier: BSD-2-Clause */
/* How much of a block its type uses. Thread-safe after hi_typing_run. */
#ifndef HI_DECODE_LAYOUTS_EXTENT_H
#define HI_DECODE_LAYOUTS_EXTENT_H

#include "decode/inference/typing.h"

/*
 * Bytes [start, end) of an object that its type uses: one element, or the whole
 * elements of an array that are live; all of the block where that is not known:
 * untyped objects, opaque types, buffers, and records that end in an array of
 * open length. Never more than the usable bytes.
 */
struct hi_extent {
	uint64_t start, end; /* from the object's address */
	uint64_t lead;	     /* of them, a header before the elements */
	bool is_known;	     /* false: all of it for want of knowledge */
	bool is_counted;     /* somebody said how many elements are live */
};
struct hi_extent hi_typing_extent(const struct hi_typing *typing,
				  const struct hi_graph *graph, hi_node node);
/* Its length. */
uint64_t hi_typing_live_bytes(const struct hi_typing *typing,
			      const struct hi_graph *graph, hi_node node);

/* Does the object hold text, as far as its type allows that, in bytes [0, size)?
 * Length of the text with its NUL; 0: none. */
uint64_t hi_typing_text_size(const struct hi_typing *typing, const struct hi_graph *graph,
			     hi_node node, const uint8_t *bytes, uint64_t size);

#endif
