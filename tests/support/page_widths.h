/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages as text of several widths: what must be the same, however narrow they are. */
#ifndef HI_TESTS_SUPPORT_PAGE_WIDTHS_H
#define HI_TESTS_SUPPORT_PAGE_WIDTHS_H

#include "report/display.h"

/* At 60, 80, 100 and 120 columns: no line is longer, each table passes
 * page_widths_check_table(). Needs a locale with UTF-8. */
void page_widths_check(const struct hi_page *page);

/* Of a table in this width: no line is longer; each number of a column that is shown
 * stands there as a whole; of texts nothing is lost, but namespaces in arguments where
 * `shortens`. Returns the characters of all texts; SIZE_MAX: not known. */
size_t page_widths_check_table(const struct hi_report_table *table, unsigned width,
			       bool shortens);

#endif
