/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/tracer_process.h"

#include <errno.h>
#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "attach/child.h"
#include "attach/leave_code.h"
#include "attach/procfs.h"
#include "attach/restart_syscalls.h"
#include "attach/tracees.h"
#include "attach/wait.h"
#include "base/clock.h"

#define TICK_US 1000
#define PRIORITY 1
#define GIVE_UP_NS (2 * HI_NS_PER_S)
#define BEAT_MIN_NS HI_NS_PER_S
#define HOOK_SHARE 3	 /* of the pause budget: what a hook may take at most */
#define EXEC_CHECK_MS 10 /* while there is a child */

struct tracer_process {
	const struct hi_tracer_request *request;
	struct hi_tracees tracees;
	bool is_stopping; /* threads were interrupted */
	bool has_loose;	  /* after the resume some threads are still traced */
	struct hi_fork_child child;
	int target; /* pidfd; -1: none */
};

/*
 * Note [An inspector that dies amid a stop]
 *
 * The tracer dies with the inspector (PR_SET_PDEATHSIG), but not while it stops the
 * threads or makes one of them fork: a thread that was woken and not handled would see
 * EINTR. These steps are limited by the tracer and by the watchdog, so the tracer
 * completes them and then ends.
 */
static void outlive_inspector(const struct tracer_process *self, bool on)
{
	(void)prctl(PR_SET_PDEATHSIG, on ? 0 : SIGKILL);
	if (!on && getppid() != self->request->inspector)
		_exit(0); /* the kernel lets stopped threads go */
}

/* ---- the stop's surroundings: clock, watchdog, priority ---- */

