/* SPDX-License-Identifier: BSD-2-Clause */
/* Targets and cases of a statement, for one type. */
#include "decode/rules/rulebook_internal.h"

#include <string.h>

enum { PACK_MAX = 256 }; /* cases that a pack is written out to */

static uint32_t key_number(const struct hi_book_text *text, struct hi_text_piece name)
{
	for (uint32_t i = 0; i < text->hints->n_keys; i++) {
		struct hi_text_piece k = text->hints->keys[i].name;

		if (k.length == name.length && memcmp(k.at, name.at, k.length) == 0)
			return text->first_key + i;
	}
	return 0; /* the parser knows them all */
}

/* The member's distance from the beginning of the type that it is in. */
static bool back_of_member(const struct hi_book_scope *scope, hi_type_id type,
			   struct hi_text_piece member, const struct hi_code **ret)
{
	struct hi_book_scope in = {
		.text = scope->text, .owner = scope->owner, .self = type};
	const struct hi_code *code = hi_book_code(&in, member, true);
	uint64_t offset = 0, stride = 0;

	if (!code)
		return false;
	if (!hi_code_is_static(code, &offset, &stride)) {
		hi_book_warn(scope->text, member.at,
			     "expected a member, not the target of a pointer");
		return false;
	}
	*ret = hi_book_number(scope, offset);
	return *ret != NULL;
}

static bool compile_counts(const struct hi_book_scope *scope,
			   const struct hi_hint_target *hint, struct hi_rule_target *ret)
{
	if (hint->from.length)
		ret->from = hi_book_code(scope, hint->from, false);
	if (hint->to.length)
		ret->to = hi_book_code(scope, hint->to, false);
	if (hint->back.length)
		ret->back = hi_book_code(scope, hint->back, false);
	if (hint->full.length)
		ret->full = hi_book_code(scope, hint->full, false);
	if (hint->ring.length)
		ret->ring = hi_book_code(scope, hint->ring, false);
	if (hint->lead.length)
		ret->lead = hi_book_code(scope, hint->lead, false);
	ret->down = hint->down;
	ret->quiet = hint->only;
	ret->part = hint->part;
	if (hint->called.length)
		ret->name = hi_book_piece(scope->text->book, hint->called);
	return (!hint->from.length || ret->from) && (!hint->to.length || ret->to) &&
	       (!hint->back.length || ret->back) && (!hint->full.length || ret->full) &&
	       (!hint->ring.length || ret->ring) && (!hint->lead.length || ret->lead);
}

/* What there is to hold on to of a target that this program does not know. */
static void become_any(struct hi_rule_target *ret)
{
	*ret = (struct hi_rule_target){.kind = HI_TARGET_ANY};
}

/* NOLINTBEGIN(misc-no-recursion): HINTS_TARGETS_NESTED in hints_target.c. */
/* `-> sds` with `typedef sds -> TARGET`: that target. Its expressions see only
 * $. */
static bool through_typedef(const struct hi_book_scope *scope,
			    const struct hi_hint_target *hint, struct hi_rule_target *ret)
{
	struct hi_book_text *whose = NULL;
	const struct hi_hint_named *named =
		hint->to.length || hint->pack_index.length || hint->back.length ||
				hint->member.length
			? NULL
			: hi_book_typedef(scope->text, hint->name, &whose);
	struct hi_book_scope inner = {.owner = scope->owner, .allowed = HI_ALLOW_DOLLAR};

	if (!named || named->hint.cases[0].target.kind == HI_HINT_KEY)
		return false;
	inner.text = whose;
	if (named->hint.cases[0].target.kind == HI_HINT_TYPE &&
	    hi_book_typedef(whose, named->hint.cases[0].target.name, &whose))
		return false; /* a typedef of a typedef, maybe of itself */
	atomic_fetch_add(named->hint.hits, 1);
	return hi_book_target(&inner, &named->hint.cases[0].target, ret);
}

static bool compile_type_target(const struct hi_book_scope *scope,
				const struct hi_hint_target *hint,
				struct hi_rule_target *ret)
{
	if (through_typedef(scope, hint, ret))
		return true;
	ret->kind = HI_TARGET_TYPE;
	ret->type = hi_book_type(scope, hint->name);
	if (!ret->type || !compile_counts(scope, hint, ret) ||
	    (hint->member.length &&
	     !back_of_member(scope, ret->type, hint->member, &ret->back)))
		become_any(ret);
	return true;
}

static bool compile_target_core(const struct hi_book_scope *scope,
				const struct hi_hint_target *hint,
				struct hi_rule_target *ret)
{
	struct hi_rulebook *book = scope->text->book;

	switch (hint->kind) {
	case HI_HINT_TYPE:
		return compile_type_target(scope, hint, ret);
	case HI_HINT_BLOB:
	case HI_HINT_WORDS:
		ret->kind = hint->kind == HI_HINT_BLOB ? HI_TARGET_BLOB : HI_TARGET_WORDS;
		ret->name = hi_book_piece(book, hint->name);
		break;
	case HI_HINT_ANY:
		ret->kind = HI_TARGET_ANY;
		break;
	case HI_HINT_SCALAR:
		ret->kind = HI_TARGET_SCALAR;
		break;
	case HI_HINT_KEY:
		ret->kind = HI_TARGET_CONTEXT;
		ret->key = key_number(scope->text, hint->name);
		break;
	case HI_HINT_SYMBOL:
		ret->kind = HI_TARGET_SYMBOL;
		ret->symbol = hi_book_code(scope, hint->symbol, false);
		ret->pattern = hi_book_symbol(scope, hint);
		if (!ret->symbol || !ret->pattern)
			become_any(ret);
		return !book->no_memory;
	}
	if (!compile_counts(scope, hint, ret))
		become_any(ret);
	return !book->no_memory;
}

