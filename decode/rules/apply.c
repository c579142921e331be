/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/rules/apply.h"

#include <stdatomic.h>
#include <string.h>

enum { MIN_STEPS = 1 << 16 };

/* One rule on one record. */
struct application {
	struct hi_applier *applier;
	const struct hi_record_at *at;
	const struct hi_rule *rule;
	hi_rule_reference_fn *fn;
	void *fn_arg;
	uint64_t lacks;	  /* of what is being resolved */
	uint64_t *passed; /* HI_CONTEXT_WORDS: room for context that a target changes */
	struct hi_code_input in;
};

void hi_rule_note_lacks(_Atomic uint64_t *kept, uint64_t lacks)
{
	if (kept && lacks & ~atomic_load_explicit(kept, memory_order_relaxed))
		atomic_fetch_or_explicit(kept, lacks, memory_order_relaxed);
}

static bool evaluate_code(struct application *a, const struct hi_code *code,
			  uint64_t *ret)
{
	uint64_t missing;

	if (hi_code_run(code, &a->in, ret))
		return true;
	missing = hi_code_context_keys(code);
	if (a->in.context)
		missing &= ~a->in.context[HI_CONTEXT_KEYS];
	a->lacks |= missing ? missing : (uint64_t)HI_LACK_MEMORY;
	return false;
}

/* The words of the record that the rule is about are not known. */
static void leave_unresolved(struct application *a)
{
	a->applier->unresolved = true;
	if (a->applier->keeps_lacks)
		hi_rule_note_lacks(a->rule->lacks, a->lacks);
}

/* Resolves a target: context and symbols are looked up. A context may lead to one of a
 * further key; that is bounded. NULL: not known. */
static const struct hi_rule_target *resolve_target(struct application *a,
						   const struct hi_rule_target *target)
{
	const struct hi_rule_source *source = a->applier->source;
	uint64_t value;

	for (int depth = 0; target && depth < 4; depth++) {
		if (target->kind == HI_TARGET_CONTEXT) {
			if (!hi_context_has(a->in.context, target->key)) {
				a->lacks |= 1ull << target->key;
				return NULL;
			}
			value = a->in.context[target->key];
			target = (const struct hi_rule_target *)(uintptr_t)value;
		} else if (target->kind == HI_TARGET_SYMBOL) {
			if (!evaluate_code(a, target->symbol, &value))
				return NULL;
			target = source->of_symbol
					 ? source->of_symbol(source->arg, target, value)
					 : NULL;
			if (!target)
				a->lacks |= HI_LACK_SYMBOL;
		} else {
			return target;
		}
	}
	return NULL;
}

/* If a condition is not known, all other values may have the same target: an edge of
 * unknown type. */
static const struct hi_rule_target *choose_otherwise(const struct hi_rule *rule)
{
	const struct hi_case *last = &rule->cases[rule->n_cases - 1];

	return !last->when && last->target.kind == HI_TARGET_ANY ? &last->target : NULL;
}

/* The target of the first case that holds; a case whose context or symbol is missing is
 * skipped. NULL: none holds, or (a->lacks) that is not known. */
static const struct hi_rule_target *choose_case_target(struct application *a)
{
	const struct hi_rule_target *target = NULL;
	const struct hi_case *first = a->rule->cases;

	a->lacks = 0;
	if (a->rule->n_cases && !first->when && first->target.kind != HI_TARGET_CONTEXT &&
	    first->target.kind != HI_TARGET_SYMBOL)
		return &first->target;
	for (uint32_t i = 0; i < a->rule->n_cases && !target; i++) {
		const struct hi_case *c = &a->rule->cases[i];
		uint64_t holds = 1;

		if (c->when && !evaluate_code(a, c->when, &holds)) {
			target = choose_otherwise(a->rule);
			if (!target)
				return NULL;
		} else if (holds) {
			target = resolve_target(a, &c->target);
		}
	}
	if (target)
		a->lacks = 0;
	else if (a->rule->closed)
		a->lacks |= HI_LACK_CASE;
	return target;
}

/* Those that were here, and those that the target sets. What it cannot work out does
 * not go along. */
static void fill_context(struct application *a, const struct hi_rule_target *target,
			 struct hi_rule_reference *reference)
{
	uint64_t lacks = a->lacks;

