/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options/option_table.h"
#include "cli/options/profile_options.h"
#include "cli/options/safepoint_options.h"
#include "cli/options/series_options.h"
#include "cli/terminal/browse_terminal.h"

#include <ctype.h>
#include <string.h>

#include "census/snapshot/snapshot_series.h"
#include "cli/check/check.h"
#include "cli/command/command.h"
#include "cli/commands/deep.h"
#include "cli/commands/query.h"
#include "cli/commands/source_editor.h"
#include "cli/options/alloc_options.h"
#include "report/exports/export.h"
#include "report/exports/export_table.h"
#include "report/type_search.h"
#include "session/operands.h"

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

/* Options that would change nothing here. */
static int check_effect(const struct hi_options *o)
{
	const struct hi_profile_options *p = &o->profile;
	enum hi_command_id id = o->command->id;
	bool is_profile = id == HI_COMMAND_RETAINERS || id == HI_COMMAND_UP ||
			  id == HI_COMMAND_QUERY || id == HI_COMMAND_DIFF;
	const char *restriction = p->n_retainers ? "--retainer"
				  : p->identity	 ? "--identity"
				  : p->max_set	 ? "--max-set"
						 : NULL;

	if (p->n_roots && !p->n_under && id != HI_COMMAND_ROOTS && id != HI_COMMAND_QUERY)
		return hi_option_wrong("--root %s: only with --under %s, which restricts "
				       "%s to what the root leads to (roots and query "
				       "take it alone)",
				       p->roots[0].name, p->roots[0].name,
				       o->command->name);
	if (restriction && id == HI_COMMAND_BIO)
		return o->biography.by == HI_LIVES_BY_RETAINERS
			       ? 0
			       : hi_option_wrong("%s: only with --by retainers",
						 restriction);
	if (restriction && !p->retained_by && !is_profile)
		return hi_option_wrong(
			"%s: only with --retained-by NAME, which restricts "
			"%s to what has this retainer",
			restriction, o->command->name);
	return 0;
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
	if (p->identity == HI_IDENTITY_SITE && !o->target.file)
		return hi_option_wrong("--identity site: only of a recording; make one "
				       "with heapinspect record");
	if (o->command->id == HI_COMMAND_ROOTS && !p->n_roots)
		return hi_option_wrong("roots: --root NAME=EXPRESSION is missing; see "
				       "heapinspect roots --help");
	if (o->command->id == HI_COMMAND_UP && !o->selection.type)
		return hi_option_wrong(
			"up: --type is missing; see heapinspect up --help");
	if (p->n_roots && o->decoding.conservative)
		return hi_option_wrong(
			"--root: not with --conservative, which reads no types");
	return check_effect(o);
}

/* An option that says how a target is stopped or decoded; NULL: none was given. */
static const char *option_of_inspection(const struct hi_options *o)
{
	const struct {
		bool given;
		const char *name;
	} words[] = {{o->target.exe, "--exe"},
		     {o->decoding.swap, "--swap"},
		     {o->decoding.conservative, "--conservative"},
		     {o->decoding.n_hints, "--hints"},
		     {o->decoding.no_hints, "--no-hints"},
		     {o->decoding.debug_dir, "--debug-dir"},
		     {o->decoding.threads, "--threads"},
		     {o->decoding.strict, "--strict"},
		     {o->safepoint.max_pause_ns, "--max-pause"},
		     {o->safepoint.at.text || o->safepoint.every_text, "--at"},
		     {o->safepoint.timeout_ns, "--timeout"},
		     {o->safepoint.has_snapshot, "--snapshot"},
		     {o->safepoint.max_image, "--max-image"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].given)
			return words[i].name;
	return NULL;
}

/* An option of graph that only a series takes; NULL: none was given. */
static const char *option_of_drawn_series(const struct hi_options *o)
{
	const struct hi_bands_options *b = &o->drawing.bands;

	return b->limit		 ? "--bands"
	       : b->sort	 ? "--sort"
	       : b->from > 0	 ? "--from"
	       : b->to > 0	 ? "--to"
	       : b->y_max > 0	 ? "--ymax"
	       : o->drawing.like ? "--like"
				 : NULL;
}

