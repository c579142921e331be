/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups leaked objects without a type, and finds what they may be: types of live objects
 * that look the same, and records of the program that fit. */
#ifndef HI_DECODE_INFERENCE_LEAK_NAMES_H
#define HI_DECODE_INFERENCE_LEAK_NAMES_H

#include "census/analysis/analysis.h"
#include "census/analysis/leak_groups.h"
#include "decode/inference/typing.h"

/*
 * Names the objects that are leaked by `reach` and that no runtime classifies. types
 * NULL: there is no debug information, and so nothing but groups. *ret:
 * hi_leak_groups_destroy(); NULL if no leaked object is without a type.
 */
enum hi_status hi_leak_names_find(struct hi_typing *typing, struct hi_types *types,
				  const struct hi_graph *graph,
				  const struct hi_reach *reach,
				  struct hi_leak_groups **ret, struct hi_error *err);

#endif
