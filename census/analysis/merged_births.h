/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live objects by the stacks that allocated them, as a merged tree (merged.h): from the
 * outermost function to the innermost one, so that flame graphs and profiles can show
 * it. Objects from before the recording, others without a record, and those without a
 * stack are children of the root.
 */
#ifndef HI_CENSUS_ANALYSIS_MERGED_BIRTHS_H
#define HI_CENSUS_ANALYSIS_MERGED_BIRTHS_H

#include "census/analysis/merged.h"
#include "census/events/births.h"
#include "census/events/frames.h"

/*
 * mask: bits of the objects that count. In a stack with more than HI_MERGED_DEPTH - 1
 * functions "..." replaces the outermost ones. *ret: hi_merged_destroy(). HI_NO_MEMORY.
 */
enum hi_status hi_merged_births_make(const struct hi_graph *g, const uint64_t *mask,
				     const struct hi_births *births,
				     const struct hi_context_view *contexts,
				     const struct hi_frames *frames,
				     struct hi_merged **ret, struct hi_error *err);

#endif
