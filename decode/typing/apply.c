/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/typing/apply.h"

#include <string.h>

enum { MIN_STEPS = 1 << 16 };

/* One rule on one record. */
struct application {
	struct hi_applier *applier;
	const struct hi_record_at *at;
	const struct hi_rule *rule;
	hi_claim_fn *fn;
	void *fn_arg;
	struct hi_code_input in;
};

static bool eval(const struct application *a, const struct hi_code *code, uint64_t *ret)
{
	return hi_code_run(code, &a->in, ret);
}

/* Unreadable memory is no. */
static bool holds(const struct application *a, const struct hi_code *code)
{
	uint64_t value = 0;

	return !code || (eval(a, code, &value) && value);
}

/* What a target stands for in the end: context and symbols are looked up. A
 * context may hold a context of a further key; that ends. */
static const struct hi_rule_target *resolve(const struct application *a,
					    const struct hi_rule_target *target)
{
	const struct hi_rule_source *source = a->applier->source;
	uint64_t value;

	for (int depth = 0; target && depth < 4; depth++) {
		if (target->kind == HI_TARGET_CONTEXT) {
			value = a->in.context ? a->in.context[target->key] : 0;
			target = (const struct hi_rule_target *)(uintptr_t)value;
		} else if (target->kind == HI_TARGET_SYMBOL) {
			target = source->of_symbol && eval(a, target->symbol, &value)
					 ? source->of_symbol(source->arg, target, value)
					 : NULL;
		} else {
			return target;
		}
	}
	return NULL;
}

static const struct hi_rule_target *choose(const struct application *a)
{
	for (uint32_t i = 0; i < a->rule->n_cases; i++) {
		const struct hi_case *c = &a->rule->cases[i];
		const struct hi_rule_target *target;

		if (!holds(a, c->when))
			continue;
		target = resolve(a, &c->target);
		/* A symbol that does not fit leaves it to the next case. */
		if (target || c->target.kind != HI_TARGET_SYMBOL)
			return target;
	}
	return NULL;
}

/* Those that were here, and those that the target sets. False: unreadable. */
static bool fill_context(const struct application *a, const struct hi_rule_target *target,
			 struct hi_claim *claim)
{
	if (a->in.context)
		memcpy(claim->context, a->in.context, sizeof(claim->context));
	for (uint32_t i = 0; i < target->n_with; i++) {
		const struct hi_with *w = &target->with[i];
		uint64_t value = (uint64_t)(uintptr_t)w->target;

		if (w->value && !eval(a, w->value, &value))
			return false;
		claim->context[w->key] = value;
	}
	return true;
}

static bool fill_count(const struct application *a, const struct hi_rule_target *target,
		       struct hi_claim *claim)
{
	uint64_t to;

	claim->count = UINT64_MAX;
	if (target->from && !eval(a, target->from, &claim->from))
		return false;
	if (!target->to)
		return true;
	if (!eval(a, target->to, &to))
		return false;
	/* Torn or hostile: 2^47 elements fit nowhere. */
	if (claim->from > to || to >> 47)
		return false;
	claim->count = to - claim->from;
	return true;
}

/* Which of the elements are live. False: unreadable, or no such ring. */
static bool fill_live(const struct application *a, const struct hi_rule_target *target,
		      struct hi_claim *claim)
{
	uint64_t full, n;

	claim->quiet = target->quiet;
	if (target->lead && (!eval(a, target->lead, &claim->lead) || claim->lead >> 47))
		return false;
	if (target->full) {
		if (!eval(a, target->full, &full))
			return false;
		claim->live = (struct hi_live){HI_LIVE_FULL, full - claim->to,
					       target->down ? UINT64_MAX : 1};
	}
	if (!target->ring)
		return true;
	if (!eval(a, target->ring, &n) || n >> 47 || claim->from > n || claim->count > n)
		return false;
	if (claim->from + claim->count > n) {
		claim->live = (struct hi_live){HI_LIVE_RING, claim->from, claim->count};
		claim->from = 0;
		claim->count = n;
	}
	return true;
}

