/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One stop: inspect /proc, fork the tracer (before the memory for a copy is
 * reserved, so that the fork does not have to share it), stop, copy or fork,
 * resume; a forked child is read then.
 */
#include "attach/stop.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "attach/copy.h"
#include "attach/exit_keep.h"
#include "attach/exit_watch.h"
#include "attach/free_memory.h"
#include "attach/tracer.h"
#include "attach/tracer_process.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"

/*
 * Note [Copy or fork]
 *
 * A fork costs the target two injected calls and the copy of its page tables, and later a
 * page fault for each page that it writes while the child lives; a copy costs the bytes.
 * Below FORK_FROM bytes of private memory the copy is as fast, and leaves no traces
 * (bench_snapshot; with huge pages the fork wins earlier). A copy that would take up the
 * pause budget, or the free memory, is none.
 *
 * When a fork that was planned is refused at the stop, nothing is reserved. Memory that
 * can be copied in a quarter of the pause budget even so is copied at once: the target is
 * stopped where it was to stop. Else it is let go, memory is reserved and it is stopped a
 * second time. After a trigger it is not let go, since the trigger may never come again:
 * the copy must fit into the rest of the budget.
 *
 * A fork needs a thread of the target to run, twice, which takes long where processors
 * are short; a copy needs only this process, which can raise its priority. So after a
 * fork that did not end within the budget, a target that can be copied in half of it is
 * copied in a second stop. In a series the next LATE_FORK_REST stops copy at once.
 *
 * A copy that needs half of the budget and took all of it was delayed by others, or a
 * thread of the target could not stop yet: it is tried a second time, with the same
 * budget. Each stop has the budget for itself, and the image has the longer pause.
 */
#define FORK_FROM (16ull << 20)
#define FORK_LEAST (1ull << 20) /* less than this is always copied */
#define MAX_TAKES 4
#define LATE_FORK_REST 16
#define TRACER_END_MS 200
#define BYTES_PER_NS 1 /* into memory that was not touched before, at least */

struct snapshot {
	struct hi_target *target;
	struct hi_stop_options options; /* .snapshot: COPY or FORK */
	struct hi_copy *copy;
	struct hi_tracer *tracer;
	struct hi_tracer_stop stop;
	struct hi_thread *threads; /* stop.threads, outliving the tracer */
	struct hi_tracer_child child;
	uint64_t pause_ns, first_pause_ns; /* of a stop before this one */
	bool lost;		   /* the tracer has ended, and the reason is known */
	bool is_fork_late;	   /* it did not end within the pause budget */
	bool is_second;		   /* the stop before was over it */
	bool again;		   /* the fork was refused, and this stop cannot copy */
	bool at_exit;		   /* it stood already, at its end, or is gone */
	struct hi_exit_keep *keep; /* of one that is gone; borrowed */
	char not_forked[160];
};

static void destroy_snapshot(struct snapshot *self)
{
	hi_copy_destroy(self->copy);
	hi_tracer_destroy(self->tracer);
	free(self->threads);
}

static bool copies_in(const struct snapshot *self, uint64_t ns)
{
	return hi_copy_bytes(self->copy) / BYTES_PER_NS <= ns;
}

static bool fits_free_memory(const struct snapshot *self)
{
	return hi_copy_bytes(self->copy) <=
	       hi_memory_available("/proc", "/sys/fs/cgroup") / 2;
}

static bool may_copy(const struct snapshot *self)
{
	return copies_in(self, hi_stop_budget_ns(&self->options) / 2) &&
	       fits_free_memory(self);
}

/* Not long after a fork that was late. */
static bool rests_from_forks(const struct snapshot *self)
{
	uint32_t *rest = self->options.fork_rest;

	if (!rest || !*rest)
		return false;
	--*rest;
	return may_copy(self);
}

/* See Note [Copy or fork]. */
static enum hi_snapshot_request choose_snapshot_mode(const struct snapshot *self)
{
	if (self->options.snapshot != HI_REQUEST_AUTO)
		return self->options.snapshot;
	if (hi_copy_bytes(self->copy) < FORK_LEAST || rests_from_forks(self))
		return HI_REQUEST_COPY;
	if (hi_copy_private_bytes(self->copy) >= FORK_FROM ||
	    !copies_in(self, hi_stop_budget_ns(&self->options) / 2) ||
	    hi_copy_bytes(self->copy) > hi_memory_available("/proc", "/sys/fs/cgroup"))
		return HI_REQUEST_FORK;
	return HI_REQUEST_COPY;
}