/* A series has other options than one heap. */
static int check_graph(const struct hi_options *o)
{
	bool is_heap = o->command == &hi_command_graph_heap;
	const char *only = option_of_drawn_series(o);

	if (o->command->id != HI_COMMAND_GRAPH)
		return 0;
	if (is_heap && o->argument)
		return hi_option_wrong("%s: not a snapshot file, and there is another "
				       "target already",
				       o->argument);
	if (is_heap && only)
		return hi_option_wrong("%s: only for a series: a file of snap --every, "
				       "or FILE.hp",
				       only);
	if (!is_heap && !o->argument)
		return hi_option_wrong(
			"graph: give --pid N, --core FILE, a snapshot file "
			"or FILE.hp; see heapinspect graph --help");
	if (!is_heap && o->drawing.has_shape)
		return hi_option_wrong("--shape: only of one heap; %s is a series "
				       "(--census N selects a census of a snapshot file)",
				       o->argument);
	if (!is_heap && o->selection.has_born_by)
		return hi_option_wrong("--by context: only of one heap with a recording; "
				       "%s is a series",
				       o->argument);
	if (!is_heap && option_of_inspection(o))
		return hi_option_wrong("%s: %s is a series, and not decoded",
				       option_of_inspection(o), o->argument);
	if (!is_heap && o->target.census)
		return hi_option_wrong("--census: %s is no file of many censuses",
				       o->argument);
	return 0;
}

/* Of a whole file of many censuses. */
static int check_over_time(const struct hi_options *o)
{
	const char *format = o->output.format;

	const char *only = o->command->id == HI_COMMAND_PEAKS ? "html" : "svg";

	if (o->command->id != HI_COMMAND_PEAKS && o->command->id != HI_COMMAND_SPACETIME)
		return 0;
	if (o->target.census)
		return hi_option_wrong("%s: is of all censuses of a file, not of %s",
				       o->command->name, o->target.census);
	if (format && strcmp(format, only) != 0)
		return hi_option_wrong("--format %s: not %s, which is the only one",
				       format, only);
	if (format && o->output.json)
		return hi_option_wrong("--format and --json: only one of them");
	if (o->command->id == HI_COMMAND_PEAKS && o->over_time.has_by && !format)
		return hi_option_wrong("--by: only with --format html");
	if (o->command->id == HI_COMMAND_PEAKS && o->over_time.by > HI_BANDS_BY_FUNCTION)
		return hi_option_wrong("--by: not one of type, function, which every "
				       "census can have");
	if (o->selection.all && o->selection.top)
		return hi_option_wrong("--all and --top: only one of them");
	return 0;
}

/* A number that is no address is no expression either. */
static int check_explained(const struct hi_options *o)
{
	const char *text = o->argument;
	size_t n = strlen(text);
	uint64_t address;
	bool is_number = isdigit((unsigned char)*text);

	for (size_t i = 0; i < n; i++)
		is_number = is_number && isalnum((unsigned char)text[i]);
	if (hi_lookup_is_address(text, &address))
		return 0;
	if (is_number || !n)
		return hi_option_wrong("explain %s: not an address like 0x55d0c8a412a0",
				       text);
	if (o->decoding.conservative)
		return hi_option_wrong("explain %s: an expression needs types, which "
				       "--conservative does not read",
				       text);
	return 0;
}

/* Before a target is stopped for nothing. */
static int check_browse(const struct hi_options *o)
{
	if (o->command->id != HI_COMMAND_BROWSE)
		return 0;
	if (o->target.program)
		return hi_option_wrong("browse: not with -- PROGRAM, which has the "
				       "terminal; heapinspect snap -o FILE -- PROGRAM "
				       "keeps its heap");
	if (hi_browse_terminal_is_possible())
		return 0;
	return hi_option_wrong("browse: standard input and output are no terminal; "
			       "heapinspect retained prints the same tree");
}

