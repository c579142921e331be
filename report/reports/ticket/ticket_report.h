/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report `ticket`: the summary for an issue tracker. It has neither addresses nor
 * contents of the heap, unless they are wanted.
 */
#ifndef HI_REPORT_REPORTS_TICKET_TICKET_REPORT_H
#define HI_REPORT_REPORTS_TICKET_TICKET_REPORT_H

#include "report/parts/births_report.h"
#include "report/parts/trend.h"
#include "report/reports/leaks/leaks_report.h"
#include "report/reports/summary/summary_report.h"

/* The caller fills it in; all is borrowed. */
struct hi_ticket_report {
	const struct hi_summary_report *summary;
	const struct hi_trend *trend; /* of a file of several censuses; else NULL */
	/* Which lines can have made the leaks, by the code alone; NULL: not asked for. */
	const struct hi_leaks_report *leaks;
	/* Of a recording: where the leaks were allocated, and the elements of suspects;
	 * NULL: there is none. */
	const struct hi_births_sites *leak_sites, *suspect_sites;
	const char *version; /* of this program */
	const char *system;  /* "Linux 6.1.0 x86_64", of a running process; else "" */
	uint64_t running_ns; /* since the process started; UINT64_MAX: unknown */
	bool has_addresses; /* else examples are left out, and "0x…" stands for others */
	bool has_contents;  /* else keys are "[…]" */
};

/* Adds the report to a page, for report/render/markdown.h. */
void hi_ticket_display(const struct hi_ticket_report *report, struct hi_page *page);

/* Returns the text with keys of containers as "[…]" and addresses as "0x…", unless they
 * are wanted. What follows "module " is a variable, no key. Safe, as `safe` is. */
const char *hi_ticket_text(const struct hi_ticket_report *report, const char *safe,
			   struct hi_page *page);

#endif