	reference->context = a->in.context;
	if (!target->n_with)
		return;
	if (a->in.context)
		memcpy(a->passed, a->in.context, HI_CONTEXT_WORDS * sizeof(*a->passed));
	else
		memset(a->passed, 0, HI_CONTEXT_WORDS * sizeof(*a->passed));
	reference->context = a->passed;
	for (uint32_t i = 0; i < target->n_with; i++) {
		const struct hi_with *w = &target->with[i];
		uint64_t value = (uint64_t)(uintptr_t)w->target;

		if (w->value && !evaluate_code(a, w->value, &value))
			hi_context_clear(a->passed, w->key);
		else
			hi_context_set(a->passed, w->key, value);
	}
	a->lacks = lacks;
}

static bool fill_count(struct application *a, const struct hi_rule_target *target,
		       struct hi_rule_reference *reference)
{
	uint64_t to;

	reference->count = UINT64_MAX;
	if (target->from && !evaluate_code(a, target->from, &reference->from))
		return false;
	if (!target->to)
		return true;
	if (!evaluate_code(a, target->to, &to))
		return false;
	/* Torn or hostile: 2^47 elements fit nowhere. */
	if (reference->from > to || to >> 47)
		return false;
	reference->count = to - reference->from;
	return true;
}

/* Which of the elements are live. False: unreadable, or no such ring. */
static bool fill_live(struct application *a, const struct hi_rule_target *target,
		      struct hi_rule_reference *reference)
{
	uint64_t full, n;

	reference->quiet = target->quiet;
	reference->part = target->part;
	if (target->lead &&
	    (!evaluate_code(a, target->lead, &reference->lead) || reference->lead >> 47))
		return false;
	if (target->full) {
		if (!evaluate_code(a, target->full, &full))
			return false;
		reference->live = (struct hi_live){HI_LIVE_FULL, full - reference->to,
						   target->down ? UINT64_MAX : 1};
	}
	if (!target->ring)
		return true;
	if (!evaluate_code(a, target->ring, &n) || n >> 47 || reference->from > n ||
	    reference->count > n)
		return false;
	if (reference->from + reference->count > n) {
		reference->live =
			(struct hi_live){HI_LIVE_RING, reference->from, reference->count};
		reference->from = 0;
		reference->count = n;
	}
	return true;
}

static bool fill_reference(struct application *a, const struct hi_rule_target *target,
			   struct hi_rule_reference *reference)
{
	uint64_t back = 0;

	reference->rule = a->rule;
	reference->target = target;
	reference->index = a->in.index;
	reference->weak = a->rule->weak;
	if (target->back && !evaluate_code(a, target->back, &back))
		return false;
	reference->to = reference->word - back;
	if (!fill_count(a, target, reference) || !fill_live(a, target, reference))
		return false;
	fill_context(a, target, reference);
	return true;
}

/* A flag, not a counter: all threads would write to a shared counter for every word. */
static void note_use(const struct hi_rule *rule)
{
	if (!atomic_load_explicit(rule->hits, memory_order_relaxed))
		atomic_store_explicit(rule->hits, 1, memory_order_relaxed);
}

/* An edge, but nothing is known about what is there. */
static struct hi_rule_reference plain_reference(const struct application *a, uint64_t at,
						bool own)
{
	static const struct hi_rule_target any = {.kind = HI_TARGET_ANY};

	return (struct hi_rule_reference){.rule = a->rule,
					  .target = &any,
					  .own = own,
					  .weak = a->rule->weak,
					  .at = at,
					  .word = a->in.dollar,
					  .to = a->in.dollar,
					  .lacks = a->lacks,
					  .count = UINT64_MAX};
}

/* A word at `at` that leads to in.dollar. */
static void report_word(struct application *a, uint64_t at, bool own)
{
	const struct hi_rule_target *target;
	struct hi_rule_reference reference;

	/* Nothing is left to note of a word that leads nowhere. */
	if (!a->in.dollar && atomic_load_explicit(a->rule->hits, memory_order_relaxed))
		return;
	target = choose_case_target(a);
	if (target && target->kind == HI_TARGET_SCALAR)
		note_use(a->rule);
	if (!a->in.dollar || (target ? target->kind == HI_TARGET_SCALAR : !a->lacks))
		return;
	if (a->applier->types_only && (!target || target->kind == HI_TARGET_ANY)) {
		if (target)
			note_use(a->rule);
		return;
	}
	reference =
		(struct hi_rule_reference){.own = own, .at = at, .word = a->in.dollar};
	if (!target || !fill_reference(a, target, &reference)) {
		reference = plain_reference(a, at, own);
		reference.doubtful = !target;
	}
	if (target)
		note_use(a->rule);
	a->fn(a->fn_arg, &reference);
}

