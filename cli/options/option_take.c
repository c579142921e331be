/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "base/text.h"
#include "census/biography/bands.h"
#include "census/snapshot/snapshot_series.h"
#include "cli/command/command.h"
#include "cli/commands/deep.h"
#include "cli/options/births.h"
#include "cli/options/budget.h"
#include "cli/options/option_names.h"
#include "cli/options/option_table.h"
#include "probes/watchpoints.h"
#include "report/exports/prometheus_labels.h"
#include "session/biography/era_choice.h"
#include "session/snapshot/snapshot_source.h"
#include "cli/command/complaints.h"

int hi_option_wrong(const char *fmt, ...)
{
	char text[512], safe[1100];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	hi_text_escape(safe, sizeof(safe), text, strlen(text));
	fprintf(hi_complaints(), "heapinspect: %s\n", safe);
	return 2;
}

int hi_option_take_once(const char *name, const char *arg, const char **ret)
{
	if (*ret) {
		hi_option_wrong("%s: given twice (%s, %s)", name, *ret, arg);
		return HI_OPTION_SAID;
	}
	*ret = arg;
	return 0;
}

int hi_option_take_number(const char *option, const char *text, uint64_t low,
			  uint64_t high, uint64_t *ret)
{
	if (hi_parse_number(text, low, high, ret))
		return 0;
	hi_option_wrong("%s %s: not a number from %llu to %llu", option, text,
			(unsigned long long)low, (unsigned long long)high);
	return HI_OPTION_SAID;
}

static int take_color(struct hi_options *o, const char *text)
{
	static const char *const words[] = {"auto", "always", "never"};

	for (unsigned i = 0; i < 3; i++)
		if (strcmp(text, words[i]) == 0) {
			o->output.color = (enum hi_color)i;
			return 0;
		}
	hi_option_wrong("--color=%s: not one of auto, always, never", text);
	return HI_OPTION_SAID;
}

static int take_by(struct hi_options *o, const char *text)
{
	static const char *const words[] = {"type",  "type2", "module",
					    "class", "size",  "owner"};

	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(text, words[i]) == 0) {
			o->selection.by = (enum hi_by)i;
			o->selection.has_by = true;
			return 0;
		}
	if (hi_births_take_by(text, &o->selection.born_by)) {
		o->selection.has_born_by = o->selection.has_by = true;
		return 0;
	}
	hi_option_wrong("--by %s: not one of type, type2, module, class, "
			"size, owner, site, context, thread, age, site-module",
			text);
	return HI_OPTION_SAID;
}

static int take_born_by(struct hi_options *o, const char *text)
{
	if (strcmp(text, "context") != 0) {
		hi_option_wrong("--by %s: not context (the call stack that allocated)",
				text);
		return HI_OPTION_SAID;
	}
	o->selection.has_born_by = true;
	o->selection.born_by = HI_BORN_BY_CONTEXT;
	return 0;
}

static int take_site_by(struct hi_options *o, const char *text)
{
	o->selection.has_born_by = strcmp(text, "site") == 0;
	o->selection.born_by = HI_BORN_BY_SITE;
	if (o->selection.has_born_by || strcmp(text, "type") == 0)
		return 0;
	hi_option_wrong("--by %s: not one of type, site", text);
	return HI_OPTION_SAID;
}

static int take_lives_by(struct hi_options *o, const char *text)
{
	static const char *const words[] = {
		[HI_LIVES_BY_TYPE] = "type",	 [HI_LIVES_BY_SITE] = "site",
		[HI_LIVES_BY_MODULE] = "module", [HI_LIVES_BY_ERA] = "era",
		[HI_LIVES_BY_ROOT] = "root",	 [HI_LIVES_BY_RETAINERS] = "retainers"};

	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(text, words[i]) == 0) {
			o->biography.by = (enum hi_lives_by)i;
			o->biography.has_by = true;
			return 0;
		}
	hi_option_wrong("--by %s: not one of type, site, module, era, root, retainers",
			text);
	return HI_OPTION_SAID;
}

