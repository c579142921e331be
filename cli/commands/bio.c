/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command `bio`: follows a process by censuses and by its allocations, and shows how
 * much of its heap is used, is not used any more, or never was.
 *
 * Note [Evidence of use]
 *
 * It is a series with a recording (cli/record/record_series.h) that goes into biographies
 * (session/biography/lives.h), and into a file only with -o. Contents that differ from the
 * last census prove a use; pages that were not referenced between two stops prove that
 * there was none (probes/pages.h, read and cleared by a hook of the stop). With --uses,
 * functions that take pointers to the types of the last census get probes
 * (session/live/use_evidence.h): an object that is passed is used. The machine's idle time
 * limits how often there is a census (session/series/pace.h).
 *
 * The report is made of plain data (census/biography/summary.h), which the file keeps
 * (census/snapshot/snapshot_lives.h): `bio FILE`, --bio of other commands and `explain`
 * read it (session/lives_of_file.h).
 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/command/command.h"
#include "cli/command/write_report.h"
#include "cli/decoder/decoder.h"
#include "cli/options/option_check.h"
#include "cli/record/record_series.h"
#include "report/parts/legend.h"
#include "report/reports/bio/bio_report.h"
#include "session/biography/bio_result.h"
#include "session/biography/bio_sink.h"
#include "session/lives_of_file.h"
#include "session/live/page_evidence.h"
#include "session/live/use_evidence.h"
#include "session/live/watch_evidence.h"
#include "session/operands.h"
#include "session/run.h"
#include "session/series/rows.h"

enum { TOP = 20 };

#define MOST_COST 0.03 /* of recording, as a share of a processor */

struct followed_report {
	struct hi_bio_report report;
	bool is_before_exit;
};

static enum hi_status fill_bio_report(void *arg, struct hi_page *page,
				      struct hi_json *json, struct hi_error *)
{
	const struct followed_report *followed = arg;

	if (json) {
		hi_bio_json(&followed->report, json);
		return HI_OK;
	}
	hi_bio_display(&followed->report, page);
	if (followed->is_before_exit)
		hi_page_note(page, "the target has exited: this page is of the last "
				   "census before that; --json and the file of -o have "
				   "the one of its exit, too");
	hi_legend_add(page);
	return HI_OK;
}

static struct hi_lives_result_options choose_result(const struct hi_options *options)
{
	return (struct hi_lives_result_options){.by = options->biography.by,
						.bands = options->biography.bands,
						.top = hi_lookup_top(options, TOP),
						.min_size = options->selection.min_size};
}

/* Why there is less evidence. */
struct no_evidence {
	struct hi_error watch, uses;
};

static enum hi_status report_lives(const struct hi_options *options,
				   struct hi_lives_sink *sink, struct hi_output *output,
				   struct hi_error *err)
{
	const struct hi_lives_result_options what = choose_result(options);
	HI_GUARD(hi_bio_summary_destroy) struct hi_bio_summary *summary = NULL;
	const struct hi_bio_summary *shown =
		options->output.json ? NULL : hi_lives_sink_before_exit(sink);
	struct followed_report f = {.is_before_exit = shown != NULL};
	struct hi_arena arena = {};
	enum hi_status status =
		shown ? HI_OK
		      : hi_lives_summarize(hi_lives_sink_lives(sink), &summary, err);

	if (status == HI_OK)
		status = hi_lives_result(shown ? shown : summary, &what, &arena,
					 &f.report, err);
	if (status == HI_OK) {
		f.report.pid = (int)options->target.pid;
		f.report.exe = hi_lives_sink_exe(sink);
		status = hi_write_filled(options, output, fill_bio_report, &f, err);
	}
	if (status == HI_OK)
		status = hi_output_commit(output, err);
	hi_arena_free(&arena);
	return status;
}

/* Without it there is less evidence, which the user is told. */
static void open_page_evidence(const struct hi_options *options,
			       struct hi_page_evidence **ret)
{
	struct hi_error why = {};
	char text[4 * sizeof(why.text)];

	if (hi_page_evidence_open(options->target.pid, ret, &why) == HI_OK ||
	    options->output.quiet)
		return;
	hi_text_escape(text, sizeof(text), why.text, strlen(why.text));
	fprintf(stderr,
		"heapinspect: no evidence from pages, so that nothing is proved to be "
		"unused: %s\n",
		text);
}

/* The same. */
static void open_watch_evidence(const struct hi_options *options,
				struct hi_watch_evidence **ret, struct hi_error *why)
{
	char text[4 * sizeof(why->text)];

