/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pieces of a text become code. What was captured is put in first: a type as a
 * name that the text's source knows, a value as a number; so a column of the
 * compiled text has to be led back to one of the piece.
 */
#include "decode/rules/rulebook_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

enum { TEXT_MAX = 8192 };

struct filled {
	char text[TEXT_MAX];
	size_t n;
	bool failed;
};

const struct hi_capture *hi_book_capture(const struct hi_captures *captures,
					 const char *name, size_t length, size_t *n_ret)
{
	const struct hi_capture *first = NULL;

	*n_ret = 0;
	for (size_t i = 0; captures && i < captures->count; i++) {
		const struct hi_capture *c = &captures->items[i];

		if (c->name_length != length || memcmp(c->name, name, length) != 0)
			continue;
		if (!first)
			first = c;
		++*n_ret;
	}
	return first;
}

static void put_filled_text(struct filled *f, const char *text, size_t n)
{
	if (f->n + n >= sizeof(f->text)) {
		f->failed = true;
		return;
	}
	memcpy(f->text + f->n, text, n);
	f->n += n;
	f->text[f->n] = '\0';
}

static size_t name_length(const char *at, const char *end)
{
	size_t n = 0;

	while (at + n < end && (isalnum((unsigned char)at[n]) || at[n] == '_'))
		n++;
	return n > 0 && isdigit((unsigned char)at[0]) ? 0 : n;
}

/* What `$NAME` stands for in an expression. */
static bool put_capture(struct filled *f, const struct hi_book_scope *scope,
			const char *at, size_t length)
{
	const struct hi_captures *captures = scope->text->captures;
	char out[64];
	size_t n;
	const struct hi_capture *c = hi_book_capture(captures, at, length, &n);

	if (!c) {
		hi_book_warn(scope->text, at, "the pattern has no '$%.*s'", (int)length,
			     at);
		return false;
	}
	if (!c->is_value && !c->type) {
		hi_book_warn(scope->text, at, "'%.*s' for $%.*s: no type of this program",
			     (int)c->length, c->at, (int)length, at);
		return false;
	}
	if (c->is_value)
		snprintf(out, sizeof(out), "(%lld)", (long long)c->value);
	else
		snprintf(out, sizeof(out), HI_BOOK_CAPTURE "%zu",
			 (size_t)(c - captures->items));
	put_filled_text(f, out, strlen(out));
	return true;
}

/* Adds the piece; back_to (may be NULL): a column of *f up to which to go, to find
 * where that is in the piece. */
static bool fill_piece(struct filled *f, const struct hi_book_scope *scope,
		       struct hi_text_piece piece, const size_t *back_to,
		       const char **where_ret)
{
	const char *at = piece.at, *end = at + piece.length;

	while (at < end && !f->failed) {
		size_t n = at[0] == '$' ? name_length(at + 1, end) : 0;

		if (back_to && f->n >= *back_to)
			break;
		if (n == 0) {
			put_filled_text(f, at++, 1);
		} else {
			if (!put_capture(f, scope, at + 1, n))
				return false;
			at += n + 1;
		}
	}
	if (where_ret)
		*where_ret = at < end ? at : piece.at;
	if (f->failed)
		hi_book_warn(scope->text, piece.at, "this expression is too long");
	return !f->failed;
}

static const struct hi_code *compile_expression_text(const struct hi_book_scope *scope,
						     const char *text, size_t n,
						     bool as_lvalue, size_t *column_ret,
						     struct hi_error *err)
{
	struct hi_scope s = {.source = &scope->text->source,
			     .self = scope->self,
			     .dollar = scope->dollar,
			     .allowed = scope->allowed};
	const struct hi_code *code = NULL;
	enum hi_status status =
		hi_code_compile(text, n, &s, as_lvalue, &scope->text->book->arena, &code,
				column_ret, err);

	if (status == HI_NO_MEMORY)
		scope->text->book->no_memory = true;
	return status == HI_OK ? code : NULL;
}

const struct hi_code *hi_book_code(const struct hi_book_scope *scope,
				   struct hi_text_piece piece, bool as_lvalue)
{
	HI_GUARD(free) struct filled *f = hi_calloc(1, sizeof(*f));
	const struct hi_code *code;
	struct hi_error err = {};
	const char *where = piece.at;
	size_t column = 0;

	if (!f) {
		scope->text->book->no_memory = true;
		return NULL;
	}
	if (!fill_piece(f, scope, piece, NULL, NULL))
		return NULL;
	code = compile_expression_text(scope, f->text, f->n, as_lvalue, &column, &err);
	if (code || err.status == HI_NO_MEMORY)
		return code;
	*f = (struct filled){};
	if (fill_piece(f, scope, piece, &column, &where))
		hi_book_warn(scope->text, where, "%s", err.text);
	return NULL;
}

const struct hi_code *hi_book_number(const struct hi_book_scope *scope, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)number);
	return compile_expression_text(scope, text, strlen(text), false, NULL, NULL);
}

