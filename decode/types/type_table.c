/* SPDX-License-Identifier: BSD-2-Clause */
/* Slots of types; see Note [Type slots] in types_open.c. */
#include "decode/types/types_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/text.h"

struct hi_type_slot *hi_slot_at(struct hi_types *types, hi_type_id id)
{
	struct hi_type_slot *chunk =
		atomic_load_explicit(&types->chunks[id / HI_SLOT_CHUNK % HI_SLOT_CHUNKS],
				     memory_order_acquire);

	return chunk ? &chunk[id % HI_SLOT_CHUNK] : NULL;
}

/* A new empty slot; 0 when out of memory or ids. */
static hi_type_id add_slot(struct hi_types *types)
{
	uint32_t id = atomic_load(&types->n_slots);
	struct hi_type_slot *chunk;

	if (id / HI_SLOT_CHUNK >= HI_SLOT_CHUNKS)
		return HI_TYPE_UNKNOWN;
	if (!atomic_load(&types->chunks[id / HI_SLOT_CHUNK])) {
		chunk = hi_calloc(HI_SLOT_CHUNK, sizeof(*chunk));
		if (!chunk)
			return HI_TYPE_UNKNOWN;
		atomic_store_explicit(&types->chunks[id / HI_SLOT_CHUNK], chunk,
				      memory_order_release);
	}
	atomic_store_explicit(&types->n_slots, id + 1, memory_order_release);
	return id;
}

static uint64_t mix_type_keys(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15ull)) * 0xff51afd7ed558ccdull;

	return h ^ h >> 32;
}

static uint64_t hash_die(const struct hi_dw_ref *die)
{
	return mix_type_keys(mix_type_keys((uintptr_t)die->file, die->offset),
			     die->in_types);
}

static bool same_die(const struct hi_dw_ref *a, const struct hi_dw_ref *b)
{
	return a->file == b->file && a->offset == b->offset && a->in_types == b->in_types;
}

/* ---- by DIE ---- */

static bool grow_by_die(struct hi_types *types)
{
	size_t n = types->n_by_die ? types->n_by_die * 2 : 4096;
	uint32_t *table = hi_calloc(n, sizeof(*table));

	if (!table)
		return false;
	for (size_t k = 0; k < types->n_by_die; k++) {
		uint32_t id = types->by_die[k];

		if (id)
			table[hi_probe(i, n, hash_die(&hi_slot_at(types, id)->die),
				       !table[i])] = id;
	}
	free(types->by_die);
	types->by_die = table;
	types->n_by_die = n;
	return true;
}

hi_type_id hi_slot_of_die(struct hi_types *types, uint32_t module, struct hi_dw_ref die)
{
	hi_type_id id;
	size_t at;

	if (!die.file)
		return HI_TYPE_VOID;
	if (types->used_by_die * 2 >= types->n_by_die && !grow_by_die(types))
		return HI_TYPE_UNKNOWN;
	at = hi_probe(i, types->n_by_die, hash_die(&die),
		      !types->by_die[i] ||
			      same_die(&hi_slot_at(types, types->by_die[i])->die, &die));
	if (types->by_die[at])
		return types->by_die[at];
	id = add_slot(types);
	if (id == HI_TYPE_UNKNOWN)
		return id;
	*hi_slot_at(types, id) = (struct hi_type_slot){.die = die, .module = module};
	types->by_die[at] = id;
	types->used_by_die++;
	return id;
}

/* ---- by key ---- */

static bool grow_by_key(struct hi_types *types)
{
	size_t n = types->n_by_key ? types->n_by_key * 2 : 1024;
	uint32_t *table = hi_calloc(n, sizeof(*table));
	uint64_t *keys = hi_calloc(n, sizeof(*keys));

	if (!table || !keys) {
		free(table);
		free(keys);
		return false;
	}
	for (size_t k = 0; k < types->n_by_key; k++) {
		size_t at;

		if (types->by_key[k] == 0)
			continue;
		at = hi_probe(i, n, types->keys[k], !table[i]);
		table[at] = types->by_key[k];
		keys[at] = types->keys[k];
	}
	free(types->by_key);
	free(types->keys);
	types->by_key = table;
	types->keys = keys;
	types->n_by_key = n;
	return true;
}

static size_t probe_key(const struct hi_types *types, uint64_t key)
{
	return hi_probe(i, types->n_by_key, key,
			!types->by_key[i] || types->keys[i] == key);
}

/* The slot with this key, else `id` is entered for it. */
static hi_type_id enter_key(struct hi_types *types, uint64_t key, hi_type_id id)
{
	size_t at;

	if (types->used_by_key * 2 >= types->n_by_key && !grow_by_key(types))
		return id; /* no sharing then */
	at = probe_key(types, key);
	if (types->by_key[at])
		return types->by_key[at];
	types->by_key[at] = id;
	types->keys[at] = key;
	types->used_by_key++;
	return id;
}

static hi_type_id find_type_by_key(const struct hi_types *types, uint64_t key)
{
	return types->n_by_key ? types->by_key[probe_key(types, key)] : 0;
}

static void publish_type(struct hi_type_slot *slot, struct hi_type *type)
{
	slot->state = HI_SLOT_READY;
	atomic_store_explicit(&slot->type, type, memory_order_release);
}

void hi_slot_alias(struct hi_types *types, hi_type_id id, hi_type_id same)
{
	struct hi_type *type = atomic_load(&hi_slot_at(types, same)->type);

	if (!type) /* a cycle: the other one is being loaded */
		type = atomic_load(&hi_slot_at(types, HI_TYPE_UNKNOWN)->type);
	publish_type(hi_slot_at(types, id), type);
}