static int check_serve(const struct hi_options *o)
{
	if (o->target.file)
		return 0;
	return hi_option_wrong("serve: FILE is missing: a snapshot, a recording or a "
			       "file of many censuses; heapinspect snap --pid N -o FILE "
			       "makes one of a process");
}

static int check_deep(const struct hi_options *o)
{
	if (o->output.format && strcmp(o->output.format, "mercury") != 0)
		return hi_option_wrong("--format %s: not mercury, which is the only one",
				       o->output.format);
	if (o->output.format && (o->output.json || o->deep.operands.query))
		return hi_option_wrong("--format mercury: not with %s, it has no reports",
				       o->output.json ? "--json" : "a query");
	return hi_deep_check_operands(&o->deep.operands);
}

static int check_report(const struct hi_options *o)
{
	if (!o->target.file)
		return hi_option_wrong("report: FILE is missing; see heapinspect report "
				       "--help");
	if (o->comparison.baseline && strcmp(o->comparison.baseline, o->target.file) == 0)
		return hi_option_wrong("%s: the file is given twice", o->target.file);
	if (!o->output.file)
		return hi_option_wrong("report: -o FILE.html is missing: what is "
				       "written is for a browser; -o - writes it to "
				       "standard output");
	return 0;
}

static int check_command(const struct hi_options *o)
{
	enum hi_query_format format;

	if (o->command->id == HI_COMMAND_DEEP)
		return check_deep(o);
	if (o->command->id == HI_COMMAND_REPORT)
		return check_report(o);
	if (o->command->id == HI_COMMAND_SERVE)
		return check_serve(o);
	if (o->command->arguments[0] && o->command->arguments[0] != '[' && !o->argument)
		return hi_option_wrong("%s: %s is missing; see heapinspect %s --help",
				       o->command->name, o->command->arguments,
				       o->command->name);
	if (o->command->id == HI_COMMAND_EXPLAIN && check_explained(o) != 0)
		return 2;
	if (o->command->id == HI_COMMAND_QUERY && !hi_query_take_format(o, &format))
		return hi_option_wrong("-f %s: not one of table, json, csv",
				       o->output.format);
	if (o->command->id == HI_COMMAND_QUERY && o->output.json &&
	    format != HI_QUERY_JSON)
		return hi_option_wrong("--json and -f %s: only one of them",
				       o->output.format);
	if (o->command == &hi_command_alloc_pause && hi_alloc_pause_check(o))
		return hi_option_wrong("%s", hi_alloc_pause_check(o));
	if (o->command->id == HI_COMMAND_SAFEPOINTS && !o->target.pid)
		return hi_option_wrong("safepoints: --pid N is missing");
	if (check_graph(o) != 0 || check_over_time(o) != 0 || check_browse(o) != 0)
		return 2;
	if (o->drawing.bands.to > 0 && o->drawing.bands.to < o->drawing.bands.from)
		return hi_option_wrong("--from and --to: the range is empty");
	return 0;
}

