/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of layouts: one a type, made when a pointer first leads to it. */
#include "decode/layouts/layout.h"

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
	uint32_t layout; /* 0: empty */
};

/* More than these come from hostile input or a wrong hint: they share the base layout. */
enum {
	CONTEXT_HEADS = 1 << 12,
	CONTEXT_LEAF = 1 << 10,
	MAX_CONTEXTS = 1 << 20,
	MAX_REFINED = 1 << 23,
	NESTING_MAX = 16,
};

struct context_values {
	uint64_t values[HI_CONTEXT_WORDS];
	uint32_t next; /* of those with the same hash; 0: none */
};

struct hi_layouts_private {
	struct hi_type_source source;
	pthread_mutex_t lock; /* everything below, and adding to leaves */
	struct hi_arena arena;
	_Atomic uint32_t count;
	struct map_entry *map; /* open addressing, by type id */
	uint32_t map_size, map_used;
	struct HI_VECTOR(uint32_t) named; /* layouts without a type */
	uint32_t *refined;		  /* open addressing, layout indices; 0: empty */
	uint32_t refined_size, refined_used;
	struct context_values *contexts[MAX_CONTEXTS / CONTEXT_LEAF];
	uint32_t context_heads[CONTEXT_HEADS]; /* by hash; 0: none */
	_Atomic uint32_t n_contexts;	       /* the first is nothing */
	_Atomic bool failed;
};

static bool copy_rule_sites(struct hi_layouts *layouts, struct hi_layout *layout,
			    const struct hi_rule_sites *rule_sites)
{
	struct hi_rule_site *copy = hi_arena_alloc(
		&layouts->priv->arena, (rule_sites->count + 1) * sizeof(*copy));

	if (copy && rule_sites->count)
		memcpy(copy, rule_sites->items, rule_sites->count * sizeof(*copy));
	layout->rule_sites = copy;
	layout->n_rule_sites = copy ? (uint32_t)rule_sites->count : 0;
	for (uint32_t i = 0; i < layout->n_rule_sites; i++)
		layout->wants |= copy[i].rules->wants;
	return copy;
}

static bool copy_either(struct hi_layouts *layouts, struct hi_layout *layout,
			const struct hi_pointer_slots *either)
{
	layout->either = hi_arena_alloc(&layouts->priv->arena,
					(either->count + 1) * sizeof(*layout->either));
	if (layout->either && either->count)
		memcpy(layout->either, either->items,
		       either->count * sizeof(*layout->either));
	layout->n_either = layout->either ? (uint32_t)either->count : 0;
	return layout->either;
}

/* The context keys that a type needs: those of its rules, and those that its pointers
 * pass on. */
static uint64_t wants_of_pointee(struct hi_layouts *layouts, const struct hi_type *type)
{
	const struct hi_rule_source *source = &layouts->priv->source.rules;
	const struct hi_rules *rules;

	for (int depth = 0; source->rules && depth < 8; depth++) {
		if (type->kind != HI_KIND_POINTER && type->kind != HI_KIND_ARRAY)
			break;
		type = hi_type_source_get(&layouts->priv->source, type->target);
		rules = source->rules(source->arg, type->id);
		if (rules)
			return rules->wants;
	}
	return 0;
}

static bool fill_slots(struct hi_layouts *layouts, struct hi_layout *layout)
{
	struct hi_pointer_slots flat = {};
	struct hi_rule_sites rule_sites = {};
	struct hi_pointer_slots either = {};
	bool ok = hi_flatten(&layouts->priv->source, layout->type->id, layout->size,
			     &flat, &rule_sites, &either, &layout->truncated);
	size_t bytes = (flat.count ? flat.count : 1) * sizeof(*layout->slots);

	layout->slots = ok ? hi_arena_alloc(&layouts->priv->arena, bytes) : NULL;
	if (layout->slots && flat.count)
		memcpy(layout->slots, flat.items, flat.count * sizeof(*layout->slots));
	layout->n_slots = layout->slots ? (uint32_t)flat.count : 0;
	for (uint32_t i = 0; i < layout->n_slots; i++) {
		layout->n_pointers += layout->slots[i].kind == HI_POINTER_SLOT_TYPED;
		layout->open_ended |= layout->slots[i].count == HI_POINTER_SLOT_TO_END;
	}
	hi_vector_free(&flat);
	ok = ok && copy_rule_sites(layouts, layout, &rule_sites) &&
	     copy_either(layouts, layout, &either);
	hi_vector_free(&rule_sites);
	hi_vector_free(&either);
	return ok && layout->slots;
}

