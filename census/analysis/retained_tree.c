/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/retained_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/analysis/field_pattern.h"

enum { NODES_MOST = 100000, TOP_SHARE = 100 /* of live: an object has its own node */ };

/* Groups in the order of the nodes; each is expanded once. */
struct tree_making {
	struct hi_grouping grouping;
	const struct hi_retained_limits *limits;
	struct hi_retained_tree *tree;
	struct hi_group_list groups; /* by node; empty: ALL, REST */
	struct HI_VECTOR(struct hi_retained_node) nodes;
};

/* Without the indices at its end, if several have it. */
static const char *keep_group_label(struct tree_making *m, const struct hi_group *group)
{
	const char *pattern = hi_grouping_pattern(&m->grouping, group->field);
	char *label = hi_arena_strdup(&m->tree->arena, pattern);

	if (label && group->tops > 1)
		label[hi_field_stem(label)] = 0;
	return label;
}

static bool push_node(struct tree_making *m, const struct hi_retained_node *node,
		      struct hi_group *group)
{
	if (!hi_vector_push(&m->groups, group ? *group : (struct hi_group){}))
		return false;
	if (group)
		group->at = (struct hi_positions){};
	return hi_vector_push(&m->nodes, *node);
}

static bool push_group_node(struct tree_making *m, uint32_t parent,
			    struct hi_group *group)
{
	const struct hi_graph *g = m->grouping.graph;
	struct hi_retained_node node = {.sort = HI_RETAINED_OBJECTS,
					.parent = parent,
					.depth = m->nodes.items[parent].depth + 1,
					.type = group->type,
					.example = group->largest,
					.held = group->held,
					.holder = group->holder,
					.groups = 1,
					.count = group->count,
					.bytes = group->bytes,
					.own = group->own};

	if (!hi_graph_is_object(g, group->largest)) {
		node.sort = HI_RETAINED_ROOT;
		node.label = g->roots[group->largest - g->first_root].name;
	} else {
		node.label = keep_group_label(m, group);
	}
	return node.label && push_node(m, &node, group);
}

/* The exact name of a single child: `["SESSIONS"]`, where the pattern is "[]". */
static enum hi_status name_single(struct tree_making *m, struct hi_retained_node *node,
				  struct hi_error *err)
{
	const struct hi_field_reader *fields = m->grouping.fields;
	struct hi_edges edges;
	char name[512];
	enum hi_status status;

	if (node->count != 1 || node->held == HI_NODE_NONE || !fields || !fields->read ||
	    !strpbrk(node->label, "[{"))
		return HI_OK;
	edges = hi_graph_edges(m->grouping.graph, node->holder);
	if (!hi_vector_reserve(&m->grouping.texts, edges.count))
		return hi_fail_memory(err, "retained tree");
	status = fields->read(fields->arg, node->holder, m->grouping.texts.items, err);
	for (uint32_t i = 0; status == HI_OK && i < edges.count; i++) {
		if (edges.to[i] != node->held || edges.grade[i] == HI_GRADE_WEAK)
			continue;
		hi_field_clean(hi_grouping_exact_name(&m->grouping, node->holder,
						      m->grouping.texts.items[i]),
			       name, sizeof(name));
		node->label = hi_arena_strdup(&m->tree->arena, name);
		return node->label ? HI_OK : hi_fail_memory(err, "retained tree");
	}
	return status;
}

/* Children below the limits are one node, the last. */
static enum hi_status push_rest(struct tree_making *m, uint32_t parent,
				const struct hi_group_list *list, size_t from,
				struct hi_error *err)
{
	struct hi_retained_node rest = {.sort = HI_RETAINED_REST,
					.parent = parent,
					.depth = m->nodes.items[parent].depth + 1,
					.label = "",
					.example = HI_NODE_NONE,
					.held = HI_NODE_NONE,
					.holder = HI_NODE_NONE};

	for (size_t i = from; i < list->count; i++) {
		rest.groups++;
		rest.count += list->items[i].tops;
		rest.bytes += list->items[i].bytes;
	}
	if (!rest.groups)
		return HI_OK;
	rest.own = rest.bytes;
	m->nodes.items[parent].n_children++;
	return push_node(m, &rest, NULL) ? HI_OK : hi_fail_memory(err, "retained tree");
}

