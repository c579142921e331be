/* SPDX-License-Identifier: BSD-2-Clause */
/* The frames of the merged dominator tree as text, for pictures and profiles. */
#ifndef HI_REPORT_PICTURES_MERGED_TEXT_H
#define HI_REPORT_PICTURES_MERGED_TEXT_H

#include "census/analysis/merged.h"

enum { HI_MERGED_TEXT = 1024 };

/* "->index: hash node", "[\"SESSIONS\"]: dict"; without a label "hash node"; of a function
 * its short name. Cut after
 * HI_MERGED_TEXT - 1 bytes; hostile. Returns out. */
const char *hi_merged_text(const struct hi_graph *g, const struct hi_merged *m,
			   uint32_t frame, char out[HI_MERGED_TEXT]);
/* The part behind the label. */
const char *hi_merged_type_text(const struct hi_graph *g, uint32_t key,
				char out[HI_MERGED_TEXT]);

#endif