static int take_lives_live(struct hi_options *o, const char *text)
{
	o->biography.live =
		strcmp(text, "alloc") == 0 ? HI_LIVES_ALLOCATED : HI_LIVES_REACHABLE;
	if (strcmp(text, "alloc") == 0 || strcmp(text, "reach") == 0)
		return 0;
	hi_option_wrong("--live %s: not one of reach, alloc", text);
	return HI_OPTION_SAID;
}

static int take_use_at_end(const char *option, const char *text, bool can_be_seen,
			   enum hi_lives_ends *ret)
{
	const bool is_seen = can_be_seen && strcmp(text, "seen") == 0;

	*ret = is_seen			    ? HI_LIVES_ENDS_SEEN
	       : strcmp(text, "maybe") == 0 ? HI_LIVES_ENDS_MAYBE
					    : HI_LIVES_ENDS_NO;
	if (*ret != HI_LIVES_ENDS_NO || strcmp(text, "no") == 0)
		return 0;
	hi_option_wrong("%s %s: not one of no, %smaybe", option, text,
			can_be_seen ? "seen, " : "");
	return HI_OPTION_SAID;
}

static int take_watch(struct hi_options *o, const char *text)
{
	uint64_t n;

	if (!hi_parse_number(text, 1, HI_WATCHPOINTS_MAX, &n)) {
		hi_option_wrong("--watch %s: not 1 to %d, as many as a processor has for "
				"a thread",
				text, HI_WATCHPOINTS_MAX);
		return HI_OPTION_SAID;
	}
	o->biography.watch = (unsigned)n;
	return 0;
}

static int take_eras(struct hi_options *o, const char *text)
{
	struct hi_error err = {};
	struct hi_era_choice choice;

	if (hi_era_choice_parse(text, &choice, &err) == HI_OK)
		return hi_option_take_once("--era", text,
					   o->command->id == HI_COMMAND_BIO
						   ? &o->biography.era
						   : &o->selection.era);
	hi_option_wrong("%s", err.text);
	return HI_OPTION_SAID;
}

static int take_bands_of_lives(struct hi_options *o, const char *text)
{
	struct hi_error err = {};
	uint32_t *bands = o->command->id == HI_COMMAND_BIO ? &o->biography.bands
							   : &o->selection.bands;

	if (hi_bio_bands_parse(text, bands, &err) == HI_OK)
		return 0;
	hi_option_wrong("--bio: %s", err.text);
	return HI_OPTION_SAID;
}

static int take_compare_by(struct hi_options *o, const char *text)
{
	static const char *const words[] = {"type", "module", "root", "retainers"};

	o->comparison.has_by = true;
	for (unsigned i = 0; i < 4; i++)
		if (strcmp(text, words[i]) == 0) {
			o->comparison.by = (enum hi_compare_by)i;
			return 0;
		}
	if (strcmp(text, "site") == 0) {
		o->comparison.by = HI_COMPARE_BY_GROUP;
		o->comparison.by_site = true;
		return 0;
	}
	hi_option_wrong("--by %s: not one of type, module, root, retainers, site", text);
	return HI_OPTION_SAID;
}

/* With a caret below what is wrong. */
static int take_gate(struct hi_options *o, const char *text)
{
	struct hi_gate *gates =
		hi_realloc_array(o->check.gates, o->check.n_gates + 1, sizeof(*gates));
	struct hi_error err = {};
	size_t column = 0;

	if (!gates) {
		hi_option_wrong("--fail-on: out of memory");
		return HI_OPTION_SAID;
	}
	o->check.gates = gates;
	if (hi_gate_parse(text, &o->check.gate_names, &gates[o->check.n_gates], &column,
			  &err) == HI_OK) {
		o->check.n_gates++;
		return 0;
	}
	hi_option_wrong("--fail-on: %s", err.text);
	hi_complaints_point_at(text, column);
	return HI_OPTION_SAID;
}

