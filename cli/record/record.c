/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command `record`: follows the allocations of a process, and takes a census at the
 * end, in which each object has the stack that allocated it.
 *
 * Note [A recording]
 *
 * session/live/recorder.c reads the events (probes/events) into a recording
 * (census/events) and ends it at the stop of the census; session/live/live_recorded.c
 * joins it with the objects of the image. Names for the live view (record_progress.h) are
 * looked up beside that by a process without rights (session/live/frame_lookup.h).
 *
 * With --every it is a series (record_series.h) whose censuses read the recording beside
 * the thread that takes events: from before a stop until the census is written the
 * recording is held, and events wait (census/events/pending_events.h). With --children
 * one more process, forked before anything else, runs the same command for each process
 * that the target forks (child_recorders.h).
 */
#include "cli/record/record.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/command/write_snapshot.h"
#include "cli/options/births.h"
#include "cli/options/option_check.h"
#include "cli/record/record_begin.h"
#include "cli/record/record_children.h"
#include "cli/record/record_progress.h"
#include "cli/record/record_windows.h"
#include "report/display.h"
#include "session/live/cost_watch.h"
#include "session/recorded.h"
#include "session/series/rows.h"
#include "session/windows.h"

enum { POLL_MS = 100 };

/* ---- following ---- */

static bool has_recorded_events(const struct hi_recorder *recorder)
{
	struct hi_recording_counts counts;

	hi_recording_counts(hi_recorder_recording(recorder), &counts);
	return counts.events > 0;
}

/* Its events are there, if there were any. */
static enum hi_status end_with_events(const struct hi_options *options,
				      const struct hi_recorder *recorder,
				      struct hi_error *err)
{
	char time[24];

	hi_text_duration(time, hi_clock_ns() - hi_recorder_start_ns(recorder));
	if (!has_recorded_events(recorder))
		return hi_fail(err, HI_GONE, 0,
			       "process %d was killed after %s of recording: its heap is "
			       "gone, so there is no report",
			       (int)options->target.pid, time);
	if (!options->output.quiet)
		fprintf(stderr,
			"heapinspect: process %d was killed after %s of recording: its "
			"heap is gone, and the report is of its events alone\n",
			(int)options->target.pid, time);
	return HI_OK;
}

/* The heap of the program before is gone with it: what events say is left. */
static enum hi_status report_exec(const struct hi_options *options,
				  const struct hi_recorder *recorder,
				  struct hi_record_progress *progress,
				  struct hi_error *err)
{
	uint64_t ns = hi_recorder_exec_ns(recorder) - hi_recorder_start_ns(recorder);
	enum hi_status status = HI_OK;
	char time[24];

	if (!options->output.json)
		status = hi_record_progress_print(progress, err);
	if (status != HI_OK)
		return status;
	return hi_fail(err, HI_UNSUPPORTED, 0,
		       "process %d has started another program (exec) after %s of "
		       "recording: its heap is gone, so there is no census%s (record "
		       "--every keeps those before)",
		       (int)options->target.pid, hi_text_duration(time, ns),
		       options->output.file ? ", and no file" : "");
}

/* ---- a recording that becomes dear ---- */

struct cost_of_recording {
	struct hi_cost_watch watch;
	bool is_settled; /* nothing changes any more */
};

static void note_windows(const struct hi_options *options,
			 const struct hi_whole_cost *cost,
			 struct hi_record_progress *progress)
{
	char text[200];

	if (options->output.quiet)
		return;
	snprintf(text, sizeof(text),
		 "recording windows of 20 ms in each second from now on: a record of "
		 "every allocation takes %.0f %% of the program's CPU time by now "
		 "(--sample all takes it)",
		 100 * cost->share);
	hi_record_progress_note(progress, text);
}

/* The processes of a program that allocates more than at first lose no more than at
 * first. */
static void check_cost(struct cost_of_recording *c, const struct hi_options *options,
		       struct hi_recorder *recorder, struct hi_record_progress *progress)
{
	const struct hi_recording *recording = hi_recorder_recording(recorder);
	struct hi_windows_choice choice;
	struct hi_whole_cost cost;
	struct hi_error why = {};

	/* A program that was started here has all of it recorded, to its end. */
	if (c->is_settled || options->target.program ||
	    !hi_cost_watch_look(&c->watch, recorder, options->target.pid, &cost))
		return;
	c->is_settled = true;
	choice = hi_windows_choice_of(&cost, true);
	if (hi_recording_windows(recording) || hi_recording_sample_bytes(recording) ||
	    !hi_record_may_choose_windows(options) ||
	    hi_recorder_use_windows(recorder, &choice, &why) != HI_OK)
		return;
	note_windows(options, &cost, progress);
}

static enum hi_status follow_until_end(const struct hi_options *options,
				       const struct hi_run *run,
				       struct hi_recorder *recorder,
				       const struct hi_record_signals *signals,
				       struct hi_error *err)
{
	HI_GUARD(hi_record_progress_close) struct hi_record_progress *progress = NULL;
	struct hi_exit_watch *watch = run->exit_watch;
	struct cost_of_recording cost = {};
	uint64_t start = hi_recorder_start_ns(recorder), length = options->series.for_ns;
	enum hi_status status =
		hi_record_progress_open(options, true, recorder, &progress, err);

