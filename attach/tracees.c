/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Stops are looked at, not consumed]
 *
 * We wait with WNOWAIT. A signal that a thread was about to take when it stopped (a
 * signal-delivery-stop) is only in its exit_code; an ordinary wait clears it, and if the
 * tracer then dies the signal is lost. Left in place it is delivered by the kernel when
 * the tracer dies (kernel/signal.c: ptrace_stop returns exit_code). The price: waits go
 * by thread, for "any" would return the same one for ever.
 *
 * Note [Signals on their way]
 *
 * Any stop takes back a pending PTRACE_INTERRUPT, so in a signal-delivery-stop we send it
 * anew and then let the thread go on with its signal. The trap comes before the next
 * signal is looked at: at most one handler frame is set up, and the thread is stopped
 * before the handler's first instruction. All threads end up in an event-stop, where a
 * detach needs no signal and an SIGSTOP or SIGCONT that comes meanwhile is kept by the
 * kernel: a group stop is put back by __ptrace_unlink in any case.
 *
 * Note [Dead threads are reaped in a handler]
 *
 * execve() of one thread waits until all others are reaped, and holds a lock
 * (cred_guard_mutex) that PTRACE_SEIZE waits for. So a tracer that is inside ptrace() or
 * waits for the thread in execve must reap the others meanwhile: the handler of SIGCHLD
 * does, and an interval timer makes sure that no wake-up is missed between a check and a
 * wait. A tid that was reaped meanwhile gives ESRCH or ECHILD, and is dead.
 */
#include "attach/tracees.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/freezer.h"
#include "attach/restart_syscalls.h"
#include "attach/trigger.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/search.h"

#define EVENT_OF(status) ((status) >> 8)
#define SYSCALL_STOP (SIGTRAP | 0x80) /* of a fork that was given up; no signal */
#define TICKS_PER_SWEEP 8
#define SEIZE_TRIES 3
#define SLEEPERS_GROUP 8
#define RELIST_PAUSE_NS 20000u /* lets exiting threads exit */

/* ---- dead threads ---- */

static struct hi_tracees *reaped; /* the handler's: one table a process */

/*
 * Never a wait for any: even without WSTOPPED it would consume the stops of
 * tracees (kernel/exit.c, wait_task_stopped: "we see ptrace'd stopped tasks
 * regardless of options"). So look first, and take only the dead.
 */
void hi_tracee_reap(pid_t tid)
{
	siginfo_t info = {};

	if (waitid(P_PID, (id_t)tid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 &&
	    info.si_pid == tid &&
	    (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
	     info.si_code == CLD_DUMPED))
		(void)waitid(P_PID, (id_t)tid, &info, WEXITED | WNOHANG | __WALL);
}

void hi_tracee_consume(pid_t tid)
{
	siginfo_t info;

	(void)waitid(P_PID, (id_t)tid, &info, WSTOPPED | WNOHANG | __WALL);
}

/* Reaps threads that were traced from birth and are not in the table yet. Safe in a
 * signal handler. */
static void reap_listed(const struct hi_tracees *all)
{
	static char entries[4096] __attribute__((aligned(8)));
	int fd = open(all->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return;
	while ((n = getdents64(fd, entries, sizeof(entries))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *entry = (void *)(entries + at);
			pid_t tid = 0;

			for (const char *c = entry->d_name; *c >= '0' && *c <= '9'; c++)
				tid = tid * 10 + (*c - '0');
			if (tid > 0)
				hi_tracee_reap(tid);
			at += entry->d_reclen;
		}
	close(fd);
}

static void reap_all(const struct hi_tracees *all)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].state != HI_TRACEE_SEEN)
			hi_tracee_reap(all->items[i].tid);
}

