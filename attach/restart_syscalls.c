/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Interrupted system calls]
 *
 * PTRACE_INTERRUPT wakes a sleeping thread as a signal does. Most system calls then
 * return one of the kernel's private codes (ERESTARTSYS 512, ERESTARTNOINTR 513,
 * ERESTARTNOHAND 514, ERESTART_RESTARTBLOCK 516; include/linux/errno.h) and start anew by
 * themselves when no handler is run. Some return a plain EINTR (epoll_wait, sigtimedwait,
 * semop, io_getevents, recv with a time-out, see signal(7)), which the target would see.
 *
 * We stop such a thread inside get_signal() (kernel/signal.c), on its way back to user
 * mode and before arch_do_signal_or_restart() looks at rax. So we write ERESTARTNOHAND
 * where EINTR stood, and the kernel does the rest when the thread goes on, whatever
 * makes it go on:
 *   - no signal, or one that is ignored or has no handler: rax = orig_rax, rip -= 2, the
 *     call starts anew (its time-out too);
 *   - a handler is run first: the call returns EINTR after it, with and without
 *     SA_RESTART, exactly as an EINTR of its own would have. Winding rip back by
 *     ourselves would lose this EINTR, and with it the wake-up of a loop around
 *     epoll_pwait() whose handler only sets a flag;
 *   - saved signal masks (epoll_pwait, rt_sigtimedwait) are put back by the same code on
 *     both ways. Nothing has to be undone, so a tracer that dies later does no harm, and
 *     stopping the thread again meets an ERESTARTNOHAND that is left as it is.
 *
 * It is a system call only if orig_rax >= 0: interrupts and exceptions enter with -1,
 * rt_sigreturn sets -1, and a handler's first instruction has rax 0. So a user-mode rax
 * that happens to be -4 is never touched. No restartable sequence can be at hand: system
 * calls are forbidden in them, and rip is after one.
 *
 * Not changed: a group stop (it would have been EINTR without us as well); close(), which
 * has closed the descriptor even if it returns EINTR; restart_syscall, for which EINTR
 * means that there is nothing to restart (its interrupted calls return
 * ERESTART_RESTARTBLOCK again); rt_sigreturn.
 *
 * The call starts with its whole time-out again: Note [Time-outs that start anew] in
 * sleepers.c.
 *
 * One thing cannot be hidden: a call that had done a part of its work returns that part
 * (a write to a full pipe, recv with MSG_WAITALL).
 *
 * Note [Filters that refuse restart_syscall]
 *
 * nanosleep, poll and futex with a relative time-out return ERESTART_RESTARTBLOCK and go
 * on by a system call of another number, restart_syscall, which the thread's seccomp
 * filters see (kernel/seccomp.c runs at each entry). A filter that lists the calls of its
 * program may not know it and kills the process: any SIGSTOP and SIGCONT does that too,
 * but an inspection must not kill the target. ERESTARTNOHAND makes the kernel repeat the
 * call itself, which the filters have allowed before, with the same arguments at the same
 * place. Its time-out starts again; nanosleep(&t, &t), the usual loop, goes on with the
 * rest, for the kernel has written that to t when it was interrupted.
 *
 * The filters are read where that is permitted (CAP_SYS_ADMIN, and none on us). Else a
 * thread that has filters counts as one that they refuse. A thread that is inside
 * restart_syscall has shown that they allow it.
 *
 * One gap remains: between the wake-up and our look at the thread a death of the tracer
 * by SIGKILL lets it run into the filter.
 */
#include "attach/restart_syscalls.h"

#include <errno.h>
#include <linux/audit.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "attach/seccomp_filter.h"
#include "attach/thread_stat.h"

enum {
	RESTART_SYS = 512,
	RESTART_NOINTR = 513,
	RESTART_NOHAND = 514,
	RESTART_BLOCK = 516,
};

static bool in_system_call(const struct user_regs_struct *regs)
{
	return (long long)regs->orig_rax >= 0;
}

/* Calls whose EINTR must stay. */
static bool is_final(unsigned long long number)
{
	return number == SYS_close || number == SYS_restart_syscall ||
	       number == SYS_rt_sigreturn;
}

/* See Note [Filters that refuse restart_syscall]. */
static bool may_restart_block(pid_t pid, pid_t tid, const struct user_regs_struct *regs)
{
	const struct hi_filtered_call call = {
		.name = "restart_syscall",
		.data = {.nr = SYS_restart_syscall,
			 .arch = AUDIT_ARCH_X86_64,
			 .instruction_pointer = regs->rip,
			 .args = {regs->rdi, regs->rsi, regs->rdx, regs->r10, regs->r8,
				  regs->r9}}};

	if (regs->orig_rax == SYS_restart_syscall)
		return true;
	if (ptrace(PTRACE_SECCOMP_GET_FILTER, tid, 0, NULL) >= 0)
		return hi_seccomp_check(tid, &call, 1, NULL) == HI_OK;
	/* EINVAL: it has none (kernel/seccomp.c, get_nth_filter). */
	return errno == EINVAL || !hi_thread_is_filtered(pid, tid);
}

/* Would the target notice how the kernel would end the interruption? */
static bool is_to_be_changed(pid_t pid, pid_t tid, const struct user_regs_struct *regs)
{
	long long code = -(long long)regs->rax;

	if (!in_system_call(regs) || is_final(regs->orig_rax))
		return false;
	return code == EINTR ||
	       (code == RESTART_BLOCK && !may_restart_block(pid, tid, regs));
}

bool hi_restart_arrange(pid_t pid, pid_t tid, struct user_regs_struct *regs)
{
	const unsigned long long code = (unsigned long long)-RESTART_NOHAND;

	if (!is_to_be_changed(pid, tid, regs))
		return false;
	if (ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, regs.rax), code) < 0)
		return false; /* it has just been killed */
	regs->rax = code;
	return true;
}

bool hi_restart_is_arranged(const struct user_regs_struct *regs)
{
	return in_system_call(regs) && (long long)regs->rax == -RESTART_NOHAND;
}

void hi_restart_predict(struct user_regs_struct *regs)
{
	if (!in_system_call(regs))
		return;
	switch (-(long long)regs->rax) {
	case RESTART_SYS:
	case RESTART_NOINTR:
	case RESTART_NOHAND:
		regs->rax = regs->orig_rax;
		regs->rip -= 2;
		break;
	case RESTART_BLOCK:
		regs->rax = SYS_restart_syscall;
		regs->rip -= 2;
		break;
	default:
		break;
	}
}

void hi_restart_renew(struct user_regs_struct *regs)
{
	bool is_block = in_system_call(regs) && (long long)regs->rax == -RESTART_BLOCK;

	hi_restart_predict(regs);
	/* Interrupted twice it is restart_syscall already, and ends by EINTR. */
	if (is_block)
		regs->rax = regs->orig_rax;
}

bool hi_restart_was_asleep(const struct user_regs_struct *regs)
{
	long long code = -(long long)regs->rax;

	return in_system_call(regs) &&
	       (code == EINTR || (code >= RESTART_SYS && code <= RESTART_BLOCK));
}
