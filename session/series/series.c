/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/series/series.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/exit_watch.h"
#include "attach/restarted_sleeps.h"
#include "attach/thread_stat.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "session/census_cache.h"
#include "session/live/freeze.h"
#include "session/mark_socket.h"
#include "session/process_limits.h"
#include "session/series/pace.h"

enum {
	GROWTH_POLL_MS = 20, /* how often memory is looked at */
	FIRST_POLL_MS = 10,  /* how often a program that has only begun is */
	MAX_FAILURES = 3,    /* censuses in a row that failed */
	MAX_WARNINGS = 8,
	IDLE_SHARE = 100,
	TICK_MS = 100,
	EXIT_LIMIT_MS = 10000, /* of a process that is exiting */
};

struct hi_series {
	const struct hi_series_request *request;
	const struct hi_options *options; /* the request's */
	const struct hi_series_sink *sinks;
	size_t n_sinks;
	struct hi_run run; /* of each census: without words of its own */
	struct sleepers {
		struct hi_stop_observer observer; /* first */
		struct hi_sleepers *list;	  /* threads that a census left asleep */
	} sleepers;
	struct hi_series_header header;
	char *exe;
	struct hi_census_cache census_cache;
	struct hi_marks marks;
	int pidfd;
	int status_fd;		   /* of /proc, for --every SIZE; -1: none */
	struct hi_timestamp first; /* the axes begin at the first sample */
	uint64_t last_at_ns;	   /* on the axis */
	uint64_t cpu_ns, wall_ns;
	uint64_t began_ns; /* the schedule, CLOCK_MONOTONIC */
	uint64_t due;	   /* number of the next census in it, from 0 */
	uint64_t lowest;   /* anonymous memory since the last census */
	uint64_t samples;  /* written */
	unsigned failures; /* in a row */
	uint64_t took_ns;  /* the last census, without waiting for a safepoint */
	bool said_stretched, said_not_forked, partial;
	uint64_t last_try_ns; /* when a census was begun */
	struct hi_pace pace;
	uint64_t rests_until_ns; /* no census by time before that */
	bool said_pace;
	bool exited;	   /* the last sample is from the exit of the target */
	bool quit, pauses; /* by a key */
	bool has_ended;	   /* the program, though not the process */
	bool took_last;	   /* the census of the end */
	bool is_quiet;
	bool interrupted; /* the last wait for a safepoint: it goes on */
};

/* ---- threads that slept when they were stopped ---- */

static void give_sleepers(struct hi_stop_observer *observer, struct hi_inspection *in,
			  struct hi_stop_options *stop)
{
	(void)in;
	if (stop)
		stop->sleepers = ((struct sleepers *)observer)->list;
}

static void close_sleepers(struct hi_stop_observer *observer)
{
	hi_sleepers_destroy(hi_take(((struct sleepers *)observer)->list));
}

static const struct hi_stop_observer_ops sleepers_observer_ops = {
	.name = "sleepers",
	.before_stop = give_sleepers,
	.close = close_sleepers,
};

/* ---- the target ---- */

static bool is_readable(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

	return poll(&poll_fd, 1, 0) > 0;
}

/* The target stands at its exit, or is gone and its memory is kept: a census now is the
 * last one. */
static bool is_exiting(const struct hi_series *s)
{
	return hi_exit_watch_is_standing(s->run.exit_watch);
}

static bool has_exited(const struct hi_series *s)
{
	return is_readable(s->pidfd) && !is_exiting(s);
}

/* Did the census fail because the target ends? Its memory goes first, which takes its
 * time. */
static bool ends_meanwhile(const struct hi_series *s, enum hi_status status)
{
	struct pollfd end = {.fd = s->pidfd, .events = POLLIN};
	pid_t pid = s->options->target.pid;

	if (status == HI_GONE && hi_thread_is_exiting(pid, pid))
		(void)poll(&end, 1, EXIT_LIMIT_MS);
	return has_exited(s);
}

/* A program that was started here has no heap at first: that is no failure. */
static bool has_only_begun(const struct hi_series *s)
{
	return s->options->target.program && s->samples == 0 && !has_exited(s);
}

static bool is_stopped(const struct hi_series *s)
{
	return is_readable(s->request->stop_fd);
}

static uint64_t series_now_ns(const struct hi_series *s)
{
	return hi_timestamp_now(s->options->target.pid).wall_ns;
}

