/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inspector's side. Tracer and watchdog are forks of this process; they answer
 * through one socket and one piece of shared memory. When a tracer ends, the kernel lets
 * the target go, so every failure here makes sure that the tracer has ended.
 */
#include "attach/tracer.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "attach/child.h"
#include "base/clock.h"
#include "attach/target.h"
#include "attach/target_internal.h"
#include "attach/tracer_process.h"
#include "attach/watchdog.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fork.h"
#include "base/text.h"

#define WATCHDOG_PRIORITY 2	     /* above the tracer */
#define SILENCE_NS (4 * HI_NS_PER_S) /* beyond what the watchdog allows */
#define REAP_MS 2000
#define MEMORY_TRIES 20
#define MEMORY_PAUSE_NS 500000u

struct hi_tracer {
	pid_t target;
	struct hi_stop_options options;
	struct hi_tracer_shared *shared;
	size_t shared_size;
	int socket;
	pid_t tracer, watchdog;	   /* 0: none */
	struct hi_fork_plan *plan; /* NULL: see plan_error */
	struct hi_error plan_error;
	bool has_child;
	int tracer_fd, watchdog_fd; /* pidfds: their pids may be others' where
				     * SIGCHLD is ignored and nothing is reaped */
	bool stopped;
	bool is_silent; /* did not answer in time */
};

/* Threads that the table must hold: generous, untouched pages cost nothing. */
static size_t capacity_for(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return 16384 + 4 * (stat(path, &st) == 0 ? (size_t)st.st_nlink : 0);
}

static enum hi_status make_shared(struct hi_tracer *self, struct hi_error *err)
{
	size_t capacity = capacity_for(self->target);
	void *pages;

	self->shared_size =
		sizeof(*self->shared) + capacity * sizeof(*self->shared->threads);
	pages = mmap(NULL, self->shared_size, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return hi_fail_memory(err, "the table of threads");
	self->shared = pages;
	self->shared->capacity = capacity;
	return HI_OK;
}

static uint64_t vdso_of(const struct hi_target *target)
{
	for (size_t i = 0; i < target->n_mappings; i++)
		if (target->mappings[i].kind == HI_MAPPING_VDSO)
			return target->mappings[i].start;
	return 0;
}

/*
 * Opens the memory of the program that is there now. Amid an exec there is no memory
 * (ESRCH) or the auxiliary vector is empty for a short time: tries again. Reads no memory
 * of the target, which may have a userfaultfd there: the watchdog does not run yet.
 */
static int open_memory(pid_t pid, uint64_t *probe_ret, bool *writable_ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	for (int i = 0; i < MEMORY_TRIES; i++) {
		HI_GUARD(close) int fd = open(path, O_RDWR | O_CLOEXEC);

		*writable_ret = fd >= 0;
		if (fd < 0 && errno != ESRCH)
			fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 && errno != ESRCH)
			return -1;
		*probe_ret = fd < 0 ? 0 : hi_tracer_auxv_value(pid, AT_RANDOM);
		if (*probe_ret)
			return hi_take_fd(fd);
		hi_clock_pause_ns(MEMORY_PAUSE_NS);
	}
	return -1;
}

static enum hi_status fork_tracer(struct hi_tracer *self, const struct hi_target *target,
				  int timer, struct hi_error *err)
{
	uint64_t probe = 0;
	bool writable = false;
	pid_t proc_pid = target->priv ? target->priv->proc_pid : target->pid;
	HI_GUARD(close) int memory = open_memory(proc_pid, &probe, &writable);
	HI_GUARD(close) int pagemap = hi_proc_open(proc_pid, "pagemap");
	struct hi_tracer_request request = {
		.pid = target->pid,
		.inspector = getpid(),
		.start_time = target->start_time,
		.target = target->pidfd,
		.vdso = vdso_of(target),
		.memory = memory,
		.writable = writable,
		.pagemap = pagemap,
		.probe = probe,
		.timer = timer,
		.options = &self->options,
		.plan = self->plan,
		.plan_error = self->plan_error,
		.shared = self->shared,
	};
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return hi_fail_errno(err, "start the tracer: socketpair");
	self->socket = ends[0];
	request.socket = ends[1];
	self->tracer = hi_fork();
	if (self->tracer == 0)
		hi_tracer_process_run(&request);
	close(ends[1]); /* so that its end reads as the end of file */
	if (self->tracer < 0) {
		self->tracer = 0;
		return hi_fail_errno(
			err, "start the tracer: fork (limits: ulimit -u, pids.max)");
	}
	self->tracer_fd = pidfd_open(self->tracer, 0);
	if (self->tracer_fd < 0)
		return hi_fail_errno(err, "start the tracer: pidfd_open");
	return HI_OK;
}

