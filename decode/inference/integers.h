/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Integers]
 *
 * An integer may be an address that the program keeps as a number. Integers of type
 * uintptr_t or intptr_t, elements of containers of integers of that size, and the words
 * of blocks that only their size makes arrays of integers, or of records without
 * pointers, are conservative edges: what they lead to is live. Other integers, of a
 * record or variable whose type is certain, are none: what only they lead to is likely
 * leaked. The bytes that nothing but integers of the first kind keeps alive are counted,
 * as they may be leaked as well.
 */
#ifndef HI_DECODE_INFERENCE_INTEGERS_H
#define HI_DECODE_INFERENCE_INTEGERS_H

#include "census/analysis/analysis.h"
#include "decode/inference/typing.h"

/* Sets integer_objects and integer_bytes of reach. HI_NO_MEMORY. */
enum hi_status hi_integers_count(const struct hi_typing *typing,
				 const struct hi_graph *graph, struct hi_reach *reach,
				 struct hi_error *err);

#endif
