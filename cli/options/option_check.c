/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/option_check.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/near_names.h"
#include "cli/command/command.h"
#include "cli/options/profile_options.h"

/* ---- what rows need and exclude ---- */

/* One name, or name=value, of a list by spaces. */
struct wanted {
	char name[32], value[32];
	const struct hi_option_row *row; /* NULL: the command does not take it */
};

/* Returns the list after its first word. */
static const char *next_wanted(const struct hi_options *o, const char *list,
			       struct wanted *ret)
{
	int n = (int)strcspn(list, " "), equals = (int)strcspn(list, "= ");

	snprintf(ret->name, sizeof(ret->name), "%.*s", equals, list);
	snprintf(ret->value, sizeof(ret->value), "%.*s", n > equals ? n - equals - 1 : 0,
		 list + equals + 1);
	ret->row = hi_option_find(o->command->id, ret->name);
	return list + n + (list[n] == ' ');
}

static bool is_given(const struct hi_given *given, const struct wanted *w)
{
	size_t i = w->row ? (size_t)(w->row - hi_option_table) : 0;

	return w->row && given->rows[i] &&
	       (!*w->value || strcmp(w->value, given->values[i]) == 0);
}

/* "--format csv", "--top" */
static const char *name_of_wanted(const struct wanted *w, char text[80])
{
	snprintf(text, 80, "--%s%s%s", w->name, *w->value ? " " : "", w->value);
	return text;
}

/* "--every", "--format csv or --format ndjson", of those that the command takes */
static int refuse_alone(const struct hi_given *given, const struct hi_option_row *row)
{
	const char *list = row->only_with;
	char names[400] = "", text[80];
	struct wanted w;
	size_t n = 0;

	while (*list && n < sizeof(names)) {
		list = next_wanted(given->options, list, &w);
		if (w.row)
			n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s",
					      !n      ? ""
					      : *list ? ", "
						      : " or ",
					      name_of_wanted(&w, text));
	}
	return hi_option_wrong("--%s: only with %s", row->name, names);
}

static int check_only_with(const struct hi_given *given, const struct hi_option_row *row)
{
	struct wanted w;

	for (const char *list = row->only_with; *list;) {
		list = next_wanted(given->options, list, &w);
		if (is_given(given, &w))
			return 0;
	}
	return refuse_alone(given, row);
}

static int check_not_with(const struct hi_given *given, const struct hi_option_row *row)
{
	char text[80];
	struct wanted w;

	for (const char *list = row->not_with; *list;) {
		list = next_wanted(given->options, list, &w);
		if (!is_given(given, &w))
			continue;
		if (!row->why)
			return hi_option_wrong("--%s and %s: only one of them", row->name,
					       name_of_wanted(&w, text));
		return hi_option_wrong("--%s: not with %s, %s", row->name,
				       name_of_wanted(&w, text), row->why);
	}
	return 0;
}

static int check_rows(const struct hi_given *given)
{
	for (size_t i = 0; i < hi_option_table_size; i++) {
		const struct hi_option_row *row = &hi_option_table[i];

		if (given->rows[i] &&
		    ((row->only_with && check_only_with(given, row) != 0) ||
		     (row->not_with && check_not_with(given, row) != 0)))
			return 2;
	}
	return 0;
}

const char *hi_given_for(const struct hi_given *given, unsigned is_for)
{
	for (size_t i = 0; i < hi_option_table_size; i++)
		if (given->rows[i] && hi_option_table[i].is_for & is_for)
			return hi_option_table[i].name;
	return NULL;
}

bool hi_option_has_output_file(const struct hi_options *o)
{
	return o->output.file && strcmp(o->output.file, "-") != 0;
}

void hi_series_settle_period(struct hi_series_options *s, bool has_place)
{
	if (hi_series_asked(s))
		return;
	s->each_hit = has_place;
	if (!has_place)
		s->every_ns = HI_NS_PER_S;
}

int hi_option_check_three(const struct hi_options *o)
{
	const struct hi_comparison_options *c = &o->comparison;

	if (!c->three || (c->baseline && c->middle))
		return 0;
	return hi_option_wrong(
		"--three: needs three snapshot files: after warm-up, under load, and "
		"after the load; the last may be a process or a core");
}

/* ---- roots and retainers ---- */

static const char *name_of_option_root(void *arg, uint32_t i)
{
	const struct hi_profile_options *p = arg;

	return p->roots[i].name;
}

static int wrong_under(const struct hi_profile_options *p, const char *name)
{
	struct hi_profile_options copy = *p;
	char near[HI_NEAR_TEXT];

	if (!p->n_roots)
		return hi_option_wrong("--under %s: no --root has this name; give --root "
				       "%s=EXPRESSION too",
				       name, name);
	hi_names_near_text(name, name_of_option_root, &copy, (uint32_t)p->n_roots, near);
	return hi_option_wrong("--under %s: no --root has this name%s", name, near);
}

/* Refuses options that would change nothing here. */
static int check_effect(const struct hi_options *o)
{
	const struct hi_profile_options *p = &o->profile;
	const struct hi_command *c = o->command;
	const char *restriction = p->n_retainers ? "--retainer"
				  : p->identity	 ? "--identity"
				  : p->max_set	 ? "--max-set"
						 : NULL;

	if (p->n_roots && !p->n_under && !c->takes_roots_alone)
		return hi_option_wrong("--root %s: only with --under %s, which restricts "
				       "%s to what the root leads to (roots and query "
				       "take it alone)",
				       p->roots[0].name, p->roots[0].name, c->name);
	if (restriction && !p->retained_by && !c->groups_by_retainers)
		return hi_option_wrong(
			"%s: only with --retained-by NAME, which restricts "
			"%s to what has this retainer",
			restriction, c->name);
	return 0;
}

