/* SPDX-License-Identifier: BSD-2-Clause */
/* What would make RSS smaller without a change in what is live, by the ledger. */
#ifndef HI_REPORT_REPORTS_SUMMARY_RSS_ADVICE_H
#define HI_REPORT_REPORTS_SUMMARY_RSS_ADVICE_H

#include "census/analysis/ledger.h"
#include "report/parts/report_header.h"

/* Adds a line for each part of the ledger that is worth it: a twentieth of RSS or more.
 * Nothing where residency or RSS is not known. */
void hi_rss_advice_show(const struct hi_ledger *ledger,
			const struct hi_report_header *header, struct hi_page *page);

#endif
