/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command `record`: follows the allocations of a process, and takes a census at the
 * end, in which each object has the stack that allocated it.
 */
#include "cli/record.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/births.h"
#include "cli/record_progress.h"
#include "cli/snap.h"
#include "report/views/display.h"

HI_DEFINE_GUARD(struct hi_record_progress *, hi_record_progress_close)
HI_DEFINE_GUARD(struct hi_recorder *, hi_recorder_close)
HI_DEFINE_GUARD(struct hi_target *, hi_target_close)

enum { POLL_MS = 100, COUNT_NAP_US = 10000 };

/* ---- signals ---- */

struct record_signals {
	sigset_t before;
	int fd; /* -1: none */
};

/* A signal ends the recording in order while this lives; later ones act as ever. */
static enum hi_status watch_record_signals(struct record_signals *s, struct hi_error *err)
{
	sigset_t set;

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

static void unwatch_record_signals(struct record_signals *s)
{
	struct signalfd_siginfo info;

	while (read(s->fd, &info, sizeof(info)) > 0)
		;
	close(s->fd);
	sigprocmask(SIG_SETMASK, &s->before, NULL);
}

static bool has_record_signal(const struct record_signals *s)
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

/* Decides what is recorded before anything is: a change later would give samples that
 * stand for different numbers. False: the recording is to end already. */
static bool choose_sampling(const struct hi_options *options,
			    const struct hi_recorder *recorder,
			    const struct record_signals *signals,
			    struct hi_exit_watch *watch, uint64_t *ret)
{
	uint64_t until = hi_clock_ns() + length_of_count(options);
	struct hi_sample_choice choice;
	struct hi_allocation_rate rate;
	bool is_over = false;

	*ret = options->record.sample_bytes;
	if (options->record.has_sample) {
		say_sample_choice(options, *ret, NULL, NULL);
		return true;
	}
	while (!is_over && hi_clock_ns() < until) {
		usleep(COUNT_NAP_US);
		is_over = has_record_signal(signals) ||
			  hi_exit_watch_look(watch) == HI_EXIT_STANDS;
	}
	rate = hi_recorder_rate(recorder);
	choice = hi_sample_choose(&rate);
	*ret = choice.sample_bytes;
	say_sample_choice(options, *ret, &rate, &choice);
	return !is_over;
}

/* ---- following ---- */

static enum hi_status say_exited(const struct hi_options *options,
				 const struct hi_recorder *recorder, struct hi_error *err)
{
	char time[24];

	return hi_fail(
		err, HI_GONE, 0,
		"process %d was killed after %s of recording: its heap is gone, so "
		"there is no report",
		(int)options->target.pid,
		hi_text_duration(time, hi_clock_ns() - hi_recorder_start_ns(recorder)));
}

/* Without it an exit ends the recording without a report. */
static void watch_for_exit(const struct hi_options *options, struct hi_exit_watch *watch)
{
	HI_GUARD(hi_target_close) struct hi_target *target = NULL;
	struct hi_error why = {};
	char text[4 * sizeof(why.text)];

	if (hi_target_open(options->target.pid, &target, &why) == HI_OK &&
	    hi_exit_watch_begin(watch, target, &why) == HI_OK)
		return;
	hi_text_escape(text, sizeof(text), why.text, strlen(why.text));
	if (!options->output.quiet)
		fprintf(stderr,
			"heapinspect: there will be no report if the process exits: %s\n",
			text);
}

static enum hi_status follow_until_end(const struct hi_options *options,
				       struct hi_recorder *recorder,
				       const struct record_signals *signals,
				       struct hi_exit_watch *watch, struct hi_error *err)
{
	HI_GUARD(hi_record_progress_close) struct hi_record_progress *progress = NULL;
	uint64_t start = hi_recorder_start_ns(recorder), length = options->series.for_ns;
	enum hi_status status =
		hi_record_progress_open(options, recorder, &progress, err);

