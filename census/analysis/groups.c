/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "census/analysis/field_pattern.h"
#include "census/analysis/groups_internal.h"
#include "census/analysis/nearest_holder.h"

enum {
	SAMPLED = 16,	 /* links that are looked at before a group may have chains */
	SEARCHED = 4096, /* members that are searched for them */
	RUN = 3,	 /* links by one field that make a list */
	RUN_VISITS = 64,
};

static const double dominant_share = 0.7;      /* of a group that one member retains */
static const double variable_share = 1 / 16.0; /* of its module */

/* ---- names ---- */

const char *hi_grouping_exact_name(const struct hi_grouping *gr, hi_node node,
				   const char *text)
{
	const struct hi_graph *g = gr->graph;
	const char *name;
	size_t n;

	if (node < g->first_root || node >= g->first_kind)
		return text;
	name = g->roots[node - g->first_root].name;
	n = strlen(name);
	return strncmp(text, name, n) == 0 ? text + n : text;
}

/* All names of a node's edges, or none (*texts_ret NULL). */
static enum hi_status read_fields(struct hi_grouping *gr, hi_node node,
				  const char *const **texts_ret, struct hi_error *err)
{
	uint32_t n = hi_graph_edges(gr->graph, node).count;
	enum hi_status status;

	*texts_ret = NULL;
	if (!gr->fields || !gr->fields->read || n > SEARCHED || n == 0)
		return HI_OK;
	if (!hi_vector_reserve(&gr->texts, n))
		return hi_fail_memory(err, "groups");
	status = gr->fields->read(gr->fields->arg, node, gr->texts.items, err);
	if (status == HI_OK)
		*texts_ret = gr->texts.items;
	return status;
}

/* ---- lists of groups ---- */

bool hi_group_count(const struct hi_grouping *gr, struct hi_group *group, hi_node at,
		    hi_node holder)
{
	hi_node node = gr->dominators->order[at];
	uint64_t bytes = gr->dominators->retained[node];

	if (!hi_vector_push(&group->at, at))
		return false; /* a new group stays without tops: sorting drops it */
	group->tops++;
	group->count++;
	group->bytes += bytes;
	group->own += hi_group_cost(gr->graph, node);
	if (group->largest == HI_NODE_NONE ||
	    bytes > gr->dominators->retained[group->largest])
		group->largest = node;
	if (group->held == HI_NODE_NONE && holder != HI_NODE_NONE) {
		group->held = node;
		group->holder = holder;
	}
	return true;
}

bool hi_group_list_push(struct hi_group_list *list, uint32_t field, uint32_t type,
			hi_node node)
{
	return hi_vector_push(list, ((struct hi_group){.field = field,
						       .type = type,
						       .node = node,
						       .largest = HI_NODE_NONE,
						       .held = HI_NODE_NONE,
						       .holder = HI_NODE_NONE}));
}

bool hi_group_list_find(struct hi_group_list *list, struct hi_table *index,
			uint32_t field, uint32_t type, uint64_t *ret)
{
	uint64_t key = (uint64_t)field << 32 | type, found;

	if (!hi_table_get(index, key, &found)) {
		found = list->count;
		if (!hi_group_list_push(list, field, type, HI_NODE_NONE) ||
		    !hi_table_put(index, key, found))
			return false;
	}
	*ret = found;
	return true;
}

/* Adds a node to the group of its field and type; makes that. */
static bool add_group_member(struct hi_grouping *gr, struct hi_group_list *list,
			     uint32_t field, hi_node at, hi_node holder)
{
	uint32_t type = hi_group_type(gr->graph, gr->dominators->order[at]);
	uint64_t found;

	return hi_group_list_find(list, &gr->index, field, type, &found) &&
	       hi_group_count(gr, &list->items[found], at, holder);
}

static int compare_groups(const void *a, const void *b)
{
	const struct hi_group *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->at.items[0] < y->at.items[0] ? -1 : x->at.items[0] > y->at.items[0];
}