static void report_place(struct application *a, uint64_t at)
{
	const struct hi_rule_target *target;
	struct hi_rule_reference reference = {
		.place = true, .own = true, .at = at, .word = at};

	if (at < a->at->block || at >= a->at->block_end)
		return;
	a->in.dollar = at;
	target = choose_case_target(a);
	if (target ? !fill_reference(a, target, &reference) : a->lacks != 0) {
		leave_unresolved(a);
		return;
	}
	if (!target)
		return;
	reference.to = at;
	reference.word = 0;
	note_use(a->rule);
	a->fn(a->fn_arg, &reference);
}

/* Unreadable memory is no end: the word is an edge. */
static bool is_end_of_list(struct application *a)
{
	uint64_t value = 0;

	return a->rule->until && evaluate_code(a, a->rule->until, &value) && value;
}

/* A list from in.dollar on. */
static void walk_list(struct application *a, uint64_t at, bool own)
{
	uint64_t steps = 0;

	while (a->in.dollar && !is_end_of_list(a)) {
		uint64_t next = 0;

		if (steps++ > a->applier->max_steps) {
			a->applier->bounded++;
			return;
		}
		report_word(a, at, own);
		own = false;
		if (a->at->edges_only || !evaluate_code(a, a->rule->next, &next))
			return;
		a->in.dollar = next;
	}
}

/* The area itself is an edge; its slots are objects. */
static void walk_pool(struct application *a, uint64_t at, bool own)
{
	struct hi_rule_reference reference = plain_reference(a, at, own);
	uint64_t base = a->in.dollar, n, size;

	if (!base)
		return;
	a->fn(a->fn_arg, &reference);
	if (!evaluate_code(a, a->rule->slots, &n) ||
	    !evaluate_code(a, a->rule->slot_size, &size) || !size || size >> 32)
		return;
	if (n > a->applier->max_steps) {
		a->applier->bounded++;
		return;
	}
	for (uint64_t i = 0; i < n && !a->at->edges_only; i++) {
		const struct hi_rule_target *target;

		a->in.dollar = base + i * size;
		target = choose_case_target(a);
		reference = (struct hi_rule_reference){.at = at, .word = a->in.dollar};
		if (!target || target->kind != HI_TARGET_TYPE ||
		    !fill_reference(a, target, &reference))
			continue;
		reference.slot = true;
		reference.slot_size = size;
		note_use(a->rule);
		a->fn(a->fn_arg, &reference);
	}
}

static inline bool read_rule_word(const struct application *a, uint64_t at, bool own,
				  uint64_t *ret)
{
	const struct hi_record_at *r = a->at;

	if (!own || !r->host)
		return a->applier->read(a->applier->arg, at, ret, sizeof(*ret));
	memcpy(ret, r->host + (at - r->block), sizeof(*ret));
	return true;
}

static void apply_at(struct application *a, uint64_t at)
{
	const struct hi_record_at *r = a->at;
	bool own = at >= r->block && at < r->block_end && r->block_end - at >= 8;
	uint64_t word;

	if (a->rule->kind == HI_RULE_PLACE) {
		report_place(a, at);
		return;
	}
	if (r->edges_only && !own)
		return;
	if (!read_rule_word(a, at, own, &word))
		return;
	a->lacks = 0;
	a->in.dollar = a->rule->mask ? word & a->rule->mask : word;
	if (a->rule->kind == HI_RULE_EACH)
		walk_list(a, at, own);
	else if (a->rule->kind == HI_RULE_POOL)
		walk_pool(a, at, own);
	else
		report_word(a, at, own);
}

