/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording as it runs, on a terminal: the functions whose allocations are live, with
 * their bytes, what they gained in the last seconds, how often they allocate, and a line
 * of blocks of the past. Plain ANSI on the alternate screen, as series_live.h.
 */
#ifndef HI_REPORT_REPORTS_RECORD_RECORD_LIVE_H
#define HI_REPORT_REPORTS_RECORD_RECORD_LIVE_H

#include "report/render/text.h"

/* Estimates, of samples. */
struct hi_record_live_sums {
	uint64_t live, bytes; /* that are live */
	uint64_t allocs;      /* since the recording began */
};

struct hi_record_live_row {
	const char *name, *where; /* hostile; "make_node", "list.c:39" */
	struct hi_record_live_sums now;
};

struct hi_record_live_sample {
	const char *exe;      /* hostile: the program */
	const char *followed; /* what is recorded: "malloc of libc.so.6, pool_get" */
	int pid;
	uint64_t sample_bytes; /* 0: every allocation is recorded */
	uint64_t time_ns;      /* since the recording began */
	uint64_t for_ns;       /* it ends then; 0: by itself never */
	uint64_t lost;	       /* events */
	struct hi_record_live_sums all;
	struct hi_record_live_sums unnamed; /* whose names are not known yet */
	/* Row i is the same function in each sample; later ones have more. */
	const struct hi_record_live_row *rows;
	size_t n_rows;
	const char *note; /* at the bottom; hostile; "": none */
};

/* "12 s of 60 s"; for_ns 0: "12 s". */
void hi_record_live_times(char *text, size_t size, uint64_t time_ns, uint64_t for_ns);

struct hi_record_live;
struct hi_record_live *hi_record_live_create(void); /* NULL: out of memory */
void hi_record_live_destroy(struct hi_record_live *live);
/* The newest sample, about a second after the one before; copied. HI_NO_MEMORY. */
enum hi_status hi_record_live_add(struct hi_record_live *live,
				  const struct hi_record_live_sample *sample,
				  struct hi_error *err);
/* Sorts rows by the next of bytes, growth, allocations. */
void hi_record_live_sort(struct hi_record_live *live);
/* Shows a line with the keys; pauses: and that the view stands still. */
void hi_record_live_show_keys(struct hi_record_live *live, bool keys, bool pauses);
/* The whole screen of so many lines, for one write. HI_NO_MEMORY. */
enum hi_status hi_record_live_draw(struct hi_record_live *live, unsigned lines,
				   const struct hi_text_options *looks, FILE *out,
				   struct hi_error *err);
/* The last table as plain lines, for the screen that stays. HI_NO_MEMORY. */
enum hi_status hi_record_live_print(struct hi_record_live *live, unsigned lines,
				    const struct hi_text_options *looks, FILE *out,
				    struct hi_error *err);

#endif