static bool fill_claim(const struct application *a, const struct hi_rule_target *target,
		       struct hi_claim *claim)
{
	uint64_t back = 0;

	claim->rule = a->rule;
	claim->target = target;
	claim->index = a->in.index;
	claim->weak = a->rule->weak;
	if (target->back && !eval(a, target->back, &back))
		return false;
	claim->to = claim->word - back;
	return fill_count(a, target, claim) && fill_live(a, target, claim) &&
	       fill_context(a, target, claim);
}

/* Used or not is all that is asked: a shared counter would be written by all
 * threads for every word. */
static void note_use(const struct hi_rule *rule)
{
	if (!atomic_load_explicit(rule->hits, memory_order_relaxed))
		atomic_store_explicit(rule->hits, 1, memory_order_relaxed);
}

/* A word at `at` that leads to in.dollar. */
static void tell_word(struct application *a, uint64_t at, bool own)
{
	const struct hi_rule_target *target = choose(a);
	struct hi_claim claim = {.own = own, .at = at, .word = a->in.dollar};

	if (target && target->kind == HI_TARGET_SCALAR)
		note_use(a->rule);
	if (!target || target->kind == HI_TARGET_SCALAR || !a->in.dollar)
		return;
	if (!fill_claim(a, target, &claim)) {
		/* What is there cannot be told; that it is pointed to can. */
		static const struct hi_rule_target any = {.kind = HI_TARGET_ANY};

		claim = (struct hi_claim){.rule = a->rule,
					  .target = &any,
					  .own = own,
					  .weak = a->rule->weak,
					  .at = at,
					  .word = a->in.dollar,
					  .to = a->in.dollar,
					  .count = UINT64_MAX};
	}
	note_use(a->rule);
	a->fn(a->fn_arg, &claim);
}

static void tell_place(struct application *a, uint64_t at)
{
	const struct hi_rule_target *target;
	struct hi_claim claim = {.place = true, .own = true, .at = at, .word = at};

	a->in.dollar = at;
	target = choose(a);
	if (!target || at < a->at->block || at >= a->at->block_end ||
	    !fill_claim(a, target, &claim))
		return;
	claim.to = at;
	claim.word = 0;
	note_use(a->rule);
	a->fn(a->fn_arg, &claim);
}

/* A list from in.dollar on. */
static void walk_list(struct application *a, uint64_t at, bool own)
{
	uint64_t steps = 0;

	while (a->in.dollar && !(a->rule->until && holds(a, a->rule->until))) {
		uint64_t next = 0;

		if (steps++ > a->applier->max_steps) {
			a->applier->bounded++;
			return;
		}
		tell_word(a, at, own);
		own = false;
		if (a->at->edges_only || !eval(a, a->rule->next, &next))
			return;
		a->in.dollar = next;
	}
}

/* The area itself is an edge; its slots are objects. */
static void walk_pool(struct application *a, uint64_t at, bool own)
{
	static const struct hi_rule_target any = {.kind = HI_TARGET_ANY};
	struct hi_claim claim = {.rule = a->rule,
				 .target = &any,
				 .own = own,
				 .weak = a->rule->weak,
				 .at = at,
				 .word = a->in.dollar,
				 .to = a->in.dollar,
				 .count = UINT64_MAX};
	uint64_t base = a->in.dollar, n, size;

	if (!base || !eval(a, a->rule->slots, &n) ||
	    !eval(a, a->rule->slot_size, &size) || !size || size >> 32)
		return;
	a->fn(a->fn_arg, &claim);
	if (n > a->applier->max_steps) {
		a->applier->bounded++;
		return;
	}
	for (uint64_t i = 0; i < n && !a->at->edges_only; i++) {
		const struct hi_rule_target *target;

		a->in.dollar = base + i * size;
		target = choose(a);
		claim = (struct hi_claim){.at = at, .word = a->in.dollar};
		if (!target || target->kind != HI_TARGET_TYPE ||
		    !fill_claim(a, target, &claim))
			continue;
		claim.slot = true;
		claim.slot_size = size;
		note_use(a->rule);
		a->fn(a->fn_arg, &claim);
	}
}

