/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of a flattened type: pointer slots, and sites of rules.
 *
 * A pointer slot is a run of words, {offset, count, stride}: `struct node *table[1024]`
 * is one slot; an array of 1,000 structs with 3 pointers each is three.
 */
#ifndef HI_DECODE_LAYOUTS_POINTER_SLOT_H
#define HI_DECODE_LAYOUTS_POINTER_SLOT_H

#include <stdatomic.h>

#include "decode/rules/rules.h"
#include "decode/types/types.h"

/* The source of types for layouts: debug information, or a test. */
struct hi_type_source {
	void *arg;
	/* As hi_type_get(): never NULL, thread-safe. */
	const struct hi_type *(*type)(void *arg, hi_type_id id);
	struct hi_rule_source rules; /* zeroed: none */
};

/* As source->type. */
static inline const struct hi_type *
hi_type_source_get(const struct hi_type_source *source, hi_type_id id)
{
	return source->type(source->arg, id);
}

enum hi_pointer_slot_kind {
	HI_POINTER_SLOT_TYPED,
	HI_POINTER_SLOT_RAW, /* raw storage, uintptr_t, unknown layout: conservative */
};

#define HI_POINTER_SLOT_TO_END UINT64_MAX

struct hi_pointer_slot {
	uint64_t offset; /* bytes from the start of the type, of the first word */
	uint64_t count;	 /* words; HI_POINTER_SLOT_TO_END: as many as the block has room
			    for */
	uint64_t stride; /* bytes from one word to the next */
	enum hi_pointer_slot_kind kind;
	uint8_t number_size; /* of a number in the same word of a union: 8; 4: of 4
			      * bytes or below 4 GiB; 0: none */
	uint8_t is_integer;  /* of RAW: uintptr_t and its kin, not raw storage */
	hi_type_id pointee;  /* of TYPED; 0: unknown, or two pointees (union) */
	/* Layout of the pointee, set by hi_layouts_pointee(); 0 before. */
	_Atomic uint32_t layout;
};

/* May the word in this slot be a number? Then it is an exact reference only where it
 * leads to the start of a block. */
static inline bool hi_pointer_slot_may_be_number(const struct hi_pointer_slot *slot,
						 uint64_t word)
{
	return slot->number_size == 8 || (slot->number_size == 4 && word <= UINT32_MAX);
}

/* `count` records with rules of their own inside a type, `stride` bytes apart. */
struct hi_rule_site {
	uint64_t offset, count, stride; /* as in struct hi_pointer_slot */
	const struct hi_rules *rules;
};

#endif
