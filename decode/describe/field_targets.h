/* SPDX-License-Identifier: BSD-2-Clause */
/* The objects that a field of the objects of some types leads to. */
#ifndef HI_DECODE_DESCRIBE_FIELD_TARGETS_H
#define HI_DECODE_DESCRIBE_FIELD_TARGETS_H

#include "decode/inference/typing.h"

/* The type id of a type of the graph; 0: only a name is known. */
hi_type_id hi_typing_type_id(const struct hi_typing *typing, uint32_t graph_type);

/*
 * Sets in `bits` (by node) the objects that `field` leads to, of all objects whose type
 * has its entry set in `has` (n_types of the graph). field: "buf", "db[0].dict", a member
 * of a member; of an array of objects, of each element. A pointer leads to one object; a
 * record or an array leads to all objects that its words refer to. HI_USAGE: field is
 * wrong at its byte *column_ret.
 */
enum hi_status hi_field_targets(struct hi_typing *typing, const struct hi_graph *graph,
				struct hi_modules *modules, struct hi_types *types,
				const bool *has, const char *field, uint64_t *bits,
				size_t *column_ret, struct hi_error *err);

#endif
