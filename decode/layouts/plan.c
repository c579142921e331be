/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of plans: one a type, made when a pointer first leads to it. */
#include "decode/layouts/plan.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"
#include "decode/layouts/flatten.h"

struct map_entry {
	hi_type_id type;
	uint32_t plan; /* 0: empty */
};

/* More than this are hostile, or a hint that should not be: they are not told apart. */
enum {
	CONTEXT_HEADS = 1 << 12,
	CONTEXT_LEAF = 1 << 10,
	MAX_CONTEXTS = 1 << 20,
	MAX_VARIANTS = 1 << 23
};

struct context_values {
	uint64_t values[HI_CONTEXT_WORDS];
	uint32_t next; /* of those with the same hash; 0: none */
};

struct hi_plans_private {
	struct hi_type_source source;
	pthread_mutex_t lock; /* everything below, and adding to leaves */
	struct hi_arena arena;
	_Atomic uint32_t count;
	struct map_entry *map; /* open addressing, by type id */
	uint32_t map_size, map_used;
	struct HI_VECTOR(uint32_t) named; /* plans without a type */
	uint32_t *variants;		  /* open addressing, plan indices; 0: empty */
	uint32_t variants_size, variants_used;
	struct context_values *contexts[MAX_CONTEXTS / CONTEXT_LEAF];
	uint32_t context_heads[CONTEXT_HEADS]; /* by hash; 0: none */
	_Atomic uint32_t n_contexts;	       /* the first is nothing */
	_Atomic bool failed;
};

static const struct hi_type *type_of(struct hi_plans *plans, hi_type_id id)
{
	return plans->priv->source.type(plans->priv->source.arg, id);
}

static bool copy_sites(struct hi_plans *plans, struct hi_plan *plan,
		       const struct hi_sites *sites)
{
	struct hi_site *copy =
		hi_arena_alloc(&plans->priv->arena, (sites->count + 1) * sizeof(*copy));

	if (copy && sites->count)
		memcpy(copy, sites->items, sites->count * sizeof(*copy));
	plan->sites = copy;
	plan->n_sites = copy ? (uint32_t)sites->count : 0;
	for (uint32_t i = 0; i < plan->n_sites; i++)
		plan->wants |= copy[i].rules->wants;
	return copy;
}

static bool copy_either(struct hi_plans *plans, struct hi_plan *plan,
			const struct hi_slots *either)
{
	plan->either = hi_arena_alloc(&plans->priv->arena,
				      (either->count + 1) * sizeof(*plan->either));
	if (plan->either && either->count)
		memcpy(plan->either, either->items,
		       either->count * sizeof(*plan->either));
	plan->n_either = plan->either ? (uint32_t)either->count : 0;
	return plan->either;
}

/* What a type wants to know from those who lead to it: its rules say; pointers
 * pass it on. */
static uint64_t wants_of_pointee(struct hi_plans *plans, const struct hi_type *type)
{
	const struct hi_rule_source *source = &plans->priv->source.rules;
	const struct hi_rules *rules;

	for (int depth = 0; source->rules && depth < 8; depth++) {
		if (type->kind != HI_KIND_POINTER && type->kind != HI_KIND_ARRAY)
			break;
		type = type_of(plans, type->target);
		rules = source->rules(source->arg, type->id);
		if (rules)
			return rules->wants;
	}
	return 0;
}

static bool fill_slots(struct hi_plans *plans, struct hi_plan *plan)
{
	struct hi_slots flat = {};
	struct hi_sites sites = {};
	struct hi_slots either = {};
	bool ok = hi_flatten(&plans->priv->source, plan->type->id, plan->size, &flat,
			     &sites, &either, &plan->truncated);
	size_t bytes = (flat.count ? flat.count : 1) * sizeof(*plan->slots);

	plan->slots = ok ? hi_arena_alloc(&plans->priv->arena, bytes) : NULL;
	if (plan->slots && flat.count)
		memcpy(plan->slots, flat.items, flat.count * sizeof(*plan->slots));
	plan->n_slots = plan->slots ? (uint32_t)flat.count : 0;
	for (uint32_t i = 0; i < plan->n_slots; i++) {
		plan->n_pointers += plan->slots[i].kind == HI_SLOT_POINTER;
		plan->open_ended |= plan->slots[i].count == HI_SLOT_TO_END;
	}
	hi_vector_free(&flat);
	ok = ok && copy_sites(plans, plan, &sites) && copy_either(plans, plan, &either);
	hi_vector_free(&sites);
	hi_vector_free(&either);
	return ok && plan->slots;
}

