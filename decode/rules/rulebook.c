/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts are parsed when they are added. The first look-up seals the book: constants and
 * keys are evaluated, exact names are looked up and compiled. After that a type is
 * compiled at its first look-up, under one lock; it is handed out when its `wants` are
 * known, and never changes then.
 */
#include "decode/rules/rulebook_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"

char *hi_book_piece(struct hi_rulebook *book, struct hi_text_piece piece)
{
	return hi_arena_printf(&book->arena, "%.*s", (int)piece.length, piece.at);
}

void hi_book_keep_warning(struct hi_rulebook *book, const char *text)
{
	uint64_t known;

	if (!text || hi_table_get(&book->warned, hi_hash_key(text), &known))
		return;
	if (!hi_table_put(&book->warned, hi_hash_key(text), 1) ||
	    !hi_vector_push(&book->warnings, text))
		book->no_memory = true;
}

/* ... (record dict, ht_table[i]): which statement a warning is about. */
static void name_statement(const struct hi_book_text *text, char *what, size_t size)
{
	struct hi_text_piece record = text->record, word = text->word;
	size_t n = strlen(what);

	if (record.length)
		snprintf(what + n, size - n, " (record %.*s%s%.*s)", (int)record.length,
			 record.at, word.length ? ", " : "", (int)word.length, word.at);
}

void hi_book_warn(struct hi_book_text *text, const char *at, const char *fmt, ...)
{
	struct hi_rulebook *book = text->book;
	uint32_t line = hi_hints_position(text->hints, at).line;
	char what[300], plain[300];
	const char *all;
	va_list ap;

	if (book->quiet) {
		book->quiet_warned = true;
		return;
	}
	va_start(ap, fmt);
	vsnprintf(plain, sizeof(plain), fmt, ap);
	va_end(ap);
	hi_book_uncapture(text->captures, plain, true, what, sizeof(what));
	name_statement(text, what, sizeof(what));
	/* Text that was made here (`*this`) has no position in the file. */
	if (at < text->hints->text || at > text->hints->text + text->hints->size)
		all = hi_arena_printf(&book->arena, "%s: %s", text->hints->file, what);
	else
		all = hi_arena_printf(&book->arena, "%s:%u: %s", text->hints->file, line,
				      what);
	hi_book_keep_warning(book, all);
}

/* ---- making and adding ---- */

static enum hi_status create_rulebook(struct hi_rulebook **ret, struct hi_error *err)
{
	*ret = hi_calloc(1, sizeof(**ret));
	if (!*ret)
		return hi_fail_memory(err, "rulebook");
	pthread_mutex_init(&(*ret)->lock, NULL);
	return HI_OK;
}

enum hi_status hi_rulebook_create(struct hi_types *types, struct hi_modules *modules,
				  struct hi_rulebook **ret, struct hi_error *err)
{
	enum hi_status status = create_rulebook(ret, err);

	if (status != HI_OK)
		return status;
	(*ret)->types = types;
	(*ret)->modules = modules;
	(*ret)->names = (struct hi_expression_names){types, modules};
	(*ret)->base = hi_expression_source_of(&(*ret)->names);
	return HI_OK;
}

enum hi_status hi_rulebook_create_with(const struct hi_expression_source *source,
				       struct hi_rulebook **ret, struct hi_error *err)
{
	enum hi_status status = create_rulebook(ret, err);

	if (status != HI_OK)
		return status;
	(*ret)->base = *source;
	return HI_OK;
}

void hi_rulebook_destroy(struct hi_rulebook *book)
{
	if (!book)
		return;
	for (size_t i = 0; i < book->compiled.count; i++)
		hi_vector_free(&book->compiled.items[i]->edges);
	hi_book_symbols_free(book);
	hi_vector_free(&book->compiled);
	hi_vector_free(&book->pending);
	hi_vector_free(&book->texts);
	hi_vector_free(&book->keys);
	hi_vector_free(&book->entries);
	hi_vector_free(&book->exact);
	hi_vector_free(&book->warnings);
	hi_vector_free(&book->files);
	hi_table_free(&book->by_type);
	hi_vector_free(&book->shows);
	hi_table_free(&book->by_root);
	hi_table_free(&book->shown);
	hi_table_free(&book->warned);
	hi_arena_free(&book->arena);
	pthread_mutex_destroy(&book->lock);
	free(book);
}

