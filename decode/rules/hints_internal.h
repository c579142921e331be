/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the hints parser. */
#ifndef HI_DECODE_RULES_HINTS_INTERNAL_H
#define HI_DECODE_RULES_HINTS_INTERNAL_H

#include "base/vector.h"
#include "decode/rules/hints.h"

enum {
	HINTS_SIZE_MAX = 16 << 20,
	HINTS_DEPTH_MAX = 64,	   /* of brackets in an expression or a type */
	HINTS_ITEMS_MAX = 1 << 16, /* of any list */
	HINTS_HEADER_MAX = 4096,   /* bytes before an object */
};

struct hi_hints_keys HI_VECTOR(struct hi_hint_key);

/* The first error is kept; all functions then return false and do nothing. */
struct hi_hints_parser {
	struct hi_hints *hints;
	struct hi_arena *arena;
	struct hi_hints_keys keys; /* those that were declared so far */
	const char *p, *end;
	bool failed;
	enum hi_status status;
	struct hi_error *err;
	unsigned n_nested; /* targets within targets, now */
};

/* ---- hints_lex.c: all skip blanks first ---- */

/* "FILE:LINE:COLUMN: expected WHAT, found 'xyz'"; false. */
bool hi_hints_expected(struct hi_hints_parser *p, const char *what);
/* Sets the error "FILE:LINE:COLUMN: WHAT"; returns false. */
bool hi_hints_wrong(struct hi_hints_parser *p, const char *at, const char *what);
bool hi_hints_no_memory(struct hi_hints_parser *p);

void hi_hints_blanks(struct hi_hints_parser *p);
bool hi_hints_at(struct hi_hints_parser *p, char c); /* does not take it */
bool hi_hints_at_word(struct hi_hints_parser *p, const char *word);
bool hi_hints_at_arrow(struct hi_hints_parser *p);
bool hi_hints_take(struct hi_hints_parser *p, char c); /* if it is there */
bool hi_hints_take_word(struct hi_hints_parser *p, const char *word);
bool hi_hints_take_text(struct hi_hints_parser *p, const char *text);
bool hi_hints_need(struct hi_hints_parser *p, char c); /* else an error */
bool hi_hints_need_word(struct hi_hints_parser *p, const char *word);
/* Letters, digits and _; what: for the message. */
bool hi_hints_name(struct hi_hints_parser *p, const char *what,
		   struct hi_text_piece *ret);
/* A name of a buffer, program or file: up to a blank or ';', or in quotes. */
bool hi_hints_label(struct hi_hints_parser *p, const char *what,
		    struct hi_text_piece *ret);
bool hi_hints_string(struct hi_hints_parser *p, struct hi_text_piece *ret);
/* Returns whether this word after an identifier begins the rest of a statement, not of an
 * expression: an operator word, an arrow, ':' or a postfix. */
bool hi_hints_is_operator_word(struct hi_text_piece word);

/* ---- hints_slices.c ---- */

/*
 * An expression: up to ; , : { } ] or `..` outside of brackets, to an arrow with a
 * space before it, or to a word where an operator would have to be.
 */
bool hi_hints_expression(struct hi_hints_parser *p, struct hi_text_piece *ret);
/* A type's name, with captures: up to ; : , { } = [ outside of brackets, or one of the
 * words that follow a type. */
bool hi_hints_type(struct hi_hints_parser *p, struct hi_text_piece *ret);

/* ---- hints_target.c ---- */
bool hi_hints_target(struct hi_hints_parser *p, struct hi_hint_target *ret);
/* `-> TARGET [if E]`, `switch E { … }`, `: TARGET [if E]`; to the end. */
struct hi_hint_cases HI_VECTOR(struct hi_hint_case);
bool hi_hints_cases(struct hi_hints_parser *p, struct hi_hint *hint);

/* ---- hints_record.c ---- */
bool hi_hints_record(struct hi_hints_parser *p, struct hi_hint_record *ret);
/* WORD or PLACE with all that follows, `;` included. */
bool hi_hints_word(struct hi_hints_parser *p, struct hi_hint *hint);
bool hi_hints_init(struct hi_hints_parser *p, struct hi_hint *hint);

/* ---- hints_show.c: `show PATTERN { … }` ---- */
bool hi_hints_show(struct hi_hints_parser *p, struct hi_hint_show *ret);

/* The vector's items move into the arena. */
bool hi_hints_keep_(struct hi_hints_parser *p, const void *items, size_t count,
		    size_t size, void *ret, uint32_t *n_ret);
#define hi_hints_keep(p, v, ret, n_ret)                                                  \
	hi_hints_keep_((p), (v)->items, (v)->count, sizeof(*(v)->items), (ret), (n_ret))
/* Pushes, with the bound of all lists. False: the error is set. */
#define hi_hints_push(parser, v, ...)                                                    \
	((v)->count >= HINTS_ITEMS_MAX                                                   \
		 ? hi_hints_wrong((parser), (parser)->p, "more than 65536 of one kind")  \
	 : hi_vector_push((v), __VA_ARGS__) ? true                                       \
					    : hi_hints_no_memory(parser))

#endif
