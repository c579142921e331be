/* SPDX-License-Identifier: BSD-2-Clause */
/* A series into biographies, and into a heap profile of their bands. */
#ifndef HI_SESSION_BIOGRAPHY_SINK_H
#define HI_SESSION_BIOGRAPHY_SINK_H

#include "session/biography/summarize.h"
#include "session/series/sink.h"

struct hi_lives_sink;
/*
 * hp: a heap profile that is written when the series ends, as GHC's -hb writes it; what
 * no band has for certain counts as USE there. NULL: none. Strings are borrowed. HI_OS:
 * its file cannot be opened.
 */
enum hi_status hi_lives_sink_open(const struct hi_lives_options *options, const char *hp,
				  struct hi_lives_sink **ret, struct hi_error *err);
/* For hi_series_run(); it borrows the sink. */
struct hi_series_sink hi_lives_sink_of_series(struct hi_lives_sink *sink);
/* What it has, also after the series. */
struct hi_lives *hi_lives_sink_lives(struct hi_lives_sink *sink);
/* The target's file, of the last census; "" before. */
const char *hi_lives_sink_exe(const struct hi_lives_sink *sink);
void hi_lives_sink_close(struct hi_lives_sink *sink); /* NULL is fine */

#endif
