/* SPDX-License-Identifier: BSD-2-Clause */
/* What a field of the objects of some types leads to. */
#ifndef HI_DECODE_DESCRIBE_FIELD_TARGETS_H
#define HI_DECODE_DESCRIBE_FIELD_TARGETS_H

#include "decode/inference/typing.h"

/* The type behind a type of the graph; 0: only a name is known. */
hi_type_id hi_typing_type_id(const struct hi_typing *typing, uint32_t graph_type);

/*
 * Sets the bits of the objects that `field` ("buf", "db[0].dict", a member of a
 * member) of each object leads to whose type has its entry in `has` (n_types of
 * the graph); of an array, of each element. A pointer leads to one object, a record
 * or an array inside to all that its words refer to. HI_USAGE: wrong at byte
 * *column_ret of field.
 */
enum hi_status hi_field_targets(struct hi_typing *typing, const struct hi_graph *graph,
				struct hi_modules *modules, struct hi_types *types,
				const bool *has, const char *field, uint64_t *bits,
				size_t *column_ret, struct hi_error *err);

#endif
