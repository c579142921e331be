/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/record/record_begin.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "attach/procfs.h"
#include "attach/stop_options.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/command/command.h"
#include "probes/exit_log.h"

enum { COUNT_NAP_US = 10000 };

/* ---- signals ---- */

/* A signal ends the recording in order while this lives; later ones act as ever. */
static enum hi_status watch_record_signals(struct hi_record_signals *s,
					   bool is_of_program, struct hi_error *err)
{
	sigset_t set;

	/* A file that may not grow is an error like a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	/* Signals for a program that was started here go on to it (launch.h). */
	if (is_of_program)
		return HI_OK;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->fd < 0)
		return hi_fail_errno(err, "signalfd");
	sigprocmask(SIG_BLOCK, &set, &s->before);
	return HI_OK;
}

void hi_record_signals_end(struct hi_record_signals *s)
{
	struct signalfd_siginfo info;

	if (s->fd < 0)
		return;
	while (read(s->fd, &info, sizeof(info)) > 0)
		;
	close(s->fd);
	sigprocmask(SIG_SETMASK, &s->before, NULL);
}

bool hi_record_signals_came(const struct hi_record_signals *s)
{
	struct signalfd_siginfo info;

	return read(s->fd, &info, sizeof(info)) > 0;
}

/* ---- how many are recorded ---- */

/* How long calls are counted: a second, less of a short recording. */
static uint64_t length_of_count(const struct hi_options *options)
{
	uint64_t tenth = options->series.for_ns / 10, least = HI_NS_PER_S / 10;

	if (!tenth || tenth > HI_NS_PER_S)
		return HI_NS_PER_S;
	return tenth > least ? tenth : least;
}

static void say_sample_choice(const struct hi_options *options, uint64_t sample_bytes,
			      const struct hi_allocation_rate *rate,
			      const struct hi_sample_choice *choice)
{
	char size[24], calls[32];

	if (options->output.quiet)
		return;
	if (!sample_bytes) {
		fprintf(stderr, "heapinspect: recording every allocation\n");
		return;
	}
	fprintf(stderr, "heapinspect: sampling one allocation per %s%s",
		hi_text_bytes(size, sample_bytes), rate ? ": " : "\n");
	if (!rate)
		return;
	fprintf(stderr, "%s allocations/s%s",
		hi_text_count(calls, (uint64_t)hi_allocation_rate_calls(rate)),
		choice->probes_are_too_much ? "" : "\n");
	if (choice->probes_are_too_much)
		fprintf(stderr,
			", of which the probes alone take about %.0f %% of a processor\n",
			100 * choice->probes);
}

static void say_why(const struct hi_options *options, const char *line,
		    const struct hi_error *why)
{
	char text[4 * sizeof(why->text)];

	hi_text_escape(text, sizeof(text), why->text, strlen(why->text));
	if (!options->output.quiet)
		fprintf(stderr, "heapinspect: %s: %s\n", line, text);
}

/* False: there are none, and it is chosen as without the option. */
static bool choose_windows(const struct hi_options *options,
			   const struct hi_recorder *recorder)
{
	const struct hi_error *why = NULL;
	bool has_windows = hi_recorder_has_windows(recorder, &why);

	if (why)
		say_why(options,
			"no windows here, so it is recorded all the time, as without "
			"--sample",
			why);
	if (has_windows && !options->output.quiet)
		fprintf(stderr, "heapinspect: recording windows of 20 ms in each "
				"second\n");
	return has_windows;
}

static void say_not_followed(const struct hi_options *options,
			     const struct hi_allocation_rate *rate,
			     const struct hi_sample_choice *choice)
{
	char calls[32];

	if (!options->output.quiet)
		fprintf(stderr,
			"heapinspect: allocations are not followed: %s a second would "
			"take %.0f %% of a processor (--sample all follows them). "
			"Objects "
			"are told by address and size, and no use is proved\n",
			hi_text_count(calls, (uint64_t)hi_allocation_rate_calls(rate)),
			100 * choice->probes);
}

/* ---- windows by choice ---- */

/* Fewer windows tell nothing, and a target that is slow for so long is not for long. */
static const uint64_t least_windows_ns = 2 * HI_NS_PER_S;

/* The others need every event. */
bool hi_record_may_choose_windows(const struct hi_options *o)
{
	const struct hi_record_options *r = &o->record;
	bool is_short = o->series.for_ns && o->series.for_ns < least_windows_ns;

	return !is_short && o->command->id == HI_COMMAND_RECORD && !r->has_sample &&
	       !r->scan_ns && !r->n_calls && !r->mappings && !r->keep_events &&
	       !hi_series_asked(&o->series);
}

static bool has_counted_enough(const struct hi_options *options,
			       const struct hi_recorder *recorder)
{
	struct hi_allocation_rate rate;

	if (!hi_record_may_choose_windows(options))
		return false;
	rate = hi_recorder_counted(recorder);
	return hi_has_counted_enough(&rate);
}

