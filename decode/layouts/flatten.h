/* SPDX-License-Identifier: BSD-2-Clause */
/* A type as a list of pointer slots; for layout.c. */
#ifndef HI_DECODE_LAYOUTS_FLATTEN_H
#define HI_DECODE_LAYOUTS_FLATTEN_H

#include "base/vector.h"
#include "decode/layouts/pointer_slot.h"

struct hi_pointer_slots HI_VECTOR(struct hi_pointer_slot);
struct hi_rule_sites HI_VECTOR(struct hi_rule_site);

/*
 * Flattens a type of `size` bytes.
 *
 * ret: its pointer slots, sorted by offset, inside the type, no word twice.
 * rule_sites_ret: the records with rules in it; their words are in no slot.
 * either_ret: pointers of unions that disagree, by offset.
 * All three: hi_vector_free(). *truncated_ret: the type is too complex, ret is one raw
 * slot for all of it. False: out of memory.
 */
bool hi_flatten(const struct hi_type_source *types, hi_type_id type, uint64_t size,
		struct hi_pointer_slots *ret, struct hi_rule_sites *rule_sites_ret,
		struct hi_pointer_slots *either_ret, bool *truncated_ret);

#endif
