/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/options.h"

#include <argp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/lookup.h"

enum {
	OPT_CORE = 0x100,
	OPT_EXE,
	OPT_JSON,
	OPT_ALL,
	OPT_TOP,
	OPT_COLOR,
	OPT_WIDTH,
	OPT_DEBUG_DIR,
	OPT_CONSERVATIVE,
	OPT_SWAP,
	OPT_MAX_PAUSE,
	OPT_THREADS,
	OPT_TYPE,
	OPT_MIN_SIZE,
	OPT_STRICT,
	OPT_BY,
	OPT_UNTYPED,
	OPT_HINTS,
	OPT_NO_HINTS,
	OPT_BANDS,
	OPT_MIN_PCT,
	OPT_SORT,
	OPT_LIKE,
	OPT_FROM,
	OPT_TO,
	OPT_Y_MAX,
	OPT_EVERY,
	OPT_FOR,
	OPT_HP,
	OPT_TIME,
	OPT_ROOT,
	OPT_UNDER,
	OPT_ALL_BINS,
	OPT_JOIN,
	OPT_RETAINER,
	OPT_IDENTITY,
	OPT_MAX_SET,
	OPT_COUNT,
	OPT_PURE,
	OPT_WEAK_AS_ROOTS,
	OPT_RETAINED_BY,
	OPTIONS_MAX = 32,
};

#define BIT(name) (1u << HI_COMMAND_##name)
#define EVERY (~0u)
#define TARGETED (~(BIT(GRAPH) | BIT(MARK))) /* those that look at a target */
#define SERIES (BIT(CENSUS) | BIT(RETAINERS) | BIT(ROOTS))
#define ROWS (BIT(CENSUS) | BIT(RETAINED) | BIT(LEAKS) | BIT(WASTE))
#define BY_SETS (BIT(RETAINERS) | BIT(UP)) /* profiles by retainers */
#define RESTRICTED (ROWS | BIT(PATHS) | BY_SETS)

