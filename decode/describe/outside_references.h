/* SPDX-License-Identifier: BSD-2-Clause */
/* References of a runtime's objects that do not lead to the beginning of an object of the
 * graph, but into one or to none: types and texts in the interpreter's file. For
 * snapshots, whose edges end in objects. */
#ifndef HI_DECODE_DESCRIBE_OUTSIDE_REFERENCES_H
#define HI_DECODE_DESCRIBE_OUTSIDE_REFERENCES_H

#include "decode/describe/object_text.h"

struct hi_outside_reference {
	hi_node from;
	uint32_t number; /* among the fields of hi_typing_fields() */
	const char *path;
	uint64_t to;
	enum hi_grade grade;
};
typedef enum hi_status hi_outside_reference_fn(void *arg,
					       const struct hi_outside_reference *ref,
					       struct hi_error *err);
/* Calls fn for each, by object and number. Without a runtime there are none. */
enum hi_status hi_outside_references_each(struct hi_typing *typing,
					  const struct hi_graph *graph,
					  hi_outside_reference_fn *fn, void *arg,
					  struct hi_error *err);

#endif