static int take_hints(struct hi_options *o, const char *file)
{
	if (o->decoding.n_hints == HI_OPTIONS_HINTS) {
		hi_option_wrong("--hints %s: at most %d files", file, HI_OPTIONS_HINTS);
		return HI_OPTION_SAID;
	}
	o->decoding.hints[o->decoding.n_hints++] = file;
	return 0;
}

static int take_label(struct hi_options *o, const char *text)
{
	const char *wrong = hi_prometheus_check_label(text);
	size_t n = strcspn(text, "=") + 1;

	for (size_t i = 0; i < o->output.n_labels && !wrong; i++)
		if (strncmp(text, o->output.labels[i], n) == 0)
			wrong = "this label is given twice";
	if (!wrong && o->output.n_labels == HI_OPTIONS_LABELS)
		wrong = "too many labels; at most 16";
	if (wrong) {
		hi_option_wrong("--label %s: %s", text, wrong);
		return HI_OPTION_SAID;
	}
	o->output.labels[o->output.n_labels++] = text;
	return 0;
}

static int take_port(struct hi_options *o, const char *text)
{
	uint64_t port;
	int bad = hi_option_take_number("--port", text, 0, 65535, &port);

	o->serve.has_port = !bad;
	o->serve.port = bad ? 0 : (unsigned)port;
	return bad;
}

static int take_idle_time(struct hi_options *o, const char *text)
{
	if (hi_parse_duration(text, &o->serve.timeout_ns) &&
	    o->serve.timeout_ns <= 366 * 24 * 3600 * HI_NS_PER_S)
		return 0;
	hi_option_wrong("--timeout %s: not a time of at most a year, such as 90s or "
			"30min",
			text);
	return HI_OPTION_SAID;
}