static void arm_watchdog(const struct tracer_process *self, uint64_t at_ns)
{
	struct itimerspec when = {.it_value = hi_timespec(at_ns)};

	(void)timerfd_settime(self->request->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

/* A regular signal while the tracer waits: see Note [Dead threads are reaped in a
 * handler]. */
static void set_tick(bool on)
{
	struct itimerval tick = {};

	if (on)
		tick.it_interval.tv_usec = tick.it_value.tv_usec = TICK_US;
	setitimer(ITIMER_REAL, &tick, NULL);
}

/*
 * Held from the stop to the resume. Between them the tracer sleeps and uses no processor,
 * but it must wake promptly however many threads are runnable, to resume or to end.
 */
static void set_priority(const struct tracer_process *self, bool high)
{
	if (self->request->options->best_effort_priority)
		hi_child_set_priority(high ? PRIORITY : 0);
}

/* ---- is it still the same program? ---- */

/* 0 if there is no such process. */
static uint64_t start_time_of(pid_t pid)
{
	struct hi_proc_stat stat;

	return hi_proc_stat(pid, &stat) ? stat.start_time : 0;
}

uint64_t hi_tracer_auxv_value(pid_t pid, uint64_t type)
{
	Elf64_auxv_t auxv[64];
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, auxv, sizeof(auxv));
	close(fd);
	for (size_t i = 0; n > 0 && i < (size_t)n / sizeof(*auxv); i++)
		if (auxv[i].a_type == type)
			return auxv[i].a_un.a_val;
	return 0;
}

/*
 * An exec since we began: the descriptor of its memory is bound to the address
 * space, not to the process, and reads as empty when that is gone (fs/proc:
 * mem_rw; auxv would go on to answer). AT_RANDOM points at 16 bytes on its
 * stack. An exec before we began moved the vdso, unless address space
 * randomisation is off.
 */
static bool has_exec_ed(const struct tracer_process *self)
{
	const struct hi_tracer_request *request = self->request;
	uint64_t vdso = request->vdso;
	char byte;

	if (request->memory >= 0 &&
	    pread(request->memory, &byte, 1, (off_t)request->probe) == 0)
		return true;
	if (!vdso)
		return false;
	vdso ^= hi_tracer_auxv_value(request->pid, AT_SYSINFO_EHDR);
	return vdso && vdso != request->vdso; /* the same: it could not be read */
}

static bool is_fd_readable(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

	return poll(&poll_fd, 1, 0) > 0;
}

static enum hi_status check_identity(const struct tracer_process *self,
				     struct hi_error *err)
{
	const struct hi_tracer_request *request = self->request;

	if ((request->target >= 0 && is_fd_readable(request->target)) ||
	    (request->start_time && start_time_of(request->pid) != request->start_time))
		return hi_fail(err, HI_GONE, 0, "process %d: it has exited",
			       (int)request->pid);
	/* An end that is watched may be that of another program. */
	if (request->options->exit_hold_ns || !has_exec_ed(self))
		return HI_OK;
	/* Memory is gone before the process is. */
	return hi_fail(err, HI_GONE, 0,
		       hi_thread_is_exiting(request->pid, request->pid)
			       ? "process %d: it is exiting"
			       : "process %d: it has started another program (exec)",
		       (int)request->pid);
}

/* ---- stop ---- */

/* While it waits the tracer reports regularly that it is alive. */
static uint64_t beat_limit_ns(const struct tracer_process *self)
{
	uint64_t budget_ns = hi_stop_budget_ns(self->request->options);

	return budget_ns > BEAT_MIN_NS ? budget_ns : BEAT_MIN_NS;
}

static void report_alive(void *arg)
{
	const struct tracer_process *self = arg;

	atomic_store(&self->request->shared->alive_ns, hi_clock_ns());
	arm_watchdog(self, hi_clock_ns() + beat_limit_ns(self));
}

static void set_urgent(void *arg, bool on)
{
	set_priority(arg, on);
}

static int interrupt_of(const struct hi_tracer_request *request)
{
	return request->options->interrupt_fd ? request->options->interrupt_fd : -1;
}

/* Until the hit; then stopped_ns is set. */
static enum hi_status wait_for_trigger(struct tracer_process *self, struct hi_error *err)
{
	struct hi_tracer_shared *shared = self->request->shared;
	const struct hi_wait wait = {
		.tracees = &self->tracees,
		.trigger = self->request->options->trigger,
		.timeout_ns = self->request->options->timeout_ns,
		.at_exit = self->request->options->exit_hold_ns != 0,
		.exec_ns = self->request->options->exec_ns,
		.start = self->request->options->start,
		.inspector = self->request->socket,
		.interrupt = interrupt_of(self->request),
		.beat_ns = beat_limit_ns(self) / 4,
		.beat = report_alive,
		.set_urgent = set_urgent,
		.arg = self,
	};
	enum hi_status status;

	atomic_store(&shared->waiting, 1);
	report_alive(self);
	set_tick(true);
	self->tracees.deadline_ns = hi_clock_ns() + beat_limit_ns(self);
	status = hi_tracees_seize(&self->tracees, hi_wait_ptrace_options(&wait), err);
	set_tick(false);
	if (status == HI_OK)
		status = check_identity(self, err);
	if (status == HI_OK)
		atomic_store(&shared->seized, 1);
	if (status == HI_OK)
		status = hi_wait_for_hit(&wait, &shared->trigger, err);
	if (status != HI_OK)
		return status;
	/* Near the probe no thread stood before the interruption. */
	shared->stopped_ns = shared->trigger.position == HI_HIT_AT
				     ? shared->trigger.hit.time_ns
				     : hi_clock_ns();
	atomic_store(&shared->waiting, 0);
	return HI_OK;
}

static enum hi_status stop_outside(struct tracer_process *self, uint64_t start_ns,
				   struct hi_error *err)
{
	uint64_t budget = hi_stop_budget_ns(self->request->options);
	struct hi_tracees *all = &self->tracees;
	enum hi_status status;

	all->deadline_ns = start_ns + budget / 10 * 9;
	do {
		status = hi_tracees_stop(all, err);
		if (status == HI_OK && all->signal_tid)
			status = hi_wait_settle_hit(all, &self->request->shared->trigger,
						    err);
		if (status == HI_OK)
			status = hi_avoid_leave(all, self->request->options,
						start_ns + budget / 2, err);
		/* Threads that ran on may have made threads, or died. */
	} while (status == HI_OK && !hi_tracees_complete(all));
	if (status == HI_OK && !hi_tracees_live(all))
		return hi_fail(err, HI_GONE, 0, "process %d: it has exited",
			       (int)all->pid);
	return status == HI_OK ? check_identity(self, err) : status;
}

static void publish_thread(struct hi_tracer_shared *shared,
			   const struct hi_tracee *tracee)
{
	struct hi_thread *thread = &shared->threads[shared->n_threads++];

	*thread = (struct hi_thread){.tid = tracee->tid, .regs = tracee->regs};
	memcpy(thread->name, tracee->name, sizeof(tracee->name));
	thread->maybe_in_allocator = tracee->maybe_inside;
	shared->threads_in_allocator += tracee->maybe_inside;
	hi_restart_predict(&thread->regs);
}

/* The leader comes first; one that has exited has zero registers. */
static void publish_threads(struct tracer_process *self)
{
	struct hi_tracer_shared *shared = self->request->shared;
	const struct hi_tracees *all = &self->tracees;
	struct hi_tracee leader = {.tid = all->pid};

	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].tid == all->pid) {
			leader = all->items[i];
			if (leader.state == HI_TRACEE_DEAD)
				leader.regs = (struct user_regs_struct){};
		}
	shared->avoid_rounds = all->avoid_rounds;
	publish_thread(shared, &leader);
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].tid != all->pid &&
		    all->items[i].state != HI_TRACEE_DEAD)
			publish_thread(shared, &all->items[i]);
}