static enum hi_type_class class_of(const struct hi_type *type)
{
	switch (type->kind) {
	case HI_KIND_STRUCT:
	case HI_KIND_UNION:
	case HI_KIND_DECLARATION:
		return HI_TYPE_RECORD;
	case HI_KIND_CHAR:
		return HI_TYPE_STRING;
	case HI_KIND_POINTER:
		return HI_TYPE_POINTER_ARRAY;
	case HI_KIND_ARRAY:
		return HI_TYPE_ARRAY;
	case HI_KIND_INTEGER:
	case HI_KIND_FLOAT:
	case HI_KIND_ADDRESS:
		return HI_TYPE_SCALAR;
	case HI_KIND_UNKNOWN:
	case HI_KIND_VOID:
	case HI_KIND_FUNCTION:
		break;
	}
	return HI_TYPE_UNKNOWN;
}

/* Gives plan an index; false when there is no room. */
static bool enter_plan(struct hi_plans *plans, struct hi_plan *plan)
{
	uint32_t index = atomic_load(&plans->priv->count);
	struct hi_plan ***leaf = &plans->leaves[index / HI_PLAN_LEAF];

	if (index >= HI_PLAN_MAX - 1)
		return false;
	if (!*leaf)
		*leaf = hi_pages_alloc(HI_PLAN_LEAF * sizeof(**leaf));
	if (!*leaf)
		return false;
	plan->index = index;
	(*leaf)[index % HI_PLAN_LEAF] = plan;
	atomic_store_explicit(&plans->priv->count, index + 1, memory_order_release);
	return true;
}

static struct hi_plan *make_plan(struct hi_plans *plans, const struct hi_type *type,
				 const char *name)
{
	struct hi_plan *plan = hi_arena_alloc(&plans->priv->arena, sizeof(*plan));
	const struct hi_rule_source *source = &plans->priv->source.rules;

	if (!plan)
		return NULL;
	plan->type = type;
	plan->name = name;
	plan->klass = HI_TYPE_RECORD;
	plan->opaque = true;
	plan->count = HI_COUNT_UNSAID;
	if (type) {
		plan->size = type->size;
		plan->hash = type->layout_hash;
		plan->klass = class_of(type);
		plan->opaque = type->size == 0 || type->kind == HI_KIND_DECLARATION;
		if (source->rules)
			plan->rules = source->rules(source->arg, type->id);
		plan->wants = wants_of_pointee(plans, type);
	}
	if (plan->rules)
		plan->wants |= plan->rules->wants;
	if (plan->opaque)
		plan->size = 0;
	else if (!fill_slots(plans, plan))
		return NULL;
	if (!enter_plan(plans, plan))
		return NULL;
	plan->base = plan->index;
	return plan;
}

static struct map_entry *map_slot(struct map_entry *map, uint32_t size, hi_type_id type)
{
	return &map[hi_probe(i, size, type * 2654435761u,
			     !map[i].plan || map[i].type == type)];
}

static bool map_grow(struct hi_plans *plans)
{
	uint32_t size = plans->priv->map_size ? plans->priv->map_size * 2 : 256;
	struct map_entry *map = hi_calloc(size, sizeof(*map));

	if (!map)
		return false;
	for (uint32_t i = 0; i < plans->priv->map_size; i++)
		if (plans->priv->map[i].plan)
			*map_slot(map, size, plans->priv->map[i].type) =
				plans->priv->map[i];
	free(plans->priv->map);
	plans->priv->map = map;
	plans->priv->map_size = size;
	return true;
}

static uint32_t index_for(struct hi_plans *plans, hi_type_id id)
{
	const struct hi_type *type = type_of(plans, id);
	struct hi_plan *plan;

	switch (type->kind) {
	case HI_KIND_VOID:
	case HI_KIND_UNKNOWN:
		return HI_PLAN_NOTHING;
	case HI_KIND_FUNCTION:
		return HI_PLAN_FUNCTION;
	case HI_KIND_INTEGER:
	case HI_KIND_CHAR:
	case HI_KIND_FLOAT:
	case HI_KIND_ADDRESS:
	case HI_KIND_POINTER:
	case HI_KIND_STRUCT:
	case HI_KIND_UNION:
	case HI_KIND_ARRAY:
	case HI_KIND_DECLARATION:
		break;
	}
	if (type->size >= (uint64_t)1 << 46)
		return HI_PLAN_NOTHING; /* hostile */
	plan = make_plan(plans, type, type->name);
	if (!plan) {
		atomic_store(&plans->priv->failed, true);
		return HI_PLAN_NOTHING;
	}
	return plan->index;
}

