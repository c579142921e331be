/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does a block look like a record? By its words: pointer members hold 0 or pointers to
 * what they may point to, and no other member holds a pointer to an object.
 */
#ifndef HI_DECODE_INFERENCE_FIT_H
#define HI_DECODE_INFERENCE_FIT_H

#include "decode/inference/typing.h"
#include "decode/layouts/layout.h"

enum {
	HI_FIT_WORDS = 64,   /* of a block that are looked at */
	HI_FIT_LEAVES = 192, /* members of a record, those of its members counted */
};

enum hi_fit_kind {
	HI_FIT_POINTER,
	HI_FIT_CODE, /* pointer to a function, or to a vtable */
	HI_FIT_INTEGER,
	HI_FIT_FLOAT,
	HI_FIT_CHARS,
	HI_FIT_ANY, /* a union, raw storage: may hold anything */
};
struct hi_fit_leaf {
	uint32_t offset, size;
	enum hi_fit_kind kind;
	hi_type_id target; /* of POINTER */
};
/* A record, flat. */
struct hi_fit_record {
	const struct hi_type *type;
	uint64_t size; /* bytes that are looked at: at most 8 * HI_FIT_WORDS */
	uint32_t n;
	bool open; /* anything may follow it; false, unless its user sets it */
	struct hi_fit_leaf leaves[HI_FIT_LEAVES];
};
/* A block. */
struct hi_fit_block {
	hi_node node;
	uint64_t address, usable;
	uint32_t n_words;
	bool text; /* begins with text */
	uint64_t words[HI_FIT_WORDS];
	uint64_t objects; /* bit per word: it leads to an object, or into one */
	uint64_t modules; /* to a mapped file */
	uint64_t plain;	  /* something else, not 0 */
};

/* Reads a block's words and what they are. False: they cannot be read. */
bool hi_fit_read(struct hi_typing *typing, const struct hi_objects *objects, hi_node node,
		 struct hi_fit_block *ret);
/* Makes the flat record. False: it has too many members, or no size. */
bool hi_fit_flatten(const struct hi_typing *typing, const struct hi_type *type,
		    struct hi_fit_record *ret);

/* Evidence for a record, over several blocks. */
struct hi_fit_score {
	bool contradicted; /* a block does not fit */
	uint32_t blocks;
	uint32_t exact;	  /* pointers to a record of their type, to text, to code */
	uint32_t loose;	  /* other words where a pointer may be */
	uint32_t marked;  /* texts and floating point numbers that look like some */
	uint32_t plain;	  /* other numbers that are not 0 */
	uint32_t strange; /* numbers that are unlikely */
	uint32_t tails;	  /* blocks with something after the record */
};
/* Adds the evidence of one block. */
void hi_fit_add(struct hi_typing *typing, const struct hi_objects *objects,
		const struct hi_fit_record *record, const struct hi_fit_block *block,
		struct hi_fit_score *score);
/* How likely the record is; 0: it does not fit, or nothing speaks for it. */
uint32_t hi_fit_points(const struct hi_fit_score *score);

#endif
