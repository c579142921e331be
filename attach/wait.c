/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [While we wait]
 *
 * A seized thread runs as before. It stops and waits for the tracer before each signal
 * that it takes, when it makes a thread, for a group stop and for an exec. Each of these
 * is examined with WNOWAIT (Note [Stops are looked at, not consumed]) and the thread is
 * let go on, so that the kernel does the same if the tracer dies. As a thread that was
 * let go on is not reported again, waiting for any works here.
 *
 * A signal interrupts system calls of a traced thread that it would not have interrupted
 * otherwise, one that is ignored; so these are made to start anew as at a stop
 * (restart.c). One thing cannot be hidden: a signal to the process wakes one thread, and
 * if another one takes it first, that thread has been woken for nothing, and a call of
 * the few that do not restart by themselves returns EINTR. Without a tracer this happens
 * only for signals with a handler.
 *
 * When the wait ends without a hit, nothing is stopped: the kernel releases running
 * threads of a dead tracer without stopping them.
 *
 * Note [The trigger's signal]
 *
 * The trigger's signal goes to one thread, once, and is of the kernel. The program may
 * send the same one (Go does, to preempt), and sockets too. Only the first to the thread
 * that hit is suppressed. If that one is the program's own, the trigger's was merged into
 * it (an ordinary signal is pending only once): it is delivered, and the thread stops at
 * its handler, called from the probe.
 *
 * A thread that blocks the signal does not stop for it. It keeps it pending if the probe
 * could not see that (struct hi_trigger_hit, unsent). To remove it, the signal mask would
 * have to be changed, and would stay changed if the tracer died. A program without a
 * handler ignores it.
 *
 * Note [A rush of signals]
 *
 * Each stop is short, but a program that raises signals all the time keeps the tracer at
 * work all the time, and above all other processes (SCHED_FIFO): a few tracers would have
 * all processors to themselves. So where stops come more often than RUSH_STOPS in RUSH_NS
 * the priority is given back until there are fewer, or the hit is there.
 *
 * Note [The end of a process]
 *
 * With PTRACE_O_TRACEEXIT a thread that exits stops once more, while the process still
 * has its memory. It cannot run user code again, but goes on to exit when it is let go,
 * or when the tracer dies. It is the end of the process if the thread called
 * exit_group(), died of a signal, or is the last one. The other threads of an
 * exit_group() look like those of a process in which one thread calls exec, so these are
 * held for a short time, until the one that ended the process is stopped too: their
 * stacks are roots. After SIGKILL nothing is held: the memory may be wanted (the kernel's
 * OOM killer), and so may a prompt end.
 */
#include "attach/wait.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/freezer.h"
#include "attach/restart_syscalls.h"
#include "attach/start_hold.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"

#define EVENT_OF(status) ((status) >> 8)
#define WHAT (WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL)
#define SIGNAL_GRACE_NS 2000000u /* for the signal to arrive after its hit */
#define PATIENT_GRACE_NS 50000000u
#define BATCH 256 /* stops looked at before the clock is */
#define SWEEP_SHARE 8
#define CHEAP_NS 20000u
#define SWEEP_REST_NS 50000000u /* at most: a cost includes waiting for a processor */
#define HIT_TRIES 8
#define EXIT_GRACE_NS 20000000u
#define START_LOOK_NS 1000000u
#define RUSH_NS 100000000u
#define RUSH_STOPS 200 /* in that time: 2,000 a second, each some 20 us */

enum fd { FD_SIGNAL, FD_INSPECTOR, FD_INTERRUPT, FD_TRIGGER, N_FDS };

struct waiting {
	const struct hi_wait *wait;
	struct hi_tracees *all;
	struct hi_trigger *trigger;
	struct hi_trigger_stop *stop;
	struct hi_error *err;
	enum hi_status status; /* not HI_OK: over */
	bool is_over;	       /* there was a hit, and it was acted on */
	bool knows_hit;	       /* stop->hit is filled */
	bool is_armed;
	bool is_patient;
	struct pollfd fds[N_FDS];
	uint64_t armed_ns, end_ns, near_ns, beat_ns;
	uint64_t held_until_ns; /* threads that exit; 0: none are held */
	uint64_t may_sweep_ns;	/* not earlier */
	bool sweep_is_due;
	struct hi_start_hold start;
	/* Note [A rush of signals] */
	uint64_t rush_until_ns;
	uint32_t n_stops; /* in this span of time */
	bool is_rush;
};

unsigned long hi_wait_ptrace_options(const struct hi_wait *wait)
{
	return PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
	       (wait->at_exit ? PTRACE_O_TRACEEXIT : 0) |
	       (wait->start && *wait->start == HI_START_WANTED ? PTRACE_O_TRACESYSGOOD
							       : 0);
}

/* ---- the hit ---- */

static bool ask_trigger(struct waiting *w)
{
	/* Before it is armed, a trigger that was used before reports its last hit. */
	if (!w->knows_hit && w->armed_ns &&
	    w->trigger->ops->was_hit(w->trigger, &w->stop->hit)) {
		w->knows_hit = true;
		w->all->signal_tid = w->stop->hit.tid ? w->stop->hit.tid : -1;
		if (w->stop->hit.unsent || w->trigger->near_only)
			w->all->signal_tid = 0;
	}
	return w->knows_hit;
}

static void disarm_trigger(struct waiting *w)
{
	if (w->is_armed)
		w->trigger->ops->disarm(w->trigger);
	w->is_armed = false;
}

/* Interrupts all threads. */
static void end_wait(struct waiting *w, enum hi_hit_position position)
{
	struct hi_trigger_hit *hit = &w->stop->hit;
	uint64_t now_ns = hi_clock_ns();

	hi_tracees_interrupt(w->all);
	disarm_trigger(w);
	/* An exit may come before the trigger is armed: it has no time of its own. */
	if (!w->armed_ns)
		w->armed_ns = now_ns;
	if (hit->time_ns < w->armed_ns || hit->time_ns > now_ns)
		hit->time_ns = now_ns;
	w->stop->position = position;
	w->stop->waited_ns = hit->time_ns - w->armed_ns;
	w->is_over = true;
}

/* The thread is stopped before sig. Was it sent by the hit? */
static bool is_hit_by(struct waiting *w, pid_t tid, int *sig)
{
	if (*sig != HI_TRIGGER_SIGNAL || !ask_trigger(w) || !w->all->signal_tid)
		return false;
	if (hi_tracees_take_trigger_signal(w->all, tid, *sig))
		*sig = 0;
	else if (w->all->signal_tid == tid)
		w->all->signal_tid = 0; /* merged into one of the program's own */
	else
		return false;
	return true;
}

/* ---- stops ---- */

/* The call that the stop interrupted is made to start anew. */
static void restart_interrupted_call(const struct waiting *w, pid_t tid)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, tid, 0, &regs) == 0)
		(void)hi_restart_arrange(w->all->pid, tid, &regs);
}

