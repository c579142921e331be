/* SPDX-License-Identifier: BSD-2-Clause */
/* A series as lines: text, or JSON, one for each event. */
#ifndef HI_CLI_SERIES_SERIES_LINES_H
#define HI_CLI_SERIES_SERIES_LINES_H

#include "session/options.h"
#include "session/series/sink.h"
#include "session/series/sink_file.h"

/* The file is closed with the sink, which is made or not. */
enum hi_status hi_series_lines_open(const struct hi_options *options,
				    struct hi_sink_file file, struct hi_series_sink *ret,
				    struct hi_error *err);

#endif
