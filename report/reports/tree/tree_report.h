/* SPDX-License-Identifier: BSD-2-Clause */
/* The report `tree`: one level of the dominator tree (tree.h), with the way down to it
 * and a treemap of what is below. */
#ifndef HI_REPORT_REPORTS_TREE_TREE_REPORT_H
#define HI_REPORT_REPORTS_TREE_TREE_REPORT_H

#include "report/parts/report_header.h"
#include "report/pictures/picture.h"
#include "report/reports/tree/tree_levels.h"

enum {
	HI_TREE_STEPS = 12,	/* of the way down that are shown, the nearest ones */
	HI_TREE_WALK = 1 << 20, /* that are counted */
	HI_TREE_ROWS = 100,	/* usual */
};

struct hi_tree_report {
	const struct hi_report_header *header; /* borrowed */
	const struct hi_tree *tree;	       /* borrowed */
	struct hi_tree_level level;
	struct hi_node_info info; /* of what was opened */
	uint64_t live_bytes;
	size_t n_shown; /* rows */
	/* What dominates it, outermost first; it is the last one. */
	hi_node path[HI_TREE_STEPS];
	size_t n_path;
	uint64_t n_above; /* more of them, above */
};

/* top: rows that are shown. ret: hi_tree_report_free(), before the tree is destroyed.
 * Errors as of hi_tree_open(). */
enum hi_status hi_tree_report_make(struct hi_tree *tree,
				   const struct hi_report_header *header, hi_node node,
				   size_t group, size_t top, struct hi_tree_report *ret,
				   struct hi_error *err);
void hi_tree_report_free(struct hi_tree_report *report);

/* Adds the report to a page. */
void hi_tree_display(const struct hi_tree_report *report, struct hi_page *page);
/* Writes the document "heapinspect/tree/v1" (docs/schema/tree.v1.json). */
void hi_tree_json(const struct hi_tree_report *report, struct hi_json *json);
/* Adds the treemap of the level and of some levels below it. */
void hi_tree_picture(const struct hi_tree_report *report, struct hi_page *page);
/* Adds a smaller one, for a page that has no table of the level. */
void hi_tree_overview(const struct hi_tree_report *report, struct hi_page *page);

#endif
