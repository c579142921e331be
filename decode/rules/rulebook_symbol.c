/* SPDX-License-Identifier: BSD-2-Clause */
/* `symbol EXPR "PATTERN": TARGET`: the type by a function's name. */
#include "decode/rules/rulebook_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "decode/modules/demangle.h"
#include "decode/types/function_types.h"

enum { NAME_MAX_BYTES = 4096, ADDRESSES_MAX = 1 << 16, SHARED_MAX = 64 };

struct hi_book_symbol {
	struct hi_book_text *text;
	struct hi_compiled *owner;
	const struct hi_hint_target *hint;
	struct hi_captures captures; /* of the record's own pattern */
	hi_type_id self, dollar;
	unsigned allowed;	    /* mask of enum hi_expression_operand */
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
					     .allowed = scope->allowed};
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

/* "<T as Trait>::{vtable}": T, up to " as " outside of brackets. */
static struct hi_text_piece vtable_owner(const char *name)
{
	static const char end[] = ">::{vtable}";
	size_t length = strlen(name), depth = 0;

	if (name[0] != '<' || length < sizeof(end) ||
	    strcmp(name + length - (sizeof(end) - 1), end) != 0)
		return (struct hi_text_piece){};
	for (size_t i = 1; i + sizeof(end) - 1 < length; i++) {
		if (strchr("<([", name[i]))
			depth++;
		else if (strchr(")]", name[i]) || (name[i] == '>' && name[i - 1] != '-'))
			depth -= depth > 0;
		else if (depth == 0 && strncmp(name + i, " as ", 4) == 0)
			return (struct hi_text_piece){name + 1, (uint32_t)(i - 1)};
	}
	return (struct hi_text_piece){};
}

static bool same_symbol_piece(struct hi_text_piece a, struct hi_text_piece b)
{
	return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

/*
 * rustc describes the vtables of trait objects by variables (compiler/
 * rustc_codegen_llvm/src/debuginfo/metadata.rs, create_vtable_di_node). Two
 * types whose vtables are the same may share one: then the type is unknown.
 */
static bool vtable_name(struct hi_rulebook *book, uint64_t address, char *out,
			size_t out_size)
{
	const char *names[SHARED_MAX];
	struct hi_text_piece owner = {};
	size_t n = book->types && address
			   ? hi_types_names_at(book->types, address, names, SHARED_MAX)
			   : 0;

	for (size_t i = 0; i < n; i++) {
		struct hi_text_piece other = vtable_owner(names[i]);

		if (!other.length || (owner.length && !same_symbol_piece(owner, other)))
			return false;
		owner = other;
	}
	return owner.length && n < SHARED_MAX &&
	       (size_t)snprintf(out, out_size, "{vtable}<%.*s>", (int)owner.length,
				owner.at) < out_size;
}

/* `$here`, `$there`, `$subject`, from the function's own debug information. */
static bool push_types_of_function(struct hi_book_symbol *s, uint64_t address,
				   struct hi_captures *captures)
{
	static const struct {
		const char *name;
		hi_type_id (*type)(struct hi_types *types, struct hi_module *module,
				   uint64_t entry);
	} known[] = {{"here", hi_function_value_in_place},
		     {"there", hi_function_value_elsewhere},
		     {"subject", hi_function_subject}};
	struct hi_rulebook *book = s->text->book;
	struct hi_text_piece target = s->hint->then->name;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t length = strlen(known[i].name);
		struct hi_module *module;
		hi_type_id type;

		if (s->hint->then->kind != HI_HINT_TYPE || target.length != length + 1 ||
		    target.at[0] != '$' ||
		    memcmp(target.at + 1, known[i].name, length) != 0)
			continue;
		module = book->modules ? hi_modules_at(book->modules, address) : NULL;
		type = module && book->types ? known[i].type(book->types, module, address)
					     : 0;
		if (!type)
			return false;
		if (!hi_vector_push(captures,
				    ((struct hi_capture){.name = target.at + 1,
							 .name_length = (uint32_t)length,
							 .type = type})))
			book->no_memory = true;
	}
	return true;
}

static const struct hi_rule_target *find_symbol_target(struct hi_book_symbol *s,
						       uint64_t address)
{
	struct hi_rulebook *book = s->text->book;
	struct hi_rule_target *target = NULL;
	struct hi_captures captures = {};
	struct hi_book_scope scope = {.text = s->text,
				      .owner = s->owner,
				      .self = s->self,
				      .dollar = s->dollar,
				      .allowed = s->allowed};
	char name[NAME_MAX_BYTES];

	if ((!function_name(book, address, name, sizeof(name)) &&
	     !vtable_name(book, address, name, sizeof(name))) ||
	    hi_type_pattern_match(s->hint->name.at, s->hint->name.length, name, true,
				  &captures) != HI_MATCH_YES)
		return NULL;
	hi_captures_resolve(&book->base, 0, &captures);
	for (size_t i = 0; i < s->captures.count; i++)
		if (!hi_vector_push(&captures, s->captures.items[i]))
			book->no_memory = true;
	if (!push_types_of_function(s, address, &captures)) {
		hi_vector_free(&captures);
		return NULL;
	}
	s->text->captures = &captures;
	target = hi_arena_alloc(&book->arena, sizeof(*target));
	book->quiet = true; /* a lambda's type has no name of its own */
	if (target && !hi_book_target(&scope, s->hint->then, target))
		target = NULL;
	book->quiet = book->quiet_warned = false;
	/* Returns only a known target: the next case may find one. */
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

	memcpy(&s, &target->pattern, sizeof(s)); /* written here only */
	pthread_mutex_lock(&book->lock);
	if (hi_table_get(&s->by_address, address, &known)) {
		found = (const struct hi_rule_target *)(uintptr_t)known;
	} else {
		found = find_symbol_target(s, address);
		/* Addresses are the target's: hostile. */
		if (address != UINT64_MAX && s->by_address.count < ADDRESSES_MAX &&
		    !hi_table_put(&s->by_address, address, (uint64_t)(uintptr_t)found))
			book->no_memory = true;
		hi_book_settle(book);
	}
	pthread_mutex_unlock(&book->lock);
	return found;
}
