/* SPDX-License-Identifier: BSD-2-Clause */
/* The merged dominator tree of an inspection, with the names of edges and variables. */
#ifndef HI_SESSION_MERGED_HEAP_H
#define HI_SESSION_MERGED_HEAP_H

#include "census/analysis/merged.h"
#include "session/inspection.h"

/* Makes the tree; with --by context that of the stacks that allocated. The inspection has
 * dominators. *ret: hi_merged_destroy(). HI_NOT_FOUND: there is no recording. */
enum hi_status hi_inspect_merge(struct hi_inspection *in, struct hi_merged **ret,
				struct hi_error *err);

#endif
