/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rulebook: hints and container tables as text, parsed once, compiled for
 * a type when it is first asked about. The language: docs/HINTS.md.
 */
#ifndef HI_DECODE_RULES_RULEBOOK_H
#define HI_DECODE_RULES_RULEBOOK_H

#include "decode/rules/rules.h"

struct hi_rulebook;

/* A text that is compiled into the program: hints/NAME.hints. */
struct hi_shipped_hints {
	const char *name; /* "redis.hints" */
	const char *text;
	size_t size;
};
extern const struct hi_shipped_hints hi_shipped_hints[]; /* name NULL ends */

/* Borrows types and modules (may be NULL: expressions then know no symbols). */
enum hi_status hi_rulebook_create(struct hi_types *types, struct hi_modules *modules,
				  struct hi_rulebook **ret, struct hi_error *err);
/* The same over drawn types; no library files. */
enum hi_status hi_rulebook_create_with(const struct hi_expression_source *source,
				       struct hi_rulebook **ret, struct hi_error *err);
void hi_rulebook_destroy(struct hi_rulebook *book);

/*
 * Adds a text. HI_BAD_DATA: err says "FILE:LINE:COLUMN: expected …"; nothing of
 * the text is then used. Before the first hi_rulebook_source() only (HI_USAGE): that
 * looks up exact names of types, and what fails is a warning.
 */
enum hi_status hi_rulebook_add(struct hi_rulebook *book, const char *file_name,
			       const char *text, size_t size, struct hi_error *err);
enum hi_status hi_rulebook_add_file(struct hi_rulebook *book, const char *path,
				    struct hi_error *err);
/* Those of the shipped ones that say that they are for this program (by its
 * file name) or for a type that it has; exe_name NULL: containers alone. */
enum hi_status hi_rulebook_add_shipped(struct hi_rulebook *book, const char *exe_name,
				       struct hi_error *err);

struct hi_rule_source hi_rulebook_source(struct hi_rulebook *book);

/* What did not fit the program's types: "redis.hints:12: struct dict has no
 * member 'ht_table'". Grows while types are met: for when that is over. */
size_t hi_rulebook_warnings(struct hi_rulebook *book, const char *const **ret);
/* Statements of --hints files that nothing has used: fn(arg, "x.hints:7: dict.key"). */
void hi_rulebook_unused(struct hi_rulebook *book, void (*fn)(void *arg, const char *text),
			void *arg);
/* Names of hints that were taken: "redis.hints", …; containers not. */
size_t hi_rulebook_files(const struct hi_rulebook *book, const char *const **ret);
/* Is this type named in a `retainer` statement? (For retainer profiles.) */
bool hi_rulebook_is_retainer(struct hi_rulebook *book, hi_type_id type);
/* Name of a context key, for explanations. */
const char *hi_rulebook_key_name(const struct hi_rulebook *book, uint32_t key);

#endif
