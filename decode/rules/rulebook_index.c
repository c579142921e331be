/* SPDX-License-Identifier: BSD-2-Clause */
/* Which record of which text is about a type. */
#include "base/search.h"
#include "decode/rules/rulebook_internal.h"

#include <stdlib.h>
#include <string.h>

static bool is_exact(struct hi_text_piece pattern)
{
	return !memchr(pattern.at, '$', pattern.length) &&
	       !memchr(pattern.at, '*', pattern.length) &&
	       !memmem(pattern.at, pattern.length, "...", 3);
}

bool hi_book_is_open(struct hi_text_piece pattern)
{
	const char *bracket = memchr(pattern.at, '<', pattern.length);
	size_t n = bracket ? (size_t)(bracket - pattern.at) : pattern.length;

	return memchr(pattern.at, '$', n) != NULL;
}

static bool add_book_entry(struct hi_rulebook *book, struct hi_book_entry entry)
{
	entry.order = (uint32_t)book->entries.count;
	return hi_vector_push(&book->entries, entry);
}

/* A name without captures: a typedef's is the same type by another name. */
static bool add_alias(struct hi_rulebook *book, struct hi_book_text *text,
		      const struct hi_hint_record *record)
{
	struct hi_text_piece p = record->pattern;
	hi_type_id id = hi_type_by_name(&text->source, p.at, p.length);
	const struct hi_type *type;

	/* What is shipped is for programs in several versions. */
	if (!id && !text->hints->containers && !text->shipped)
		hi_book_warn(text, p.at, "no type '%.*s' in this program", (int)p.length,
			     p.at);
	if (!id)
		return true;
	type = text->source.type(text->source.arg, id);
	return hi_vector_push(&book->exact, type->id) &&
	       add_book_entry(book, (struct hi_book_entry){
					    .key = hi_type_name_key(type->name,
								    strlen(type->name)),
					    .text = text,
					    .record = record,
					    .alias = type->name,
					    .type = type->id});
}

static bool add_record(struct hi_rulebook *book, struct hi_book_text *text,
		       const struct hi_hint_record *record)
{
	struct hi_text_piece p = record->pattern;

	if (is_exact(p) && !add_alias(book, text, record))
		return false;
	return add_book_entry(
		book,
		(struct hi_book_entry){
			.key = hi_book_is_open(p) ? 0 : hi_type_name_key(p.at, p.length),
			.text = text,
			.record = record});
}

static int compare_book_entries(const void *a, const void *b)
{
	const struct hi_book_entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

bool hi_book_index(struct hi_rulebook *book)
{
	for (size_t t = 0; t < book->texts.count; t++) {
		struct hi_book_text *text = book->texts.items[t];

		for (uint32_t i = 0; i < text->hints->n_records; i++)
			if (!add_record(book, text, &text->hints->records[i]))
				return false;
	}
	if (book->entries.count)
		qsort(book->entries.items, book->entries.count,
		      sizeof(*book->entries.items), compare_book_entries);
	return true;
}

static size_t first_entry_of(const struct hi_rulebook *book, uint64_t key)
{
	return hi_search(i, book->entries.count, book->entries.items[i].key < key);
}

static bool entry_fits_type(struct hi_rulebook *book, const struct hi_book_entry *entry,
			    const struct hi_type *type, struct hi_captures *captures)
{
	struct hi_text_piece p = entry->record->pattern;
	enum hi_match match;

	if (entry->alias)
		return strcmp(entry->alias, type->name) == 0;
	match = hi_type_pattern_match(p.at, p.length, type->name, false, captures);
	book->no_memory |= match == HI_MATCH_NO_MEMORY;
	return match == HI_MATCH_YES;
}

/* The first in the order of the texts, of those with this key. */
static const struct hi_book_entry *find_key(struct hi_rulebook *book, uint64_t key,
					    const struct hi_type *type, uint32_t before,
					    struct hi_captures *captures)
{
	for (size_t i = first_entry_of(book, key);
	     i < book->entries.count && book->entries.items[i].key == key; i++) {
		const struct hi_book_entry *entry = &book->entries.items[i];

		if (entry->order >= before)
			break;
		if (entry_fits_type(book, entry, type, captures))
			return entry;
	}
	return NULL;
}

const struct hi_book_entry *hi_book_find(struct hi_rulebook *book,
					 const struct hi_type *type,
					 struct hi_captures *captures)
{
	uint64_t key = hi_type_name_key(type->name, strlen(type->name));
	struct hi_captures open = {};
	const struct hi_book_entry *found, *other;

	found = find_key(book, key, type, UINT32_MAX, captures);
	other = find_key(book, 0, type, found ? found->order : UINT32_MAX, &open);
	if (!other)
		return found;
	hi_vector_free(captures);
	*captures = open;
	return other;
}

static const struct hi_hint_named *typedef_in(const struct hi_book_text *text,
					      struct hi_text_piece name)
{
	for (uint32_t i = 0; i < text->hints->n_typedefs; i++) {
		const struct hi_hint_named *named = &text->hints->typedefs[i];

		if (named->name.length == name.length &&
		    memcmp(named->name.at, name.at, name.length) == 0)
			return named;
	}
	return NULL;
}

const struct hi_hint_named *hi_book_typedef(struct hi_book_text *text,
					    struct hi_text_piece name,
					    struct hi_book_text **text_ret)
{
	const struct hi_hint_named *named = typedef_in(text, name);
	struct hi_rulebook *book = text->book;

	*text_ret = text;
	for (size_t i = 0; !named && i < book->texts.count; i++) {
		*text_ret = book->texts.items[i];
		named = typedef_in(*text_ret, name);
	}
	return named;
}
