/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of the rulebook:
 *
 *	rulebook.c	   texts, cache, public functions
 *	rulebook_texts.c   files, shipped texts, unused statements
 *	rulebook_index.c   the record for a type
 *	rulebook_names.c   names in expressions: captures, constants, keys, symbols
 *	rulebook_code.c	   pieces of a text to hi_code, with their warnings
 *	rulebook_target.c  targets, cases
 *	rulebook_record.c  a record for one type; roots and typedefs
 *	rulebook_show.c	   how paths write a type
 *	rulebook_wants.c   the context that a type needs
 *	rulebook_symbol.c  targets by the names of functions
 *	rulebook_lacks.c   warnings about rules that could not be resolved
 */
#ifndef HI_DECODE_RULES_RULEBOOK_INTERNAL_H
#define HI_DECODE_RULES_RULEBOOK_INTERNAL_H

#include <pthread.h>
#include <string.h>

#include "base/table.h"
#include "base/vector.h"
#include "decode/expressions/expression_names.h"
#include "decode/rules/hints.h"
#include "decode/rules/rulebook.h"
#include "decode/rules/type_pattern.h"

/* One text that was added. */
struct hi_book_text {
	struct hi_rulebook *book;
	const struct hi_hints *hints;
	bool shipped;
	/* Names and types as this text sees them; arg: this. */
	struct hi_expression_source source;
	const struct hi_captures *captures; /* while something is compiled; or NULL */
	uint64_t *const_values;
	bool *const_known;
	uint32_t first_key; /* number of hints->keys[0] in the book */
	/* The record and word that are being compiled, for warnings; length 0: none. */
	struct hi_text_piece record, word;
	hi_type_id *key_types;
};

/* A record by its name; sorted by key, then order. */
struct hi_book_entry {
	uint64_t key; /* hi_type_name_key; 0: any name */
	uint32_t order;
	struct hi_book_text *text;
	const struct hi_hint_record *record;
	const char *alias; /* the type's name, where the pattern is a typedef of it */
	hi_type_id type;   /* that is found by this name */
};

/* A type with rules that another one leads to; `supplied`: context keys that are set on
 * the edge. */
struct hi_book_edge {
	hi_type_id type;
	uint64_t supplied;
};

struct hi_compiled {
	struct hi_rules rules;
	bool empty; /* there are no rules after all: callers get NULL */
	bool retainer, asked;
	bool lost; /* while a rule is made: one of its cases was left out */
	struct hi_book_text *text;
	const struct hi_hint_record *record; /* NULL: a root, a typedef */
	struct HI_VECTOR(struct hi_book_edge) edges;
};

/* `show` of a text by the type's name; sorted by key, then order. */
struct hi_book_show {
	uint64_t key; /* hi_type_name_key; 0: any name */
	uint32_t order;
	struct hi_book_text *text;
	const struct hi_hint_show *show;
};

struct hi_rulebook {
	struct hi_types *types;		  /* or NULL */
	struct hi_modules *modules;	  /* or NULL */
	struct hi_expression_names names; /* of base, in a real program */
	struct hi_expression_source base;
	pthread_mutex_t lock; /* of all that follows */
	struct hi_arena arena;
	struct HI_VECTOR(struct hi_book_text *) texts; /* by precedence */
	size_t n_own;				       /* of them, not shipped: first */
	bool sealed;
	bool quiet, quiet_warned; /* no warnings, only whether there would be any */
	bool no_memory;		  /* something is missing */
	struct HI_VECTOR(const char *) keys;
	struct HI_VECTOR(struct hi_book_entry) entries;
	struct HI_VECTOR(hi_type_id) exact; /* types that records name, in their order */
	struct HI_VECTOR(struct hi_compiled *) compiled; /* all of them */
	struct HI_VECTOR(struct hi_compiled *) pending;	 /* without `wants` yet */
	struct hi_table by_type; /* id -> struct hi_compiled *, 0: none */
	struct hi_table by_root; /* address of a variable -> the same */
	struct HI_VECTOR(struct hi_book_show) shows;
	struct hi_table shown; /* type id -> struct hi_shown *, 0: plain */
	struct HI_VECTOR(struct hi_book_symbol *) symbols;
	struct HI_VECTOR(const char *) warnings, files;
	struct hi_table warned; /* hash of the text */
};

