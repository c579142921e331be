/* SPDX-License-Identifier: BSD-2-Clause */
/* A type as a list of slots; for layout.c. */
#ifndef HI_DECODE_LAYOUTS_FLATTEN_H
#define HI_DECODE_LAYOUTS_FLATTEN_H

#include "base/vector.h"
#include "decode/layouts/layout.h"

struct hi_pointer_slots HI_VECTOR(struct hi_pointer_slot);
struct hi_rule_sites HI_VECTOR(struct hi_rule_site);

/*
 * The slots of a type of `size` bytes: sorted by offset, inside the type, no
 * word twice; and the records with rules in it, whose words are left to their
 * rules; and the pointers of unions that disagree, by offset. *truncated_ret: it was too
 * complex, all of it is one raw slot. False when out of memory. ret, rule_sites_ret:
 * hi_vector_free().
 */
bool hi_flatten(const struct hi_type_source *types, hi_type_id type, uint64_t size,
		struct hi_pointer_slots *ret, struct hi_rule_sites *rule_sites_ret,
		struct hi_pointer_slots *either_ret, bool *truncated_ret);

#endif