static void forward_signal(struct waiting *w, struct hi_tracee *tracee, int sig)
{
	pid_t tid = tracee->tid;
	bool is_hit = is_hit_by(w, tid, &sig);

	if (sig != SIGSTOP) /* which would have interrupted it */
		restart_interrupted_call(w, tid);
	if (is_hit) {
		tracee->is_at_probe = true;
		(void)ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	}
	(void)ptrace(hi_start_hold_request(&w->start, tid), tid, 0, sig);
	if (is_hit)
		end_wait(w, HI_HIT_AT);
}

/* ---- the end of the process ---- */

static bool has_other_threads(const struct waiting *w, pid_t tid)
{
	for (size_t i = 0; i < w->all->count; i++)
		if (w->all->items[i].tid != tid &&
		    w->all->items[i].state != HI_TRACEE_DEAD &&
		    !w->all->items[i].is_at_probe)
			return true;
	return false;
}

enum ending { ENDS_THREAD, ENDS_PERHAPS, ENDS_PROCESS };

/* See Note [The end of a process]. */
static enum ending find_ending(const struct waiting *w, const struct hi_tracee *tracee)
{
	unsigned long status = 0;
	int sig;

	if (!w->wait->at_exit || ptrace(PTRACE_GETEVENTMSG, tracee->tid, 0, &status) < 0)
		return ENDS_THREAD;
	sig = WTERMSIG((int)status);
	if (sig)
		return sig == SIGKILL ? ENDS_THREAD : ENDS_PROCESS;
	if (tracee->regs.orig_rax == SYS_exit_group || !has_other_threads(w, tracee->tid))
		return ENDS_PROCESS;
	return tracee->regs.orig_rax == SYS_exit ? ENDS_THREAD : ENDS_PERHAPS;
}

