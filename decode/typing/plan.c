/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of plans: one a type, made when a pointer first leads to it. */
#include "decode/typing/plan.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"
#include "decode/typing/flatten.h"

struct map_entry {
	hi_type_id type;
	uint32_t plan; /* 0: empty */
};

struct hi_plans_private {
	struct hi_type_source source;
	pthread_mutex_t lock; /* everything below, and adding to leaves */
	struct hi_arena arena;
	_Atomic uint32_t count;
	struct map_entry *map; /* open addressing, by type id */
	uint32_t map_size, map_used;
	struct HI_VECTOR(uint32_t) named; /* plans without a type */
	_Atomic bool failed;
};

static const struct hi_type *type_of(struct hi_plans *plans, hi_type_id id)
{
	return plans->priv->source.type(plans->priv->source.arg, id);
}

static bool fill_slots(struct hi_plans *plans, struct hi_plan *plan)
{
	struct hi_slots flat = {};
	bool ok = hi_flatten(&plans->priv->source, plan->type->id, plan->size, &flat,
			     &plan->truncated);
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
	return plan->slots;
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

	if (!plan)
		return NULL;
	plan->type = type;
	plan->name = name;
	plan->klass = HI_TYPE_RECORD;
	plan->opaque = true;
	if (type) {
		plan->size = type->size;
		plan->hash = type->layout_hash;
		plan->klass = class_of(type);
		plan->opaque = type->size == 0 || type->kind == HI_KIND_DECLARATION;
	}
	if (plan->opaque)
		plan->size = 0;
	else if (!fill_slots(plans, plan))
		return NULL;
	return enter_plan(plans, plan) ? plan : NULL;
}

static struct map_entry *map_slot(struct map_entry *map, uint32_t size, hi_type_id type)
{
	uint32_t i = (type * 2654435761u) & (size - 1);

	while (map[i].plan && map[i].type != type)
		i = (i + 1) & (size - 1);
	return &map[i];
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

uint32_t hi_plans_of(struct hi_plans *plans, hi_type_id id)
{
	struct map_entry *entry;
	uint32_t index = HI_PLAN_NOTHING;

	if (!id)
		return HI_PLAN_NOTHING;
	pthread_mutex_lock(&plans->priv->lock);
	if (plans->priv->map_used * 2 >= plans->priv->map_size && !map_grow(plans)) {
		atomic_store(&plans->priv->failed, true);
	} else {
		entry = map_slot(plans->priv->map, plans->priv->map_size, id);
		if (!entry->plan) {
			*entry = (struct map_entry){id, index_for(plans, id)};
			plans->priv->map_used++;
		}
		index = entry->plan;
	}
	pthread_mutex_unlock(&plans->priv->lock);
	return index;
}

static uint32_t find_named(struct hi_plans *plans, const char *name)
{
	for (size_t i = 0; i < plans->priv->named.count; i++)
		if (strcmp(hi_plans_get(plans, plans->priv->named.items[i])->name,
			   name) == 0)
			return plans->priv->named.items[i];
	return HI_PLAN_NONE;
}

uint32_t hi_plans_named(struct hi_plans *plans, const char *name)
{
	uint32_t index;

	pthread_mutex_lock(&plans->priv->lock);
	index = find_named(plans, name);
	if (!index) {
		const char *copy = hi_arena_strdup(&plans->priv->arena, name);
		struct hi_plan *plan = copy ? make_plan(plans, NULL, copy) : NULL;

		if (plan && hi_vector_push(&plans->priv->named, plan->index)) {
			index = plan->index;
		} else {
			atomic_store(&plans->priv->failed, true);
			index = HI_PLAN_NOTHING;
		}
	}
	pthread_mutex_unlock(&plans->priv->lock);
	return index;
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

static bool is_record(const struct hi_plan *plan)
{
	return plan->klass == HI_TYPE_RECORD;
}

int hi_plan_compare(const struct hi_plan *a, const struct hi_plan *b)
{
	if (a == b)
		return 0;
	if (a->size != b->size)
		return a->size > b->size ? 1 : -1;
	if (is_record(a) != is_record(b))
		return is_record(a) ? 1 : -1;
	if (a->n_pointers != b->n_pointers)
		return a->n_pointers > b->n_pointers ? 1 : -1;
	if (a->hash != b->hash)
		return a->hash < b->hash ? 1 : -1;
	return -strcmp(a->name, b->name);
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
	hi_vector_free(&plans->priv->named);
	hi_arena_free(&plans->priv->arena);
	pthread_mutex_destroy(&plans->priv->lock);
	free(plans->priv);
	free(plans);
}
