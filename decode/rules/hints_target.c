/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses targets of hints (TYPE[N], blob NAME, ?K …) with what may follow them, and
 * switches. */
#include "decode/rules/hints_internal.h"

#include <string.h>

static bool parse_back(struct hi_hints_parser *p, struct hi_hint_target *t)
{
	if (hi_hints_take_word(p, "back"))
		return hi_hints_expression(p, &t->back);
	if (hi_hints_take_word(p, "in"))
		return hi_hints_expression(p, &t->member);
	return true;
}

/* lead EXPR; full EXPR [down], ring EXPR; only; part; as NAME */
static bool parse_live_elements(struct hi_hints_parser *p, struct hi_hint_target *t)
{
	if (hi_hints_take_word(p, "lead") && !hi_hints_expression(p, &t->lead))
		return false;
	if (hi_hints_take_word(p, "full")) {
		if (!hi_hints_expression(p, &t->full))
			return false;
		t->down = hi_hints_take_word(p, "down");
	} else if (hi_hints_take_word(p, "ring")) {
		if (!hi_hints_expression(p, &t->ring))
			return false;
	}
	t->only = hi_hints_take_word(p, "only");
	t->part = hi_hints_take_word(p, "part");
	return !hi_hints_take_word(p, "as") ||
	       hi_hints_label(p, "a name for the elements", &t->called);
}

/* [N], [A .. B] */
static bool parse_count(struct hi_hints_parser *p, struct hi_hint_target *t)
{
	if (!hi_hints_take(p, '['))
		return true;
	if (!hi_hints_expression(p, &t->to))
		return false;
	if (hi_hints_take_text(p, "..")) {
		t->from = t->to;
		if (!hi_hints_expression(p, &t->to))
			return false;
	}
	return hi_hints_need(p, ']') && parse_live_elements(p, t);
}

/* `$T...[EXPR]`: behind a type that is one capture. */
static bool parse_pack(struct hi_hints_parser *p, struct hi_hint_target *t)
{
	if (!hi_hints_take_text(p, "..."))
		return parse_count(p, t);
	if (t->name.at[0] != '$')
		return hi_hints_wrong(p, t->name.at, "expected '$NAME' before '...'");
	return hi_hints_need(p, '[') && hi_hints_expression(p, &t->pack_index) &&
	       hi_hints_need(p, ']');
}

static bool parse_symbol(struct hi_hints_parser *p, struct hi_hint_target *t);

static bool parse_named_target(struct hi_hints_parser *p, struct hi_hint_target *t,
			       enum hi_hint_target_kind kind)
{
	t->kind = kind;
	return hi_hints_label(p, "the buffer's name", &t->name);
}

/* A key that was declared, for a value or for a target. */
static bool parse_with_key(struct hi_hints_parser *p, struct hi_text_piece *ret,
			   bool *is_value_ret)
{
	if (!hi_hints_name(p, "the name of a context key", ret))
		return false;
	for (size_t i = 0; i < p->keys.count; i++) {
		const struct hi_hint_key *k = &p->keys.items[i];

		if (k->name.length != ret->length ||
		    memcmp(k->name.at, ret->at, ret->length) != 0)
			continue;
		*is_value_ret = k->type.length != 0;
		return true;
	}
	return hi_hints_wrong(p, ret->at,
			      "expected a context key (context K; before this)");
}

enum { HINTS_TARGETS_NESTED = 16 };

/* NOLINTBEGIN(misc-no-recursion): HINTS_TARGETS_NESTED. */
/* A word that would be a type, if a name did not follow it: `blob`, `words`. */
static bool parse_target_core(struct hi_hints_parser *p, struct hi_hint_target *t)
{
	if (hi_hints_take_word(p, "blob"))
		return parse_named_target(p, t, HI_HINT_BLOB);
	if (hi_hints_take_word(p, "words"))
		return parse_named_target(p, t, HI_HINT_WORDS);
	if (hi_hints_take_word(p, "symbol"))
		return parse_symbol(p, t);
	if (hi_hints_take_word(p, "any")) {
		t->kind = HI_HINT_ANY;
		return true;
	}
	if (hi_hints_take_word(p, "scalar")) {
		t->kind = HI_HINT_SCALAR;
		return true;
	}
	if (hi_hints_take(p, '?')) {
		bool is_value = false;

		t->kind = HI_HINT_KEY;
		if (!parse_with_key(p, &t->name, &is_value))
			return false;
		return !is_value ||
		       hi_hints_wrong(p, t->name.at,
				      "this context key is a value, not a target");
	}
	t->kind = HI_HINT_TYPE;
	return hi_hints_type(p, &t->name) && parse_pack(p, t);
}

