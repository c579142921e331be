/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals that end a command that runs in two processes (cli/decoder.h). */
#ifndef HI_CLI_DECODER_SIGNALS_H
#define HI_CLI_DECODER_SIGNALS_H

#include <signal.h>
#include <sys/types.h>

struct hi_decoder_signals {
	struct sigaction actions[4]; /* of SIGHUP, SIGINT, SIGQUIT, SIGTERM */
};

/* From now on they go to that process; a second one kills it. */
void hi_decoder_signals_begin(struct hi_decoder_signals *before, pid_t pid);
/* It has ended, and is not reaped yet: by one of them (then this process ends so, too),
 * or not (any other number). */
void hi_decoder_signals_end(const struct hi_decoder_signals *before, int ended_by);

#endif
