/* SPDX-License-Identifier: BSD-2-Clause */
/* A type field by field: its members down to those that are shown as one value. For
 * decode/describe alone. */
#ifndef HI_DECODE_DESCRIBE_FIELD_LEAVES_H
#define HI_DECODE_DESCRIBE_FIELD_LEAVES_H

#include "base/vector.h"
#include "decode/inference/typing_state.h"
#include "decode/layouts/member_path.h"

/* A member on the way to, or one that is shown as one value. */
struct hi_field_leaf {
	uint64_t offset;
	hi_type_id type;
	uint32_t parent;  /* in nodes, + 1; 0: the whole type */
	const char *name; /* NULL: element `index` of an array */
	uint64_t index;
	bool is_bits, is_base;
	bool is_shown; /* by its rules: container_value.h */
};

struct hi_field_leaves {
	struct hi_typing *typing;
	struct HI_VECTOR(struct hi_field_leaf) nodes;
	struct HI_VECTOR(uint32_t) todo, done; /* in nodes; done: the fields in order */
	bool no_memory;
};

/* Fills in leaves, of which typing is set. False: no memory. In both cases
 * hi_field_leaves_free(). */
bool hi_field_leaves_read(struct hi_field_leaves *leaves, hi_type_id type);
void hi_field_leaves_free(struct hi_field_leaves *leaves);
/* Appends the path of field i as the program has it, "cart.items[0]": names that a
 * library keeps for itself are left out where the rest names one field. */
void hi_field_leaves_path(const struct hi_field_leaves *leaves, size_t i,
			  struct hi_out *out);
/* Is it an array of characters, which is shown as text? */
bool hi_field_is_text_array(struct hi_typing *typing, const struct hi_type *type);

#endif
