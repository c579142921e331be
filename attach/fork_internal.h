/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of fork.h: the plan, the limits, and the thread that makes the call. */
#ifndef HI_ATTACH_FORK_INTERNAL_H
#define HI_ATTACH_FORK_INTERNAL_H

#include "attach/fork_program.h"
#include "attach/target.h"

struct hi_tracee;
struct hi_tracees;

struct hi_fork_plan {
	pid_t proc_pid; /* its /proc directory shows the address space */
	struct hi_gadgets gadgets;
	struct hi_mapping *mappings; /* sorted, as the target ran */
	size_t n_mappings;
};

/* The reason when no thread may run. */
#define HI_FORK_STOPPED "it is stopped (SIGSTOP or similar), so copying costs it nothing"

#define HI_FORK_ASLEEP                                                                   \
	"all of its threads sleep in system calls that were restarted before, and are "  \
	"left asleep"

/* ---- fork_limits.c ---- */

/*
 * HI_UNSUPPORTED if something that shows while pid runs forbids to fork it. writable:
 * bytes that the target may write to and so copy.
 */
enum hi_status hi_fork_check_process(pid_t pid, uint64_t writable, struct hi_error *err);
/* The same for the stopped thread that is to make the call. *filtered_ret: it has
 * seccomp filters, which must be checked. */
enum hi_status hi_fork_check_thread(pid_t pid, pid_t tid, bool *filtered_ret,
				    struct hi_error *err);
/* HI_UNSUPPORTED with the reason for a clone that returned -error. */
enum hi_status hi_fork_refused(long error, struct hi_error *err);

/* ---- fork_reaper.c ---- */

/* HI_UNSUPPORTED: the process that would adopt the copy may not reap it. */
enum hi_status hi_fork_check_reaper(pid_t pid, struct hi_error *err);
/* Of the text of /proc/PID/status: is it process 1 of its pid namespace? */
bool hi_fork_is_init(const char *status);

/* ---- fork_thread.c ---- */

/* Freed by hi_mappings_free. */
enum hi_status hi_fork_read_mappings(pid_t pid, struct hi_mapping **ret, size_t *n_ret,
				     struct hi_error *err);

/*
 * The thread whose stack can take the program, with what is needed to put it back.
 * Prefers one in user code to one in a system call; takes none that is group-stopped. The
 * mappings of the plan are read anew where no thread is found by them: threads may be
 * younger. HI_UNSUPPORTED: there is none. See Note [A stack to write to].
 */
enum hi_status hi_fork_choose_thread(const struct hi_tracees *all,
				     const struct hi_fork_plan *plan, int memory,
				     struct hi_tracee **ret,
				     struct hi_fork_origin *origin_ret,
				     struct hi_error *err);

#endif