static void sort_groups(struct hi_group_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i].tops)
			list->items[kept++] = list->items[i];
		else
			hi_vector_free(&list->items[i].at);
	}
	list->count = kept;
	if (kept > 1)
		qsort(list->items, kept, sizeof(*list->items), compare_groups);
}

void hi_group_list_free(struct hi_group_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		hi_vector_free(&list->items[i].at);
	hi_vector_free(list);
}

/* ---- those that no edge of the parent leads to ---- */

bool hi_group_add(const struct hi_grouping *gr, struct hi_group *into,
		  const struct hi_group *from)
{
	const uint64_t *retained = gr->dominators->retained;

	if (!hi_vector_append(&into->at, from->at.items, from->at.count))
		return false;
	into->tops += from->tops;
	into->count += from->count;
	into->bytes += from->bytes;
	into->own += from->own;
	if (into->largest == HI_NODE_NONE ||
	    retained[from->largest] > retained[into->largest])
		into->largest = from->largest;
	return true;
}

static bool merge_groups(const struct hi_grouping *gr, struct hi_group *into,
			 struct hi_group *from)
{
	if (!hi_group_add(gr, into, from))
		return false;
	from->tops = 0;
	from->at.count = 0;
	return true;
}

/* Joins two patterns to their common beginning, up to the end of a member. */
static bool join_patterns(struct hi_grouping *gr, uint32_t a, uint32_t b, uint32_t *ret)
{
	const char *x = hi_grouping_pattern(gr, a), *y = hi_grouping_pattern(gr, b);
	char both[HI_PATTERN_MAX] = "";
	size_t n = 0, end = 0;

	for (; x[n] && x[n] == y[n] && n + 1 < sizeof(both); n++)
		if (x[n] == '.' || x[n] == '[' || (x[n] == '-' && x[n + 1] == '>'))
			end = n;
	if ((!x[n] && (y[n] == '.' || y[n] == '-' || y[n] == '[')) ||
	    (!y[n] && (x[n] == '.' || x[n] == '-' || x[n] == '[')) || (!x[n] && !y[n]))
		end = n;
	memcpy(both, x, end);
	return hi_group_pattern_intern(gr, both, ret);
}

/* Counts, for types that have a group without an edge, the members with an edge, in
 * `edged` by the first group of each type. */
static bool count_edged(struct hi_grouping *gr, const struct hi_group_list *list,
			uint64_t *edged)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct hi_group *group = &list->items[i];
		uint64_t first = i;

		if (group->field == HI_NO_FIELD || group->node != HI_NODE_NONE)
			continue;
		if (!hi_table_get(&gr->index, group->type, &first) &&
		    !hi_table_put(&gr->index, group->type, first))
			return false;
		edged[first] += group->tops;
	}
	return true;
}

/* Does one field alone lead to the type, and to elements of a container? */
static bool are_only_elements(const struct hi_grouping *gr, const struct hi_group *group,
			      uint64_t edged)
{
	const char *pattern = hi_grouping_pattern(gr, group->field);
	size_t n = strlen(pattern);

	return edged == group->tops && n >= 2 &&
	       (strcmp(pattern + n - 2, "[]") == 0 || strcmp(pattern + n - 2, "{}") == 0);
}

/* Note [Groups of siblings] */
static bool join_unheld(struct hi_grouping *gr, struct hi_group_list *list,
			uint64_t *edged, bool *joined)
{
	for (size_t i = 0; i < list->count; i++) {
		struct hi_group *group = &list->items[i];
		uint64_t first;

		if (group->field != HI_NO_FIELD || group->node != HI_NODE_NONE ||
		    !hi_table_get(&gr->index, group->type, &first) ||
		    (group->tops < edged[first] &&
		     !are_only_elements(gr, &list->items[first], edged[first])))
			continue;
		joined[first] = true;
		if (!merge_groups(gr, &list->items[first], group))
			return false;
	}
	for (size_t i = 0; i < list->count; i++) {
		struct hi_group *group = &list->items[i], *into;
		uint64_t first;

		if (!group->tops || group->field == HI_NO_FIELD ||
		    !hi_table_get(&gr->index, group->type, &first) || first == i ||
		    !joined[first])
			continue;
		into = &list->items[first];
		/* No single field leads to them. */
		if (into->field != group->field)
			into->held = into->holder = HI_NODE_NONE;
		if (!join_patterns(gr, into->field, group->field, &into->field) ||
		    !merge_groups(gr, into, group))
			return false;
	}
	return true;
}

