/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Deep profiles of several runs, or of several censuses of one: their sum, and what one
 * has more than the other.
 *
 * Functions are the same if name, module and file are; call sites, if they are in the
 * same function and file, line and place are. If a profile has several that are alike,
 * the first of one is the first of the other, in the order of lines.
 */
#ifndef HI_CENSUS_DEEP_MERGE_H
#define HI_CENSUS_DEEP_MERGE_H

#include "census/deep/deep_profile.h"

/* Whether the tables have all functions and call sites that the graph and they name. */
bool hi_deep_is_described(const struct hi_deep_profile *profile);

/*
 * The sum of two profiles, as if the stacks of both had been added to one. Functions and
 * call sites of a keep their numbers. A cost is known where both know it, ticks where
 * both have as many a second. *ret: hi_deep_profile_free(). HI_BAD_DATA: a graph has
 * functions or call sites that its profile does not have. HI_NO_MEMORY, HI_LIMIT: as
 * hi_deep_add().
 */
enum hi_status hi_deep_profile_merge(const struct hi_deep_profile *a,
				     const struct hi_deep_profile *b,
				     struct hi_deep_profile *ret, struct hi_error *err);

/*
 * Two profiles side by side. Their graphs have the nodes, edges, leaves and cliques of
 * the merged one, each with the costs of its own profile alone: what has the same index
 * is the same.
 */
struct hi_deep_diff {
	struct hi_deep_profile merged;
	struct hi_deep_graph before, after;
};
/* *ret: hi_deep_diff_free(). Errors as of hi_deep_profile_merge(). */
enum hi_status hi_deep_diff(const struct hi_deep_profile *before,
			    const struct hi_deep_profile *after, struct hi_deep_diff *ret,
			    struct hi_error *err);
void hi_deep_diff_free(struct hi_deep_diff *diff);

#endif
