/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts the values of a type among objects: in arrays, nodes and blocks. */
#ifndef HI_SESSION_TYPE_VALUES_H
#define HI_SESSION_TYPE_VALUES_H

#include "report/type_search.h"
#include "session/inspection.h"

/*
 * Counts the values of a set's name among the objects whose bit is set (n_objects bits;
 * objects of the allocator do not count): a block that is an array counts its live
 * elements, or as many as fit where the live ones are unknown; a node or a block around a
 * value counts one. Errors of a damaged file.
 */
enum hi_status hi_type_values_count(struct hi_inspection *in,
				    const struct hi_type_set *set, const uint64_t *bits,
				    uint64_t *ret, struct hi_error *err);

#endif
