/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Patterns over readable names of types: `std::vector<$T, *>` (docs/HINTS.md). `$T`
 * captures an argument, `*` stands for any one, `...` for the rest, `$T...` captures the
 * rest one by one. All stand in place of an argument; `$T` may have text after it ("$T
 * const", "$T as core::any::Any"). A function's pattern may end in `*`. Blanks count only
 * between two words. Time is linear in name and pattern; nothing recurses.
 */
#ifndef HI_DECODE_RULES_TYPE_PATTERN_H
#define HI_DECODE_RULES_TYPE_PATTERN_H

#include "base/vector.h"
#include "decode/expressions/expression.h"

enum { HI_PATTERN_DEPTH = 8 }; /* brackets around an argument that are followed */

/* Which argument, from the outermost brackets in; depth 0: not followed. */
struct hi_argument_path {
	uint32_t depth;
	uint32_t index[HI_PATTERN_DEPTH];
	uint32_t of[HI_PATTERN_DEPTH]; /* arguments that there are */
};

struct hi_capture {
	const char *name; /* "T", in the pattern */
	uint32_t name_length;
	const char *at; /* what it took, in the name */
	uint32_t length;
	bool of_pack;
	bool whole; /* all of an argument */
	struct hi_argument_path path;
	/* After hi_captures_resolve(): */
	hi_type_id type; /* 0: a value, or not found */
	bool is_value;
	int64_t value;
};
struct hi_captures HI_VECTOR(struct hi_capture);

enum hi_match { HI_MATCH_NO, HI_MATCH_YES, HI_MATCH_NO_MEMORY };

/* is_function: parameters and what follows them may be left out of the pattern.
 * Adds to *captures only if it fits; they point into pattern and name. */
enum hi_match hi_type_pattern_match(const char *pattern, size_t pattern_length,
				    const char *name, bool is_function,
				    struct hi_captures *captures);

/* Types of what was taken: by the arguments of the matched type (0: none), else by
 * name. */
void hi_captures_resolve(const struct hi_expression_source *source, hi_type_id type,
			 struct hi_captures *captures);

/* A type by a name as people write it: `const`, `&`, any number of `*`; 0 unknown. */
hi_type_id hi_type_by_name(const struct hi_expression_source *source, const char *name,
			   size_t length);

/* Without keyword and blanks that do not count, up to the first '<' or all of it:
 * equal for a pattern and the names that may fit it. 0: out of memory. */
uint64_t hi_type_name_key(const char *name, size_t length);

#endif
