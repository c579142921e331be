/* SPDX-License-Identifier: BSD-2-Clause */
/* `symbol EXPR "PATTERN": TARGET`: a function's name tells the type. */
#include "decode/typing/rulebook_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { NAME_MAX_BYTES = 4096, ADDRESSES_MAX = 1 << 16 };

struct hi_book_symbol {
	struct hi_book_text *text;
	struct hi_compiled *owner;
	const struct hi_hint_target *hint;
	struct hi_captures captures; /* of the record's own pattern */
	hi_type_id self, dollar;
	bool has_dollar, has_index;
	struct hi_table by_address; /* code -> struct hi_rule_target *, 0: none */
};

const void *hi_book_symbol(const struct hi_book_scope *scope,
			   const struct hi_hint_target *hint)
{
	struct hi_rulebook *book = scope->text->book;
	const struct hi_captures *captures = scope->text->captures;
	struct hi_book_symbol *s = hi_arena_alloc(&book->arena, sizeof(*s));
	bool ok = s && hi_vector_push(&book->symbols, s);

	if (ok)
		*s = (struct hi_book_symbol){.text = scope->text,
					     .owner = scope->owner,
					     .hint = hint,
					     .self = scope->self,
					     .dollar = scope->dollar,
					     .has_dollar = scope->has_dollar,
					     .has_index = scope->has_index};
	for (size_t i = 0; ok && captures && i < captures->count; i++) {
		struct hi_capture c = captures->items[i];
		char *copy = hi_strndup(c.at, c.length);

		/* The type's name need not live as long as we do. */
		c.at = copy ? hi_arena_strdup(&book->arena, copy) : NULL;
		free(copy);
		ok = c.at && hi_vector_push(&s->captures, c);
	}
	book->no_memory |= !ok;
	return ok ? s : NULL;
}

void hi_book_symbols_free(struct hi_rulebook *book)
{
	for (size_t i = 0; i < book->symbols.count; i++) {
		hi_vector_free(&book->symbols.items[i]->captures);
		hi_table_free(&book->symbols.items[i]->by_address);
	}
	hi_vector_free(&book->symbols);
}

/* Readable name of the function at the address. */
static bool function_name(struct hi_rulebook *book, uint64_t address, char *out,
			  size_t out_size)
{
	uint64_t offset = 0;
	const char *name = book->modules
				   ? hi_modules_symbol_at(book->modules, address, &offset)
				   : NULL;

	if (!name || offset != 0)
		return false;
	if (!hi_demangle(name, out, out_size)) {
		if (strlen(name) >= out_size)
			return false;
		memcpy(out, name, strlen(name) + 1);
	}
	return true;
}

static const struct hi_rule_target *find(struct hi_book_symbol *s, uint64_t address)
{
	struct hi_rulebook *book = s->text->book;
	struct hi_rule_target *target = NULL;
	struct hi_captures captures = {};
	struct hi_book_scope scope = {.text = s->text,
				      .owner = s->owner,
				      .self = s->self,
				      .dollar = s->dollar,
				      .has_dollar = s->has_dollar,
				      .has_index = s->has_index};
	char name[NAME_MAX_BYTES];

	if (!function_name(book, address, name, sizeof(name)) ||
	    hi_type_pattern_match(s->hint->name.at, s->hint->name.length, name, true,
				  &captures) != HI_MATCH_YES)
		return NULL;
	hi_captures_resolve(&book->base, 0, &captures);
	for (size_t i = 0; i < s->captures.count; i++)
		if (!hi_vector_push(&captures, s->captures.items[i]))
			book->no_memory = true;
	s->text->captures = &captures;
	target = hi_arena_alloc(&book->arena, sizeof(*target));
	book->quiet = true; /* a lambda's type has no name of its own */
	if (target && !hi_book_target(&scope, s->hint->then, target))
		target = NULL;
	book->quiet = book->quiet_warned = false;
	/* Only what is known is an answer: the next case may know more. */
	if (target && s->hint->then->kind == HI_HINT_TYPE &&
	    target->kind == HI_TARGET_ANY)
		target = NULL;
	s->text->captures = NULL;
	hi_vector_free(&captures);
	return target;
}

const struct hi_rule_target *
hi_book_of_symbol(void *arg, const struct hi_rule_target *target, uint64_t address)
{
	struct hi_rulebook *book = arg;
	struct hi_book_symbol *s;
	const struct hi_rule_target *found = NULL;
	uint64_t known;

	memcpy(&s, &target->pattern, sizeof(s)); /* ours; const for others */
	pthread_mutex_lock(&book->lock);
	if (hi_table_get(&s->by_address, address, &known)) {
		found = (const struct hi_rule_target *)(uintptr_t)known;
	} else {
		found = find(s, address);
		/* Addresses are the target's: hostile. */
		if (address != UINT64_MAX && s->by_address.count < ADDRESSES_MAX &&
		    !hi_table_put(&s->by_address, address, (uint64_t)(uintptr_t)found))
			book->no_memory = true;
		hi_book_settle(book);
	}
	pthread_mutex_unlock(&book->lock);
	return found;
}
