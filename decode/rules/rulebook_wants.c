/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Wants]
 *
 * A type wants a context key if its rules look at it, or if a type that its rules
 * lead to wants it and they do not give it themselves. That is the least solution
 * of equations over the types that have rules; types are found while they are
 * compiled (each one that a pending one leads to is compiled, then pending too), and
 * all that are pending are solved together, by repetition until nothing changes.
 * What was settled before leads to nothing that is pending, so it stays.
 */
#include "decode/rules/rulebook_internal.h"

#include <string.h>

enum { CHAIN_MAX = 16 }; /* pointers and arrays around a record */

static void add_book_edge(struct hi_compiled *c, hi_type_id type, uint64_t supplied)
{
	if (type && !hi_vector_push(&c->edges, (struct hi_book_edge){type, supplied}))
		c->text->book->no_memory = true;
}

static uint64_t keys_of(const struct hi_code *code)
{
	return code ? hi_code_context_keys(code) : 0;
}

/* The context keys that the target's expressions read, and those of its type. */
static uint64_t target_wants(struct hi_compiled *c, const struct hi_rule_target *t)
{
	uint64_t wants = keys_of(t->from) | keys_of(t->to) | keys_of(t->back) |
			 keys_of(t->full) | keys_of(t->ring) | keys_of(t->lead) |
			 keys_of(t->symbol),
		 supplied = 0;

	if (t->kind == HI_TARGET_CONTEXT)
		wants |= 1ull << t->key;
	for (uint32_t i = 0; i < t->n_with; i++) {
		const struct hi_rule_target *carried = t->with[i].target;

		wants |= keys_of(t->with[i].value);
		supplied |= 1ull << t->with[i].key;
		if (carried)
			wants |= keys_of(carried->from) | keys_of(carried->to) |
				 keys_of(carried->back) | keys_of(carried->full) |
				 keys_of(carried->ring) | keys_of(carried->lead);
	}
	if (t->kind == HI_TARGET_TYPE)
		add_book_edge(c, t->type, supplied);
	return wants;
}

static uint64_t rule_wants(struct hi_compiled *c, const struct hi_rule *r)
{
	uint64_t wants = keys_of(r->lvalue) | keys_of(r->first) | keys_of(r->last) |
			 keys_of(r->when) | keys_of(r->next) | keys_of(r->until) |
			 keys_of(r->slots) | keys_of(r->slot_size);

	for (uint32_t i = 0; i < r->n_cases; i++)
		wants |= keys_of(r->cases[i].when) | target_wants(c, &r->cases[i].target);
	return wants;
}

/* Records that lie in the type itself are seen with the same context. */
static void add_members(struct hi_compiled *c, const struct hi_type *type)
{
	const struct hi_expression_source *source = &c->text->source;

	for (uint32_t i = 0; i < type->n_members; i++) {
		const struct hi_type *m =
			source->type(source->arg, type->members[i].type);

		for (unsigned k = 0; k < CHAIN_MAX && m->kind == HI_KIND_ARRAY; k++)
			m = source->type(source->arg, m->target);
		if (m->kind == HI_KIND_STRUCT || m->kind == HI_KIND_UNION)
			add_book_edge(c, m->id, 0);
	}
}

static void own_wants(struct hi_compiled *c)
{
	const struct hi_expression_source *source = &c->text->source;
	struct hi_rules *rules = &c->rules;

	rules->wants = keys_of(rules->tail_known) | keys_of(rules->size);
	for (uint32_t i = 0; i < rules->n; i++)
		rules->wants |= rule_wants(c, &rules->items[i]);
	for (uint32_t i = 0; i < rules->n_variants; i++)
		rules->wants |= keys_of(rules->variants[i].when) |
				target_wants(c, &rules->variants[i].target);
	add_book_edge(c, rules->same_as, 0);
	if (c->record)
		add_members(c, source->type(source->arg, rules->type));
}

/* The type with rules that a pointer or array leads to. */
static struct hi_compiled *ruled_type_of(struct hi_rulebook *book, hi_type_id id)
{
	for (unsigned i = 0; i < CHAIN_MAX && id; i++) {
		const struct hi_type *type = book->base.type(book->base.arg, id);
		struct hi_compiled *c = hi_book_compiled(book, type->id);

		if (c)
			return c;
		if (type->kind != HI_KIND_POINTER && type->kind != HI_KIND_ARRAY)
			return NULL;
		id = type->target;
	}
	return NULL;
}

static bool improve_wants(struct hi_rulebook *book, struct hi_compiled *c)
{
	uint64_t before = c->rules.wants;

	for (size_t i = 0; i < c->edges.count; i++) {
		const struct hi_compiled *to =
			ruled_type_of(book, c->edges.items[i].type);

		if (to)
			c->rules.wants |= to->rules.wants & ~c->edges.items[i].supplied;
	}
	return c->rules.wants != before;
}

void hi_book_settle(struct hi_rulebook *book)
{
	bool more = book->pending.count > 0;

	/* The list grows while it is gone through. */
	for (size_t i = 0; i < book->pending.count; i++) {
		struct hi_compiled *c = book->pending.items[i];

		own_wants(c);
		for (size_t k = 0; k < c->edges.count; k++)
			ruled_type_of(book, c->edges.items[k].type);
	}
	while (more) {
		more = false;
		for (size_t i = 0; i < book->pending.count; i++)
			more |= improve_wants(book, book->pending.items[i]);
	}
	book->pending.count = 0;
}