static enum hi_status place_unheld(struct hi_grouping *gr, struct hi_group_list *list,
				   struct hi_error *err)
{
	uint64_t *edged = hi_calloc(list->count + 1, sizeof(*edged));
	bool *joined = hi_calloc(list->count + 1, sizeof(*joined));
	bool ok = edged && joined;

	hi_table_free(&gr->index);
	ok = ok && count_edged(gr, list, edged) && join_unheld(gr, list, edged, joined);
	hi_table_free(&gr->index);
	free(edged);
	free(joined);
	return ok ? HI_OK : hi_fail_memory(err, "groups");
}

/* ---- chains ---- */

struct run_step {
	hi_node at;
	uint64_t field; /* hash of the name that led here */
	unsigned run;
};

/* The links of one node to children of its kind, each one step further. */
static enum hi_status follow_links(struct hi_grouping *gr, struct run_step step,
				   struct run_step *stack, size_t *depth, bool *found,
				   struct hi_error *err)
{
	const struct hi_dominators *d = gr->dominators;
	hi_node node = d->order[step.at], end = step.at + d->span[step.at];
	struct hi_edges edges = hi_graph_edges(gr->graph, node);
	const char *const *texts;
	enum hi_status status = read_fields(gr, node, &texts, err);

	if (status != HI_OK || !texts)
		return status;
	for (hi_node c = step.at + 1; c < end; c += d->span[c]) {
		if (!hi_group_kind_is_same(gr->graph, node, d->order[c]))
			continue;
		for (uint32_t i = 0; i < edges.count; i++) {
			struct run_step next = {.at = c};

			if (edges.to[i] != d->order[c] || !hi_field_is_link(texts[i]))
				continue;
			next.field = hi_hash_name(texts[i]);
			next.run = next.field == step.field ? step.run + 1 : 1;
			*found |= next.run >= RUN;
			if (*depth < RUN_VISITS)
				stack[(*depth)++] = next;
			break;
		}
	}
	return HI_OK;
}

/* Does the same field lead three times from the node to one of its kind? */
static enum hi_status find_link_run(struct hi_grouping *gr, hi_node at, bool *found,
				    struct hi_error *err)
{
	struct run_step stack[RUN_VISITS] = {{.at = at}};
	size_t depth = 1;

	*found = false;
	for (unsigned visits = 0; depth && visits < RUN_VISITS && !*found; visits++) {
		enum hi_status status =
			follow_links(gr, stack[--depth], stack, &depth, found, err);

		if (status != HI_OK)
			return status;
	}
	return HI_OK;
}

/* Looks at some links of one member to children of its kind. */
static enum hi_status sample_links(struct hi_grouping *gr, hi_node at, unsigned *n,
				   bool *plain, struct hi_error *err)
{
	const struct hi_dominators *d = gr->dominators;
	hi_node node = d->order[at], end = at + d->span[at], child = at + 1;
	struct hi_edges edges = hi_graph_edges(gr->graph, node);
	const char *const *texts;
	enum hi_status status;

	while (child < end && !hi_group_kind_is_same(gr->graph, node, d->order[child]))
		child += d->span[child];
	if (child >= end)
		return HI_OK;
	status = read_fields(gr, node, &texts, err);
	if (status != HI_OK)
		return status;
	++*n;
	for (uint32_t i = 0; i < edges.count; i++)
		if (edges.to[i] == d->order[child] && edges.grade[i] != HI_GRADE_WEAK &&
		    (!texts || !hi_field_is_link(texts[i])))
			*plain = false;
	return HI_OK;
}