static void report_series_line(struct hi_series *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void report_series_line(struct hi_series *s, const char *fmt, ...)
{
	char text[HI_MARK_MAX + 512];
	va_list ap;

	if (s->options->output.quiet || s->is_quiet)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	s->request->note(s->request->note_arg, text);
}

/* ---- events ---- */

static void report_news(struct hi_series *s, const struct hi_series_sink *sink)
{
	const char *news = sink->ops->news ? sink->ops->news(sink->state) : "";

	if (news[0])
		report_series_line(s, "%s", news);
}

static enum hi_status emit_census_to(struct hi_series *s,
				     const struct hi_series_sink *sink,
				     const struct hi_series_census_event *event,
				     struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (s->samples == 0 && sink->ops->begin)
		status = sink->ops->begin(sink->state, &s->header, event->sample, err);
	if (status == HI_OK && sink->ops->census)
		status = sink->ops->census(sink->state, &s->header, event, err);
	if (status == HI_OK)
		report_news(s, sink);
	return status;
}

static enum hi_status emit_census(struct hi_series *s,
				  const struct hi_series_census_event *event,
				  struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; status == HI_OK && i < s->n_sinks; i++)
		status = emit_census_to(s, &s->sinks[i], event, err);
	return status;
}

static enum hi_status emit_mark(struct hi_series *s,
				const struct hi_series_mark_event *event,
				struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; status == HI_OK && i < s->n_sinks; i++) {
		const struct hi_series_sink *sink = &s->sinks[i];

		if (!sink->ops->mark)
			continue;
		status = sink->ops->mark(sink->state, &s->header, event, err);
		if (status == HI_OK)
			report_news(s, sink);
	}
	return status;
}

/* To all, even if some cannot write it. Returns the first error. */
static enum hi_status emit_end(struct hi_series *s,
			       const struct hi_series_end_event *event,
			       struct hi_error *err)
{
	enum hi_status ret = HI_OK;

	for (size_t i = 0; i < s->n_sinks; i++) {
		const struct hi_series_sink *sink = &s->sinks[i];
		struct hi_error unused;
		enum hi_status status =
			sink->ops->end ? sink->ops->end(sink->state, &s->header, event,
							ret == HI_OK ? err : &unused)
				       : HI_OK;

		if (ret == HI_OK)
			ret = status;
	}
	return ret;
}

/* One of so many censuses that are due is made. */
static uint64_t find_stride(const struct hi_series *s)
{
	uint64_t ret = 1;

	for (size_t i = 0; i < s->n_sinks; i++) {
		const struct hi_series_sink *sink = &s->sinks[i];
		uint64_t stride = sink->ops->stride ? sink->ops->stride(sink->state) : 1;

		if (stride > ret)
			ret = stride;
	}
	return ret;
}

static bool shows_axis(const struct hi_series *s)
{
	for (size_t i = 0; i < s->n_sinks; i++)
		if (s->sinks[i].ops->has_axis)
			return true;
	return false;
}

/* ---- one sample ---- */

/* A moment on the axis, which begins with the first sample; never before the last one.
 * number: the sample that it belongs to, from 1. */
static uint64_t place_on_axis(struct hi_series *s, struct hi_timestamp when,
			      uint64_t number)
{
	uint64_t at;

	if (s->samples == 0)
		return 0; /* a mark while the first census waits for its safepoint */
	if (when.cpu_ns != UINT64_MAX && when.cpu_ns > s->first.cpu_ns + s->cpu_ns)
		s->cpu_ns = when.cpu_ns - s->first.cpu_ns;
	if (when.wall_ns > s->first.wall_ns + s->wall_ns)
		s->wall_ns = when.wall_ns - s->first.wall_ns;
	at = s->header.axis == HI_SERIES_CPU	? s->cpu_ns
	     : s->header.axis == HI_SERIES_WALL ? s->wall_ns
						: (number - 1) * 1000000000;
	if (at > s->last_at_ns)
		s->last_at_ns = at;
	return s->last_at_ns;
}

/* Once: later samples may have the same reason. */
static void report_not_forked(struct hi_series *s, const struct hi_inspection *in)
{
	if (s->said_not_forked || !in->image->stats.not_forked[0])
		return;
	s->said_not_forked = true;
	report_series_line(s, "not forked: %s", in->image->stats.not_forked);
}

