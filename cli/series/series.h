/* SPDX-License-Identifier: BSD-2-Clause */
/* A command with --every: its series, the sinks that the options ask for, signals. */
#ifndef HI_CLI_SERIES_SERIES_H
#define HI_CLI_SERIES_SERIES_H

#include "cli/decoder/decoder.h"
#include "session/options.h"

/*
 * As long as options->series wants; all that is written is complete up to the last
 * sample, whatever ends it. HI_OK too when the target exits or SIGINT, SIGTERM or
 * SIGHUP comes. Returns twice, as hi_decoder_start_series() does.
 */
enum hi_status hi_series_run_command(const struct hi_options *options,
				     const struct hi_run *run, struct hi_outcome *ret,
				     struct hi_error *err);

#endif
