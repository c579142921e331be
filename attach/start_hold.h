/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holds a program where it begins. Only the tracer process uses this (wait.c).
 *
 * Note [The start of a program]
 *
 * Probes on an allocator need its file to be mapped, and all that happens before they are
 * there is missed. After an exec the loader maps libraries and relocates them, by its own
 * code; nothing of a library or of the program has run by then. So the program is let go
 * from system call to system call, and held at the first one that is not the loader's:
 * glibc makes one (prlimit) when it initialises itself, before any constructor; what
 * makes none has one in its first allocation at the latest, which is then not seen. A
 * static program, and one whose loader is the C library (musl), is held at its first
 * call.
 *
 * It is stopped before a system call, as any thread that is traced so. If the tracer
 * ends, or after HI_START_HOLD_NS, it goes on.
 */
#ifndef HI_ATTACH_START_HOLD_H
#define HI_ATTACH_START_HOLD_H

#include <sys/types.h>

#include "attach/stop_options.h"

/* How long a program is held at most. */
#define HI_START_HOLD_NS 30000000000ull

struct hi_start_hold {
	uint32_t *state; /* enum hi_start_state, shared; NULL: nothing is held */
	pid_t tid;	 /* that is let go from call to call, or is held; 0: none */
	bool has_run;	 /* the exec has returned */
	struct hi_range loader;
	uint64_t until_ns; /* not 0: it is held until then */
};

/* Follows tid, which is in PTRACE_EVENT_EXEC. True: it is followed from now on. */
bool hi_start_hold_begin(struct hi_start_hold *hold, pid_t tid);
/* How tid is let go on: PTRACE_SYSCALL while it is followed, else PTRACE_CONT. */
int hi_start_hold_request(const struct hi_start_hold *hold, pid_t tid);
/* Holds tid, which is stopped at a system call. False: it is not held there. */
bool hi_start_hold_take(struct hi_start_hold *hold, pid_t tid);
/* Lets it go if it may. */
void hi_start_hold_check(struct hi_start_hold *hold, uint64_t now_ns);

#endif
