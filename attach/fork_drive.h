/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One system call of a stopped thread, from PTRACE_SYSCALL to PTRACE_SYSCALL. Stops are
 * not consumed: see Note [Stops are looked at, not consumed] in tracees.c.
 */
#ifndef HI_ATTACH_FORK_DRIVE_H
#define HI_ATTACH_FORK_DRIVE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct hi_call_outcome {
	long result; /* -errno; of the thread's own pid namespace */
	pid_t child; /* the one that it made, in this process's pid namespace; 0: none */
};

/*
 * Makes a call. tid is stopped with its registers before a syscall instruction, all
 * signals blocked, and has the option PTRACE_O_TRACESYSGOOD. On success it is in the
 * syscall-exit-stop. A call that a stop signal interrupts starts anew, a few times.
 * HI_GONE, HI_TIMEOUT (it runs, or is in the call still), HI_OS: it did not come to the
 * call, it is stopped at a signal that is not taken.
 */
enum hi_status hi_call_drive(pid_t tid, uint64_t deadline_ns, struct hi_call_outcome *ret,
			     struct hi_error *err);
/* Waits for its next stop (as waitid's si_status) and leaves that in place. */
enum hi_status hi_call_await(pid_t tid, uint64_t deadline_ns, int *stop_ret,
			     struct hi_error *err);

#endif
