/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the roots that are named on the command line, and the restrictions to what they
 * reach. Their expressions are compiled in live/live_roots.h.
 */
#ifndef HI_SESSION_INSPECT_RESTRICTIONS_H
#define HI_SESSION_INSPECT_RESTRICTIONS_H

#include "census/retainers/bins.h"
#include "session/inspection.h"

/* Evaluates --root on the graph; adds a warning for each that refers to no object. */
enum hi_status hi_naming_find(struct hi_inspection *in, struct hi_error *err);
/* Do these options leave out some of the heap? */
bool hi_naming_is_restricted(const struct hi_options *options);
/* Fills in->shown.reach, in->shown.leaks_reach and in->shown.restriction. */
enum hi_status hi_naming_restrict(struct hi_inspection *in, struct hi_error *err);
/* Do --under and --retained-by leave it? They leave the root variables that are a root of
 * --under. */
bool hi_naming_shows(const struct hi_inspection *in, hi_node node);
/* The bits of all objects for which that is so, in the inspection's arena; *ret NULL:
 * nothing is restricted. */
enum hi_status hi_naming_bits(struct hi_inspection *in, const uint64_t **ret,
			      struct hi_error *err);
/* Keeps the bins of in->profile.roots (root i has the identity i + 1) that are under
 * --under. */
enum hi_status hi_naming_keep_bins(struct hi_inspection *in, struct hi_bins *bins,
				   const struct hi_set_pool *pool, struct hi_error *err);
void hi_naming_close(struct hi_inspection *in);

#endif
