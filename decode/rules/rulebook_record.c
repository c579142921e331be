/* SPDX-License-Identifier: BSD-2-Clause */
/* A record of a text, compiled for one type that it fits; roots and typedefs too. */
#include "decode/rules/rulebook_internal.h"

#include <stdio.h>
#include <string.h>

struct rules HI_VECTOR(struct hi_rule);

static struct hi_compiled *new_compiled(struct hi_book_text *text, hi_type_id type)
{
	struct hi_compiled *c = hi_arena_alloc(&text->book->arena, sizeof(*c));

	if (!c || !hi_vector_push(&text->book->compiled, c)) {
		text->book->no_memory = true;
		return NULL;
	}
	c->text = text;
	c->rules.type = type;
	c->rules.evidence = HI_EVIDENCE_CONTAINER;
	return c;
}

static const struct hi_type *scope_type_by_id(const struct hi_book_scope *scope,
					      hi_type_id id)
{
	return scope->text->source.type(scope->text->source.arg, id);
}

static const char *origin_of_hint(const struct hi_book_text *text,
				  const struct hi_hint *hint)
{
	return hi_arena_printf(&text->book->arena, "%s:%u", text->hints->file,
			       hi_hints_position(text->hints, hint->at.at).line);
}

/* ---- one rule ---- */

/* Where the word is, and what `$` is of its value. */
static bool locate_word(struct hi_book_scope *scope, const struct hi_hint *hint,
			struct hi_rule *rule)
{
	rule->lvalue = hi_book_code(scope, hint->lvalue, true);
	if (!rule->lvalue)
		return false;
	rule->is_static = hi_code_is_static(rule->lvalue, &rule->offset, &rule->stride);
	scope->dollar = 0;
	scope->allowed |= HI_ALLOW_DOLLAR;
	if (hint->kind == HI_HINT_WORD || hint->kind == HI_HINT_EACH) {
		hi_type_id type = hi_code_type(rule->lvalue);

		if (type && scope_type_by_id(scope, type)->kind == HI_KIND_POINTER)
			scope->dollar = type;
	}
	return true;
}

static bool compile_loop(const struct hi_book_scope *scope, const struct hi_hint *hint,
			 struct hi_rule *rule)
{
	struct hi_book_scope bounds = *scope;

	if (!hint->last.length)
		return true;
	bounds.allowed = HI_ALLOW_NONE;
	rule->first = hi_book_code(&bounds, hint->first, false);
	rule->last = hi_book_code(&bounds, hint->last, false);
	return rule->first && rule->last;
}

static bool compile_extras(const struct hi_book_scope *scope, const struct hi_hint *hint,
			   struct hi_rule *rule)
{
	if (hint->mask.length && (!hi_book_constant(scope, hint->mask, &rule->mask)))
		return false;
	if (hint->kind == HI_HINT_EACH) {
		rule->kind = HI_RULE_EACH;
		rule->next = hi_book_code(scope, hint->next, false);
		if (hint->until.length)
			rule->until = hi_book_code(scope, hint->until, false);
		return rule->next && (!hint->until.length || rule->until);
	}
	if (hint->kind == HI_HINT_POOL) {
		rule->kind = HI_RULE_POOL;
		rule->slots = hi_book_code(scope, hint->slots, false);
		rule->slot_size = hi_book_code(scope, hint->slot_size, false);
		return rule->slots && rule->slot_size;
	}
	rule->kind = hint->kind == HI_HINT_PLACE ? HI_RULE_PLACE : HI_RULE_POINTER;
	return true;
}

/* The declared target of a word of this type. */
static struct hi_rule_target as_declared(const struct hi_book_scope *scope,
					 hi_type_id word)
{
	struct hi_rule_target any = {.kind = HI_TARGET_ANY};
	const struct hi_type *type = scope_type_by_id(scope, word), *to;

	if (type->kind != HI_KIND_POINTER)
		return any;
	to = scope_type_by_id(scope, type->target);
	if (to->kind == HI_KIND_UNKNOWN || to->kind == HI_KIND_VOID)
		return any;
	return (struct hi_rule_target){.kind = HI_TARGET_TYPE, .type = to->id};
}

/* `WORD weak;` of an array: all of its elements, to the block's end where the array
 * has none. */