static const struct {
	struct argp_option option;
	unsigned commands; /* that take it */
} table[] = {
	{{0, 0, 0, 0, "Target:", 1}, TARGETED},
	{{"pid", 'p', "PID", 0, "a running process", 1}, TARGETED},
	{{"core", OPT_CORE, "FILE", 0, "a core file (gcore's or the kernel's)", 1},
	 TARGETED},
	{{"exe", OPT_EXE, "FILE", 0, "the core's executable, if it has moved", 1},
	 TARGETED},
	{{0, 0, 0, 0, "What to show:", 2}, TARGETED},
	{{"by", OPT_BY, "WHAT", 0,
	  "break-down: type, type2 (with the types of its children), module, class", 2},
	 BIT(CENSUS)},
	{{"untyped", OPT_UNTYPED, 0, 0,
	  "the fields that lead to what has no type, and the hints that would name it",
	  2},
	 BIT(CENSUS)},
	{{"type", OPT_TYPE, "NAME", 0, "only this type (or a pattern with *)", 2}, ROWS},
	{{"min-size", OPT_MIN_SIZE, "SIZE", 0, "only rows of this many bytes (64KiB)", 2},
	 ROWS},
	{{"type", OPT_TYPE, "NAME", 0, "what to climb from (or a pattern with *)", 2},
	 BIT(UP)},
	{{"ways", 'k', "N", 0, "so many ways (5)", 2}, BIT(PATHS)},
	{{"top", OPT_TOP, "N", 0, "so many rows a table", 2}, TARGETED},
	{{"all", OPT_ALL, 0, 0, "every row", 2}, TARGETED},
	{{0, 0, 0, 0, "What to draw:", 2}, BIT(GRAPH)},
	{{"bands", OPT_BANDS, "N", 0, "so many bands, the rest summed in OTHER (20)", 2},
	 BIT(GRAPH)},
	{{"min-pct", OPT_MIN_PCT, "PERCENT", 0,
	  "without the smallest bands that have less of the area together (1)", 2},
	 BIT(GRAPH)},
	{{"sort", OPT_SORT, "ORDER", 0, "on top: by size, deviation, name or slope", 2},
	 BIT(GRAPH)},
	{{"from", OPT_FROM, "TIME", 0, "only samples from this time on", 2}, BIT(GRAPH)},
	{{"to", OPT_TO, "TIME", 0, "only samples up to this time", 2}, BIT(GRAPH)},
	{{"ymax", OPT_Y_MAX, "SIZE", 0, "the top of the value axis (64MiB)", 2},
	 BIT(GRAPH)},
	{{"like", OPT_LIKE, "FILE", 0,
	  "colours, order and scale of the graph of another heap profile", 2},
	 BIT(GRAPH)},
	{{0, 0, 0, 0, "Roots and retainers:", 3}, TARGETED},
	{{"root", OPT_ROOT, "NAME=EXPR", 0,
	  "a root by name: a C expression over the program's variables; may be repeated",
	  3},
	 TARGETED},
	{{"all-bins", OPT_ALL_BINS, 0, 0,
	  "also empty bins (of up to 10 roots; else of one root each)", 3},
	 BIT(ROOTS)},
	{{"join", OPT_JOIN, "TEXT", 0, "between the names of a bin (-)", 3}, BIT(ROOTS)},
	{{"retainer", OPT_RETAINER, "WHAT", 0,
	  "objects that retain, beside all root variables: TYPE, TYPE.field, global, "
	  "frame or auto; may be repeated",
	  3},
	 RESTRICTED},
	{{"identity", OPT_IDENTITY, "WHAT", 0,
	  "what stands for a retainer: type, var, site, module or addr (type)", 3},
	 RESTRICTED & ~BIT(UP)},
	{{"max-set", OPT_MAX_SET, "N", 0, "sets of more retainers become MANY (8)", 3},
	 RESTRICTED},
	{{"weak-as-roots", OPT_WEAK_AS_ROOTS, 0, 0,
	  "what weak fields lead to is alive, and they are its retainers", 3},
	 BY_SETS},
	{{"count", OPT_COUNT, 0, 0, "sort by objects, not by bytes", 3}, BIT(RETAINERS)},
	{{"pure", OPT_PURE, 0, 0, "bytes that the program uses, without overhead", 3},
	 BIT(RETAINERS)},
	{{"under", OPT_UNDER, "NAME", 0, "only what this --root leads to", 3},
	 RESTRICTED},
	{{"retained-by", OPT_RETAINED_BY, "NAME", 0,
	  "only what has this retainer in its set (',' separates several)", 3},
	 RESTRICTED},
	{{0, 0, 0, 0, "A series of them:", 4}, SERIES},
	{{"every", OPT_EVERY, "TIME|SIZE", 0,
	  "again and again, after this time (0.5s), or when the target's memory has "
	  "grown so much (10MB)",
	  4},
	 SERIES},
	{{"for", OPT_FOR, "TIME", 0, "so long (until the target or ^C ends it)", 4},
	 SERIES},
	{{"hp", OPT_HP, "FILE", 0, "a heap profile for heapinspect graph, and its key",
	  4},
	 SERIES},
	{{"time", OPT_TIME, "AXIS", 0,
	  "of a sample: the target's cpu time, wall or census (cpu)", 4},
	 SERIES},
	{{0, 0, 0, 0, "How to look:", 5}, TARGETED},
	{{"debug-dir", OPT_DEBUG_DIR, "DIR", 0,
	  "debug files are here instead of /usr/lib/debug (':' separates)", 5},
	 TARGETED},
	{{"hints", OPT_HINTS, "FILE", 0,
	  "what debug information does not say (docs/HINTS.md); may be repeated", 5},
	 TARGETED},
	{{"no-hints", OPT_NO_HINTS, 0, 0, "without the hints for known programs", 5},
	 TARGETED},
	{{"conservative", OPT_CONSERVATIVE, 0, 0,
	  "no types: every word may be a pointer (fast)", 5},
	 TARGETED},
	{{"swap", OPT_SWAP, 0, 0, "copy swapped pages too (brings them back)", 5},
	 TARGETED},
	{{"max-pause", OPT_MAX_PAUSE, "TIME", 0,
	  "give up when the target is paused for longer (200ms; 1s)", 5},
	 TARGETED},
	{{"threads", OPT_THREADS, "N", 0, "threads to work with (all processors)", 5},
	 TARGETED},
	{{"strict", OPT_STRICT, 0, 0, "exit with 4 if the snapshot is not complete", 5},
	 TARGETED},
	{{0, 0, 0, 0, "Output:", 6}, EVERY},
	{{"json", OPT_JSON, 0, 0, "one JSON document", 6}, TARGETED},
	{{"output", 'o', "FILE", 0, "to FILE (mode 0600)", 6}, EVERY},
	{{"color", OPT_COLOR, "WHEN", 0, "auto, always or never", 6}, TARGETED},
	{{"width", OPT_WIDTH, "N", 0, "columns of text (the terminal's, else 80)", 6},
	 TARGETED},
	{{"quiet", 'q', 0, 0, "nothing but errors on stderr", 6}, EVERY},
	{{"verbose", 'v', 0, 0, "where the time went, on stderr; more detail", 6},
	 TARGETED},
};
enum { TABLE_SIZE = sizeof(table) / sizeof(table[0]) };