/* How long it may stand. */
static uint64_t hold_limit_ns(const struct tracer_process *self)
{
	const struct hi_stop_options *options = self->request->options;

	return options->exit_hold_ns ? options->exit_hold_ns : hi_stop_budget_ns(options);
}

static bool is_stop_torn(const struct hi_stop_moment *moment)
{
	return hi_tracees_has_woken(moment->state);
}

static void run_stop_hook(const struct tracer_process *self)
{
	struct hi_stop_moment moment = {
		.deadline_ns = self->request->shared->stopped_ns +
			       hold_limit_ns(self) / HOOK_SHARE,
		.is_torn = is_stop_torn,
		.state = &self->tracees,
	};

	for (const struct hi_stop_hook *h = self->request->options->hook; h; h = h->next)
		h->run(h->arg, &moment);
}

static enum hi_status stop_threads(struct tracer_process *self, struct hi_error *err)
{
	struct hi_tracer_shared *shared = self->request->shared;
	enum hi_status status = hi_tracees_list(&self->tracees, err);

	if (status != HI_OK)
		return status;
	/* Touch memory that will be written while the target is stopped. */
	memset(shared->threads, 0, self->tracees.count * sizeof(*shared->threads));
	set_priority(self, true);
	shared->stopped_ns = hi_clock_ns();
	if (self->request->options->trigger)
		status = wait_for_trigger(self, err);
	if (status != HI_OK)
		return status;
	set_tick(true);
	self->is_stopping = true;
	arm_watchdog(self, shared->stopped_ns + hold_limit_ns(self));
	status = stop_outside(self, shared->stopped_ns, err);
	if (status != HI_OK)
		return status;
	if (hi_tracees_any_stopped(&self->tracees))
		atomic_store(&shared->stood, 1);
	else
		arm_watchdog(self, 0); /* no thread is stopped */
	publish_threads(self);
	set_tick(false); /* all stand: the processors are the copy's now */
	run_stop_hook(self);
	return HI_OK;
}

static void give_up(struct tracer_process *self)
{
	/* After a fork that failed it is off; a leader's death needs it to be seen. */
	set_tick(true);
	hi_tracees_give_up(&self->tracees);
	/* Nothing is stopped any more: there is time. */
	set_priority(self, false);
	arm_watchdog(self, hi_clock_ns() + 2 * GIVE_UP_NS);
	hi_tracees_detach_late(&self->tracees, hi_clock_ns() + GIVE_UP_NS);
}

