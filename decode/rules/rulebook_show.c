/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How paths write a type. What does not fit the program's type is left out without a
 * warning: the path then has the members' own names, which are as true.
 */
#include "base/search.h"
#include "decode/rules/rulebook_internal.h"

#include <stdlib.h>
#include <string.h>

static int compare_book_shows(const void *a, const void *b)
{
	const struct hi_book_show *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

bool hi_book_index_shows(struct hi_rulebook *book)
{
	for (size_t t = 0; t < book->texts.count; t++) {
		struct hi_book_text *text = book->texts.items[t];

		for (uint32_t i = 0; i < text->hints->n_shows; i++) {
			const struct hi_hint_show *show = &text->hints->shows[i];
			struct hi_text_piece p = show->pattern;
			struct hi_book_show one = {
				.key = hi_book_is_open(p)
					       ? 0
					       : hi_type_name_key(p.at, p.length),
				.order = (uint32_t)book->shows.count,
				.text = text,
				.show = show};

			if (!hi_vector_push(&book->shows, one))
				return false;
		}
	}
	if (book->shows.count)
		qsort(book->shows.items, book->shows.count, sizeof(*book->shows.items),
		      compare_book_shows);
	return true;
}

/* A place at a fixed distance from the record, with its type. */
static bool compile_shown_place(const struct hi_book_scope *scope,
				struct hi_text_piece piece, struct hi_shown_place *ret)
{
	const struct hi_code *code = hi_book_code(scope, piece, true);
	const struct hi_type *type;

	if (!code || !hi_code_is_static(code, &ret->offset, &ret->stride))
		return false;
	type = scope->text->source.type(scope->text->source.arg, hi_code_type(code));
	ret->type = type->id;
	ret->size = type->size;
	return type->id && type->size;
}

static void compile_shown_text(struct hi_book_scope scope,
			       const struct hi_hint_show *show, struct hi_shown *ret)
{
	scope.allowed = HI_ALLOW_NONE;
	ret->text = hi_book_code(&scope, show->text, false);
	ret->length = hi_book_code(&scope, show->length, false);
	ret->char_size = show->is_wide ? 2 : 1;
	if (!ret->text || !ret->length)
		ret->text = ret->length = NULL;
}

static void compile_shown_count(struct hi_book_scope scope,
				const struct hi_hint_show *show, struct hi_shown *ret)
{
	scope.allowed = HI_ALLOW_NONE;
	ret->count = hi_book_code(&scope, show->count, false);
	if (!show->first.length)
		return;
	ret->first = hi_book_code(&scope, show->first, false);
	ret->last = hi_book_code(&scope, show->last, false);
	if (!ret->first || !ret->last)
		ret->count = NULL;
}

static struct hi_shown *compile_show(const struct hi_book_show *entry, hi_type_id type)
{
	struct hi_shown *ret = hi_arena_alloc(&entry->text->book->arena, sizeof(*ret));
	const struct hi_hint_show *show = entry->show;
	/* Expressions own nothing but code; they have no targets. */
	struct hi_compiled owner = {.text = entry->text};
	struct hi_book_scope scope = {.text = entry->text,
				      .owner = &owner,
				      .self = type,
				      .allowed = HI_ALLOW_INDEX};

	if (!ret) {
		entry->text->book->no_memory = true;
		return NULL;
	}
	ret->is_link = show->link;
	if (show->hidden)
		ret->kind = HI_SHOWN_HIDDEN;
	if (show->text.length)
		compile_shown_text(scope, show, ret);
	if (show->count.length)
		compile_shown_count(scope, show, ret);
	if (show->value.length && compile_shown_place(&scope, show->value, &ret->value) &&
	    (!show->key.length || compile_shown_place(&scope, show->key, &ret->key)))
		ret->kind = show->is_element ? HI_SHOWN_ELEMENT : HI_SHOWN_VALUE;
	ret->is_link |= ret->kind == HI_SHOWN_ELEMENT;
	return ret;
}

static struct hi_shown *try_show(struct hi_rulebook *book,
				 const struct hi_book_show *entry,
				 const struct hi_type *type)
{
	struct hi_text_piece p = entry->show->pattern;
	struct hi_captures captures = {};
	struct hi_shown *shown = NULL;
	enum hi_match match =
		hi_type_pattern_match(p.at, p.length, type->name, false, &captures);

	book->no_memory |= match == HI_MATCH_NO_MEMORY;
	if (match == HI_MATCH_YES) {
		bool quiet = book->quiet;

		hi_captures_resolve(&book->base, type->id, &captures);
		entry->text->captures = &captures;
		book->quiet = true;
		shown = compile_show(entry, type->id);
		book->quiet = quiet;
		entry->text->captures = NULL;
	}
	hi_vector_free(&captures);
	return shown && (shown->kind != HI_SHOWN_PLAIN || shown->text || shown->count ||
			 shown->is_link)
		       ? shown
		       : NULL;
}

/* The first whose places this type has: members have had several names. */
static struct hi_shown *find_show_with_key(struct hi_rulebook *book, uint64_t key,
					   const struct hi_type *type)
{
	size_t first = hi_search(i, book->shows.count, book->shows.items[i].key < key);
	struct hi_shown *shown = NULL;

	for (size_t i = first;
	     i < book->shows.count && book->shows.items[i].key == key && !shown; i++)
		shown = try_show(book, &book->shows.items[i], type);
	return shown;
}

static struct hi_shown *find_show(struct hi_rulebook *book, const struct hi_type *type)
{
	uint64_t key = hi_type_name_key(type->name, strlen(type->name));
	struct hi_shown *shown = find_show_with_key(book, key, type);

	return shown ? shown : find_show_with_key(book, 0, type);
}

const struct hi_shown *hi_book_shown(struct hi_rulebook *book, hi_type_id id)
{
	const struct hi_type *type = book->base.type(book->base.arg, id);
	struct hi_shown *shown = NULL;
	uint64_t known;

	if (!type->id || !book->shows.count)
		return NULL;
	if (hi_table_get(&book->shown, type->id, &known))
		return (const struct hi_shown *)(uintptr_t)known;
	if (type->kind == HI_KIND_STRUCT || type->kind == HI_KIND_UNION)
		shown = find_show(book, type);
	if (!hi_table_put(&book->shown, type->id, (uint64_t)(uintptr_t)shown))
		book->no_memory = true;
	return shown;
}

static bool name_fits_pattern(struct hi_text_piece pattern, const char *name)
{
	size_t n = pattern.length;

	if (n && pattern.at[n - 1] == '*')
		return strncmp(pattern.at, name, n - 1) == 0;
	return strlen(name) == n && memcmp(pattern.at, name, n) == 0;
}

bool hi_book_hides(void *arg, const char *member)
{
	const struct hi_rulebook *book = arg;

	for (size_t t = 0; t < book->texts.count; t++) {
		const struct hi_hints *hints = book->texts.items[t]->hints;

		for (uint32_t i = 0; i < hints->n_hides; i++)
			if (name_fits_pattern(hints->hides[i], member))
				return true;
	}
	return false;
}
