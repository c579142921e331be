/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/option_table.h"
#include "cli/profile_options.h"
#include "cli/safepoint_options.h"
#include "cli/series_options.h"

#include <string.h>

#include "cli/command.h"
#include "cli/query.h"
#include "report/formats/export.h"
#include "report/formats/export_table.h"
#include "report/views/names.h"
#include "session/lookup.h"

static const char *name_of_option_root(void *arg, uint32_t i)
{
	const struct hi_profile_options *p = arg;

	return p->roots[i].name;
}

static int wrong_under(const struct hi_profile_options *p, const char *name)
{
	const char *near[HI_NAMES_NEAREST] = {};
	struct hi_profile_options copy = *p;

	if (!p->n_roots)
		return hi_option_wrong("--under %s: no --root has this name; give --root "
				       "%s=EXPRESSION too",
				       name, name);
	hi_names_nearest(name, name_of_option_root, &copy, (uint32_t)p->n_roots, near);
	return hi_option_wrong("--under %s: no --root has this name%s%s%s%s", name,
			       near[0] ? "; near it: " : "", near[0] ? near[0] : "",
			       near[0] && near[1] ? ", " : "",
			       near[0] && near[1] ? near[1] : "");
}

static int check_profile(const struct hi_options *o)
{
	const struct hi_profile_options *p = &o->profile;
	const char *twice = hi_profile_duplicate(p);
	const char *unknown = hi_profile_unknown_under(p);

	if (twice)
		return hi_option_wrong("--root %s: two roots have this name", twice);
	if (unknown)
		return wrong_under(p, unknown);
	if (p->identity == HI_IDENTITY_SITE)
		return hi_option_wrong("--identity site: needs allocation events, which "
				       "are not recorded yet");
	if (o->command->id == HI_COMMAND_ROOTS && !p->n_roots)
		return hi_option_wrong("roots: --root NAME=EXPRESSION is missing; see "
				       "heapinspect roots --help");
	if (o->command->id == HI_COMMAND_UP && !o->selection.type)
		return hi_option_wrong(
			"up: --type is missing; see heapinspect up --help");
	if (p->n_roots && o->decoding.conservative)
		return hi_option_wrong(
			"--root: not with --conservative, which reads no types");
	return 0;
}

static int check_command(const struct hi_options *o)
{
	enum hi_query_format format;
	uint64_t address;

	if (o->command->arguments[0] && o->command->arguments[0] != '[' && !o->argument)
		return hi_option_wrong("%s: %s is missing; see heapinspect %s --help",
				       o->command->name, o->command->arguments,
				       o->command->name);
	if (o->command->id == HI_COMMAND_EXPLAIN &&
	    !hi_lookup_is_address(o->argument, &address))
		return hi_option_wrong("explain %s: not an address like 0x55d0c8a412a0",
				       o->argument);
	if (o->command->id == HI_COMMAND_QUERY && !hi_query_take_format(o, &format))
		return hi_option_wrong("-f %s: not one of table, json, csv",
				       o->output.format);
	if (o->command->id == HI_COMMAND_QUERY && o->output.json &&
	    format != HI_QUERY_JSON)
		return hi_option_wrong("--json and -f %s: only one of them",
				       o->output.format);
	if (o->command->id == HI_COMMAND_SAFEPOINTS && !o->target.pid)
		return hi_option_wrong("safepoints: --pid N is missing");
	if (o->drawing.bands.to > 0 && o->drawing.bands.to < o->drawing.bands.from)
		return hi_option_wrong("--from and --to: the range is empty");
	return 0;
}

/* Options that need the bytes of a target. */
static int check_file(const struct hi_options *o)
{
	const struct {
		bool given;
		const char *name;
	} words[] = {{o->target.pid, "--pid"},
		     {o->target.core, "--core"},
		     {o->target.exe, "--exe"},
		     {o->decoding.swap, "--swap"},
		     {o->safepoint.max_pause_ns, "--max-pause"},
		     {o->decoding.conservative, "--conservative"},
		     {o->decoding.n_hints, "--hints"},
		     {o->decoding.no_hints, "--no-hints"},
		     {o->decoding.debug_dir, "--debug-dir"},
		     {o->selection.untyped, "--untyped"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].given)
			return hi_option_wrong("%s: not with a snapshot file (%s)",
					       words[i].name, o->target.file);
	if (o->command->id == HI_COMMAND_SNAP || o->command->id == HI_COMMAND_AUDIT)
		return hi_option_wrong("%s: needs --pid or --core: a snapshot file has "
				       "no contents",
				       o->command->name);
	return 0;
}

/* Gates that look at a baseline need one. */
static int check_gates(const struct hi_options *o)
{
	if (o->command->id != HI_COMMAND_CHECK)
		return 0;
	if (!o->check.n_gates)
		return hi_option_wrong("check: --fail-on EXPR is missing; see "
				       "heapinspect check --help");
	for (size_t i = 0; i < o->check.n_gates; i++)
		if (o->check.gates[i].needs_baseline && !o->comparison.baseline)
			return hi_option_wrong("--fail-on '%s': --baseline FILE is "
					       "missing",
					       o->check.gates[i].text);
	return 0;
}

