/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/inference/extent.h"

#include <string.h>

#include "decode/inference/typing_state.h"

/* A pointer may look like a text of up to 7 bytes. */
enum { UNTYPED_TEXT_MIN = 9, NESTING_MAX = 16 };

/* Has the record's last member (or that one's last, …) no length? */
static bool ends_open(const struct hi_typing *typing, const struct hi_type *type)
{
	for (unsigned i = 0; type && i < NESTING_MAX; i++) {
		const struct hi_member *last;

		if (type->kind == HI_KIND_ARRAY)
			return type->flexible;
		if (type->kind != HI_KIND_STRUCT || type->n_members == 0)
			return false;
		last = &type->members[type->n_members - 1];
		type = hi_type_source_get(&typing->source.types, last->type);
	}
	return false;
}

/* NULL: no type, or only a name. */
static const struct hi_layout *layout_of_node(const struct hi_typing *typing,
					      hi_node node)
{
	uint32_t index = hi_typing_layout_of(typing, node);

	return index >= HI_LAYOUT_FIRST ? hi_layouts_get(typing->layouts, index) : NULL;
}

/* The known number of elements. The header before them is in use, too, unless dead
 * elements lie between. */
static void counted_extent(const struct hi_layout *layout, uint64_t usable,
			   struct hi_extent *e)
{
	hi_layout_extent(layout, true, usable, &e->start, &e->end);
	if (layout->first == 0) {
		e->start = 0;
		e->lead = layout->lead;
	}
	if (e->end > usable)
		e->end = usable;
	if (e->start > e->end)
		e->start = e->end;
	if (e->lead > e->end)
		e->lead = e->end;
	e->is_known = e->is_counted = true;
}

struct hi_extent hi_typing_extent(const struct hi_typing *typing,
				  const struct hi_graph *graph, hi_node node)
{
	const struct hi_layout *layout = layout_of_node(typing, node);
	uint64_t usable = hi_object_usable(graph->objects, node), used;
	struct hi_extent e = {.end = usable};
	bool array = graph->objects->flags[node] & HI_OBJECT_ARRAY;

	if (!layout || layout->size == 0 || layout->opaque)
		return e;
	if (hi_layout_has_count(layout)) {
		counted_extent(layout, usable, &e);
		return e;
	}
	if (layout->open_ended || layout->blob || layout->lead > usable ||
	    layout->size > usable - layout->lead)
		return e;
	e.lead = layout->lead;
	used = array ? usable - (usable - layout->lead) % layout->size
		     : layout->lead + layout->size;
	if (used < usable && ends_open(typing, layout->type))
		return e;
	e.end = used;
	e.is_known = true;
	return e;
}

uint64_t hi_typing_live_bytes(const struct hi_typing *typing,
			      const struct hi_graph *graph, hi_node node)
{
	struct hi_extent e = hi_typing_extent(typing, graph, node);

	return e.end - e.start;
}

uint64_t hi_typing_text_size(const struct hi_typing *typing, hi_node node,
			     const uint8_t *bytes, uint64_t size)
{
	const struct hi_layout *layout = layout_of_node(typing, node);
	bool is_chars = layout && layout->klass == HI_TYPE_STRING;
	uint64_t length;

	if ((layout && !is_chars) || !hi_looks_like_text(bytes, size))
		return 0;
	length = strnlen((const char *)bytes, size) + 1;
	return is_chars || length >= UNTYPED_TEXT_MIN ? length : 0;
}
