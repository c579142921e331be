/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strongly connected components of some nodes (Tarjan, with a stack of its own). A node
 * is on a cycle where its component has others, or where it refers to itself.
 */
#include <stdlib.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/vector.h"
#include "decode/inference/cycles.h"

/* By the index in nodes. */
struct state {
	uint32_t order, low; /* order 0: not met; */
	uint32_t edge;	     /* the next one to look at */
	bool on_stack;
};

struct search {
	const struct hi_cycles *of;
	uint8_t *closed;
	struct state *states;
	uint32_t order;
	struct HI_VECTOR(uint32_t) path, stack;
	bool no_memory;
};

static size_t find_index(const struct hi_cycles *of, hi_node node)
{
	return hi_search(i, of->n, of->nodes[i] < node);
}

static void enter_node(struct search *s, uint32_t i)
{
	s->states[i].order = s->states[i].low = ++s->order;
	s->states[i].on_stack = true;
	s->no_memory |= !hi_vector_push(&s->path, i) || !hi_vector_push(&s->stack, i);
}

/* The component whose first node is i, off the stack. */
static void close_component(struct search *s, uint32_t i)
{
	bool several = s->stack.items[s->stack.count - 1] != i;
	uint32_t member;

	do {
		member = s->stack.items[--s->stack.count];
		s->states[member].on_stack = false;
		s->closed[member] |= several;
	} while (member != i);
}

static void leave_node(struct search *s, uint32_t i)
{
	uint32_t above;

	s->path.count--;
	if (s->states[i].low == s->states[i].order)
		close_component(s, i);
	if (!s->path.count)
		return;
	above = s->path.items[s->path.count - 1];
	if (s->states[i].low < s->states[above].low)
		s->states[above].low = s->states[i].low;
}

static void follow_edge(struct search *s, uint32_t i, const struct hi_edges *e,
			uint32_t edge)
{
	uint32_t to;

	if (e->grade[edge] == HI_GRADE_WEAK || !s->of->is_open(s->of->arg, e->to[edge]))
		return;
	to = (uint32_t)find_index(s->of, e->to[edge]);
	if (to == i)
		s->closed[i] = 1;
	else if (!s->states[to].order)
		enter_node(s, to);
	else if (s->states[to].on_stack && s->states[to].order < s->states[i].low)
		s->states[i].low = s->states[to].order;
}

static void search_from(struct search *s, uint32_t start)
{
	enter_node(s, start);
	while (s->path.count && !s->no_memory) {
		uint32_t i = s->path.items[s->path.count - 1];
		struct hi_edges e = hi_graph_edges(s->of->graph, s->of->nodes[i]);

		if (s->states[i].edge < e.count)
			follow_edge(s, i, &e, s->states[i].edge++);
		else
			leave_node(s, i);
	}
}

static bool is_wanted_node(const struct hi_cycles *of, size_t i)
{
	return of->is_open(of->arg, of->nodes[i]) && of->is_wanted(of->arg, of->nodes[i]);
}

bool hi_cycles_through(const struct hi_cycles *of, uint8_t *closed_ret)
{
	struct search s = {.of = of, .closed = closed_ret};

	s.states = hi_calloc(of->n + 1, sizeof(*s.states));
	s.no_memory = !s.states;
	for (uint32_t i = 0; i < of->n && !s.no_memory; i++)
		if (!s.states[i].order && is_wanted_node(of, i))
			search_from(&s, i);
	for (size_t i = 0; i < of->n && !s.no_memory; i++)
		closed_ret[i] &= is_wanted_node(of, i);
	hi_vector_free(&s.path);
	hi_vector_free(&s.stack);
	free(s.states);
	return !s.no_memory;
}
