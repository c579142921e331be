/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/layouts/record_parts.h"

#include <string.h>

enum { MAX_DEPTH = 16, MAX_MEMBERS = 64, MAX_TODO = 64, MAX_WALK = 4096 };

static bool is_same_member(const struct hi_type_source *types, const struct hi_member *a,
			   const struct hi_member *b)
{
	return a->offset == b->offset && a->bit_size == b->bit_size &&
	       a->bit_offset == b->bit_offset && strcmp(a->name, b->name) == 0 &&
	       hi_type_source_get(types, a->type)->id ==
		       hi_type_source_get(types, b->type)->id;
}

/* Has the header a pointer to headers? A record that has it too is one of a list of them.
 */
static bool leads_to_itself(const struct hi_type_source *types,
			    const struct hi_type *header)
{
	for (uint32_t i = 0; i < header->n_members; i++) {
		const struct hi_type *type =
			hi_type_source_get(types, header->members[i].type);

		if (type->kind == HI_KIND_POINTER &&
		    hi_type_source_get(types, type->target)->id == header->id)
			return true;
	}
	return false;
}

static bool begins_alike(const struct hi_type_source *types, const struct hi_type *record,
			 const struct hi_type *header)
{
	if (record->kind != HI_KIND_STRUCT || record->n_members < header->n_members)
		return false;
	/* Two records with the very same members are seldom meant for each other. */
	if (record->n_members == header->n_members && !leads_to_itself(types, header))
		return false;
	for (uint32_t i = 0; i < header->n_members; i++)
		if (!is_same_member(types, &record->members[i], &header->members[i]))
			return false;
	return true;
}

bool hi_record_has_header(const struct hi_type_source *types,
			  const struct hi_type *record, const struct hi_type *header)
{
	if (header->kind != HI_KIND_STRUCT || header->n_members > MAX_MEMBERS ||
	    !header->n_members || record == header)
		return false;
	for (unsigned depth = 0; depth < MAX_DEPTH; depth++) {
		if (begins_alike(types, record, header))
			return true;
		if (record->kind != HI_KIND_STRUCT || !record->n_members ||
		    record->members[0].offset || record->members[0].bit_size)
			return false;
		record = hi_type_source_get(types, record->members[0].type);
	}
	return false;
}

struct within {
	const struct hi_type *type;
	uint64_t offset;
};

bool hi_record_has_at(const struct hi_type_source *types, const struct hi_type *record,
		      const struct hi_type *type, uint64_t offset)
{
	struct within todo[MAX_TODO] = {{record, offset}};
	unsigned n = 1, walked = 0;

	while (n && walked++ < MAX_WALK) {
		struct within at = todo[--n];

		if (at.type == type && at.offset == 0)
			return true;
		if (at.type->kind == HI_KIND_ARRAY) {
			const struct hi_type *element =
				hi_type_source_get(types, at.type->target);

			if (element->size && at.offset < at.type->size)
				todo[n++] = (struct within){element,
							    at.offset % element->size};
			continue;
		}
		for (uint32_t i = 0; i < at.type->n_members && n < MAX_TODO; i++) {
			const struct hi_member *m = &at.type->members[i];
			const struct hi_type *t = hi_type_source_get(types, m->type);

			if (!m->bit_size && at.offset >= m->offset &&
			    at.offset - m->offset < t->size)
				todo[n++] = (struct within){t, at.offset - m->offset};
		}
	}
	return false;
}
