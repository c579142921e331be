/* SPDX-License-Identifier: BSD-2-Clause */
/* Which sinks the options ask for. */
#ifndef HI_CLI_SERIES_SERIES_SINKS_H
#define HI_CLI_SERIES_SERIES_SINKS_H

#include "session/options.h"
#include "session/run.h"
#include "session/series/sink.h"

/* A snapshot file, a heap profile, and lines or a live view; in this order. */
struct hi_series_sinks {
	struct hi_series_sink items[3];
	size_t count;
};

/* Before anything is stopped: a bad path costs the target nothing. */
enum hi_status hi_series_sinks_open(const struct hi_options *options,
				    const struct hi_run *run, struct hi_series_sinks *ret,
				    struct hi_error *err);
void hi_series_sinks_close(struct hi_series_sinks *sinks);

#endif
