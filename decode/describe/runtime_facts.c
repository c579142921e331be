/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/describe/runtime_facts.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "decode/inference/typing_state.h"

struct hi_facts {
	struct hi_typing *typing;
	const struct hi_graph *graph;
	struct hi_runtime_cursor *cursor;
};

struct hi_facts *hi_facts_open(struct hi_typing *typing, const struct hi_graph *graph)
{
	struct hi_facts *f;

	if (!typing || !typing->runtime || !typing->runtime->ops->facts)
		return NULL;
	f = hi_calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	*f = (struct hi_facts){typing, graph, hi_runtime_cursor(typing->runtime)};
	if (f->cursor)
		return f;
	free(f);
	return NULL;
}

void hi_facts_close(struct hi_facts *facts)
{
	if (!facts)
		return;
	hi_runtime_cursor_free(facts->typing->runtime, facts->cursor);
	free(facts);
}

bool hi_facts_read(struct hi_facts *facts, hi_node node, struct hi_runtime_facts *ret)
{
	const struct hi_objects *objects;
	const struct hi_layout *layout;
	uint32_t index;

	if (!facts || node >= facts->graph->n_objects)
		return false;
	objects = facts->graph->objects;
	index = hi_typing_layout_of(facts->typing, node);
	layout = index >= HI_LAYOUT_FIRST ? hi_layouts_get(facts->typing->layouts, index)
					  : NULL;
	return layout && layout->managed && !layout->opaque &&
	       facts->typing->runtime->ops->facts(
		       facts->cursor, hi_objects_address(objects, node),
		       hi_objects_usable(objects, node), layout->managed - 1, ret);
}
