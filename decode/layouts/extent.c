/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/layouts/extent.h"

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
		type = typing->source.types.type(typing->source.types.arg, last->type);
	}
	return false;
}

/* NULL: no type, or only a name. */
static const struct hi_plan *plan_of(const struct hi_typing *typing,
				     const struct hi_graph *graph, hi_node node)
{
	uint32_t index = hi_typing_plan_of(typing, node);

	(void)graph;
	return index >= HI_PLAN_FIRST ? hi_plans_get(typing->plans, index) : NULL;
}

/* As many elements as somebody said. The header before them is in use, too,
 * unless dead elements lie between. */
static void counted_extent(const struct hi_plan *plan, uint64_t usable,
			   struct hi_extent *e)
{
	hi_plan_extent(plan, true, usable, &e->start, &e->end);
	if (plan->first == 0) {
		e->start = 0;
		e->lead = plan->lead;
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
	const struct hi_plan *plan = plan_of(typing, graph, node);
	uint64_t usable = hi_object_usable(graph->objects, node), used;
	struct hi_extent e = {.end = usable};
	bool array = graph->objects->flags[node] & HI_OBJECT_ARRAY;

	if (!plan || plan->size == 0 || plan->opaque)
		return e;
	if (hi_plan_count_is_said(plan)) {
		counted_extent(plan, usable, &e);
		return e;
	}
	if (plan->open_ended || plan->blob || plan->lead > usable ||
	    plan->size > usable - plan->lead)
		return e;
	e.lead = plan->lead;
	used = array ? usable - (usable - plan->lead) % plan->size
		     : plan->lead + plan->size;
	if (used < usable && ends_open(typing, plan->type))
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

uint64_t hi_typing_text_size(const struct hi_typing *typing, const struct hi_graph *graph,
			     hi_node node, const uint8_t *bytes, uint64_t size)
{
	const struct hi_plan *plan = plan_of(typing, graph, node);
	bool is_chars = plan && plan->klass == HI_TYPE_STRING;
	uint64_t length;

	if ((plan && !is_chars) || !hi_looks_like_text(bytes, size))
		return 0;
	length = strnlen((const char *)bytes, size) + 1;
	return is_chars || length >= UNTYPED_TEXT_MIN ? length : 0;
}
