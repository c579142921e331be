/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes as bytes with a layout, again, for words about them. Internal. */
#ifndef HI_DECODE_DESCRIBE_DESCRIBE_H
#define HI_DECODE_DESCRIBE_DESCRIBE_H

#include "census/graph/edge_name.h"
#include "decode/inference/typing_state.h"

/* Text that is cut where it does not fit, always terminated. */
struct hi_out {
	char *text;
	size_t size, length;
};
void hi_out_add(struct hi_out *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A string of the target, escaped. */
void hi_out_escaped(struct hi_out *out, const char *text);

/* Where a node's bytes are. */
struct hi_place {
	struct hi_typing *typing;
	uint64_t address, size;
	const uint8_t *value;		/* not NULL: the bytes are here, not in memory */
	const struct hi_layout *layout; /* NULL: words */
	hi_type_id type;		/* of the layout; 0: none */
	bool array, is_root;
	const struct hi_section_range *ranges; /* of an untyped root */
	size_t n_ranges;
};

/* False for the nodes of kinds and the super-root. */
bool hi_place_of(struct hi_typing *typing, const struct hi_graph *graph, hi_node node,
		 struct hi_place *ret);
bool hi_place_read(const struct hi_place *place, uint64_t offset, void *buf,
		   uint64_t size);

/* The word of a place that refers to an object. */
struct hi_reference {
	uint64_t offset; /* in the place; untyped roots: from place->address */
	uint64_t word;
	struct hi_pointer_slot *slot; /* NULL: untyped, or a rule's */
	const struct hi_rule *rule;   /* that says what the word is; NULL: none */
	uint64_t index;		      /* `i` of the rule */
	uint32_t layout; /* that the rule proposes; HI_LAYOUT_NOTHING: none */
};
/* The first exact one if there is any, else the first. */
bool hi_place_find(const struct hi_place *place, uint64_t to, uint64_t to_size,
		   struct hi_reference *ret);

/* The kind of its name and the number in it. True: what follows is hi_reference_rest of
 * *within, which is the same in every element of an array. */
bool hi_reference_begin(const struct hi_place *place, const struct hi_reference *ref,
			struct hi_edge_name *name, uint64_t *within);
void hi_reference_rest(const struct hi_place *place, uint64_t within, struct hi_out *out);

/* As C writes it, behind what leads to the place: both in one. */
void hi_reference_describe(const struct hi_place *place, const struct hi_reference *ref,
			   struct hi_out *out);

/* The member that holds the byte at offset, as C writes it: ".db[0].dict".
 * Returns the type of what it names; 0 unknown. */
hi_type_id hi_path_to(struct hi_typing *typing, hi_type_id type, uint64_t offset,
		      struct hi_out *out);

extern const char *const hi_register_names[27];

#endif