/* May members hang on one another? */
static enum hi_status decide_links(struct hi_grouping *gr, const struct hi_group *group,
				   bool *ret, struct hi_error *err)
{
	unsigned n = 0;
	bool plain = true;

	*ret = false;
	if (!hi_graph_is_object(gr->graph, group->largest) || !gr->fields ||
	    !gr->fields->read)
		return HI_OK;
	if (group->tops == 1)
		return find_link_run(gr, group->at.items[0], ret, err);
	for (size_t i = 0; i < group->at.count && i < SEARCHED && n < SAMPLED && plain;
	     i++) {
		enum hi_status status =
			sample_links(gr, group->at.items[i], &n, &plain, err);

		if (status != HI_OK)
			return status;
	}
	*ret = n && plain;
	return HI_OK;
}

/* ---- a member that is most of its group ---- */

/* The child that may be next in a list: of its kind, with over half of its bytes. */
static hi_node find_next_of_kind(const struct hi_grouping *gr, hi_node at)
{
	const struct hi_dominators *d = gr->dominators;
	hi_node node = d->order[at];

	for (hi_node c = at + 1, end = at + d->span[at]; c < end; c += d->span[c])
		if (hi_group_kind_is_same(gr->graph, node, d->order[c]) &&
		    2 * d->retained[d->order[c]] > d->retained[node])
			return d->order[c];
	return HI_NODE_NONE;
}

/* Is it the first one of a list? Then all of that are members of its group. */
static enum hi_status begins_list(struct hi_grouping *gr, hi_node at, bool *ret,
				  struct hi_error *err)
{
	hi_node node = gr->dominators->order[at], next = find_next_of_kind(gr, at);
	struct hi_edges edges = hi_graph_edges(gr->graph, node);
	const char *const *texts;
	enum hi_status status;

	*ret = false;
	if (next == HI_NODE_NONE)
		return HI_OK;
	status = read_fields(gr, node, &texts, err);
	for (uint32_t i = 0; status == HI_OK && i < edges.count; i++)
		*ret |= edges.to[i] == next && (!texts || hi_field_is_link(texts[i]));
	return status;
}

/* Finds the place of the largest member in the group; SIZE_MAX: it retains less than
 * `least`, or there is no other. */
static enum hi_status find_dominant(struct hi_grouping *gr, const struct hi_group *group,
				    double least, size_t *ret, struct hi_error *err)
{
	const struct hi_dominators *d = gr->dominators;
	enum hi_status status;
	bool is_list;
	size_t i = 0;

	*ret = SIZE_MAX;
	if (group->tops < 2 || group->tops != group->at.count ||
	    (double)d->retained[group->largest] < least)
		return HI_OK;
	while (i < group->at.count && d->order[group->at.items[i]] != group->largest)
		i++;
	if (i == group->at.count)
		return HI_OK;
	status = begins_list(gr, group->at.items[i], &is_list, err);
	if (status == HI_OK && !is_list)
		*ret = i;
	return status;
}

/* An edge of the parent that leads to the node, for its name. */
static void find_holder(const struct hi_grouping *gr, struct hi_group *group,
			hi_node node)
{
	hi_node parent = gr->dominators->idom[node];
	struct hi_edges edges = hi_graph_edges(gr->graph, parent);

	group->held = group->holder = HI_NODE_NONE;
	for (uint32_t i = 0; i < edges.count; i++) {
		if (edges.to[i] != node || edges.grade[i] == HI_GRADE_WEAK)
			continue;
		group->held = node;
		group->holder = parent;
		return;
	}
}