/* What was found is in the file; how to find it is not asked any more. */
static int check_bio_file(const struct hi_options *o)
{
	const struct {
		bool given;
		const char *name;
	} words[] = {{o->series.every_ns || o->series.every_bytes, "--every"},
		     {o->series.for_ns, "--for"},
		     {o->series.hp, "--hp"},
		     {o->series.has_axis, "--time"},
		     {o->record.has_sample || o->record.is_none, "--sample"},
		     {o->biography.live != HI_LIVES_REACHABLE, "--live"},
		     {o->biography.birth_use != HI_LIVES_ENDS_NO, "--birth-use"},
		     {o->biography.death_use != HI_LIVES_ENDS_NO, "--death-use"},
		     {o->biography.inherent, "--inherent"},
		     {o->biography.watch, "--watch"},
		     {o->biography.era, "--era"},
		     {o->selection.type, "--type"},
		     {o->profile.n_under, "--under"},
		     {o->profile.retained_by, "--retained-by"},
		     {o->profile.n_retainers, "--retainer"},
		     {o->profile.identity, "--identity"},
		     {o->profile.max_set, "--max-set"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].given)
			return hi_option_wrong(
				"%s: only with --pid: %s has what was found already",
				words[i].name, o->target.file);
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
		     {o->selection.suggest_hints, "--suggest-hints"},
		     {o->selection.untyped, "--untyped"}};

	if (o->snap.redact)
		return hi_option_wrong("--redact: %s holds names of keys already; write "
				       "it with snap --redact",
				       o->target.file);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].given)
			return hi_option_wrong("%s: not with a snapshot file (%s)",
					       words[i].name, o->target.file);
	if (o->command->id == HI_COMMAND_SNAP)
		return hi_option_wrong(
			"snap: writes a file from --pid or --core; %s is a "
			"snapshot file already",
			o->target.file);
	if (o->command->id == HI_COMMAND_BIO)
		return check_bio_file(o);
	if (o->command->id == HI_COMMAND_RECORD)
		return hi_option_wrong("record: follows a process: give --pid; %s is a "
				       "file (census --by site shows its recording)",
				       o->target.file);
	if (o->command->id == HI_COMMAND_AUDIT)
		return hi_option_wrong("audit: needs --pid or --core: reference counts "
				       "are not in a snapshot file (%s)",
				       o->target.file);
	return 0;
}

/* Of a budget, the place in the file. */
static int wrong_gate(const struct hi_gate *gate, const char *why)
{
	if (gate->file)
		return hi_option_wrong("%s:%u: %s", gate->file, gate->line, why);
	return hi_option_wrong("--fail-on '%s': %s", gate->text, why);
}

/* What a gate compares with must be given. */
static int check_gate(const struct hi_options *o, const struct hi_gate *gate)
{
	if (gate->needs_three && !o->comparison.three)
		return wrong_gate(gate, "survived needs three heaps: heapinspect check "
					"--three WARM LOAD AFTER");
	if (gate->needs_baseline && !o->comparison.baseline)
		return wrong_gate(gate, "--baseline FILE is missing");
	if (gate->needs_series &&
	    (!o->target.file || !hi_snapshots_is_one(o->target.file)))
		return wrong_gate(gate,
				  "slope needs a file of many censuses (heapinspect "
				  "snap --every 10s -o FILE)");
	return 0;
}

static int check_baseline_update(const struct hi_options *o)
{
	if (o->check.accept && !o->check.update_baseline)
		return hi_option_wrong("--accept: only with --update-baseline");
	if (!o->check.update_baseline)
		return 0;
	if (!o->comparison.baseline || o->comparison.three)
		return hi_option_wrong("--update-baseline: --baseline FILE is missing");
	if (o->comparison.baseline_census)
		return hi_option_wrong("--update-baseline: %s is one census of a file",
				       o->comparison.baseline);
	if ((o->output.file && strcmp(o->output.file, o->comparison.baseline) == 0) ||
	    (o->check.junit && strcmp(o->check.junit, o->comparison.baseline) == 0))
		return hi_option_wrong("%s: the report and the baseline are one file",
				       o->comparison.baseline);
	return 0;
}

/* Gates that look at a baseline need one. */
static int check_gates(const struct hi_options *o)
{
	enum hi_check_format format;

	if (o->command->id != HI_COMMAND_CHECK)
		return 0;
	if (!hi_check_take_format(o, &format))
		return hi_option_wrong(
			"-f %s: not one of text, json, junit, github, markdown",
			o->output.format);
	if (o->output.json && format != HI_CHECK_JSON)
		return hi_option_wrong("--json and -f %s: only one of them",
				       o->output.format);
	if (!o->check.n_gates)
		return hi_option_wrong("check: --fail-on EXPR is missing, or --budget "
				       "FILE; see heapinspect check --help");
	if (o->comparison.three && (!o->comparison.baseline || !o->comparison.middle))
		return hi_option_wrong(
			"--three: needs three snapshot files: after warm-up, under load, "
			"and after the load; the last may be a process or a core");
	for (size_t i = 0; i < o->check.n_gates; i++)
		if (check_gate(o, &o->check.gates[i]) != 0)
			return 2;
	return check_baseline_update(o);
}

