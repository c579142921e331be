/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that are left asleep, and threads that are brought back to sleep: see Note
 * [Time-outs that start anew] in sleepers.c.
 *
 * Note [Brought back to sleep]
 *
 * At the resume a thread whose call starts anew is let go by PTRACE_SYSCALL, twice: it
 * stops at the entry of the call, then it sleeps in it. It is never detached, which only
 * a stopped one can be: it is free when the tracer ends, and until then the tracer lets
 * go every thread that stops (hi_tracees_release). TRACESYSGOOD for the same reason as in
 * fork.c: a stop at a call that was not consumed sends no signal when the tracer dies.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "attach/restart_syscalls.h"
#include "attach/restarted_sleeps.h"
#include "attach/tracees.h"
#include "base/clock.h"

#define EVENT_OF(status) ((status) >> 8)
#define SYSCALL_STOP (SIGTRAP | 0x80)
#define WHAT (WSTOPPED | WEXITED | WNOWAIT | WNOHANG | __WALL)
/*
 * All must be past the entry before the tracer ends, for the reason at let_stop_go: they
 * are runnable, but the machine may be busy. Threads that do not sleep then are just not
 * in the table.
 */
#define ENTRY_NS 3000000000u
#define SETTLE_NS 100000000u
#define LOOK_MIN_NS 20000u
#define LOOK_MAX_NS 100000u

/* ---- left asleep ---- */

bool hi_tracee_leave_asleep(struct hi_tracees *all, struct hi_tracee *tracee)
{
	tracee->restarts = hi_sleepers_restarts(all->sleepers, all->pid, tracee->tid);
	if (tracee->restarts < HI_SLEEPERS_RESTARTS)
		return false;
	tracee->regs = hi_sleepers_slot(all->sleepers, tracee->tid)->regs;
	tracee->state = HI_TRACEE_LEFT;
	return true;
}

bool hi_tracees_has_woken(const struct hi_tracees *all)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct hi_tracee *tracee = &all->items[i];

		if (tracee->state == HI_TRACEE_LEFT &&
		    !hi_sleeper_is_asleep(hi_sleepers_slot(all->sleepers, tracee->tid),
					  all->pid))
			return true;
	}
	return all->has_lost_sleeper;
}

/* ---- brought back to sleep ---- */

static bool is_entry(const struct hi_tracee *tracee, int stop)
{
	struct __ptrace_syscall_info info = {};

	return stop == SYSCALL_STOP &&
	       ptrace(PTRACE_GET_SYSCALL_INFO, tracee->tid, sizeof(info), &info) > 0 &&
	       info.op == PTRACE_SYSCALL_INFO_ENTRY &&
	       info.entry.nr == tracee->regs.orig_rax;
}

/*
 * Lets a thread go that is stopped somewhere, with the signal that it was about to take.
 * Not detached at the entry of a call: a detach leaves it with a signal that seems
 * pending (kernel/ptrace.c, __ptrace_unlink), and the call would return EINTR.
 */
static void let_stop_go(struct hi_tracee *tracee, int stop)
{
	int sig = EVENT_OF(stop) || stop == SYSCALL_STOP ? 0 : stop;

	if (is_entry(tracee, stop)) {
		(void)ptrace(PTRACE_CONT, tracee->tid, 0, 0);
		tracee->state = HI_TRACEE_ASLEEP;
		return;
	}
	(void)ptrace(PTRACE_DETACH, tracee->tid, 0, sig);
	tracee->state = HI_TRACEE_SEEN;
}

/* A stop of it, 0 if it is in none; one that is dead is marked. */
static int stop_of(struct hi_tracee *tracee)
{
	siginfo_t info = {};

	if (waitid(P_PID, (id_t)tracee->tid, &info, WHAT) < 0) {
		tracee->state = errno == ECHILD ? HI_TRACEE_DEAD : tracee->state;
		return 0;
	}
	if (!info.si_pid)
		return 0;
	if (info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED)
		return info.si_status;
	hi_tracee_reap(tracee->tid);
	tracee->state = HI_TRACEE_DEAD;
	return 0;
}

