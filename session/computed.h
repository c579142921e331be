/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results that are computed once for an inspection and kept for later questions. A
 * command that runs once computes no more than it needs; pages of an inspection that
 * stays open have it from the first one on, or from hi_kept_warm_up().
 */
#ifndef HI_SESSION_COMPUTED_H
#define HI_SESSION_COMPUTED_H

#include "session/inspection.h"

/* For searches of paths (struct hi_paths_wanted). Borrowed. HI_LIMIT, HI_NO_MEMORY. */
enum hi_status hi_kept_paths(struct hi_inspection *in, struct hi_path_index **ret,
			     struct hi_error *err);
/* As hi_paths_shortest(): by what is kept, or else by a walk that ends early. */
enum hi_status hi_kept_ways(struct hi_inspection *in, const hi_node *targets, size_t n,
			    struct hi_paths **ret, struct hi_error *err);
/* As hi_referrers_find(), from the kept edges where there are any. */
enum hi_status hi_kept_referrers(struct hi_inspection *in, hi_node node, size_t max,
				 struct hi_referrers **ret, struct hi_error *err);
/* Fills in->shown.dominators, by results.dominators, which were wanted. HI_NO_MEMORY. */
enum hi_status hi_kept_shown_dominators(struct hi_inspection *in, struct hi_error *err);
/* Computes the owners by results.reach and shown.dominators. Borrowed. */
enum hi_status hi_kept_owners(struct hi_inspection *in, const struct hi_owners **ret,
			      struct hi_error *err);
/* Computes nearest holders by results.reach; a file has them for the summary's objects.
 * Borrowed. */
enum hi_status hi_kept_nearest(struct hi_inspection *in, const struct hi_nearest **ret,
			       struct hi_error *err);
/* Finds the calls of the program's code that allocate, and opens used_bytes for their fits
 * (leak_sites.h). Borrowed; NULL: the file has none. */
enum hi_status hi_kept_alloc_sites(struct hi_inspection *in,
				   const struct hi_alloc_sites **ret,
				   struct hi_error *err);

/* Computes some of it that no one has asked for yet, in a step of at most some tenths of
 * a second. False: nothing is left to do. Failed parts are left out. */
bool hi_kept_warm_up(struct hi_inspection *in);
void hi_kept_free(struct hi_kept *kept);

#endif
