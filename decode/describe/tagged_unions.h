/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records with a union and an enumeration beside it that selects the member in use, and
 * the hint (docs/HINTS.md) for them. Members and enumerators belong together if their
 * names are alike: VALUE_STRING and `string` or `str`. Proposals are compared with the
 * live objects.
 */
#ifndef HI_DECODE_DESCRIBE_TAGGED_UNIONS_H
#define HI_DECODE_DESCRIBE_TAGGED_UNIONS_H

#include "base/arena.h"
#include "census/analysis/analysis.h"
#include "decode/inference/typing.h"
#include "decode/types/types.h"

struct hi_tagged_case {
	const char *enumerator; /* hostile, as all names here */
	int64_t value;
	const char *target;   /* of a hint: "scalar", "any", "blob NAME", a type; NULL: no
			       * member has a name like it */
	uint64_t record_size; /* where target is a type; else 0 */
	/* Values that are not 0, of live objects with this enumerator: the target may
	 * be there, or not. */
	uint64_t fits, misfits;
};
struct hi_tagged_union {
	uint32_t type;			 /* of the graph */
	const char *record, *word, *tag; /* "struct value", "as.string", "kind" */
	struct hi_tagged_case *cases;
	size_t n_cases;
	uint64_t word_offset, tag_offset, tag_size;
	uint64_t unknown; /* objects whose value is no enumerator */
};
struct hi_tagged_unions {
	struct hi_tagged_union *items; /* by type */
	size_t n;
};

/* Searches the types that live objects have. *ret is in the arena, names are borrowed of
 * the types. HI_NO_MEMORY. */
enum hi_status hi_tagged_unions_find(struct hi_typing *typing, struct hi_types *types,
				     const struct hi_graph *graph,
				     const struct hi_reach *reach, struct hi_arena *arena,
				     struct hi_tagged_unions *ret, struct hi_error *err);
/* Is the case to be used: does it fit more often than not? */
bool hi_tagged_case_holds(const struct hi_tagged_case *c);

#endif
