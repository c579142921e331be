/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tarjan's strongly connected components, iterative, with the memory of
 * Pearce's variant: one array holds, in turn, 0 (not visited), the low link
 * (counted up from 1) and the component (counted down from the top). Low links
 * are given back as components complete, so that the two never meet, and a
 * completed component is larger than any low link: min() ignores it.
 * Components complete sinks first, which is the numbering that analysis.h
 * promises.
 */
#include <string.h>

#include "base/cleanup.h"
#include "census/analysis/analysis.h"
#include "census/analysis/walk_internal.h"

#define OUTSIDE UINT32_MAX
#define FIRST_DONE (UINT32_MAX - 1)

struct frame { /* one node of the path at hand */
	hi_node node;
	uint32_t next_edge, index;
};

struct tarjan {
	const struct hi_graph *graph;
	uint32_t *state;      /* per node, see above */
	struct frame *frames; /* the path */
	size_t depth;
	hi_node *open; /* visited nodes of components that are not complete */
	size_t n_open;
	uint32_t next_index, n_done;
};

static size_t component_size(const struct hi_scc *scc)
{
	return (size_t)scc->n_nodes * sizeof(*scc->component);
}

void hi_scc_destroy(struct hi_scc *scc)
{
	if (!scc)
		return;
	hi_pages_free(scc->component, component_size(scc));
	free(scc);
}

static void enter_component_node(struct tarjan *t, hi_node node)
{
	t->state[node] = t->next_index;
	t->frames[t->depth++] = (struct frame){node, 0, t->next_index++};
	t->open[t->n_open++] = node;
}

/* The component of node, which has no way up: everything open since it. */
static void complete_component(struct tarjan *t, hi_node node)
{
	uint32_t done = FIRST_DONE - t->n_done++;
	hi_node member;

	do {
		member = t->open[--t->n_open];
		t->state[member] = done;
		t->next_index--;
	} while (member != node);
}

static void leave_component_node(struct tarjan *t)
{
	struct frame top = t->frames[--t->depth];
	uint32_t low = t->state[top.node], *above;

	if (low == top.index)
		complete_component(t, top.node);
	if (!t->depth)
		return;
	above = &t->state[t->frames[t->depth - 1].node];
	if (t->state[top.node] < *above)
		*above = t->state[top.node];
}

static void visit_component_from(struct tarjan *t, hi_node start)
{
	enter_component_node(t, start);
	while (t->depth) {
		struct frame *top = &t->frames[t->depth - 1];
		struct hi_edges edges = hi_graph_edges(t->graph, top->node);
		uint32_t low = t->state[top->node], e = top->next_edge;
		hi_node found = HI_NODE_NONE;

		for (; e < edges.count && found == HI_NODE_NONE; e++) {
			uint32_t state = t->state[edges.to[e]];

			if (edges.grade[e] == HI_GRADE_WEAK)
				continue;
			if (state == 0)
				found = edges.to[e];
			else if (state < low)
				low = state;
		}
		t->state[top->node] = low;
		top->next_edge = e;
		if (found != HI_NODE_NONE)
			enter_component_node(t, found);
		else
			leave_component_node(t);
	}
}

static void find_all_components(struct tarjan *t, const uint64_t *within)
{
	const struct hi_graph *g = t->graph;

	for (hi_node i = 0; within && i < g->n_nodes; i++)
		if (!hi_bit(within, i))
			t->state[i] = OUTSIDE;
	for (hi_node i = 0; i < g->n_nodes; i++)
		if (t->state[i] == 0)
			visit_component_from(t, i);
	for (hi_node i = 0; i < g->n_nodes; i++)
		if (t->state[i] != OUTSIDE)
			t->state[i] = FIRST_DONE - t->state[i];
}

enum hi_status hi_scc_compute(const struct hi_graph *g, const uint64_t *within,
			      struct hi_scc **ret, struct hi_error *err)
{
	HI_GUARD(hi_scc_destroy) struct hi_scc *scc = hi_calloc(1, sizeof(*scc));
	size_t n = g->n_nodes;
	struct tarjan t = {.graph = g, .next_index = 1};

	if (!scc)
		return hi_fail_memory(err, "components");
	scc->n_nodes = g->n_nodes;
	t.state = scc->component = hi_pages_alloc(component_size(scc));
	t.frames = hi_pages_alloc(n * sizeof(*t.frames));
	t.open = hi_pages_alloc(n * sizeof(*t.open));
	if (t.state && t.frames && t.open) {
		find_all_components(&t, within);
		scc->count = t.n_done;
		*ret = hi_take(scc);
	}
	hi_pages_free(t.frames, n * sizeof(*t.frames));
	hi_pages_free(t.open, n * sizeof(*t.open));
	return scc ? hi_fail_memory(err, "components") : HI_OK;
}