static int wrong(const struct argp_state *state, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* One line on stderr, then out: argp's own would add a second one. */
static int wrong(const struct argp_state *state, const char *fmt, ...)
{
	char text[512], safe[1100];
	va_list ap;

	(void)state;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	hi_text_escape(safe, sizeof(safe), text, strlen(text));
	fprintf(stderr, "heapinspect: %s\n", safe);
	return 2;
}

/* argp stops at any error but ARGP_ERR_UNKNOWN; this one is "said already". */
enum { SAID = 1000 };

/* A second one would silently replace the first. */
static int take_once(const struct argp_state *state, const char *name, const char *arg,
		     const char **ret)
{
	if (*ret) {
		wrong(state, "%s: given twice (%s, %s)", name, *ret, arg);
		return SAID;
	}
	*ret = arg;
	return 0;
}

static int take_number(const struct argp_state *state, const char *option,
		       const char *text, uint64_t low, uint64_t high, uint64_t *ret)
{
	if (hi_parse_number(text, low, high, ret))
		return 0;
	wrong(state, "%s %s: not a number from %llu to %llu", option, text,
	      (unsigned long long)low, (unsigned long long)high);
	return SAID;
}

static int take_color(const struct argp_state *state, struct hi_options *o,
		      const char *text)
{
	static const char *const words[] = {"auto", "always", "never"};

	for (unsigned i = 0; i < 3; i++)
		if (strcmp(text, words[i]) == 0) {
			o->color = (enum hi_color)i;
			return 0;
		}
	wrong(state, "--color=%s: not one of auto, always, never", text);
	return SAID;
}

static int take_by(const struct argp_state *state, struct hi_options *o, const char *text)
{
	static const char *const words[] = {"type", "type2", "module", "class"};

	for (unsigned i = 0; i < 4; i++)
		if (strcmp(text, words[i]) == 0) {
			o->by = (enum hi_by)i;
			o->has_by = true;
			return 0;
		}
	wrong(state, "--by %s: not one of type, type2, module, class", text);
	return SAID;
}

static int take_hints(const struct argp_state *state, struct hi_options *o,
		      const char *file)
{
	if (o->n_hints == HI_OPTIONS_HINTS) {
		wrong(state, "--hints %s: at most %d files", file, HI_OPTIONS_HINTS);
		return SAID;
	}
	o->hints[o->n_hints++] = file;
	return 0;
}

static int take_sort(const struct argp_state *state, struct hi_options *o,
		     const char *text)
{
	static const char *const words[] = {"size", "deviation", "name", "slope"};

	for (unsigned i = 0; i < 4; i++)
		if (strcmp(text, words[i]) == 0) {
			o->bands.sort = (enum hi_bands_sort)i;
			return 0;
		}
	wrong(state, "--sort %s: not one of size, deviation, name, slope", text);
	return SAID;
}

static int take_decimal(const struct argp_state *state, const char *option,
			const char *text, double high, double *ret)
{
	if (hi_hp_parse_time(text, strlen(text), ret) && *ret <= high)
		return 0;
	wrong(state, "%s %s: not a number from 0 to %.15g", option, text, high);
	return SAID;
}

/* What only the graph takes. */
static int take_drawn(int key, char *arg, struct argp_state *state, struct hi_options *o)
{
	uint64_t n = 0;
	int bad;

	switch (key) {
	case OPT_BANDS:
		bad = take_number(state, "--bands", arg, 1, HI_BANDS_MAX, &n);
		o->bands.limit = n;
		return bad;
	case OPT_MIN_PCT:
		bad = take_decimal(state, "--min-pct", arg, 50, &o->bands.min_share);
		o->bands.min_share /= 100;
		return bad;
	case OPT_SORT:
		return take_sort(state, o, arg);
	case OPT_FROM:
		return take_decimal(state, "--from", arg, 1e15, &o->bands.from);
	case OPT_TO:
		return take_decimal(state, "--to", arg, 1e15, &o->bands.to);
	case OPT_Y_MAX:
		if (hi_parse_size(arg, &n) && n > 0) {
			o->bands.y_max = (double)n;
			return 0;
		}
		wrong(state, "--ymax %s: not a size like 4096 or 64MiB", arg);
		return SAID;
	case OPT_LIKE:
		o->like = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Words of profiles. */
static int take_profile(int key, char *arg, struct argp_state *state,
			struct hi_options *o)
{
	struct hi_profile_options *p = &o->profile;
	size_t most = (size_t)state->argc;
	const char *why = "";
	uint64_t n = 0;
	int bad;

	switch (key) {
	case OPT_ROOT:
		if (hi_profile_take_root(p, most, arg, &why))
			return 0;
		wrong(state, "--root %s: %s", arg, *why ? why : "out of memory");
		return SAID;
	case OPT_RETAINER:
		if (hi_profile_take_retainer(p, most, arg, &why))
			return 0;
		wrong(state, "--retainer %s: %s", arg, *why ? why : "out of memory");
		return SAID;
	case OPT_IDENTITY:
		if (hi_profile_take_identity(p, arg))
			return 0;
		wrong(state, "--identity %s: not one of type, var, site, module, addr",
		      arg);
		return SAID;
	case OPT_MAX_SET:
		bad = take_number(state, "--max-set", arg, 1, 1000000, &n);
		p->max_set = (uint32_t)n;
		return bad;
	case OPT_UNDER:
		return take_once(state, "--under", arg, &p->under);
	case OPT_RETAINED_BY:
		return take_once(state, "--retained-by", arg, &p->retained_by);
	case OPT_JOIN:
		p->join = arg;
		return 0;
	case OPT_ALL_BINS:
		p->all_bins = true;
		return 0;
	case OPT_COUNT:
		p->count = true;
		return 0;
	case OPT_PURE:
		p->pure = true;
		return 0;
	case OPT_WEAK_AS_ROOTS:
		p->weak_as_roots = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Words of a series. */
static int take_series(int key, char *arg, struct argp_state *state, struct hi_options *o)
{
	switch (key) {
	case OPT_EVERY:
		if (hi_series_take_every(&o->series, arg))
			return 0;
		wrong(state, "--every %s: not a time like 0.5s or a growth like 10MB",
		      arg);
		return SAID;
	case OPT_FOR:
		if (hi_parse_duration(arg, &o->series.for_ns))
			return 0;
		wrong(state, "--for %s: not a time like 60s or 5min", arg);
		return SAID;
	case OPT_HP:
		o->series.hp = arg;
		return 0;
	case OPT_TIME:
		if (hi_series_take_time(&o->series, arg))
			return 0;
		wrong(state, "--time %s: not one of cpu, wall, census", arg);
		return SAID;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int take_valued(int key, char *arg, struct argp_state *state, struct hi_options *o)
{
	uint64_t n = 0;
	int bad;

	switch (key) {
	case 'p':
		bad = take_number(state, "--pid", arg, 1, INT32_MAX, &n);
		o->pid = (pid_t)n;
		return bad;
	case 'k':
		bad = take_number(state, "-k", arg, 1, 1000, &n);
		o->k = n;
		return bad;
	case OPT_TOP:
		bad = take_number(state, "--top", arg, 1, SIZE_MAX / 2, &n);
		o->top = n;
		return bad;
	case OPT_WIDTH:
		bad = take_number(state, "--width", arg, 40, 1000, &n);
		o->width = (unsigned)n;
		return bad;
	case OPT_THREADS:
		bad = take_number(state, "--threads", arg, 1, 1024, &n);
		o->threads = (unsigned)n;
		return bad;
	case OPT_MAX_PAUSE:
		if (hi_parse_duration(arg, &o->max_pause_ns))
			return 0;
		wrong(state, "--max-pause %s: not a time like 200ms or 1s", arg);
		return SAID;
	case OPT_MIN_SIZE:
		if (hi_parse_size(arg, &o->min_size))
			return 0;
		wrong(state, "--min-size %s: not a size like 4096 or 64KiB", arg);
		return SAID;
	case OPT_COLOR:
		return take_color(state, o, arg);
	case OPT_BY:
		return take_by(state, o, arg);
	case OPT_HINTS:
		return take_hints(state, o, arg);
	default:
		bad = take_series(key, arg, state, o);
		return bad == ARGP_ERR_UNKNOWN ? take_drawn(key, arg, state, o) : bad;
	}
}

static int take_argument(char *arg, struct argp_state *state, struct hi_options *o)
{
	if (!o->command->arguments[0]) {
		if (o->command->id == HI_COMMAND_SUMMARY)
			wrong(state,
			      "%s: not a command; there are summary, census, retained, "
			      "leaks, paths, explain, waste, retainers, up, roots "
			      "(a process: --pid N), graph, mark",
			      arg);
		else
			wrong(state, "%s: %s takes no argument", arg, o->command->name);
		return SAID;
	}
	if (o->command->id == HI_COMMAND_MARK && !o->pid)
		return take_valued('p', arg, state, o);
	if (o->argument) {
		wrong(state, "%s: one %s only", arg, o->command->arguments);
		return SAID;
	}
	o->argument = arg;
	return 0;
}

static error_t take(int key, char *arg, struct argp_state *state)
{
	struct hi_options *o = state->input;
	int bad;

	switch (key) {
	case OPT_CORE:
		o->core = arg;
		return 0;
	case OPT_EXE:
		o->exe = arg;
		return 0;
	case OPT_JSON:
		o->json = true;
		return 0;
	case OPT_ALL:
		o->all = true;
		return 0;
	case OPT_DEBUG_DIR:
		o->debug_dir = arg;
		return 0;
	case OPT_CONSERVATIVE:
		o->conservative = true;
		return 0;
	case OPT_SWAP:
		o->swap = true;
		return 0;
	case OPT_TYPE:
		return take_once(state, "--type", arg, &o->type);
	case OPT_UNTYPED:
		o->untyped = true;
		return 0;
	case OPT_NO_HINTS:
		o->no_hints = true;
		return 0;
	case OPT_STRICT:
		o->strict = true;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case 'q':
		o->quiet = true;
		return 0;
	case 'v':
		o->verbose = true;
		return 0;
	case ARGP_KEY_ARG:
		return take_argument(arg, state, o);
	default:
		bad = take_profile(key, arg, state, o);
		return bad == ARGP_ERR_UNKNOWN ? take_valued(key, arg, state, o) : bad;
	}
}

/* Whether this option (its long name up to n bytes, or its letter) takes a
 * value that is the next word. */
static bool takes_value(const char *name, size_t n, int letter)
{
	for (size_t i = 0; i < TABLE_SIZE; i++) {
		const struct argp_option *o = &table[i].option;

		if (letter ? o->key == letter
			   : o->name && n && !strncmp(o->name, name, n))
			return o->arg != NULL;
	}
	return false;
}

/* How many words the option at argv[i] takes: 1 or 2. */
static int option_words(const char *word)
{
	if (word[1] == '-')
		return strchr(word, '=') ? 1
					 : 1 + takes_value(word + 2, strlen(word + 2), 0);
	for (const char *c = word + 1; *c; c++)
		if (takes_value(NULL, 0, *c))
			return c[1] ? 1 : 2;
	return 1;
}

/* The command's name may stand before or behind options: the first word that
 * is neither an option nor an option's value. Removes it from argv. */
static const struct hi_command *find_command(int *argc, char **argv)
{
	const struct hi_command *command;
	int i = 1;

	while (i < *argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--") != 0)
		i += option_words(argv[i]);
	command = i < *argc ? hi_command_find(argv[i]) : NULL;
	if (!command)
		return &hi_command_summary;
	memmove(argv + i, argv + i + 1, (size_t)(*argc - i) * sizeof(*argv));
	--*argc;
	return command;
}

static int check_profile(const struct hi_options *o)
{
	const struct hi_profile_options *p = &o->profile;
	const char *twice = hi_profile_duplicate(p);

	if (twice)
		return wrong(NULL, "--root %s: two roots have this name", twice);
	if (p->under && !hi_profile_has_root(p, p->under))
		return wrong(NULL, "--under %s: no --root has this name", p->under);
	if (o->command->id == HI_COMMAND_ROOTS && !p->n_roots)
		return wrong(NULL, "roots: --root NAME=EXPRESSION is missing; see "
				   "heapinspect roots --help");
	if (o->command->id == HI_COMMAND_UP && !o->type)
		return wrong(NULL, "up: --type is missing; see heapinspect up --help");
	if (p->n_roots && o->conservative)
		return wrong(NULL,
			     "--root: not with --conservative, which asks for no types");
	return 0;
}

static int check(struct hi_options *o)
{
	uint64_t address;

	if (o->command->arguments[0] && !o->argument)
		return wrong(NULL, "%s: %s is missing; see heapinspect %s --help",
			     o->command->name, o->command->arguments, o->command->name);
	if (o->command->id == HI_COMMAND_EXPLAIN &&
	    !hi_lookup_is_address(o->argument, &address))
		return wrong(NULL, "explain %s: not an address like 0x55d0c8a412a0",
			     o->argument);
	if (o->bands.to > 0 && o->bands.to < o->bands.from)
		return wrong(NULL, "--from and --to: nothing is between them");
	if (o->command->run_alone)
		return 0;
	if (!o->pid && !o->core)
		return wrong(NULL, "no target: give --pid N or --core FILE; see "
				   "heapinspect --help");
	if (o->pid && o->core)
		return wrong(NULL, "--pid and --core: one target at a time");
	if (o->exe && !o->core)
		return wrong(NULL, "--exe: only with --core");
	if (o->swap && o->core)
		return wrong(NULL, "--swap: only with --pid");
	if (o->max_pause_ns && o->core)
		return wrong(NULL, "--max-pause: only with --pid");
	if (o->series.hp && (o->profile.count || o->profile.pure))
		return wrong(NULL, "--hp writes bytes of blocks: not with %s",
			     o->profile.count ? "--count" : "--pure");
	if (hi_series_check(&o->series))
		return wrong(NULL, "%s", hi_series_check(&o->series));
	if (hi_series_asked(&o->series) && (!o->pid || o->untyped))
		return wrong(NULL, "--every: %s",
			     o->pid ? "not with --untyped" : "only with --pid");
	if (o->all && o->top)
		return wrong(NULL, "--all and --top: one of them");
	if (o->untyped && o->has_by)
		return wrong(NULL, "--untyped and --by: one of them");
	if (o->conservative && (o->n_hints || o->untyped))
		return wrong(NULL, "%s: not with --conservative, which asks for no types",
			     o->untyped ? "--untyped" : "--hints");
	return check_profile(o);
}

static error_t parse_as(const struct hi_command *command, int argc, char **argv,
			struct hi_options *o)
{
	struct argp_option options[TABLE_SIZE + 1] = {};
	struct argp argp = {.options = options, .parser = take};
	char name[64], doc[2048];
	size_t n = 0;

	for (size_t i = 0; i < TABLE_SIZE; i++)
		if (table[i].commands & 1u << command->id)
			options[n++] = table[i].option;
	snprintf(doc, sizeof(doc), "%s\v%s", command->purpose, command->help);
	argp.doc = doc;
	argp.args_doc =
		command->id == HI_COMMAND_SUMMARY ? "[COMMAND]" : command->arguments;
	snprintf(name, sizeof(name), "heapinspect%s%s",
		 command->id == HI_COMMAND_SUMMARY ? "" : " ",
		 command->id == HI_COMMAND_SUMMARY ? "" : command->name);
	argv[0] = name;
	return argp_parse(&argp, argc, argv, 0, NULL, o);
}

int hi_options_parse(int argc, char **argv, struct hi_options *ret)
{
	struct hi_options o = {.k = 5, .bands.min_share = 0.01};
	error_t bad;

	o.command = find_command(&argc, argv);
	bad = parse_as(o.command, argc, argv, &o);
	if (bad == SAID || (!bad && check(&o) != 0)) {
		hi_options_free(&o);
		return 2;
	}
	if (bad)
		return wrong(NULL, "options: %s", strerror(bad));
	*ret = o;
	return 0;
}

void hi_options_free(struct hi_options *options)
{
	hi_profile_options_free(&options->profile);
}
