/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A series as it runs, on a terminal: the largest bands with their bytes, what
 * they gained since the first sample, and a line of blocks of their last samples.
 * Plain ANSI, on the alternate screen, so that the terminal is as it was afterwards.
 */
#ifndef HI_REPORT_REPORTS_SERIES_SERIES_LIVE_H
#define HI_REPORT_REPORTS_SERIES_SERIES_LIVE_H

#include "report/render/text.h"
#include "report/reports/series/series_sample.h"

/* To a terminal as it is: for signal handlers too. */
#define HI_SERIES_LIVE_ENTER "\033[?1049h\033[?25l"
#define HI_SERIES_LIVE_LEAVE "\033[?25h\033[?1049l"

struct hi_series_live;
/* NULL: out of memory. */
struct hi_series_live *hi_series_live_create(void);
void hi_series_live_destroy(struct hi_series_live *live);
/* The sample is the newest; call it before the draw. */
enum hi_status hi_series_live_add(struct hi_series_live *live,
				  const struct hi_series_header *header,
				  const struct hi_series_sample *sample,
				  struct hi_error *err);
/* A line at the bottom for the next few samples. */
void hi_series_live_note(struct hi_series_live *live, const char *text);
/* Sorts rows by the next of bytes, objects, change. */
void hi_series_live_sort(struct hi_series_live *live);
/* Shows a line with the keys; pauses: and that no census is taken. */
void hi_series_live_show_keys(struct hi_series_live *live, bool keys, bool pauses);
/* The last table as plain lines, with the commands to go on with: for the end of the
 * series, on the screen that stays. HI_NO_MEMORY. */
enum hi_status hi_series_live_print(struct hi_series_live *live,
				    const struct hi_series_header *header, unsigned lines,
				    const struct hi_text_options *looks, FILE *out,
				    struct hi_error *err);
/* The whole screen of `lines` lines, for one write; HI_NO_MEMORY. */
enum hi_status hi_series_live_draw(struct hi_series_live *live,
				   const struct hi_series_header *header, unsigned lines,
				   const struct hi_text_options *looks, FILE *out,
				   struct hi_error *err);

#endif