static bool weak_array(const struct hi_book_scope *scope, const struct hi_hint *hint,
		       const struct hi_type *array, struct hi_rule *rule)
{
	uint64_t size = scope_type_by_id(scope, array->target)->size;
	char text[96];

	if (!rule->is_static || rule->last || size < 8 || size % 8) {
		hi_book_warn(scope->text, hint->at.at,
			     "weak is for pointers and arrays of them");
		return false;
	}
	rule->stride = size;
	if (array->count)
		snprintf(text, sizeof(text), "%llu", (unsigned long long)array->count);
	else
		snprintf(text, sizeof(text),
			 "usable(this) < %llu ? 0 : (usable(this) - %llu) / %llu",
			 (unsigned long long)rule->offset,
			 (unsigned long long)rule->offset, (unsigned long long)size);
	rule->first = hi_book_number(scope, 0);
	rule->last = hi_book_code(
		scope, (struct hi_text_piece){text, (uint32_t)strlen(text)}, false);
	return rule->first && rule->last;
}

static bool weak_only(const struct hi_book_scope *scope, const struct hi_hint *hint,
		      struct hi_rule *rule, struct hi_book_cases *cases)
{
	hi_type_id word = hi_code_type(rule->lvalue);
	const struct hi_type *type = scope_type_by_id(scope, word);

	if (type->kind == HI_KIND_ARRAY) {
		if (!weak_array(scope, hint, type, rule))
			return false;
		word = type->target;
	}
	return hi_vector_push(cases,
			      (struct hi_case){.target = as_declared(scope, word)});
}

static bool is_leader(const struct hi_hint *hints, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (hi_hint_same_word(&hints[k], &hints[i]))
			return false;
	return true;
}

/* All statements about the word of statement `at`, in their order. */
static bool all_cases(const struct hi_book_scope *scope, const struct hi_hint *hints,
		      uint32_t n, uint32_t at, struct hi_rule *rule,
		      struct hi_book_cases *cases)
{
	for (uint32_t i = at; i < n; i++) {
		if (i != at && !hi_hint_same_word(&hints[at], &hints[i]))
			continue;
		rule->weak |= hints[i].weak;
		if (!rule->mask && hints[i].mask.length &&
		    !hi_book_constant(scope, hints[i].mask, &rule->mask))
			return false;
		if (!hi_book_cases(scope, &hints[i], cases))
			return false;
	}
	return true;
}

/* A switch without `else`, or a choice out of a pack: it has a case for each value
 * that there may be. */
static bool is_closed_choice(const struct hi_hint *hint)
{
	for (uint32_t i = 0; i < hint->n_cases; i++) {
		if (hint->cases[i].target.pack_index.length)
			return true;
		if (hint->value.length && !hint->cases[i].label.length)
			return false;
	}
	return hint->value.length && hint->n_cases;
}

static bool is_closed(const struct hi_hint *hints, uint32_t n, uint32_t at)
{
	for (uint32_t i = at; i < n; i++)
		if ((i == at || hi_hint_same_word(&hints[at], &hints[i])) &&
		    is_closed_choice(&hints[i]))
			return true;
	return false;
}

static bool has_cases(const struct hi_hint *hints, uint32_t n, uint32_t at)
{
	for (uint32_t i = at; i < n; i++)
		if (hints[i].n_cases &&
		    (i == at || hi_hint_same_word(&hints[at], &hints[i])))
			return true;
	return false;
}

/* If cases were left out, values without a case are still edges, or may hold some: they
 * are not known to be none. */
static bool replace_lost(const struct hi_hint *hint, struct hi_book_cases *cases)
{
	struct hi_case one = {.target = {.kind = HI_TARGET_ANY}};

	if (hint->kind == HI_HINT_POOL)
		return true;
	if (hint->kind == HI_HINT_PLACE)
		one.target = (struct hi_rule_target){.kind = HI_TARGET_WORDS,
						     .name = "unknown"};
	return hi_vector_push(cases, one);
}

/* False: it is left out, after a warning. */
static bool word_rule(struct hi_book_scope scope, const struct hi_hint *hints, uint32_t n,
		      uint32_t at, struct rules *rules)
{
	const struct hi_hint *hint = &hints[at];
	struct hi_rulebook *book = scope.text->book;
	struct hi_book_cases cases = {};
	struct hi_rule rule = {.hits = hint->hits};
	bool ok;

	scope.allowed &= ~(unsigned)HI_ALLOW_INDEX;
	if (hint->last.length != 0)
		scope.allowed |= HI_ALLOW_INDEX;
	scope.owner->lost = false;
	scope.text->word = hint->lvalue;
	ok = locate_word(&scope, hint, &rule) && compile_loop(&scope, hint, &rule) &&
	     compile_extras(&scope, hint, &rule) &&
	     all_cases(&scope, hints, n, at, &rule, &cases) &&
	     (has_cases(hints, n, at) || weak_only(&scope, hint, &rule, &cases)) &&
	     (!scope.owner->lost || replace_lost(hint, &cases)) &&
	     hi_book_keep_cases(book, &cases, &rule.cases, &rule.n_cases);
	hi_vector_free(&cases);
	scope.text->word = (struct hi_text_piece){};
	if (!ok)
		return false;
	rule.closed = hint->kind != HI_HINT_POOL && is_closed(hints, n, at);
	rule.text = hi_book_piece(book, hint->lvalue);
	rule.origin = origin_of_hint(scope.text, hint);
	rule.lacks = hi_arena_alloc(&book->arena, sizeof(*rule.lacks));
	if (!rule.text || !rule.origin || !rule.lacks || !hi_vector_push(rules, rule))
		book->no_memory = true;
	return !book->no_memory;
}

