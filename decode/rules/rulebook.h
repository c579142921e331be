/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rulebook: hints and containers as text (docs/HINTS.md), parsed once, compiled for a
 * type when its rules are first needed.
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

/* Borrows types and modules (NULL: expressions have no symbols). *ret:
 * hi_rulebook_destroy(). */
enum hi_status hi_rulebook_create(struct hi_types *types, struct hi_modules *modules,
				  struct hi_rulebook **ret, struct hi_error *err);
/* The same over types of a test; no library files. */
enum hi_status hi_rulebook_create_with(const struct hi_expression_source *source,
				       struct hi_rulebook **ret, struct hi_error *err);
/* Frees the rulebook; NULL is fine. */
void hi_rulebook_destroy(struct hi_rulebook *book);

/*
 * Adds a text (copied). HI_BAD_DATA: err is "FILE:LINE:COLUMN: expected …", and nothing
 * of the text is used. HI_USAGE: after the first hi_rulebook_source(), which resolves the
 * names of types; names that it does not find are warnings.
 */
enum hi_status hi_rulebook_add(struct hi_rulebook *book, const char *file_name,
			       const char *text, size_t size, struct hi_error *err);
/* The same for a file of the user's. Also HI_OS, HI_NO_MEMORY. */
enum hi_status hi_rulebook_add_file(struct hi_rulebook *book, const char *path,
				    struct hi_error *err);
/* Adds the shipped texts that are for this program (by its file name) or for a type that
 * it has; exe_name NULL: containers only. */
enum hi_status hi_rulebook_add_shipped(struct hi_rulebook *book, const char *exe_name,
				       struct hi_error *err);

/* For another census of the same modules: forgets what rules lacked and which were used.
 * False: there are warnings, which are of one census; the book is not to be used again. */
bool hi_rulebook_renew(struct hi_rulebook *book);

/* Returns the operations through which types get their rules. They borrow the book. No
 * text may be added afterwards. */
struct hi_rule_source hi_rulebook_source(struct hi_rulebook *book);

/* Warnings: statements that do not fit the program's types, "redis.hints:12: struct dict
 * has no member 'ht_table'". Complete when all types were met. */
size_t hi_rulebook_warnings(struct hi_rulebook *book, const char *const **ret);
/* Calls fn for each unused statement of --hints files: fn(arg, "x.hints:7: dict.key"). */
void hi_rulebook_unused(struct hi_rulebook *book, void (*fn)(void *arg, const char *text),
			void *arg);
/* Names of the hints in use: "redis.hints", …; without containers. */
size_t hi_rulebook_files(const struct hi_rulebook *book, const char *const **ret);
/* Is this type named in a `retainer` statement? (For retainer profiles.) */
bool hi_rulebook_is_retainer(struct hi_rulebook *book, hi_type_id type);
/* Name of a context key, for messages. */
const char *hi_rulebook_key_name(const struct hi_rulebook *book, uint32_t key);

#endif