static void copy_instead(struct snapshot *self, const struct hi_error *why)
{
	snprintf(self->not_forked, sizeof(self->not_forked), "%.159s", why->text);
	self->options.snapshot = HI_REQUEST_COPY;
}

/* The copy was begun when the process lived. */
static enum hi_status prepare_gone(struct snapshot *self, struct hi_error *err)
{
	self->keep = self->options.exit_watch->keep;
	self->options.exit_watch->state = HI_EXIT_UNWATCHED;
	self->copy = hi_take(self->keep->copy);
	self->stop = (struct hi_tracer_stop){.threads = self->keep->threads,
					     .n_threads = self->keep->n_threads};
	hi_copy_set_dead(self->copy);
	return hi_copy_reserve(self->copy, err);
}

/* A process that exits cannot be forked. How long it is held has a limit of its own. */
static enum hi_status prepare_exit(struct snapshot *self, struct hi_error *err)
{
	struct hi_exit_watch *watch = self->options.exit_watch;

	/* They look at the program that there was at the last stop. */
	for (const struct hi_stop_hook *h = self->options.hook; h; h = h->next)
		if (h->at_exit && !(watch->keep && watch->keep->execs))
			h->at_exit(h->arg);
	self->at_exit = true;
	self->options.snapshot = HI_REQUEST_COPY;
	self->options.max_pause_ns = HI_EXIT_HOLD_NS;
	if (watch->keep)
		return prepare_gone(self, err);
	self->tracer = hi_take(watch->tracer);
	self->stop = watch->stop;
	watch->state = HI_EXIT_UNWATCHED;
	return hi_copy_reserve(self->copy, err);
}

/* Everything that the stop must not spend its time on. */
static enum hi_status prepare_snapshot(struct snapshot *self, struct hi_error *err)
{
	struct hi_exit_watch *watch = self->options.exit_watch;
	enum hi_status status;
	struct hi_error why;

	if (watch && watch->keep && hi_exit_watch_look(watch) == HI_EXIT_STANDS)
		return prepare_exit(self, err);
	status = hi_copy_estimate(self->target, &self->options, &self->copy, err);
	if (status != HI_OK)
		return status;
	if (watch && !watch->keep && hi_exit_watch_look(watch) == HI_EXIT_STANDS)
		return prepare_exit(self, err);
	status = hi_exit_watch_prepare(watch, self->target, err);
	if (status != HI_OK)
		return status;
	self->options.snapshot = choose_snapshot_mode(self);
	/* Threads that are left traced until the child has ended could not be watched. */
	if (watch && !watch->keep && self->options.snapshot == HI_REQUEST_FORK)
		self->options.sleepers = NULL;
	status = hi_tracer_start(self->target, &self->options, &self->tracer, err);
	if (status != HI_OK)
		return status;
	if (self->options.snapshot == HI_REQUEST_FORK &&
	    hi_tracer_can_fork(self->tracer, &why) != HI_OK)
		copy_instead(self, &why);
	return self->options.snapshot == HI_REQUEST_COPY
		       ? hi_copy_reserve(self->copy, err)
		       : HI_OK;
}

/* ---- while the target is stopped ---- */

static enum hi_status copy_stopped(struct snapshot *self, struct hi_error *err)
{
	hi_copy_guard(self->copy, self->keep ? hi_memory_keeper_fd(self->keep->keeper)
					     : hi_tracer_fd(self->tracer));
	return hi_copy_run(self->copy, err);
}

static enum hi_status fork_stopped(struct snapshot *self, struct hi_error *err)
{
	struct hi_error why;
	enum hi_status status;

	hi_copy_set_time(self->copy);
	status = hi_tracer_fork(self->tracer, &self->child, &why);
	if (status != HI_UNSUPPORTED) {
		self->lost = status != HI_OK;
		self->is_fork_late = status == HI_TIMEOUT;
		if (self->lost && err)
			*err = why;
		return status;
	}
	copy_instead(self, &why);
	/* If memory runs out the kernel may kill the target. */
	if (self->options.trigger && !fits_free_memory(self))
		return hi_fail(err, HI_NO_MEMORY, 0,
			       "process %d cannot be forked (%.120s), and there is not "
			       "the free memory to copy it: use gcore and --core",
			       (int)self->target->pid, self->not_forked);
	self->again = !self->options.trigger &&
		      !(copies_in(self, hi_stop_budget_ns(&self->options) / 4) &&
			fits_free_memory(self));
	return self->again ? HI_OK : copy_stopped(self, err);
}