/* ---- rulebook.c ---- */
/* "FILE:LINE: what", once. */
void hi_book_warn(struct hi_book_text *text, const char *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Once; NULL is none. */
void hi_book_keep_warning(struct hi_rulebook *book, const char *text);
char *hi_book_piece(struct hi_rulebook *book,
		    struct hi_text_piece piece); /* in the arena */
static inline bool hi_text_piece_is(struct hi_text_piece piece, const char *text)
{
	return strlen(text) == piece.length && memcmp(piece.at, text, piece.length) == 0;
}
/* The compiled rules of a type, by its canonical id; NULL none. Under the lock. New rules
 * are pending. */
struct hi_compiled *hi_book_compiled(struct hi_rulebook *book, hi_type_id type);

enum hi_status hi_rulebook_add_parsed(struct hi_rulebook *book,
				      const struct hi_hints *hints, bool shipped,
				      struct hi_error *err);

/* ---- rulebook_index.c ---- */
bool hi_book_index(struct hi_rulebook *book);
/* Returns whether `$T` is in the name itself, before brackets: it may be called
 * anything. */
bool hi_book_is_open(struct hi_text_piece pattern);
/* The first record that fits the type, with the captures of its pattern. */
const struct hi_book_entry *hi_book_find(struct hi_rulebook *book,
					 const struct hi_type *type,
					 struct hi_captures *captures);
/* `typedef NAME -> …`, of this text first; NULL: none. *text_ret: the text that has it.
 */
const struct hi_hint_named *hi_book_typedef(struct hi_book_text *text,
					    struct hi_text_piece name,
					    struct hi_book_text **text_ret);

/* ---- rulebook_names.c ---- */
void hi_book_text_source(struct hi_book_text *text);
#define HI_BOOK_CAPTURE "hi_capture_" /* and its number: a type in expressions */
/* Replaces such names by what they captured, or (as_written) by "$T". */
size_t hi_book_uncapture(const struct hi_captures *captures, const char *in,
			 bool as_written, char *out, size_t out_size);

/* ---- rulebook_code.c ---- */
/* Names that an expression may refer to. */
struct hi_book_scope {
	struct hi_book_text *text;
	struct hi_compiled *owner; /* of the code */
	hi_type_id self, dollar;
	unsigned allowed; /* mask of enum hi_expression_operand */
};
/* NULL after a warning, or out of memory. */
const struct hi_code *hi_book_code(const struct hi_book_scope *scope,
				   struct hi_text_piece piece, bool as_lvalue);
/* All of the pieces hold; equal[i] absent or what piece i must be equal to. */
struct hi_book_condition {
	struct hi_text_piece value, equal;
	int64_t number; /* instead of `equal` */
	bool has_number;
};
const struct hi_code *hi_book_condition(const struct hi_book_scope *scope,
					const struct hi_book_condition *conditions,
					size_t n);
const struct hi_code *hi_book_any_of(const struct hi_book_scope *scope,
				     const struct hi_text_piece *pieces, size_t n);
const struct hi_code *hi_book_number(const struct hi_book_scope *scope, uint64_t number);
/* False after a warning. */
bool hi_book_constant(const struct hi_book_scope *scope, struct hi_text_piece piece,
		      uint64_t *ret);
/* A type's name with captures; 0 after a warning. */
hi_type_id hi_book_type(const struct hi_book_scope *scope, struct hi_text_piece name);
/* The captures called so; for packs the first of them and their number. */
const struct hi_capture *hi_book_capture(const struct hi_captures *captures,
					 const char *name, size_t length, size_t *n_ret);

/* ---- rulebook_target.c ---- */
bool hi_book_target(const struct hi_book_scope *scope, const struct hi_hint_target *hint,
		    struct hi_rule_target *ret);
struct hi_book_cases HI_VECTOR(struct hi_case);
/* The cases of a statement, those with a pack written out; false: out of memory. */
bool hi_book_cases(const struct hi_book_scope *scope, const struct hi_hint *hint,
		   struct hi_book_cases *cases);
/* Into the arena. */
bool hi_book_keep_cases(struct hi_rulebook *book, const struct hi_book_cases *cases,
			const struct hi_case **ret, uint32_t *n_ret);

/* ---- rulebook_record.c ---- */
/* Compiles the record for a type; NULL: out of memory. */
struct hi_compiled *hi_book_record(struct hi_book_text *text,
				   const struct hi_hint_record *record,
				   const struct hi_type *type,
				   const struct hi_captures *captures);
/* Rules of a typedef, of a root variable; NULL: there are none. */
struct hi_compiled *hi_book_typedef_rules(struct hi_rulebook *book,
					  const struct hi_type *type);
struct hi_compiled *hi_book_root_rules(struct hi_rulebook *book,
				       const struct hi_variable *var);

/* ---- rulebook_show.c ---- */
bool hi_book_index_shows(struct hi_rulebook *book);
const struct hi_shown *hi_book_shown(struct hi_rulebook *book, hi_type_id type);
bool hi_book_hides(void *arg, const char *member); /* takes no lock: texts never change */

/* ---- rulebook_wants.c ---- */
/* Fills in `wants` of all that is pending. */
void hi_book_settle(struct hi_rulebook *book);

/* ---- rulebook_lacks.c ---- */
void hi_book_warn_of_lacks(struct hi_rulebook *book);

/* ---- rulebook_symbol.c ---- */
const void *hi_book_symbol(const struct hi_book_scope *scope,
			   const struct hi_hint_target *hint);
const struct hi_rule_target *
hi_book_of_symbol(void *arg, const struct hi_rule_target *target, uint64_t address);
void hi_book_symbols_free(struct hi_rulebook *book);

#endif