	while (status == HI_OK && !hi_record_signals_came(signals) &&
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
		hi_record_children_look(run->children, progress);
		if (status == HI_OK)
			check_cost(&cost, options, recorder, progress);
		if (status == HI_OK)
			status = hi_record_progress_take_keys(progress, err);
		if (status == HI_OK)
			status = hi_record_progress_show(progress, err);
	}
	/* Its memory is kept. */
	if (status == HI_GONE && hi_exit_watch_is_standing(watch))
		return HI_OK;
	if (hi_recorder_exec_ns(recorder) && status == HI_UNSUPPORTED)
		return report_exec(options, recorder, progress, err);
	return status == HI_GONE && hi_recorder_is_lost(recorder)
		       ? end_with_events(options, recorder, err)
		       : status;
}

enum hi_status hi_record_follow(const struct hi_options *options,
				const struct hi_run *run, struct hi_recorder **ret,
				struct hi_error *err)
{
	HI_GUARD(hi_recorder_close) struct hi_recorder *recorder = NULL;
	struct hi_record_signals signals = {.fd = -1};
	bool goes_on = false;
	enum hi_status status = hi_record_begin(options, false, run->exit_watch, &signals,
						&recorder, &goes_on, err);

	if (status == HI_OK && run->begun)
		run->begun(run->begun_arg);
	if (status == HI_OK && goes_on)
		status = follow_until_end(options, run, recorder, &signals, err);
	hi_record_signals_end(&signals);
	if (status == HI_OK)
		*ret = hi_take(recorder);
	return status;
}

/* ---- the command ---- */

enum hi_status hi_record_report(struct hi_inspection *in,
				const struct hi_report_header *header,
				struct hi_page *page, struct hi_json *json,
				struct hi_error *err)
{
	const char *file = in->options->output.file;
	const struct hi_recorded *recorded = NULL;
	struct hi_births_request request = {
		.by = HI_BORN_BY_SITE,
		.is_of_record = true,
		.file = in->options->target.file	 ? in->options->target.file
			: file && strcmp(file, "-") != 0 ? file
							 : NULL,
		.allocator =
			in->run->recorder ? hi_recorder_module(in->run->recorder) : NULL};

	if (hi_inspect_recorded_if_any(in, &recorded, err) != HI_OK)
		return err->status;
	request.children.items =
		hi_record_children_list(in->run->children, &request.children.n);
	/* The report of a series is of its file. */
	if (recorded ? recorded->windows != NULL : hi_inspect_is_by_windows(in))
		return hi_record_windows_run(in, header, &request.children, page, json,
					     err);
	return hi_births_run(in, header, &request, page, json, err);
}

static int check_record(const struct hi_given *given)
{
	const struct hi_options *o = given->options;
	bool has_file = hi_option_has_output_file(o),
	     is_series = hi_series_asked(&o->series);

	if (o->target.file)
		return hi_option_wrong("record: follows a process: give --pid; %s is a "
				       "file (census --by site shows its recording)",
				       o->target.file);
	if (o->record.has_windows && (o->record.scan_ns || o->record.n_calls ||
				      o->record.mappings || o->record.keep_events))
		return hi_option_wrong(
			"%s: not with --sample windows, as it needs every event; without "
			"--sample, or with --sample all, both work",
			o->record.scan_ns	? "--scan"
			: o->record.n_calls	? "--calls and --frees"
			: o->record.keep_events ? "--keep-events"
						: "--mappings");
	if (o->record.keep_events && !has_file)
		return hi_option_wrong("--keep-events: -o FILE is missing, which the "
				       "events go to");
	if (is_series && !has_file)
		return hi_option_wrong("record --every: -o FILE is missing, which the "
				       "censuses go to");
	if (!is_series && o->series.has_full)
		return hi_option_wrong("--full: only with --every");
	if (o->record.children && o->target.program)
		return hi_option_wrong("--children: not with -- %s; start it by itself, "
				       "and use --pid",
				       *o->target.program);
	if (o->record.children && !has_file)
		return hi_option_wrong("record --children: -o FILE is missing: the "
				       "recording of a child goes to FILE.PID");
	return 0;
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
		"A program that allocates often is recorded by windows of 20 ms in each "
		"second:\n"
		"rates, live bytes and new leaks by function are estimates then, with "
		"intervals.\n"
		"--sample all records every allocation, with the stack of each "
		"object.\n"
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
		"With --children, the processes that the program forks are recorded as "
		"well, each\n"
		"into FILE.PID.\n"
		"\n"
		"With --every, censuses are taken while the recording goes on, into the "
		"same file,\n"
		"which keeps every complete one, however the command ends.\n"
		"\n"
		"Needs root, or CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE.\n"
		"\n"
		"Examples:\n"
		"  heapinspect record --pid 4242 --for 60s -o app.hirec\n"
		"  heapinspect record --pid 4242 --calls 'pool_get:ret,size=$2' "
		"--frees 'pool_put:$1'\n"
		"  heapinspect record --pid 4242 --sample 512KiB --for 60s -o app.hirec\n"
		"  heapinspect record --pid 4242 --every 10s --for 1h -o app.hirec\n"
		"  heapinspect census --by context app.hirec\n"
		"  heapinspect leaks app.hirec\n"
		"  heapinspect explain 0x55d0c8a412a0 app.hirec",
	.wanted = HI_WANT_DOMINATORS | HI_WANT_LEAKS | HI_WANT_LEDGER | HI_WANT_CENSUS |
		  HI_WANT_SUSPECTS,
	.run = hi_record_report,
	.save = hi_write_snapshot,
	.sample = hi_series_census,
	.wanted_in_series =
		HI_WANT_DOMINATORS | HI_WANT_LEAKS | HI_WANT_LEDGER | HI_WANT_CENSUS,
	.targets = "--pid PID",
	.follows = true,
	.records = true,
	.check = check_record,
};