static int check_export(const struct hi_options *o)
{
	static const char *const tables[] = {"objects", "edges",    "types",
					     "roots",	"censuses", "sums"};
	bool is_table = false;

	if (o->command->id != HI_COMMAND_EXPORT)
		return 0;
	if (!o->output.format)
		return hi_option_wrong("export: -f FORMAT is missing; see heapinspect "
				       "export --help");
	if (!hi_export_has_format(o->output.format))
		return hi_option_wrong(
			"-f %s: not one of heapsnapshot, csv, ndjson, parquet, "
			"folded, speedscope, massif, pprof, hp, dot, "
			"prometheus",
			o->output.format);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		is_table |= o->output.table && strcmp(o->output.table, tables[i]) == 0;
	if (o->output.table && !is_table)
		return hi_option_wrong(
			"--table %s: not one of objects, edges, types, roots, censuses, "
			"sums",
			o->output.table);
	if (o->output.table && !hi_export_is_table_format(o->output.format))
		return hi_option_wrong("--table: only with -f csv, -f ndjson and "
				       "-f parquet");
	return 0;
}

static int check_diff(const struct hi_options *o)
{
	const struct hi_profile_options *p = &o->profile;

	if (o->command->id != HI_COMMAND_DIFF)
		return 0;
	if (o->comparison.three && (!o->comparison.baseline || !o->comparison.middle))
		return hi_option_wrong(
			"--three: needs three snapshot files: after warm-up, under load, "
			"and after the load; the last may be a process or a core");
	if (!o->comparison.baseline)
		return hi_option_wrong(
			"diff: needs two snapshot files; see heapinspect diff --help");
	if (o->comparison.three && o->comparison.has_by)
		return hi_option_wrong("--by: not with --three, which compares by type");
	if (p->n_roots && !p->n_under)
		return hi_option_wrong("--root: only with --under, which restricts both "
				       "heaps");
	if ((p->n_retainers || p->identity || p->max_set) &&
	    o->comparison.by != HI_COMPARE_BY_GROUP)
		return hi_option_wrong("--retainer, --identity, --max-set: only with "
				       "--by retainers");
	return 0;
}

static int check_target(const struct hi_options *o)
{
	if (check_diff(o) != 0)
		return 2;
	if (o->target.file)
		return check_file(o);
	if (o->target.census)
		return hi_option_wrong("--census: only with a snapshot file");
	if (!o->target.pid && !o->target.core)
		return hi_option_wrong("no target: give --pid N, --core FILE or a "
				       "snapshot file; see heapinspect --help");
	if (o->command->id == HI_COMMAND_SNAP &&
	    (!o->output.file || strcmp(o->output.file, "-") == 0))
		return hi_option_wrong("snap: -o FILE is missing; see heapinspect snap "
				       "--help");
	if (o->snap.redact && o->snap.with_contents)
		return hi_option_wrong("--redact and --with-contents: only one of them");
	if (o->target.pid && o->target.core)
		return hi_option_wrong("--pid and --core: only one target at a time");
	if (o->target.exe && !o->target.core)
		return hi_option_wrong("--exe: only with --core");
	if (o->decoding.swap && o->target.core)
		return hi_option_wrong("--swap: only with --pid");
	return 0;
}

static int check_stop(const struct hi_options *o)
{
	const struct hi_safepoint_options *s = &o->safepoint;
	const char *only = o->safepoint.max_pause_ns	 ? "--max-pause"
			   : s->at.text || s->every_text ? "--at"
			   : s->timeout_ns		 ? "--timeout"
			   : s->has_snapshot		 ? "--snapshot"
			   : s->max_image		 ? "--max-image"
							 : NULL;

	if (!o->target.pid && only)
		return hi_option_wrong("%s: only with --pid", only);
	if (hi_safepoint_check(s))
		return hi_option_wrong("%s", hi_safepoint_check(s));
	return 0;
}

static int check_series(const struct hi_options *o)
{
	if (o->series.hp && o->profile.count)
		return hi_option_wrong("--hp writes bytes: not with --count");
	if (hi_series_check(&o->series))
		return hi_option_wrong("%s", hi_series_check(&o->series));
	if (hi_series_asked(&o->series) && (!o->target.pid || o->selection.untyped))
		return hi_option_wrong(
			"--%s: %s", hi_series_at_each_hit(&o->series) ? "for" : "every",
			o->target.pid ? "not with --untyped" : "only with --pid");
	return 0;
}

static int check_rows(const struct hi_options *o)
{
	if (o->selection.all && o->selection.top)
		return hi_option_wrong("--all and --top: only one of them");
	if (o->selection.untyped && o->selection.has_by)
		return hi_option_wrong("--untyped and --by: only one of them");
	if (o->decoding.conservative && (o->decoding.n_hints || o->selection.untyped))
		return hi_option_wrong(
			"%s: not with --conservative, which reads no types",
			o->selection.untyped ? "--untyped" : "--hints");
	return 0;
}

int hi_option_check(const struct hi_options *o)
{
	static int (*const checks[])(const struct hi_options *) = {
		check_target, check_gates, check_export, check_stop,
		check_series, check_rows,  check_profile};

	if (check_command(o) != 0)
		return 2;
	for (size_t i = 0; !o->command->run_alone && i < sizeof(checks) / sizeof(*checks);
	     i++)
		if (checks[i](o) != 0)
			return 2;
	return 0;
}
