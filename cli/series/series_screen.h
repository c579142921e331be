/* SPDX-License-Identifier: BSD-2-Clause */
/* A series as a live view on the terminal behind standard output. */
#ifndef HI_CLI_SERIES_SERIES_SCREEN_H
#define HI_CLI_SERIES_SERIES_SCREEN_H

#include "session/options.h"
#include "session/series/sink.h"

enum hi_status hi_series_screen_open(const struct hi_options *options,
				     struct hi_series_sink *ret, struct hi_error *err);
/* Shows the line. False: the sink is no view, or does not show one now. */
bool hi_series_screen_note(const struct hi_series_sink *sink, const char *text);

#endif
