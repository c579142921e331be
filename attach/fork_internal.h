/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of fork.h: the plan, and who makes the call. */
#ifndef HI_ATTACH_FORK_INTERNAL_H
#define HI_ATTACH_FORK_INTERNAL_H

#include "attach/fork_program.h"
#include "attach/target.h"

struct hi_tracee;
struct hi_tracees;

struct hi_fork_plan {
	pid_t proc_pid; /* whose /proc directory tells of the address space */
	struct hi_gadgets gadgets;
	struct hi_mapping *mappings; /* sorted, as the target ran */
	size_t n_mappings;
};

/* Said where nobody may run. */
#define HI_FORK_STOPPED "it is stopped (SIGSTOP or similar), so copying costs it nothing"

#define HI_FORK_ASLEEP                                                                   \
	"all of its threads sleep in system calls that were restarted before, and are "  \
	"left asleep"

/* ---- fork_limits.c ---- */

/*
 * What forbids that pid is forked and can be seen while it runs: HI_UNSUPPORTED.
 * writable: bytes that the target may write to and so copy.
 */
enum hi_status hi_fork_check_process(pid_t pid, uint64_t writable, struct hi_error *err);
/* The same for the thread that is to make the call, which stands. Says whether it has
 * seccomp filters, to be looked at. */
enum hi_status hi_fork_check_thread(pid_t pid, pid_t tid, bool *filtered_ret,
				    struct hi_error *err);
/* The text of a clone that said -error. HI_UNSUPPORTED. */
enum hi_status hi_fork_refused(long error, struct hi_error *err);

/* ---- fork_reaper.c ---- */

/* HI_UNSUPPORTED: the copy would go to somebody who may not know what to do with it. */
enum hi_status hi_fork_check_reaper(pid_t pid, struct hi_error *err);
/* Of the text of /proc/PID/status: is it process 1 of its pid namespace? */
bool hi_fork_is_init(const char *status);

/* ---- fork_thread.c ---- */

/* Freed by hi_mappings_free. */
enum hi_status hi_fork_read_mappings(pid_t pid, struct hi_mapping **ret, size_t *n_ret,
				     struct hi_error *err);

/*
 * The thread whose stack can take the program, with what is needed to put it back.
 * Prefers one in user code to one in a system call; takes none that is group-stopped.
 * The mappings of the plan are read anew where no thread is found by
 * them: threads may be younger. HI_UNSUPPORTED: there is none. See Note [Whose stack].
 */
enum hi_status hi_fork_choose_thread(const struct hi_tracees *all,
				     const struct hi_fork_plan *plan, int memory,
				     struct hi_tracee **ret,
				     struct hi_fork_origin *origin_ret,
				     struct hi_error *err);

#endif
