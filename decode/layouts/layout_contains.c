/* SPDX-License-Identifier: BSD-2-Clause */
/* Is there a value of this type inside a value of that one? */
#include "base/search.h"
#include "decode/layouts/layout.h"

enum {
	MAX_LOOKS = 256, /* at types, for one question */
	MAX_OPEN = 64,	 /* of them still to be looked at */
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
