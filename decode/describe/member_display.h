/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Members as a program names them: what containers are made of is left out, elements have
 * their keys (`show` and `hide` of docs/HINTS.md). For decode/describe alone.
 *
 * A path leads to one word of an object. Its text depends on the type and the word's
 * offset alone, but for the key of an element, which is read from the object: the text
 * has HI_SHOWN_MARK in its place. So texts can be kept, and keys put in.
 */
#ifndef HI_DECODE_DESCRIBE_MEMBER_DISPLAY_H
#define HI_DECODE_DESCRIBE_MEMBER_DISPLAY_H

#include "decode/inference/typing_state.h"
#include "decode/layouts/member_path.h"

#define HI_SHOWN_MARK '\x02'

/* The key of the element that a path goes through. */
struct hi_shown_element {
	bool used;	 /* the text has a mark */
	bool of_set;	 /* "{key}": the element is the key, or the path is in the key */
	hi_type_id key;	 /* 0: "[*]" */
	uint64_t key_at; /* bytes from the start of the path's type */
};

struct hi_shown_path {
	hi_type_id type;  /* of the bytes */
	uint64_t offset;  /* of the word, in them */
	hi_type_id inner; /* what lies at inner_at by a rule; 0: nothing */
	uint64_t inner_at;
	bool array; /* of pointers, if the type is one */
};
/* Appends the path in C's notation: ".index". True: the word leads on in the same
 * container, and the text has the members' own names. */
bool hi_shown_path_write(struct hi_typing *typing, const struct hi_shown_path *path,
			 struct hi_out *out, struct hi_shown_element *element);
/* Enters a slot of a hash table, whose first of two members is the key: appends the mark,
 * and leaves the rest of the path. */
void hi_shown_slot_enter(struct hi_typing *typing, struct hi_shown_path *path,
			 struct hi_out *out, struct hi_shown_element *element);
/* Reads bytes of the target, literals among them. False: they are not there. */
bool hi_shown_read(const struct hi_typing *typing, uint64_t addr, void *buf,
		   uint64_t size);
/* Appends the text of a string of this type at `address`, quoted, cut and escaped as keys
 * are. False: it is no string, or its bytes are not there; then out has no use. */
bool hi_shown_text_put(struct hi_typing *typing, hi_type_id type, uint64_t address,
		       struct hi_out *out);
/* Returns the brackets around the key: "[]", or "{}" of a set. */
const char *hi_shown_key_brackets(const struct hi_typing *typing,
				  const struct hi_shown_element *element);
/* Appends text with the key in place of the mark. record: the address of what the path
 * began at. */
void hi_shown_key_put(struct hi_typing *typing, const struct hi_shown_element *element,
		      uint64_t record, const char *text, struct hi_out *out);

#endif