/* A target in a context is used elsewhere, where members of this record have no meaning.
 */
static const struct hi_rule_target *
compile_carried_target(const struct hi_book_scope *scope,
		       const struct hi_hint_target *hint)
{
	struct hi_rule_target *copy =
		hi_arena_alloc(&scope->text->book->arena, sizeof(*copy));
	struct hi_book_scope there = *scope;

	there.self = there.dollar = 0;
	there.allowed = HI_ALLOW_DOLLAR;
	return copy && hi_book_target(&there, hint, copy) ? copy : NULL;
}

static bool compile_withs(const struct hi_book_scope *scope,
			  const struct hi_hint_target *hint, struct hi_rule_target *ret)
{
	struct hi_rulebook *book = scope->text->book;
	struct hi_with *list;

	if (!hint->n_with || ret->kind == HI_TARGET_SYMBOL)
		return true;
	list = hi_arena_alloc(&book->arena, hint->n_with * sizeof(*list));
	if (!list)
		return false;
	ret->n_with = 0;
	for (uint32_t i = 0; i < hint->n_with; i++) {
		const struct hi_hint_with *w = &hint->with[i];
		struct hi_with *out = &list[ret->n_with];

		*out = (struct hi_with){.key = key_number(scope->text, w->key)};
		if (w->value.length)
			out->value = hi_book_code(scope, w->value, false);
		else
			out->target = compile_carried_target(scope, &w->target);
		ret->n_with += out->value || out->target;
	}
	ret->with = list;
	return !book->no_memory;
}

bool hi_book_target(const struct hi_book_scope *scope, const struct hi_hint_target *hint,
		    struct hi_rule_target *ret)
{
	*ret = (struct hi_rule_target){};
	if (compile_target_core(scope, hint, ret) && compile_withs(scope, hint, ret))
		return true;
	scope->text->book->no_memory = true;
	return false;
}

/* ---- cases ---- */

static bool push_case(const struct hi_book_scope *scope,
		      const struct hi_book_condition *conditions, size_t n,
		      const struct hi_rule_target *target, struct hi_book_cases *cases)
{
	struct hi_case one = {.target = *target};

	if (n) {
		one.when = hi_book_condition(scope, conditions, n);
		if (!one.when) {
			scope->owner->lost = true; /* after a warning */
			return !scope->text->book->no_memory;
		}
	}
	return hi_vector_push(cases, one);
}

/* `$T...[EXPR]`: a case for each of the pack. */
static bool pack_cases(const struct hi_book_scope *scope,
		       const struct hi_hint_target *hint,
		       struct hi_book_condition *conditions, size_t n,
		       struct hi_book_cases *cases)
{
	size_t length = hint->name.length - 1, count;
	const struct hi_capture *first =
		hi_book_capture(scope->text->captures, hint->name.at + 1, length, &count);

	if (!first)
		hi_book_warn(scope->text, hint->name.at, "the pattern has no '%.*s...'",
			     (int)hint->name.length, hint->name.at);
	conditions[n] =
		(struct hi_book_condition){.value = hint->pack_index, .has_number = true};
	for (size_t i = 0; i < count && i < PACK_MAX; i++) {
		struct hi_rule_target target = {.kind = HI_TARGET_TYPE,
						.type = first[i].type};

		conditions[n].number = (int64_t)i;
		if (!target.type)
			become_any(&target);
		if (!push_case(scope, conditions, n + 1, &target, cases))
			return false;
	}
	return true;
}

bool hi_book_cases(const struct hi_book_scope *scope, const struct hi_hint *hint,
		   struct hi_book_cases *cases)
{
	for (uint32_t i = 0; i < hint->n_cases; i++) {
		const struct hi_hint_case *c = &hint->cases[i];
		struct hi_book_condition conditions[3] = {};
		struct hi_rule_target target;
		size_t n = 0;

		if (hint->when.length)
			conditions[n++].value = hint->when;
		if (c->label.length)
			conditions[n++] = (struct hi_book_condition){.value = hint->value,
								     .equal = c->label};
		if (c->target.pack_index.length) {
			if (!pack_cases(scope, &c->target, conditions, n, cases))
				return false;
			continue;
		}
		if (!hi_book_target(scope, &c->target, &target) ||
		    !push_case(scope, conditions, n, &target, cases))
			return false;
	}
	return true;
}

bool hi_book_keep_cases(struct hi_rulebook *book, const struct hi_book_cases *cases,
			const struct hi_case **ret, uint32_t *n_ret)
{
	struct hi_case *copy = hi_arena_alloc(&book->arena, cases->count * sizeof(*copy));

	if (!copy)
		return false;
	if (cases->count)
		memcpy(copy, cases->items, cases->count * sizeof(*copy));
	*ret = copy;
	*n_ret = (uint32_t)cases->count;
	return true;
}
/* NOLINTEND(misc-no-recursion) */