static void on_child_or_tick(int sig, siginfo_t *info, void *context)
{
	static unsigned ticks;
	int saved = errno;

	(void)context;
	if (sig == SIGCHLD)
		hi_tracee_reap(info->si_pid);
	else if (++ticks % TICKS_PER_SWEEP == 0) { /* SIGCHLDs that were merged */
		reap_all(reaped);
		if (reaped->options)
			reap_listed(reaped);
	}
	errno = saved;
}

void hi_tracees_enable_stop_signals(void)
{
	struct sigaction sa = {.sa_sigaction = on_child_or_tick, .sa_flags = SA_SIGINFO};

	(void)sigaction(SIGCHLD, &sa, NULL);
}

void hi_tracees_handle_signals(struct hi_tracees *all)
{
	struct sigaction sa = {.sa_sigaction = on_child_or_tick,
			       .sa_flags = SA_SIGINFO | SA_NOCLDSTOP};

	reaped = all;
	(void)sigaction(SIGCHLD, &sa, NULL);
	(void)sigaction(SIGALRM, &sa, NULL);
}

/* ---- the table ---- */

enum hi_status hi_tracees_init(struct hi_tracees *all, pid_t pid, size_t capacity,
			       struct hi_error *err)
{
	size_t n_slots = 1024;

	while (n_slots < 2 * capacity)
		n_slots *= 2;
	*all = (struct hi_tracees){
		.pid = pid, .capacity = capacity, .n_slots = n_slots, .pagemap = -1};
	snprintf(all->path, sizeof(all->path), "/proc/%d/task", (int)pid);
	all->items = hi_calloc(capacity, sizeof(*all->items));
	all->slots = hi_calloc(n_slots, sizeof(*all->slots));
	if (!all->items || !all->slots)
		return hi_fail_memory(err, "the table of threads");
	all->dir = opendir(all->path);
	if (all->dir)
		return HI_OK;
	if (errno == ENOENT || errno == ESRCH)
		return hi_fail(err, HI_GONE, 0, "process %d: it has exited", (int)pid);
	return hi_fail_errno(err, "list the threads of process %d", (int)pid);
}

/* The slot that holds tid, or the empty one where it belongs. */
static uint32_t *find_tracee_slot(const struct hi_tracees *all, pid_t tid)
{
	size_t n = hi_probe(i, all->n_slots, (uint32_t)tid * 2654435761u,
			    !all->slots[i] || all->items[all->slots[i] - 1].tid == tid);

	return &all->slots[n];
}

struct hi_tracee *hi_tracees_find(const struct hi_tracees *all, pid_t tid)
{
	uint32_t slot = *find_tracee_slot(all, tid);

	if (!slot || all->items[slot - 1].state == HI_TRACEE_DEAD)
		return NULL;
	return &all->items[slot - 1];
}

void hi_tracees_compact(struct hi_tracees *all)
{
	size_t n = 0;

	memset(all->slots, 0, all->n_slots * sizeof(*all->slots));
	for (size_t i = 0; i < all->count; i++) {
		if (all->items[i].state == HI_TRACEE_DEAD)
			continue;
		all->items[n] = all->items[i];
		*find_tracee_slot(all, all->items[n].tid) = (uint32_t)n + 1;
		n++;
	}
	all->count = n;
}

enum hi_status hi_tracees_add(struct hi_tracees *all, pid_t tid, struct hi_error *err)
{
	uint32_t *slot = find_tracee_slot(all, tid);
	struct hi_tracee *tracee;

	if (*slot) {
		tracee = &all->items[*slot - 1];
		if (tracee->state != HI_TRACEE_DEAD ||
		    (tid == all->pid && all->leader_exited))
			return HI_OK;
	} else {
		if (all->count == all->capacity)
			return hi_fail(err, HI_LIMIT, 0,
				       "process %d: more than %zu threads", (int)all->pid,
				       all->capacity);
		tracee = &all->items[all->count++];
		*slot = (uint32_t)all->count;
	}
	*tracee = (struct hi_tracee){.tid = tid, .state = HI_TRACEE_SEEN};
	return HI_OK;
}

