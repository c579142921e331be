/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Typedefs that are types of their own. Usually a typedef is looked through, but some
 * mean more than what they stand for: `typedef char *sds` is no string that begins where
 * it points. They are few, so their names are compared one by one.
 */
#include "decode/types/types_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum hi_status hi_types_keep_typedef(struct hi_types *types, const char *name,
				     struct hi_error *err)
{
	enum hi_status status = HI_OK;
	char *copy = hi_strdup(name);

	if (!copy)
		return hi_fail_memory(err, "typedef");
	hi_types_lock(types);
	if (!hi_vector_push(&types->kept, copy)) {
		free(copy);
		status = hi_fail_memory(err, "typedef");
	}
	hi_types_unlock(types);
	return status;
}

/* The last part of a qualified name. */
static const char *last_part(const char *name)
{
	const char *last = name, *p;

	for (p = name; (p = strstr(p, "::")) != NULL; last = p)
		p += 2;
	return last;
}

bool hi_type_is_kept(const struct hi_types *types, const struct hi_dw_die *die)
{
	char name[HI_DW_NAME_MAX];

	if (types->kept.count == 0 || !die->name)
		return false;
	for (size_t i = 0; i < types->kept.count; i++) {
		const char *kept = types->kept.items[i];

		if (strcmp(last_part(kept), die->name) != 0)
			continue;
		hi_type_record_name(die, name, sizeof(name));
		if (strcmp(name, kept) == 0)
			return true;
	}
	return false;
}

void hi_type_become_kept(struct hi_types *types, hi_type_id id, hi_type_id of,
			 const struct hi_dw_die *die)
{
	struct hi_type type = *hi_type_get(types, of);
	char name[HI_DW_NAME_MAX];

	hi_type_record_name(die, name, sizeof(name));
	type.name = hi_arena_strdup(&types->arena, name);
	if (type.kind == HI_KIND_UNKNOWN || !type.name) {
		hi_slot_alias(types, id, HI_TYPE_UNKNOWN);
		return;
	}
	type.module = NULL; /* where the typedef is */
	if (type.file[0] == '\0') {
		type.file = hi_dw_file_name(die->unit, die->decl_file);
		type.line = die->decl_line;
	}
	type.layout_hash = hi_dw_hash_name(type.layout_hash, name, strlen(name));
	hi_slot_become(types, id, &type, type.layout_hash);
}