static enum hi_status add_keys(struct hi_book_text *text, struct hi_error *err)
{
	struct hi_rulebook *book = text->book;
	const struct hi_hints *hints = text->hints;

	text->first_key = (uint32_t)book->keys.count;
	if (book->keys.count + hints->n_keys > HI_CONTEXT_KEYS)
		return hi_fail(err, HI_BAD_DATA, 0,
			       "%.100s:%u:%u: more than %d context keys in all",
			       hints->file,
			       hi_hints_position(hints, hints->keys[0].name.at).line,
			       hi_hints_position(hints, hints->keys[0].name.at).column,
			       HI_CONTEXT_KEYS);
	for (uint32_t i = 0; i < hints->n_keys; i++) {
		const char *name = hi_book_piece(book, hints->keys[i].name);

		if (!name || !hi_vector_push(&book->keys, name))
			return hi_fail_memory(err, "hints");
	}
	return HI_OK;
}

/* `types FILE;`, beside the text unless it is a whole path. */
static enum hi_status add_sidecar_types(struct hi_book_text *text, struct hi_error *err)
{
	const struct hi_hints *hints = text->hints;
	const char *slash = strrchr(hints->path, '/');

	for (uint32_t i = 0; i < hints->n_sidecars; i++) {
		struct hi_text_piece name = hints->sidecars[i];
		struct hi_text_position at = hi_hints_position(hints, name.at);
		int dir = slash && name.at[0] != '/' ? (int)(slash + 1 - hints->path) : 0;
		const char *path =
			hi_arena_printf(&text->book->arena, "%.*s%.*s", dir, hints->path,
					(int)name.length, name.at);
		struct hi_error why = {};

		if (!path)
			return hi_fail_memory(err, "hints");
		if (!text->book->types)
			return hi_fail(err, HI_UNSUPPORTED, 0,
				       "%.60s:%u:%u: there is no program to add types to",
				       hints->file, at.line, at.column);
		if (hi_types_add_file(text->book->types, path, &why) != HI_OK)
			return hi_fail(err, why.status, 0, "%.60s:%u:%u: %s", hints->file,
				       at.line, at.column, why.text);
	}
	return HI_OK;
}

static enum hi_status keep_typedefs(struct hi_book_text *text, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (!text->book->types)
		return HI_OK;
	for (uint32_t i = 0; i < text->hints->n_typedefs && status == HI_OK; i++) {
		struct hi_text_piece name = text->hints->typedefs[i].name;
		HI_GUARD(free) char *copy = hi_strndup(name.at, name.length);

		status = copy ? hi_types_keep_typedef(text->book->types, copy, err)
			      : hi_fail_memory(err, "hints");
	}
	return status;
}

/* Own texts come before shipped ones, else in the order in which they were added. */
static bool insert_text(struct hi_rulebook *book, struct hi_book_text *text)
{
	size_t at = text->shipped ? book->texts.count : book->n_own;

	if (!hi_vector_push(&book->texts, text))
		return false;
	memmove(&book->texts.items[at + 1], &book->texts.items[at],
		(book->texts.count - 1 - at) * sizeof(text));
	book->texts.items[at] = text;
	book->n_own += !text->shipped;
	return text->hints->containers || hi_vector_push(&book->files, text->hints->file);
}

enum hi_status hi_rulebook_add_parsed(struct hi_rulebook *book,
				      const struct hi_hints *hints, bool shipped,
				      struct hi_error *err)
{
	struct hi_book_text *text = hi_arena_alloc(&book->arena, sizeof(*text));
	enum hi_status status;

