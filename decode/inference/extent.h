/* SPDX-License-Identifier: BSD-2-Clause */
/* How much of a block its type uses. Thread-safe after hi_typing_run(). */
#ifndef HI_DECODE_INFERENCE_EXTENT_H
#define HI_DECODE_INFERENCE_EXTENT_H

#include "decode/inference/typing.h"

/*
 * Bytes [start, end) of an object that its type uses: one element, or the live elements
 * of an array. All of the block where that is not known: untyped objects, opaque types,
 * buffers, and records that end in an array of open length. end is at most the usable
 * bytes.
 */
struct hi_extent {
	uint64_t start, end; /* from the object's address */
	uint64_t lead;	     /* of them, the header before the elements */
	bool is_known;	     /* false: all of the block, because nothing is known */
	bool is_counted;     /* the number of live elements is known */
};
struct hi_extent hi_typing_extent(const struct hi_typing *typing,
				  const struct hi_graph *graph, hi_node node);
/* end - start of the extent. */
uint64_t hi_typing_live_bytes(const struct hi_typing *typing,
			      const struct hi_graph *graph, hi_node node);

/* Length of the text in bytes [0, size) of an object, with its NUL. 0: its type is no
 * text, or the bytes are none. */
uint64_t hi_typing_text_size(const struct hi_typing *typing, hi_node node,
			     const uint8_t *bytes, uint64_t size);

#endif
