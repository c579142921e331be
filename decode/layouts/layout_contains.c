/* SPDX-License-Identifier: BSD-2-Clause */
/* Is there a value of this type inside a value of that one, and does it lead to the same
 * types there? */
#include "base/search.h"
#include "decode/layouts/layout.h"

enum {
	MAX_LOOKS = 256, /* at types, for one question */
	MAX_OPEN = 64,	 /* of them still to be looked at */
	MAX_COVERED = 64,
};

struct search {
	struct hi_layouts *layouts;
	const struct hi_type *wanted;
	struct {
		const struct hi_type *type;
		uint64_t offset; /* in it */
	} open[MAX_OPEN];
	unsigned n_open, looks;
};

static void open_type(struct search *s, hi_type_id id, uint64_t offset)
{
	uint32_t layout = hi_layouts_of(s->layouts, id);
	const struct hi_type *type = layout >= HI_LAYOUT_FIRST
					     ? hi_layouts_get(s->layouts, layout)->type
					     : NULL;

	if (!type || s->n_open == MAX_OPEN)
		return;
	s->open[s->n_open].type = type;
	s->open[s->n_open++].offset = offset;
}

static void open_element(struct search *s, const struct hi_type *array, uint64_t offset)
{
	uint32_t layout = hi_layouts_of(s->layouts, array->target);
	uint64_t size =
		layout >= HI_LAYOUT_FIRST ? hi_layouts_get(s->layouts, layout)->size : 0;

	if (size && (array->flexible || offset < array->size))
		open_type(s, array->target, offset % size);
}

/* In a union all members that start there or before; else the last ones, since a member
 * that follows an empty base starts at the same offset. */
static void open_members(struct search *s, const struct hi_type *type, uint64_t offset)
{
	uint32_t end = hi_search(i, type->n_members, type->members[i].offset <= offset);
	uint64_t start = end ? type->members[end - 1].offset : 0;

	for (uint32_t i = end; i > 0 && s->n_open < MAX_OPEN; i--) {
		const struct hi_member *m = &type->members[i - 1];

		if (m->offset != start && type->kind != HI_KIND_UNION)
			break;
		if (!m->bit_size)
			open_type(s, m->type, offset - m->offset);
	}
}

bool hi_layout_has_at(struct hi_layouts *layouts, const struct hi_layout *layout,
		      uint64_t offset, const struct hi_layout *other)
{
	struct search s = {.layouts = layouts, .wanted = other->type};

	if (layout == other && offset == 0)
		return true;
	if (!layout->type || !other->type)
		return false;
	s.open[s.n_open].type = layout->type;
	s.open[s.n_open++].offset = offset;
	while (s.n_open && s.looks++ < MAX_LOOKS) {
		const struct hi_type *type = s.open[--s.n_open].type;
		uint64_t at = s.open[s.n_open].offset;

		if (type == s.wanted && at == 0)
			return true;
		if (type->kind == HI_KIND_ARRAY)
			open_element(&s, type, at);
		else if (type->kind == HI_KIND_STRUCT || type->kind == HI_KIND_UNION)
			open_members(&s, type, at);
	}
	return false;
}

/* ---- words that lead to the same types ---- */

static bool has_words_of(const struct hi_pointer_slot *a, const struct hi_pointer_slot *b)
{
	uint64_t first;

	if (a->pointee != b->pointee || a->kind != b->kind || b->offset < a->offset ||
	    !a->stride || (b->offset - a->offset) % a->stride ||
	    (b->count > 1 && b->stride != a->stride))
		return false;
	first = (b->offset - a->offset) / a->stride;
	return first < a->count && b->count <= a->count - first;
}

static bool has_slot(const struct hi_pointer_slot *slots, uint32_t n,
		     const struct hi_pointer_slot *slot)
{
	for (uint32_t i = 0; i < n && slots[i].offset <= slot->offset; i++)
		if (has_words_of(&slots[i], slot))
			return true;
	return false;
}

static bool has_slots(const struct hi_pointer_slot *slots, uint32_t n,
		      const struct hi_pointer_slot *wanted, uint32_t n_wanted)
{
	if (n_wanted > MAX_COVERED)
		return false;
	for (uint32_t i = 0; i < n_wanted; i++)
		if (wanted[i].kind == HI_POINTER_SLOT_TYPED &&
		    !has_slot(slots, n < MAX_COVERED ? n : MAX_COVERED, &wanted[i]))
			return false;
	return true;
}

static bool has_rule_site(const struct hi_layout *layout, const struct hi_rule_site *site)
{
	for (uint32_t i = 0; i < layout->n_rule_sites && i < MAX_COVERED; i++) {
		const struct hi_rule_site *own = &layout->rule_sites[i];

		if (own->rules == site->rules && own->offset == site->offset &&
		    own->count >= site->count &&
		    (site->count == 1 || own->stride == site->stride))
			return true;
	}
	return false;
}

bool hi_layout_covers(const struct hi_layout *a, const struct hi_layout *b)
{
	if (a->base == b->base)
		return true;
	if (b->n_rule_sites > MAX_COVERED ||
	    !has_slots(a->slots, a->n_slots, b->slots, b->n_slots) ||
	    !has_slots(a->either, a->n_either, b->either, b->n_either))
		return false;
	for (uint32_t i = 0; i < b->n_rule_sites; i++)
		if (!has_rule_site(a, &b->rule_sites[i]))
			return false;
	return true;
}