static void apply_round(struct application *a, uint64_t i)
{
	const struct hi_rule *rule = a->rule;
	uint64_t at, holds = 1;

	a->in.index = i;
	a->in.dollar = 0;
	if (rule->when && !evaluate_code(a, rule->when, &holds))
		leave_unresolved(a);
	else if (holds && rule->is_static)
		apply_at(a, a->at->addr + rule->offset + i * rule->stride);
	else if (holds && evaluate_code(a, rule->lvalue, &at))
		apply_at(a, at);
	else if (holds)
		leave_unresolved(a);
}

static void apply_rule(struct application *a)
{
	const struct hi_rule *rule = a->rule;
	uint64_t first = 0, last = 1;

	a->lacks = 0;
	if (rule->last && ((rule->first && !evaluate_code(a, rule->first, &first)) ||
			   !evaluate_code(a, rule->last, &last))) {
		leave_unresolved(a);
		return;
	}
	if (last > first && last - first > a->applier->max_steps) {
		a->applier->bounded++;
		leave_unresolved(a);
		return;
	}
	for (uint64_t i = first; i < last && first < last; i++)
		apply_round(a, i);
}

static struct hi_code_input input_of(const struct hi_applier *a,
				     const struct hi_record_at *at)
{
	return (struct hi_code_input){
		.arg = a->arg,
		.read = a->read,
		.usable = a->usable,
		.self = at->addr,
		.context = at->context,
		.at_hand = {at->host, at->block,
			    at->host ? at->block_end - at->block : 0}};
}

void hi_rules_apply(struct hi_applier *applier, const struct hi_rules *rules,
		    const struct hi_record_at *at, hi_rule_reference_fn *fn, void *fn_arg)
{
	uint64_t passed[HI_CONTEXT_WORDS];
	struct application a = {.applier = applier,
				.at = at,
				.fn = fn,
				.fn_arg = fn_arg,
				.passed = passed,
				.in = input_of(applier, at)};

	if (applier->max_steps < MIN_STEPS)
		applier->max_steps = MIN_STEPS;
	for (uint32_t i = 0; i < rules->n; i++) {
		a.rule = &rules->items[i];
		apply_rule(&a);
	}
}

/* NULL: none holds, or (a->lacks) that is not known. */
static const struct hi_case *choose_variant(struct application *a,
					    const struct hi_rules *rules)
{
	a->in.dollar = a->at->addr;
	for (uint32_t i = 0; i < rules->n_variants; i++) {
		const struct hi_case *c = &rules->variants[i];
		uint64_t holds = 1;

		if (c->when && !evaluate_code(a, c->when, &holds))
			return NULL;
		if (holds && c->target.kind == HI_TARGET_TYPE)
			return c;
	}
	if (rules->variants_closed)
		a->lacks |= HI_LACK_CASE;
	return NULL;
}

hi_type_id hi_rules_variant(struct hi_applier *applier, const struct hi_rules *rules,
			    const struct hi_record_at *at)
{
	struct application a = {
		.applier = applier, .at = at, .in = input_of(applier, at)};
	const struct hi_case *chosen = choose_variant(&a, rules);

	return chosen ? chosen->target.type : rules->type;
}

bool hi_rules_variant_is_open(struct hi_applier *applier, const struct hi_rules *rules,
			      const struct hi_record_at *at)
{
	struct application a = {
		.applier = applier, .at = at, .in = input_of(applier, at)};

	if (choose_variant(&a, rules) || !a.lacks)
		return false;
	if (applier->keeps_lacks)
		hi_rule_note_lacks(rules->variants_lacks, a.lacks);
	return true;
}

bool hi_rules_tail_known(struct hi_applier *applier, const struct hi_rules *rules,
			 const struct hi_record_at *at)
{
	struct application a = {
		.applier = applier, .at = at, .in = input_of(applier, at)};
	uint64_t known = 0;

	return rules->tail_known && evaluate_code(&a, rules->tail_known, &known) && known;
}

uint64_t hi_rules_size(struct hi_applier *applier, const struct hi_rules *rules,
		       const struct hi_record_at *at, uint64_t otherwise)
{
	struct application a = {
		.applier = applier, .at = at, .in = input_of(applier, at)};
	uint64_t size;

	if (!rules->size || !evaluate_code(&a, rules->size, &size) || size < otherwise ||
	    size >> 46)
		return otherwise;
	return size;
}
