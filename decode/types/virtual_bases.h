/* SPDX-License-Identifier: BSD-2-Clause */
/* Places of the virtual bases of a class in an object of it: Note [Virtual bases]. */
#ifndef HI_DECODE_TYPES_VIRTUAL_BASES_H
#define HI_DECODE_TYPES_VIRTUAL_BASES_H

#include "decode/types/types_internal.h"

enum { HI_VIRTUAL_BASES_MAX = 64 };

/* The virtual bases of a class, in the order in which they are placed. */
struct hi_virtual_bases {
	struct HI_VECTOR(hi_type_id) order; /* parts; hi_vector_free() */
};

/* Under the lock of types, all of them. */

/* Has an object of this class virtual bases whose places are known? */
bool hi_type_has_virtual_base(const struct hi_type *type);
/* The class as a base of another one: without its virtual bases. The type itself if it
 * has none. */
hi_type_id hi_type_base_part(struct hi_types *types, hi_type_id id);
/* Adds the virtual bases that a direct base brings, itself among them if it is one; in
 * the order of declaration. False: out of memory. */
bool hi_virtual_bases_add(struct hi_types *types, struct hi_virtual_bases *bases,
			  hi_type_id base, bool is_virtual);
/*
 * Fills ret, one for each of bases->order, for a class of `size` bytes with these other
 * members. False: no way to place them gives that size.
 */
bool hi_virtual_bases_place(struct hi_types *types, struct hi_virtual_bases *bases,
			    const struct hi_member *members, size_t n, uint64_t size,
			    struct hi_member *ret);

#endif
