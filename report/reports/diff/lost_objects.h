/* SPDX-License-Identifier: BSD-2-Clause */
/* Leaks by what they were when a root still reached them. Borrowed. */
#ifndef HI_REPORT_REPORTS_DIFF_LOST_OBJECTS_H
#define HI_REPORT_REPORTS_DIFF_LOST_OBJECTS_H

#include "census/analysis/compare.h"
#include "report/json_writer.h"
#include "report/parts/hidden_rows.h"

struct hi_lost_row {
	const char *type; /* hostile */
	const char *
		under; /* the path to what held them, as text; escaped already; "" none */
	struct hi_heap_total all, likely; /* likely: of all */
	uint64_t example;		  /* an address */
};
struct hi_lost_objects {
	bool is_known;			/* both heaps are of one process */
	const struct hi_lost_row *rows; /* most bytes first */
	size_t n_rows;
	struct hi_hidden_rows hidden;
	struct hi_heap_total all;
};

/* Adds the table to a page, nothing where no object was lost. */
void hi_lost_objects_show(const struct hi_lost_objects *lost, struct hi_page *page);
/* Its rows, the member "was". */
extern const struct hi_doc_fields hi_lost_row_fields;

#endif
