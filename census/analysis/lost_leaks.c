/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/lost_leaks.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/table.h"
#include "base/vector.h"
#include "census/analysis/compare_internal.h"
#include "census/analysis/leak_totals.h"

struct lost_search {
	const struct hi_heap_side *before, *after;
	uint64_t *paths; /* by node of before */
	struct hi_table index;
	struct HI_VECTOR(struct hi_lost_group) groups;
};

static uint32_t type_of_node(const struct hi_graph *g, hi_node node)
{
	return hi_graph_is_object(g, node) ? g->objects->type[node] : 0;
}

static uint64_t hash_step(uint64_t hash, uint64_t step)
{
	return hi_hash_more(hash, &step, sizeof(step));
}

/* From the variables down: a dominator comes before what it dominates. */
static void hash_paths(struct lost_search *s)
{
	const struct hi_graph *g = s->before->graph;
	const struct hi_dominators *d = s->before->dominators;

	for (hi_node i = 0; i < d->n_order; i++) {
		hi_node node = d->order[i], up = d->idom[node];
		uint32_t type = type_of_node(g, node);

		if (!hi_graph_is_object(g, node))
			s->paths[node] = hash_step(0, node + 1ull);
		else if (up == HI_NODE_NONE)
			s->paths[node] = hash_step(0, type);
		else if (hi_graph_is_object(g, up) && type_of_node(g, up) == type)
			s->paths[node] = s->paths[up];
		else
			s->paths[node] = hash_step(s->paths[up], type);
	}
}

/* The live object with a type that it was; HI_NODE_NONE: none. */
static hi_node find_earlier_object(const struct lost_search *s, hi_node object)
{
	const struct hi_graph *b = s->before->graph, *a = s->after->graph;
	uint32_t now = a->objects->type[object];
	uint64_t offset = 0;
	hi_node was = hi_objects_find(b->objects, hi_objects_address(a->objects, object),
				      &offset);

	if (was == HI_NODE_NONE || offset || hi_is_internal(b, was) ||
	    !b->objects->type[was] || !hi_bit(s->before->reach->any, was) ||
	    hi_objects_usable(b->objects, was) != hi_objects_usable(a->objects, object))
		return HI_NODE_NONE;
	if (now && strcmp(hi_graph_type_name(a, now),
			  hi_graph_type_name(b, b->objects->type[was])) != 0)
		return HI_NODE_NONE;
	return hi_compare_is_reused(s->before, s->after, was, object) ? HI_NODE_NONE
								      : was;
}

static bool add_lost_object(struct lost_search *s, hi_node object, hi_node was,
			    bool is_likely)
{
	const struct hi_graph *a = s->after->graph;
	uint64_t cost = hi_graph_cost(a, object), found;
	uint32_t type = s->before->graph->objects->type[was];
	uint64_t key = hash_step(s->paths[was], type) >> 1;
	struct hi_lost_group *group;

	if (!hi_table_get(&s->index, key, &found)) {
		found = s->groups.count;
		if (!hi_table_put(&s->index, key, found) ||
		    !hi_vector_push(&s->groups,
				    ((struct hi_lost_group){.path = s->paths[was],
							    .type = type,
							    .before = was,
							    .after = object})))
			return false;
	}
	group = &s->groups.items[found];
	hi_heap_total_add(&group->all, cost);
	if (is_likely)
		hi_heap_total_add(&group->likely, cost);
	return true;
}

static int compare_lost_groups(const void *a, const void *b)
{
	const struct hi_lost_group *x = a, *y = b;

	if (x->all.bytes != y->all.bytes)
		return x->all.bytes > y->all.bytes ? -1 : 1;
	return x->after < y->after ? -1 : x->after > y->after;
}

static bool search_lost_objects(struct lost_search *s, struct hi_heap_total *all)
{
	const struct hi_graph *a = s->after->graph;

	for (hi_node i = 0; i < a->n_objects; i++) {
		enum hi_leak_kind kind;
		hi_node was;

		if (hi_bit(s->after->reach->any, i) || hi_is_internal(a, i) ||
		    (s->after->only && !hi_bit(s->after->only, i)))
			continue;
		kind = hi_leak_kind_of(a, s->after->reach, i);
		if (kind == HI_LEAK_GARBAGE)
			continue;
		was = find_earlier_object(s, i);
		if (was == HI_NODE_NONE)
			continue;
		if (!add_lost_object(s, i, was, kind == HI_LEAK_LIKELY))
			return false;
		hi_heap_total_add(all, hi_graph_cost(a, i));
	}
	return true;
}

enum hi_status hi_lost_find(const struct hi_heap_side *before,
			    const struct hi_heap_side *after, struct hi_lost *ret,
			    struct hi_error *err)
{
	HI_GUARD(free)
	uint64_t *paths = hi_calloc((size_t)before->graph->n_nodes + 1, sizeof(*paths));
	struct lost_search s = {.before = before, .after = after, .paths = paths};
	struct hi_lost lost = {};
	bool ok = paths != NULL;

	if (ok) {
		hash_paths(&s);
		ok = search_lost_objects(&s, &lost.all);
	}
	hi_table_free(&s.index);
	if (!ok) {
		hi_vector_free(&s.groups);
		return hi_fail_memory(err, "leaks");
	}
	if (s.groups.count > 1)
		qsort(s.groups.items, s.groups.count, sizeof(*s.groups.items),
		      compare_lost_groups);
	lost.groups = s.groups.items;
	lost.n_groups = s.groups.count;
	*ret = lost;
	return HI_OK;
}

void hi_lost_free(struct hi_lost *lost)
{
	free(lost->groups);
	*lost = (struct hi_lost){};
}

size_t hi_lost_holder(const struct hi_graph *g, const hi_node *path, size_t n)
{
	for (size_t i = 1; i + 1 < n; i++)
		if (hi_graph_is_object(g, path[i]) &&
		    hi_graph_is_object(g, path[i + 1]) && type_of_node(g, path[i]) &&
		    type_of_node(g, path[i]) == type_of_node(g, path[i + 1]))
			return i;
	return n > 1 ? n - 1 : 1;
}
