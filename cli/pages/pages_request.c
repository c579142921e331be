/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/pages/pages_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/command/command.h"
#include "cli/options/option_table.h"
#include "cli/options/options.h"
#include "session/operands.h"
#include "session/snapshot/snapshot_source.h"

enum { WORDS = HI_ADDRESS_OPTIONS + 8, WIDTH = 100 };

/* ---- what a page may ask for ---- */

static const struct {
	const char *name;
	enum hi_pages_option is;
} decided[] = {
	/* Another heap. */
	{"port", HI_PAGES_REFUSED},
	{"pid", HI_PAGES_REFUSED},
	{"name", HI_PAGES_REFUSED},
	{"core", HI_PAGES_REFUSED},
	{"exe", HI_PAGES_REFUSED},
	{"baseline", HI_PAGES_REFUSED},
	{"three", HI_PAGES_REFUSED},
	/* Other files, and what is written. */
	{"output", HI_PAGES_REFUSED},
	{"hp", HI_PAGES_REFUSED},
	{"like", HI_PAGES_REFUSED},
	{"contour", HI_PAGES_REFUSED},
	{"hints", HI_PAGES_REFUSED},
	{"debug-dir", HI_PAGES_REFUSED},
	{"budget", HI_PAGES_REFUSED},
	{"junit", HI_PAGES_REFUSED},
	{"github", HI_PAGES_REFUSED},
	{"update-baseline", HI_PAGES_REFUSED},
	{"accept", HI_PAGES_REFUSED},
	{"fail-on", HI_PAGES_REFUSED},
	{"format", HI_PAGES_REFUSED},
	{"json", HI_PAGES_REFUSED},
	{"table", HI_PAGES_REFUSED},
	{"label", HI_PAGES_REFUSED},
	{"compress", HI_PAGES_REFUSED},
	{"with-contents", HI_PAGES_REFUSED},
	{"redact", HI_PAGES_REFUSED},
	{"max-file", HI_PAGES_REFUSED},
	{"edit", HI_PAGES_REFUSED},
	/* Processes. */
	{"at", HI_PAGES_REFUSED},
	{"timeout", HI_PAGES_REFUSED},
	{"snapshot", HI_PAGES_REFUSED},
	{"max-image", HI_PAGES_REFUSED},
	{"max-pause", HI_PAGES_REFUSED},
	{"every", HI_PAGES_REFUSED},
	{"for", HI_PAGES_REFUSED},
	{"full", HI_PAGES_REFUSED},
	{"time", HI_PAGES_REFUSED},
	{"sample", HI_PAGES_REFUSED},
	{"scan", HI_PAGES_REFUSED},
	{"calls", HI_PAGES_REFUSED},
	{"frees", HI_PAGES_REFUSED},
	{"mappings", HI_PAGES_REFUSED},
	{"keep-events", HI_PAGES_REFUSED},
	{"children", HI_PAGES_REFUSED},
	{"watch", HI_PAGES_REFUSED},
	{"uses", HI_PAGES_REFUSED},
	{"live", HI_PAGES_REFUSED},
	{"birth-use", HI_PAGES_REFUSED},
	{"death-use", HI_PAGES_REFUSED},
	{"inherent", HI_PAGES_REFUSED},
	{"era", HI_PAGES_REFUSED},
	{"pause", HI_PAGES_REFUSED},
	{"resume", HI_PAGES_REFUSED},
	/* How a process is decoded. */
	{"no-hints", HI_PAGES_REFUSED},
	{"conservative", HI_PAGES_REFUSED},
	{"swap", HI_PAGES_REFUSED},
	{"threads", HI_PAGES_REFUSED},
	{"strict", HI_PAGES_REFUSED},
	{"no-sandbox", HI_PAGES_REFUSED},
	{"max-memory", HI_PAGES_REFUSED},
	{"untyped", HI_PAGES_REFUSED},
	{"suggest-hints", HI_PAGES_REFUSED},
	/* The terminal. */
	{"color", HI_PAGES_REFUSED},
	{"quiet", HI_PAGES_REFUSED},
	{"verbose", HI_PAGES_REFUSED},
	/* Which objects count. */
	{"census", HI_PAGES_CHOOSES},
	{"root", HI_PAGES_CHOOSES},
	{"under", HI_PAGES_CHOOSES},
	{"retainer", HI_PAGES_CHOOSES},
	{"identity", HI_PAGES_CHOOSES},
	{"max-set", HI_PAGES_CHOOSES},
	{"weak-as-roots", HI_PAGES_CHOOSES},
	{"retained-by", HI_PAGES_CHOOSES},
	{"count", HI_PAGES_CHOOSES},
	{"pure", HI_PAGES_CHOOSES},
	{"all-bins", HI_PAGES_CHOOSES},
	{"join", HI_PAGES_CHOOSES},
	{"site", HI_PAGES_CHOOSES},
	{"site-any", HI_PAGES_CHOOSES},
	{"age", HI_PAGES_CHOOSES},
	{"born", HI_PAGES_CHOOSES},
	{"thread", HI_PAGES_CHOOSES},
	{"bio", HI_PAGES_CHOOSES},
	/* What is shown of them. With --by of a recording, --type chooses as well. */
	{"type", HI_PAGES_SHOWS},
	{"by", HI_PAGES_SHOWS},
	{"min-size", HI_PAGES_SHOWS},
	{"top", HI_PAGES_SHOWS},
	{"all", HI_PAGES_SHOWS},
	{"ways", HI_PAGES_SHOWS},
	{"each", HI_PAGES_SHOWS},
	{"group", HI_PAGES_SHOWS},
	{"full-names", HI_PAGES_SHOWS},
	{"width", HI_PAGES_SHOWS},
	{"force", HI_PAGES_SHOWS},
	{"schema", HI_PAGES_SHOWS},
	{"peaks", HI_PAGES_SHOWS},
	{"select", HI_PAGES_SHOWS},
	{"centre", HI_PAGES_SHOWS},
	{"from-mark", HI_PAGES_SHOWS},
	{"to-mark", HI_PAGES_SHOWS},
	{"manner", HI_PAGES_SHOWS},
	{"callers", HI_PAGES_SHOWS},
	{"depth", HI_PAGES_SHOWS},
	{"bars", HI_PAGES_SHOWS},
	{"weight", HI_PAGES_SHOWS},
	{"sort", HI_PAGES_SHOWS},
	{"shape", HI_PAGES_SHOWS},
	{"bands", HI_PAGES_SHOWS},
	{"min-pct", HI_PAGES_SHOWS},
	{"from", HI_PAGES_SHOWS},
	{"to", HI_PAGES_SHOWS},
	{"ymax", HI_PAGES_SHOWS},
};