/* Later samples have the same warnings: they are reported once. */
static void report_series_warnings(struct hi_series *s, const struct hi_inspection *in)
{
	for (size_t i = 0; i < in->diagnostics.warnings.count && i < MAX_WARNINGS; i++)
		report_series_line(s, "%s", in->diagnostics.warnings.items[i]);
	if (in->diagnostics.warnings.count > MAX_WARNINGS)
		report_series_line(s, "%zu more warnings",
				   in->diagnostics.warnings.count - MAX_WARNINGS);
}

static enum hi_status begin_axes(struct hi_series *s, const struct hi_inspection *in,
				 struct hi_error *err)
{
	s->first = in->stop.resumed;
	if (s->first.cpu_ns == UINT64_MAX)
		s->first.cpu_ns = 0;
	free(s->exe);
	s->exe = hi_strdup(hi_inspection_program(in));
	if (!s->exe)
		return hi_fail_memory(err, "series");
	s->header.exe = s->exe;
	report_series_warnings(s, in);
	return HI_OK;
}

/* Whether a census that failed ends the series; HI_OK: it goes on without it. */
static enum hi_status tolerate_failed_census(struct hi_series *s, enum hi_status status,
					     struct hi_error *err)
{
	/* The next one is that of its exit. */
	if (has_only_begun(s) || (status == HI_GONE && is_exiting(s)))
		return HI_OK;
	if (s->samples == 0 || ++s->failures >= MAX_FAILURES)
		return status;
	report_series_line(s, "no sample: %s", err->text);
	return HI_OK;
}

static enum hi_status emit_sample(struct hi_series *s, struct hi_inspection *in,
				  uint64_t began_ns, struct hi_error *err)
{
	const struct hi_options *o = s->options;
	struct hi_series_sample sample = {
		.number = s->samples + 1,
		.time_ns = in->image->stats.time_ns,
		.pause_ns = in->image->stats.pause_ns,
		.mode = in->image->mode == HI_SNAPSHOT_FORK ? "fork" : "copy",
		.stopped = in->stop.hit,
		.complete = in->image->complete && !in->image->stats.threads_in_allocator,
		.leaks = hi_leak_totals_unknown(),
		.lower_bound = !hi_inspect_heap_is_known(in),
		.only = in->shown.reach == in->results.reach ? NULL
							     : &in->shown.restriction,
	};
	enum hi_status status;

	s->exited = in->image->stats.at_exit;
	if (!s->exited && has_only_begun(s) && !hi_inspect_heap_is_known(in))
		return HI_OK;
	status = s->request->find_rows(in, &sample, err);
	if (hi_inspect_heap_is_known(in))
		hi_leak_totals_count(in->graph, in->results.reach, in->results.reach,
				     &sample.leaks);
	report_not_forked(s, in);
	if (status == HI_OK && s->samples == 0)
		status = begin_axes(s, in, err);
	if (status != HI_OK)
		return tolerate_failed_census(s, status, err);
	sample.at_ns = place_on_axis(s, in->stop.resumed, sample.number);
	sample.cpu_ns = s->cpu_ns;
	sample.wall_ns = s->wall_ns;
	s->took_ns = series_now_ns(s) - began_ns - in->image->stats.trigger.waited_ns;
	sample.took_ns = s->took_ns;
	sample.copied_on_write = hi_image_copied_on_write(in->image);
	sample.warnings = in->diagnostics.warnings.items;
	sample.n_warnings = in->diagnostics.warnings.count;
	sample.limit = hi_process_limit("", o->target.pid);
	hi_series_sort_rows(&sample, o->selection.min_size,
			    o->selection.top ? o->selection.top : SIZE_MAX);
	s->partial |= !sample.complete || in->diagnostics.short_of_memory;
	status = emit_census(s, &(struct hi_series_census_event){&sample, in}, err);
	if (status != HI_OK)
		return status;
	s->census_cache.samples = ++s->samples;
	s->failures = 0;
	return HI_OK;
}

static bool is_over(const struct hi_series *s)
{
	uint64_t for_ns = s->options->series.for_ns;

	return for_ns && series_now_ns(s) - s->began_ns >= for_ns;
}

