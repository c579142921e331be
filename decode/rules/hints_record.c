/* SPDX-License-Identifier: BSD-2-Clause */
/* Statements in a record. */
#include "decode/rules/hints_internal.h"

#include <string.h>

bool hi_hints_init(struct hi_hints_parser *p, struct hi_hint *hint)
{
	hi_hints_blanks(p);
	*hint = (struct hi_hint){.at = {p->p, 1}};
	hint->hits = hi_arena_alloc(p->arena, sizeof(*hint->hits));
	return hint->hits ? true : hi_hints_no_memory(p);
}

/* for i in A .. B */
static bool parse_loop(struct hi_hints_parser *p, struct hi_hint *hint)
{
	return hi_hints_need_word(p, "i") && hi_hints_need_word(p, "in") &&
	       hi_hints_expression(p, &hint->first) &&
	       (hi_hints_take_text(p, "..") || hi_hints_expected(p, "'..'")) &&
	       hi_hints_expression(p, &hint->last);
}

static bool same_piece_but_blanks(struct hi_text_piece a, struct hi_text_piece b)
{
	size_t i = 0, j = 0;

	while (i < a.length && j < b.length) {
		if (a.at[i] == ' ')
			i++;
		else if (b.at[j] == ' ')
			j++;
		else if (a.at[i++] != b.at[j++])
			return false;
	}
	return i == a.length && j == b.length;
}

bool hi_hint_same_word(const struct hi_hint *a, const struct hi_hint *b)
{
	return a->kind == b->kind &&
	       (a->kind == HI_HINT_WORD || a->kind == HI_HINT_PLACE) &&
	       same_piece_but_blanks(a->lvalue, b->lvalue) &&
	       same_piece_but_blanks(a->first, b->first) &&
	       same_piece_but_blanks(a->last, b->last);
}

static bool parse_modifiers(struct hi_hints_parser *p, struct hi_hint *hint)
{
	for (;;) {
		if (hi_hints_take_word(p, "for")) {
			if (hint->first.length)
				return hi_hints_wrong(
					p, p->p, "more than one 'for' in a statement");
			if (!parse_loop(p, hint))
				return false;
		} else if (hi_hints_take_word(p, "mask")) {
			if (!hi_hints_expression(p, &hint->mask))
				return false;
		} else if (hi_hints_take_word(p, "weak")) {
			hint->weak = true;
		} else {
			return !p->failed;
		}
	}
}

static bool parse_place_statement(struct hi_hints_parser *p, struct hi_hint *hint)
{
	hint->kind = HI_HINT_PLACE;
	if (hint->mask.length || hint->weak)
		return hi_hints_wrong(p, hint->at.at,
				      "mask and weak are for pointers; ':' describes "
				      "what lies at this place");
	return hi_hints_cases(p, hint);
}

static bool parse_each(struct hi_hints_parser *p, struct hi_hint *hint)
{
	hint->kind = HI_HINT_EACH;
	if (!hi_hints_expression(p, &hint->next))
		return false;
	if (hi_hints_take_word(p, "until") && !hi_hints_expression(p, &hint->until))
		return false;
	if (!hi_hints_take_text(p, "->"))
		return hi_hints_expected(p, "'until' or '->' and a target");
	return hi_hints_cases(p, hint);
}

static bool parse_pool(struct hi_hints_parser *p, struct hi_hint *hint)
{
	hint->kind = HI_HINT_POOL;
	if (!hi_hints_expression(p, &hint->slots) || !hi_hints_need_word(p, "of") ||
	    !hi_hints_expression(p, &hint->slot_size) || !parse_modifiers(p, hint))
		return false;
	if (!hi_hints_at_word(p, "switch") && !hi_hints_need(p, ':'))
		return false;
	return hi_hints_cases(p, hint);
}

bool hi_hints_word(struct hi_hints_parser *p, struct hi_hint *hint)
{
	if (!hi_hints_expression(p, &hint->lvalue))
		return false;
	hint->at = hint->lvalue;
	if (!parse_modifiers(p, hint))
		return false;
	if (hi_hints_take_word(p, "each"))
		return parse_each(p, hint);
	if (hi_hints_take_word(p, "pool"))
		return parse_pool(p, hint);
	if (hi_hints_take(p, ':'))
		return parse_place_statement(p, hint);
	hint->kind = HI_HINT_WORD;
	if (hi_hints_take_text(p, "->") || hi_hints_at_word(p, "switch"))
		return hi_hints_cases(p, hint);
	if (hint->weak)
		return hi_hints_need(p, ';');
	return hi_hints_expected(p, "' -> TARGET', ': TARGET', switch, for, mask, weak, "
				    "each or pool");
}