enum hi_pages_option hi_pages_option_of(const char *name)
{
	for (size_t i = 0; i < sizeof(decided) / sizeof(*decided); i++)
		if (strcmp(decided[i].name, name) == 0)
			return decided[i].is;
	return HI_PAGES_UNDECIDED;
}

/* What a command's words are, beside the file. */
enum words {
	WORDS_NONE,
	WORDS_ARGUMENT, /* FILE [ARGUMENT] */
	WORDS_DIFF,	/* BEFORE AFTER; the argument is the census before */
	WORDS_DEEP,	/* [VERB] FILE [FILE] [QUERY] */
};
static const struct {
	enum hi_command_id id;
	enum words words;
} shown[] = {
	{HI_COMMAND_SUMMARY, WORDS_NONE},     {HI_COMMAND_CENSUS, WORDS_NONE},
	{HI_COMMAND_RETAINED, WORDS_NONE},    {HI_COMMAND_TREE, WORDS_ARGUMENT},
	{HI_COMMAND_LEAKS, WORDS_NONE},	      {HI_COMMAND_PATHS, WORDS_ARGUMENT},
	{HI_COMMAND_EXPLAIN, WORDS_ARGUMENT}, {HI_COMMAND_WASTE, WORDS_NONE},
	{HI_COMMAND_RETAINERS, WORDS_NONE},   {HI_COMMAND_UP, WORDS_NONE},
	{HI_COMMAND_ROOTS, WORDS_NONE},	      {HI_COMMAND_SNAPSHOTS, WORDS_NONE},
	{HI_COMMAND_DIFF, WORDS_DIFF},	      {HI_COMMAND_QUERY, WORDS_ARGUMENT},
	{HI_COMMAND_BIO, WORDS_NONE},	      {HI_COMMAND_ALLOC, WORDS_NONE},
	{HI_COMMAND_PEAKS, WORDS_NONE},	      {HI_COMMAND_SPACETIME, WORDS_NONE},
	{HI_COMMAND_DEEP, WORDS_DEEP},
};

static const struct hi_command *find_shown_command(const char *name, enum words *ret)
{
	const struct hi_command *command = hi_command_find(name);

	for (size_t i = 0; command && i < sizeof(shown) / sizeof(*shown); i++)
		if (shown[i].id == command->id) {
			*ret = shown[i].words;
			return command;
		}
	return NULL;
}

