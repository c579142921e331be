/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals that end a command that runs in two processes (cli/decoder/decoder.h). */
#ifndef HI_CLI_DECODER_DECODER_SIGNALS_H
#define HI_CLI_DECODER_DECODER_SIGNALS_H

#include <signal.h>
#include <sys/types.h>

struct hi_decoder_signals {
	struct sigaction actions[4]; /* of SIGHUP, SIGINT, SIGQUIT, SIGTERM */
};

/* Passes these signals on to the process from now on; a second signal kills it. */
void hi_decoder_signals_begin(struct hi_decoder_signals *before, pid_t pid);
/* Restores the actions, when the process has ended and is not reaped yet. ended_by: the
 * signal that ended it. If that is one of these, this process ends by it, too. */
void hi_decoder_signals_end(const struct hi_decoder_signals *before, int ended_by);

#endif