/* `char data[4]` or `long data[1]` at the end of a record: how flexible arrays were
 * written before C99. */
static bool stands_for_more(const struct hi_type *array, const struct hi_type *element)
{
	return array->flexible || array->count <= 1 ||
	       (element->kind == HI_KIND_CHAR && array->count < 8);
}

static uint64_t fixed_size_of(const struct hi_type_source *types,
			      const struct hi_type *type)
{
	const struct hi_type *at = type;
	uint64_t offset = 0;

	for (unsigned depth = 0; at->n_members && depth < NESTING_MAX; depth++) {
		const struct hi_member *last = &at->members[at->n_members - 1];

		if (at->kind != HI_KIND_STRUCT || last->bit_size)
			break;
		offset += last->offset;
		at = hi_type_source_get(types, last->type);
		if (offset == 0 || offset >= type->size)
			break;
		if (at->kind == HI_KIND_ARRAY)
			return stands_for_more(at, hi_type_source_get(types, at->target))
				       ? offset
				       : type->size;
	}
	return type->size;
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

/* Gives layout an index; false when there is no room. */
static bool enter_layout(struct hi_layouts *layouts, struct hi_layout *layout)
{
	uint32_t index = atomic_load(&layouts->priv->count);
	struct hi_layout ***leaf = &layouts->leaves[index / HI_LAYOUT_LEAF];

	if (index >= HI_LAYOUT_MAX - 1)
		return false;
	if (!*leaf)
		*leaf = hi_pages_alloc(HI_LAYOUT_LEAF * sizeof(**leaf));
	if (!*leaf)
		return false;
	layout->index = index;
	(*leaf)[index % HI_LAYOUT_LEAF] = layout;
	atomic_store_explicit(&layouts->priv->count, index + 1, memory_order_release);
	return true;
}

static struct hi_layout *make_new_layout(struct hi_layouts *layouts,
					 const struct hi_type *type, const char *name)
{
	struct hi_layout *layout = hi_arena_alloc(&layouts->priv->arena, sizeof(*layout));
	const struct hi_rule_source *source = &layouts->priv->source.rules;

	if (!layout)
		return NULL;
	layout->type = type;
	layout->name = name;
	layout->klass = HI_TYPE_RECORD;
	layout->opaque = true;
	layout->count = HI_COUNT_UNKNOWN;
	if (type) {
		layout->size = type->size;
		layout->hash = type->layout_hash;
		layout->klass = class_of(type);
		layout->opaque = type->size == 0 || type->kind == HI_KIND_DECLARATION;
		if (source->rules)
			layout->rules = source->rules(source->arg, type->id);
		layout->wants = wants_of_pointee(layouts, type);
	}
	if (layout->rules)
		layout->wants |= layout->rules->wants;
	if (layout->opaque)
		layout->size = 0;
	else if (!fill_slots(layouts, layout))
		return NULL;
	layout->fixed_size = layout->size && !layout->open_ended
				     ? fixed_size_of(&layouts->priv->source, type)
				     : layout->size;
	if (!enter_layout(layouts, layout))
		return NULL;
	layout->base = layout->index;
	return layout;
}

static struct map_entry *map_slot(struct map_entry *map, uint32_t size, hi_type_id type)
{
	return &map[hi_probe(i, size, type * 2654435761u,
			     !map[i].layout || map[i].type == type)];
}

static bool map_grow(struct hi_layouts *layouts)
{
	uint32_t size = layouts->priv->map_size ? layouts->priv->map_size * 2 : 256;
	struct map_entry *map = hi_calloc(size, sizeof(*map));

	if (!map)
		return false;
	for (uint32_t i = 0; i < layouts->priv->map_size; i++)
		if (layouts->priv->map[i].layout)
			*map_slot(map, size, layouts->priv->map[i].type) =
				layouts->priv->map[i];
	free(layouts->priv->map);
	layouts->priv->map = map;
	layouts->priv->map_size = size;
	return true;
}

static uint32_t index_for(struct hi_layouts *layouts, hi_type_id id)
{
	const struct hi_type *type = hi_type_source_get(&layouts->priv->source, id);
	struct hi_layout *layout;

	switch (type->kind) {
	case HI_KIND_VOID:
	case HI_KIND_UNKNOWN:
		return HI_LAYOUT_NOTHING;
	case HI_KIND_FUNCTION:
		return HI_LAYOUT_FUNCTION;
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
		return HI_LAYOUT_NOTHING; /* hostile */
	layout = make_new_layout(layouts, type, type->name);
	if (!layout) {
		atomic_store(&layouts->priv->failed, true);
		return HI_LAYOUT_NOTHING;
	}
	return layout->index;
}

/* Under the lock. Several ids may stand for one type: it has one layout. */
static uint32_t find_layout(struct hi_layouts *layouts, hi_type_id id)
{
	hi_type_id one = hi_type_source_get(&layouts->priv->source, id)->id;
	struct map_entry *entry;
	uint32_t index;

	if (layouts->priv->map_used * 2 + 2 >= layouts->priv->map_size &&
	    !map_grow(layouts)) {
		atomic_store(&layouts->priv->failed, true);
		return HI_LAYOUT_NOTHING;
	}
	entry = map_slot(layouts->priv->map, layouts->priv->map_size, one ? one : id);
	if (!entry->layout) {
		*entry = (struct map_entry){one ? one : id, index_for(layouts, id)};
		layouts->priv->map_used++;
	}
	index = entry->layout;
	entry = map_slot(layouts->priv->map, layouts->priv->map_size, id);
	if (!entry->layout) {
		*entry = (struct map_entry){id, index};
		layouts->priv->map_used++;
	}
	return index;
}

uint32_t hi_layouts_of(struct hi_layouts *layouts, hi_type_id id)
{
	const struct map_entry *entry = NULL;
	uint32_t index;

	if (!id)
		return HI_LAYOUT_NOTHING;
	pthread_mutex_lock(&layouts->priv->lock);
	if (layouts->priv->map_size)
		entry = map_slot(layouts->priv->map, layouts->priv->map_size, id);
	index = entry && entry->layout ? entry->layout : find_layout(layouts, id);
	pthread_mutex_unlock(&layouts->priv->lock);
	return index;
}

static uint32_t find_named(struct hi_layouts *layouts, const char *name, bool blob)
{
	for (size_t i = 0; i < layouts->priv->named.count; i++) {
		const struct hi_layout *layout =
			hi_layouts_get(layouts, layouts->priv->named.items[i]);

		if (!layout->type && layout->blob == blob &&
		    strcmp(layout->name, name) == 0)
			return layout->index;
	}
	return HI_LAYOUT_NONE;
}

static uint32_t make_named(struct hi_layouts *layouts, const char *name, bool blob)
{
	const char *copy = hi_arena_strdup(&layouts->priv->arena, name);
	struct hi_layout *layout = copy ? make_new_layout(layouts, NULL, copy) : NULL;

	if (!layout || !hi_vector_push(&layouts->priv->named, layout->index)) {
		atomic_store(&layouts->priv->failed, true);
		return HI_LAYOUT_NOTHING;
	}
	layout->blob = blob;
	if (blob) {
		layout->opaque = false;
		layout->klass = HI_TYPE_SCALAR;
	}
	return layout->index;
}

uint32_t hi_layouts_buffer(struct hi_layouts *layouts, const char *name, bool blob)
{
	uint32_t index;

	pthread_mutex_lock(&layouts->priv->lock);
	index = find_named(layouts, name, blob);
	if (!index)
		index = make_named(layouts, name, blob);
	pthread_mutex_unlock(&layouts->priv->lock);
	return index;
}

/* Under the lock. */
static uint32_t find_called(struct hi_layouts *layouts, const struct hi_layout *base,
			    const char *name)
{
	for (size_t i = 0; i < layouts->priv->named.count; i++) {
		const struct hi_layout *layout =
			hi_layouts_get(layouts, layouts->priv->named.items[i]);

		if (layout->called && layout->type == base->type &&
		    strcmp(layout->name, name) == 0)
			return layout->index;
	}
	return HI_LAYOUT_NONE;
}

/* Under the lock. */
static uint32_t make_called(struct hi_layouts *layouts, const struct hi_layout *base,
			    const char *name)
{
	struct hi_layout *layout = hi_arena_alloc(&layouts->priv->arena, sizeof(*layout));
	const char *copy = hi_arena_strdup(&layouts->priv->arena, name);

	if (!layout || !copy)
		return HI_LAYOUT_NOTHING;
	memcpy(layout, base, sizeof(*layout));
	atomic_store(&layout->used, false);
	layout->name = copy;
	layout->called = true;
	if (!enter_layout(layouts, layout))
		return HI_LAYOUT_NOTHING;
	layout->base = layout->index;
	return hi_vector_push(&layouts->priv->named, layout->index) ? layout->index
								    : HI_LAYOUT_NOTHING;
}

uint32_t hi_layouts_called(struct hi_layouts *layouts, uint32_t index, const char *name)
{
	const struct hi_layout *base;

	if (!name || index < HI_LAYOUT_FIRST)
		return index;
	base = hi_layouts_get(layouts, index);
	pthread_mutex_lock(&layouts->priv->lock);
	index = find_called(layouts, base, name);
	if (!index)
		index = make_called(layouts, base, name);
	if (index == HI_LAYOUT_NOTHING)
		atomic_store(&layouts->priv->failed, true);
	pthread_mutex_unlock(&layouts->priv->lock);
	return index;
}

uint32_t hi_layouts_managed(struct hi_layouts *layouts,
			    const struct hi_managed_name *name)
{
	struct hi_layout *layout = NULL;
	const char *text, *module;

	pthread_mutex_lock(&layouts->priv->lock);
	text = hi_arena_strdup(&layouts->priv->arena, name->name);
	module = hi_arena_strdup(&layouts->priv->arena, name->module);
	if (text && module)
		layout = make_new_layout(layouts, NULL, text);
	if (layout) {
		layout->managed = name->number;
		layout->module = module;
		layout->blob = !name->words;
		layout->opaque = name->words;
		layout->klass = name->klass;
	} else {
		atomic_store(&layouts->priv->failed, true);
	}
	pthread_mutex_unlock(&layouts->priv->lock);
	return layout ? layout->index : HI_LAYOUT_NOTHING;
}

uint32_t hi_layouts_named(struct hi_layouts *layouts, const char *name)
{
	return hi_layouts_buffer(layouts, name, false);
}

const struct hi_type_source *hi_layouts_source(const struct hi_layouts *layouts)
{
	return &layouts->priv->source;
}

uint32_t hi_layouts_count(const struct hi_layouts *layouts)
{
	return atomic_load_explicit(&layouts->priv->count, memory_order_acquire);
}

void hi_layouts_renew(struct hi_layouts *layouts)
{
	uint32_t n = hi_layouts_count(layouts);

	for (uint32_t i = HI_LAYOUT_FIRST; i < n; i++) {
		struct hi_layout *layout = hi_layouts_get(layouts, i);

		atomic_store(&layout->used, false);
		layout->graph_type = 0;
	}
	layouts->sizes = (struct hi_block_sizes){};
}

bool hi_layouts_failed(const struct hi_layouts *layouts)
{
	return atomic_load(&layouts->priv->failed);
}

uint32_t hi_layouts_pointee_slow(struct hi_layouts *layouts, struct hi_pointer_slot *slot)
{
	uint32_t layout = hi_layouts_of(layouts, slot->pointee);

	atomic_store_explicit(&slot->layout, layout, memory_order_release);
	return layout;
}

/* ---- refined and contexts ---- */

static uint32_t hash_words(const uint64_t *words, size_t n)
{
	uint64_t h = 0x9e3779b97f4a7c15ull;

	for (size_t i = 0; i < n; i++) {
		h = (h ^ words[i]) * 0xff51afd7ed558ccdull;
		h ^= h >> 32;
	}
	return (uint32_t)h;
}

struct hi_layout_refinement hi_layout_refinement_of(const struct hi_layout *layout)
{
	struct hi_layout_refinement v;

	memset(&v, 0, sizeof(v)); /* users compare bytes */
	v.lead = layout->lead;
	v.first = layout->first;
	v.count = layout->count;
	v.live = layout->live;
	v.context = layout->context;
	v.quiet = layout->quiet;
	v.part = layout->part;
	return v;
}

static uint32_t hash_refinement(uint32_t base, const struct hi_layout_refinement *v)
{
	const uint64_t words[] = {base,		v->lead,    v->first,	  v->count,
				  v->live.kind, v->live.at, v->live.step, v->context,
				  v->quiet,	v->part};

	return hash_words(words, sizeof(words) / sizeof(words[0]));
}

static bool is_refined_so(const struct hi_layout *layout, uint32_t base,
			  const struct hi_layout_refinement *v)
{
	return layout->base == base && layout->lead == v->lead &&
	       layout->first == v->first && layout->count == v->count &&
	       layout->live.kind == v->live.kind && layout->live.at == v->live.at &&
	       layout->live.step == v->live.step && layout->context == v->context &&
	       layout->quiet == v->quiet && layout->part == v->part;
}

static bool grow_refined_layouts(struct hi_layouts *layouts)
{
	struct hi_layouts_private *p = layouts->priv;
	uint32_t size = p->refined_size ? p->refined_size * 2 : 256;
	uint32_t *table = hi_calloc(size, sizeof(*table));

	if (!table)
		return false;
	for (uint32_t k = 0; k < p->refined_size; k++) {
		const struct hi_layout *layout;
		struct hi_layout_refinement v;

		if (!p->refined[k])
			continue;
		layout = hi_layouts_get(layouts, p->refined[k]);
		v = hi_layout_refinement_of(layout);
		table[hi_probe(i, size, hash_refinement(layout->base, &v), !table[i])] =
			layout->index;
	}
	free(p->refined);
	p->refined = table;
	p->refined_size = size;
	return true;
}

static struct hi_layout *make_refined_layout(struct hi_layouts *layouts, uint32_t base,
					     const struct hi_layout_refinement *v)
{
	struct hi_layout *layout = hi_arena_alloc(&layouts->priv->arena, sizeof(*layout));

	if (!layout)
		return NULL;
	memcpy(layout, hi_layouts_get(layouts, base), sizeof(*layout));
	atomic_store(&layout->used, false);
	layout->lead = v->lead;
	layout->first = v->first;
	layout->count = v->count;
	layout->live = v->live;
	layout->quiet = v->quiet;
	layout->part = v->part;
	layout->context = v->context;
	layout->context_values = hi_layouts_context_values(layouts, v->context);
	return enter_layout(layouts, layout) ? layout : NULL;
}

/* Under the lock. */
static uint32_t find_refined_layout(struct hi_layouts *layouts, uint32_t base,
				    const struct hi_layout_refinement *v)
{
	struct hi_layouts_private *p = layouts->priv;
	struct hi_layout *layout;
	uint32_t n;

	if (p->refined_used * 2 >= p->refined_size && !grow_refined_layouts(layouts))
		return HI_LAYOUT_NONE;
	n = hi_probe(
		i, p->refined_size, hash_refinement(base, v),
		!p->refined[i] ||
			is_refined_so(hi_layouts_get(layouts, p->refined[i]), base, v));
	if (p->refined[n])
		return p->refined[n];
	if (p->refined_used >= MAX_REFINED)
		return base;
	layout = make_refined_layout(layouts, base, v);
	if (!layout)
		return HI_LAYOUT_NONE;
	p->refined[n] = layout->index;
	p->refined_used++;
	return layout->index;
}

uint32_t hi_layouts_refine(struct hi_layouts *layouts, uint32_t index,
			   const struct hi_layout_refinement *refinement)
{
	const struct hi_layout *layout = hi_layouts_get(layouts, index);
	uint32_t found;

	if (is_refined_so(hi_layouts_get(layouts, layout->base), layout->base,
			  refinement))
		return layout->base;
	pthread_mutex_lock(&layouts->priv->lock);
	found = find_refined_layout(layouts, layout->base, refinement);
	pthread_mutex_unlock(&layouts->priv->lock);
	if (found != HI_LAYOUT_NONE)
		return found;
	atomic_store(&layouts->priv->failed, true);
	return HI_LAYOUT_NOTHING;
}

static struct context_values *context_at(const struct hi_layouts *layouts, hi_context c)
{
	return &layouts->priv->contexts[c / CONTEXT_LEAF][c % CONTEXT_LEAF];
}

/* Under the lock; context 0 of a failure is harmless: less is known. */
static hi_context find_context(struct hi_layouts *layouts,
			       const uint64_t values[HI_CONTEXT_WORDS])
{
	struct hi_layouts_private *p = layouts->priv;
	size_t size = HI_CONTEXT_WORDS * sizeof(*values);
	uint32_t n = atomic_load(&p->n_contexts);
	struct context_values **leaf = &p->contexts[n / CONTEXT_LEAF];
	uint32_t *bucket =
		&p->context_heads[hash_words(values, HI_CONTEXT_WORDS) % CONTEXT_HEADS];

	for (uint32_t c = *bucket; c; c = context_at(layouts, c)->next)
		if (memcmp(context_at(layouts, c)->values, values, size) == 0)
			return c;
	if (n >= MAX_CONTEXTS - 1)
		return 0;
	if (!*leaf)
		*leaf = hi_arena_alloc(&p->arena, CONTEXT_LEAF * sizeof(**leaf));
	if (!*leaf) {
		atomic_store(&p->failed, true);
		return 0;
	}
	memcpy(context_at(layouts, n)->values, values, size);
	context_at(layouts, n)->next = *bucket;
	*bucket = n;
	atomic_store_explicit(&p->n_contexts, n + 1, memory_order_release);
	return n;
}

hi_context hi_layouts_context(struct hi_layouts *layouts,
			      const uint64_t values[HI_CONTEXT_WORDS])
{
	hi_context found;

	if (!values[HI_CONTEXT_KEYS])
		return 0;
	pthread_mutex_lock(&layouts->priv->lock);
	found = find_context(layouts, values);
	pthread_mutex_unlock(&layouts->priv->lock);
	return found;
}

const uint64_t *hi_layouts_context_values(const struct hi_layouts *layouts,
					  hi_context context)
{
	return context ? context_at(layouts, context)->values : NULL;
}

bool hi_layout_starts_with(struct hi_layouts *layouts, const struct hi_layout *a,
			   const struct hi_layout *b, bool through_unions)
{
	const struct hi_type *type = a->type;

	for (int depth = 0; type && depth < 16; depth++) {
		if (type == b->type)
			return true;
		if (type->kind == HI_KIND_UNION && !through_unions)
			return false;
		if (type->kind == HI_KIND_ARRAY)
			type = hi_type_source_get(&layouts->priv->source, type->target);
		else if (type->n_members && type->members[0].offset == 0)
			type = hi_type_source_get(&layouts->priv->source,
						  type->members[0].type);
		else
			return false;
	}
	return false;
}

enum hi_status hi_layouts_create(struct hi_type_source source, struct hi_layouts **ret,
				 struct hi_error *err)
{
	struct hi_layouts *layouts = hi_calloc(1, sizeof(*layouts));
	struct hi_layouts_private *priv = hi_calloc(1, sizeof(*priv));

	if (!layouts || !priv) {
		free(layouts);
		free(priv);
		return hi_fail_memory(err, "type layouts");
	}
	layouts->priv = priv;
	priv->source = source;
	pthread_mutex_init(&priv->lock, NULL);
	atomic_store(&priv->count, HI_LAYOUT_FIRST);
	atomic_store(&priv->n_contexts, 1);
	*ret = layouts;
	return HI_OK;
}

void hi_layouts_destroy(struct hi_layouts *layouts)
{
	if (!layouts)
		return;
	for (size_t i = 0; i < HI_LAYOUT_LEAVES; i++)
		hi_pages_free(layouts->leaves[i],
			      HI_LAYOUT_LEAF * sizeof(**layouts->leaves));
	free(layouts->priv->map);
	free(layouts->priv->refined);
	hi_vector_free(&layouts->priv->named);
	hi_arena_free(&layouts->priv->arena);
	pthread_mutex_destroy(&layouts->priv->lock);
	free(layouts->priv);
	free(layouts);
}