bool hi_pages_has_command(const char *name)
{
	enum words unused;

	return find_shown_command(name, &unused);
}

/* The option of this name that the command takes; NULL: none. */
static const struct argp_option *find_option_of(const struct hi_command *command,
						const char *name)
{
	for (size_t i = 0; i < hi_option_table_size; i++) {
		const struct hi_option_entry *e = &hi_option_table[i];

		if (e->option.name && strcmp(e->option.name, name) == 0 &&
		    e->commands & 1u << command->id)
			return &e->option;
	}
	return NULL;
}

bool hi_pages_takes_census(const char *address)
{
	size_t n = strcspn(address, "/?");
	char name[32];
	enum words unused;
	const struct hi_command *c;

	if (!n)
		return true;
	snprintf(name, sizeof(name), "%.*s", n < 31 ? (int)n : 31, address);
	c = find_shown_command(name, &unused);
	if (!c || c->id == HI_COMMAND_SNAPSHOTS || c->id == HI_COMMAND_DIFF)
		return false;
	return c->id == HI_COMMAND_DEEP || find_option_of(c, "census");
}

/* ---- the command line ---- */

struct line {
	struct hi_pages_request *r;
	const struct hi_command *command;
	char *words[WORDS + 1];
	int n;
	bool failed; /* out of memory */
};

static void join_word(struct line *l, const char *before, const char *a,
		      const char *between, const char *b)
{
	char *text = hi_arena_printf(&l->r->arena, "%s%s%s%s", before, a, between, b);

	if (text && l->n < WORDS)
		l->words[l->n++] = text;
	else
		l->failed = true;
}

static void add_word(struct line *l, const char *word)
{
	join_word(l, "", word, "", "");
}

static const char *option_of_address(const struct hi_address *a, const char *name)
{
	for (size_t i = 0; i < a->n_options; i++)
		if (strcmp(a->options[i].name, name) == 0)
			return a->options[i].value;
	return NULL;
}

/* Is it a word and no option, whatever is in it? "-" would be standard input. */
static enum hi_status check_page_argument(const struct hi_address *a,
					  struct hi_error *err)
{
	if (!a->argument || a->argument[0] != '-')
		return HI_OK;
	return hi_fail(err, HI_USAGE, 0, "%s/%.60s: what follows %s/ cannot begin with -",
		       a->name, a->argument, a->name);
}

/* FILE, or FILE@CENSUS. */
static void add_file_word(struct line *l, const char *file, const char *census)
{
	if (census && *census)
		join_word(l, "", file, "@", census);
	else
		add_word(l, file);
}

/* Which one the address says, or all of them. */
static const char *census_of_line(const struct line *l)
{
	const char *census = option_of_address(&l->r->address, "census");

	return census && *census ? census : l->r->files->census;
}

static enum hi_status check_page_census(const struct line *l, struct hi_error *err)
{
	const char *const words[] = {
		option_of_address(&l->r->address, "census"),
		l->command->id == HI_COMMAND_DIFF ? l->r->address.argument : NULL};

	for (size_t i = 0; i < 2; i++)
		if (words[i] && *words[i] && !hi_snapshot_source_is_census(words[i]))
			return hi_fail(
				err, HI_USAGE, 0,
				"--census %.60s: not a number, first, last or peak",
				words[i]);
	return HI_OK;
}

static void add_diff_words(struct line *l)
{
	const struct hi_pages_files *f = l->r->files;
	const char *before = l->r->address.argument, *census = census_of_line(l);

	if (f->other && f->other_is_later) {
		add_file_word(l, f->file, census);
		add_file_word(l, f->other, f->other_census);
		return;
	}
	if (f->other)
		add_file_word(l, f->other, f->other_census);
	else if (before)
		add_file_word(l, f->file, before);
	if (f->other || before || census)
		add_file_word(l, f->file, census);
	else
		add_word(l, f->file);
}

