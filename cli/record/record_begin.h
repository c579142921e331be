/* SPDX-License-Identifier: BSD-2-Clause */
/* How a recording begins: probes, signals that end it in order, how much is sampled. */
#ifndef HI_CLI_RECORD_RECORD_BEGIN_H
#define HI_CLI_RECORD_RECORD_BEGIN_H

#include <signal.h>

#include "attach/exit_watch.h"
#include "session/live/recorder.h"
#include "session/options.h"

struct hi_record_signals {
	sigset_t before;
	int fd; /* readable: one has come; -1: none is watched */
};
bool hi_record_signals_came(const struct hi_record_signals *signals);
/* Later ones act as ever. */
void hi_record_signals_end(struct hi_record_signals *signals);

/* Are windows chosen for this recording if one of all allocations is dear? */
bool hi_record_may_choose_windows(const struct hi_options *options);

/*
 * Opens a recorder, decides what is recorded, and starts it. *ret stays NULL where
 * allocations are not to be followed (is_none and most_cost of the options). *goes_on_ret
 * false: it is to end already. watch: zeros, or that of a program that was started here
 * and is held: it goes on when it is recorded. It is ended by the caller in any case, as
 * *ret (NULL at first) and signals (fd -1) are. sends_images: the image of the target's
 * end is for another process (session/run.h). Errors: as of hi_recorder_open(), HI_OS.
 */
enum hi_status hi_record_begin(const struct hi_options *options, bool sends_images,
			       struct hi_exit_watch *watch,
			       struct hi_record_signals *signals,
			       struct hi_recorder **ret, bool *goes_on_ret,
			       struct hi_error *err);

#endif
