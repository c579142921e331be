/* SPDX-License-Identifier: BSD-2-Clause */
/* The flame graph of a report of a deep profile (deep_report.h) as a picture of a page.
 */
#ifndef HI_REPORT_REPORTS_DEEP_DEEP_FLAME_H
#define HI_REPORT_REPORTS_DEEP_DEEP_FLAME_H

#include "report/reports/deep/deep_report.h"

/* Adds it, if the report has one. */
void hi_deep_flame_display(const struct hi_deep_report *report, struct hi_page *page);

#endif
