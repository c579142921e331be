/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fields for who has the bytes of an object and no types: where they lie, and how their
 * bytes are shown.
 */
#ifndef HI_DECODE_DESCRIBE_FIELD_LAYOUT_H
#define HI_DECODE_DESCRIBE_FIELD_LAYOUT_H

#include "decode/inference/typing.h"

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

/* Value, to and grade of a field whose size is known; bytes: HI_FIELD_SHOWN of them. */
void hi_field_show(const struct hi_objects *objects, enum hi_field_how how,
		   const uint8_t *bytes, struct hi_field *f);
void hi_field_unreadable(struct hi_field *f);
/* "+0x8": a word without a type, to be shown as HI_FIELD_ADDRESS. */
void hi_field_word(struct hi_field *f, uint64_t offset);

/* What the bytes of objects of one type are. */
enum hi_field_layout_kind {
	HI_FIELD_LAYOUT_WORDS,
	HI_FIELD_LAYOUT_RECORD, /* elements with fields */
	HI_FIELD_LAYOUT_TEXT,
	HI_FIELD_LAYOUT_EDGES, /* only their owner, a runtime, can tell */
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
/* Each field of a graph's type, in the order of hi_typing_fields. */
enum hi_status hi_typing_field_layout(struct hi_typing *typing, uint32_t type,
				      hi_field_layout_fn *fn, void *arg,
				      struct hi_field_layout *ret, struct hi_error *err);
/* Where elements lie in an object: [start, end), behind a header of `lead` bytes at the
 * first. False: it has none. */
bool hi_typing_elements(struct hi_typing *typing, const struct hi_graph *graph,
			hi_node object, uint64_t *lead_ret, uint64_t *start_ret,
			uint64_t *end_ret, struct hi_field_layout *layout_ret);

#endif