static void describe_thread(const struct hi_tracees *all, pid_t tid)
{
	struct hi_tracee *tracee = hi_tracees_find(all, tid);

	if (!tracee || tracee->name[0])
		return;
	hi_thread_name(all->pid, tid, tracee->name);
	tracee->was_asleep = hi_thread_state(all->pid, tid) == 'S';
}

enum hi_status hi_tracees_list(struct hi_tracees *all, struct hi_error *err)
{
	struct dirent *entry;
	enum hi_status status;

	rewinddir(all->dir);
	while ((entry = readdir(all->dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		status = hi_tracees_add(all, tid, err);
		if (status != HI_OK)
			return status;
		describe_thread(all, tid);
	}
	return HI_OK;
}

static bool is_still(const struct hi_tracee *tracee)
{
	return tracee->state == HI_TRACEE_STOPPED ||
	       tracee->state == HI_TRACEE_GROUP_STOPPED;
}

size_t hi_tracees_live(const struct hi_tracees *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->count; i++)
		n += is_still(&all->items[i]) || all->items[i].state == HI_TRACEE_LEFT;
	return n;
}

bool hi_tracees_any_stopped(const struct hi_tracees *all)
{
	for (size_t i = 0; i < all->count; i++)
		if (is_still(&all->items[i]))
			return true;
	return false;
}

/* The link count of /proc/PID/task is the number of threads + 2
 * (fs/proc/base.c: proc_task_getattr); an exited leader counts. */
bool hi_tracees_complete(const struct hi_tracees *all)
{
	struct stat st;

	if (fstat(dirfd(all->dir), &st) < 0)
		return true; /* no process, no threads */
	return st.st_nlink == hi_tracees_live(all) + all->leader_exited + 2;
}

/* ---- stopping ---- */

/* PTRACE_SEIZE failed with EPERM. Is the thread exiting? Then marks it. */
static bool is_leaving(struct hi_tracees *all, struct hi_tracee *tracee)
{
	char state = hi_thread_state(all->pid, tracee->tid);

	if (state != 'Z' && state != 'X' && !hi_thread_is_exiting(all->pid, tracee->tid))
		return false;
	tracee->state = HI_TRACEE_DEAD;
	if (tracee->tid == all->pid && state == 'Z')
		all->leader_exited = true;
	return true;
}

/*
 * EPERM again: is the thread traced already under another number (exec makes the thread
 * that calls it the leader), or is tracing refused?
 */
static enum hi_status diagnose_refusal(struct hi_tracees *all, struct hi_tracee *tracee,
				       int error, struct hi_error *err)
{
	enum hi_status status;
	pid_t tracer;

	if (is_leaving(all, tracee))
		return HI_OK;
	tracer = hi_thread_tracer(all->pid, tracee->tid);
	if (tracer == getpid() && (all->options & PTRACE_O_TRACECLONE) &&
	    tracee->tid != all->pid) {
		tracee->state = HI_TRACEE_RUNNING; /* traced from birth */
		return HI_OK;
	}
	if (tracer == getpid())
		return hi_fail(err, HI_GONE, 0,
			       "process %d: it has started another program (exec)",
			       (int)all->pid);
	if (tracer)
		status = hi_fail(err, HI_CANNOT_ATTACH, 0,
				 "process %d: thread %d is already traced by process %d",
				 (int)all->pid, (int)tracee->tid, (int)tracer);
	else
		status =
			hi_fail(err, HI_CANNOT_ATTACH, 0,
				"process %d: ptrace refused (%s): it needs the same user "
				"or CAP_SYS_PTRACE, and no security module or seccomp "
				"filter against it",
				(int)all->pid, strerror(error));
	if (err)
		err->os_errno = error;
	return status;
}

enum hi_status hi_tracee_seize(struct hi_tracees *all, struct hi_tracee *tracee,
			       struct hi_error *err)
{
	for (int tries = 1;; tries++) {
		if (ptrace(PTRACE_SEIZE, tracee->tid, 0, all->options) == 0) {
			tracee->state = HI_TRACEE_RUNNING;
			return HI_OK;
		}
		if (errno == ESRCH) {
			tracee->state = HI_TRACEE_DEAD;
			return HI_OK;
		}
		/* A leader that was dying may be a new one by now: look again. */
		if (tries == SEIZE_TRIES)
			return diagnose_refusal(all, tracee, errno, err);
		if (is_leaving(all, tracee))
			return HI_OK;
	}
}

void hi_tracee_continue(struct hi_tracee *tracee)
{
	/* ESRCH: it has been killed; the next await finds out. */
	(void)ptrace(PTRACE_CONT, tracee->tid, 0, 0);
	tracee->state = HI_TRACEE_RUNNING;
	tracee->is_interrupted = false;
}

void hi_tracee_interrupt(struct hi_tracee *tracee)
{
	(void)ptrace(PTRACE_INTERRUPT, tracee->tid, 0, 0);
	tracee->state = HI_TRACEE_RUNNING;
	tracee->is_interrupted = true;
}

void hi_tracees_interrupt(struct hi_tracees *all)
{
	for (size_t i = 0; i < all->count; i++)
		if ((all->items[i].state == HI_TRACEE_RUNNING &&
		     !all->items[i].was_asleep) ||
		    all->items[i].state == HI_TRACEE_GROUP_STOPPED)
			hi_tracee_interrupt(&all->items[i]);
}

bool hi_tracees_take_trigger_signal(struct hi_tracees *all, pid_t tid, int sig)
{
	siginfo_t info;

	if (sig != HI_TRIGGER_SIGNAL ||
	    (all->signal_tid != tid && all->signal_tid != -1) ||
	    ptrace(PTRACE_GETSIGINFO, tid, 0, &info) < 0 ||
	    (info.si_code != SI_KERNEL && info.si_code != POLL_HUP &&
	     info.si_code != POLL_IN))
		return false;
	all->signal_tid = 0;
	return true;
}

/* A stop was seen. Leaves the state RUNNING if the thread must go on first. */
static void enter_stop(struct hi_tracees *all, struct hi_tracee *tracee, int stop)
{
	int sig = stop & 0xff;

	if (EVENT_OF(stop) == PTRACE_EVENT_EXEC)
		hi_tracee_consume(tracee->tid);
	if (ptrace(PTRACE_GETREGS, tracee->tid, 0, &tracee->regs) < 0) {
		hi_clock_pause_ns(50000); /* killed: lets it exit */
		return;
	}
	if (EVENT_OF(stop) == PTRACE_EVENT_STOP && sig != SIGTRAP) {
		tracee->state = HI_TRACEE_GROUP_STOPPED;
		return;
	}
	if (EVENT_OF(stop) == PTRACE_EVENT_EXIT) {
		tracee->state = HI_TRACEE_STOPPED;
		tracee->is_at_probe = true;
		return;
	}
	hi_restart_arrange(all->pid, tracee->tid, &tracee->regs);
	if (EVENT_OF(stop) == PTRACE_EVENT_STOP) {
		tracee->state = HI_TRACEE_STOPPED;
		return;
	}
	if (EVENT_OF(stop) == PTRACE_EVENT_CLONE)
		hi_tracees_adopt_cloned(all, tracee->tid);
	if (EVENT_OF(stop) || stop == SYSCALL_STOP ||
	    hi_tracees_take_trigger_signal(all, tracee->tid, sig))
		sig = 0;
	(void)ptrace(PTRACE_INTERRUPT, tracee->tid, 0, 0);
	(void)ptrace(PTRACE_CONT, tracee->tid, 0, sig);
}

static enum hi_status out_of_time(const struct hi_tracees *all,
				  const struct hi_tracee *tracee, struct hi_error *err)
{
	char state = hi_thread_state(all->pid, tracee->tid), why[300] = "";

	if (state == 'D' && !*hi_freezer_explain(all->pid, why, sizeof(why)))
		snprintf(why, sizeof(why), "; it is in an uninterruptible sleep");
	return hi_fail(err, HI_TIMEOUT, 0,
		       "process %d: thread %d did not stop within the pause budget%s",
		       (int)all->pid, (int)tracee->tid, why);
}

enum hi_status hi_tracee_await(struct hi_tracees *all, struct hi_tracee *tracee,
			       struct hi_error *err)
{
	const int what = WSTOPPED | WEXITED | WNOWAIT | __WALL;