	if (!text)
		return hi_fail_memory(err, "hints");
	if (book->sealed)
		return hi_fail(err, HI_USAGE, 0,
			       "%.100s: hints must be loaded before types are resolved",
			       hints->file);
	*text = (struct hi_book_text){.book = book, .hints = hints, .shipped = shipped};
	text->const_values = hi_arena_alloc(&book->arena, hints->n_consts * 8ull);
	text->const_known = hi_arena_alloc(&book->arena, hints->n_consts);
	text->key_types =
		hi_arena_alloc(&book->arena, hints->n_keys * sizeof(hi_type_id));
	if (!text->const_values || !text->const_known || !text->key_types)
		return hi_fail_memory(err, "hints");
	hi_book_text_source(text);
	status = add_keys(text, err);
	if (status == HI_OK)
		status = add_sidecar_types(text, err);
	if (status == HI_OK)
		status = keep_typedefs(text, err);
	if (status == HI_OK && !insert_text(book, text))
		return hi_fail_memory(err, "hints");
	return status;
}

enum hi_status hi_rulebook_add(struct hi_rulebook *book, const char *file_name,
			       const char *text, size_t size, struct hi_error *err)
{
	struct hi_hints *hints;
	enum hi_status status =
		hi_hints_parse(&book->arena, file_name, text, size, &hints, err);

	return status == HI_OK ? hi_rulebook_add_parsed(book, hints, false, err) : status;
}

/* ---- sealing ---- */

static void work_out_names(struct hi_book_text *text)
{
	const struct hi_hints *hints = text->hints;
	struct hi_book_scope scope = {.text = text};

	for (uint32_t i = 0; i < hints->n_keys; i++)
		if (hints->keys[i].type.length)
			text->key_types[i] = hi_book_type(&scope, hints->keys[i].type);
	for (uint32_t i = 0; i < hints->n_consts; i++)
		text->const_known[i] = hi_book_constant(&scope, hints->consts[i].value,
							&text->const_values[i]);
}

static void seal_rulebook(struct hi_rulebook *book)
{
	if (book->sealed)
		return;
	book->sealed = true;
	for (size_t t = 0; t < book->texts.count; t++)
		work_out_names(book->texts.items[t]);
	if (!hi_book_index(book) || !hi_book_index_shows(book))
		book->no_memory = true;
	for (size_t i = 0; i < book->exact.count; i++)
		hi_book_compiled(book, book->exact.items[i]);
	hi_book_settle(book);
}

/* ---- questions ---- */

/* A library's hints come with its types, which programs may have in part: <link.h> has
 * the first members of glibc's struct link_map. */
static bool is_of_library(const struct hi_book_text *text)
{
	return text->shipped && !text->hints->containers && !text->hints->n_programs;
}

/* Another type of the same name (a library has a `dict` of its own) has the same rules if
 * all of them fit, else none, without a warning. */
static struct hi_compiled *compile_rules(struct hi_rulebook *book,
					 const struct hi_type *type)
{
	const struct hi_book_entry *entry;
	struct hi_captures captures = {};
	struct hi_compiled *c = NULL;

	if (type->kind == HI_KIND_POINTER || type->kind == HI_KIND_INTEGER ||
	    type->kind == HI_KIND_ADDRESS)
		return hi_book_typedef_rules(book, type);
	if (type->kind != HI_KIND_STRUCT && type->kind != HI_KIND_UNION)
		return NULL;
	entry = hi_book_find(book, type, &captures);
	if (entry) {
		hi_captures_resolve(&book->base, type->id, &captures);
		book->quiet = is_of_library(entry->text) ||
			      (entry->alias && entry->type != type->id);
		book->quiet_warned = false;
		c = hi_book_record(entry->text, entry->record, type, &captures);
		if (book->quiet_warned)
			c = NULL;
		book->quiet = book->quiet_warned = false;
	}
	hi_vector_free(&captures);
	return c;
}

static void remember_compiled(struct hi_rulebook *book, struct hi_table *table,
			      uint64_t key, struct hi_compiled *c)
{
	if (key == UINT64_MAX || !hi_table_put(table, key, (uint64_t)(uintptr_t)c) ||
	    (c && !hi_vector_push(&book->pending, c)))
		book->no_memory = true;
}