/* ---- resume ---- */

/* Threads that were born during the stop got no name before it. */
static void name_late_threads(struct tracer_process *self)
{
	struct hi_tracer_shared *shared = self->request->shared;

	for (size_t i = 0; i < shared->n_threads; i++)
		if (!shared->threads[i].name[0])
			hi_thread_name(self->request->pid, shared->threads[i].tid,
				       shared->threads[i].name);
}

static void check_sleepers(const struct tracer_process *self)
{
	if (hi_tracees_has_woken(&self->tracees))
		atomic_store(&self->request->shared->torn, 1);
}

static enum hi_status resume_threads(struct tracer_process *self, struct hi_error *err)
{
	size_t n_gone;

	/* A child has the memory as it was at the fork. */
	if (self->child.pidfd < 0)
		check_sleepers(self);
	hi_tracees_begin_settling(&self->tracees);
	n_gone = hi_tracees_detach(&self->tracees);
	atomic_store(&self->request->shared->resumed_ns, hi_clock_ns());
	arm_watchdog(self,
		     hi_clock_ns() + 2 * GIVE_UP_NS); /* no thread is stopped any more */
	self->has_loose = hi_tracees_settle(&self->tracees);
	arm_watchdog(self, 0);
	set_priority(self, false);
	name_late_threads(self);
	if (n_gone)
		return hi_fail(err, HI_GONE, 0,
			       "process %d: it has exited while it was stopped",
			       (int)self->request->pid);
	return HI_OK;
}

/* ---- the copy-on-write child ---- */

static enum hi_status make_child(struct tracer_process *self, struct hi_error *err)
{
	const struct hi_tracer_request *request = self->request;
	struct hi_fork_options options = {
		.memory = request->memory,
		.deadline_ns = request->shared->stopped_ns +
			       hi_stop_budget_ns(request->options) / 10 * 9};
	enum hi_status status;

	if (!request->plan) {
		*err = request->plan_error;
		return err->status;
	}
	if (!request->writable)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "its memory may be read, but not written to");
	if (self->target < 0)
		self->target = pidfd_open(request->pid, 0);
	if (self->target < 0)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "its exit cannot be watched (pidfd_open)");
	self->tracees.deadline_ns = options.deadline_ns;
	set_tick(true);
	status = hi_fork_make(&self->tracees, request->plan, &options, &self->child, err);
	set_tick(false);
	if (status == HI_OK)
		check_sleepers(self);
	request->shared->child_pid = self->child.pid;
	request->shared->child_tid = self->child.tid;
	return status;
}

/*
 * After the resume. The child holds what the target has given up: it ends with the
 * target, and when that becomes another program. False: there is no more to do.
 */
static bool is_child_wanted(const struct tracer_process *self)
{
	return !is_fd_readable(self->target) && !is_fd_readable(self->child.pidfd) &&
	       !has_exec_ed(self);
}

/* So that the stop of a thread that is still traced ends the poll, whenever it comes. */
static void hold_child_signals(const struct tracer_process *self, bool on,
			       sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (self->has_loose)
		hi_tracees_enable_stop_signals();
	if (on)
		(void)sigprocmask(SIG_BLOCK, &set, before);
	else
		(void)sigprocmask(SIG_SETMASK, before, NULL);
}

/* Until there is a command, or the socket is closed. */
static void watch_child(struct tracer_process *self)
{
	const struct timespec check = {.tv_nsec = EXEC_CHECK_MS * 1000000};
	sigset_t before;
	struct pollfd polls[] = {
		{.fd = self->request->socket, .events = POLLIN},
		{.fd = self->target, .events = POLLIN},
		{.fd = self->child.pidfd, .events = POLLIN},
	};

	hold_child_signals(self, true, &before);
	while (ppoll(polls, 3, &check, &before) <= 0 || !polls[0].revents) {
		if (!is_child_wanted(self)) {
			hi_fork_end(&self->child);
			_exit(0);
		}
		if (!self->has_loose)
			continue;
		hi_tracees_release(&self->tracees);
		report_alive(self);
	}
	hold_child_signals(self, false, &before);
}