/* ---- statements that begin with a word of the language ---- */

/* The word is a member's name if what follows could follow a member. */
static bool is_statement(struct hi_hints_parser *p, const char *word)
{
	const char *start = p->p;
	struct hi_text_piece next = {};
	bool ret;

	if (!hi_hints_take_word(p, word))
		return false;
	hi_hints_blanks(p);
	next.at = p->p;
	while (p->p < p->end && (*p->p == '_' || (*p->p >= 'a' && *p->p <= 'z') ||
				 (*p->p >= 'A' && *p->p <= 'Z')))
		p->p++;
	next.length = (uint32_t)(p->p - next.at);
	p->p = next.at;
	if (next.length)
		ret = !hi_hints_is_operator_word(next);
	else
		ret = !hi_hints_at_arrow(p) && !hi_hints_at(p, '.') &&
		      !hi_hints_at(p, '[') && !hi_hints_at(p, ':') &&
		      !hi_hints_at(p, ';');
	if (!ret)
		p->p = start;
	return ret;
}

static bool only_type(struct hi_hints_parser *p, const struct hi_hint *hint)
{
	for (uint32_t i = 0; i < hint->n_cases; i++) {
		const struct hi_hint_target *t = &hint->cases[i].target;

		if (t->kind != HI_HINT_TYPE || t->to.length || t->back.length ||
		    t->member.length || t->n_with)
			return hi_hints_wrong(p, hint->at.at,
					      "expected the name of a type, alone");
	}
	return true;
}

static bool parse_tail(struct hi_hints_parser *p, struct hi_hint *hint)
{
	hint->kind = HI_HINT_TAIL;
	if (hi_hints_take_word(p, "if") && !hi_hints_expression(p, &hint->when))
		return false;
	return hi_hints_need(p, ';');
}

static bool parse_statement(struct hi_hints_parser *p, struct hi_hint *hint)
{
	const char *start;

	if (!hi_hints_init(p, hint))
		return false;
	start = p->p;
	if (hi_hints_take_word(p, "tail") && hi_hints_take_word(p, "known"))
		return parse_tail(p, hint);
	p->p = start;
	if (hi_hints_take_word(p, "retainer") && hi_hints_take(p, ';')) {
		hint->kind = HI_HINT_RETAINER;
		return true;
	}
	p->p = start;
	if (hi_hints_take_word(p, "variant") && hi_hints_at_word(p, "switch")) {
		hint->kind = HI_HINT_VARIANT;
		return hi_hints_cases(p, hint) && only_type(p, hint);
	}
	p->p = start;
	if (is_statement(p, "variant") || is_statement(p, "is")) {
		hint->kind = *start == 'v' ? HI_HINT_VARIANT : HI_HINT_IS;
		if (!hi_hints_cases(p, hint))
			return false;
		if (hint->kind == HI_HINT_IS && hint->when.length)
			return hi_hints_wrong(p, start,
					      "'is' has no 'if': see 'variant'");
		return only_type(p, hint);
	}
	if (is_statement(p, "size")) {
		hint->kind = HI_HINT_SIZE;
		return hi_hints_expression(p, &hint->value) && hi_hints_need(p, ';');
	}
	return hi_hints_word(p, hint);
}

struct hints HI_VECTOR(struct hi_hint);

/* Statements about one word are one rule: they are counted together. */
static void share_counter(const struct hints *hints, struct hi_hint *hint)
{
	for (size_t i = 0; i < hints->count && i < 256; i++)
		if (hi_hint_same_word(&hints->items[i], hint))
			hint->hits = hints->items[i].hits;
}

bool hi_hints_record(struct hi_hints_parser *p, struct hi_hint_record *ret)
{
	struct hints hints = {};
	bool ok;

	*ret = (struct hi_hint_record){};
	if (!hi_hints_type(p, &ret->pattern))
		return false;
	for (bool more = true; more;) {
		more = hi_hints_take_word(p, "only");
		ret->only |= more;
		if (hi_hints_take_word(p, "node"))
			more = ret->node = true;
	}
	ok = hi_hints_need(p, '{');
	while (ok && !hi_hints_take(p, '}')) {
		struct hi_hint hint;

		ok = !p->failed && parse_statement(p, &hint);
		if (ok)
			share_counter(&hints, &hint);
		ok = ok && hi_hints_push(p, &hints, hint);
	}
	ok = ok && hi_hints_keep(p, &hints, &ret->items, &ret->n);
	hi_vector_free(&hints);
	return ok;
}