/* "diff/top_procs/…", "advise", "clique/7". */
static void add_deep_words(struct line *l)
{
	static const char *const verbs[] = {"diff", "advise"};
	const struct hi_pages_files *f = l->r->files;
	const char *census = census_of_line(l);
	const char *rest = l->r->address.argument;
	bool two = false;

	for (size_t i = 0; rest && i < 2; i++) {
		size_t n = strlen(verbs[i]);

		if (strncmp(rest, verbs[i], n) != 0 || (rest[n] && rest[n] != '/'))
			continue;
		add_word(l, verbs[i]);
		two = i == 0;
		rest += n + (rest[n] == '/');
		break;
	}
	if (two && f->other && !f->other_is_later)
		add_file_word(l, f->other, f->other_census);
	else if (two && !f->other)
		add_file_word(l, f->file, "first");
	add_file_word(l, f->file, census);
	if (two && f->other && f->other_is_later)
		add_file_word(l, f->other, f->other_census);
	if (rest && *rest)
		add_word(l, rest);
}

/* A form has the statement as a value. */
static const char *argument_of_request(const struct line *l)
{
	const struct hi_address *a = &l->r->address;
	const char *sql =
		l->command->id == HI_COMMAND_QUERY ? option_of_address(a, "sql") : NULL;
	const char *text =
		l->command->id == HI_COMMAND_PATHS || l->command->id == HI_COMMAND_EXPLAIN
			? option_of_address(a, "of")
			: NULL;

	return a->argument ? a->argument : sql ? sql : text;
}

static void add_argument_words(struct line *l)
{
	const char *argument = argument_of_request(l);

	add_file_word(l, l->r->files->file,
		      hi_pages_takes_census(l->r->address.name) ? census_of_line(l)
								: NULL);
	if (!argument || !*argument)
		return;
	/* A statement may begin with a comment. */
	join_word(l, l->command->id == HI_COMMAND_QUERY ? " " : "", argument, "", "");
}

static bool is_of_form(const struct line *l, const char *name)
{
	return (strcmp(name, "sql") == 0 && l->command->id == HI_COMMAND_QUERY) ||
	       (strcmp(name, "of") == 0 && (l->command->id == HI_COMMAND_PATHS ||
					    l->command->id == HI_COMMAND_EXPLAIN));
}

static enum hi_status add_option_word(struct line *l, const struct hi_address_option *o,
				      struct hi_error *err)
{
	enum hi_pages_option is = hi_pages_option_of(o->name);
	const struct argp_option *option = find_option_of(l->command, o->name);

	if (is_of_form(l, o->name))
		return HI_OK;
	/* It is behind the name of the file. */
	if (strcmp(o->name, "census") == 0 && (l->command->id == HI_COMMAND_DIFF ||
					       hi_pages_takes_census(l->command->name)))
		return HI_OK;
	if (is != HI_PAGES_SHOWS && is != HI_PAGES_CHOOSES)
		return hi_fail(err, HI_USAGE, 0, "%.60s: pages do not take this option",
			       o->name);
	if (!option)
		return hi_fail(err, HI_USAGE, 0, "--%.60s: not an option of %s", o->name,
			       l->command->name);
	/* An empty field of a form. */
	if (option->arg && !*o->value)
		return HI_OK;
	join_word(l, "--", o->name, option->arg ? "=" : "", option->arg ? o->value : "");
	return HI_OK;
}

static enum hi_status make_request_line(struct line *l, struct hi_error *err)
{
	const struct hi_address *a = &l->r->address;
	enum hi_status status = check_page_argument(a, err);
	enum words words = WORDS_NONE;

	if (status == HI_OK)
		status = check_page_census(l, err);
	if (status != HI_OK)
		return status;
	(void)find_shown_command(a->name, &words);
	if (words == WORDS_NONE && a->argument)
		return hi_fail(err, HI_NOT_FOUND, 0, "%s/%.60s: there is no such page",
			       a->name, a->argument);
	add_word(l, "heapinspect");
	add_word(l, a->name);
	if (words == WORDS_DIFF)
		add_diff_words(l);
	else if (words == WORDS_DEEP)
		add_deep_words(l);
	else
		add_argument_words(l);
	for (size_t i = 0; i < a->n_options && status == HI_OK; i++)
		status = add_option_word(l, &a->options[i], err);
	if (status == HI_OK && l->failed)
		return hi_fail_memory(err, "address");
	return status;
}

/* ---- the key ---- */

static const char *join_request_key(struct hi_arena *arena, const char *key,
				    const char *name, const char *value)
{
	return key ? hi_arena_printf(arena, "%s%s=%s\n", key, name, value) : NULL;
}

/* With --type and --by site, or in profiles, the type says which objects count. */
static bool type_chooses(const struct hi_options *o)
{
	return o->selection.type &&
	       (o->selection.type_restricts || o->selection.has_born_by);
}