/* Moves the member out of the group, which keeps the others. */
static bool split_off(struct hi_grouping *gr, struct hi_group_list *list, size_t i,
		      size_t member)
{
	const uint64_t *retained = gr->dominators->retained;
	struct hi_group *group;
	hi_node at = list->items[i].at.items[member], node = list->items[i].largest;

	if (!hi_group_list_push(list, list->items[i].field, list->items[i].type,
				HI_NODE_NONE) ||
	    !hi_group_count(gr, &list->items[list->count - 1], at, HI_NODE_NONE))
		return false;
	find_holder(gr, &list->items[list->count - 1], node);
	group = &list->items[i];
	group->at.items[member] = group->at.items[--group->at.count];
	group->tops--;
	group->count--;
	group->bytes -= retained[node];
	group->own -= hi_group_cost(gr->graph, node);
	group->largest = gr->dominators->order[group->at.items[0]];
	for (size_t k = 1; k < group->at.count; k++) {
		hi_node other = gr->dominators->order[group->at.items[k]];

		if (retained[other] > retained[group->largest])
			group->largest = other;
	}
	if (group->held == node)
		find_holder(gr, group, group->largest);
	return true;
}

/* The children of `parent` (HI_NODE_NONE: of several). */
static enum hi_status split_dominant(struct hi_grouping *gr, struct hi_group_list *list,
				     hi_node parent, struct hi_error *err)
{
	uint64_t is_module;
	double least =
		parent != HI_NODE_NONE && hi_table_get(&gr->modules, parent, &is_module)
			? variable_share * (double)gr->dominators->retained[parent]
			: 0;

	/* At most sixteen variables, and one member of any other group. */
	for (size_t i = 0, n = list->count; i < n; i++) {
		double share = dominant_share * (double)list->items[i].bytes;
		size_t member;

		do {
			enum hi_status status = find_dominant(
				gr, &list->items[i], least ? least : share, &member, err);

			if (status != HI_OK)
				return status;
			if (member != SIZE_MAX && !split_off(gr, list, i, member))
				return hi_fail_memory(err, "groups");
		} while (least && member != SIZE_MAX);
	}
	return HI_OK;
}

/* ---- expansion ---- */

enum hi_status hi_grouping_expand(struct hi_grouping *gr, struct hi_group *group,
				  struct hi_group_list *list, struct hi_error *err)
{
	bool has_links, is_forked = false;
	enum hi_status status = decide_links(gr, group, &has_links, err);

	hi_table_free(&gr->index);
	if (status == HI_OK)
		status = hi_group_children_gather(gr, group, has_links, list, &is_forked,
						  err);
	if (status == HI_OK)
		status = place_unheld(gr, list, err);
	/* If groups go by type alone, a member has no name to keep. */
	if (status == HI_OK && (group->tops == 1 || !gr->names_singles))
		status = split_dominant(
			gr, list, group->tops == 1 ? group->largest : HI_NODE_NONE, err);
	hi_table_free(&gr->index);
	group->is_forked = is_forked;
	group->is_list = group->tops == 1 && group->count > 1 && !is_forked;
	sort_groups(list);
	return status;
}

/* ---- the top ---- */

/* Kinds are no owners: what hangs below them is at the top. */
static bool is_top_place(const struct hi_grouping *gr, hi_node node)
{
	hi_node up = gr->dominators->idom[node];

	/* Nearly all have another object above them: look there first. */
	return up != HI_NODE_NONE &&
	       (up >= gr->graph->first_kind || !hi_bit(gr->reach->any, up)) &&
	       node < gr->graph->first_kind && hi_group_child_is_shown(gr, node);
}

const char *hi_grouping_thread_variable(const struct hi_graph *g, hi_node node)
{
	const struct hi_root *root;
	const char *at;

	if (node < g->first_root || node >= g->first_kind)
		return NULL;
	root = &g->roots[node - g->first_root];
	if ((root->kind != HI_ROOT_TLS && root->kind != HI_ROOT_STACK) ||
	    strncmp(root->name, "thread ", 7) != 0)
		return NULL;
	at = root->name + 7;
	while (*at >= '0' && *at <= '9')
		at++;
	return at > root->name + 7 && at[0] == ' ' && at[1] ? at + 1 : NULL;
}

