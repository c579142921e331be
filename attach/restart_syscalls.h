/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls that a stop interrupted are made to start anew, so that the target does
 * not notice. See Note [Interrupted system calls] in restart.c.
 */
#ifndef HI_ATTACH_RESTART_SYSCALLS_H
#define HI_ATTACH_RESTART_SYSCALLS_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

/*
 * Thread tid of process pid is in a signal-delivery-stop or in the stop that
 * PTRACE_INTERRUPT requested, not in a group stop; regs are its registers. If its system
 * call was about to return EINTR, changes it (and regs) to be restarted by the kernel;
 * likewise where it would go on by a restart_syscall that its seccomp filters may refuse.
 * Returns whether it did. Safe to repeat.
 */
bool hi_restart_arrange(pid_t pid, pid_t tid, struct user_regs_struct *regs);

/* Its call is to be restarted with its whole time-out. */
bool hi_restart_is_arranged(const struct user_regs_struct *regs);

/* Turns registers seen at a stop into those with which user code goes on,
 * supposed that no signal with a handler comes first. */
void hi_restart_predict(struct user_regs_struct *regs);

/* The same for a thread that comes back through rt_sigreturn, which forgets how to go
 * on with a restart_syscall: the call itself starts anew. */
void hi_restart_renew(struct user_regs_struct *regs);

/* The thread was asleep in a system call when it was stopped. */
bool hi_restart_was_asleep(const struct user_regs_struct *regs);

#endif