	while (tracee->state == HI_TRACEE_RUNNING) {
		bool late = hi_clock_ns() > all->deadline_ns;
		siginfo_t info = {};

		if (waitid(P_PID, (id_t)tracee->tid, &info,
			   what | (late ? WNOHANG : 0)) == 0) {
			if (late && !info.si_pid)
				; /* no stop yet */
			else if (info.si_code == CLD_TRAPPED ||
				 info.si_code == CLD_STOPPED)
				enter_stop(all, tracee, info.si_status);
			else {
				hi_tracee_reap(tracee->tid);
				tracee->state = HI_TRACEE_DEAD;
			}
		} else if (errno == ECHILD) {
			tracee->state = HI_TRACEE_DEAD;
		} else if (tracee->tid == all->pid &&
			   hi_thread_state(all->pid, tracee->tid) == 'Z') {
			/* Its end is not reported before that of the others. */
			tracee->state = HI_TRACEE_DEAD;
			all->leader_exited = true;
		}
		if (tracee->state == HI_TRACEE_RUNNING && late)
			return out_of_time(all, tracee, err);
	}
	return HI_OK;
}

/*
 * Note [Few are woken at a time]
 *
 * A thread that sleeps in epoll_wait() has EINTR in rax from its interruption until its
 * registers were handled. If the tracer is killed (SIGKILL) in between, the target sees
 * EINTR. So sleeping threads are interrupted in groups, and each group is handled before
 * the next one: at most one group of calls is affected. Running threads are interrupted
 * first and all at once: they make no call, and they have to be scheduled.
 */
static enum hi_status stop_sleepers(struct hi_tracees *all, struct hi_error *err)
{
	struct hi_tracee *group[SLEEPERS_GROUP];
	enum hi_status status = HI_OK;
	size_t n = 0;