/* Under the lock. Several ids may stand for one type: it has one plan. */
static uint32_t find_plan(struct hi_plans *plans, hi_type_id id)
{
	hi_type_id one = type_of(plans, id)->id;
	struct map_entry *entry;
	uint32_t index;

	if (plans->priv->map_used * 2 + 2 >= plans->priv->map_size && !map_grow(plans)) {
		atomic_store(&plans->priv->failed, true);
		return HI_PLAN_NOTHING;
	}
	entry = map_slot(plans->priv->map, plans->priv->map_size, one ? one : id);
	if (!entry->plan) {
		*entry = (struct map_entry){one ? one : id, index_for(plans, id)};
		plans->priv->map_used++;
	}
	index = entry->plan;
	entry = map_slot(plans->priv->map, plans->priv->map_size, id);
	if (!entry->plan) {
		*entry = (struct map_entry){id, index};
		plans->priv->map_used++;
	}
	return index;
}

uint32_t hi_plans_of(struct hi_plans *plans, hi_type_id id)
{
	const struct map_entry *entry = NULL;
	uint32_t index;

	if (!id)
		return HI_PLAN_NOTHING;
	pthread_mutex_lock(&plans->priv->lock);
	if (plans->priv->map_size)
		entry = map_slot(plans->priv->map, plans->priv->map_size, id);
	index = entry && entry->plan ? entry->plan : find_plan(plans, id);
	pthread_mutex_unlock(&plans->priv->lock);
	return index;
}

static uint32_t find_named(struct hi_plans *plans, const char *name, bool blob)
{
	for (size_t i = 0; i < plans->priv->named.count; i++) {
		const struct hi_plan *plan =
			hi_plans_get(plans, plans->priv->named.items[i]);

		if (plan->blob == blob && strcmp(plan->name, name) == 0)
			return plan->index;
	}
	return HI_PLAN_NONE;
}

static uint32_t make_named(struct hi_plans *plans, const char *name, bool blob)
{
	const char *copy = hi_arena_strdup(&plans->priv->arena, name);
	struct hi_plan *plan = copy ? make_plan(plans, NULL, copy) : NULL;

	if (!plan || !hi_vector_push(&plans->priv->named, plan->index)) {
		atomic_store(&plans->priv->failed, true);
		return HI_PLAN_NOTHING;
	}
	plan->blob = blob;
	if (blob) {
		plan->opaque = false;
		plan->klass = HI_TYPE_SCALAR;
	}
	return plan->index;
}

uint32_t hi_plans_buffer(struct hi_plans *plans, const char *name, bool blob)
{
	uint32_t index;

	pthread_mutex_lock(&plans->priv->lock);
	index = find_named(plans, name, blob);
	if (!index)
		index = make_named(plans, name, blob);
	pthread_mutex_unlock(&plans->priv->lock);
	return index;
}

uint32_t hi_plans_managed(struct hi_plans *plans, const struct hi_managed_name *name)
{
	struct hi_plan *plan = NULL;
	const char *text, *module;

	pthread_mutex_lock(&plans->priv->lock);
	text = hi_arena_strdup(&plans->priv->arena, name->name);
	module = hi_arena_strdup(&plans->priv->arena, name->module);
	if (text && module)
		plan = make_plan(plans, NULL, text);
	if (plan) {
		plan->managed = name->number;
		plan->module = module;
		plan->blob = !name->words;
		plan->opaque = name->words;
		plan->klass = name->klass;
	} else {
		atomic_store(&plans->priv->failed, true);
	}
	pthread_mutex_unlock(&plans->priv->lock);
	return plan ? plan->index : HI_PLAN_NOTHING;
}

uint32_t hi_plans_named(struct hi_plans *plans, const char *name)
{
	return hi_plans_buffer(plans, name, false);
}

uint32_t hi_plans_count(const struct hi_plans *plans)
{
	return atomic_load_explicit(&plans->priv->count, memory_order_acquire);
}