	while (status == HI_OK && !has_record_signal(signals) &&
	       !hi_record_progress_is_ended(progress) &&
	       hi_exit_watch_look(watch) != HI_EXIT_STANDS) {
		uint64_t now = hi_clock_ns();
		uint64_t left = !length		       ? UINT64_MAX
				: now - start < length ? length - (now - start)
						       : 0;

		if (left == 0)
			break;
		status = hi_recorder_poll(recorder,
					  left < POLL_MS * 1000000ull
						  ? (unsigned)(left / 1000000) + 1
						  : POLL_MS,
					  err);
		if (status == HI_OK)
			status = hi_record_progress_show(progress, err);
	}
	return status == HI_GONE ? say_exited(options, recorder, err) : status;
}

enum hi_status hi_record_follow(const struct hi_options *options,
				struct hi_exit_watch *watch, struct hi_recorder **ret,
				struct hi_error *err)
{
	HI_GUARD(hi_recorder_close) struct hi_recorder *recorder = NULL;
	struct record_signals signals = {.fd = -1};
	enum hi_status status = hi_recorder_open(options, &recorder, err);
	uint64_t sample_bytes;
	bool goes_on;

	if (status == HI_OK)
		status = watch_record_signals(&signals, err);
	if (status != HI_OK)
		return status;
	watch_for_exit(options, watch);
	goes_on = choose_sampling(options, recorder, &signals, watch, &sample_bytes);
	status = hi_recorder_start(recorder, sample_bytes, err);
	if (status == HI_OK && goes_on)
		status = follow_until_end(options, recorder, &signals, watch, err);
	unwatch_record_signals(&signals);
	if (status == HI_OK)
		*ret = hi_take(recorder);
	return status;
}

/* ---- the command ---- */

static enum hi_status run_record_command(struct hi_inspection *in,
					 const struct hi_report_header *header,
					 struct hi_page *page, struct hi_json *json,
					 struct hi_error *err)
{
	const char *file = in->options->output.file;
	struct hi_births_request request = {
		.by = HI_BORN_BY_SITE,
		.is_of_record = true,
		.file = file && strcmp(file, "-") != 0 ? file : NULL,
		.allocator = in->options->recorder
				     ? hi_recorder_module(in->options->recorder)
				     : NULL};

	return hi_births_run(in, header, &request, page, json, err);
}

const struct hi_command hi_command_record = {
	.id = HI_COMMAND_RECORD,
	.name = "record",
	.arguments = "",
	.purpose =
		"Follow the allocations of a running process, then show which functions "
		"allocated what is live.",
	.help = "The process is not restarted and nothing is loaded into it: probes of "
		"the\n"
		"kernel are on malloc, free and their relatives while the recording "
		"lasts. "
		"At its\n"
		"end, after --for or at ^C, a census is taken, and each object has the "
		"stack "
		"that\n"
		"allocated it. What was allocated earlier counts as \"before the "
		"recording\".\n"
		"\n"
		"A program that allocates often is sampled: one allocation per so many "
		"bytes "
		"has a\n"
		"record, and figures are estimates (--sample).\n"
		"\n"
		"With -o, the recording is a snapshot file that every command reads. Of "
		"it, census\n"
		"takes --by site, context, thread or age, and leaks and explain show "
		"where\n"
		"objects were allocated.\n"
		"\n"
		"Pools and other allocators of the program are followed as well where "
		"they "
		"are\n"
		"named (--calls, --frees), and mappings with --mappings.\n"
		"\n"
		"Needs root, or CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE.\n"
		"\n"
		"Examples:\n"
		"  heapinspect record --pid 4242 --for 60s -o app.hirec\n"
		"  heapinspect record --pid 4242 --calls 'pool_get:ret,size=$2' "
		"--frees 'pool_put:$1'\n"
		"  heapinspect record --pid 4242 --sample 512KiB --for 60s -o app.hirec\n"
		"  heapinspect census --by context app.hirec\n"
		"  heapinspect leaks app.hirec\n"
		"  heapinspect explain 0x55d0c8a412a0 app.hirec",
	.wanted = HI_WANT_DOMINATORS | HI_WANT_LEAKS | HI_WANT_LEDGER | HI_WANT_CENSUS,
	.run = run_record_command,
	.save = hi_snap_write,
};
