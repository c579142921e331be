/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/exit_watch.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/exit_keep.h"
#include "base/cleanup.h"
#include "base/clock.h"

#define SEIZE_LIMIT_NS (5 * HI_NS_PER_S)
#define SEIZE_PAUSE_NS 100000u
#define START_LIMIT_NS (20 * HI_NS_PER_S)

/* ---- a trigger that the tracer itself hits: wait.c sees the end ---- */

static size_t list_no_fds(struct hi_trigger *trigger, int *fds, size_t max)
{
	(void)trigger;
	(void)fds;
	(void)max;
	return 0;
}

static void arm_nothing(struct hi_trigger *trigger)
{
	(void)trigger;
}

static bool has_no_hit(struct hi_trigger *trigger, struct hi_trigger_hit *ret)
{
	(void)trigger;
	(void)ret;
	return false;
}

static const struct hi_trigger_ops exit_ops = {.fds = list_no_fds,
					       .arm = arm_nothing,
					       .disarm = arm_nothing,
					       .was_hit = has_no_hit};
static struct hi_trigger exit_trigger = {
	.ops = &exit_ops, .poll_fd = -1, .near_only = true};

/* ---- what the tracers share ---- */

/* False: there is no memory for it. */
static bool make_shared_page(struct hi_exit_watch *watch)
{
	void *page;

	if (watch->page)
		return true;
	page = mmap(NULL, sizeof(*watch->page), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	watch->page = page == MAP_FAILED ? NULL : page;
	return watch->page;
}

uint64_t hi_exit_watch_exec_ns(const struct hi_exit_watch *watch)
{
	uint64_t ns = watch && watch->page
			      ? __atomic_load_n(&watch->page->exec_ns, __ATOMIC_ACQUIRE)
			      : 0;

	if (ns || !watch || !watch->keep)
		return ns;
	return watch->keep->log->ops->exec_ns(watch->keep->log);
}

/* ---- the start ---- */

enum hi_status hi_exit_watch_hold_start(struct hi_exit_watch *watch, struct hi_error *err)
{
	if (!make_shared_page(watch))
		return hi_fail_memory(err, "start of a program");
	watch->page->start = HI_START_WANTED;
	return HI_OK;
}

static uint32_t start_state(const struct hi_exit_watch *watch)
{
	return watch->page ? __atomic_load_n(&watch->page->start, __ATOMIC_ACQUIRE)
			   : HI_START_NONE;
}

bool hi_exit_watch_await_start(struct hi_exit_watch *watch)
{
	uint64_t until_ns = hi_clock_ns() + START_LIMIT_NS;

	while (start_state(watch) == HI_START_WANTED && hi_clock_ns() < until_ns &&
	       hi_exit_watch_look(watch) == HI_EXIT_WATCHED)
		hi_clock_pause_ns(SEIZE_PAUSE_NS);
	return start_state(watch) == HI_START_STANDS;
}

void hi_exit_watch_let_start(struct hi_exit_watch *watch)
{
	if (watch->ask || start_state(watch) == HI_START_NONE)
		return;
	__atomic_store_n(&watch->page->exec_ns, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&watch->page->start, HI_START_GOES, __ATOMIC_RELEASE);
}

/* ---- the watch ---- */

enum hi_status hi_exit_watch_prepare(struct hi_exit_watch *watch,
				     const struct hi_target *target, struct hi_error *err)
{
	struct hi_stop_options options = {.snapshot = HI_REQUEST_COPY,
					  .trigger = &exit_trigger,
					  .exit_hold_ns = HI_EXIT_HOLD_NS};

	if (!watch || watch->next || watch->keep)
		return HI_OK;
	if (make_shared_page(watch)) {
		options.exec_ns = &watch->page->exec_ns;
		options.start = &watch->page->start;
	}
	return hi_tracer_start(target, &options, &watch->next, err);
}

void hi_exit_watch_resume(struct hi_exit_watch *watch)
{
	struct hi_tracer *before;
	struct hi_error ignored;

	if (!watch || !watch->next)
		return;
	before = watch->tracer;
	hi_tracer_let_go(before);
	watch->tracer = hi_take(watch->next);
	watch->state = HI_EXIT_UNWATCHED;
	if (hi_tracer_begin_stop(watch->tracer, &ignored) == HI_OK)
		watch->state = HI_EXIT_WATCHED;
	hi_tracer_destroy(before);
}

bool hi_exit_watch_pause(struct hi_exit_watch *watch)
{
	if (!watch)
		return true;
	if (hi_exit_watch_look(watch) == HI_EXIT_STANDS)
		return false;
	if (watch->keep)
		return true;
	hi_tracer_let_go(watch->tracer);
	watch->state = HI_EXIT_UNWATCHED;
	return true;
}

void hi_exit_watch_end(struct hi_exit_watch *watch)
{
	if (watch->ask)
		return;
	if (watch->view_fd > 0)
		close(watch->view_fd);
	watch->view_fd = 0;
	hi_tracer_destroy(hi_take(watch->tracer));
	hi_tracer_destroy(hi_take(watch->next));
	hi_exit_keep_end(hi_take(watch->keep));
	if (watch->page)
		munmap(hi_take(watch->page), sizeof(*watch->page));
	watch->state = HI_EXIT_UNWATCHED;
}

static enum hi_status await_seizure(struct hi_exit_watch *watch, struct hi_error *err)
{
	uint64_t until_ns = hi_clock_ns() + SEIZE_LIMIT_NS;
	struct pollfd answer = {.fd = hi_exit_watch_fd(watch), .events = POLLIN};

	while (!hi_tracer_is_waiting(watch->tracer)) {
		if (poll(&answer, 1, 0) > 0) {
			enum hi_status status =
				hi_tracer_end_stop(watch->tracer, &watch->stop, err);

			hi_exit_watch_end(watch);
			return status == HI_OK ? hi_fail(err, HI_GONE, 0,
							 "the process has exited")
					       : status;
		}
		if (hi_clock_ns() > until_ns) {
			hi_exit_watch_end(watch);
			return hi_fail(err, HI_TIMEOUT, 0,
				       "the tracer process did not start in time");
		}
		hi_clock_pause_ns(SEIZE_PAUSE_NS);
	}
	return HI_OK;
}

enum hi_status hi_exit_watch_begin(struct hi_exit_watch *watch,
				   const struct hi_target *target, struct hi_error *err)
{
	enum hi_status status = hi_exit_watch_prepare(watch, target, err);

	if (status != HI_OK)
		return status;
	hi_exit_watch_resume(watch);
	if (watch->state == HI_EXIT_WATCHED)
		return await_seizure(watch, err);
	return hi_fail(err, HI_OS, 0, "the tracer process has ended");
}

static enum hi_exit_state look_at_view(const struct hi_exit_watch *watch)
{
	eventfd_t changes;

	(void)!eventfd_read(watch->view_fd, &changes);
	return watch->ask(watch->ask_arg);
}

static enum hi_exit_state look_at_tracer(struct hi_exit_watch *watch)
{
	struct pollfd answer = {.fd = hi_exit_watch_fd(watch), .events = POLLIN};

	if (watch->state != HI_EXIT_WATCHED || poll(&answer, 1, 0) <= 0)
		return watch->state;
	watch->state =
		hi_tracer_end_stop(watch->tracer, &watch->stop, &watch->why) == HI_OK
			? HI_EXIT_STANDS
			: HI_EXIT_UNWATCHED;
	return watch->state;
}

/* Its end is watched all the time: the tracer of before lets it go when that has begun.
 */
enum hi_status hi_exit_watch_begin_untraced(struct hi_exit_watch *watch, pid_t pid,
					    const struct hi_stop_options *options,
					    struct hi_exit_log *log, struct hi_error *err)
{
	enum hi_status status = hi_exit_keep_begin(pid, options, log, &watch->keep, err);

	if (status != HI_OK)
		return status;
	/* It ended meanwhile, and is stopped there. */
	if (look_at_tracer(watch) == HI_EXIT_STANDS) {
		hi_exit_keep_end(hi_take(watch->keep));
		return HI_OK;
	}
	hi_tracer_destroy(hi_take(watch->tracer));
	hi_tracer_destroy(hi_take(watch->next));
	watch->state = HI_EXIT_WATCHED;
	return HI_OK;
}

struct hi_target *hi_exit_watch_take_target(struct hi_exit_watch *watch)
{
	if (!watch || !watch->keep || hi_exit_watch_look(watch) != HI_EXIT_STANDS)
		return NULL;
	return hi_take(watch->keep->target);
}

void hi_exit_watch_give_up(struct hi_exit_watch *watch)
{
	hi_exit_keep_free_memory(watch->keep);
	hi_copy_destroy(hi_take(watch->keep->copy));
	watch->state = HI_EXIT_UNWATCHED;
}

int hi_exit_watch_fd(const struct hi_exit_watch *watch)
{
	if (watch->ask)
		return watch->view_fd;
	if (watch->keep && watch->state == HI_EXIT_WATCHED && watch->keep->target)
		return watch->keep->target->pidfd;
	return watch->state == HI_EXIT_WATCHED ? hi_tracer_socket(watch->tracer) : -1;
}

enum hi_exit_state hi_exit_watch_look(struct hi_exit_watch *watch)
{
	bool is_lost = false;

	if (watch->ask)
		return look_at_view(watch);
	if (!watch->keep)
		return look_at_tracer(watch);
	if (watch->state == HI_EXIT_WATCHED && hi_exit_keep_look(watch->keep, &is_lost))
		watch->state = HI_EXIT_STANDS;
	if (is_lost)
		watch->state = HI_EXIT_UNWATCHED;
	return watch->state;
}

bool hi_exit_watch_is_standing(struct hi_exit_watch *watch)
{
	return watch && hi_exit_watch_look(watch) == HI_EXIT_STANDS;
}

/* ---- of another process ---- */

enum hi_status hi_exit_watch_share(struct hi_exit_watch *watch, struct hi_error *err)
{
	if (!watch)
		return HI_OK;
	if (!make_shared_page(watch))
		return hi_fail_memory(err, "watch of an exit");
	watch->view_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (watch->view_fd < 0)
		return hi_fail_errno(err, "eventfd");
	return HI_OK;
}

void hi_exit_watch_view(struct hi_exit_watch *watch, enum hi_exit_state (*ask)(void *arg),
			void *arg)
{
	if (!watch)
		return;
	watch->ask = ask;
	watch->ask_arg = arg;
	watch->tracer = watch->next = NULL;
	watch->keep = NULL;
}

void hi_exit_watch_publish(struct hi_exit_watch *watch)
{
	enum hi_exit_state before;

	if (!watch || watch->view_fd <= 0)
		return;
	before = watch->state;
	if (hi_exit_watch_look(watch) != before)
		(void)!eventfd_write(watch->view_fd, 1);
}
