/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command `alloc`: follows a process by censuses and by its allocations, and shows
 * which functions allocate, and how much of that survives.
 *
 * It is a series with a recording (cli/record/record_series.h) that goes into a space
 * profile (session/space/space_profile.h). Its contexts may be told apart by the marks
 * between which they allocated (session/space/phases.h, census/events/marked_totals.h),
 * its rows may be cost centres (session/space/centres.h), and calls of functions may be
 * counted beside it (session/live/call_counts.h).
 */
#include "cli/commands/alloc.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/snapshot/snapshot_series.h"
#include "census/snapshot/snapshot_windows.h"
#include "cli/command/command.h"
#include "cli/command/write_report.h"
#include "cli/command/write_snapshot.h"
#include "cli/commands/source_editor.h"
#include "cli/decoder/decoder.h"
#include "cli/record/record.h"
#include "cli/record/record_series.h"
#include "cli/record/record_windows.h"
#include "report/parts/legend.h"
#include "report/reports/alloc/alloc_bars.h"
#include "report/reports/alloc/alloc_report.h"
#include "report/reports/alloc/mlworks.h"
#include "session/inspect/inspect.h"
#include "session/live/call_counts.h"
#include "session/operands.h"
#include "session/run.h"
#include "session/series/rows.h"
#include "session/space/file.h"
#include "session/space/kept_profile.h"
#include "session/space/space_result.h"
#include "session/space/space_sink.h"

enum { TOP = 20 }; /* as many bars as the tool of MLWorks has */

static enum hi_status fill_alloc_report(void *report, struct hi_page *page,
					struct hi_json *json, struct hi_error *)
{
	if (json) {
		hi_alloc_json(report, json);
		return HI_OK;
	}
	hi_alloc_display(report, page);
	hi_legend_add(page);
	return HI_OK;
}

static bool is_html_asked(const struct hi_options *options)
{
	return options->output.format && strcmp(options->output.format, "html") == 0;
}

static enum hi_status write_alloc_report(const struct hi_options *options,
					 struct hi_alloc_report *report,
					 struct hi_output *output, struct hi_error *err)
{
	if (options->output.json || !options->output.format)
		return hi_write_filled(options, output, fill_alloc_report, report, err);
	if (is_html_asked(options))
		return hi_alloc_html(report, options->output.full_names, output->file,
				     err);
	if (options->alloc.bars)
		return hi_alloc_bars_svg(report, output->file, err);
	hi_mlworks_write(report, output->file);
	return HI_OK;
}

/* Whose it is, and what else is known of it. */
struct space_target {
	const char *exe;
	int pid;
	size_t left_out;
	struct hi_call_counts *counts; /* NULL: calls were not counted */
};

/* The lines of MLWorks are for programs. */
static size_t choose_alloc_top(const struct hi_options *options)
{
	bool is_mlworks =
		options->output.format && strcmp(options->output.format, "mlworks") == 0;

	return hi_lookup_top(options, is_mlworks ? SIZE_MAX : (size_t)TOP);
}

/* The first one that is shown. */
static enum hi_status note_edited_function(struct hi_edit_place *place,
					   const struct hi_alloc_report *report,
					   struct hi_arena *arena, struct hi_error *err)
{
	const struct hi_alloc_function *first =
		report->n_functions ? &report->functions[0] : NULL;
	struct hi_alloc_bars bars;

	if (report->bars) {
		if (!hi_alloc_bars_choose(report, arena, &bars))
			return hi_fail_memory(err, "bars");
		first = bars.n ? bars.items[0].function : NULL;
	}
	if (first)
		hi_edit_note(place, &(struct hi_edit_source){first->name, first->file,
							     first->module, first->line});
	return HI_OK;
}

/* The list is of the arena. */
static enum hi_status add_call_counts(struct hi_call_counts *counts,
				      struct hi_arena *arena,
				      struct hi_space_result_options *ret,
				      struct hi_error *err)
{
	const struct hi_call_count *from;
	struct hi_counted_calls *to;

