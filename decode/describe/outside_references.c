/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/describe/outside_references.h"

#include <string.h>

#include "decode/describe/describe.h"
#include "decode/describe/shown_fields.h"

struct outside_walk {
	struct hi_typing *typing;
	const struct hi_graph *graph;
	struct hi_runtime_cursor *cursor;
	hi_node from;
	uint32_t number;
	hi_outside_reference_fn *fn;
	void *arg;
	struct hi_error *err;
	enum hi_status status;
};

/* hi_runtime_edge_fn */
static bool take_outside_reference(void *arg, const struct hi_runtime_edge *edge)
{
	struct outside_walk *w = arg;
	struct hi_field f = {};
	struct hi_outside_reference ref = {.from = w->from,
					   .number = w->number++,
					   .to = edge->to,
					   .grade = edge->grade};

	hi_node to = hi_objects_find(w->graph->objects, edge->to, NULL);

	if (to == HI_NODE_NONE || hi_graph_address(w->graph, to) != edge->to) {
		w->typing->runtime->ops->label(w->cursor, edge, f.path, sizeof(f.path));
		ref.path = f.path + (f.path[0] == '.');
		w->status = w->fn(w->arg, &ref, w->err);
	}
	return w->status == HI_OK && w->number < HI_SHOWN_FIELDS_MAX;
}

enum hi_status hi_outside_references_each(struct hi_typing *typing,
					  const struct hi_graph *graph,
					  hi_outside_reference_fn *fn, void *arg,
					  struct hi_error *err)
{
	struct outside_walk w = {
		.typing = typing, .graph = graph, .fn = fn, .arg = arg, .err = err};

	if (!typing->runtime)
		return HI_OK;
	w.cursor = hi_runtime_cursor(typing->runtime);
	if (!w.cursor)
		return hi_fail_memory(err, "fields");
	for (w.from = 0; w.from < graph->n_objects && w.status == HI_OK; w.from++) {
		struct hi_node_bytes place;

		if (!hi_node_bytes_of(typing, graph, w.from, &place) || !place.layout ||
		    !place.layout->managed || place.layout->opaque)
			continue;
		w.number = 0;
		typing->runtime->ops->edges(w.cursor, place.address, place.size,
					    place.layout->managed - 1,
					    take_outside_reference, &w);
	}
	hi_runtime_cursor_free(typing->runtime, w.cursor);
	return w.status;
}