static int check_profile(const struct hi_given *given)
{
	const struct hi_options *o = given->options;
	const struct hi_profile_options *p = &o->profile;
	const char *twice = hi_profile_duplicate(p);
	const char *unknown = hi_profile_unknown_under(p);

	if (twice)
		return hi_option_wrong("--root %s: two roots have this name", twice);
	if (unknown)
		return wrong_under(p, unknown);
	if (p->identity == HI_IDENTITY_SITE && !o->target.file)
		return hi_option_wrong("--identity site: only of a recording; make one "
				       "with heapinspect record");
	return check_effect(o);
}

/* ---- the target ---- */

static int check_file(const struct hi_given *given)
{
	const struct hi_options *o = given->options;
	const char *of_bytes = hi_given_for(given, HI_FOR_BYTES);

	if (o->snap.redact)
		return hi_option_wrong("--redact: %s holds names of keys already; write "
				       "it with snap --redact",
				       o->target.file);
	if (of_bytes)
		return hi_option_wrong("--%s: not with a snapshot file (%s)", of_bytes,
				       o->target.file);
	return 0;
}

/* A program that runs tracemalloc has these without a recording. */
static bool has_traced_births(const struct hi_options *o)
{
	return o->selection.born_by == HI_BORN_BY_SITE ||
	       o->selection.born_by == HI_BORN_BY_CONTEXT;
}

/* Options that need what only a file can have. */
static int check_recorded(const struct hi_options *o)
{
	const struct hi_birth_choice *births = &o->selection.births;

	if (o->target.census)
		return hi_option_wrong("--census: only with a snapshot file");
	if (o->selection.has_born_by && !has_traced_births(o))
		return hi_option_wrong("--by thread, age, site-module: only of a "
				       "recording; make one with heapinspect record");
	if (o->selection.bands || o->selection.era)
		return hi_option_wrong(
			"--%s: only of a file with biographies; make one with "
			"heapinspect bio --pid N -o FILE",
			o->selection.bands ? "bio" : "era");
	if (births->age.is_set || births->born.is_set || births->thread)
		return hi_option_wrong("--age, --born, --thread: only of a recording; "
				       "make one with heapinspect record");
	return 0;
}

static int check_target(const struct hi_given *given)
{
	const struct hi_options *o = given->options;
	const char *of_process = hi_given_for(given, HI_FOR_PROCESS);

	if (o->target.file ? check_file(given) != 0 : check_recorded(o) != 0)
		return 2;
	if (!o->target.pid && !o->target.core && !o->target.file)
		return hi_option_wrong(
			"no target: give --pid N, --name NAME, --core FILE, a "
			"snapshot file or -- PROGRAM; see heapinspect --help");
	if (o->target.pid && o->target.core)
		return hi_option_wrong("--pid and --core: only one target at a time");
	if (!o->target.pid && of_process)
		return hi_option_wrong("--%s: only with --pid", of_process);
	return 0;
}

/* ---- when it is stopped ---- */

static int check_stop(const struct hi_given *given)
{
	const struct hi_safepoint_options *s = &given->options->safepoint;

	if (s->every_text && !s->at.text)
		return hi_option_wrong("--at every:N: needs a place, too: add --at gc or "
				       "--at FUNCTION");
	if ((s->every_text || s->timeout_ns) && !hi_safepoint_asked(s))
		return hi_option_wrong("--%s: not with --at now, which waits for nothing",
				       s->every_text ? "at every:N" : "timeout");
	return 0;
}

static int check_series(const struct hi_given *given)
{
	const struct hi_options *o = given->options;
	const struct hi_series_options *s = &o->series;
	bool is_series = hi_series_asked(s);
	const char *alone = is_series || o->command->follows ? NULL
			    : s->for_ns			     ? "for"
			    : s->has_full		     ? "full"
			    : s->max_file		     ? "max-file"
			    : s->hp			     ? "hp"
			    : s->has_axis		     ? "time"
							     : NULL;

	if (alone)
		return hi_option_wrong("--%s: only with --every, or with --at%s", alone,
				       s->for_ns ? " for each hit of a place"
						 : " and --for");
	if (is_series && !o->target.pid)
		return hi_option_wrong("--%s: only with --pid",
				       hi_series_at_each_hit(s) ? "for" : "every");
	if (is_series && o->selection.untyped)
		return hi_option_wrong("--%s: not with --untyped",
				       hi_series_at_each_hit(s) ? "for" : "every");
	return 0;
}

static int check_argument(const struct hi_options *o)
{
	const struct hi_command *c = o->command;

	if (c->take_word || !c->arguments[0] || c->arguments[0] == '[' || o->argument)
		return 0;
	return hi_option_wrong("%s: %s is missing; see heapinspect %s --help", c->name,
			       c->arguments, c->name);
}

int hi_option_check(const struct hi_given *given)
{
	static int (*const checks[])(const struct hi_given *) = {
		check_target, check_stop, check_series, check_profile};
	const struct hi_command *c = given->options->command;

	if (check_argument(given->options) != 0 || (c->check && c->check(given) != 0) ||
	    check_rows(given) != 0)
		return 2;
	for (size_t i = 0; !c->run_alone && i < sizeof(checks) / sizeof(*checks); i++)
		if (checks[i](given) != 0)
			return 2;
	return 0;
}
