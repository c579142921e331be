/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/command/command.h"
#include "cli/command/user.h"
#include "cli/command/write_report.h"
#include "cli/commands/source_editor.h"
#include "cli/decoder/decoder.h"
#include "cli/decoder/memory_limit.h"
#include "cli/record/launch.h"
#include "cli/record/record.h"
#include "cli/record/record_children.h"
#include "cli/record/record_series.h"
#include "cli/series/series.h"
#include "cli/terminal/browse_terminal.h"
#include "probes/bpf_load.h"
#include "session/inspect/inspect.h"
#include "session/snapshot/snapshot_source.h"

static int exit_code(enum hi_status status)
{
	switch (status) {
	case HI_OK:
		return HI_EXIT_FINE;
	case HI_CANNOT_ATTACH:
	case HI_GONE:
		return HI_EXIT_CANNOT_ATTACH;
	case HI_TIMEOUT:
	case HI_MISSED:
		return HI_EXIT_OUT_OF_TIME;
	case HI_NO_MEMORY:
	case HI_OS:
	case HI_FAULT:
	case HI_BAD_DATA:
	case HI_NOT_FOUND:
	case HI_UNSUPPORTED:
	case HI_USAGE:
	case HI_LIMIT:
	default:
		return HI_EXIT_ERROR;
	}
}

static int report_run_error(const struct hi_error *err)
{
	char text[4 * sizeof(err->text)];

	hi_text_escape(text, sizeof(text), err->text, strlen(err->text));
	/* The reader has gone (| head): quiet, with the status of other tools in a shell.
	 */
	if (err->status == HI_OS && err->os_errno == EPIPE && !*text)
		return 128 + SIGPIPE;
	/* Empty where the error was reported already, in more than a line. */
	if (*text)
		fprintf(stderr, "heapinspect: %s\n", text);
	return exit_code(err->status);
}

static void report_phase(const struct hi_phase *p)
{
	char time[24], cpu[24], peak[24];

	fprintf(stderr, "heapinspect: %-22s %10s %10s %10s\n", p->name,
		hi_text_duration(time, p->ns), hi_text_duration(cpu, p->cpu_ns),
		hi_text_bytes(peak, p->peak_bytes));
}

static void report_phase_times(const struct hi_inspection *in)
{
	struct hi_phase all = hi_phases_together(&in->phases.list);

	fprintf(stderr, "heapinspect: %-22s %10s %10s %10s\n", "step", "time",
		"processor", "peak");
	for (size_t i = 0; i < in->phases.list.count; i++)
		report_phase(&in->phases.list.items[i]);
	report_phase(&all);
}

/* The file of -o where that is not the report, and the report. */
static enum hi_status save_and_report(struct hi_inspection *in,
				      const struct hi_report_header *header,
				      struct hi_output *output, struct hi_error *err)
{
	/* A program that was started here has the standard output for itself. */
	struct hi_output screen = {.file = in->options->target.program ? stderr : stdout};
	enum hi_status status;

	if (!in->options->command->save || !output->path)
		return hi_write_report(in, header, output, err);
	status = in->options->command->save(in, header, output, err);
	hi_inspect_phase(in, "report");
	if (status == HI_OK)
		status = hi_write_report(in, header, &screen, err);
	return status == HI_OK ? hi_output_commit(&screen, err) : status;
}

static bool is_partial(const struct hi_report_header *header)
{
	return !header->complete || header->damaged || header->threads_in_allocator ||
	       header->skipped_bytes;
}

/* All that reads what the target has made. */
static int decode_and_report(struct hi_inspection *in, struct hi_output *output)
{
	const struct hi_options *options = in->options;
	struct hi_error err = {};
	struct hi_report_header header;
	unsigned wanted = options->command->wanted |
			  (options->command->has_no_verdicts ? HI_WANT_NO_VERDICTS : 0u);

	if (hi_inspect_finish(in, wanted, &err) != HI_OK)
		return report_run_error(&err);
	hi_inspect_phase(in, "report");
	if (hi_inspect_make_header(in, &header, &err) != HI_OK ||
	    save_and_report(in, &header, output, &err) != HI_OK ||
	    hi_output_commit(output, &err) != HI_OK)
		return report_run_error(&err);
	hi_inspect_phase(in, NULL);
	if (options->output.verbose)
		report_phase_times(in);
	if (options->decoding.strict &&
	    (is_partial(&header) || in->diagnostics.short_of_memory)) {
		if (!options->output.quiet)
			fprintf(stderr, "heapinspect: the snapshot is not complete\n");
		return HI_EXIT_PARTIAL;
	}
	return in->diagnostics.has_finding ? HI_EXIT_FINDING : HI_EXIT_FINE;
}

static int inspect_once(const struct hi_options *options, struct hi_run *run,
			struct hi_output *output)
{
	HI_GUARD(hi_inspect_close) struct hi_inspection *in = NULL;
	struct hi_decoder decoder = {};
	struct hi_error err = {};

