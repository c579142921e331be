/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds types by a name or pattern on the command line. */
#ifndef HI_REPORT_TYPE_SEARCH_H
#define HI_REPORT_TYPE_SEARCH_H

#include "base/near_names.h"
#include "census/graph/graph.h"

enum { HI_NAMES_NEAREST_SIZE = 160 };

struct hi_type_set {
	bool *has; /* n_types entries */
	uint32_t n_types;
	uint32_t count; /* types in it */
	/* Values of the name in one object of the type, n_types entries: 16 for the name
	 * "Item" and the type "Item [16]"; 1 where the name is the type's own. */
	uint32_t *values;
	/* The short name that was taken for one without its qualifiers, "" for none; of
	 * a list the last. */
	char taken[HI_NAMES_NEAREST_SIZE];
};

/* Short names of types near one that is not there, "" behind the last. Names that do not
 * fit are left out, so that each can be pasted. */
struct hi_types_near {
	char name[HI_NAMES_NEAREST][HI_NAMES_NEAREST_SIZE];
};

/*
 * Selects the types whose name is `pattern`, with or without "struct ", "class ", "union
 * " or "enum " on either side, or if there is none those with this short name
 * (type_name.h); and beside them all types that have a type of this name as payload
 * (census/graph/type_payload.h): nodes of containers, blocks of shared pointers, arrays.
 * If there are none of either, the name may lack its qualifiers ("Session" for
 * "shop::Session" or "app.Session"): then the one type or payload is taken that has it.
 * If there is none, and the pattern has a * or ?, it is a shell pattern for full or short
 * names of types and payloads. If no type matches that either and it has commas outside
 * of template arguments, it is a list of names, each of which must exist; one with a !
 * before it is taken away again, and a list that begins so is of all others. "=NAME" is
 * the type NAME without those around it. "(untyped)" is type 0. Blanks count only between
 * words.
 * HI_NOT_FOUND with the name that is missing; then near (may be NULL) gets the closest
 * names. HI_USAGE: types of several names have it without qualifiers; the text lists
 * them.
 */
enum hi_status hi_types_select(const struct hi_graph *g, const char *pattern,
			       struct hi_type_set *ret, struct hi_types_near *near,
			       struct hi_error *err);
/* Appends "; near it: a, b" to a text of at most size bytes: the names that fit. */
void hi_types_near_append(char *text, size_t size, const struct hi_types_near *near);
/* Frees the set's memory. */
void hi_type_set_free(struct hi_type_set *set);
/* Is the type in the set? A set that is NULL has all. */
static inline bool hi_type_set_has(const struct hi_type_set *set, uint32_t type)
{
	return !set || (type < set->n_types && set->has[type]);
}

#endif