static void on_exit_event(struct waiting *w, struct hi_tracee *tracee)
{
	enum ending ending = ENDS_THREAD;

	/* No signal is due there, so none is lost; else it would be reported again. */
	hi_tracee_consume(tracee->tid);
	if (ptrace(PTRACE_GETREGS, tracee->tid, 0, &tracee->regs) == 0)
		ending = find_ending(w, tracee);
	if (ending == ENDS_THREAD) {
		(void)ptrace(PTRACE_CONT, tracee->tid, 0, 0);
		tracee->state = HI_TRACEE_RUNNING;
		return;
	}
	tracee->state = HI_TRACEE_STOPPED;
	tracee->is_at_probe = true;
	if (ending == ENDS_PERHAPS && !w->held_until_ns)
		w->held_until_ns = hi_clock_ns() + EXIT_GRACE_NS;
	if (ending == ENDS_PERHAPS)
		return;
	w->knows_hit = true;
	w->stop->hit = (struct hi_trigger_hit){.tid = tracee->tid};
	end_wait(w, HI_HIT_AT);
	w->stop->waited_ns = 0; /* the wait is no part of a census */
}

/* The process did not end: one of its threads execs. */
static void release_held(struct waiting *w)
{
	w->held_until_ns = 0;
	for (size_t i = 0; i < w->all->count; i++)
		if (w->all->items[i].is_at_probe)
			(void)ptrace(PTRACE_CONT, w->all->items[i].tid, 0, 0);
}

/* The tid is that of the leader, which may have exited long ago. */
static void on_exec(struct waiting *w, pid_t tid)
{
	hi_tracee_consume(tid);
	/* Until it goes on from here, nothing of the new program has run. */
	if (w->wait->exec_ns && !*w->wait->exec_ns)
		__atomic_store_n(w->wait->exec_ns, hi_clock_ns(), __ATOMIC_RELEASE);
	if (w->wait->at_exit) {
		hi_tracees_forget_old(w->all);
		(void)hi_start_hold_begin(&w->start, tid);
		(void)ptrace(hi_start_hold_request(&w->start, tid), tid, 0, 0);
		return;
	}
	w->status = hi_fail(w->err, HI_GONE, 0,
			    "process %d: it has started another program (exec)",
			    (int)w->all->pid);
	(void)ptrace(PTRACE_CONT, tid, 0, 0);
}

static void on_system_call(struct waiting *w, pid_t tid)
{
	if (!hi_start_hold_take(&w->start, tid))
		(void)ptrace(hi_start_hold_request(&w->start, tid), tid, 0, 0);
}

static void on_stop(struct waiting *w, pid_t tid, int stop)
{
	struct hi_tracee *tracee;
	int sig = stop & 0xff;

	if (EVENT_OF(stop) == PTRACE_EVENT_EXEC) {
		on_exec(w, tid);
		return;
	}
	tracee = hi_tracees_adopt(w->all, tid);
	if (!tracee) {
		(void)ptrace(PTRACE_DETACH, tid, 0, 0); /* Note [Born traced] */
		return;
	}
	switch (EVENT_OF(stop)) {
	case 0:
		if (sig == (SIGTRAP | 0x80))
			on_system_call(w, tid);
		else
			forward_signal(w, tracee, sig);
		return;
	case PTRACE_EVENT_STOP:
		if (sig == SIGTRAP) {
			/* A birth, or SIGCONT, which wakes all that are traced. */
			if (tracee->state == HI_TRACEE_RUNNING)
				restart_interrupted_call(w, tid);
			break;
		}
		(void)ptrace(PTRACE_LISTEN, tid, 0, 0);
		tracee->state = HI_TRACEE_GROUP_STOPPED;
		return;
	case PTRACE_EVENT_EXIT:
		on_exit_event(w, tracee);
		return;
	case PTRACE_EVENT_CLONE:
		hi_tracees_adopt_cloned(w->all, tid);
		break;
	default:
		break;
	}
	(void)ptrace(hi_start_hold_request(&w->start, tid), tid, 0, 0);
	tracee->state = HI_TRACEE_RUNNING;
}