bool hi_plans_failed(const struct hi_plans *plans)
{
	return atomic_load(&plans->priv->failed);
}

uint32_t hi_plans_pointee_slow(struct hi_plans *plans, struct hi_slot *slot)
{
	uint32_t plan = hi_plans_of(plans, slot->pointee);

	atomic_store_explicit(&slot->plan, plan, memory_order_release);
	return plan;
}

/* ---- variants and contexts ---- */

static uint32_t hash_words(const uint64_t *words, size_t n)
{
	uint64_t h = 0x9e3779b97f4a7c15ull;

	for (size_t i = 0; i < n; i++) {
		h = (h ^ words[i]) * 0xff51afd7ed558ccdull;
		h ^= h >> 32;
	}
	return (uint32_t)h;
}

struct hi_variant hi_plan_use(const struct hi_plan *plan)
{
	struct hi_variant v;

	memset(&v, 0, sizeof(v)); /* users compare bytes */
	v.lead = plan->lead;
	v.first = plan->first;
	v.count = plan->count;
	v.live = plan->live;
	v.context = plan->context;
	v.quiet = plan->quiet;
	return v;
}

static uint32_t hash_variant(uint32_t base, const struct hi_variant *v)
{
	const uint64_t words[] = {base,		v->lead,      v->first,
				  v->count,	v->live.kind, v->live.at,
				  v->live.step, v->context,   v->quiet};

	return hash_words(words, sizeof(words) / sizeof(words[0]));
}

static bool is_variant(const struct hi_plan *plan, uint32_t base,
		       const struct hi_variant *v)
{
	return plan->base == base && plan->lead == v->lead && plan->first == v->first &&
	       plan->count == v->count && plan->live.kind == v->live.kind &&
	       plan->live.at == v->live.at && plan->live.step == v->live.step &&
	       plan->context == v->context && plan->quiet == v->quiet;
}

static bool grow_variants(struct hi_plans *plans)
{
	struct hi_plans_private *p = plans->priv;
	uint32_t size = p->variants_size ? p->variants_size * 2 : 256;
	uint32_t *table = hi_calloc(size, sizeof(*table));

	if (!table)
		return false;
	for (uint32_t k = 0; k < p->variants_size; k++) {
		const struct hi_plan *plan;
		struct hi_variant v;

		if (!p->variants[k])
			continue;
		plan = hi_plans_get(plans, p->variants[k]);
		v = hi_plan_use(plan);
		table[hi_probe(i, size, hash_variant(plan->base, &v), !table[i])] =
			plan->index;
	}
	free(p->variants);
	p->variants = table;
	p->variants_size = size;
	return true;
}

static struct hi_plan *make_variant(struct hi_plans *plans, uint32_t base,
				    const struct hi_variant *v)
{
	struct hi_plan *plan = hi_arena_alloc(&plans->priv->arena, sizeof(*plan));

	if (!plan)
		return NULL;
	memcpy(plan, hi_plans_get(plans, base), sizeof(*plan));
	atomic_store(&plan->used, false);
	plan->lead = v->lead;
	plan->first = v->first;
	plan->count = v->count;
	plan->live = v->live;
	plan->quiet = v->quiet;
	plan->context = v->context;
	plan->context_values = hi_plans_context_values(plans, v->context);
	return enter_plan(plans, plan) ? plan : NULL;
}

/* Under the lock. */
static uint32_t find_variant(struct hi_plans *plans, uint32_t base,
			     const struct hi_variant *v)
{
	struct hi_plans_private *p = plans->priv;
	struct hi_plan *plan;
	uint32_t n;

	if (p->variants_used * 2 >= p->variants_size && !grow_variants(plans))
		return HI_PLAN_NONE;
	n = hi_probe(i, p->variants_size, hash_variant(base, v),
		     !p->variants[i] ||
			     is_variant(hi_plans_get(plans, p->variants[i]), base, v));
	if (p->variants[n])
		return p->variants[n];
	if (p->variants_used >= MAX_VARIANTS)
		return base;
	plan = make_variant(plans, base, v);
	if (!plan)
		return HI_PLAN_NONE;
	p->variants[n] = plan->index;
	p->variants_used++;
	return plan->index;
}