	if (!options->biography.watch ||
	    hi_watch_evidence_open(options->target.pid, options->biography.watch, ret,
				   why) == HI_OK ||
	    options->output.quiet)
		return;
	hi_text_escape(text, sizeof(text), why->text, strlen(why->text));
	fprintf(stderr, "heapinspect: nothing is watched: %s\n", text);
}

/* Is the series to be kept in the file of -o? */
static bool is_file_asked(const struct hi_options *options)
{
	return options->output.file && strcmp(options->output.file, "-") != 0;
}

/* The same. */
static void open_use_evidence(const struct hi_options *options,
			      struct hi_use_evidence **ret, struct hi_error *why)
{
	char text[4 * sizeof(why->text)];

	if (!options->biography.uses ||
	    hi_use_evidence_open(options->target.pid, options->output.verbose, ret,
				 why) == HI_OK ||
	    options->output.quiet)
		return;
	hi_text_escape(text, sizeof(text), why->text, strlen(why->text));
	fprintf(stderr, "heapinspect: no calls are seen: %s\n", text);
}

/* Each observes the stops of the series, and is closed with the run. */
static void open_evidence(const struct hi_options *options, struct hi_run *run,
			  struct hi_lives_evidence *ret, struct no_evidence *no)
{
	open_page_evidence(options, &ret->pages);
	open_watch_evidence(options, &ret->watch, &no->watch);
	open_use_evidence(options, &ret->uses, &no->uses);
	hi_stop_observers_add(&run->observers, hi_page_evidence_observer(ret->pages));
	hi_stop_observers_add(&run->observers, hi_watch_evidence_observer(ret->watch));
	hi_stop_observers_add(&run->observers, hi_use_evidence_observer(ret->uses));
}

static enum hi_status follow_and_report(const struct hi_options *options,
					struct hi_run *run, struct hi_output *output,
					struct hi_outcome *ret, struct hi_error *err)
{
	struct hi_lives_evidence evidence = {};
	HI_GUARD(hi_lives_sink_close) struct hi_lives_sink *sink = NULL;
	struct no_evidence no = {};
	struct hi_lives_options lives = {.live = options->biography.live,
					 .birth_use = options->biography.birth_use,
					 .death_use = options->biography.death_use,
					 .inherent = options->biography.inherent,
					 .watch = options->biography.watch,
					 .no_watch = no.watch.text,
					 .uses = options->biography.uses,
					 .no_uses = no.uses.text,
					 .retainers = options->biography.by ==
							      HI_LIVES_BY_RETAINERS ||
						      is_file_asked(options),
					 .era = options->biography.era};
	struct hi_exit_watch own = {};
	struct hi_options o = *options;
	struct hi_series_sink of_series;
	const struct hi_lives_profile profile = {.path = options->series.hp,
						 .has_groups = options->biography.has_by,
						 .by = options->biography.by,
						 .bands = options->biography.bands};
	enum hi_status status = hi_lives_sink_open(&lives, &profile, &sink, err);

	if (status != HI_OK)
		return status;
	open_evidence(options, run, &evidence, &no);
	hi_lives_use_evidence(hi_lives_sink_lives(sink), &evidence);
	if (!is_file_asked(options))
		o.output.file = NULL;
	o.series.full = (struct hi_graphs_wanted){.last = true};
	run->kept = (struct hi_kept_part){.save = hi_lives_save,
					  .what = hi_lives_sink_lives(sink)};
	if (!run->exit_watch)
		run->exit_watch = &own;
	if (!o.record.has_sample)
		o.record.most_cost = MOST_COST;
	of_series = hi_lives_sink_of_series(sink);
	status = hi_record_series(&o, run, &of_series, output, ret, err);
	hi_exit_watch_end(run->exit_watch);
	o.output.file = NULL;
	return status == HI_OK && !ret->is_of_another
		       ? report_lives(&o, sink, output, err)
		       : status;
}

/* Follows the target of the options, and writes the report. */
static enum hi_status follow_biographies(const struct hi_options *options,
					 struct hi_run *run, struct hi_outcome *ret,
					 struct hi_error *err)
{
	struct hi_options of_report = *options;
	struct hi_output output;
	enum hi_status status;

	of_report.output.file = NULL;
	status = hi_output_open(&of_report, &output, err);

	if (status != HI_OK)
		return status;
	status = follow_and_report(options, run, &output, ret, err);
	hi_output_close(&output);
	return status;
}

/* ---- of a file ---- */