static void fail_exited_target(struct waiting *w)
{
	w->status = hi_fail(w->err, HI_GONE, 0,
			    "process %d: it has exited before the safepoint was reached",
			    (int)w->all->pid);
}

/* The leader's end is reported when it is the last. */
static void on_death(struct waiting *w, const siginfo_t *info)
{
	struct hi_tracee *tracee = hi_tracees_find(w->all, info->si_pid);

	hi_tracee_reap(info->si_pid);
	if (tracee)
		tracee->state = HI_TRACEE_DEAD;
	if (info->si_pid != w->all->pid)
		return;
	if (info->si_code == CLD_EXITED)
		w->status = hi_fail(w->err, HI_GONE, 0,
				    "process %d: it has exited (status %d) before the "
				    "safepoint was reached",
				    (int)w->all->pid, info->si_status);
	else
		w->status = hi_fail(w->err, HI_GONE, 0,
				    "process %d: it was killed (signal %d) before the "
				    "safepoint was reached",
				    (int)w->all->pid, info->si_status);
}

static bool goes_on(const struct waiting *w)
{
	return w->status == HI_OK && !w->is_over;
}

/* Handles one report of wait; false if there is none. */
static bool look_at_tracee(struct waiting *w, idtype_t kind, pid_t tid)
{
	siginfo_t info = {};

	if (waitid(kind, (id_t)tid, &info, WHAT) < 0) {
		if (errno == ECHILD && kind == P_ALL)
			fail_exited_target(w);
		return false;
	}
	if (!info.si_pid)
		return false;
	w->n_stops++;
	if (info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED)
		on_stop(w, info.si_pid, info.si_status);
	else
		on_death(w, &info);
	return true;
}

/*
 * All of them, in the kernel's order: one that takes signal after signal would
 * always come first, so after a batch each has its turn. To find none takes time for
 * each thread that there is: where that is long, it is done for a share of it only.
 */
static void sweep_tracees(struct waiting *w)
{
	uint64_t start_ns, cost_ns, rest_ns;
	bool found;
	int n = 0;

	do {
		start_ns = hi_clock_ns();
		found = look_at_tracee(w, P_ALL, 0);
	} while (found && goes_on(w) && ++n < BATCH);
	for (size_t i = 0; n == BATCH && i < w->all->count && goes_on(w); i++)
		if (w->all->items[i].state != HI_TRACEE_DEAD)
			(void)look_at_tracee(w, P_PID, w->all->items[i].tid);
	cost_ns = hi_clock_ns() - start_ns;
	rest_ns = SWEEP_SHARE * cost_ns;
	if (rest_ns > SWEEP_REST_NS)
		rest_ns = SWEEP_REST_NS;
	w->may_sweep_ns = cost_ns < CHEAP_NS ? 0 : hi_clock_ns() + rest_ns;
	w->sweep_is_due = n == BATCH;
}

/*
 * The kernel sends SIGCHLD for a stop, and one for several at once: so the thread that it
 * names is handled first, then all.
 */
static void take_notices(struct waiting *w)
{
	struct signalfd_siginfo notice;

	while (read(w->fds[FD_SIGNAL].fd, &notice, sizeof(notice)) == sizeof(notice)) {
		w->sweep_is_due = true;
		if (goes_on(w) && notice.ssi_pid)
			(void)look_at_tracee(w, P_PID, (pid_t)notice.ssi_pid);
	}
}

/* ---- the loop ---- */

static bool is_group_stopped(const struct hi_tracees *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->count; i++) {
		if (all->items[i].state == HI_TRACEE_RUNNING)
			return false;
		n += all->items[i].state == HI_TRACEE_GROUP_STOPPED;
	}
	return n > 0;
}