	if (!counts)
		return HI_OK;
	from = hi_call_counts_end(counts, &ret->n_calls);
	to = hi_arena_alloc(arena, (ret->n_calls + 1) * sizeof(*to));
	if (!to)
		return hi_fail_memory(err, "counts of calls");
	for (size_t i = 0; i < ret->n_calls; i++)
		to[i] = (struct hi_counted_calls){from[i].name, from[i].module,
						  from[i].calls};
	ret->calls = to;
	ret->call_ns = hi_call_counts_cost_ns(counts);
	return HI_OK;
}

static enum hi_status report_space(const struct hi_options *options,
				   const struct hi_space_profile *profile,
				   struct space_target target, struct hi_output *output,
				   struct hi_error *err)
{
	/* Bars are chosen by their heights, later. */
	struct hi_space_result_options what = {
		.select = options->alloc.select,
		.manners = {options->alloc.manners, options->alloc.n_manners},
		.callers = options->alloc.callers || is_html_asked(options),
		.depth = (uint32_t)options->alloc.depth,
		.passes_libraries = !options->output.full_names &&
				    !options->output.json &&
				    (!options->output.format || is_html_asked(options)),
		.top = options->alloc.bars ? SIZE_MAX : choose_alloc_top(options),
		.min_size = options->selection.min_size,
		.order = options->alloc.order};
	struct hi_space_result rows = {};
	struct hi_alloc_report report;
	struct hi_arena arena = {};
	enum hi_status status = add_call_counts(target.counts, &arena, &what, err);

	if (status != HI_OK)
		return status;
	status = hi_space_profile_report(profile, &what, &arena, &rows, &report, err);
	report.pid = target.pid;
	report.exe = target.exe;
	report.left_out = target.left_out;
	report.bars = options->alloc.bars;
	report.weight = options->alloc.weight;
	report.most_bars = choose_alloc_top(options);
	report.width = hi_output_looks(options, fileno(output->file)).width;
	if (status == HI_OK)
		status = write_alloc_report(options, &report, output, err);
	if (status == HI_OK && output->edit_place)
		status = note_edited_function(output->edit_place, &report, &arena, err);
	hi_space_result_free(&rows);
	hi_arena_free(&arena);
	return status;
}

static struct hi_space_choice choice_of_space(const struct hi_alloc_options *o)
{
	return (struct hi_space_choice){
		.centres = {.patterns = o->centres, .n = o->n_centres},
		.from_mark = o->from_mark,
		.to_mark = o->to_mark,
		.by_mark = o->by_mark};
}

/* ---- of a process ---- */

/* Is the profile to be kept in the file of -o? Else that is the report. */
static bool keeps_space_profile(const struct hi_options *options)
{
	return options->output.file && strcmp(options->output.file, "-") != 0 &&
	       !options->output.format && !options->output.json;
}

/* Of the functions of --manner PATTERN=calls. *ret NULL: there are none. */
static enum hi_status open_call_counts(const struct hi_options *options,
				       struct hi_call_counts **ret, struct hi_error *err)
{
	const struct hi_alloc_options *o = &options->alloc;
	HI_GUARD(free)
	const char **patterns = hi_calloc(o->n_manners + 1, sizeof(*patterns));
	size_t n = 0;

	if (!patterns)
		return hi_fail_memory(err, "counts of calls");
	for (size_t i = 0; i < o->n_manners; i++)
		if (o->manners[i].pattern && o->manners[i].columns & HI_ALLOC_CALLS)
			patterns[n++] = o->manners[i].pattern;
	return n ? hi_call_counts_open(
			   options,
			   &(struct hi_call_patterns){patterns, n, hi_frame_matches}, ret,
			   err)
		 : HI_OK;
}

static enum hi_status follow_and_report_space(const struct hi_options *options,
					      struct hi_run *run,
					      struct hi_output *output,
					      struct hi_outcome *ret,
					      struct hi_error *err)
{
	HI_GUARD(hi_space_sink_close) struct hi_space_sink *sink = NULL;
	struct hi_call_counts *counts = NULL;
	struct hi_exit_watch own = {};
	struct hi_options o = *options;
	struct hi_series_sink of_series;
	struct space_target target = {.pid = (int)options->target.pid};
	struct hi_space_choice choice = choice_of_space(&options->alloc);
	enum hi_status status = hi_space_sink_open(&sink, err);