	for (size_t i = 0; i < all->count && status == HI_OK; i++) {
		struct hi_tracee *tracee = &all->items[i];

		if (tracee->state == HI_TRACEE_RUNNING && !tracee->is_interrupted &&
		    !hi_tracee_leave_asleep(all, tracee)) {
			hi_tracee_interrupt(tracee);
			group[n++] = tracee;
		}
		if (n < SLEEPERS_GROUP && i + 1 < all->count)
			continue;
		for (size_t j = 0; j < n && status == HI_OK; j++)
			status = hi_tracee_await(all, group[j], err);
		n = 0;
	}
	return status;
}

static enum hi_status seize_known(struct hi_tracees *all, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < all->count && status == HI_OK; i++) {
		struct hi_tracee *tracee = &all->items[i];

		if (tracee->state != HI_TRACEE_SEEN ||
		    hi_tracee_leave_asleep(all, tracee))
			continue;
		status = hi_tracee_seize(all, tracee, err);
		if (status == HI_OK && tracee->state == HI_TRACEE_RUNNING &&
		    !tracee->was_asleep)
			hi_tracee_interrupt(tracee);
	}
	return status;
}

static enum hi_status stop_known(struct hi_tracees *all, struct hi_error *err)
{
	enum hi_status status = seize_known(all, err);