static enum hi_status run_bio_of_file(struct hi_inspection *in,
				      const struct hi_report_header *header,
				      struct hi_page *page, struct hi_json *json,
				      struct hi_error *err)
{
	const struct hi_lives_result_options what = choose_result(in->options);
	const struct hi_bio_summary *lives = NULL;
	struct hi_bio_report report;
	enum hi_status status = hi_inspect_lives(in, &lives, err);

	if (status == HI_OK)
		status = hi_lives_result(lives, &what, &in->arena, &report, err);
	if (status != HI_OK)
		return status;
	report.pid = header->pid;
	report.exe = header->exe;
	if (json)
		hi_bio_json(&report, json);
	else
		hi_bio_display(&report, page);
	return HI_OK;
}

/* ---- the commands ---- */

/* ---- the command line ---- */

/* Shows what was followed earlier out of its file. */
static void settle_bio(struct hi_options *o)
{
	if (o->target.file)
		o->command = &hi_command_bio_file;
	else
		hi_series_settle_period(&o->series, hi_safepoint_asked(&o->safepoint));
}

static int check_bio(const struct hi_given *given)
{
	const struct hi_options *o = given->options;
	const struct hi_profile_options *p = &o->profile;
	const char *restriction = p->n_retainers ? "--retainer"
				  : p->identity	 ? "--identity"
				  : p->max_set	 ? "--max-set"
						 : NULL;

	return restriction && o->biography.by != HI_LIVES_BY_RETAINERS
		       ? hi_option_wrong("%s: only with --by retainers", restriction)
		       : 0;
}

/* How to find what the file has is not asked any more. */
static int check_bio_file(const struct hi_given *given)
{
	const char *of_following = hi_given_for(given, HI_FOR_FOLLOWING);

	return of_following
		       ? hi_option_wrong("--%s: only with --pid: %s has what was found "
					 "already",
					 of_following, given->options->target.file)
		       : check_bio(given);
}

#define ABOUT                                                                            \
	.id = HI_COMMAND_BIO, .name = "bio", .arguments = "",                            \
	.targets = "--pid PID|FILE.hisnap|-- PROGRAM", .follows = true,                  \
	.groups_by_retainers = true,                                                     \
	.purpose =                                                                       \
		"Show which memory of a running process is used, is not used any more "  \
		"(DRAG), is not used yet (LAG), or is never used (VOID).",               \
	.help = "Takes a census after each period (--every), and follows the "           \
		"allocations "                                                           \
		"in\n"                                                                   \
		"between. An object was used in a period if its contents differ from "   \
		"those at\n"                                                             \
		"the census before. Each amount is what is proved, and what is "         \
		"possible: "                                                             \
		"of\n"                                                                   \
		"memory that was only read, no use is proved, unless --watch or "        \
		"--uses\n"                                                               \
		"sees it.\n"                                                             \
		"\n"                                                                     \
		"Memory that is older than the command is UNUSED-SINCE-ATTACH until a "  \
		"use "                                                                   \
		"of it\n"                                                                \
		"is seen.\n"                                                             \
		"\n"                                                                     \
		"With -o, what was found is kept in a snapshot file, with the last "     \
		"heap: "                                                                 \
		"bio shows\n"                                                            \
		"it again, other commands take --bio of it, and explain shows the life " \
		"of an\n"                                                                \
		"object.\n"                                                              \
		"\n"                                                                     \
		"Needs root, or CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE.\n"              \
		"\n"                                                                     \
		"Examples:\n"                                                            \
		"  heapinspect bio --pid 4242 --every 1s --for 60s\n"                    \
		"  heapinspect bio --pid 4242 --for 60s --by site --bio drag\n"          \
		"  heapinspect bio --pid 4242 --for 60s --by retainers --bio drag\n"     \
		"  heapinspect bio --pid 4242 --for 60s --hp app.hp\n"                   \
		"  heapinspect graph app.hp\n"                                           \
		"  heapinspect bio --pid 4242 --for 60s -o app.hisnap\n"                 \
		"  heapinspect bio app.hisnap --by root\n"                               \
		"  heapinspect retainers app.hisnap --bio idle"

const struct hi_command hi_command_bio = {
	ABOUT,
	.sample = hi_series_census,
	.wanted_in_series = HI_WANT_CENSUS,
	.settle = settle_bio,
	.follow = follow_biographies,
	.check = check_bio,
	.page = HI_COMMAND_PAGE,
};

const struct hi_command hi_command_bio_file = {
	ABOUT,
	.run = run_bio_of_file,
	.check = check_bio_file,
};
