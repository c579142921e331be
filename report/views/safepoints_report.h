/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `safepoints`: where --at could stop a process, what a probe there costs, and how
 * often the process comes by. The caller fills it in; strings borrowed, hostile
 * unless said otherwise.
 */
#ifndef HI_REPORT_VIEWS_SAFEPOINTS_REPORT_H
#define HI_REPORT_VIEWS_SAFEPOINTS_REPORT_H

#include "report/views/report_header.h"

struct hi_safepoint_row {
	const char *at;	     /* what --at takes */
	const char *runtime; /* "" of nobody known */
	const char *purpose; /* "" unknown */
	bool is_gc;	     /* what --at gc takes */
	const struct hi_probed *places;
	size_t n_places;
	const uint64_t *place_hits; /* of each; NULL: not counted */
	uint64_t hits;		    /* of all; UINT64_MAX: not counted */
};

struct hi_safepoints_report {
	const struct hi_report_header *header; /* of the target only */
	struct hi_safepoint_row *rows;	       /* hi_safepoints_sort */
	size_t n_rows, shown;
	uint64_t counted_ns;	 /* 0: not at all */
	bool cut_short;		 /* the hits were more than enough */
	const char *not_counted; /* why; "" */
	bool may_not_probe;	 /* nobody without more rights can use --at here */
	size_t rows_not_counted; /* beyond the limit of probes */
};

/* The end of a collection first, then runtimes, then by hits and name. */
void hi_safepoints_sort(struct hi_safepoints_report *report);
void hi_safepoints_display(const struct hi_safepoints_report *report,
			   struct hi_page *page);
void hi_safepoints_json(const struct hi_safepoints_report *report, struct hi_json *json);

#endif