static int take_of_server(int key, const char *arg, struct hi_options *o)
{
	switch (key) {
	case HI_OPT_PORT:
		return take_port(o, arg);
	case HI_OPT_IDLE:
		return take_idle_time(o, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int take_counted(int key, const char *arg, struct hi_options *o)
{
	uint64_t n = 0;
	int bad;

	switch (key) {
	case 'p':
		bad = hi_option_take_number("--pid", arg, 1, INT32_MAX, &n);
		o->target.pid = (pid_t)n;
		return bad;
	case 'k':
		bad = hi_option_take_number("-k", arg, 1, 1000, &n);
		o->selection.paths = n;
		return bad;
	case HI_OPT_GROUP:
		bad = hi_option_take_number("--group", arg, 1, UINT32_MAX, &n);
		o->selection.group = n;
		return bad;
	case HI_OPT_TOP:
		bad = hi_option_take_number("--top", arg, 1, SIZE_MAX / 2, &n);
		o->selection.top = n;
		return bad;
	case HI_OPT_WIDTH:
		bad = hi_option_take_number("--width", arg, 40, 1000, &n);
		o->output.width = (unsigned)n;
		return bad;
	case HI_OPT_THREADS:
		bad = hi_option_take_number("--threads", arg, 1, 1024, &n);
		o->decoding.threads = (unsigned)n;
		return bad;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int take_of_lives(int key, char *arg, struct hi_options *o)
{
	switch (key) {
	case HI_OPT_LIVES_BY:
		return take_lives_by(o, arg);
	case HI_OPT_LIVE:
		return take_lives_live(o, arg);
	case HI_OPT_BIO:
		return take_bands_of_lives(o, arg);
	case HI_OPT_BIRTH_USE:
		return take_use_at_end("--birth-use", arg, true, &o->biography.birth_use);
	case HI_OPT_DEATH_USE:
		return take_use_at_end("--death-use", arg, false,
				       &o->biography.death_use);
	case HI_OPT_INHERENT:
		return hi_option_take_once("--inherent", arg, &o->biography.inherent);
	case HI_OPT_ERA:
		return take_eras(o, arg);
	case HI_OPT_WATCH:
		return take_watch(o, arg);
	case HI_OPT_USES:
		o->biography.uses = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int take_valued(int key, char *arg, struct hi_options *o)
{
	int bad;

	switch (key) {
	case HI_OPT_MIN_SIZE:
		if (hi_parse_size(arg, &o->selection.min_size))
			return 0;
		hi_option_wrong("--min-size %s: not a size like 4096 or 64KiB", arg);
		return HI_OPTION_SAID;
	case HI_OPT_MAX_MEMORY:
		if (hi_parse_size(arg, &o->decoding.max_memory) &&
		    o->decoding.max_memory > 0)
			return 0;
		hi_option_wrong("--max-memory %s: not a size like 512MiB or 4GiB", arg);
		return HI_OPTION_SAID;
	case HI_OPT_COLOR:
		return take_color(o, arg);
	case HI_OPT_BY:
		return take_by(o, arg);
	case HI_OPT_BORN_BY:
		return take_born_by(o, arg);
	case HI_OPT_SITE_BY:
		return take_site_by(o, arg);
	case HI_OPT_FAIL_ON:
		return take_gate(o, arg);
	case HI_OPT_COMPARE_BY:
		return take_compare_by(o, arg);
	case HI_OPT_HINTS:
		return take_hints(o, arg);
	default:
		bad = take_counted(key, arg, o);
		if (bad == ARGP_ERR_UNKNOWN)
			bad = take_of_lives(key, arg, o);
		if (bad == ARGP_ERR_UNKNOWN)
			bad = hi_option_take_series(key, arg, o);
		if (bad == ARGP_ERR_UNKNOWN)
			bad = hi_option_take_stop(key, arg, o);
		if (bad == ARGP_ERR_UNKNOWN)
			bad = hi_option_take_births(key, arg, o);
		return bad == ARGP_ERR_UNKNOWN ? hi_option_take_drawn(key, arg, o) : bad;
	}
}

static bool has_extension(const char *arg, const char *extension)
{
	size_t n = strlen(arg), end = strlen(extension);

	return n > end && strcmp(arg + n - end, extension) == 0;
}

/* A word that is a snapshot by its name or by what is in it. */
static bool is_snapshot(const char *arg)
{
	return has_extension(arg, HI_SNAPSHOT_EXTENSION) ||
	       has_extension(arg, HI_RECORDING_EXTENSION) || hi_snapshot_is_one(arg) ||
	       hi_snapshots_is_one(arg);
}

/* "FILE@3", "FILE@peak": one census of a file. A file of that whole name comes first. */
static void split_census(char *arg, const char **census_ret)
{
	char *at = strrchr(arg, '@');

	if (!at || at == arg || !hi_snapshot_source_is_census(at + 1) ||
	    access(arg, F_OK) == 0)
		return;
	*at = 0;
	if (is_snapshot(arg))
		*census_ret = at + 1;
	else
		*at = '@';
}

static int take_census_option(struct hi_options *o, const char *text)
{
	if (hi_snapshot_source_is_census(text))
		return hi_option_take_once("--census", text, &o->target.census);
	hi_option_wrong("--census %s: not a number, first, last or peak", text);
	return HI_OPTION_SAID;
}

/* The earlier one comes first. */
static int take_snapshot(const char *arg, const char *census, struct hi_options *o)
{
	if ((o->command->id == HI_COMMAND_DIFF || o->comparison.three) &&
	    !o->comparison.baseline) {
		o->comparison.baseline = arg;
		o->comparison.baseline_census = census;
		return 0;
	}
	if (o->comparison.three && !o->comparison.middle) {
		o->comparison.middle = arg;
		o->comparison.middle_census = census;
		return 0;
	}
	/* The one that came first is the earlier one, as of diff. */
	if (o->command->id == HI_COMMAND_SERVE && o->target.file &&
	    !o->comparison.baseline) {
		o->comparison.baseline = o->target.file;
		o->comparison.baseline_census = hi_take(o->target.census);
		o->target.file = NULL;
	}
	if (o->target.file) {
		hi_option_wrong("%s and %s: one target at a time%s", o->target.file, arg,
				o->command->id == HI_COMMAND_DIFF && !o->comparison.three
					? " (--three takes three files)"
				: o->command->id == HI_COMMAND_SERVE
					? " (serve takes it and one earlier file)"
					: "");
		return HI_OPTION_SAID;
	}
	o->target.file = arg;
	return census ? hi_option_take_once("--census", census, &o->target.census) : 0;
}

/* For graph: by what is in it. A file of many censuses is drawn as a series. */
static bool is_one_heap(const char *arg, const char *census)
{
	return hi_snapshot_is_one(arg) || (census && hi_snapshots_is_one(arg));
}

/* A word that the command has no place for. One that looks like a file was meant as a
 * snapshot. */
static int refuse_argument(const char *arg, const struct hi_options *o)
{
	bool exists = access(arg, F_OK) == 0;

	if (exists && o->command->id == HI_COMMAND_SERVE)
		hi_option_wrong("%s: not a snapshot, a recording or a file of many "
				"censuses",
				arg);
	else if (exists || strchr(arg, '/') || o->command->id == HI_COMMAND_SERVE)
		hi_option_wrong("%s: %s", arg,
				exists ? "not a snapshot file (of a core: --core FILE)"
				       : "no such file");
	else if (o->command->id == HI_COMMAND_SUMMARY)
		hi_option_no_command(arg);
	else
		hi_option_wrong("%s: %s takes no argument", arg, o->command->name);
	return HI_OPTION_SAID;
}

/* Pages are about the first one; the second is what it is compared with. */
static int take_paged_file(const char *arg, const char *census, struct hi_options *o)
{
	if (!is_snapshot(arg))
		return refuse_argument(arg, o);
	if (o->target.file && o->comparison.baseline) {
		hi_option_wrong("%s: there are two files already, %s and %s", arg,
				o->target.file, o->comparison.baseline);
		return HI_OPTION_SAID;
	}
	*(o->target.file ? &o->comparison.baseline : &o->target.file) = arg;
	if (!census)
		return 0;
	return hi_option_take_once("@", census,
				   o->comparison.baseline ? &o->comparison.baseline_census
							  : &o->target.census);
}

static int take_argument(char *arg, struct hi_options *o)
{
	const char *census = NULL;

	if (o->command->id == HI_COMMAND_DEEP)
		return hi_deep_take_operand(arg, &o->deep.operands) ? HI_OPTION_SAID : 0;
	split_census(arg, &census);
	if (o->command->id == HI_COMMAND_REPORT)
		return take_paged_file(arg, census, o);
	if (o->command->id == HI_COMMAND_GRAPH
		    ? is_one_heap(arg, census)
		    : (!o->command->run_alone || o->command->id == HI_COMMAND_SERVE) &&
			      is_snapshot(arg))
		return take_snapshot(arg, census, o);
	if (!o->command->arguments[0] || o->command->id == HI_COMMAND_SERVE)
		return refuse_argument(arg, o);
	if (o->command->id == HI_COMMAND_MARK && !o->target.pid)
		return take_valued('p', arg, o);
	if (o->argument) {
		hi_option_wrong("%s: one %s only", arg, o->command->arguments);
		return HI_OPTION_SAID;
	}
	o->argument = arg;
	return census ? hi_option_take_once("--census", census, &o->target.census) : 0;
}

/* ---- options that write to a member of the options ---- */

struct plain {
	int key;
	size_t at; /* in struct hi_options: a bool, or a string */
};
#define PLAIN(key, field)                                                                \
	{                                                                                \
		key, offsetof(struct hi_options, field)                                  \
	}
static const struct plain flags[] = {
	PLAIN(HI_OPT_JSON, output.json),
	PLAIN(HI_OPT_ALL, selection.all),
	PLAIN(HI_OPT_FULL_NAMES, output.full_names),
	PLAIN(HI_OPT_CONSERVATIVE, decoding.conservative),
	PLAIN(HI_OPT_SWAP, decoding.swap),
	PLAIN(HI_OPT_SCHEMA, output.schema),
	PLAIN(HI_OPT_GITHUB, check.github),
	PLAIN(HI_OPT_UPDATE_BASELINE, check.update_baseline),
	PLAIN(HI_OPT_ACCEPT, check.accept),
	PLAIN(HI_OPT_THREE, comparison.three),
	PLAIN(HI_OPT_FORCE, comparison.force),
	PLAIN(HI_OPT_COMPRESS, snap.compress),
	PLAIN(HI_OPT_WITH_CONTENTS, snap.with_contents),
	PLAIN(HI_OPT_REDACT, snap.redact),
	PLAIN(HI_OPT_UNTYPED, selection.untyped),
	PLAIN(HI_OPT_SUGGEST_HINTS, selection.suggest_hints),
	PLAIN(HI_OPT_EACH, selection.each),
	PLAIN(HI_OPT_CALLERS, alloc.callers),
	PLAIN(HI_OPT_BARS, alloc.bars),
	PLAIN(HI_OPT_EDIT, alloc.edit),
	PLAIN(HI_OPT_NO_HINTS, decoding.no_hints),
	PLAIN(HI_OPT_NO_SANDBOX, decoding.no_sandbox),
	PLAIN(HI_OPT_STRICT, decoding.strict),
	PLAIN('q', output.quiet),
	PLAIN('v', output.verbose),
};
/* The last one counts. */
static const struct plain texts[] = {
	PLAIN(HI_OPT_CORE, target.core),
	PLAIN(HI_OPT_EXE, target.exe),
	PLAIN(HI_OPT_DEBUG_DIR, decoding.debug_dir),
	PLAIN(HI_OPT_CONTOUR, deep.contour),
	PLAIN('o', output.file),
};
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* NULL: the key is none of them. */
static void *place_of(const struct plain *list, size_t n, int key, struct hi_options *o)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].key == key)
			return (char *)o + list[i].at;
	return NULL;
}

static bool take_plain(int key, const char *arg, struct hi_options *o)
{
	bool *flag = place_of(flags, COUNT(flags), key, o);
	const char **text = place_of(texts, COUNT(texts), key, o);

	if (flag)
		*flag = true;
	if (text)
		*text = arg;
	return flag || text;
}

error_t hi_option_take(int key, char *arg, struct argp_state *state)
{
	struct hi_options *o = state->input;
	int bad;

	if (take_plain(key, arg, o))
		return 0;
	switch (key) {
	case HI_OPT_BASELINE:
		split_census(arg, &o->comparison.baseline_census);
		return hi_option_take_once("--baseline", arg, &o->comparison.baseline);
	case HI_OPT_CENSUS:
		return take_census_option(o, arg);
	case 'f':
		return hi_option_take_once("--format", arg, &o->output.format);
	case HI_OPT_LABEL:
		return take_label(o, arg);
	case HI_OPT_TABLE:
		return hi_option_take_once("--table", arg, &o->output.table);
	case HI_OPT_BUDGET:
		bad = hi_option_take_once("--budget", arg, &o->check.budget);
		return bad ? bad : hi_budget_read(arg, &o->check);
	case HI_OPT_JUNIT:
		return hi_option_take_once("--junit", arg, &o->check.junit);
	case HI_OPT_NAME:
		return hi_option_take_once("--name", arg, &o->target.name);
	case HI_OPT_TYPE:
		o->selection.type_restricts =
			o->command && (o->command->id == HI_COMMAND_RETAINERS ||
				       o->command->id == HI_COMMAND_ROOTS ||
				       o->command->id == HI_COMMAND_BIO);
		return hi_option_take_once("--type", arg, &o->selection.type);
	case ARGP_KEY_ARG:
		return take_argument(arg, o);
	default:
		bad = hi_option_take_profile(key, arg, o, (size_t)state->argc);
		if (bad == ARGP_ERR_UNKNOWN)
			bad = hi_option_take_alloc(key, arg, o);
		if (bad == ARGP_ERR_UNKNOWN)
			bad = take_of_server(key, arg, o);
		return bad == ARGP_ERR_UNKNOWN ? take_valued(key, arg, o) : bad;
	}
}
