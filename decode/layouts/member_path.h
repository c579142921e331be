/* SPDX-License-Identifier: BSD-2-Clause */
/* The way to a member of a type, in C's notation; and text that grows. For decode/
 * alone. */
#ifndef HI_DECODE_LAYOUTS_MEMBER_PATH_H
#define HI_DECODE_LAYOUTS_MEMBER_PATH_H

#include "decode/layouts/pointer_slot.h"

/* Text that is cut where it does not fit; always ends in NUL. */
struct hi_out {
	char *text;
	size_t size, length;
};
void hi_out_add(struct hi_out *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A string of the target, escaped. */
void hi_out_escaped(struct hi_out *out, const char *text);

/* The member of a record that holds the offset; of several, as in a union, one with a
 * pointer there. NULL: none. */
const struct hi_member *hi_member_at(const struct hi_type_source *types,
				     const struct hi_type *type, uint64_t offset);
/* Appends the member at `offset` in C's notation: ".db[0].dict". Returns its type; 0:
 * unknown. */
hi_type_id hi_path_to(const struct hi_type_source *types, hi_type_id type,
		      uint64_t offset, struct hi_out *out);

#endif
