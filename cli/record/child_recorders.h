/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that `record --children` starts before anything else: it looks for
 * processes that the target and its children have forked, and starts a recorder for each.
 * A recorder is a process that does what `record --pid CHILD -o FILE.CHILD` does.
 */
#ifndef HI_CLI_RECORD_CHILD_RECORDERS_H
#define HI_CLI_RECORD_CHILD_RECORDERS_H

#include "session/options.h"
#include "session/run.h"

enum {
	HI_CHILD_RECORDERS_MAX = 64,
	/* Each takes about 50 MB of the kernel's memory. */
	HI_CHILD_RECORDERS_AT_ONCE = 16,
	HI_CHILD_FAILURE_SIZE = 256,
};

/* Runs the command of a recorder; returns its exit status. */
typedef int hi_child_recorder_fn(const struct hi_options *options, struct hi_run *run);

/* What it says through the pipe, one write each. */
struct hi_child_message {
	enum hi_child_event {
		HI_CHILD_STARTED,  /* a recorder was */
		HI_CHILD_RECORDED, /* it records from now on */
		HI_CHILD_ENDED,	   /* it has ended; failure "": the file is written */
		HI_CHILD_WAITS, /* this one is not recorded until another one has ended */
		HI_CHILD_LIMIT, /* this one and later ones are not recorded */
	} event;
	pid_t pid;
	char failure[HI_CHILD_FAILURE_SIZE]; /* hostile */
};

/* The file of a child: "FILE.PID". */
void hi_child_recorder_file(const struct hi_options *options, pid_t child, char *out,
			    size_t size);
/*
 * Looks for children until SIGTERM, or until the process that started this one ends; then
 * all recorders end in order, and so does this process. A second SIGTERM ends them at
 * once. to: the pipe. SIGTERM, SIGINT and SIGCHLD are blocked; before: the mask for
 * recorders.
 */
_Noreturn void hi_child_recorders_run(const struct hi_options *options,
				      hi_child_recorder_fn *run, int to,
				      const sigset_t *before);

#endif