/* Waiting for a safepoint ends with the series. */
static void limit_waiting(struct hi_series *s)
{
	const struct hi_options *o = s->options;
	uint64_t left, asked = o->safepoint.timeout_ns;

	if (!o->series.for_ns)
		return;
	left = is_over(s) ? 1 : s->began_ns + o->series.for_ns - series_now_ns(s);
	s->run.site_timeout_ns = asked && asked < left ? asked : left;
}

/* Is there a signal or a mark? */
static bool is_called(const struct hi_series *s)
{
	int fd = s->census_cache.interrupt_fd;

	return fd > 0 && is_readable(fd);
}

/* The site was not reached until the end: that is no error. */
static bool ran_out(struct hi_series *s, enum hi_status status)
{
	return status == HI_MISSED && s->options->series.at_place && is_over(s) &&
	       s->samples;
}

/* The timeout was the rest of the series, not --timeout: report --for instead. */
static enum hi_status ended_empty(struct hi_series *s, struct hi_error *err)
{
	uint64_t hits = s->census_cache.site ? hi_stop_site_hits(s->census_cache.site)
					     : UINT64_MAX;
	char time[24], count[32], often[80] = "";

	if (hits == 0)
		snprintf(often, sizeof(often), ": the place was not reached");
	else if (hits != UINT64_MAX)
		snprintf(often, sizeof(often), ": %s hit%s, none of them wanted",
			 hi_text_count(count, hits), hits == 1 ? "" : "s");
	return hi_fail(err, HI_TIMEOUT, 0,
		       "--at %.40s: the series is over (--for %s) without a sample%s; "
		       "nothing was stopped",
		       s->options->safepoint.at.text,
		       hi_text_duration(time, s->options->series.for_ns), often);
}

static enum hi_status take_sample(struct hi_series *s, struct hi_error *err)
{
	HI_GUARD(hi_inspect_close) struct hi_inspection *in = NULL;
	uint64_t began_ns = series_now_ns(s);
	enum hi_status status;

	/* What grows while this census is made is for the next one. */
	s->lowest = hi_process_anonymous_bytes(s->status_fd);
	limit_waiting(s);
	status = hi_inspect_open(s->options, &s->run, s->request->wanted, &in, err);

	s->interrupted = (status == HI_TIMEOUT || status == HI_MISSED) && is_called(s);
	if (status == HI_MISSED && !s->interrupted && !s->samples && is_over(s))
		status = ended_empty(s, err);
	if (status != HI_OK)
		return s->interrupted || is_stopped(s) || ends_meanwhile(s, status) ||
				       ran_out(s, status)
			       ? HI_OK
			       : tolerate_failed_census(s, status, err);
	return emit_sample(s, in, began_ns, err);
}

/* ---- when ---- */

/* As it was asked for, times what the file's size has made of it. */
static uint64_t every_ns(const struct hi_series *s)
{
	return s->options->series.every_ns * find_stride(s);
}

static uint64_t every_bytes(const struct hi_series *s)
{
	return s->options->series.every_bytes * find_stride(s);
}

/* The next moment of the schedule that is still to come; those that passed while
 * a census ran are left out. */
static void schedule_next_census(struct hi_series *s)
{
	uint64_t every = every_ns(s), now = series_now_ns(s), next;
	char took[24], want[24];

	if (!every || has_only_begun(s))
		return;
	next = (now - s->began_ns) / every + 1;
	if (next > s->due + 1 && !s->said_stretched && s->took_ns > every) {
		report_series_line(s,
				   "a census takes %s, longer than --every %s: there are "
				   "fewer censuses",
				   hi_text_duration(took, s->took_ns),
				   hi_text_duration(want, every));
		s->said_stretched = true;
	}
	s->due = next;
}

/* ---- how much of the machine ---- */

static void begin_pace(struct hi_series *s)
{
	hi_pace_begin_census(&s->pace);
	s->run.threads = hi_pace_threads(&s->pace, s->options->decoding.threads);
}

/* Once. */
static void report_pace(struct hi_series *s)
{
	uint64_t rest_ns = s->rests_until_ns - s->last_try_ns;
	char took[24], rest[24];

	if (s->said_pace || rest_ns <= every_ns(s) || !hi_pace_is_machine_busy(&s->pace))
		return;
	s->said_pace = true;
	report_series_line(
		s,
		"no processor is idle: a census took %s of processor time, "
		"and the next one is %s later, so that %s",
		hi_text_duration(took, s->pace.spent_ns), hi_text_duration(rest, rest_ns),
		s->request->spares_target ? "the target does not lose more than 3 %"
					  : "censuses take at most half of one");
}

