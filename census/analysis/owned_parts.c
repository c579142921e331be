/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/owned_parts.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/analysis/walk_internal.h"

/* A part of a part of a part; deeper ones stay by themselves. */
enum { PARTS_DEEP = 4 };

bool hi_is_part_type(const char *name)
{
	static const char *const names[] = {
		"dict keys",	     "instance values",	 "list items",	"set table",
		"deque block",	     "OrderedDict node", "str data",	"buffer data",
		"OrderedDict table", "code lines",	 "code cache",	"type text",
		"ndarray shape",     "ndarray data",	 "module state"};

	for (size_t i = 0; name && i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

struct part_search {
	const struct hi_graph *graph;
	const struct hi_reach *reach;
	bool *is_part; /* by type */
	hi_node *owners;
};

/* The array of a vector, the text of a string; a node of a list is no buffer. */
static bool is_container_buffer(const struct hi_graph *g, hi_node i)
{
	uint8_t klass = g->types[hi_type_of(g, i)].klass;

	return g->objects->flags[i] & HI_OBJECT_ARRAY || klass == HI_TYPE_STRING ||
	       klass == HI_TYPE_ARRAY || klass == HI_TYPE_POINTER_ARRAY;
}

static bool is_runtime_object(const struct hi_graph *g, hi_node i)
{
	return (g->objects->flags[i] & HI_OBJECT_EVIDENCE_MASK) == HI_EVIDENCE_RUNTIME;
}

static bool is_part_of_object(const struct part_search *s, hi_node i)
{
	switch (s->graph->objects->flags[i] & HI_OBJECT_EVIDENCE_MASK) {
	case HI_EVIDENCE_RUNTIME:
		return s->is_part[hi_type_of(s->graph, i)];
	case HI_EVIDENCE_CONTAINER:
		return is_container_buffer(s->graph, i);
	default:
		return false;
	}
}

/* HI_NODE_NONE as the owner: nothing refers to it yet. Itself: more than one does. */
static void note_referrer(struct part_search *s, hi_node from)
{
	const struct hi_graph *g = s->graph;
	struct hi_edges edges = hi_graph_edges(g, from);

	for (uint32_t e = 0; e < edges.count; e++) {
		hi_node to = edges.to[e];

		if (!hi_graph_is_object(g, to) || !hi_grade_is_precise(edges.grade[e]) ||
		    to == from || !is_part_of_object(s, to))
			continue;
		if (s->owners[to] == HI_NODE_NONE && hi_graph_is_object(g, from))
			s->owners[to] = from;
		else if (s->owners[to] != from)
			s->owners[to] = to;
	}
}

static hi_node owner_of_part(const struct part_search *s, hi_node part)
{
	hi_node at = part;

	for (unsigned i = 0; i < PARTS_DEEP; i++) {
		hi_node up = s->owners[at];

		if (up == HI_NODE_NONE || up == at)
			/* Objects in an array that is held elsewhere are the array's. */
			return is_runtime_object(s->graph, at) && is_part_of_object(s, at)
				       ? part
				       : at;
		at = up;
	}
	return part;
}

static void find_owners(struct part_search *s)
{
	const struct hi_graph *g = s->graph;

	for (hi_node i = 0; i < g->n_objects; i++)
		s->owners[i] = is_part_of_object(s, i) ? HI_NODE_NONE : i;
	for (hi_node i = 0; i < g->first_kind; i++)
		if (hi_bit(s->reach->any, i))
			note_referrer(s, i);
}

hi_node *hi_part_owners(const struct hi_graph *g, const struct hi_reach *reach)
{
	HI_GUARD(free) bool *types = hi_calloc((size_t)g->n_types + 1, sizeof(*types));
	HI_GUARD(free)
	hi_node *direct = hi_alloc(((size_t)g->n_objects + 1) * sizeof(*direct));
	hi_node *ret = hi_alloc(((size_t)g->n_objects + 1) * sizeof(*ret));
	struct part_search s = {
		.graph = g, .reach = reach, .is_part = types, .owners = direct};

	if (!types || !direct || !ret) {
		free(ret);
		return NULL;
	}
	for (uint32_t i = 0; i < g->n_types; i++)
		types[i] = hi_is_part_type(g->types[i].name);
	find_owners(&s);
	for (hi_node i = 0; i < g->n_objects; i++)
		ret[i] = owner_of_part(&s, i);
	return ret;
}
