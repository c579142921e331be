/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/alloc_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/options/option_table.h"

/* Where the name ends: at a comma that is in no brackets. */
static size_t length_of_centre(const char *text)
{
	int depth = 0;
	size_t i = 0;

	for (; text[i] && (text[i] != ',' || depth > 0); i++) {
		depth += text[i] == '(' || text[i] == '<';
		depth -= text[i] == ')' || text[i] == '>';
	}
	return i;
}

static bool push_centre(struct hi_alloc_options *o, const char *name)
{
	const char **more =
		hi_realloc_array(o->centres, o->n_centres + 1, sizeof(*o->centres));

	if (!more)
		return false;
	o->centres = more;
	o->centres[o->n_centres++] = name;
	return true;
}

bool hi_alloc_take_centres(struct hi_alloc_options *o, char *text, const char **why_ret)
{
	bool is_last;

	do {
		size_t n = length_of_centre(text);

		is_last = !text[n];
		text[n] = '\0';
		*why_ret = n ? "" : "the name of a function is missing";
		if (!n || !push_centre(o, text))
			return false;
		text += n + 1;
	} while (!is_last);
	return true;
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

const char *hi_alloc_options_check(const struct hi_options *options)
{
	const struct hi_alloc_options *o = &options->alloc;

	if (o->by_mark && o->n_centres)
		return "--by mark and --centre: only one of them";
	if (o->by_mark && o->callers)
		return "--callers: not with --by mark: a mark calls nothing";
	if (o->bars && o->n_manners)
		return "--manner: not with --bars";
	if (options->target.file && counts_calls(o))
		return "--manner PATTERN=calls: only with --pid: a file has no counts of "
		       "calls";
	return counts_calls_of_all(o)
		       ? "--manner calls: calls are counted of functions that a PATTERN "
			 "names: --manner PATTERN=calls"
		       : NULL;
}

/* What is told to a running command goes with nothing else. */
const char *hi_alloc_pause_check(const struct hi_options *o)
{
	const struct hi_alloc_options *a = &o->alloc;

	if (a->pause && a->resume)
		return "--pause and --resume: only one of them";
	if (!o->target.pid || o->target.file || o->target.core)
		return "--pause, --resume: --pid N is missing";
	if (a->select || a->n_centres || a->from_mark || a->to_mark || a->by_mark ||
	    a->callers || a->n_manners || a->bars || a->has_weight || o->series.for_ns ||
	    o->series.every_ns || o->series.every_bytes || o->record.has_sample ||
	    o->output.format || o->output.json || o->output.file)
		return "--pause, --resume: only with --pid: what is shown, and how, is "
		       "up "
		       "to the running command";
	return NULL;
}

void hi_alloc_options_free(struct hi_alloc_options *o)
{
	free((void *)o->centres);
	free(o->manners);
	*o = (struct hi_alloc_options){};
}

static int take_alloc_by(struct hi_options *o, const char *text)
{
	o->alloc.by_mark = strcmp(text, "mark") == 0;
	if (o->alloc.by_mark || strcmp(text, "function") == 0)
		return 0;
	hi_option_wrong("--by %s: not one of function, mark", text);
	return HI_OPTION_SAID;
}

static int take_manner(struct hi_alloc_options *o, char *text)
{
	struct hi_manner *more =
		hi_realloc_array(o->manners, o->n_manners + 1, sizeof(*o->manners));
	const char *why, *where;

	if (!more) {
		hi_option_wrong("--manner: out of memory");
		return HI_OPTION_SAID;
	}
	o->manners = more;
	if (hi_manner_parse(text, &o->manners[o->n_manners], &why, &where)) {
		o->n_manners++;
		return 0;
	}
	hi_option_wrong("--manner %s: %s", where, why);
	return HI_OPTION_SAID;
}

int hi_option_take_alloc(int key, char *arg, struct hi_options *o)
{
	const char *why = "";

	switch (key) {
	case HI_OPT_SELECT:
		return hi_option_take_once("--select", arg, &o->alloc.select);
	case HI_OPT_CENTRE:
		if (hi_alloc_take_centres(&o->alloc, arg, &why))
			return 0;
		hi_option_wrong("--centre: %s", *why ? why : "out of memory");
		return HI_OPTION_SAID;
	case HI_OPT_FROM_MARK:
		return hi_option_take_once("--from-mark", arg, &o->alloc.from_mark);
	case HI_OPT_TO_MARK:
		return hi_option_take_once("--to-mark", arg, &o->alloc.to_mark);
	case HI_OPT_MANNER:
		return take_manner(&o->alloc, arg);
	case HI_OPT_PAUSE:
		o->alloc.pause = true;
		return 0;
	case HI_OPT_RESUME:
		o->alloc.resume = true;
		return 0;
	case HI_OPT_ALLOC_BY:
		return take_alloc_by(o, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}