/* Not if each hit is asked for, as there is a census at each; one by size comes when
 * the memory has grown. */
static void end_pace(struct hi_series *s)
{
	if (hi_series_at_each_hit(&s->options->series) || has_only_begun(s))
		return;
	s->rests_until_ns = hi_pace_end_census(&s->pace, s->last_try_ns);
	report_pace(s);
}

static bool has_grown(struct hi_series *s)
{
	uint64_t now = hi_process_anonymous_bytes(s->status_fd);

	if (now == UINT64_MAX)
		return false;
	if (now < s->lowest)
		s->lowest = now;
	return now - s->lowest >= every_bytes(s);
}

/* When to look again; UINT64_MAX: never by itself. */
static uint64_t until_ns(const struct hi_series *s)
{
	const struct hi_series_options *o = &s->options->series;
	uint64_t end = o->for_ns ? s->began_ns + o->for_ns : UINT64_MAX, next;

	if (s->pauses)
		return end;
	if (has_only_begun(s))
		next = s->last_try_ns + FIRST_POLL_MS * 1000000ull;
	else if (o->every_ns)
		next = s->began_ns + s->due * every_ns(s);
	else
		next = series_now_ns(s) + GROWTH_POLL_MS * 1000000ull;
	if (next < s->rests_until_ns)
		next = s->rests_until_ns;
	return next < end ? next : end;
}

/* The sink that has keys, if there is one now. */
static const struct hi_series_sink *find_keys(const struct hi_series *s, int *fd_ret)
{
	*fd_ret = -1;
	for (size_t i = 0; i < s->n_sinks; i++) {
		const struct hi_series_sink *sink = &s->sinks[i];

		if (sink->ops->keys_fd)
			*fd_ret = sink->ops->keys_fd(sink->state);
		if (*fd_ret >= 0)
			return sink;
	}
	return NULL;
}

static void take_wish(struct hi_series *s, const struct hi_series_sink *sink)
{
	enum hi_series_wish wish = sink->ops->take_keys(sink->state, &s->header);

	s->quit |= wish == HI_SERIES_WISH_END;
	s->pauses ^= wish == HI_SERIES_WISH_PAUSE;
}

/* Until `until`, or something happens. */
static void sleep_until(struct hi_series *s, uint64_t until)
{
	struct pollfd fds[] = {
		{.fd = s->request->stop_fd, .events = POLLIN},
		{.fd = s->pidfd, .events = POLLIN},
		{.fd = s->marks.fd, .events = POLLIN},
		{.fd = s->run.exit_watch ? hi_exit_watch_fd(s->run.exit_watch) : -1,
		 .events = POLLIN},
		{.events = POLLIN}};
	const struct hi_series_sink *keys = find_keys(s, &fds[4].fd);
	uint64_t now = series_now_ns(s), left = until > now ? until - now : 0;
	struct timespec time = {.tv_sec = (time_t)(left / 1000000000),
				.tv_nsec = (long)(left % 1000000000)};

	if (ppoll(fds, 5, &time, NULL) > 0 && keys && fds[4].revents)
		take_wish(s, keys);
}

static enum hi_status put_mark(struct hi_series *s, const struct hi_mark *mark,
			       struct hi_error *err)
{
	struct hi_series_mark_event event = {
		.at_ns = place_on_axis(s, mark->when, s->samples),
		.census = s->samples,
		.text = mark->text,
		.is_era = mark->kind == HI_MARK_ERA};

	event.wall_ns = s->wall_ns;
	event.cpu_ns = s->cpu_ns;
	return emit_mark(s, &event, err);
}

static enum hi_status pause_recording(struct hi_series *s, bool is_paused,
				      struct hi_error *err)
{
	enum hi_status status =
		s->request->pause
			? s->request->pause(s->request->pause_arg, is_paused, err)
			: hi_fail(err, HI_LIMIT, 0,
				  "another process asked for a pause: no allocations are "
				  "recorded here");

	if (status == HI_OK)
		report_series_line(s, is_paused ? "the recording of allocations pauses"
						: "the recording of allocations goes on");
	return status;
}