static bool keep_rules(struct hi_compiled *c, const struct rules *rules)
{
	struct hi_rule *copy =
		hi_arena_alloc(&c->text->book->arena, rules->count * sizeof(*copy));

	if (!copy)
		return false;
	if (rules->count)
		memcpy(copy, rules->items, rules->count * sizeof(*copy));
	c->rules.items = copy;
	c->rules.n = (uint32_t)rules->count;
	return true;
}

/* ---- statements that are no words ---- */

static bool compile_variants(const struct hi_book_scope *scope,
			     const struct hi_hint *hints, uint32_t n)
{
	struct hi_rules *rules = &scope->owner->rules;
	struct hi_book_cases cases = {};
	struct hi_book_scope self = *scope;
	bool ok = true;

	self.allowed |= HI_ALLOW_DOLLAR; /* the record's address, as `this` */
	for (uint32_t i = 0; i < n && ok; i++) {
		size_t first = cases.count;

		if (hints[i].kind != HI_HINT_VARIANT && hints[i].kind != HI_HINT_IS)
			continue;
		ok = hi_book_cases(&self, &hints[i], &cases);
		if (ok && hints[i].kind == HI_HINT_VARIANT) {
			rules->variants_closed |= is_closed_choice(&hints[i]);
			rules->variants_origin = origin_of_hint(scope->text, &hints[i]);
		}
		if (!ok || hints[i].kind == HI_HINT_VARIANT)
			continue;
		if (cases.count > first && !cases.items[first].when &&
		    cases.items[first].target.type != rules->type)
			rules->same_as = cases.items[first].target.type;
		cases.count = first;
	}
	rules->variants_lacks =
		hi_arena_alloc(&scope->text->book->arena, sizeof(*rules->variants_lacks));
	ok = ok && rules->variants_lacks &&
	     hi_book_keep_cases(scope->text->book, &cases, &rules->variants,
				&rules->n_variants);
	hi_vector_free(&cases);
	return ok;
}

static void compile_tail(const struct hi_book_scope *scope, const struct hi_hint *hints,
			 uint32_t n)
{
	struct hi_rules *rules = &scope->owner->rules;
	struct HI_VECTOR(struct hi_text_piece) conditions = {};
	bool always = false;

	for (uint32_t i = 0; i < n; i++) {
		if (hints[i].kind != HI_HINT_TAIL)
			continue;
		always |= !hints[i].when.length;
		if (hints[i].when.length && !hi_vector_push(&conditions, hints[i].when))
			scope->text->book->no_memory = true;
	}
	if (always)
		rules->tail_known = hi_book_number(scope, 1);
	else if (conditions.count)
		rules->tail_known =
			hi_book_any_of(scope, conditions.items, conditions.count);
	hi_vector_free(&conditions);
}

static bool compile_other_statements(const struct hi_book_scope *scope,
				     const struct hi_hint *hints, uint32_t n)
{
	struct hi_compiled *c = scope->owner;

	compile_tail(scope, hints, n);
	for (uint32_t i = 0; i < n; i++) {
		if (hints[i].kind == HI_HINT_SIZE)
			c->rules.size = hi_book_code(scope, hints[i].value, false);
		c->retainer |= hints[i].kind == HI_HINT_RETAINER;
	}
	return compile_variants(scope, hints, n);
}

static bool is_word_hint(const struct hi_hint *hint)
{
	return hint->kind == HI_HINT_WORD || hint->kind == HI_HINT_PLACE ||
	       hint->kind == HI_HINT_EACH || hint->kind == HI_HINT_POOL;
}

static void finish_compiled_rules(struct hi_compiled *c)
{
	const struct hi_rules *r = &c->rules;

	c->empty = !r->n && !r->only && !r->same_as && !r->n_variants && !r->tail_known &&
		   !r->size && !r->is_node;
}