static enum hi_status fork_watchdog(struct hi_tracer *self, int timer,
				    struct hi_error *err)
{
	HI_GUARD(close) int inspector = pidfd_open(getpid(), 0);
	struct hi_watchdog_request request = {
		.timer = timer,
		.tracer = self->tracer_fd,
		.tracer_pid = self->tracer,
		.inspector = inspector,
		.fired = &self->shared->timed_out,
		.priority =
			WATCHDOG_PRIORITY, /* also without the option: it only sleeps */
		.trigger = self->options.trigger,
	};

	if (inspector < 0)
		return hi_fail_errno(err, "start the watchdog: pidfd_open");
	self->watchdog = hi_fork();
	if (self->watchdog == 0)
		hi_watchdog_run(&request);
	if (self->watchdog < 0) {
		self->watchdog = 0;
		return hi_fail_errno(
			err, "start the watchdog: fork (limits: ulimit -u, pids.max)");
	}
	self->watchdog_fd = pidfd_open(self->watchdog, 0);
	if (self->watchdog_fd < 0)
		return hi_fail_errno(err, "start the watchdog: pidfd_open");
	return HI_OK;
}

/* Returns the bytes that are private and in memory: more than that it cannot write to and
 * so copy. */
static uint64_t writable_bytes(pid_t pid)
{
	char text[8192];

	if (!hi_proc_read_small(pid, "status", text, sizeof(text), NULL))
		return 0;
	return hi_proc_field_bytes(text, "RssAnon", 0);
}

/* A failure here is reported when the fork is requested, not now. */
static void plan_fork(struct hi_tracer *self, const struct hi_target *target)
{
	if (self->options.snapshot == HI_REQUEST_COPY) {
		(void)hi_fail(&self->plan_error, HI_UNSUPPORTED, 0,
			      "it was not requested");
		return;
	}
	if (hi_fork_prepare(target->pid, writable_bytes(target->pid), &self->plan,
			    &self->plan_error) != HI_OK)
		self->plan_error.status = HI_UNSUPPORTED;
}

enum hi_status hi_tracer_start(const struct hi_target *target,
			       const struct hi_stop_options *options,
			       struct hi_tracer **ret, struct hi_error *err)
{
	HI_GUARD(close) int timer = -1;
	HI_GUARD(hi_tracer_destroy) struct hi_tracer *self = hi_alloc(sizeof(*self));
	enum hi_status status;

	if (!self)
		return hi_fail_memory(err, "the tracer");
	*self = (struct hi_tracer){.target = target->pid,
				   .options = *options,
				   .socket = -1,
				   .tracer_fd = -1,
				   .watchdog_fd = -1};
	status = make_shared(self, err);
	if (status != HI_OK)
		return status;
	plan_fork(self, target);
	timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (timer < 0)
		return hi_fail_errno(err, "start the tracer: timerfd");
	status = fork_tracer(self, target, timer, err);
	if (status == HI_OK)
		status = fork_watchdog(self, timer, err);
	if (status == HI_OK)
		*ret = hi_take(self);
	return status;
}

/* ---- commands ---- */

