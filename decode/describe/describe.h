/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes as bytes with a layout, to describe them. For decode/ alone. */
#ifndef HI_DECODE_DESCRIBE_DESCRIBE_H
#define HI_DECODE_DESCRIBE_DESCRIBE_H

#include "census/graph/edge_name.h"
#include "decode/inference/typing_state.h"
#include "decode/layouts/member_path.h"

/* The bytes of a node, and their layout. */
struct hi_node_bytes {
	struct hi_typing *typing;
	uint64_t address, size;
	const uint8_t *value;		/* not NULL: the bytes, which are in no memory */
	const struct hi_layout *layout; /* NULL: words */
	hi_type_id type;		/* of the layout; 0: none */
	bool array, is_root;
	const struct hi_section_range *ranges; /* of an untyped root */
	size_t n_ranges;
};

/* Fills in ret. False: the node is a kind or the super-root, which have no bytes. */
bool hi_node_bytes_of(struct hi_typing *typing, const struct hi_graph *graph,
		      hi_node node, struct hi_node_bytes *ret);
/* Reads the node's bytes [offset, offset + size). False: unreadable. */
bool hi_node_bytes_read(const struct hi_node_bytes *place, uint64_t offset, void *buf,
			uint64_t size);

/* The elements of typed bytes whose fields are live: `n` from `first` on. */
struct hi_node_elements {
	uint64_t first, n;
};
/* Has the node fields by its type? */
static inline bool hi_node_bytes_are_typed(const struct hi_node_bytes *place)
{
	return place->layout && place->type && !place->layout->opaque &&
	       !place->layout->managed && place->layout->klass != HI_TYPE_STRING;
}
struct hi_node_elements hi_node_elements_of(const struct hi_node_bytes *place);

/* A word of a node that refers to an object. */
struct hi_reference {
	uint64_t offset; /* in the bytes; untyped roots: from their address */
	uint64_t word;
	struct hi_pointer_slot *slot; /* NULL: untyped, or a rule's */
	const struct hi_rule *rule;   /* that describes the word; NULL: none */
	uint64_t index;		      /* `i` of the rule */
	uint32_t layout;	      /* that the rule infers; HI_LAYOUT_NOTHING: none */
	/* The word is in a record that lies in the node by a rule; NULL: in none. */
	const struct hi_layout *inner;
	uint64_t inner_at; /* where that record is, from the node's start */
};
/* Finds the word that refers to bytes [to, to + to_size): the first exact one, else the
 * first. False: there is none. */
bool hi_node_bytes_find(const struct hi_node_bytes *place, uint64_t to, uint64_t to_size,
			struct hi_reference *ret);

/* Fills in the kind of the edge's name and its number. True: hi_reference_rest(*within)
 * is what follows; *within is the same in every element of an array. */
bool hi_reference_begin(const struct hi_node_bytes *place, const struct hi_reference *ref,
			struct hi_edge_name *name, uint64_t *within);
/* Appends the part of the reference's name that hi_reference_begin left open; the key of
 * an element is a mark (shown.h). */
struct hi_shown_element;
void hi_reference_rest(const struct hi_node_bytes *place, const struct hi_reference *ref,
		       uint64_t within, struct hi_out *out,
		       struct hi_shown_element *element);

/* Both in one: appends the reference in C's notation. */
void hi_reference_describe(const struct hi_node_bytes *place,
			   const struct hi_reference *ref, struct hi_out *out);

extern const char *const hi_register_names[27];

#endif