static enum hi_status put_mark_or_pause(struct hi_series *s, const struct hi_mark *mark,
					struct hi_error *err)
{
	if (mark->kind == HI_MARK_PAUSE || mark->kind == HI_MARK_RESUME)
		return pause_recording(s, mark->kind == HI_MARK_PAUSE, err);
	return put_mark(s, mark, err);
}

static enum hi_status take_pending_marks(struct hi_series *s, struct hi_error *err)
{
	enum hi_status status = HI_OK;
	struct hi_mark mark;

	while (status == HI_OK && hi_marks_take(&s->marks, &mark)) {
		struct hi_timestamp now = hi_timestamp_now(s->options->target.pid);

		/* It was sent while a census ran, but no later than now. */
		if (mark.when.cpu_ns > now.cpu_ns)
			mark.when.cpu_ns = now.cpu_ns;
		if (mark.when.wall_ns > now.wall_ns)
			mark.when.wall_ns = now.wall_ns;
		status = put_mark_or_pause(s, &mark, err);
		hi_marks_answer(&mark, status == HI_OK);
		if (status ==
		    HI_LIMIT) { /* the sender gets the error; the series goes on */
			report_series_line(s, "%s", err->text);
			status = HI_OK;
		}
	}
	return status;
}

static bool is_due(struct hi_series *s)
{
	const struct hi_series_options *o = &s->options->series;

	if (has_only_begun(s))
		return series_now_ns(s) >= s->last_try_ns + FIRST_POLL_MS * 1000000ull;
	if (hi_series_at_each_hit(o))
		return !is_over(s);
	if (series_now_ns(s) < s->rests_until_ns)
		return false;
	if (o->every_ns)
		return series_now_ns(s) >= s->began_ns + s->due * every_ns(s);
	return has_grown(s);
}

static enum hi_series_end next_step_by_time(struct hi_series *s)
{
	if (s->has_ended)
		return HI_SERIES_EXITED;
	if (is_stopped(s))
		return HI_SERIES_STOPPED;
	if (s->exited || has_exited(s))
		return HI_SERIES_EXITED;
	if (s->quit)
		return HI_SERIES_STOPPED;
	if (is_exiting(s) || (!s->pauses && is_due(s)))
		return HI_SERIES_GOES_ON;
	return is_over(s) ? HI_SERIES_OVER : HI_SERIES_WAITS;
}

static bool wants_last_census(const struct hi_series *s)
{
	uint64_t since = series_now_ns(s) - s->last_try_ns;

	if (!s->request->census_at_end || s->took_last)
		return false;
	return !s->request->whole_periods || s->samples < 2 || since >= every_ns(s) / 2;
}

/* HI_SERIES_GOES_ON: take a census now. */
static enum hi_series_end next_step(struct hi_series *s)
{
	enum hi_series_end step = next_step_by_time(s);
	bool is_end = step == HI_SERIES_STOPPED || step == HI_SERIES_OVER;

	if (!is_end || !wants_last_census(s))
		return step;
	s->took_last = true;
	return HI_SERIES_GOES_ON;
}

static uint64_t call_tick(struct hi_series *s)
{
	if (!s->request->tick)
		return UINT64_MAX;
	s->has_ended |= !s->request->tick(s->request->tick_arg);
	return series_now_ns(s) + TICK_MS * 1000000ull;
}

/* Until there is a census to take, or none any more. */
static enum hi_status wait_for_next(struct hi_series *s, enum hi_series_end *end_ret,
				    struct hi_error *err)
{
	for (;;) {
		enum hi_status status = take_pending_marks(s, err);
		uint64_t tick = call_tick(s), until;

		*end_ret = next_step(s);
		if (status != HI_OK || *end_ret != HI_SERIES_WAITS)
			return status;
		until = until_ns(s);
		sleep_until(s, until < tick ? until : tick);
	}
}

/* ---- all of it ---- */

/* Hits during a census have no sample. */
static void report_missed_hits(struct hi_series *s)
{
	uint64_t hits = s->census_cache.site ? hi_stop_site_hits(s->census_cache.site)
					     : UINT64_MAX;
	uint64_t every = s->options->safepoint.at.every;
	char count[32];

	if (hits == UINT64_MAX || !hi_series_at_each_hit(&s->options->series) ||
	    s->options->safepoint.at.condition || hits / every <= s->samples)
		return;
	report_series_line(s, "%s was hit %s times: those during a census have no sample",
			   s->options->safepoint.at.text, hi_text_count(count, hits));
}