/* Formats whose rows are stacks. */
static bool has_stacks(const char *format)
{
	static const char *const formats[] = {"folded", "speedscope", "massif",
					      "pprof",	"dot",	      "dhat"};

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (strcmp(format, formats[i]) == 0)
			return true;
	return false;
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
			"sqlite, "
			"folded, speedscope, massif, pprof, dhat, hp, dot, "
			"prometheus",
			o->output.format);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		is_table |= o->output.table && strcmp(o->output.table, tables[i]) == 0;
	if (o->selection.has_born_by && !has_stacks(o->output.format))
		return hi_option_wrong("--by context: only with -f folded, speedscope, "
				       "massif, pprof, dhat and dot");
	if (o->output.n_labels && strcmp(o->output.format, "prometheus") != 0)
		return hi_option_wrong("--label: only with -f prometheus");
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
	    (o->comparison.by != HI_COMPARE_BY_GROUP || o->comparison.by_site))
		return hi_option_wrong("--retainer, --identity, --max-set: only with "
				       "--by retainers");
	return 0;
}

/* A program that runs tracemalloc has these without a recording. */
static bool has_traced_births(const struct hi_options *o)
{
	return o->selection.born_by == HI_BORN_BY_SITE ||
	       o->selection.born_by == HI_BORN_BY_CONTEXT;
}

