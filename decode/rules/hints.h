/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses hints (docs/HINTS.md) to statements. The parser has no types: expressions and
 * type names stay pieces of the text; only their brackets and the order of operands and
 * operators are checked. Everything is in the caller's arena, with a copy of the text in
 * which comments are blanked.
 */
#ifndef HI_DECODE_RULES_HINTS_H
#define HI_DECODE_RULES_HINTS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

/* A piece of the text; length 0: absent. */
struct hi_text_piece {
	const char *at;
	uint32_t length;
};

enum hi_hint_target_kind {
	HI_HINT_TYPE,
	HI_HINT_BLOB,
	HI_HINT_WORDS,
	HI_HINT_ANY,
	HI_HINT_SCALAR,
	HI_HINT_KEY,
	HI_HINT_SYMBOL,
};

struct hi_hint_target {
	enum hi_hint_target_kind kind;
	struct hi_text_piece name;	 /* TYPE, BLOB, WORDS, KEY; SYMBOL: the pattern */
	struct hi_text_piece pack_index; /* TYPE `$T...[EXPR]`: name is then "$T" */
	struct hi_text_piece from, to;	 /* [to], [from .. to] */
	struct hi_text_piece lead, full, ring; /* after those */
	bool down, only, part;
	struct hi_text_piece called; /* as "NAME" */
	struct hi_text_piece symbol; /* SYMBOL: the address */
	struct hi_hint_target *then; /* SYMBOL: what it stands for */
	struct hi_text_piece back, member;
	struct hi_hint_with *with;
	uint32_t n_with;
};
struct hi_hint_with {
	struct hi_text_piece key, value;
	struct hi_hint_target target; /* if value is absent; no `with` of its own */
};

/* `A, B: TARGET`, each label on its own; label absent: `else`, or no switch. */
struct hi_hint_case {
	struct hi_text_piece label;
	struct hi_hint_target target;
};

enum hi_hint_kind {
	HI_HINT_WORD,  /* WORD -> TARGET, WORD switch …; no case: only `weak` */
	HI_HINT_PLACE, /* PLACE : TARGET */
	HI_HINT_EACH,
	HI_HINT_POOL,
	HI_HINT_VARIANT,
	HI_HINT_IS,
	HI_HINT_TAIL,
	HI_HINT_SIZE,
	HI_HINT_RETAINER,
};
struct hi_hint {
	enum hi_hint_kind kind;
	struct hi_text_piece at;	  /* the statement's first word, for messages */
	struct hi_text_piece lvalue;	  /* WORD, PLACE, EACH, POOL */
	struct hi_text_piece first, last; /* for i in first .. last */
	struct hi_text_piece mask, when;  /* when: `if`; also TAIL, VARIANT */
	struct hi_text_piece value;	  /* switch; SIZE: the expression */
	struct hi_text_piece next, until; /* EACH */
	struct hi_text_piece slots, slot_size; /* POOL */
	struct hi_hint_case *cases;	       /* VARIANT, IS: targets of kind TYPE */
	uint32_t n_cases;
	bool weak;
	_Atomic uint64_t *hits; /* never NULL */
};

struct hi_hint_record {
	struct hi_text_piece pattern;
	bool only, node;
	struct hi_hint *items;
	uint32_t n;
};
struct hi_hint_show {
	struct hi_text_piece pattern, at;
	bool hidden, link, is_element, is_wide;
	struct hi_text_piece value, key; /* places */
	struct hi_text_piece text, length;
	struct hi_text_piece count, first, last; /* first, last: absent without `in` */
};
struct hi_hint_const {
	struct hi_text_piece name, value;
};
struct hi_hint_key {
	struct hi_text_piece name, type; /* type absent: a target */
};
struct hi_hint_named { /* typedef, root: one statement each */
	struct hi_text_piece name;
	struct hi_hint hint;
};

struct hi_hints {
	const char *file; /* last component */
	const char *path; /* as it was given */
	const char *text; /* ends in NUL; without comments */
	size_t size;
	struct hi_text_piece name;
	struct hi_text_piece *programs, *types, *sidecars;
	uint32_t n_programs, n_types, n_sidecars;
	bool containers;
	uint64_t header; /* of all blocks of the program, in bytes; 0: unknown */
	struct hi_hint_const *consts;
	struct hi_hint_key *keys;
	struct hi_hint_named *typedefs, *roots;
	struct hi_hint_record *records;
	struct hi_hint_show *shows;
	struct hi_text_piece *hides; /* names of members; a '*' at the end is anything */
	uint32_t n_consts, n_keys, n_typedefs, n_roots, n_records, n_shows, n_hides;
};

/* HI_BAD_DATA: err is "FILE:LINE:COLUMN: expected …, found …". */
enum hi_status hi_hints_parse(struct hi_arena *arena, const char *file, const char *text,
			      size_t size, struct hi_hints **ret, struct hi_error *err);

/* Do both describe the same word (or place) in the same loop? Then they are one rule. */
bool hi_hint_same_word(const struct hi_hint *a, const struct hi_hint *b);

struct hi_text_position {
	uint32_t line, column; /* from 1 */
};
/* Returns the position of a pointer into hints->text. */
struct hi_text_position hi_hints_position(const struct hi_hints *hints, const char *at);

#endif