/* How many of the sorted children are shown. */
static size_t count_children_shown(const struct tree_making *m, uint32_t parent,
				   const struct hi_group_list *list)
{
	const struct hi_retained_limits *l = m->limits;
	const struct hi_retained_node *node = &m->nodes.items[parent];
	size_t most = l->nodes ? l->nodes : NODES_MOST, n = 0;
	double least = parent ? l->share * (double)node->bytes : 0;

	if (node->depth >= l->depth)
		return 0;
	while (n < list->count && n < (parent ? l->children : l->tops) &&
	       m->nodes.count + n < most &&
	       (!parent || list->items[n].bytes >= l->least) &&
	       (double)list->items[n].bytes >= least)
		n++;
	/* A rest of one is no shorter than that one. */
	if (n && n + 1 == list->count && parent && m->nodes.count + n < most &&
	    list->items[n].bytes >= l->least)
		n++;
	return n;
}

static enum hi_status push_children(struct tree_making *m, uint32_t parent,
				    struct hi_group_list *list, struct hi_error *err)
{
	size_t n = count_children_shown(m, parent, list);

	m->nodes.items[parent].first_child = (uint32_t)m->nodes.count;
	m->nodes.items[parent].n_children = (uint32_t)n;
	for (size_t i = 0; i < n; i++)
		if (!push_group_node(m, parent, &list->items[i]))
			return hi_fail_memory(err, "retained tree");
	return push_rest(m, parent, list, n, err);
}

static enum hi_status grow_node(struct tree_making *m, uint32_t at, struct hi_error *err)
{
	struct hi_group_list list = {};
	struct hi_group *group = &m->groups.items[at];
	struct hi_retained_node *node = &m->nodes.items[at];
	enum hi_status status = hi_grouping_expand(&m->grouping, group, &list, err);

	node->count = group->count;
	node->own = group->own;
	node->is_list = group->is_list;
	hi_vector_free(&group->at);
	if (status == HI_OK)
		status = name_single(m, node, err);
	if (status == HI_OK)
		status = push_children(m, at, &list, err);
	hi_group_list_free(&list);
	return status;
}

/* The list is sorted: they are at its end. */
static void drop_small_tops(struct tree_making *m, struct hi_group_list *list)
{
	while (list->count &&
	       list->items[list->count - 1].bytes < m->limits->tops_least) {
		struct hi_group *group = &list->items[--list->count];

		m->tree->below_groups++;
		m->tree->below_bytes += group->bytes;
		hi_vector_free(&group->at);
	}
}

static enum hi_status grow_top(struct tree_making *m, struct hi_error *err)
{
	const struct hi_reach *reach = m->grouping.reach;
	struct hi_retained_node all = {.sort = HI_RETAINED_ALL,
				       .parent = UINT32_MAX,
				       .label = "",
				       .example = HI_NODE_NONE,
				       .held = HI_NODE_NONE,
				       .holder = HI_NODE_NONE,
				       .groups = 1,
				       .count = reach->live_objects};
	struct hi_group_list list = {};
	enum hi_status status;

	if (!push_node(m, &all, NULL))
		return hi_fail_memory(err, "retained tree");
	status = hi_grouping_tops(&m->grouping, reach->live_bytes / TOP_SHARE + 1, &list,
				  err);
	drop_small_tops(m, &list);
	for (size_t i = 0; i < list.count; i++)
		m->nodes.items[0].bytes += list.items[i].bytes;
	if (status == HI_OK)
		status = push_children(m, 0, &list, err);
	hi_group_list_free(&list);
	return status;
}

enum hi_status hi_retained_tree_make(const struct hi_graph *graph,
				     const struct hi_reach *reach,
				     const struct hi_dominators *dominators,
				     const struct hi_field_reader *fields,
				     const struct hi_retained_limits *limits,
				     struct hi_retained_tree **ret, struct hi_error *err)
{
	HI_GUARD(hi_retained_tree_destroy)
	struct hi_retained_tree *tree = hi_calloc(1, sizeof(*tree));
	struct tree_making m = {.limits = limits, .tree = tree};
	enum hi_status status;

	if (!tree)
		return hi_fail_memory(err, "retained tree");
	status = hi_grouping_init(&m.grouping, graph, reach, dominators, fields, err);
	if (status == HI_OK)
		status = grow_top(&m, err);
	for (uint32_t i = 1; status == HI_OK && i < m.nodes.count; i++)
		if (m.nodes.items[i].sort != HI_RETAINED_REST)
			status = grow_node(&m, i, err);
	hi_grouping_deinit(&m.grouping);
	hi_group_list_free(&m.groups);
	tree->nodes = m.nodes.items;
	tree->count = (uint32_t)m.nodes.count;
	if (status == HI_OK)
		*ret = hi_take(tree);
	return status;
}

void hi_retained_tree_destroy(struct hi_retained_tree *tree)
{
	if (!tree)
		return;
	free(tree->nodes);
	hi_arena_free(&tree->arena);
	free(tree);
}