/*
 * A thread that was left asleep woke up. The snapshot is taken anew, and that thread is
 * stopped as all others are. A trigger may not come again, so that is an error then.
 */
static enum hi_status check_torn(struct snapshot *self, struct hi_error *err)
{
	if (!hi_tracer_is_torn(self->tracer))
		return HI_OK;
	if (self->options.trigger)
		return hi_fail(err, HI_TIMEOUT, 0,
			       "process %d: a thread that slept woke up while the memory "
			       "was copied",
			       (int)self->target->pid);
	self->again = true;
	return HI_OK;
}

/* As soon as it may be traced again: some threads may stay traced until the tracer ends,
 * which it does now unless there is a child. */
static void watch_again(const struct snapshot *self)
{
	struct pollfd end = {.fd = hi_tracer_fd(self->tracer), .events = POLLIN};

	if (self->at_exit || !self->options.exit_watch || self->options.exit_watch->keep)
		return;
	if (self->options.snapshot != HI_REQUEST_FORK)
		(void)poll(&end, 1, TRACER_END_MS);
	hi_exit_watch_resume(self->options.exit_watch);
}

/* The target is stopped only inside this function. */
static enum hi_status stop_and_take(struct snapshot *self, struct hi_error *err)
{
	enum hi_status status = HI_OK, resumed;
	uint64_t resumed_ns, began_ns = hi_clock_ns();
	struct hi_error second;

	if (self->keep) {
		status = copy_stopped(self, err);
		hi_exit_keep_free_memory(self->keep);
		return status;
	}
	if (!self->at_exit && !hi_exit_watch_pause(self->options.exit_watch)) {
		self->again = true;
		return HI_OK;
	}
	if (!self->at_exit)
		status = hi_tracer_stop(self->tracer, &self->stop, err);
	if (status != HI_OK) {
		/* A tracer that was killed has not disarmed it: the next hit would signal
		 * without effect. */
		if (self->options.trigger)
			self->options.trigger->ops->disarm(self->options.trigger);
		self->pause_ns = hi_clock_ns() - began_ns; /* at most */
		return status;
	}
	status = self->options.snapshot == HI_REQUEST_FORK ? fork_stopped(self, err)
							   : copy_stopped(self, err);
	if (self->lost) {
		self->pause_ns = hi_clock_ns() - self->stop.stopped_ns; /* at most */
		return status;
	}
	resumed = hi_tracer_resume(self->tracer, &resumed_ns, &second);
	/* The reason why the stop ended early explains a failed copy better. */
	if (resumed != HI_OK) {
		if (err)
			*err = second;
		self->pause_ns = hi_clock_ns() - self->stop.stopped_ns; /* at most */
		return resumed;
	}
	self->pause_ns = resumed_ns - self->stop.stopped_ns;
	watch_again(self);
	return status == HI_OK ? check_torn(self, err) : status;
}

/* ---- when it runs again ---- */

/*
 * The watchdog ends a pause that is too long, but may be late itself, and a short budget
 * may be over between two of its instructions. So the clock is checked, too.
 */
static enum hi_status check_pause(struct snapshot *self, struct hi_error *err)
{
	uint64_t budget_ns = hi_stop_budget_ns(&self->options);
	char pause[24], budget[24];

	if (self->pause_ns <= budget_ns)
		return HI_OK;
	self->is_fork_late = self->options.snapshot == HI_REQUEST_FORK;
	return hi_fail(err, HI_TIMEOUT, 0,
		       "process %d was paused for %s; the pause budget is %s. The "
		       "process runs on, unharmed",
		       (int)self->target->pid, hi_text_duration(pause, self->pause_ns),
		       hi_text_duration(budget, budget_ns));
}

static enum hi_status keep_threads(struct snapshot *self, struct hi_error *err)
{
	size_t n = self->stop.n_threads;

	self->threads = hi_realloc_array(NULL, n, sizeof(*self->threads));
	if (!self->threads)
		return hi_fail_memory(err, "threads");
	memcpy(self->threads, self->stop.threads, n * sizeof(*self->threads));
	return HI_OK;
}

