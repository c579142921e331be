/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live bytes by the function that allocated them, in the totals of a census
 * (docs/SNAPSHOT_FORMAT.md: section "live.functions"). A census without a recording has
 * none.
 */
#ifndef HI_CENSUS_SNAPSHOT_SNAPSHOT_FUNCTIONS_H
#define HI_CENSUS_SNAPSHOT_SNAPSHOT_FUNCTIONS_H

#include "census/snapshot/snapshot_file.h"
#include "census/snapshot/snapshot_format.h"

struct hi_live_function {
	enum hi_live_function_kind kind;
	const char *function, *file, *module; /* "" unknown; hostile */
	uint64_t objects, bytes;
};

enum hi_status hi_snapshot_put_functions(struct hi_snapshot_writer *w,
					 const struct hi_live_function *rows, size_t n,
					 struct hi_error *err);
/* *ret: free() it; its strings are the snapshot's. HI_NOT_FOUND: it has none;
 * HI_BAD_DATA, HI_NO_MEMORY. */
enum hi_status hi_snapshot_functions(struct hi_snapshot *s, struct hi_live_function **ret,
				     size_t *n_ret, struct hi_error *err);

#endif