uint32_t hi_plans_variant(struct hi_plans *plans, uint32_t index,
			  const struct hi_variant *variant)
{
	const struct hi_plan *plan = hi_plans_get(plans, index);
	uint32_t found;

	if (is_variant(hi_plans_get(plans, plan->base), plan->base, variant))
		return plan->base;
	pthread_mutex_lock(&plans->priv->lock);
	found = find_variant(plans, plan->base, variant);
	pthread_mutex_unlock(&plans->priv->lock);
	if (found != HI_PLAN_NONE)
		return found;
	atomic_store(&plans->priv->failed, true);
	return HI_PLAN_NOTHING;
}

static struct context_values *context_at(const struct hi_plans *plans, hi_context c)
{
	return &plans->priv->contexts[c / CONTEXT_LEAF][c % CONTEXT_LEAF];
}

/* Under the lock; context 0 of a failure is harmless: less is known. */
static hi_context find_context(struct hi_plans *plans,
			       const uint64_t values[HI_CONTEXT_WORDS])
{
	struct hi_plans_private *p = plans->priv;
	size_t size = HI_CONTEXT_WORDS * sizeof(*values);
	uint32_t n = atomic_load(&p->n_contexts);
	struct context_values **leaf = &p->contexts[n / CONTEXT_LEAF];
	uint32_t *bucket =
		&p->context_heads[hash_words(values, HI_CONTEXT_WORDS) % CONTEXT_HEADS];

	for (uint32_t c = *bucket; c; c = context_at(plans, c)->next)
		if (memcmp(context_at(plans, c)->values, values, size) == 0)
			return c;
	if (n >= MAX_CONTEXTS - 1)
		return 0;
	if (!*leaf)
		*leaf = hi_arena_alloc(&p->arena, CONTEXT_LEAF * sizeof(**leaf));
	if (!*leaf) {
		atomic_store(&p->failed, true);
		return 0;
	}
	memcpy(context_at(plans, n)->values, values, size);
	context_at(plans, n)->next = *bucket;
	*bucket = n;
	atomic_store_explicit(&p->n_contexts, n + 1, memory_order_release);
	return n;
}

hi_context hi_plans_context(struct hi_plans *plans,
			    const uint64_t values[HI_CONTEXT_WORDS])
{
	hi_context found;

	if (!values[HI_CONTEXT_KEYS])
		return 0;
	pthread_mutex_lock(&plans->priv->lock);
	found = find_context(plans, values);
	pthread_mutex_unlock(&plans->priv->lock);
	return found;
}

const uint64_t *hi_plans_context_values(const struct hi_plans *plans, hi_context context)
{
	return context ? context_at(plans, context)->values : NULL;
}

bool hi_plan_starts_with(struct hi_plans *plans, const struct hi_plan *a,
			 const struct hi_plan *b, bool through_unions)
{
	const struct hi_type *type = a->type;

	for (int depth = 0; type && depth < 16; depth++) {
		if (type == b->type)
			return true;
		if (type->kind == HI_KIND_UNION && !through_unions)
			return false;
		if (type->kind == HI_KIND_ARRAY)
			type = type_of(plans, type->target);
		else if (type->n_members && type->members[0].offset == 0)
			type = type_of(plans, type->members[0].type);
		else
			return false;
	}
	return false;
}

enum hi_status hi_plans_create(struct hi_type_source source, struct hi_plans **ret,
			       struct hi_error *err)
{
	struct hi_plans *plans = hi_calloc(1, sizeof(*plans));
	struct hi_plans_private *priv = hi_calloc(1, sizeof(*priv));

	if (!plans || !priv) {
		free(plans);
		free(priv);
		return hi_fail_memory(err, "type plans");
	}
	plans->priv = priv;
	priv->source = source;
	pthread_mutex_init(&priv->lock, NULL);
	atomic_store(&priv->count, HI_PLAN_FIRST);
	atomic_store(&priv->n_contexts, 1);
	*ret = plans;
	return HI_OK;
}

void hi_plans_destroy(struct hi_plans *plans)
{
	if (!plans)
		return;
	for (size_t i = 0; i < HI_PLAN_LEAVES; i++)
		hi_pages_free(plans->leaves[i], HI_PLAN_LEAF * sizeof(**plans->leaves));
	free(plans->priv->map);
	free(plans->priv->variants);
	hi_vector_free(&plans->priv->named);
	hi_arena_free(&plans->priv->arena);
	pthread_mutex_destroy(&plans->priv->lock);
	free(plans->priv);
	free(plans);
}
