/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding types by what a person types. */
#ifndef HI_REPORT_NAMES_H
#define HI_REPORT_NAMES_H

#include "census/graph.h"

enum { HI_NAMES_NEAREST = 3 };

struct hi_type_set {
	bool *has; /* n_types entries */
	uint32_t n_types;
	uint32_t count; /* types in it */
};

/*
 * Types whose name is `pattern`, with or without "struct ", "class ", "union "
 * or "enum " on either side; if there is none and the pattern has a * or ?,
 * those that match it as a shell pattern. "(untyped)" is type 0. HI_NOT_FOUND.
 * nearest (may be NULL) then gets the closest names, NULL where there is none.
 */
enum hi_status hi_types_select(const struct hi_graph *g, const char *pattern,
			       struct hi_type_set *ret,
			       const char *nearest[HI_NAMES_NEAREST],
			       struct hi_error *err);
void hi_type_set_free(struct hi_type_set *set);
static inline bool hi_type_set_has(const struct hi_type_set *set, uint32_t type)
{
	return !set || (type < set->n_types && set->has[type]);
}

#endif
