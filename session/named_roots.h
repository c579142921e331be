/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Resolves the roots that are named on the command line, and the restrictions to what
 * they reach.
 */
#ifndef HI_SESSION_NAMED_ROOTS_H
#define HI_SESSION_NAMED_ROOTS_H

#include "census/retainers/bins.h"
#include "session/inspection.h"

/* Compiles --root and --under; needs types. HI_USAGE with an empty text: the error was
 * printed, with a caret below it. */
enum hi_status hi_naming_open(struct hi_inspection *in, struct hi_error *err);
/* Compiles them before the target is stopped: a wrong name must not cost a pause. Errors
 * as of hi_naming_open(). */
enum hi_status hi_naming_check(struct hi_inspection *in, struct hi_error *err);
/* Evaluates them on the graph; adds a warning for each that refers to no object. */
enum hi_status hi_naming_find(struct hi_inspection *in, struct hi_error *err);
/* Fills in->shown.reach, in->shown.leaks_reach and in->shown.restriction. */
enum hi_status hi_naming_restrict(struct hi_inspection *in, struct hi_error *err);
/* Do --under and --retained-by leave it? Of root variables they leave those that a
 * root of --under is. */
bool hi_naming_shows(const struct hi_inspection *in, hi_node node);
/* The bits of all objects for which that is so, in the inspection's arena; *ret NULL:
 * nothing is restricted. */
enum hi_status hi_naming_bits(struct hi_inspection *in, const uint64_t **ret,
			      struct hi_error *err);
/* Those bins of in->profile.roots (root i has the identity i + 1) that are under
 * --under. */
enum hi_status hi_naming_keep_bins(struct hi_inspection *in, struct hi_bins *bins,
				   const struct hi_set_pool *pool, struct hi_error *err);
/* Prints the expression on stderr with a caret below its byte `column`. */
void hi_naming_point_at(const char *expression, size_t column);
void hi_naming_close(struct hi_inspection *in);

#endif