	if (hi_inspect_begin(options, run, &in, &err) != HI_OK)
		return report_run_error(&err);
	/* The image is made: a process that stood at its exit need not wait longer. */
	if (run->recorder)
		hi_exit_watch_end(run->exit_watch);
	/* The report says what became of them. */
	hi_record_children_finish(run->children);
	if (!options->decoding.no_sandbox &&
	    hi_decoder_start(&decoder, options, in, output, &err) != HI_OK)
		return report_run_error(&err);
	if (!decoder.pid)
		return decode_and_report(in, output);
	/* The other process has its own. */
	if (run->recorder)
		hi_recorder_forget_live(run->recorder);
	return hi_decoder_wait(&decoder);
}

/* Keys are read one by one until the other process has ended. */
static int browse_once(const struct hi_options *options, struct hi_run *run,
		       struct hi_output *output)
{
	int code;

	hi_browse_terminal_open();
	code = inspect_once(options, run, output);
	hi_browse_terminal_close();
	return code;
}

/* The stop of the inspection is the end of the recording. */
static int record_and_inspect(const struct hi_options *options, struct hi_run *run,
			      struct hi_output *output)
{
	HI_GUARD(hi_record_children_close) struct hi_record_children *children = NULL;
	HI_GUARD(hi_recorder_close) struct hi_recorder *recorder = NULL;
	struct hi_exit_watch own = {};
	struct hi_error err = {};
	int code;

	if (!run->exit_watch)
		run->exit_watch = &own;
	if (options->record.children &&
	    hi_record_children_start(options, hi_run, &children, &err) != HI_OK)
		return report_run_error(&err);
	run->children = children;
	if (hi_record_follow(options, run, &recorder, &err) != HI_OK) {
		hi_exit_watch_end(run->exit_watch);
		hi_record_children_finish(children);
		hi_record_children_print(children);
		return report_run_error(&err);
	}
	hi_record_children_end(children);
	run->recorder = recorder;
	hi_stop_observers_add(&run->observers, hi_recorder_observer(recorder));
	code = inspect_once(options, run, output);
	hi_exit_watch_end(run->exit_watch);
	hi_stop_observers_remove(&run->observers, hi_recorder_observer(recorder));
	return code;
}

/* The report is of the last census in the file, or of the one before the exit. */
static int report_recorded_file(const struct hi_options *options)
{
	struct hi_output output = {.file = options->target.program ? stderr : stdout};
	struct hi_options o = *options;

	o.target = (struct hi_target_options){.file = options->output.file};
	o.output.file = NULL;
	o.series = (struct hi_series_options){};
	/* JSON has what the file has. */
	return inspect_once(
		&o,
		&(struct hi_run){.census = o.output.json ? NULL : HI_CENSUS_BEFORE_EXIT},
		&output);
}

/* The other process has reported what there was. */
static int code_of_outcome(const struct hi_options *options,
			   const struct hi_outcome *outcome)
{
	if (outcome->is_of_another)
		return outcome->code;
	return options->decoding.strict && outcome->partial ? HI_EXIT_PARTIAL
							    : HI_EXIT_FINE;
}

static int record_series(const struct hi_options *options, struct hi_run *run)
{
	struct hi_exit_watch own = {};
	struct hi_outcome outcome = {};
	struct hi_error err = {};
	enum hi_status status;
	int code, recorded;

	if (!run->exit_watch)
		run->exit_watch = &own;
	status = hi_record_series(options, run, NULL, NULL, &outcome, &err);
	hi_exit_watch_end(run->exit_watch);
	if (status != HI_OK)
		return report_run_error(&err);
	recorded = code_of_outcome(options, &outcome);
	/* The report is the first process's, which has the rights to open the file. */
	if (hi_files_are_served() ||
	    (recorded != HI_EXIT_FINE && recorded != HI_EXIT_PARTIAL))
		return recorded;
	code = report_recorded_file(options);
	return code == HI_EXIT_FINE ? recorded : code;
}

static int follow_target(const struct hi_options *options, struct hi_run *run)
{
	struct hi_outcome outcome = {};
	struct hi_error err = {};

	if (options->command->follow(options, run, &outcome, &err) != HI_OK)
		return report_run_error(&err);
	return code_of_outcome(options, &outcome);
}

static int run_series(const struct hi_options *options, struct hi_run *run)
{
	struct hi_outcome outcome = {};
	struct hi_error err = {};

	if (hi_series_run_command(options, run, &outcome, &err) != HI_OK)
		return report_run_error(&err);
	return code_of_outcome(options, &outcome);
}

static bool is_of_series(const struct hi_options *options)
{
	return options->command->wants_series && options->command->wants_series(options);
}

/* What reads files only does so without rights. */
static int run_without_inspection(const struct hi_options *options, struct hi_run *run,
				  struct hi_output *output)
{
	const struct hi_command *c = options->command;
	struct hi_decoder decoder = {};
	struct hi_error err = {};

	output->edit_place = run->edit_place;
	if (!options->decoding.no_sandbox && !c->keeps_rights &&
	    hi_decoder_start(&decoder, options, NULL, output, &err) != HI_OK)
		return report_run_error(&err);
	if (decoder.pid)
		return hi_decoder_wait(&decoder);