static bool has_times(const struct hi_birth_choice *c)
{
	return c->age.is_set || c->born.is_set || c->thread;
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
		return hi_option_wrong(
			"no target: give --pid N, --name NAME, --core FILE, a "
			"snapshot file or -- PROGRAM; see heapinspect --help");
	if (o->record.children && o->target.program)
		return hi_option_wrong("--children: not with -- %s; start it by itself, "
				       "and use --pid",
				       *o->target.program);
	if (o->selection.has_born_by && !has_traced_births(o))
		return hi_option_wrong("--by thread, age, site-module: only of a "
				       "recording; make one with heapinspect record");
	if (o->selection.bands || o->selection.era)
		return hi_option_wrong(
			"--%s: only of a file with biographies; make one with "
			"heapinspect bio --pid N -o FILE",
			o->selection.bands ? "bio" : "era");
	if (has_times(&o->selection.births))
		return hi_option_wrong("--age, --born, --thread: only of a recording; "
				       "make one with heapinspect record");
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

/* Something must give what is freed. */
static int check_calls(const struct hi_record_options *r)
{
	for (size_t i = 0; i < r->n_calls; i++)
		if (r->calls[i].does.result)
			return 0;
	return r->n_calls ? hi_option_wrong("--frees: needs --calls, which says what "
					    "gives the pieces that are freed")
			  : 0;
}

static int check_kept_events(const struct hi_options *o)
{
	bool has_file = o->output.file && strcmp(o->output.file, "-") != 0;

	if (o->record.keep_events && hi_series_asked(&o->series))
		return hi_option_wrong(
			"--keep-events: not with --every: the file of a series has a "
			"recording for each census, and events would be in it once "
			"for each of them");
	if (o->record.keep_events && !has_file)
		return hi_option_wrong("--keep-events: -o FILE is missing, which the "
				       "events go to");
	return 0;
}

/* --for is of the recording, with censuses and without. */
static int check_recorded_series(const struct hi_options *o)
{
	bool has_file = o->output.file && strcmp(o->output.file, "-") != 0;

	if (hi_series_asked(&o->series) && !has_file)
		return hi_option_wrong("record --every: -o FILE is missing, which the "
				       "censuses go to");
	if (!hi_series_asked(&o->series) && o->series.has_full)
		return hi_option_wrong("--full: only with --every");
	if (!hi_series_asked(&o->series) && o->series.max_file && !o->record.keep_events)
		return hi_option_wrong("--max-file: only with --every or --keep-events");
	if (o->record.children && !has_file)
		return hi_option_wrong("record --children: -o FILE is missing: the "
				       "recording of a child goes to FILE.PID");
	if (o->record.children && hi_series_asked(&o->series))
		return hi_option_wrong("--children and --every: only one of them");
	return 0;
}

static int check_alloc_bars(const struct hi_options *o)
{
	const struct hi_alloc_options *a = &o->alloc;
	const char *format = o->output.format;
	bool is_picture = format && strcmp(format, "svg") == 0,
	     has_bars = a->bars || (format && strcmp(format, "html") == 0);

	if (!has_bars && a->has_weight)
		return hi_option_wrong("--weight: only with --bars");
	if (!a->bars && is_picture)
		return hi_option_wrong("--format svg: only with --bars");
	if (!has_bars && a->has_order && a->order == HI_ALLOC_BY_WEIGHT)
		return hi_option_wrong("--sort weight: only with --bars");
	if (a->bars && ((format && !is_picture) || o->output.json || a->callers))
		return hi_option_wrong("--bars: not with %s",
				       o->output.json ? "--json"
				       : a->callers   ? "--callers"
						      : "--format mlworks or html");
	return 0;
}

/* The file of -o, which is no report, and what it is limited by. */
static int check_alloc_file(const struct hi_options *o)
{
	bool has_file = o->output.file && strcmp(o->output.file, "-") != 0;

	if (o->series.max_file &&
	    (!has_file || o->target.file || o->output.json || o->output.format))
		return hi_option_wrong("--max-file: only with -o FILE, to which the "
				       "profile of --pid goes");
	return 0;
}

static int check_edit(const struct hi_options *o)
{
	if (o->alloc.edit && !hi_edit_has_editor())
		return hi_option_wrong("--edit: no editor: neither VISUAL nor EDITOR is "
				       "set");
	return 0;
}

static int check_alloc(const struct hi_options *o)
{
	const char *format = o->output.format;

	if (o->series.every_bytes)
		return hi_option_wrong("alloc --every: not a time: periods are of one "
				       "length");
	if (format && strcmp(format, "mlworks") != 0 && strcmp(format, "svg") != 0 &&
	    strcmp(format, "html") != 0)
		return hi_option_wrong("--format %s: not one of mlworks, html, svg",
				       format);
	if (check_alloc_bars(o) != 0 || check_alloc_file(o) != 0 || check_edit(o) != 0)
		return 2;
	if (o->alloc.has_depth && !o->alloc.callers)
		return hi_option_wrong("--depth: only with --callers");
	if (format && o->output.json)
		return hi_option_wrong("--format and --json: only one of them");
	if (hi_alloc_options_check(o))
		return hi_option_wrong("%s", hi_alloc_options_check(o));
	if (!o->target.file)
		return 0;
	if (o->target.census)
		return hi_option_wrong("alloc: is of all censuses of a file, not of %s",
				       o->target.census);
	if (o->series.for_ns || o->record.has_sample || o->record.has_scan)
		return hi_option_wrong("%s: only with --pid: %s is recorded already",
				       o->series.for_ns	      ? "--for"
				       : o->record.has_sample ? "--sample"
							      : "--scan",
				       o->target.file);
	return 0;
}

static int check_series(const struct hi_options *o)
{
	if (o->command->id == HI_COMMAND_RECORD) {
		int wrong = check_calls(&o->record);

		wrong = wrong ? wrong : check_kept_events(o);
		return wrong ? wrong : check_recorded_series(o);
	}
	if (o->command->id == HI_COMMAND_BIO && o->series.every_bytes)
		return hi_option_wrong("bio --every: not a time: periods are of one "
				       "length");
	if (o->command->id == HI_COMMAND_ALLOC && check_alloc(o) != 0)
		return 2;
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
	if (o->selection.suggest_hints && o->output.json)
		return hi_option_wrong("--suggest-hints and --json: hints are no JSON; "
				       "census --untyped --json has them");
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
