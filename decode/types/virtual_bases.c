/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Virtual bases]
 *
 * The debug information has no offset of a virtual base: it depends on the class of the
 * whole object, and its code finds it through the object's vtable. If that class is
 * known, it follows from how compilers place them (Itanium C++ ABI 2.4 III): after all
 * other members, in the order in which a walk through the bases, depth first, meets them.
 * A virtual base that has nothing but a vtable may lie where its class does, and the end
 * of a base may be used for what follows. So several ways are tried, and one counts only
 * if the object then has just its size.
 *
 * As a base of another class, a class is without its virtual bases: it is a type of its
 * own, the part of it, with the same name.
 *
 * If no way gives the size, the members of virtual bases may be pointers nevertheless:
 * words of the record that no other member covers become words of unknown use
 * (type_read.c).
 */
#include "decode/types/virtual_bases.h"

#include <string.h>

enum { WAYS = 8, TIGHT = 1, LOW_ALIGNMENT = 2, EMPTY_TAKES_SPACE = 4 };

static bool is_virtual_part(const struct hi_member *m)
{
	return m->is_base && m->is_virtual;
}

bool hi_type_has_virtual_base(const struct hi_type *type)
{
	for (uint32_t i = 0; i < type->n_members; i++)
		if (is_virtual_part(&type->members[i]))
			return true;
	return false;
}

/* One past the last byte of the members before the virtual bases. */
static uint64_t end_of_members(struct hi_types *types, const struct hi_member *members,
			       size_t n)
{
	uint64_t end = 0;

	for (size_t i = 0; i < n; i++) {
		const struct hi_member *m = &members[i];
		uint64_t size = m->bit_size ? (m->bit_offset + m->bit_size + 7u) / 8
					    : hi_type_get(types, m->type)->size;

		/* A base without members takes no space. */
		if (m->is_base && !hi_type_get(types, m->type)->n_members)
			continue;
		if (!is_virtual_part(m) && m->offset + size > end)
			end = m->offset + size;
	}
	return end;
}

hi_type_id hi_type_base_part(struct hi_types *types, hi_type_id id)
{
	const struct hi_type *whole = hi_type_get(types, id);
	struct hi_type part = *whole;
	struct hi_member *members;

	if (!hi_type_has_virtual_base(whole))
		return id;
	members = hi_arena_alloc(&types->arena, whole->n_members * sizeof(*members));
	if (!members)
		return HI_TYPE_UNKNOWN;
	part.n_members = 0;
	for (uint32_t i = 0; i < whole->n_members; i++)
		if (!is_virtual_part(&whole->members[i]))
			members[part.n_members++] = whole->members[i];
	part.members = members;
	part.size = end_of_members(types, members, part.n_members);
	part.layout_hash = whole->layout_hash * 0x9e3779b97f4a7c15ull + part.size;
	return hi_slot_of_type(types, &part, part.layout_hash);
}

/* ---- the order ---- */

static bool add_virtual_base(struct hi_types *types, struct hi_virtual_bases *bases,
			     hi_type_id id)
{
	hi_type_id part = hi_type_base_part(types, id);

	for (size_t i = 0; i < bases->order.count; i++)
		if (hi_type_get(types, bases->order.items[i])->id ==
		    hi_type_get(types, part)->id)
			return true;
	return hi_vector_push(&bases->order, part);
}

bool hi_virtual_bases_add(struct hi_types *types, struct hi_virtual_bases *bases,
			  hi_type_id base, bool is_virtual)
{
	const struct hi_type *type = hi_type_get(types, base);

	if (is_virtual && !add_virtual_base(types, bases, base))
		return false;
	for (uint32_t i = 0; i < type->n_members; i++)
		if (is_virtual_part(&type->members[i]) &&
		    !add_virtual_base(types, bases, type->members[i].type))
			return false;
	return true;
}

/* ---- the places ---- */

static uint64_t align_place(uint64_t offset, uint64_t alignment)
{
	return (offset + alignment - 1) / alignment * alignment;
}

/* A size is a multiple of the alignment. */
static uint64_t alignment_of_base(const struct hi_type *type, unsigned way)
{
	uint64_t low = type->size & -type->size;

	if (type->has_vtable)
		return 8;
	if (way & LOW_ALIGNMENT && low > 4)
		low = 4;
	return low > 8 ? 8 : low ? low : 1;
}

/* Sets offsets of the bases; the end. */
static uint64_t place_bases(struct hi_types *types, const struct hi_virtual_bases *bases,
			    uint64_t end, unsigned way, uint64_t *offsets)
{
	for (size_t i = 0; i < bases->order.count; i++) {
		const struct hi_type *type = hi_type_get(types, bases->order.items[i]);
		uint64_t size = type->size;

		offsets[i] = 0;
		if (!type->n_members ||
		    (type->has_vtable && type->size == 8 && !(way & EMPTY_TAKES_SPACE)))
			continue;
		if (way & TIGHT)
			size = end_of_members(types, type->members, type->n_members);
		offsets[i] = align_place(end, alignment_of_base(type, way));
		end = offsets[i] + size;
	}
	return end;
}

bool hi_virtual_bases_place(struct hi_types *types, struct hi_virtual_bases *bases,
			    const struct hi_member *members, size_t n, uint64_t size,
			    struct hi_member *ret)
{
	uint64_t offsets[HI_VIRTUAL_BASES_MAX], end = end_of_members(types, members, n);
	size_t count = bases->order.count;
	unsigned way = 0;

	if (count > HI_VIRTUAL_BASES_MAX)
		return false;
	while (way < WAYS &&
	       align_place(place_bases(types, bases, end, way, offsets), 8) != size)
		way++;
	if (way == WAYS)
		return false;
	for (size_t i = 0; i < count; i++)
		ret[i] = (struct hi_member){.name = "",
					    .offset = offsets[i],
					    .type = bases->order.items[i],
					    .is_base = true,
					    .is_virtual = true};
	return true;
}