static bool with_one(struct hi_hints_parser *p, struct hi_hint_with *with)
{
	bool is_value = false;

	if (!parse_with_key(p, &with->key, &is_value))
		return false;
	if (is_value)
		return hi_hints_need(p, '=') && hi_hints_expression(p, &with->value);
	if (!hi_hints_need(p, ':'))
		return false;
	if (!parse_target_core(p, &with->target) || !parse_back(p, &with->target))
		return false;
	if (with->target.pack_index.length)
		return hi_hints_wrong(p, with->key.at,
				      "'...[]' is not allowed in a context");
	if (with->target.kind == HI_HINT_KEY || with->target.kind == HI_HINT_SYMBOL)
		return hi_hints_wrong(p, with->key.at,
				      "a context can be a type, a buffer, any or scalar");
	return true;
}

struct withs HI_VECTOR(struct hi_hint_with);

static bool with_all(struct hi_hints_parser *p, struct hi_hint_target *t)
{
	struct withs withs = {};
	bool ok = true;

	if (!hi_hints_take_word(p, "with"))
		return true;
	if (++p->n_nested > HINTS_TARGETS_NESTED)
		return hi_hints_wrong(p, p->p, "nested too deeply");
	do {
		struct hi_hint_with one = {};

		ok = with_one(p, &one) && hi_hints_push(p, &withs, one);
	} while (ok && (hi_hints_take(p, ',') || hi_hints_take_word(p, "with")));
	ok = ok && hi_hints_keep(p, &withs, &t->with, &t->n_with);
	p->n_nested--;
	hi_vector_free(&withs);
	return ok;
}

/* symbol EXPR "PATTERN": TARGET; one level. */
static bool parse_symbol(struct hi_hints_parser *p, struct hi_hint_target *t)
{
	struct hi_hint_target *then = hi_arena_alloc(p->arena, sizeof(*then));
	const char *at;

	t->kind = HI_HINT_SYMBOL;
	if (!then)
		return hi_hints_no_memory(p);
	t->then = then;
	if (!hi_hints_expression(p, &t->symbol) || !hi_hints_string(p, &t->name) ||
	    !hi_hints_need(p, ':'))
		return false;
	hi_hints_blanks(p);
	at = p->p;
	if (hi_hints_at_word(p, "symbol") || hi_hints_at(p, '?'))
		return hi_hints_wrong(p, at,
				      "expected a type, blob, words, any or scalar");
	if (!parse_target_core(p, then) || !parse_back(p, then) || !with_all(p, then))
		return false;
	return !then->pack_index.length ||
	       hi_hints_wrong(p, at, "'...[]' is not allowed after symbol");
}

bool hi_hints_target(struct hi_hints_parser *p, struct hi_hint_target *ret)
{
	*ret = (struct hi_hint_target){};
	return parse_target_core(p, ret) && parse_back(p, ret) && with_all(p, ret);
}

/* ---- cases ---- */

/* A, B: TARGET; or else: TARGET; */
static bool one_case(struct hi_hints_parser *p, struct hi_hint_cases *cases,
		     bool *else_ret)
{
	size_t first = cases->count;
	struct hi_hint_target target;

	*else_ret = hi_hints_take_word(p, "else");
	do {
		struct hi_hint_case one = {};

		if (!*else_ret && !hi_hints_expression(p, &one.label))
			return false;
		if (!hi_hints_push(p, cases, one))
			return false;
	} while (!*else_ret && hi_hints_take(p, ','));
	if (!hi_hints_need(p, ':') || !hi_hints_target(p, &target) ||
	    !hi_hints_need(p, ';'))
		return false;
	for (size_t i = first; i < cases->count; i++)
		cases->items[i].target = target;
	return true;
}

static bool switch_cases(struct hi_hints_parser *p, struct hi_hint *hint,
			 struct hi_hint_cases *cases)
{
	bool was_else = false;

	if (!hi_hints_expression(p, &hint->value) || !hi_hints_need(p, '{'))
		return false;
	while (!hi_hints_at(p, '}')) {
		if (was_else)
			return hi_hints_expected(p, "'}' behind else");
		if (!one_case(p, cases, &was_else))
			return false;
	}
	hi_hints_need(p, '}');
	hi_hints_take(p, ';'); /* may stand there, as behind a C initialiser */
	return !p->failed;
}

bool hi_hints_cases(struct hi_hints_parser *p, struct hi_hint *hint)
{
	struct hi_hint_cases cases = {};
	struct hi_hint_case one = {};
	bool ok;

	if (hi_hints_take_word(p, "switch"))
		ok = switch_cases(p, hint, &cases);
	else
		ok = hi_hints_target(p, &one.target) &&
		     (!hi_hints_take_word(p, "if") ||
		      hi_hints_expression(p, &hint->when)) &&
		     hi_hints_need(p, ';') && hi_hints_push(p, &cases, one);
	ok = ok && hi_hints_keep(p, &cases, &hint->cases, &hint->n_cases);
	hi_vector_free(&cases);
	return ok;
}
/* NOLINTEND(misc-no-recursion) */