static enum hi_status finish_series(struct hi_series *s, enum hi_series_end end,
				    struct hi_error *err)
{
	static const char *const words[] = {
		[HI_SERIES_OVER] = "the series is over",
		[HI_SERIES_EXITED] = "the target has exited",
		[HI_SERIES_STOPPED] = "stopped by a signal",
		[HI_SERIES_FAILED] = "it cannot go on",
	};
	struct hi_series_end_event event = {
		.end = end,
		.at_ns = place_on_axis(s, hi_timestamp_now(s->options->target.pid),
				       s->samples + 1),
		.samples = s->samples};
	enum hi_status status = emit_end(s, &event, err);

	if (status == HI_OK && end != HI_SERIES_OVER)
		report_series_line(s, "%s: %" PRIu64 " sample%s complete",
				   s->has_ended ? "the program has ended"
				   : s->quit	? "stopped"
						: words[end],
				   s->samples, s->samples == 1 ? " is" : "s are");
	if (status == HI_OK && end == HI_SERIES_EXITED && s->run.exit_watch &&
	    !s->exited && !s->has_ended)
		report_series_line(
			s, "there is no sample of its exit: %s",
			s->options->series.at_place
				? "it had SIGKILL, or --at waited for a place, "
				  "and what was allocated after the last sample "
				  "is not counted"
				: "it had SIGKILL, or the exit was missed");
	for (size_t i = 0; i < s->n_sinks; i++)
		report_news(s, &s->sinks[i]);
	report_missed_hits(s);
	/* A hundredth of the time or less: all samples stand in one place. */
	if (s->header.axis == HI_SERIES_CPU && s->samples > 1 && shows_axis(s) &&
	    s->cpu_ns < s->wall_ns / IDLE_SHARE)
		report_series_line(s, "the target used hardly any CPU time, which is the "
				      "time axis: use "
				      "--time wall");
	return status;
}

static enum hi_status run_censuses(struct hi_series *s, struct hi_error *err)
{
	enum hi_series_end end = HI_SERIES_GOES_ON;
	struct hi_error quiet;
	enum hi_status status = HI_OK;

	s->began_ns = series_now_ns(s);
	hi_pace_start(&s->pace, s->request->spares_target);
	while (status == HI_OK && end == HI_SERIES_GOES_ON) {
		s->last_try_ns = series_now_ns(s);
		begin_pace(s);
		status = take_sample(s, err);
		end_pace(s);
		if (!s->interrupted)
			schedule_next_census(s);
		if (status == HI_OK)
			status = wait_for_next(s, &end, err);
	}
	if (s->samples == 0) {
		if (status != HI_OK || is_stopped(s))
			return status;
		return hi_fail(err, HI_GONE, 0,
			       "the target exited before the first sample");
	}
	if (status == HI_OK)
		return finish_series(s, end, err);
	/* The reader of the lines has gone: that needs no words. */
	s->is_quiet = status == HI_OS && err->os_errno == EPIPE;
	/* What is there is closed in order where that can be done. */
	(void)!finish_series(s, HI_SERIES_FAILED, &quiet);
	return status;
}

/* What has to be looked at while a census waits for its safepoint. */
static enum hi_status watch_calls(struct hi_series *s, struct hi_error *err)
{
	const int fds[] = {s->request->stop_fd, s->marks.fd};
	struct epoll_event event = {.events = EPOLLIN};

	s->census_cache.interrupt_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->census_cache.interrupt_fd < 0)
		return hi_fail_errno(err, "epoll");
	for (size_t i = 0; i < 2; i++)
		if (fds[i] >= 0 && epoll_ctl(s->census_cache.interrupt_fd, EPOLL_CTL_ADD,
					     fds[i], &event) != 0)
			return hi_fail_errno(err, "epoll");
	return HI_OK;
}

/* Once for all censuses, so that errors are reported before the first. */
static enum hi_status open_series_stop_site(struct hi_series *s, struct hi_error *err)
{
	char text[HI_FREEZE_WAITING];
	enum hi_status status;

