/* SPDX-License-Identifier: BSD-2-Clause */
/* A series: one census after another of one process, each written as it happens. */
#ifndef HI_CLI_SERIES_H
#define HI_CLI_SERIES_H

#include "report/views/series.h"
#include "session/inspect.h"

/*
 * As long as options->series wants; all that is written is complete up to the last
 * sample, whatever ends it. HI_OK too when the target exits or SIGINT, SIGTERM or
 * SIGHUP comes. *partial_ret: some snapshot had gaps.
 */
enum hi_status hi_series_run(const struct hi_options *options, bool *partial_ret,
			     struct hi_error *err);

#endif