static bool send_command(int sock, uint32_t command)
{
	ssize_t n;

	do {
		n = send(sock, &command, sizeof(command), MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	return n == sizeof(command);
}

/*
 * The watchdog ends a tracer that does not answer in time. This limit is for the case
 * that the watchdog was stopped, too.
 */
static uint64_t reply_limit_ns(const struct hi_tracer *self)
{
	uint64_t budget_ns = hi_stop_budget_ns(&self->options);

	return (budget_ns > HI_NS_PER_S ? budget_ns : HI_NS_PER_S) + SILENCE_NS;
}

/* While the tracer waits for the trigger it reports that it is alive. */
static bool await_reply(const struct hi_tracer *self, uint64_t asked_ns)
{
	struct pollfd fd = {.fd = self->socket, .events = POLLIN};

	for (;;) {
		uint64_t sign_ns = atomic_load(&self->shared->alive_ns);
		uint64_t from_ns = sign_ns > asked_ns ? sign_ns : asked_ns;
		uint64_t end_ns = from_ns + reply_limit_ns(self), now_ns = hi_clock_ns();
		struct timespec ts = hi_timespec(end_ns > now_ns ? end_ns - now_ns : 0);

		if (ppoll(&fd, 1, &ts, NULL) > 0)
			return true;
		if (end_ns <= now_ns)
			return false;
	}
}

static bool receive_reply(struct hi_tracer *self, uint64_t asked_ns,
			  struct hi_tracer_reply *rep)
{
	ssize_t n;

	self->is_silent = !await_reply(self, asked_ns);
	if (self->is_silent)
		return false;
	do {
		n = recv(self->socket, rep, sizeof(*rep), MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	return n == sizeof(*rep);
}

/* Without a pidfd it has only just been forked: the pid is its own. */
static void end_process(pid_t *pid, int fd)
{
	if (*pid <= 0)
		return;
	if (fd >= 0)
		(void)pidfd_send_signal(fd, SIGKILL, NULL, 0);
	else
		kill(*pid, SIGKILL);
	(void)hi_child_reap(*pid, fd, REAP_MS);
	*pid = 0;
}

/* Afterwards the target is free, whatever happened before. */
static void end_processes(struct hi_tracer *self)
{
	end_process(&self->tracer, self->tracer_fd);
	end_process(&self->watchdog, self->watchdog_fd); /* it would end by itself */
	self->stopped = false;
}

static enum hi_status tracer_lost(const struct hi_tracer *self, struct hi_error *err)
{
	char budget[24];

	hi_text_duration(budget, hi_stop_budget_ns(&self->options));
	if (self->is_silent)
		return hi_fail(
			err, HI_TIMEOUT, 0,
			"process %d: the tracer process did not answer and was ended "
			"(was it stopped by a signal?); the target runs on, unharmed",
			(int)self->target);
	if (atomic_load(&self->shared->timed_out) && atomic_load(&self->shared->waiting))
		return hi_fail(err, HI_TIMEOUT, 0,
			       "process %d: the waiting tracer process stopped "
			       "responding and was ended; the target runs on, unharmed",
			       (int)self->target);
	if (atomic_load(&self->shared->timed_out))
		return hi_fail(err, HI_TIMEOUT, 0,
			       "process %d: the pause budget of %s ran out; it runs on, "
			       "unharmed",
			       (int)self->target, budget);
	return hi_fail(err, HI_OS, 0, "process %d: the tracer was killed",
		       (int)self->target);
}

static enum hi_status take_reply(struct hi_tracer *self, uint32_t command,
				 uint64_t asked_ns, struct hi_error *err)
{
	struct hi_tracer_reply rep = {};

	if (!receive_reply(self, asked_ns, &rep)) {
		end_processes(self);
		return tracer_lost(self, err);
	}
	if (rep.status != HI_OK && err)
		*err = rep.error;
	/* There is no child, but the target is stopped all the same. */
	if (rep.status != HI_OK &&
	    (command != HI_TRACER_FORK || rep.status != HI_UNSUPPORTED))
		end_processes(self);
	return rep.status;
}

static enum hi_status give_command(struct hi_tracer *self, uint32_t command,
				   struct hi_error *err)
{
	if (!self->tracer)
		return hi_fail(err, HI_OS, 0, "process %d: the tracer has ended",
			       (int)self->target);
	if (send_command(self->socket, command))
		return HI_OK;
	end_processes(self);
	return tracer_lost(self, err);
}

static enum hi_status call_tracer(struct hi_tracer *self, uint32_t command,
				  struct hi_error *err)
{
	uint64_t asked_ns = hi_clock_ns();
	enum hi_status status = give_command(self, command, err);

	return status == HI_OK ? take_reply(self, command, asked_ns, err) : status;
}

enum hi_status hi_tracer_begin_stop(struct hi_tracer *self, struct hi_error *err)
{
	return give_command(self, HI_TRACER_STOP, err);
}

int hi_tracer_socket(const struct hi_tracer *self)
{
	return self->socket;
}

bool hi_tracer_is_waiting(const struct hi_tracer *self)
{
	return atomic_load(&self->shared->seized);
}

enum hi_status hi_tracer_end_stop(struct hi_tracer *self, struct hi_tracer_stop *ret,
				  struct hi_error *err)
{
	enum hi_status status = take_reply(self, HI_TRACER_STOP, hi_clock_ns(), err);

	if (status != HI_OK)
		return status;
	self->stopped = true;
	*ret = (struct hi_tracer_stop){
		.threads = self->shared->threads,
		.n_threads = self->shared->n_threads,
		.stopped_ns = self->shared->stopped_ns,
		.threads_in_allocator = self->shared->threads_in_allocator,
		.avoid_rounds = self->shared->avoid_rounds,
		.trigger = self->shared->trigger,
	};
	return HI_OK;
}

enum hi_status hi_tracer_stop(struct hi_tracer *self, struct hi_tracer_stop *ret,
			      struct hi_error *err)
{
	enum hi_status status = hi_tracer_begin_stop(self, err);

	return status == HI_OK ? hi_tracer_end_stop(self, ret, err) : status;
}

enum hi_status hi_tracer_can_fork(const struct hi_tracer *self, struct hi_error *err)
{
	if (self->plan)
		return HI_OK;
	if (err)
		*err = self->plan_error;
	return self->plan_error.status;
}

enum hi_status hi_tracer_fork(struct hi_tracer *self, struct hi_tracer_child *ret,
			      struct hi_error *err)
{
	enum hi_status status = call_tracer(self, HI_TRACER_FORK, err);

	if (status != HI_OK) {
		self->stopped &= status == HI_UNSUPPORTED;
		return status;
	}
	self->has_child = true;
	*ret = (struct hi_tracer_child){.pid = self->shared->child_pid,
					.tid = self->shared->child_tid};
	return HI_OK;
}

void hi_tracer_end_child(struct hi_tracer *self)
{
	struct hi_error ignored;

	if (!self || !self->has_child)
		return;
	self->has_child = false;
	(void)call_tracer(self, HI_TRACER_END_CHILD, &ignored);
}

void hi_tracer_ask_to_end_child(int socket)
{
	(void)send_command(socket, HI_TRACER_END_CHILD);
}

enum hi_status hi_tracer_resume(struct hi_tracer *self, uint64_t *resumed_ns_ret,
				struct hi_error *err)
{
	enum hi_status status = call_tracer(self, HI_TRACER_RESUME, err);

	self->stopped = false;
	if (status == HI_OK && atomic_load(&self->shared->stood))
		*resumed_ns_ret = atomic_load(&self->shared->resumed_ns);
	else if (status == HI_OK)
		*resumed_ns_ret = self->shared->stopped_ns; /* nothing stood */
	return status;
}

bool hi_tracer_is_torn(const struct hi_tracer *self)
{
	return atomic_load(&self->shared->torn);
}

int hi_tracer_fd(const struct hi_tracer *self)
{
	return self->tracer_fd;
}

void hi_tracer_let_go(struct hi_tracer *self)
{
	if (self)
		end_process(&self->tracer, self->tracer_fd);
}

void hi_tracer_destroy(struct hi_tracer *self)
{
	uint64_t ignored;
	struct hi_error err;

	if (!self)
		return;
	if (self->stopped && hi_tracer_resume(self, &ignored, &err) != HI_OK)
		self->stopped = false; /* it is free all the same */
	hi_tracer_end_child(self);
	end_processes(self);
	if (self->socket >= 0)
		close(self->socket);
	if (self->tracer_fd >= 0)
		close(self->tracer_fd);
	if (self->watchdog_fd >= 0)
		close(self->watchdog_fd);
	if (self->shared)
		(void)munmap(self->shared, self->shared_size);
	hi_fork_plan_free(self->plan);
	free(self);
}