/* A root or a large object for itself, the others by type. */
static bool add_top(struct hi_grouping *gr, struct hi_group_list *list, hi_node at,
		    uint64_t single)
{
	const struct hi_dominators *d = gr->dominators;
	hi_node node = d->order[at];
	const char *variable =
		gr->joins_threads ? hi_grouping_thread_variable(gr->graph, node) : NULL;
	uint32_t field;

	if (variable)
		return hi_group_pattern_intern(gr, variable, &field) &&
		       add_group_member(gr, list, field, at, HI_NODE_NONE);
	if (hi_graph_is_object(gr->graph, node) && d->retained[node] < single)
		return add_group_member(gr, list, HI_NO_FIELD, at, HI_NODE_NONE);
	return hi_group_list_push(list, HI_NO_FIELD, hi_group_type(gr->graph, node),
				  node) &&
	       hi_group_count(gr, &list->items[list->count - 1], at, HI_NODE_NONE);
}

enum hi_status hi_grouping_tops(struct hi_grouping *gr, uint64_t single,
				struct hi_group_list *list, struct hi_error *err)
{
	const struct hi_dominators *d = gr->dominators;
	bool ok = true;

	hi_table_free(&gr->index);
	for (hi_node at = 0; at < d->n_order && ok; at++) {
		if (d->n_order - at > HI_GROUP_AHEAD)
			__builtin_prefetch(&d->idom[d->order[at + HI_GROUP_AHEAD]]);
		if (is_top_place(gr, d->order[at]))
			ok = add_top(gr, list, at, single);
	}
	hi_table_free(&gr->index);
	sort_groups(list);
	return ok ? HI_OK : hi_fail_memory(err, "groups");
}

/* ---- lifetime ---- */

/* Finds the dicts with the variables of modules; a module's object may lead there, too,
 * so that its root does not dominate it. */
static bool find_module_dicts(struct hi_grouping *gr)
{
	const struct hi_graph *g = gr->graph;

	for (uint32_t i = 0; i < g->n_roots; i++) {
		struct hi_edges edges;

		if (hi_nearest_class_of(&g->roots[i]) != HI_NEAREST_MODULES)
			continue;
		edges = hi_graph_edges(g, g->first_root + i);
		for (uint32_t k = 0; k < edges.count; k++)
			if (hi_grade_is_precise(edges.grade[k]) &&
			    !hi_table_put(&gr->modules, edges.to[k], 1))
				return false;
	}
	return true;
}

enum hi_status hi_grouping_init(struct hi_grouping *gr, const struct hi_graph *graph,
				const struct hi_reach *reach,
				const struct hi_dominators *dominators,
				const struct hi_field_reader *fields,
				struct hi_error *err)
{
	uint32_t no_edge;

	*gr = (struct hi_grouping){.graph = graph,
				   .reach = reach,
				   .dominators = dominators,
				   .fields = fields,
				   .most_edges = UINT32_MAX};
	gr->field_of = hi_calloc((size_t)graph->n_nodes + 1, sizeof(*gr->field_of));
	/* Number 0 is HI_NO_FIELD, which no name has: not even "". */
	if (!hi_group_fields_init(gr) || !gr->field_of || !find_module_dicts(gr) ||
	    !hi_group_pattern_intern(gr, "\1", &no_edge))
		return hi_fail_memory(err, "groups");
	gr->patterns.items[no_edge] = "";
	return HI_OK;
}

void hi_grouping_deinit(struct hi_grouping *gr)
{
	hi_group_fields_deinit(gr);
	free(gr->field_of);
	hi_table_free(&gr->modules);
	hi_vector_free(&gr->texts);
	hi_table_free(&gr->index);
	*gr = (struct hi_grouping){};
}
