/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `alloc`. */
#include <string.h>

#include "cli/command/command.h"
#include "cli/commands/alloc.h"
#include "cli/commands/source_editor.h"
#include "cli/options/option_check.h"

#define SCAN_NS 10000000u /* without --scan */

void hi_alloc_settle(struct hi_options *o)
{
	if (o->alloc.pause || o->alloc.resume) {
		o->command = &hi_command_alloc_pause;
		return;
	}
	if (!o->alloc.has_depth)
		o->alloc.depth = 1;
	if (o->target.file) {
		o->command = &hi_command_alloc_file;
		return;
	}
	if (o->record.has_windows) {
		o->command = &hi_command_alloc_windows;
		return;
	}
	if (!o->record.has_scan)
		o->record.scan_ns = SCAN_NS;
	hi_series_settle_period(&o->series, hi_safepoint_asked(&o->safepoint));
}

/* A manner of all functions has the column, and no pattern says of which. */
static bool counts_calls_of_all(const struct hi_alloc_options *o)
{
	bool of_all = false, of_some = false;

	for (size_t i = 0; i < o->n_manners; i++) {
		bool has_calls = o->manners[i].columns & HI_ALLOC_CALLS;

		of_all |= has_calls && !o->manners[i].pattern;
		of_some |= has_calls && o->manners[i].pattern;
	}
	return of_all && !of_some;
}

static bool counts_calls(const struct hi_alloc_options *o)
{
	for (size_t i = 0; i < o->n_manners; i++)
		if (o->manners[i].columns & HI_ALLOC_CALLS)
			return true;
	return false;
}

static int check_manners(const struct hi_options *o)
{
	if (o->target.file && counts_calls(&o->alloc))
		return hi_option_wrong("--manner PATTERN=calls: only with --pid: a file "
				       "has no counts of calls");
	if (counts_calls_of_all(&o->alloc))
		return hi_option_wrong("--manner calls: calls are counted of functions "
				       "that a PATTERN names: --manner PATTERN=calls");
	return 0;
}

static int check_bars(const struct hi_options *o)
{
	const char *format = o->output.format;
	bool has_bars = o->alloc.bars || (format && strcmp(format, "html") == 0);

	if (!o->alloc.bars && format && strcmp(format, "svg") == 0)
		return hi_option_wrong("--format svg: only with --bars");
	if (!has_bars && o->alloc.has_order && o->alloc.order == HI_ALLOC_BY_WEIGHT)
		return hi_option_wrong("--sort weight: only with --bars");
	return 0;
}

int hi_alloc_check(const struct hi_given *given)
{
	const struct hi_options *o = given->options;
	const char *of_following = hi_given_for(given, HI_FOR_FOLLOWING);

	if (o->series.max_file && (!hi_option_has_output_file(o) || o->target.file ||
				   o->output.json || o->output.format))
		return hi_option_wrong("--max-file: only with -o FILE, to which the "
				       "profile of --pid goes");
	if (o->alloc.edit && !hi_edit_has_editor())
		return hi_option_wrong("--edit: no editor: neither VISUAL nor EDITOR is "
				       "set");
	if (check_bars(o) != 0 || check_manners(o) != 0)
		return 2;
	if (o->target.file && o->target.census)
		return hi_option_wrong("alloc: is of all censuses of a file, not of %s",
				       o->target.census);
	if (o->target.file && of_following)
		return hi_option_wrong("--%s: only with --pid: %s is recorded already",
				       of_following, o->target.file);
	return 0;
}

const char *hi_alloc_find_beyond_windows(const struct hi_options *o)
{
	const struct hi_alloc_options *a = &o->alloc;
	const struct {
		const char *name;
		bool is_given;
	} options[] = {
		{"format", o->output.format && strcmp(o->output.format, "text") != 0},
		{"bars", a->bars},
		{"select", a->select},
		{"manner", a->n_manners},
		{"callers", a->callers},
		{"sort", a->has_order},
		{"centre", a->n_centres},
		{"by", a->by_mark},
		{"from-mark", a->from_mark},
		{"to-mark", a->to_mark},
		{"edit", a->edit},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (options[i].is_given)
			return options[i].name;
	return NULL;
}

int hi_alloc_windows_check(const struct hi_given *given)
{
	const struct hi_options *o = given->options;
	const char *beyond = o->record.scan_ns ? "scan" : hi_alloc_find_beyond_windows(o);

	if (beyond)
		return hi_option_wrong("--%s: not with --sample windows, which has "
				       "estimates of functions alone; without --sample, "
				       "or with --sample all, both work",
				       beyond);
	if (hi_series_asked(&o->series) && !hi_option_has_output_file(o))
		return hi_option_wrong(
			"--every: with --sample windows -o FILE is missing, "
			"which the censuses go to");
	return 0;
}