static void say_dear(const struct hi_options *options, const struct hi_whole_cost *cost)
{
	if (!options->output.quiet)
		fprintf(stderr,
			"heapinspect: recording windows of 20 ms in each second: a "
			"record of every allocation would take about %.0f %% of the "
			"program's CPU time (--sample all takes it)\n",
			100 * cost->share);
}

/* False: all of them, or samples of all of the time. */
static bool choose_windows_by_cost(const struct hi_options *options,
				   struct hi_recorder *recorder, bool *is_dear_ret)
{
	struct hi_allocation_rate rate = hi_recorder_rate(recorder);
	struct hi_whole_cost cost = hi_whole_cost(&rate, false);
	const struct hi_windows_choice choice = hi_windows_choice_of(&cost, false);
	struct hi_error why = {};

	*is_dear_ret = cost.is_dear;
	if (!cost.is_dear)
		return false;
	if (hi_recorder_use_windows(recorder, &choice, &why) == HI_OK) {
		say_dear(options, &cost);
		return true;
	}
	say_why(options, "no windows here", &why);
	return false;
}

/* False: the recording is to end already. */
static bool await_count(const struct hi_options *options,
			const struct hi_recorder *recorder,
			const struct hi_record_signals *signals,
			struct hi_exit_watch *watch)
{
	uint64_t until = hi_clock_ns() + length_of_count(options);
	bool is_over = false;

	while (!is_over && hi_clock_ns() < until &&
	       !has_counted_enough(options, recorder)) {
		usleep(COUNT_NAP_US);
		is_over = hi_record_signals_came(signals) ||
			  hi_exit_watch_look(watch) == HI_EXIT_STANDS;
	}
	return !is_over;
}

/* Where the probes alone would take too much, objects of Python are not followed. */
static void choose_heap(const struct hi_options *options, struct hi_recorder *recorder)
{
	struct hi_allocation_rate rate = hi_recorder_heap_rate(recorder);
	struct hi_sample_choice choice = hi_sample_choose(&rate);
	char calls[32];

	if (!hi_recorder_follows_python_heap(recorder) || !choice.probes_are_too_much)
		return;
	hi_recorder_drop_heap(recorder);
	if (options->output.quiet)
		return;
	fprintf(stderr,
		"heapinspect: pymalloc is not followed: its %s allocations/s would take "
		"%.0f %% of a processor; --sample all follows it\n",
		hi_text_count(calls, (uint64_t)hi_allocation_rate_calls(&rate)),
		100 * choice.probes);
}

/* Objects of Python that get no record, and what helps. */
static void say_heap(const struct hi_options *options, const struct hi_recorder *recorder)
{
	uint32_t n = 0;
	enum hi_python_heap heap = hi_recorder_python_heap(recorder, &n);
	char why[120];

	if (heap == HI_PYTHON_HEAP_COPIED)
		snprintf(why, sizeof(why),
			 "%u functions of this Python have copies of it, and not all "
			 "are understood",
			 n);
	else if (heap == HI_PYTHON_HEAP_REFUSED)
		snprintf(why, sizeof(why), "the kernel has refused its probes");
	else if (heap == HI_PYTHON_HEAP_MARKED)
		snprintf(why, sizeof(why), "PYTHONMALLOC=debug moves its blocks");
	else if (heap == HI_PYTHON_HEAP_TRACED)
		snprintf(why, sizeof(why), "tracemalloc is on");
	else if (heap == HI_PYTHON_HEAP_UNKNOWN)
		snprintf(why, sizeof(why), "its functions were not found");
	else
		return;
	if (!options->output.quiet)
		fprintf(stderr,
			"heapinspect: pymalloc is not followed: %s; a Python that is "
			"started with PYTHONMALLOC=malloc has a record of each object\n",
			why);
}

/* Decides what is recorded before anything is: a change later would give samples that
 * stand for different numbers. False: the recording is to end already. */
static bool choose_sampling(const struct hi_options *options,
			    struct hi_recorder *recorder,
			    const struct hi_record_signals *signals,
			    struct hi_exit_watch *watch, uint64_t *ret, bool *is_none_ret)
{
	bool has_sample = options->record.has_sample && !options->record.has_windows;
	bool goes_on = true, is_dear = true;
	struct hi_sample_choice choice;
	struct hi_allocation_rate rate;

	*ret = options->record.sample_bytes;
	if (choose_windows(options, recorder))
		return true;
	if (!has_sample || (*ret && hi_recorder_follows_python_heap(recorder))) {
		goes_on = await_count(options, recorder, signals, watch);
		if (goes_on && hi_record_may_choose_windows(options) &&
		    choose_windows_by_cost(options, recorder, &is_dear))
			return true;
		choose_heap(options, recorder);
	}
	if (has_sample) {
		say_sample_choice(options, *ret, NULL, NULL);
		return goes_on;
	}
	rate = hi_recorder_rate(recorder);
	choice = is_dear ? hi_sample_choose(&rate) : (struct hi_sample_choice){};
	*ret = choice.sample_bytes;
	*is_none_ret = options->record.most_cost > 0 &&
		       choice.probes > options->record.most_cost;
	if (*is_none_ret)
		say_not_followed(options, &rate, &choice);
	else
		say_sample_choice(options, *ret, &rate, &choice);
	return goes_on;
}

