/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/pages/pages_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/command/command.h"
#include "cli/options/option_row.h"
#include "cli/options/options.h"
#include "session/named_object.h"
#include "session/operands.h"
#include "session/snapshot/snapshot_source.h"

enum { WORDS = HI_ADDRESS_OPTIONS + 8, WIDTH = 100 };

/* ---- what a page may ask for ---- */

enum hi_option_page hi_pages_option_of(const char *name)
{
	for (size_t i = 0; i < hi_option_table_size; i++)
		if (hi_option_table[i].name && strcmp(hi_option_table[i].name, name) == 0)
			return hi_option_table[i].page;
	return HI_PAGES_UNDECIDED;
}

static const struct hi_command *find_shown_command(const char *name)
{
	const struct hi_command *command = hi_command_find(name);

	return command && command->page != HI_COMMAND_NO_PAGE ? command : NULL;
}

bool hi_pages_has_command(const char *name)
{
	return find_shown_command(name) != NULL;
}

bool hi_pages_takes_census(const char *address)
{
	size_t n = strcspn(address, "/?");
	char name[32];
	const struct hi_command *c;

	if (!n)
		return true;
	snprintf(name, sizeof(name), "%.*s", n < 31 ? (int)n : 31, address);
	c = find_shown_command(name);
	if (!c || c->page == HI_COMMAND_PAGE_OF_FILE || c->page == HI_COMMAND_PAGE_OF_TWO)
		return false;
	return c->page == HI_COMMAND_PAGE_OF_DEEP || hi_option_find(c->id, "census");
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
	const char *const words[] = {option_of_address(&l->r->address, "census"),
				     l->command->page == HI_COMMAND_PAGE_OF_TWO
					     ? l->r->address.argument
					     : NULL};

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

	return a->argument || !l->command->page_form
		       ? a->argument
		       : option_of_address(a, l->command->page_form);
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

static enum hi_status add_option_word(struct line *l, const struct hi_address_option *o,
				      struct hi_error *err)
{
	enum hi_option_page is = hi_pages_option_of(o->name);
	const struct hi_option_row *option = hi_option_find(l->command->id, o->name);

	if (l->command->page_form && strcmp(o->name, l->command->page_form) == 0)
		return HI_OK;
	/* It is after the name of the file. */
	if (strcmp(o->name, "census") == 0 &&
	    (l->command->page == HI_COMMAND_PAGE_OF_TWO ||
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

	if (status == HI_OK)
		status = check_page_census(l, err);
	if (status != HI_OK)
		return status;
	if (a->argument && (l->command->page == HI_COMMAND_PAGE ||
			    l->command->page == HI_COMMAND_PAGE_OF_FILE))
		return hi_fail(err, HI_NOT_FOUND, 0, "%s/%.60s: there is no such page",
			       a->name, a->argument);
	add_word(l, "heapinspect");
	add_word(l, a->name);
	if (l->command->page == HI_COMMAND_PAGE_OF_TWO)
		add_diff_words(l);
	else if (l->command->page == HI_COMMAND_PAGE_OF_DEEP)
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
	if (r->options.command->takes_expression &&
	    !hi_lookup_is_address(r->options.argument, &unused) &&
	    !hi_named_object_is_path(r->options.argument))
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
	enum hi_status status;

	*ret = r;
	if (!r)
		return hi_fail_memory(err, "address");
	r->files = files;
	r->text = hi_arena_strdup(&r->arena, address);
	status = r->text ? read_name(r, address, err) : hi_fail_memory(err, "address");
	if (status != HI_OK)
		return status;
	line.command = find_shown_command(r->address.name);
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
