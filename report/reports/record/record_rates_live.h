/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording by windows as it runs, on a terminal: how often functions allocate, with
 * the intervals of that. What of it is live is known when the heap is walked, at the end.
 * Plain ANSI on the alternate screen, as record_live.h.
 */
#ifndef HI_REPORT_REPORTS_RECORD_RECORD_RATES_LIVE_H
#define HI_REPORT_REPORTS_RECORD_RECORD_RATES_LIVE_H

#include "census/events/windows.h"
#include "report/render/text.h"

struct hi_record_rates_row {
	const char *name, *where; /* hostile; "make_node", "list.c:39" */
	struct hi_window_rate rate;
};

enum hi_record_rates_order { HI_RATES_BY_ALLOCATIONS, HI_RATES_BY_BYTES };

struct hi_record_rates_sample {
	const char *exe;      /* hostile: the program */
	const char *followed; /* "malloc of libc.so.6" */
	int pid;
	uint64_t time_ns; /* since the recording began */
	uint64_t for_ns;  /* it ends then; 0: by itself never */
	struct hi_window_totals totals;
	uint64_t lost; /* events */
	struct hi_window_rate all;
	const struct hi_record_rates_row *rows; /* in any order; those with a rate of 0
						   are not shown */
	size_t n_rows;
	const char *note; /* at the bottom; hostile; "": none */
};

/* How it is drawn. */
struct hi_record_rates_looks {
	unsigned lines; /* of the screen */
	enum hi_record_rates_order order;
	bool keys, pauses; /* a line with the keys; and that the view stands still */
	bool is_last;	   /* lines that stay, of the first rows only */
};
/* The whole screen, for one write. HI_NO_MEMORY. */
enum hi_status hi_record_rates_draw(const struct hi_record_rates_sample *sample,
				    const struct hi_record_rates_looks *how,
				    const struct hi_text_options *looks, FILE *out,
				    struct hi_error *err);

/* "1,234", "5.6 million", "0.4". Returns out. */
char *hi_record_rate_text(char out[32], double rate);
/* "1,200 to 1,300", "at least 1,200". Returns out. */
char *hi_record_rate_range(char out[80], const struct hi_bounded *rate);

#endif