	if (status == HI_OK)
		status = stop_sleepers(all, err);
	for (size_t i = 0; i < all->count && status == HI_OK; i++)
		status = hi_tracee_await(all, &all->items[i], err);
	return status;
}

static void notice_lost_sleeper(struct hi_tracees *all, struct hi_tracee *tracee)
{
	char state = hi_thread_state(all->pid, tracee->tid);

	if (state && state != 'Z' && state != 'X')
		return;
	all->has_lost_sleeper = true;
	tracee->state = HI_TRACEE_DEAD;
	if (tracee->tid == all->pid)
		(void)is_leaving(all, tracee);
}

/* SIGKILL takes threads out of their stop: notices those that are gone. */
static void notice_killed(struct hi_tracees *all)
{
	unsigned long message;

	for (size_t i = 0; i < all->count; i++) {
		struct hi_tracee *tracee = &all->items[i];

		if (tracee->state == HI_TRACEE_LEFT)
			notice_lost_sleeper(all, tracee);
		if (!is_still(tracee) ||
		    ptrace(PTRACE_GETEVENTMSG, tracee->tid, 0, &message) == 0)
			continue;
		tracee->state = HI_TRACEE_DEAD;
		if (tracee->tid == all->pid)
			(void)is_leaving(all, tracee);
	}
}

enum hi_status hi_tracees_stop(struct hi_tracees *all, struct hi_error *err)
{
	enum hi_status status = stop_known(all, err);

	while (status == HI_OK && !hi_tracees_complete(all)) {
		if (hi_clock_ns() > all->deadline_ns)
			return hi_fail(
				err, HI_TIMEOUT, 0,
				"process %d: new threads appeared faster than they "
				"could be stopped",
				(int)all->pid);
		hi_clock_pause_ns(RELIST_PAUSE_NS);
		notice_killed(all);
		status = hi_tracees_list(all, err);
		if (status == HI_OK)
			status = stop_known(all, err);
	}
	if (status != HI_OK)
		return status;
	if (!hi_tracees_live(all))
		return hi_fail(err, HI_GONE, 0, "process %d: it has exited",
			       (int)all->pid);
	return HI_OK;
}

/*
 * Note [Giving up]
 *
 * When a stop fails half-way, other threads have been interrupted already: one that slept
 * in epoll_wait() is awake and about to see EINTR. So all that have stopped by now are
 * handled, which makes their calls start anew, and let go: for them the pause is over.
 * The rest stop as soon as a busy machine gives them a processor; nothing waits for them,
 * so there is time.
 */
void hi_tracees_give_up(struct hi_tracees *all)
{
	struct hi_error ignored;

	all->deadline_ns = 0;
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].state == HI_TRACEE_RUNNING &&
		    all->items[i].is_interrupted)
			(void)!hi_tracee_await(all, &all->items[i], &ignored);
	hi_tracees_detach(all);
}

void hi_tracees_detach_late(struct hi_tracees *all, uint64_t until_ns)
{
	struct hi_error ignored;

	all->deadline_ns = until_ns;
	for (size_t i = 0; i < all->count; i++) {
		struct hi_tracee *tracee = &all->items[i];

		if (tracee->state != HI_TRACEE_RUNNING || !tracee->is_interrupted ||
		    hi_thread_state(all->pid, tracee->tid) == 'D')
			continue; /* it is freed when the tracer ends */
		if (hi_tracee_await(all, tracee, &ignored) == HI_OK && is_still(tracee))
			(void)ptrace(PTRACE_DETACH, tracee->tid, 0, 0);
	}
}

size_t hi_tracees_detach(struct hi_tracees *all)
{
	size_t n_gone = 0;

	for (size_t i = 0; i < all->count; i++)
		if (is_still(&all->items[i]) &&
		    ptrace(PTRACE_DETACH, all->items[i].tid, 0, 0) < 0)
			n_gone++;
	reap_all(all);
	return n_gone;
}