	if (status != HI_OK)
		return status;
	choice.keeps_marks = keeps_space_profile(options);
	hi_space_sink_choose(sink, &choice);
	/* It may end before a first census could begin the first period. */
	if (options->target.program)
		status = hi_space_sink_begin(sink, err);
	if (status != HI_OK)
		return status;
	if (!keeps_space_profile(options))
		o.output.file = NULL;
	o.series.full = (struct hi_graphs_wanted){.last = true};
	run->kept = (struct hi_kept_part){.save = hi_space_profile_save,
					  .what = hi_space_sink_profile(sink),
					  .has_all_censuses = true};
	of_series = hi_space_sink_of_series(sink);
	status = open_call_counts(options, &counts, err);
	hi_stop_observers_add(&run->observers, hi_call_counts_observer(counts));
	if (!run->exit_watch)
		run->exit_watch = &own;
	if (status == HI_OK)
		status = hi_record_series(&o, run, &of_series, output, ret, err);
	target.counts = counts;
	hi_exit_watch_end(run->exit_watch);
	if (status != HI_OK || ret->is_of_another)
		return status;
	target.exe = hi_space_sink_exe(sink);
	status = report_space(options, hi_space_sink_profile(sink), target, output, err);
	return status == HI_OK ? hi_output_commit(output, err) : status;
}

/* Follows the target of the options, and writes the report. */
static enum hi_status follow_allocations(const struct hi_options *options,
					 struct hi_run *run, struct hi_outcome *ret,
					 struct hi_error *err)
{
	struct hi_options of_report = *options;
	struct hi_output output;
	enum hi_status status;

	if (keeps_space_profile(options))
		of_report.output.file = NULL;
	status = hi_output_open(&of_report, &output, err);
	if (status != HI_OK)
		return status;
	output.edit_place = run->edit_place;
	status = follow_and_report_space(options, run, &output, ret, err);
	hi_output_close(&output);
	return status;
}

/* ---- of a recording ---- */

static bool is_alloc_of_file(const struct hi_options *options)
{
	return options->target.file != NULL;
}

static enum hi_status write_space_of_file(const struct hi_options *options,
					  struct hi_output *output, struct hi_error *err)
{
	HI_GUARD(hi_space_profile_destroy) struct hi_space_profile *profile = NULL;
	const struct hi_space_choice choice = choice_of_space(&options->alloc);
	struct hi_space_file file = {};
	enum hi_status status = hi_space_profile_create(&profile, err);

	if (status == HI_OK)
		hi_space_profile_choose(profile, &choice);
	if (status == HI_OK)
		status = hi_space_file_read(options, profile, &file, err);
	if (status == HI_OK)
		status = report_space(
			options, profile,
			(struct space_target){file.exe, file.pid, file.left_out, NULL},
			output, err);
	hi_space_file_free(&file);
	return status;
}

struct windows_of_file {
	struct hi_inspection *in;
	struct hi_report_header header;
};

static enum hi_status fill_windows_report(void *report, struct hi_page *page,
					  struct hi_json *json, struct hi_error *err)
{
	struct windows_of_file *f = report;

	return hi_record_windows_run(f->in, &f->header, NULL, page, json, err);
}

static enum hi_status write_windows_of_file(const struct hi_options *options,
					    struct hi_output *output,
					    struct hi_error *err)
{
	HI_GUARD(hi_inspect_close) struct hi_inspection *in = NULL;
	struct windows_of_file of_file = {};
	enum hi_status status = hi_inspect_open(options, NULL, 0, &in, err);

	of_file.in = in;
	if (status == HI_OK)
		status = hi_inspect_make_header(in, &of_file.header, err);
	return status == HI_OK ? hi_write_filled(options, output, fill_windows_report,
						 &of_file, err)
			       : status;
}

/* The last census of a series. */
static enum hi_status open_any_part(const char *file, struct hi_snapshot **ret,
				    struct hi_error *err)
{
	HI_GUARD(hi_snapshots_close) struct hi_snapshots *series = NULL;
	const struct hi_snapshots_entry *last;
	enum hi_status status;

