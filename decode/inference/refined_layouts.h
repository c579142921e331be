/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Facts about the use of a type beside the type (hi_layout refined_layouts): the layouts of
 * the objects of one chunk (HI_CHUNK_NODES) that have such facts, packed. A bit an object
 * has whether it is one of them, and its rank among them is the place of its layout: 10
 * bytes for 64 objects, and 2 for each that has a layout (4 where the numbers are larger).
 */
#ifndef HI_DECODE_INFERENCE_REFINED_LAYOUTS_H
#define HI_DECODE_INFERENCE_REFINED_LAYOUTS_H

#include <stdint.h>

#include "base/vector.h"
#include "census/graph/objects.h"

struct hi_node_layout {
	hi_node id;
	uint32_t layout;
};
/* In ascending order of ids, of one chunk. */
struct hi_node_layouts HI_VECTOR(struct hi_node_layout);

struct hi_refined_layouts;

/* Packs those of a chunk. *ret: freed by free(); NULL when there are none. False: out of
 * memory. */
bool hi_refined_layouts_pack(const struct hi_node_layouts *layouts,
			     struct hi_refined_layouts **ret);
/* Returns the layout of an object of the chunk, or HI_LAYOUT_NONE. `refined` may be NULL. */
uint32_t hi_refined_layouts_get(const struct hi_refined_layouts *refined, hi_node id);

#endif
