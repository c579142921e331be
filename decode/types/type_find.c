/* SPDX-License-Identifier: BSD-2-Clause */
/* A type by its readable name: "struct conn", "ns::Map<int>", "client **". */
#include "decode/types/types_internal.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

static bool kind_fits(const char *name, enum hi_index_kind kind)
{
	if (strncmp(name, "struct ", 7) == 0 || strncmp(name, "class ", 6) == 0)
		return kind == HI_INDEX_RECORD;
	if (strncmp(name, "union ", 6) == 0)
		return kind == HI_INDEX_UNION;
	if (strncmp(name, "enum ", 5) == 0)
		return kind == HI_INDEX_ENUM;
	return true;
}

static hi_type_id find_in(struct hi_types *types, struct hi_module *module,
			  const char *name)
{
	struct hi_type_module *item = hi_types_indexed(types, module);
	const struct hi_index_type *found, *best = NULL;
	size_t n = 0;

	if (!item)
		return HI_TYPE_UNKNOWN;
	found = hi_type_index_find(&item->index, hi_type_hash_qualified(name), &n);
	/* Records first, then the first one in the file. */
	for (size_t i = 0; i < n; i++) {
		if (!kind_fits(name, found[i].size_kind & 15))
			continue;
		if (!best || (found[i].size_kind & 15) < (best->size_kind & 15) ||
		    ((found[i].size_kind & 15) == (best->size_kind & 15) &&
		     found[i].die < best->die))
			best = &found[i];
	}
	if (!best)
		return HI_TYPE_UNKNOWN;
	return hi_type_get(types, hi_slot_of_die(types, (uint32_t)hi_module_index(module),
						 hi_types_ref(item, best->die)))
		->id;
}

static hi_type_id find_anywhere(struct hi_types *types, const char *name)
{
	struct hi_module *exe = hi_modules_executable(types->modules);
	hi_type_id id = exe ? find_in(types, exe, name) : HI_TYPE_UNKNOWN;

	for (size_t i = 0; i < types->n_items && !id; i++)
		if (types->items[i].module != exe)
			id = find_in(types, types->items[i].module, name);
	return id;
}

enum hi_status hi_types_find(struct hi_types *types, const char *name, hi_type_id *ret,
			     struct hi_error *err)
{
	HI_GUARD(free) char *base = hi_strdup(name);
	size_t n, stars = 0;
	hi_type_id id;

	if (!base)
		return hi_fail_memory(err, "name of a type");
	for (n = strlen(base); n > 0 && (base[n - 1] == '*' || base[n - 1] == ' '); n--) {
		stars += base[n - 1] == '*';
		base[n - 1] = '\0';
	}
	hi_types_lock(types);
	id = strcmp(base, "void") == 0 ? HI_TYPE_VOID : find_anywhere(types, base);
	hi_types_unlock(types);
	if (id == HI_TYPE_UNKNOWN)
		return hi_fail(err, HI_NOT_FOUND, 0, "no type %s", name);
	while (stars-- > 0)
		id = hi_types_pointer_to(types, id);
	*ret = id;
	return HI_OK;
}

bool hi_types_has(struct hi_types *types, const char *name, uint64_t max_dwarf)
{
	bool found = false;

	hi_types_lock(types);
	for (size_t i = 0; i < types->n_items && !found; i++) {
		struct hi_module *module = types->items[i].module;

		found = hi_types_dwarf_size(types, module) <= max_dwarf &&
			find_in(types, module, name) != HI_TYPE_UNKNOWN;
	}
	hi_types_unlock(types);
	return found;
}

hi_type_id hi_types_record_named(struct hi_types *types, struct hi_module *first,
				 const char *name)
{
	hi_type_id id = first ? find_in(types, first, name) : HI_TYPE_UNKNOWN;

	if (!id)
		id = find_anywhere(types, name);
	return id && hi_type_get(types, id)->kind == HI_KIND_STRUCT ? id
								    : HI_TYPE_UNKNOWN;
}
