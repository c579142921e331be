/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Type slots] A hi_type_id is the number of a slot. A slot stands for one DIE and
 * is empty until its type is asked for: members and pointees are slots that are not
 * loaded. Loading reads the DIE and makes a key of it (name, kind, size, layout); the
 * first slot with a key keeps the type, every later one becomes an alias of it. So the
 * same struct out of a hundred units has a hundred slots but one hi_type, whose id is
 * that of the first slot loaded: hi_type_get(id)->id is the canonical id, and the one to
 * compare.
 */
#include "decode/types/types_internal.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"

void hi_types_lock(struct hi_types *types)
{
	hi_modules_lock(types->modules);
}

void hi_types_unlock(struct hi_types *types)
{
	hi_modules_unlock(types->modules);
}

void hi_types_close_files(struct hi_type_module *module)
{
	for (size_t i = 0; i < module->n_files; i++)
		hi_dw_file_close(module->files[i]);
	free(module->files);
	free(module->shown);
	hi_type_index_free(&module->index);
	*module = (struct hi_type_module){};
}

struct hi_modules *hi_types_modules(struct hi_types *types)
{
	return types->modules;
}

void hi_types_renew(struct hi_types *types)
{
	struct hi_types_companion companion = types->companion;

	types->companion = (struct hi_types_companion){};
	if (companion.data)
		companion.destroy(companion.data);
}

void hi_types_close(struct hi_types *types)
{
	if (!types)
		return;
	for (size_t i = 0; i < types->n_items; i++)
		hi_types_close_files(&types->items[i]);
	free(types->items);
	hi_vtable_cache_free(types->vtables);
	hi_types_renew(types);
	for (size_t i = 0; i < HI_SLOT_CHUNKS; i++)
		free(atomic_load(&types->chunks[i]));
	for (size_t i = 0; i < types->kept.count; i++)
		free(types->kept.items[i]);
	hi_vector_free(&types->kept);
	hi_vector_free(&types->records.places);
	free(types->by_die);
	free(types->by_key);
	free(types->keys);
	hi_arena_free(&types->arena);
	free(types);
}

HI_DEFINE_GUARD(struct hi_types *, hi_types_close)

enum hi_status hi_types_open(struct hi_modules *modules, struct hi_types **ret,
			     struct hi_error *err)
{
	HI_GUARD(hi_types_close) struct hi_types *types = hi_calloc(1, sizeof(*types));

	if (!types)
		return hi_fail_memory(err, "types");
	types->modules = modules;
	types->items = hi_calloc(hi_modules_count(modules) + HI_SIDE_FILES_MAX,
				 sizeof(*types->items));
	if (!types->items)
		return hi_fail_memory(err, "types");
	types->n_items = hi_modules_count(modules);
	for (size_t i = 0; i < types->n_items; i++)
		types->items[i].module = hi_modules_get(modules, i);
	if (!hi_slot_init(types) || !hi_vtable_cache_init(types))
		return hi_fail_memory(err, "types");
	*ret = hi_take(types);
	return HI_OK;
}

struct hi_types_stats hi_types_stats(const struct hi_types *types)
{
	struct hi_types_stats stats = types->stats;

	stats.types = types->types_made;
	stats.broken += atomic_load(&types->broken);
	for (size_t i = 0; i < types->n_items; i++) {
		const struct hi_type_module *module = &types->items[i];

		for (size_t k = 0; k < module->n_files; k++) {
			const struct hi_dw_file *file = module->files[k];

			stats.units_total += file->units.count;
			stats.bytes_dwarf += file->sections[HI_DW_INFO].size +
					     file->sections[HI_DW_TYPES].size;
			stats.broken += atomic_load(&file->broken);
			for (size_t u = 0; u < file->units.count; u++)
				stats.units_read += file->units.items[u].abbrevs.valid;
		}
	}
	return stats;
}

const struct hi_type *hi_type_get(struct hi_types *types, hi_type_id id)
{
	struct hi_type_slot *slot = NULL;
	struct hi_type *type;

	if (id < atomic_load_explicit(&types->n_slots, memory_order_acquire))
		slot = hi_slot_at(types, id);
	if (!slot)
		slot = hi_slot_at(types, HI_TYPE_UNKNOWN);
	type = atomic_load_explicit(&slot->type, memory_order_acquire);
	if (type)
		return type;
	hi_types_lock(types);
	hi_type_load(types, id);
	type = atomic_load_explicit(&slot->type, memory_order_acquire);
	if (!type) /* it needs itself: an outer call is loading it */
		type = atomic_load(&hi_slot_at(types, HI_TYPE_UNKNOWN)->type);
	hi_types_unlock(types);
	return type;
}

struct hi_dw_ref hi_types_ref(const struct hi_type_module *module, hi_die_ref ref)
{
	uint64_t file = ref >> 48;

	if (file >= module->n_files)
		return (struct hi_dw_ref){};
	return (struct hi_dw_ref){module->files[file], ref & (HI_DIE_TYPES - 1),
				  (ref & HI_DIE_TYPES) != 0};
}