	if (!hi_safepoint_asked(&s->options->safepoint))
		return HI_OK;
	status = watch_calls(s, err);
	if (status == HI_OK)
		status = hi_stop_site_open(s->options, &s->options->safepoint.at,
					   &s->census_cache.site, err);
	if (status != HI_OK)
		return status;
	hi_freeze_waiting_text(s->census_cache.site, text);
	report_series_line(s, "%s", text);
	s->exe = hi_strdup(s->census_cache.site->target->started_as);
	s->header.exe = s->exe ? s->exe : "";
	return HI_OK;
}

static enum hi_status open_pidfd(struct hi_series *s, struct hi_error *err)
{
	s->pidfd = (int)syscall(SYS_pidfd_open, s->options->target.pid, 0);
	if (s->pidfd >= 0 || (errno == ESRCH && is_exiting(s)))
		return HI_OK;
	return hi_fail(err, HI_CANNOT_ATTACH, 0, "pid %d: %s",
		       (int)s->options->target.pid,
		       errno == ESRCH ? "there is no such process" : strerror(errno));
}

enum hi_status hi_series_prepare(struct hi_series *s, struct hi_error *err)
{
	if (hi_marks_open(s->options->target.pid, &s->marks, err) != HI_OK)
		report_series_line(s, "%s", err->text);
	return open_series_stop_site(s, err);
}

enum hi_status hi_series_run(struct hi_series *s, const struct hi_series_sink *sinks,
			     size_t n_sinks, bool *partial_ret, struct hi_error *err)
{
	enum hi_status status;

	s->sinks = sinks;
	s->n_sinks = n_sinks;
	status = run_censuses(s, err);
	*partial_ret = s->partial;
	return status;
}

const struct hi_run *hi_series_census_run(const struct hi_series *s)
{
	return &s->run;
}

void hi_series_keep_target(struct hi_series *s)
{
	s->run.sends_images = true;
}

void hi_series_be_served(struct hi_series *s, const struct hi_keeper_client *keeper)
{
	s->run.keeper = keeper;
}

int hi_series_marks_fd(const struct hi_series *s)
{
	return s->marks.fd;
}

size_t hi_series_fds(const struct hi_series *s, int fds[HI_SERIES_FDS])
{
	fds[0] = s->pidfd;
	fds[1] = s->marks.fd;
	fds[2] = s->census_cache.interrupt_fd > 0 ? s->census_cache.interrupt_fd : -1;
	fds[3] = s->request->stop_fd;
	fds[4] = s->status_fd;
	return HI_SERIES_FDS;
}

void hi_series_destroy(struct hi_series *s)
{
	/* If another process makes the images all is that one's. */
	if (!s || s->run.keeper)
		return;
	hi_marks_close(&s->marks);
	if (s->census_cache.interrupt_fd > 0)
		close(s->census_cache.interrupt_fd);
	hi_stop_site_close(s->census_cache.site);
	hi_census_cache_free(&s->census_cache);
	close_sleepers(&s->sleepers.observer);
	if (s->pidfd >= 0)
		close(s->pidfd);
	hi_close_fd(s->status_fd);
	free(s->exe);
	free(s);
}

enum hi_status hi_series_create(const struct hi_series_request *request,
				struct hi_series **ret, struct hi_error *err)
{
	const struct hi_options *o = request->options;
	HI_GUARD(hi_series_destroy) struct hi_series *s = hi_calloc(1, sizeof(*s));
	enum hi_status status;

	if (!s)
		return hi_fail_memory(err, "series");
	s->request = request;
	s->options = o;
	s->run = *request->run;
	s->pidfd = s->status_fd = -1;
	s->run.is_quiet = true;
	s->run.census_cache = &s->census_cache;
	s->marks = (struct hi_marks){.fd = -1, .directory = -1};
	s->header = (struct hi_series_header){
		.pid = (int)o->target.pid,
		.exe = "",
		.pure = o->profile.pure,
		.counts = o->profile.count,
		.by = request->by,
		.axis = o->series.has_axis ? o->series.axis : HI_SERIES_WALL};
	status = open_pidfd(s, err);
	s->census_cache.pidfd = s->pidfd;
	s->status_fd = hi_process_open_status(o->target.pid);
	if (status == HI_OK)
		status = hi_sleepers_create(&s->sleepers.list, err);
	s->sleepers.observer.ops = &sleepers_observer_ops;
	hi_stop_observers_add(&s->run.observers, &s->sleepers.observer);
	if (status == HI_OK)
		*ret = hi_take(s);
	return status;
}