struct hi_compiled *hi_book_record(struct hi_book_text *text,
				   const struct hi_hint_record *record,
				   const struct hi_type *type,
				   const struct hi_captures *captures)
{
	struct hi_compiled *c = new_compiled(text, type->id);
	struct hi_book_scope scope = {.text = text, .owner = c, .self = type->id};
	struct rules rules = {};
	bool ok, all = true;

	if (!c)
		return NULL;
	text->captures = captures;
	text->record = record->pattern;
	c->record = record;
	c->rules.only = record->only;
	c->rules.is_node = record->node;
	c->rules.has_capacity = text->hints->containers;
	for (uint32_t i = 0; i < record->n && !text->book->no_memory; i++)
		if (is_word_hint(&record->items[i]) && is_leader(record->items, i))
			all &= word_rule(scope, record->items, record->n, i, &rules);
	ok = keep_rules(c, &rules) &&
	     compile_other_statements(&scope, record->items, record->n);
	if (!all) { /* a statement was left out: its words may be anything */
		c->rules.only = false;
		c->rules.tail_known = NULL;
	}
	hi_vector_free(&rules);
	text->record = (struct hi_text_piece){};
	text->captures = NULL;
	text->book->no_memory |= !ok;
	finish_compiled_rules(c);
	return c;
}

/* ---- roots and typedefs: the word itself ---- */

static struct hi_compiled *word_itself(struct hi_book_text *text, hi_type_id type,
				       const struct hi_hint *hint, struct hi_hint *as)
{
	struct hi_compiled *c = new_compiled(text, type);
	struct hi_book_scope scope = {.text = text, .owner = c, .self = type};
	struct rules rules = {};

	if (!c)
		return NULL;
	*as = *hint;
	if (word_rule(scope, as, 1, 0, &rules) && !keep_rules(c, &rules))
		text->book->no_memory = true;
	hi_vector_free(&rules);
	finish_compiled_rules(c);
	return c;
}

static const char self_text[] = "*this";

struct hi_compiled *hi_book_typedef_rules(struct hi_rulebook *book,
					  const struct hi_type *type)
{
	struct hi_text_piece name = {type->name, (uint32_t)strlen(type->name)};
	struct hi_book_text *text = NULL;
	const struct hi_hint_named *named =
		book->texts.count ? hi_book_typedef(book->texts.items[0], name, &text)
				  : NULL;
	struct hi_hint as;

	if (!named)
		return NULL;
	as = named->hint;
	as.lvalue = (struct hi_text_piece){self_text, sizeof(self_text) - 1};
	return word_itself(text, type->id, &as, &as);
}

/* `heads[i]` with the variable's name as `*this`. */
static bool root_lvalue(struct hi_rulebook *book, const struct hi_hint_named *root,
			struct hi_hint *as)
{
	struct hi_text_piece rest = {root->hint.lvalue.at + root->name.length,
				     root->hint.lvalue.length - root->name.length};
	char *text = hi_arena_printf(&book->arena, "(%s)%.*s", self_text,
				     (int)rest.length, rest.at);

	*as = root->hint;
	if (!text)
		return false;
	as->lvalue = (struct hi_text_piece){text, (uint32_t)strlen(text)};
	return true;
}

/* Variables without a type are words. */
static hi_type_id root_type(struct hi_book_text *text, const struct hi_variable *var)
{
	const struct hi_expression_source *source = &text->source;

	if (var->type)
		return source->type(source->arg, var->type)->id;
	return hi_type_by_name(source, "unsigned long", strlen("unsigned long"));
}

struct hi_compiled *hi_book_root_rules(struct hi_rulebook *book,
				       const struct hi_variable *var)
{
	for (size_t t = 0; t < book->texts.count; t++) {
		struct hi_book_text *text = book->texts.items[t];

		for (uint32_t i = 0; i < text->hints->n_roots; i++) {
			const struct hi_hint_named *root = &text->hints->roots[i];
			struct hi_compiled *c;
			struct hi_hint as;

			if (!hi_text_piece_is(root->name, var->name))
				continue;
			if (!root_lvalue(book, root, &as)) {
				book->no_memory = true;
				return NULL;
			}
			c = word_itself(text, root_type(text, var), &as, &as);
			if (c && c->rules.n)
				((struct hi_rule *)(uintptr_t)c->rules.items)->text =
					hi_book_piece(book, root->hint.lvalue);
			return c;
		}
	}
	return NULL;
}