static void apply_at(struct application *a, uint64_t at)
{
	const struct hi_record_at *r = a->at;
	bool own = at >= r->block && at < r->block_end && r->block_end - at >= 8;
	uint64_t word;

	if (a->rule->kind == HI_RULE_PLACE) {
		tell_place(a, at);
		return;
	}
	if (r->edges_only && !own)
		return;
	if (!a->applier->read(a->applier->arg, at, &word, sizeof(word)))
		return;
	a->in.dollar = a->rule->mask ? word & a->rule->mask : word;
	if (a->rule->kind == HI_RULE_EACH)
		walk_list(a, at, own);
	else if (a->rule->kind == HI_RULE_POOL)
		walk_pool(a, at, own);
	else
		tell_word(a, at, own);
}

static void apply_rule(struct application *a)
{
	const struct hi_rule *rule = a->rule;
	uint64_t first = 0, last = 1, at;

	if (rule->last && ((rule->first && !eval(a, rule->first, &first)) ||
			   !eval(a, rule->last, &last)))
		return;
	if (last > first && last - first > a->applier->max_steps) {
		a->applier->bounded++;
		return;
	}
	for (uint64_t i = first; i < last && first < last; i++) {
		a->in.index = i;
		a->in.dollar = 0;
		if (!holds(a, rule->when))
			continue;
		if (rule->is_static)
			apply_at(a, a->at->addr + rule->offset + i * rule->stride);
		else if (eval(a, rule->lvalue, &at))
			apply_at(a, at);
	}
}

static struct hi_code_input input_of(const struct hi_applier *a,
				     const struct hi_record_at *at)
{
	return (struct hi_code_input){.arg = a->arg,
				      .read = a->read,
				      .usable = a->usable,
				      .self = at->addr,
				      .context = at->context};
}

void hi_rules_apply(struct hi_applier *applier, const struct hi_rules *rules,
		    const struct hi_record_at *at, hi_claim_fn *fn, void *fn_arg)
{
	struct application a = {.applier = applier,
				.at = at,
				.fn = fn,
				.fn_arg = fn_arg,
				.in = input_of(applier, at)};

	if (applier->max_steps < MIN_STEPS)
		applier->max_steps = MIN_STEPS;
	for (uint32_t i = 0; i < rules->n; i++) {
		a.rule = &rules->items[i];
		apply_rule(&a);
	}
}

hi_type_id hi_rules_variant(struct hi_applier *applier, const struct hi_rules *rules,
			    const struct hi_record_at *at)
{
	struct application a = {
		.applier = applier, .at = at, .in = input_of(applier, at)};

	a.in.dollar = at->addr;
	for (uint32_t i = 0; i < rules->n_variants; i++)
		if (rules->variants[i].target.kind == HI_TARGET_TYPE &&
		    holds(&a, rules->variants[i].when))
			return rules->variants[i].target.type;
	return rules->type;
}

bool hi_rules_tail_known(struct hi_applier *applier, const struct hi_rules *rules,
			 const struct hi_record_at *at)
{
	struct application a = {
		.applier = applier, .at = at, .in = input_of(applier, at)};

	return rules->tail_known && holds(&a, rules->tail_known);
}

uint64_t hi_rules_size(struct hi_applier *applier, const struct hi_rules *rules,
		       const struct hi_record_at *at, uint64_t otherwise)
{
	struct application a = {
		.applier = applier, .at = at, .in = input_of(applier, at)};
	uint64_t size;

	if (!rules->size || !eval(&a, rules->size, &size) || size < otherwise ||
	    size >> 46)
		return otherwise;
	return size;
}