/* ---- the process ---- */

static void set_up(struct tracer_process *self)
{
	const struct hi_tracer_request *request = self->request;
	static int keep[6 + HI_STOP_HOOK_FDS + HI_TRIGGER_MAX_FDS];
	struct hi_trigger *trigger = request->options->trigger;
	size_t n = 0, n_hook = 0;

	outlive_inspector(self, false);
	keep[n++] = request->socket;
	keep[n++] = request->timer;
	keep[n++] = request->memory;
	keep[n++] = request->pagemap;
	keep[n++] = request->target;
	keep[n++] = interrupt_of(request);
	for (const struct hi_stop_hook *h = request->options->hook; h; h = h->next)
		for (size_t i = 0; i < h->n_fds && n_hook < HI_STOP_HOOK_FDS;
		     i++, n_hook++)
			keep[n++] = h->fds[i];
	if (trigger)
		n += trigger->ops->fds(trigger, keep + n, HI_TRIGGER_MAX_FDS);
	hi_child_settle("hi-tracer", keep, n);
	hi_tracees_handle_signals(&self->tracees);
	(void)prctl(PR_SET_TIMERSLACK, 1);
}

static void send_reply(const struct tracer_process *self,
		       const struct hi_tracer_reply *rep)
{
	ssize_t n;

	do {
		n = send(self->request->socket, rep, sizeof(*rep), MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
}

static enum hi_status begin_stop(struct tracer_process *self, struct hi_error *err)
{
	enum hi_status status;

	status = hi_tracees_init(&self->tracees, self->request->pid,
				 self->request->shared->capacity, err);
	self->tracees.pagemap = self->request->pagemap;
	self->tracees.sleepers = self->request->options->sleepers;
	if (status == HI_OK)
		status = stop_threads(self, err);
	return status;
}

static enum hi_status execute_command(struct tracer_process *self, uint32_t command,
				      struct hi_error *err)
{
	switch (command) {
	case HI_TRACER_RESUME:
		return resume_threads(self, err);
	case HI_TRACER_FORK:
		return make_child(self, err);
	case HI_TRACER_END_CHILD:
		hi_fork_end(&self->child);
		return HI_OK;
	default:
		return begin_stop(self, err);
	}
}

/* A fork that is not possible is no failure: the target is stopped, and may be copied. */
static bool is_failed_stop(const struct tracer_process *self, uint32_t command,
			   enum hi_status status)
{
	return status != HI_OK &&
	       ((command == HI_TRACER_STOP && self->is_stopping) ||
		(command == HI_TRACER_FORK && status != HI_UNSUPPORTED));
}

static bool is_last_command(const struct tracer_process *self, uint32_t command,
			    enum hi_status status, bool resumed)
{
	if (resumed && self->child.pidfd < 0)
		return true;
	return status != HI_OK && (command != HI_TRACER_FORK || status != HI_UNSUPPORTED);
}

_Noreturn void hi_tracer_process_run(const struct hi_tracer_request *request)
{
	struct tracer_process self = {
		.request = request, .child.pidfd = -1, .target = request->target};
	bool resumed = false;

	set_up(&self);
	for (;;) {
		struct hi_tracer_reply rep = {};
		uint32_t command;
		ssize_t n;

		if (resumed)
			watch_child(&self);
		n = recv(request->socket, &command, sizeof(command), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof(command))
			_exit(0); /* the kernel lets stopped threads go */
		/* The process that reads the child may be compromised: it cannot stop
		 * anything again. */
		if (resumed && command != HI_TRACER_END_CHILD)
			_exit(0);
		outlive_inspector(&self, true);
		rep.status = execute_command(&self, command, &rep.error);
		if (is_failed_stop(&self, command, rep.status))
			give_up(&self);
		outlive_inspector(&self, false);
		send_reply(&self, &rep);
		resumed |= command == HI_TRACER_RESUME;
		if (is_last_command(&self, command, rep.status, resumed))
			_exit(0);
	}
}