static void end_child(void *tracer)
{
	hi_tracer_destroy(tracer); /* ends the child first */
}

/* The tracer lives as long as the child, so the image owns both. */
static enum hi_status read_forked_child(struct snapshot *self, struct hi_error *err)
{
	struct hi_copy_child child = {self->child.pid, end_child, self->tracer,
				      hi_tracer_socket(self->tracer)};
	enum hi_status status = hi_copy_run_child(self->copy, &child, err);

	if (status == HI_OK)
		self->tracer = NULL;
	return status;
}

static enum hi_status finish_snapshot(struct snapshot *self, struct hi_image **ret,
				      struct hi_error *err)
{
	struct hi_image_stats *stats;
	struct hi_image *image;
	enum hi_status status = keep_threads(self, err);

	if (status == HI_OK && self->options.snapshot == HI_REQUEST_FORK)
		status = read_forked_child(self, err);
	if (status == HI_OK)
		status = hi_copy_finish(hi_take(self->copy), self->threads,
					self->stop.n_threads, &image, err);
	if (status != HI_OK)
		return status;
	stats = &image->stats;
	stats->pause_ns = self->pause_ns > self->first_pause_ns ? self->pause_ns
								: self->first_pause_ns;
	stats->at_exit = self->at_exit;
	stats->outlived = self->keep != NULL;
	stats->threads_in_allocator = self->stop.threads_in_allocator;
	stats->avoid_rounds = self->stop.avoid_rounds;
	stats->trigger = self->stop.trigger;
	memcpy(stats->not_forked, self->not_forked, sizeof(stats->not_forked));
	*ret = image;
	return HI_OK;
}

/* Was the stop over the budget by what delayed it, and not by the target's size? A trigger
 * may not come again, nor does the end of a process. */
static bool may_stop_again(const struct snapshot *self)
{
	return !self->is_second && !self->options.trigger && !self->at_exit &&
	       (self->is_fork_late || self->options.snapshot == HI_REQUEST_COPY) &&
	       self->copy && may_copy(self);
}

static void copy_in_second_stop(struct snapshot *self)
{
	if (self->is_fork_late) {
		snprintf(self->not_forked, sizeof(self->not_forked),
			 "it did not fork within the pause budget");
		if (self->options.fork_rest)
			*self->options.fork_rest = LATE_FORK_REST;
	}
	self->options.snapshot = HI_REQUEST_COPY;
	hi_exit_watch_resume(self->options.exit_watch);
	self->is_second = self->again = true;
}

static enum hi_status try_once(struct snapshot *self, struct hi_image **ret,
			       struct hi_error *err)
{
	enum hi_status status = prepare_snapshot(self, err);

	if (status == HI_OK)
		status = stop_and_take(self, err);
	if (status == HI_OK)
		status = check_pause(self, err);
	if (status == HI_TIMEOUT && may_stop_again(self)) {
		copy_in_second_stop(self);
		return HI_OK;
	}
	return status == HI_OK && !self->again ? finish_snapshot(self, ret, err) : status;
}

enum hi_status hi_stop_and_copy(struct hi_target *target,
				const struct hi_stop_options *options,
				struct hi_image **ret, struct hi_error *err)
{
	struct snapshot self = {.target = target, .options = *options}, second;
	enum hi_status status = try_once(&self, ret, err);

	for (int i = 0; i < MAX_TAKES && status == HI_OK && self.again; i++) {
		second = (struct snapshot){.target = target,
					   .options = self.options,
					   .is_second = self.is_second};
		memcpy(second.not_forked, self.not_forked, sizeof(second.not_forked));
		second.first_pause_ns = self.pause_ns > self.first_pause_ns
						? self.pause_ns
						: self.first_pause_ns;
		if (i + 2 >= MAX_TAKES)
			second.options.sleepers = NULL; /* all are stopped */
		destroy_snapshot(&self);
		self = second;
		status = try_once(&self, ret, err);
	}
	if (status == HI_OK && self.again)
		status = hi_fail(err, HI_TIMEOUT, 0,
				 "process %d: no consistent snapshot in %d stops; the "
				 "process runs on, unharmed",
				 (int)target->pid, MAX_TAKES + 1);
	destroy_snapshot(&self);
	if (!self.at_exit)
		hi_exit_watch_resume(options->exit_watch);
	return status;
}
