/* SPDX-License-Identifier: BSD-2-Clause */
/* `record --every`: censuses while the recording goes on, all in one file. */
#ifndef HI_CLI_RECORD_RECORD_SERIES_H
#define HI_CLI_RECORD_RECORD_SERIES_H

#include "attach/exit_watch.h"
#include "cli/decoder/decoder.h"
#include "session/options.h"
#include "session/series/sink.h"

/*
 * Records, and takes censuses into `into` (borrowed; or NULL) and into the file of -o (if
 * there is one), of which the last one is that of the end. How the recording goes is
 * shown where it has a file only. The watch of the run, which is zeros or that of a
 * program that was started here, is the caller's to end; its recorder is of this call.
 * output: of the
 * report that follows; NULL: none. Returns twice, as hi_decoder_start_series() does.
 * Errors: as of hi_recorder_open() and hi_series_run(); what was complete by then is in
 * the file.
 */
enum hi_status hi_record_series(const struct hi_options *options, struct hi_run *run,
				const struct hi_series_sink *into,
				struct hi_output *output, struct hi_outcome *ret,
				struct hi_error *err);

#endif