bool hi_book_constant(const struct hi_book_scope *scope, struct hi_text_piece piece,
		      uint64_t *ret)
{
	const struct hi_code *code = hi_book_code(scope, piece, false);

	if (!code)
		return false;
	if (hi_code_is_constant(code, ret))
		return true;
	hi_book_warn(scope->text, piece.at, "expected a constant");
	return false;
}

/* Conditions that are put together are compiled one by one first: a message then
 * is about a piece of the text. */
static bool put_condition(struct filled *f, const struct hi_book_scope *scope,
			  const struct hi_book_condition *c)
{
	char number[40];
	bool ok;

	if (!hi_book_code(scope, c->value, false) ||
	    (c->equal.length && !hi_book_code(scope, c->equal, false)))
		return false;
	put_filled_text(f, "((", 2);
	ok = fill_piece(f, scope, c->value, NULL, NULL);
	put_filled_text(f, ")", 1);
	if (c->has_number) {
		snprintf(number, sizeof(number), " == (%lld)", (long long)c->number);
		put_filled_text(f, number, strlen(number));
	} else if (c->equal.length) {
		put_filled_text(f, " == (", 5);
		ok = ok && fill_piece(f, scope, c->equal, NULL, NULL);
		put_filled_text(f, ")", 1);
	}
	put_filled_text(f, ")", 1);
	return ok;
}

const struct hi_code *hi_book_condition(const struct hi_book_scope *scope,
					const struct hi_book_condition *conditions,
					size_t n)
{
	HI_GUARD(free) struct filled *f = hi_calloc(1, sizeof(*f));
	const struct hi_code *code;
	struct hi_error err = {};

	if (!f) {
		scope->text->book->no_memory = true;
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		if (i)
			put_filled_text(f, " && ", 4);
		if (!put_condition(f, scope, &conditions[i]))
			return NULL;
	}
	code = compile_expression_text(scope, f->text, f->n, false, NULL, &err);
	if (!code && err.status != HI_NO_MEMORY)
		hi_book_warn(scope->text, conditions[0].value.at, "%s", err.text);
	return code;
}

const struct hi_code *hi_book_any_of(const struct hi_book_scope *scope,
				     const struct hi_text_piece *pieces, size_t n)
{
	HI_GUARD(free) struct filled *f = hi_calloc(1, sizeof(*f));

	if (!f) {
		scope->text->book->no_memory = true;
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		if (!hi_book_code(scope, pieces[i], false))
			continue;
		put_filled_text(f, f->n ? " || (" : "(", f->n ? 5 : 1);
		if (!fill_piece(f, scope, pieces[i], NULL, NULL))
			return NULL;
		put_filled_text(f, ")", 1);
	}
	return f->n ? compile_expression_text(scope, f->text, f->n, false, NULL, NULL)
		    : NULL;
}

/* ---- types ---- */

/* "struct x *" with the captures replaced by the program's names. */
static bool fill_type(struct filled *f, const struct hi_book_scope *scope,
		      struct hi_text_piece name)
{
	const char *at = name.at, *end = at + name.length;

	while (at < end && !f->failed) {
		size_t n = at[0] == '$' ? name_length(at + 1, end) : 0, packed;
		const struct hi_capture *c;

		if (n == 0) {
			put_filled_text(f, at++, 1);
			continue;
		}
		c = hi_book_capture(scope->text->captures, at + 1, n, &packed);
		if (!c) {
			hi_book_warn(scope->text, at, "the pattern has no '$%.*s'",
				     (int)n, at + 1);
			return false;
		}
		put_filled_text(f, c->at, c->length);
		at += n + 1;
	}
	if (f->failed)
		hi_book_warn(scope->text, name.at, "this type's name is too long");
	return !f->failed;
}

/* `$T` and `$T *`: the captured type need not have a name that can be looked up. */
static hi_type_id direct_capture(const struct hi_book_scope *scope,
				 struct hi_text_piece name)
{
	const struct hi_expression_source *source = &scope->text->source;
	size_t n = name.at[0] == '$' ? name_length(name.at + 1, name.at + name.length)
				     : 0,
	       packed;
	const struct hi_capture *c;
	hi_type_id id;

	c = n ? hi_book_capture(scope->text->captures, name.at + 1, n, &packed) : NULL;
	id = c ? c->type : 0;
	for (size_t i = n + 1; id && i < name.length; i++)
		if (name.at[i] == '*')
			id = source->pointer_to(source->arg, id);
		else if (!isspace((unsigned char)name.at[i]))
			return 0;
	return id;
}

hi_type_id hi_book_type(const struct hi_book_scope *scope, struct hi_text_piece name)
{
	HI_GUARD(free) struct filled *f = NULL;
	hi_type_id id = direct_capture(scope, name);

	if (id)
		return id;
	f = hi_calloc(1, sizeof(*f));
	if (!f) {
		scope->text->book->no_memory = true;
		return 0;
	}
	if (!fill_type(f, scope, name))
		return 0;
	id = hi_type_by_name(&scope->text->source, f->text, f->n);
	if (!id)
		hi_book_warn(scope->text, name.at, "no type '%s' in this program",
			     f->text);
	return id;
}
