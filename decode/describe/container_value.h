/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of types that a person takes as one thing, by `show` of docs/HINTS.md: strings
 * as their text, containers as the number of their elements. For decode/ alone.
 *
 * Note [Counts are hostile]
 *
 * A container's count is a word of the target, which a stray write may have changed. It is
 * shown as a fact where the heap has room for so many elements: those of one block lie in
 * it, and those with nodes are no more than fit into the objects of the types that the
 * container's pointers lead to. Any other count is "claims … elements".
 */
#ifndef HI_DECODE_DESCRIBE_CONTAINER_VALUE_H
#define HI_DECODE_DESCRIBE_CONTAINER_VALUE_H

#include "decode/describe/describe.h"
#include "decode/describe/object_text.h"

struct hi_container_values {
	struct hi_typing *typing;
	const struct hi_graph *graph;
	uint64_t *bytes_of_type; /* by type of the graph; NULL: not needed yet */
	bool no_memory;
};
void hi_container_values_free(struct hi_container_values *values);

/* Is a value of the type shown as one: as a text or a number of elements? */
bool hi_container_is_shown(const struct hi_typing *typing, hi_type_id type);
/*
 * Fills in value, to and grade of a field of such a type, whose bytes are at `address`.
 * `to` is what its first pointer leads to that leads out of `node`, an object or a root.
 * values->no_memory: it has no bound for counts, and the value is "?".
 */
void hi_container_show(struct hi_container_values *values, hi_node node, hi_type_id type,
		       uint64_t address, struct hi_field *f);

#endif