static bool make_request_key(struct hi_pages_request *r)
{
	const struct hi_address *a = &r->address;
	const char *key = hi_arena_strdup(&r->arena, "");
	uint64_t unused;

	for (size_t i = 0; i < a->n_options; i++)
		if (hi_pages_option_of(a->options[i].name) == HI_PAGES_CHOOSES)
			key = join_request_key(&r->arena, key, a->options[i].name,
					       a->options[i].value);
	if (type_chooses(&r->options))
		key = join_request_key(&r->arena, key, "type", r->options.selection.type);
	/* Its expression is looked up as a root is. */
	if (r->options.command->id == HI_COMMAND_EXPLAIN &&
	    !hi_lookup_is_address(r->options.argument, &unused))
		key = join_request_key(&r->arena, key, "explain", r->options.argument);
	r->key = key;
	return key;
}

/* ---- all of it ---- */

/* Even if the parser took a word for something else. */
static bool is_about_our_files(const struct hi_pages_request *r)
{
	const struct hi_options *o = &r->options;
	const struct hi_pages_files *f = r->files;
	const char *const named[] = {o->target.file, o->comparison.baseline,
				     o->deep.operands.files[0].path,
				     o->deep.operands.files[1].path};

	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
		if (named[i] && strcmp(named[i], f->file) != 0 &&
		    !(f->other && strcmp(named[i], f->other) == 0))
			return false;
	return !o->target.pid && !o->target.program && !o->target.core &&
	       !o->target.exe && !o->comparison.middle && !o->output.file &&
	       !o->output.format && !o->deep.contour;
}

/* The rows of a page are bounded, whatever was asked for. */
static void settle_page_options(struct hi_pages_request *r)
{
	struct hi_options *o = &r->options;
	size_t most = r->is_json ? HI_PAGES_JSON_ROWS : HI_PAGES_ROWS;

	if (o->selection.all || o->selection.top > most) {
		o->selection.all = false;
		o->selection.top = most;
	}
	if (!o->output.width)
		o->output.width = WIDTH;
	o->output.json = r->is_json;
	o->output.quiet = true;
	o->output.full_names |= r->files->full_names;
	o->decoding.threads = r->files->threads;
	/* What is kept of it lives longer than this request. */
	if (o->target.file && strcmp(o->target.file, r->files->file) == 0)
		o->target.file = r->files->file;
}

static enum hi_status parse_request_line(struct line *l, struct hi_error *err)
{
	struct hi_pages_request *r = l->r;

	r->is_parsed = hi_options_parse(l->n, l->words, &r->options) == 0;
	if (!r->is_parsed)
		return hi_fail(err, HI_USAGE, 0, "%s", "");
	if (!is_about_our_files(r))
		return hi_fail(err, HI_USAGE, 0, "a page is about %.120s alone",
			       r->files->file);
	settle_page_options(r);
	return make_request_key(r) ? HI_OK : hi_fail_memory(err, "address");
}

static enum hi_status read_name(struct hi_pages_request *r, const char *address,
				struct hi_error *err)
{
	static const char json[] = "json/";
	enum hi_status status;

	if (strncmp(address, json, sizeof(json) - 1) == 0) {
		r->is_json = true;
		address += sizeof(json) - 1;
	}
	status = hi_address_parse(address, &r->arena, &r->address, err);
	if (status == HI_OK && !*r->address.name)
		r->address.name = "summary";
	return status;
}

enum hi_status hi_pages_request_read(const char *address,
				     const struct hi_pages_files *files,
				     struct hi_pages_request **ret, struct hi_error *err)
{
	struct hi_pages_request *r = hi_calloc(1, sizeof(*r));
	struct line line = {.r = r};
	enum words unused;
	enum hi_status status;

	*ret = r;
	if (!r)
		return hi_fail_memory(err, "address");
	r->files = files;
	r->text = hi_arena_strdup(&r->arena, address);
	status = r->text ? read_name(r, address, err) : hi_fail_memory(err, "address");
	if (status != HI_OK)
		return status;
	line.command = find_shown_command(r->address.name, &unused);
	if (!line.command)
		return hi_fail(err, HI_NOT_FOUND, 0, "%.80s: there is no such page",
			       r->address.name);
	status = make_request_line(&line, err);
	return status == HI_OK ? parse_request_line(&line, err) : status;
}

void hi_pages_request_destroy(struct hi_pages_request *r)
{
	if (!r)
		return;
	if (r->is_parsed)
		hi_options_free(&r->options);
	hi_arena_free(&r->arena);
	free(r);
}
