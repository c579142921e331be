/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fields of a type as data, to show objects whose bytes are known but whose types are
 * not loaded (snapshots).
 */
#ifndef HI_DECODE_DESCRIBE_FIELD_LAYOUT_H
#define HI_DECODE_DESCRIBE_FIELD_LAYOUT_H

#include "decode/describe/object_text.h"

enum hi_field_how {
	HI_FIELD_UNKNOWN,
	HI_FIELD_BITS,
	HI_FIELD_TEXT,
	HI_FIELD_POINTER,
	HI_FIELD_ADDRESS, /* a word that may be a pointer */
	HI_FIELD_FLOAT,
	HI_FIELD_INTEGER,
	HI_FIELD_UNSIGNED,
	HI_FIELD_HOWS,
};
enum { HI_FIELD_SHOWN = 64 }; /* bytes that are looked at */

/* Fills in value, to and grade of a field from its bytes (HI_FIELD_SHOWN of them). Its
 * size is set. */
void hi_field_show(const struct hi_objects *objects, enum hi_field_how how,
		   const uint8_t *bytes, struct hi_field *f);
/* Sets the value to "(unreadable)". */
void hi_field_unreadable(struct hi_field *f);
/* "+0x8": a word without a type, to be shown as HI_FIELD_ADDRESS. */
void hi_field_word(struct hi_field *f, uint64_t offset);

/* The bytes of the objects of one type. */
enum hi_field_layout_kind {
	HI_FIELD_LAYOUT_WORDS,
	HI_FIELD_LAYOUT_RECORD, /* elements with fields */
	HI_FIELD_LAYOUT_TEXT,
	HI_FIELD_LAYOUT_EDGES, /* only their runtime has them */
	HI_FIELD_LAYOUT_KINDS,
};
struct hi_field_layout {
	enum hi_field_layout_kind kind;
	uint64_t size; /* of an element of a record */
};
/* path, type, offset (in the element) and size are filled; size 0 of a text: up to the
 * object's end. */
typedef enum hi_status hi_field_layout_fn(void *arg, const struct hi_field *field,
					  enum hi_field_how how, struct hi_error *err);
/* Calls fn for each field of a type of the graph, in the order of hi_typing_fields. */
enum hi_status hi_typing_field_layout(struct hi_typing *typing, uint32_t type,
				      hi_field_layout_fn *fn, void *arg,
				      struct hi_field_layout *ret, struct hi_error *err);
/* Finds the elements of an object: bytes [*start_ret, *end_ret), the first after a header
 * of *lead_ret bytes. False: it has no elements. */
bool hi_typing_elements(struct hi_typing *typing, const struct hi_graph *graph,
			hi_node object, uint64_t *lead_ret, uint64_t *start_ret,
			uint64_t *end_ret, struct hi_field_layout *layout_ret);

#endif
