/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads of the summary: what the variables of each hold alone. */
#include "report/reports/summary/summary_report.h"
#include "report/reports/threads/threads_report.h"

enum { THREADS_SHOWN = 10 };

enum hi_status hi_summary_take_threads(const struct hi_summary_inputs *in,
				       struct hi_summary_report *r, struct hi_error *err)
{
	const struct hi_threads_inputs inputs = {.graph = in->graph,
						 .dominators = in->dominators,
						 .owners = in->owners,
						 .live_bytes = in->reach->live_bytes,
						 .top = THREADS_SHOWN};

	return hi_threads_report_create(&inputs, &r->threads, err);
}

void hi_summary_threads(const struct hi_summary_report *r, struct hi_page *page)
{
	if (r->threads)
		hi_threads_overview(r->threads, THREADS_SHOWN, true, page);
}