static void check_end(struct waiting *w, uint64_t now_ns)
{
	char duration[24], why[300];

	if (!w->end_ns || now_ns < w->end_ns)
		return;
	disarm_trigger(w);
	w->end_ns = 0;
	if (ask_trigger(w))
		return; /* just before the limit */
	if (is_group_stopped(w->all))
		snprintf(why, sizeof(why), "; it is stopped (SIGSTOP or the like)");
	else
		hi_freezer_explain(w->all->pid, why, sizeof(why));
	w->status = hi_fail(w->err, HI_MISSED, 0,
			    "process %d: the safepoint was not reached within %s%s",
			    (int)w->all->pid,
			    hi_text_duration(duration, w->wait->timeout_ns), why);
}

/* Field "SigPnd" or "SigBlk" of a thread, and in it the trigger's signal. */
static bool has_signal(const struct hi_tracees *all, pid_t tid, const char *key)
{
	char path[64], line[128];
	unsigned long long set = 0;
	size_t n = strlen(key);
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)all->pid, (int)tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, key, n) == 0 && line[n] == ':')
			set = strtoull(line + n + 1, NULL, 16);
	fclose(file);
	return set >> (HI_TRIGGER_SIGNAL - 1) & 1;
}

/* A hit for which no thread has stopped: the thread blocks the signal, or none was
 * sent. */
static void check_hit(struct waiting *w, uint64_t now_ns)
{
	if (!ask_trigger(w))
		return;
	w->fds[FD_TRIGGER].fd = -1; /* it gives no more information */
	if (!w->near_ns)
		w->near_ns = now_ns + SIGNAL_GRACE_NS;
	if (w->all->signal_tid && now_ns < w->near_ns)
		return;
	if (w->all->signal_tid > 0 && !w->is_patient &&
	    !has_signal(w->all, w->all->signal_tid, "SigBlk")) {
		w->is_patient = true; /* it was only not scheduled yet */
		w->near_ns = now_ns + PATIENT_GRACE_NS;
		return;
	}
	end_wait(w, HI_HIT_NEAR);
}

static void set_rush(struct waiting *w, bool on)
{
	if (on != w->is_rush)
		w->wait->set_urgent(w->wait->arg, !on);
	w->is_rush = on;
}

/* See Note [A rush of signals]. */
static void check_rush(struct waiting *w, uint64_t now_ns)
{
	if (w->n_stops > RUSH_STOPS)
		set_rush(w, true);
	if (now_ns < w->rush_until_ns)
		return;
	set_rush(w, w->n_stops > RUSH_STOPS);
	w->rush_until_ns = now_ns + RUSH_NS;
	w->n_stops = 0;
}

static void check_clock(struct waiting *w)
{
	uint64_t now_ns = hi_clock_ns();

	check_rush(w, now_ns);
	if (now_ns >= w->beat_ns) {
		w->wait->beat(w->wait->arg);
		w->beat_ns = now_ns + w->wait->beat_ns;
	}
	if (w->sweep_is_due && now_ns >= w->may_sweep_ns)
		sweep_tracees(w);
	hi_start_hold_check(&w->start, now_ns);
	if (goes_on(w) && w->held_until_ns && now_ns >= w->held_until_ns)
		release_held(w);
	if (goes_on(w))
		check_end(w, now_ns);
	if (goes_on(w))
		check_hit(w, now_ns);
	/* For a target that makes many threads over a long time. */
	if (w->all->count > w->all->capacity / 4 * 3)
		hi_tracees_compact(w->all);
}

static void lower_deadline(uint64_t *at_ns, uint64_t other_ns)
{
	if (other_ns && other_ns < *at_ns)
		*at_ns = other_ns;
}

/* Sleeps until something happens, or is due. */
static void sleep_until_event(struct waiting *w)
{
	uint64_t now_ns = hi_clock_ns(), at_ns = w->beat_ns;
	struct timespec ts;

	lower_deadline(&at_ns, w->end_ns);
	lower_deadline(&at_ns, w->near_ns);
	lower_deadline(&at_ns, w->held_until_ns);
	if (w->is_rush)
		lower_deadline(&at_ns, w->rush_until_ns);
	if (w->start.until_ns)
		lower_deadline(&at_ns, now_ns + START_LOOK_NS);
	if (w->sweep_is_due)
		at_ns = w->may_sweep_ns < at_ns ? w->may_sweep_ns : at_ns;
	ts = hi_timespec(at_ns > now_ns ? at_ns - now_ns : 0);
	if (ppoll(w->fds, N_FDS, &ts, NULL) <= 0)
		return;
	if (w->fds[FD_INTERRUPT].revents)
		w->status =
			hi_fail(w->err, HI_TIMEOUT, 0,
				"process %d: the wait was interrupted", (int)w->all->pid);
	if (w->fds[FD_INSPECTOR].revents)
		w->status =
			hi_fail(w->err, HI_OS, 0, "process %d: the inspector has ended",
				(int)w->all->pid);
	if (w->fds[FD_SIGNAL].revents)
		take_notices(w);
}