	if (!hi_snapshots_is_one(file))
		return hi_snapshot_open(file, ret, err);
	status = hi_snapshots_open(file, &series, err);
	if (status != HI_OK)
		return status;
	last = &series->entries[series->n_entries - 1];
	return hi_snapshots_part(series, series->n_entries - 1,
				 last->parts[HI_SNAPSHOTS_TOTALS].size
					 ? HI_SNAPSHOTS_TOTALS
					 : HI_SNAPSHOTS_WHOLE,
				 ret, err);
}

static enum hi_status look_for_windows(const char *file, bool *ret, struct hi_error *err)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	enum hi_status status = open_any_part(file, &s, err);

	*ret = status == HI_OK && hi_snapshot_has_windows(s);
	return status;
}

/* Estimates of functions are all that such a file has. */
static enum hi_status check_windows_options(const struct hi_options *o,
					    struct hi_error *err)
{
	const char *beyond = hi_alloc_find_beyond_windows(o);

	return beyond ? hi_fail(err, HI_USAGE, 0,
				"--%s: %.200s was recorded by windows, and has estimates "
				"of functions alone (record --sample all has the rest)",
				beyond, o->target.file)
		      : HI_OK;
}

static enum hi_status write_alloc_of_file(const struct hi_options *options,
					  struct hi_output *output, struct hi_error *err)
{
	bool has_windows = false;
	enum hi_status status = look_for_windows(options->target.file, &has_windows, err);

	if (status != HI_OK || !has_windows)
		return status == HI_OK ? write_space_of_file(options, output, err)
				       : status;
	status = check_windows_options(options, err);
	return status == HI_OK ? write_windows_of_file(options, output, err) : status;
}

#define ABOUT                                                                            \
	.id = HI_COMMAND_ALLOC, .name = "alloc", .arguments = "",                        \
	.purpose =                                                                       \
		"Show which functions of a running process allocate, and how much of "   \
		"that survives, by type.",                                               \
	.help = "Takes a census after each period (--every), and follows the "           \
		"allocations "                                                           \
		"in\n"                                                                   \
		"between. Alloc is what a function has allocated. Survived counts each " \
		"object\n"                                                               \
		"once for each census that found it; at age N are those that at least "  \
		"N\n"                                                                    \
		"censuses have found, and at age 0 all.\n"                               \
		"\n"                                                                     \
		"Needs root, or CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE; a file of "     \
		"record "                                                                \
		"does\n"                                                                 \
		"not.\n"                                                                 \
		"\n"                                                                     \
		"Examples:\n"                                                            \
		"  heapinspect alloc --pid 4242 --every 1s --for 60s\n"                  \
		"  heapinspect alloc --pid 4242 --for 60s --select parse --all\n"        \
		"  heapinspect alloc --pid 4242 --at gc --for 60s\n"                     \
		"  heapinspect alloc --pid 4242 --for 60s --format mlworks -o app.txt\n" \
		"  heapinspect alloc --pid 4242 --for 60s -o app.hisnap\n"               \
		"  heapinspect alloc app.hisnap --bars --format svg -o bars.svg\n"       \
		"  heapinspect alloc app.hirec --select parse --edit",                   \
	.targets = "--pid PID|FILE.hirec|-- PROGRAM", .follows = true,                   \
	.check = hi_alloc_check

const struct hi_command hi_command_alloc = {
	ABOUT,
	.sample = hi_series_census,
	.wanted_in_series = HI_WANT_CENSUS,
	.settle = hi_alloc_settle,
	.follow = follow_allocations,
	.page = HI_COMMAND_PAGE,
};

const struct hi_command hi_command_alloc_file = {
	ABOUT,
	.wants_series = is_alloc_of_file,
	.write_series = write_alloc_of_file,
};

/* Records a process by windows. */
const struct hi_command hi_command_alloc_windows = {
	.id = HI_COMMAND_ALLOC,
	.name = "alloc",
	.arguments = "",
	.purpose = "",
	.help = "",
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
	.check = hi_alloc_windows_check,
};
