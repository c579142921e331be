/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of a report that the user selected. */
#ifndef HI_REPORT_PARTS_ROW_SELECTION_H
#define HI_REPORT_PARTS_ROW_SELECTION_H

#include "report/type_search.h"

struct hi_restrict {
	size_t top;			 /* rows; SIZE_MAX: all */
	const struct hi_type_set *types; /* NULL: every type */
	const char *type_pattern;	 /* as typed; NULL: none */
	uint64_t min_size;		 /* bytes of a row; smaller rows are hidden */
};

/* What a table does not show. */
struct hi_hidden {
	uint64_t rows, bytes;
};
struct hi_hidden_rows {
	struct hi_hidden by_top, by_min_size, by_type;
};
/* Counts one row of so many bytes. */
static inline void hi_hidden_add(struct hi_hidden *hidden, uint64_t bytes)
{
	hidden->rows++;
	hidden->bytes += bytes;
}

#endif
