/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The values of an object's fields that are not read from the field's bytes alone: strings
 * and containers (container_value.h). For snapshots, which have no types.
 */
#ifndef HI_DECODE_DESCRIBE_SHOWN_FIELDS_H
#define HI_DECODE_DESCRIBE_SHOWN_FIELDS_H

#include "base/cleanup.h"
#include "decode/describe/object_text.h"

enum { HI_SHOWN_FIELDS_MAX = 1 << 16 }; /* fields of an object that are looked at */

struct hi_shown_fields;
/* Borrows both. *ret: hi_shown_fields_close(). */
enum hi_status hi_shown_fields_open(struct hi_typing *typing,
				    const struct hi_graph *graph,
				    struct hi_shown_fields **ret, struct hi_error *err);
void hi_shown_fields_close(struct hi_shown_fields *fields); /* NULL is fine */

HI_DEFINE_GUARD(struct hi_shown_fields *, hi_shown_fields_close)

/* number: of the field among those of hi_typing_fields(). value, to and grade are
 * filled. */
typedef enum hi_status hi_shown_field_fn(void *arg, uint32_t number,
					 const struct hi_field *field,
					 struct hi_error *err);
/* Calls fn for each such field of an object, by number. */
enum hi_status hi_shown_fields_each(struct hi_shown_fields *fields, hi_node object,
				    hi_shown_field_fn *fn, void *arg,
				    struct hi_error *err);

#endif