/* It stands, so that there is no rate to choose by. */
static bool choose_sampling_of_program(const struct hi_options *options,
				       const struct hi_recorder *recorder, uint64_t *ret)
{
	*ret = options->record.has_sample ? options->record.sample_bytes : 0;
	if (!choose_windows(options, recorder))
		say_sample_choice(options, *ret, NULL, NULL);
	return true;
}

/* Its threads are free from now on, and its end is seen all the same. */
static enum hi_status watch_untraced(const struct hi_options *options, bool sends_images,
				     struct hi_exit_watch *watch, struct hi_error *err)
{
	const struct hi_stop_options image = {.with_swap = options->decoding.swap,
					      .threads = options->decoding.threads,
					      .max_image = options->safepoint.max_image,
					      .sendable = sends_images};
	struct hi_exit_log *log = NULL;
	struct hi_proc_stat stat;
	enum hi_status status;

	if (!hi_proc_stat(options->target.pid, &stat))
		return hi_fail(err, HI_GONE, 0, "process %d has exited",
			       (int)options->target.pid);
	status = hi_exit_log_open(options->target.pid, stat.n_threads, &log, err);
	return status == HI_OK ? hi_exit_watch_begin_untraced(watch, options->target.pid,
							      &image, log, err)
			       : status;
}

/* Without it an exit ends the recording without a report. */
static void watch_for_exit(const struct hi_options *options, bool sends_images,
			   struct hi_exit_watch *watch)
{
	HI_GUARD(hi_target_close) struct hi_target *target = NULL;
	struct hi_error why = {}, traced = {};

	if (watch_untraced(options, sends_images, watch, &why) == HI_OK)
		return;
	if (hi_target_open(options->target.pid, &target, &traced) == HI_OK &&
	    hi_exit_watch_begin(watch, target, &traced) == HI_OK)
		say_why(options,
			"its threads stay traced, for a report of its exit: no debugger "
			"can attach, and each of its signals takes longer",
			&why);
	else
		say_why(options, "there will be no report if the process exits", &traced);
}

/* It was traced to be held at its start. */
static void release_program(const struct hi_options *options, bool sends_images,
			    struct hi_exit_watch *watch)
{
	struct hi_error why = {};

	if (watch_untraced(options, sends_images, watch, &why) != HI_OK)
		say_why(options,
			"the threads of the program stay traced, for a report of its "
			"exit: no debugger can attach, and each of its signals takes "
			"longer",
			&why);
}

/* Allocations are recorded all the same. */
static void say_missing_ticks(const struct hi_options *options,
			      const struct hi_recorder *recorder)
{
	struct hi_event_stats stats;
	char why[4 * sizeof(stats.ticks.why_none)];

	if (options->output.quiet || !options->record.scan_ns)
		return;
	hi_recorder_stats(recorder, &stats);
	hi_text_escape(why, sizeof(why), stats.ticks.why_none,
		       strlen(stats.ticks.why_none));
	if (!stats.ticks.scan_ns)
		fprintf(stderr, "heapinspect: time is not sampled: %s\n", why);
	if (stats.ticks.missed)
		fprintf(stderr,
			"heapinspect: time of %u threads is not sampled: too many files "
			"are open (ulimit -n)\n",
			stats.ticks.missed);
}

static void let_program_start(const struct hi_options *options, bool sends_images,
			      struct hi_exit_watch *watch)
{
	if (!options->target.program)
		return;
	release_program(options, sends_images, watch);
	hi_exit_watch_let_start(watch);
}

enum hi_status hi_record_begin(const struct hi_options *options, bool sends_images,
			       struct hi_exit_watch *watch,
			       struct hi_record_signals *signals,
			       struct hi_recorder **ret, bool *goes_on_ret,
			       struct hi_error *err)
{
	uint64_t sample_bytes;
	bool is_none = options->record.is_none;
	enum hi_status status = is_none ? HI_OK : hi_recorder_open(options, ret, err);

	/* From now on a signal ends it in order, which takes the probes out first. */
	if (status == HI_OK)
		status = watch_record_signals(signals, options->target.program, err);
	if (status == HI_OK && !is_none)
		status = hi_recorder_set_probes(*ret, err);
	if (status != HI_OK)
		return status;
	if (!options->target.program)
		watch_for_exit(options, sends_images, watch);
	*goes_on_ret = true;
	if (is_none) {
		let_program_start(options, sends_images, watch);
		return HI_OK;
	}
	hi_recorder_watch_exec(*ret, watch);
	say_heap(options, *ret);
	*goes_on_ret = options->target.program
			       ? choose_sampling_of_program(options, *ret, &sample_bytes)
			       : choose_sampling(options, *ret, signals, watch,
						 &sample_bytes, &is_none);
	if (!is_none) {
		status = hi_recorder_start(*ret, sample_bytes, err);
		let_program_start(options, sends_images, watch);
		if (status == HI_OK)
			say_missing_ticks(options, *ret);
		return status;
	}
	hi_recorder_close(hi_take(*ret));
	return HI_OK;
}