struct hi_compiled *hi_book_compiled(struct hi_rulebook *book, hi_type_id id)
{
	const struct hi_type *type = book->base.type(book->base.arg, id);
	struct hi_compiled *c;
	uint64_t known;

	if (hi_table_get(&book->by_type, type->id, &known))
		return (struct hi_compiled *)(uintptr_t)known;
	c = compile_rules(book, type);
	remember_compiled(book, &book->by_type, type->id, c);
	return c;
}

/* Statements that count no hits are used when their type is. */
static void count_type_use(struct hi_compiled *c)
{
	for (uint32_t i = 0; !c->asked && c->record && i < c->record->n; i++)
		if (!c->record->items[i].lvalue.length)
			atomic_fetch_add(c->record->items[i].hits, 1);
	c->asked = true;
}

static const struct hi_rules *compiled_rules_of(void *arg, hi_type_id id)
{
	struct hi_rulebook *book = arg;
	struct hi_compiled *c;

	pthread_mutex_lock(&book->lock);
	seal_rulebook(book);
	c = hi_book_compiled(book, id);
	hi_book_settle(book);
	if (c)
		count_type_use(c);
	pthread_mutex_unlock(&book->lock);
	return c && !c->empty ? &c->rules : NULL;
}

static const struct hi_rules *root_rules(void *arg, const struct hi_variable *var)
{
	struct hi_rulebook *book = arg;
	struct hi_compiled *c = NULL;
	uint64_t known;

	pthread_mutex_lock(&book->lock);
	seal_rulebook(book);
	if (hi_table_get(&book->by_root, var->address, &known)) {
		c = (struct hi_compiled *)(uintptr_t)known;
	} else {
		c = hi_book_root_rules(book, var);
		if (c) /* of the many variables only a few */
			remember_compiled(book, &book->by_root, var->address, c);
		hi_book_settle(book);
	}
	pthread_mutex_unlock(&book->lock);
	return c && !c->empty ? &c->rules : NULL;
}

static const struct hi_shown *shown_type_of(void *arg, hi_type_id type)
{
	struct hi_rulebook *book = arg;
	const struct hi_shown *shown;

	pthread_mutex_lock(&book->lock);
	seal_rulebook(book);
	shown = hi_book_shown(book, type);
	pthread_mutex_unlock(&book->lock);
	return shown;
}

/* The first text that gives one. */
static uint64_t find_block_header(const struct hi_rulebook *book)
{
	for (size_t i = 0; i < book->texts.count; i++)
		if (book->texts.items[i]->hints->header)
			return book->texts.items[i]->hints->header;
	return 0;
}

struct hi_rule_source hi_rulebook_source(struct hi_rulebook *book)
{
	pthread_mutex_lock(&book->lock);
	seal_rulebook(book);
	pthread_mutex_unlock(&book->lock);
	return (struct hi_rule_source){.arg = book,
				       .block_header = find_block_header(book),
				       .rules = compiled_rules_of,
				       .root_rules = root_rules,
				       .of_symbol = hi_book_of_symbol,
				       .shown = shown_type_of,
				       .hides = hi_book_hides};
}

size_t hi_rulebook_warnings(struct hi_rulebook *book, const char *const **ret)
{
	size_t n;

	pthread_mutex_lock(&book->lock);
	seal_rulebook(book);
	hi_book_warn_of_lacks(book);
	*ret = book->warnings.items;
	n = book->warnings.count;
	pthread_mutex_unlock(&book->lock);
	return n;
}

size_t hi_rulebook_files(const struct hi_rulebook *book, const char *const **ret)
{
	*ret = book->files.items;
	return book->files.count;
}

bool hi_rulebook_is_retainer(struct hi_rulebook *book, hi_type_id type)
{
	const struct hi_compiled *c;

	pthread_mutex_lock(&book->lock);
	seal_rulebook(book);
	c = hi_book_compiled(book, type);
	hi_book_settle(book);
	pthread_mutex_unlock(&book->lock);
	return c && c->retainer;
}

const char *hi_rulebook_key_name(const struct hi_rulebook *book, uint32_t key)
{
	return key < book->keys.count ? book->keys.items[key] : "";
}
