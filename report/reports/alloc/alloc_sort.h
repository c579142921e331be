/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of the report `alloc` in an order. */
#ifndef HI_REPORT_REPORTS_ALLOC_ALLOC_SORT_H
#define HI_REPORT_REPORTS_ALLOC_ALLOC_SORT_H

#include "report/reports/alloc/alloc_report.h"

/* As for qsort(): the larger amount comes first, of equal ones the name that is earlier,
 * then the file. By weight as by alloc: heights are of the bars. */
int hi_alloc_compare(enum hi_alloc_order order, const struct hi_alloc_function *a,
		     const struct hi_alloc_function *b);
/* Sorts n functions. */
void hi_alloc_sort(enum hi_alloc_order order, struct hi_alloc_function *functions,
		   size_t n);

#endif