/* At the entry of its call; anything else ends the attempt. True: it is past it. */
static bool pass_entry(struct hi_tracee *tracee)
{
	int stop = stop_of(tracee);

	if (!stop)
		return tracee->state == HI_TRACEE_DEAD;
	if (!is_entry(tracee, stop))
		let_stop_go(tracee, stop);
	else if (ptrace(PTRACE_SYSCALL, tracee->tid, 0, 0) == 0)
		tracee->state = HI_TRACEE_SETTLING;
	else
		tracee->state = HI_TRACEE_DEAD; /* killed */
	return true;
}

/* True: it is known to sleep, or never will be. */
static bool look_for_sleep(const struct hi_tracees *all, struct hi_tracee *tracee)
{
	struct hi_sleeper *slot = hi_sleepers_slot(all->sleepers, tracee->tid);
	uint64_t switches;
	int stop;

	if (!hi_thread_is_asleep(all->pid, tracee->tid, &switches)) {
		stop = stop_of(tracee);
		if (stop)
			let_stop_go(tracee, stop); /* the call has ended */
		return tracee->state != HI_TRACEE_SETTLING;
	}
	*slot = (struct hi_sleeper){.restarts = tracee->restarts + 1,
				    .switches = switches,
				    .regs = tracee->regs};
	slot->tid = tracee->tid;
	tracee->state = HI_TRACEE_ASLEEP;
	return true;
}

void hi_tracees_begin_settling(struct hi_tracees *all)
{
	for (size_t i = 0; i < all->count; i++) {
		struct hi_tracee *tracee = &all->items[i];

		if (!(all->sleepers && tracee->state == HI_TRACEE_STOPPED &&
		      hi_restart_is_arranged(&tracee->regs)))
			continue;
		*hi_sleepers_slot(all->sleepers, tracee->tid) = (struct hi_sleeper){};
		if (ptrace(PTRACE_SETOPTIONS, tracee->tid, 0, PTRACE_O_TRACESYSGOOD) ==
			    0 &&
		    ptrace(PTRACE_SYSCALL, tracee->tid, 0, 0) == 0)
			tracee->state = HI_TRACEE_RESTARTING;
	}
}

/* Settles the threads in state `from`, until each has passed by `step` or the time is
 * over. */
static void settle_all(struct hi_tracees *all, enum hi_tracee_state from,
		       uint64_t until_ns)
{
	uint64_t pause_ns = LOOK_MIN_NS;
	size_t left;

	do {
		left = 0;
		for (size_t i = 0; i < all->count; i++) {
			struct hi_tracee *tracee = &all->items[i];

			if (tracee->state != from)
				continue;
			left += !(from == HI_TRACEE_RESTARTING
					  ? pass_entry(tracee)
					  : look_for_sleep(all, tracee));
		}
		if (left)
			hi_clock_pause_ns(pause_ns);
		if (pause_ns < LOOK_MAX_NS)
			pause_ns += pause_ns / 2;
	} while (left && hi_clock_ns() < until_ns);
}

bool hi_tracees_settle(struct hi_tracees *all)
{
	size_t n = 0;

	settle_all(all, HI_TRACEE_RESTARTING, hi_clock_ns() + ENTRY_NS);
	settle_all(all, HI_TRACEE_SETTLING, hi_clock_ns() + SETTLE_NS);
	for (size_t i = 0; i < all->count; i++)
		n += all->items[i].state >= HI_TRACEE_LEFT;
	return n > 0;
}

void hi_tracees_release(struct hi_tracees *all)
{
	for (size_t i = 0; i < all->count; i++) {
		struct hi_tracee *tracee = &all->items[i];
		int stop;

		if (tracee->state < HI_TRACEE_LEFT)
			continue;
		stop = stop_of(tracee);
		if (stop)
			let_stop_go(tracee, stop);
	}
}