/* Probes that are made thread by thread take their time: signals go on meanwhile. */
static void add_trigger_threads(struct waiting *w)
{
	for (size_t i = 0; i < w->all->count && goes_on(w); i++) {
		if (w->all->items[i].state == HI_TRACEE_DEAD)
			continue;
		if (w->trigger->ops->add_thread)
			w->trigger->ops->add_thread(w->trigger, w->all->items[i].tid);
		take_notices(w);
		check_clock(w);
	}
}

/* SIGCHLD is read from a descriptor, and is now sent for stops as well. */
static int watch_children(bool on, const struct sigaction *other,
			  struct sigaction *before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	(void)sigprocmask(on ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
	(void)sigaction(SIGCHLD, other, before);
	return on ? signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC) : -1;
}

static void run_wait_loop(struct waiting *w)
{
	w->sweep_is_due = true; /* for stops before the signals were watched */
	add_trigger_threads(w);
	w->armed_ns = hi_clock_ns();
	if (w->wait->timeout_ns)
		w->end_ns = w->armed_ns + w->wait->timeout_ns;
	w->is_armed = goes_on(w);
	if (w->is_armed)
		w->trigger->ops->arm(w->trigger);
	while (goes_on(w)) {
		check_clock(w);
		if (goes_on(w))
			sleep_until_event(w);
	}
	disarm_trigger(w);
}

enum hi_status hi_wait_for_hit(const struct hi_wait *wait, struct hi_trigger_stop *ret,
			       struct hi_error *err)
{
	struct sigaction by_default = {.sa_handler = SIG_DFL}, before;
	HI_GUARD(close) int notices = watch_children(true, &by_default, &before);
	struct waiting w = {
		.wait = wait,
		.all = wait->tracees,
		.trigger = wait->trigger,
		.stop = ret,
		.err = err,
		.start = {.state = wait->start},
		.fds = {[FD_SIGNAL] = {.fd = notices, .events = POLLIN},
			[FD_INSPECTOR] = {.fd = wait->inspector, .events = POLLIN},
			[FD_INTERRUPT] = {.fd = wait->interrupt, .events = POLLIN},
			[FD_TRIGGER] = {.fd = wait->trigger->poll_fd, .events = POLLIN}},
	};

	*ret = (struct hi_trigger_stop){};
	w.trigger->traced_only = true;
	if (notices < 0)
		w.status = hi_fail_errno(err, "watch the threads: signalfd");
	if (goes_on(&w))
		run_wait_loop(&w);
	set_rush(&w, false);
	(void)watch_children(false, &before, NULL);
	return w.status;
}

/* ---- afterwards ---- */

/*
 * A thread with a pending signal that it does not block has not left the kernel
 * since it was sent: it is at the probe still. Let go on, it stops before the signal.
 */
enum hi_status hi_wait_settle_hit(struct hi_tracees *all, struct hi_trigger_stop *stop,
				  struct hi_error *err)
{
	pid_t tid = all->signal_tid;
	struct hi_tracee *tracee = tid > 0 ? hi_tracees_find(all, tid) : NULL;
	enum hi_status status = HI_OK;

	for (int i = 0; tracee && status == HI_OK && i < HIT_TRIES; i++) {
		if (!all->signal_tid || tracee->state != HI_TRACEE_STOPPED ||
		    !has_signal(all, tid, "SigPnd") || has_signal(all, tid, "SigBlk"))
			break;
		hi_tracee_continue(tracee);
		status = hi_tracee_await(all, tracee, err);
		if (i == 0 && !all->signal_tid) {
			stop->position = HI_HIT_AT;
			tracee->is_at_probe = true;
		}
	}
	return status;
}
