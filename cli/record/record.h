/* SPDX-License-Identifier: BSD-2-Clause */
/* Follows the allocations of a process for the command `record`. */
#ifndef HI_CLI_RECORD_RECORD_H
#define HI_CLI_RECORD_RECORD_H

#include "attach/exit_watch.h"
#include "cli/command/command.h"
#include "session/inspection.h"
#include "session/live/recorder.h"
#include "session/run.h"

/*
 * Follows the target of the options until --for is over, a signal (INT, TERM) comes, or
 * the target is about to exit, and prints how it goes on stderr. The watch of the
 * run, which is zeros or that of a program that was started here, is the caller's to
 * end. It holds the target at its exit, and is not begun where another
 * process traces the target. *ret: the recording, which still goes on;
 * hi_recorder_close(). Errors: as of hi_recorder_open() and hi_recorder_poll().
 */
enum hi_status hi_record_follow(const struct hi_options *options,
				const struct hi_run *run, struct hi_recorder **ret,
				struct hi_error *err);
/* The report of a recording: fills the page or the document. */
enum hi_status hi_record_report(struct hi_inspection *in,
				const struct hi_report_header *header,
				struct hi_page *page, struct hi_json *json,
				struct hi_error *err);

#endif
