/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of a record, by its debug information alone: no layouts are made for it.
 *
 * Records that begin alike. C has no base classes: a program writes the same members at
 * the beginning of several records (by a macro), and refers to all of them by a pointer
 * to a record that has these members alone.
 */
#ifndef HI_DECODE_LAYOUTS_RECORD_PARTS_H
#define HI_DECODE_LAYOUTS_RECORD_PARTS_H

#include "decode/layouts/layout.h"

/* Are the members of `header` the first ones of `record`, or of its first member, or of
 * that one's: with the same names, types and places, and others after them? These may be
 * missing where one of the members is a pointer to headers. */
bool hi_record_has_header(const struct hi_type_source *types,
			  const struct hi_type *record, const struct hi_type *header);

/* Is `type` a member of the record at the offset, or a member of a member, an element, or
 * the record itself? Through unions too. */
bool hi_record_has_at(const struct hi_type_source *types, const struct hi_type *record,
		      const struct hi_type *type, uint64_t offset);

#endif