void hi_slot_become(struct hi_types *types, hi_type_id id, const struct hi_type *type,
		    uint64_t key)
{
	hi_type_id same = enter_key(types, key, id);
	struct hi_type *copy;

	if (same != id) {
		hi_slot_alias(types, id, same);
		return;
	}
	copy = hi_arena_alloc(&types->arena, sizeof(*copy));
	if (!copy) {
		hi_slot_alias(types, id, HI_TYPE_UNKNOWN);
		return;
	}
	*copy = *type;
	copy->id = id;
	if (!copy->module)
		copy->module =
			hi_slot_at(types, id)->die.file
				? types->items[hi_slot_at(types, id)->module].module->name
				: "";
	types->types_made++;
	publish_type(hi_slot_at(types, id), copy);
}

hi_type_id hi_slot_of_type(struct hi_types *types, const struct hi_type *type,
			   uint64_t key)
{
	hi_type_id id = find_type_by_key(types, key);

	if (id)
		return id;
	id = add_slot(types);
	if (id == HI_TYPE_UNKNOWN)
		return id;
	hi_slot_become(types, id, type, key);
	return id;
}

bool hi_slot_init(struct hi_types *types)
{
	static const struct hi_type unknown = {.name = "?", .file = "", .module = ""};
	static const struct hi_type nothing = {
		.kind = HI_KIND_VOID, .name = "void", .file = ""};
	struct hi_type *type = hi_arena_alloc(&types->arena, sizeof(*type));

	/* Slot 0 first: everything that fails becomes it. */
	if (!type || add_slot(types) != 0 || !hi_slot_at(types, 0))
		return false;
	*type = unknown;
	publish_type(hi_slot_at(types, 0), type);
	return hi_slot_of_type(types, &nothing, mix_type_keys(1, 1)) == HI_TYPE_VOID;
}

/* ---- types made of others ---- */

/* "int" -> "int [4]"; "int [4]" (an array of it) -> "int [2][4]". */
static const char *array_name(struct hi_types *types, const struct hi_type *element,
			      uint64_t count, bool flexible)
{
	const char *dims =
		element->kind == HI_KIND_ARRAY ? strchr(element->name, '[') : NULL;
	size_t n = dims ? (size_t)(dims - element->name) : strlen(element->name);
	bool star = n > 0 && (element->name[n - 1] == '*' || dims);
	char number[24] = "";

	if (!flexible)
		snprintf(number, sizeof(number), "%llu", (unsigned long long)count);
	return hi_arena_printf(&types->arena, "%.*s%s[%s]%s", (int)(n > 4000 ? 4000 : n),
			       element->name, star ? "" : " ", number, dims ? dims : "");
}

hi_type_id hi_type_array_of(struct hi_types *types, hi_type_id id, uint64_t count,
			    bool flexible)
{
	const struct hi_type *element = hi_type_get(types, id);
	uint64_t key = mix_type_keys(
		mix_type_keys(mix_type_keys(0x5b5d, element->id), count), flexible);
	struct hi_type type = {.kind = HI_KIND_ARRAY,
			       .target = element->id,
			       .count = count,
			       .flexible = flexible,
			       .file = "",
			       .module = element->module};
	hi_type_id known = find_type_by_key(types, key);

	if (known)
		return known;
	if (element->size > 0 && count > HI_TYPE_SIZE_MAX / element->size) {
		atomic_fetch_add(&types->broken, 1);
		return HI_TYPE_UNKNOWN;
	}
	type.size = element->size * count;
	type.name = array_name(types, element, count, flexible);
	type.layout_hash = key;
	if (!type.name)
		return HI_TYPE_UNKNOWN;
	return hi_slot_of_type(types, &type, key);
}

uint64_t hi_type_identity(const char *bare_name, uint64_t size, uint32_t line)
{
	uint64_t h = hi_type_hash_part(0, bare_name, strlen(bare_name));

	return mix_type_keys(mix_type_keys(h, size), line);
}

uint64_t hi_type_pointer_key(const char *bare_name, uint64_t identity)
{
	return mix_type_keys(
		mix_type_keys(0x2a, hi_type_hash_part(0, bare_name, strlen(bare_name))),
		identity);
}

/* Must be what type_read.c makes of a pointer DIE to the same type. */
hi_type_id hi_types_pointer_to(struct hi_types *types, hi_type_id id)
{
	const struct hi_type *target = hi_type_get(types, id), *end = target;
	struct hi_type type = {.kind = HI_KIND_POINTER,
			       .size = 8,
			       .target = target->id,
			       .file = "",
			       .module = target->module};
	uint64_t identity = 0;
	hi_type_id ret = HI_TYPE_UNKNOWN;
	char name[HI_DW_NAME_MAX];
	size_t n;

	for (unsigned i = 0; i < 64 && end->kind == HI_KIND_POINTER; i++)
		end = hi_type_get(types, end->target);
	if (end->kind == HI_KIND_STRUCT || end->kind == HI_KIND_UNION)
		identity =
			hi_type_identity(hi_type_bare(end->name), end->size, end->line);
	hi_types_lock(types);
	n = strlen(target->name);
	snprintf(name, sizeof(name), "%.4000s%s*", target->name,
		 n && target->name[n - 1] == '*' ? "" : " ");
	type.layout_hash = hi_type_pointer_key(hi_type_bare(name), identity);
	ret = find_type_by_key(types, type.layout_hash);
	if (!ret) {
		type.name = hi_arena_strdup(&types->arena, name);
		if (type.name)
			ret = hi_slot_of_type(types, &type, type.layout_hash);
	}
	hi_types_unlock(types);
	return ret ? hi_type_get(types, ret)->id : ret;
}
