/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of a list that is browsed, as wide as its rows need them all. A screen that is
 * too narrow leaves out the graph, shares and addresses, and then cuts types and names:
 * these stand whole below the list, for the row that is selected. Numbers are never cut.
 */
#ifndef HI_REPORT_REPORTS_BROWSE_BROWSE_COLUMNS_H
#define HI_REPORT_REPORTS_BROWSE_BROWSE_COLUMNS_H

#include "report/render/text_internal.h"
#include "report/reports/browse/browse.h"

enum hi_browse_column {
	HI_BROWSE_BYTES,
	HI_BROWSE_SHARE,
	HI_BROWSE_BAR,
	HI_BROWSE_BELOW, /* objects, with those below */
	HI_BROWSE_MARK,
	HI_BROWSE_NAME,
	HI_BROWSE_COUNT, /* of a group or a list */
	HI_BROWSE_WHAT,
	HI_BROWSE_ADDRESS,
	HI_BROWSE_COLUMNS,
};

struct hi_browse_columns {
	unsigned width[HI_BROWSE_COLUMNS]; /* 0: not shown */
	unsigned details; /* lines that the texts of one row need below the list */
	bool failed;	  /* out of memory */
};

/* Returns the columns of the list that is shown, on a screen of style->width columns.
 */
struct hi_browse_columns hi_browse_columns_of(struct hi_browse *browse,
					      const struct hi_text_style *style);
/* All of these live in the arena. NULL: out of memory. */
const char *hi_browse_titles(struct hi_browse *browse, const struct hi_text_style *style,
			     const struct hi_browse_columns *columns,
			     struct hi_arena *arena);
const char *hi_browse_cells(struct hi_browse *browse, const struct hi_text_style *style,
			    const struct hi_browse_columns *columns,
			    const struct hi_browse_row *row, struct hi_arena *arena);
/* The name, type and address of a row as one text: all that columns may have cut. */
const char *hi_browse_detail(struct hi_browse *browse, const struct hi_text_style *style,
			     const struct hi_browse_row *row, struct hi_arena *arena);

#endif