	if ((is_of_series(options) ? c->write_series : c->run_alone)(options, output,
								     &err) != HI_OK ||
	    hi_output_commit(output, &err) != HI_OK)
		return report_run_error(&err);
	return output->has_finding ? HI_EXIT_FINDING : HI_EXIT_FINE;
}

/* A gate must not pass without a report, however the program ended. */
static int report_missed_end(const struct hi_launch *launch)
{
	const struct hi_error *why = &launch->watch.why;

	if (why->status == HI_OK || why->status == HI_GONE)
		fprintf(stderr, "heapinspect: no report: the program had SIGKILL, after "
				"which nothing is read\n");
	else
		fprintf(stderr,
			"heapinspect: no report: the program's end was missed: "
			"%s\n",
			why->text);
	return HI_EXIT_CANNOT_ATTACH;
}

/* A series is one from its first moment; anything else is about its end. */
static int inspect_program(const struct hi_options *options, struct hi_run *run,
			   struct hi_launch *launch, struct hi_output *output)
{
	struct hi_options o = *options;
	int code = HI_EXIT_FINE;

	o.target.pid = launch->pid;
	run->exit_watch = &launch->watch;
	if (!output) {
		code = run_series(&o, run);
	} else if (hi_launch_await_end(launch)) {
		hi_launch_release_signals(launch);
		code = inspect_once(&o, run, output);
	} else {
		code = report_missed_end(launch);
	}
	return hi_launch_finish(launch, code);
}

/* From its first allocation. output: of `record` without --every. */
static int follow_program(const struct hi_options *options, struct hi_run *run,
			  struct hi_launch *launch, struct hi_output *output)
{
	struct hi_options o = *options;
	int code;

	o.target.pid = launch->pid;
	run->exit_watch = &launch->watch;
	code = o.command->follow	    ? follow_target(&o, run)
	       : hi_series_asked(&o.series) ? record_series(&o, run)
					    : record_and_inspect(&o, run, output);
	hi_launch_release_signals(launch);
	return hi_launch_finish(launch, code);
}

static int record_program(const struct hi_options *options, struct hi_run *run)
{
	bool has_output = !options->command->follow && !hi_series_asked(&options->series);
	struct hi_output output = {};
	struct hi_launch launch;
	struct hi_error err;
	int code;

	if (has_output && hi_output_open(options, &output, &err) != HI_OK)
		return report_run_error(&err);
	code = hi_launch_start_held(&launch, options->target.program);
	if (!code)
		code = follow_program(options, run, &launch, &output);
	hi_output_close(&output);
	return code;
}

static int run_program_of(const struct hi_options *options, struct hi_run *run)
{
	bool is_series = hi_series_asked(&options->series);
	struct hi_output output = {};
	struct hi_launch launch;
	struct hi_error err;
	int code;

	if (options->command->follows)
		return record_program(options, run);

	if (!is_series && hi_output_open(options, &output, &err) != HI_OK)
		return report_run_error(&err);
	code = hi_launch_start(&launch, options->target.program);
	if (!code)
		code = inspect_program(options, run, &launch, is_series ? NULL : &output);
	hi_output_close(&output);
	return code;
}

static int run_command(const struct hi_options *options, struct hi_run *run)
{
	const struct hi_command *c = options->command;
	struct hi_output output;
	struct hi_error err;
	int code;

	if (options->target.program)
		return run_program_of(options, run);
	if (c->follow)
		return follow_target(options, run);
	/* It writes its own files: they grow under their names. */
	if (hi_series_asked(&options->series))
		return (c->records ? record_series : run_series)(options, run);
	if (hi_output_open(options, &output, &err) != HI_OK)
		return report_run_error(&err);
	code = (c->run_alone || is_of_series(options) ? run_without_inspection
		: c->records			      ? record_and_inspect
		: c->reads_keys			      ? browse_once
				: inspect_once)(options, run, &output);
	hi_output_close(&output);
	return code;
}

/* The source is opened by this process, when the one that reads the target, which returns
 * here as well, has ended. */
static int run_and_edit(const struct hi_options *options, struct hi_run *run)
{
	const pid_t first = getpid();
	struct hi_error err;
	int code;

	if (hi_edit_prepare(&run->edit_place, &err) != HI_OK)
		return report_run_error(&err);
	code = run_command(options, run);
	if (getpid() == first && code == HI_EXIT_FINE &&
	    hi_edit_open(run->edit_place, &err) != HI_OK)
		return report_run_error(&err);
	return code;
}

static void print_kernels_words(const char *lines)
{
	while (*lines) {
		int size = (int)strcspn(lines, "\n");

		if (size)
			fprintf(stderr, "heapinspect: the kernel: %.*s\n", size, lines);
		lines += size + (lines[size] == '\n');
	}
}

int hi_run(const struct hi_options *options, struct hi_run *run)
{
	int code;

	hi_cli_user_be();
	hi_memory_limit_begin(options);
	if (options->output.verbose)
		hi_bpf_listen(print_kernels_words);
	code = options->alloc.edit ? run_and_edit(options, run)
				   : run_command(options, run);
	hi_stop_observers_close(&run->observers);
	hi_decoder_end_series(code);
	return code;
}
