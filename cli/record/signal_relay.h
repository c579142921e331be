/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Passes a signal on from a signalfd to a descriptor that other processes can wait for,
 * too. A signalfd is readable only in the process that has the signal: what waits for a
 * safepoint is another one (attach/tracer_process.c).
 */
#ifndef HI_CLI_RECORD_SIGNAL_RELAY_H
#define HI_CLI_RECORD_SIGNAL_RELAY_H

#include <pthread.h>

#include "base/error.h"

struct hi_signal_relay {
	int from; /* borrowed */
	int fd;	  /* readable when `from` was */
	int quit;
	pthread_t thread;
	pid_t owner; /* of the thread; a fork has none to end */
};

/* from is a signalfd, and is not read. *ret: hi_signal_relay_end(). HI_OS. */
enum hi_status hi_signal_relay_begin(int from, struct hi_signal_relay *ret,
				     struct hi_error *err);
/* Zeros are fine. */
void hi_signal_relay_end(struct hi_signal_relay *relay);

#endif
