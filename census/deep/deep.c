/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks become a graph: see Note [Canonical folding] in deep.h. */
#include "census/deep/deep.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/deep/deep_internal.h"

enum { MOST = 1u << 31 };

static enum hi_status fail_deep(struct hi_error *err)
{
	return hi_fail_memory(err, "deep profile");
}

static uint64_t join_key(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

/* ---- classes ---- */

uint32_t hi_deep_class_of(struct hi_deep *deep, uint32_t node)
{
	struct hi_deep_class *n = deep->nodes.items;

	while (n[node].parent != node)
		node = n[node].parent = n[n[node].parent].parent;
	return node;
}

uint32_t hi_deep_clique_of(struct hi_deep *deep, uint32_t node)
{
	struct hi_deep_class *n = deep->nodes.items;

	while (n[node].clique_parent != node)
		node = n[node].clique_parent = n[n[node].clique_parent].clique_parent;
	return node;
}

static bool want_united(struct hi_deep *d, uint32_t a, uint32_t b)
{
	return hi_vector_push(&d->to_unite, (struct hi_deep_pair){a, b});
}

static bool add_node(struct hi_deep *d, uint32_t function, uint32_t *ret)
{
	uint32_t i = (uint32_t)d->nodes.count;

	*ret = i;
	return hi_vector_push(&d->nodes,
			      (struct hi_deep_class){.parent = i,
						     .clique_parent = i,
						     .function = function,
						     .first_edge = HI_DEEP_NONE,
						     .first_leaf = HI_DEEP_NONE,
						     .first_member = i,
						     .last_member = i,
						     .n_members = 1,
						     .next_member = HI_DEEP_NONE}) &&
	       hi_table_put(&d->node_of, join_key(i, function), i);
}

/* ---- edges and leaves ---- */

static void link_edge(struct hi_deep *d, uint32_t node, uint32_t edge)
{
	struct hi_deep_class *n = &d->nodes.items[node];

	d->edges.items[edge].next = HI_DEEP_NONE;
	if (n->first_edge == HI_DEEP_NONE)
		n->first_edge = edge;
	else
		d->edges.items[n->last_edge].next = edge;
	n->last_edge = edge;
	n->n_out++;
}

static void link_leaf(struct hi_deep *d, uint32_t node, uint32_t leaf)
{
	struct hi_deep_class *n = &d->nodes.items[node];

	d->leaves.items[leaf].next = HI_DEEP_NONE;
	if (n->first_leaf == HI_DEEP_NONE)
		n->first_leaf = leaf;
	else
		d->leaves.items[n->last_leaf].next = leaf;
	n->last_leaf = leaf;
	n->n_out++;
}

/* node: the root of a class. */
static bool need_edge(struct hi_deep *d, uint32_t node, uint32_t target, uint32_t *ret)
{
	uint64_t key = join_key(node, target), found;
	uint32_t callee;

	if (hi_table_get(&d->edge_of, key, &found)) {
		*ret = (uint32_t)found;
		return true;
	}
	*ret = (uint32_t)d->edges.count;
	if (!add_node(d, d->targets.items[target].function, &callee) ||
	    !hi_vector_push(&d->edges,
			    (struct hi_deep_building_edge){.caller = node,
							   .target = target,
							   .callee = callee,
							   .into = HI_DEEP_NONE}) ||
	    !hi_table_put(&d->edge_of, key, *ret))
		return false;
	link_edge(d, node, *ret);
	return true;
}

static bool add_leaf_costs(struct hi_deep *d, uint32_t node, uint32_t site,
			   const struct hi_deep_costs *costs)
{
	uint64_t key = join_key(node, site), found;

	if (!hi_table_get(&d->leaf_of, key, &found)) {
		found = d->leaves.count;
		if (!hi_vector_push(
			    &d->leaves,
			    (struct hi_deep_building_leaf){.node = node, .site = site}) ||
		    !hi_table_put(&d->leaf_of, key, found))
			return false;
		link_leaf(d, node, (uint32_t)found);
	}
	hi_deep_costs_add(&d->leaves.items[found].costs, costs);
	return true;
}

static void add_edge_costs(struct hi_deep *d, uint32_t edge,
			   const struct hi_deep_costs *costs)
{
	while (d->edges.items[edge].into != HI_DEEP_NONE)
		edge = d->edges.items[edge].into;
	hi_deep_costs_add(&d->edges.items[edge].own, costs);
}

/* ---- uniting ---- */

static void append_members(struct hi_deep *d, uint32_t to, uint32_t from)
{
	struct hi_deep_class *a = &d->nodes.items[to], *b = &d->nodes.items[from];

	d->nodes.items[a->last_member].next_member = b->first_member;
	a->last_member = b->last_member;
	a->n_members += b->n_members;
}

/* Property 3: functions that are in both have one node. */
static bool unite_cliques(struct hi_deep *d, uint32_t a, uint32_t b)
{
	uint64_t other;

	a = hi_deep_clique_of(d, a);
	b = hi_deep_clique_of(d, b);
	if (a == b)
		return true;
	if (d->nodes.items[a].n_members < d->nodes.items[b].n_members) {
		uint32_t taken = a;

		a = b;
		b = taken;
	}
	for (uint32_t m = d->nodes.items[b].first_member; m != HI_DEEP_NONE;
	     m = d->nodes.items[m].next_member) {
		uint64_t key = join_key(a, d->nodes.items[m].function);

		if (hi_table_get(&d->node_of, key, &other)
			    ? !want_united(d, m, (uint32_t)other)
			    : !hi_table_put(&d->node_of, key, m))
			return false;
	}
	append_members(d, a, b);
	d->nodes.items[b].clique_parent = a;
	return true;
}

/* Property 1: edges of the same call are one. */
static bool take_edges(struct hi_deep *d, uint32_t to, uint32_t from)
{
	uint32_t next;
	uint64_t other;

	for (uint32_t i = d->nodes.items[from].first_edge; i != HI_DEEP_NONE; i = next) {
		struct hi_deep_building_edge *e = &d->edges.items[i];
		uint64_t key = join_key(to, e->target);

		next = e->next;
		e->caller = to;
		if (!hi_table_get(&d->edge_of, key, &other)) {
			if (!hi_table_put(&d->edge_of, key, i))
				return false;
			link_edge(d, to, i);
			continue;
		}
		e->into = (uint32_t)other;
		hi_deep_costs_add(&d->edges.items[other].own, &e->own);
		if (!want_united(d, e->callee, d->edges.items[other].callee))
			return false;
	}
	return true;
}

static bool take_leaves(struct hi_deep *d, uint32_t to, uint32_t from)
{
	uint32_t next;
	uint64_t other;

	for (uint32_t i = d->nodes.items[from].first_leaf; i != HI_DEEP_NONE; i = next) {
		struct hi_deep_building_leaf *l = &d->leaves.items[i];
		uint64_t key = join_key(to, l->site);

		next = l->next;
		l->node = to;
		if (hi_table_get(&d->leaf_of, key, &other)) {
			l->is_united = true;
			hi_deep_costs_add(&d->leaves.items[other].costs, &l->costs);
			continue;
		}
		if (!hi_table_put(&d->leaf_of, key, i))
			return false;
		link_leaf(d, to, i);
	}
	return true;
}

static bool unite_nodes(struct hi_deep *d, uint32_t a, uint32_t b)
{
	a = hi_deep_class_of(d, a);
	b = hi_deep_class_of(d, b);
	if (a == b)
		return true;
	if (d->nodes.items[a].n_out < d->nodes.items[b].n_out) {
		uint32_t taken = a;

		a = b;
		b = taken;
	}
	d->nodes.items[b].parent = a;
	return unite_cliques(d, a, b) && take_edges(d, a, b) && take_leaves(d, a, b);
}

static bool unite_all(struct hi_deep *d)
{
	while (d->to_unite.count) {
		struct hi_deep_pair pair = d->to_unite.items[--d->to_unite.count];

		if (!unite_nodes(d, pair.a, pair.b))
			return false;
	}
	return true;
}

/* ---- stacks ---- */

static bool number_deep_function(struct hi_deep *d, uint32_t number, uint32_t *ret)
{
	uint64_t found;

	if (!hi_table_get(&d->function_of, number, &found)) {
		found = d->functions.count;
		if (!hi_vector_push(&d->functions,
				    (struct hi_deep_function){.number = number}) ||
		    !hi_table_put(&d->function_of, number, found))
			return false;
	}
	*ret = (uint32_t)found;
	return true;
}

static bool number_target(struct hi_deep *d, uint32_t site, uint32_t function,
			  uint32_t *ret)
{
	uint64_t key = join_key(site, function), found;

	if (!hi_table_get(&d->target_of, key, &found)) {
		found = d->targets.count;
		if (!hi_vector_push(&d->targets,
				    (struct hi_deep_target){site, function}) ||
		    !hi_table_put(&d->target_of, key, found))
			return false;
	}
	*ret = (uint32_t)found;
	return true;
}

/* The stack from this position on is one clique. Each of its nodes but those where a
 * clique begins is in the clique of the one before it. */
static bool close_circle(struct hi_deep *d, uint32_t position)
{
	while (d->begins.items[d->begins.count - 1] > position) {
		uint32_t begin = d->begins.items[--d->begins.count];

		if (!unite_cliques(d, d->stack.items[begin], d->stack.items[begin - 1]))
			return false;
	}
	return true;
}

/* Property 2. The node is the callee of the stack's innermost one. */
static bool push_frame(struct hi_deep *d, uint32_t function, uint32_t node)
{
	struct hi_deep_function *f = &d->functions.items[function];
	uint32_t position = (uint32_t)d->stack.count;

	if (f->stamp == d->stamp)
		return want_united(d, node, f->node) && close_circle(d, f->position) &&
		       unite_all(d) && hi_vector_push(&d->stack, node);
	f->stamp = d->stamp;
	f->node = node;
	f->position = position;
	return hi_vector_push(&d->begins, position) && hi_vector_push(&d->stack, node);
}

static bool begin_stack(struct hi_deep *d)
{
	if (!++d->stamp) {
		for (size_t i = 0; i < d->functions.count; i++)
			d->functions.items[i].stamp = 0;
		d->stamp = 1;
	}
	d->begins.count = d->stack.count = 0;
	return push_frame(d, 0, 0);
}

/* site: of the caller. */
static bool add_frame_call(struct hi_deep *d, uint32_t site,
			   const struct hi_deep_frame *frame, uint32_t *edge_ret)
{
	uint32_t function, target, caller;

	caller = hi_deep_class_of(d, d->stack.items[d->stack.count - 1]);
	return number_deep_function(d, frame->function, &function) &&
	       number_target(d, site, function, &target) &&
	       need_edge(d, caller, target, edge_ret) &&
	       push_frame(d, function, d->edges.items[*edge_ret].callee);
}

static bool is_deep_full(const struct hi_deep *d, size_t n)
{
	return d->nodes.count + n >= MOST || d->functions.count + n >= MOST ||
	       d->leaves.count >= MOST;
}

static enum hi_status fail_deep_limit(struct hi_error *err)
{
	return hi_fail(err, HI_LIMIT, 0, "a deep profile has 2^31 calls at most");
}

enum hi_status hi_deep_add(struct hi_deep *deep, const struct hi_deep_frame *frames,
			   size_t n, const struct hi_deep_costs *costs,
			   struct hi_error *err)
{
	uint32_t edge = 0, node;

	if (is_deep_full(deep, n))
		return fail_deep_limit(err);
	if (!begin_stack(deep))
		return fail_deep(err);
	for (size_t i = 0; i < n; i++)
		if (!add_frame_call(deep, i ? frames[i - 1].site : 0, &frames[i], &edge))
			return fail_deep(err);
	add_edge_costs(deep, edge, costs);
	node = hi_deep_class_of(deep, deep->stack.items[n]);
	return add_leaf_costs(deep, node, frames[n - 1].site, costs) ? HI_OK
								     : fail_deep(err);
}

/* ---- another graph ---- */

/* node_of: by node of the other graph, what it is here; HI_DEEP_NONE: not known yet. */
static bool merge_edge(struct hi_deep *d, const struct hi_deep_graph *other,
		       const struct hi_deep_edge *e, uint32_t *node_of)
{
	uint32_t function, target, edge, caller = hi_deep_class_of(d, node_of[e->caller]);

	if (!number_deep_function(d, other->nodes[e->callee].function, &function) ||
	    !number_target(d, e->site, function, &target) ||
	    !need_edge(d, caller, target, &edge))
		return false;
	if (node_of[e->callee] == HI_DEEP_NONE)
		node_of[e->callee] = d->edges.items[edge].callee;
	else if (!want_united(d, d->edges.items[edge].callee, node_of[e->callee]))
		return false;
	add_edge_costs(d, edge, &e->own);
	return true;
}

/* A node is reached first by an edge of one with a lower number. */
static bool merge_edges(struct hi_deep *d, const struct hi_deep_graph *other,
			uint32_t *node_of)
{
	for (uint32_t i = 0; i < other->n_edges; i++)
		if (!merge_edge(d, other, &other->edges[i], node_of) || !unite_all(d))
			return false;
	for (uint32_t i = 0; i < other->n_cliques; i++) {
		const struct hi_deep_clique *c = &other->cliques[i];
		const uint32_t *members = &other->members[c->first_member];

		for (uint32_t k = 1; k < c->n_members; k++)
			if (!unite_cliques(d, node_of[members[0]], node_of[members[k]]))
				return false;
	}
	return unite_all(d);
}

enum hi_status hi_deep_merge(struct hi_deep *deep, const struct hi_deep_graph *other,
			     struct hi_error *err)
{
	HI_GUARD(free)
	uint32_t *node_of = hi_calloc(other->n_nodes + 1u, sizeof(*node_of));
	bool ok;

	if (is_deep_full(deep, other->n_edges))
		return fail_deep_limit(err);
	if (!node_of)
		return fail_deep(err);
	for (uint32_t i = 1; i < other->n_nodes; i++)
		node_of[i] = HI_DEEP_NONE;
	ok = merge_edges(deep, other, node_of);
	for (uint32_t i = 0; ok && i < other->n_leaves; i++)
		ok = add_leaf_costs(
			deep, hi_deep_class_of(deep, node_of[other->leaves[i].node]),
			other->leaves[i].site, &other->leaves[i].costs);
	return ok ? HI_OK : fail_deep(err);
}

/* ---- all of it ---- */

enum hi_status hi_deep_create(struct hi_deep **ret, struct hi_error *err)
{
	HI_GUARD(hi_deep_destroy) struct hi_deep *d = hi_calloc(1, sizeof(*d));
	uint32_t root;

	if (!d || !number_deep_function(d, 0, &root) || !add_node(d, root, &root))
		return fail_deep(err);
	*ret = hi_take(d);
	return HI_OK;
}

void hi_deep_destroy(struct hi_deep *deep)
{
	if (!deep)
		return;
	hi_vector_free(&deep->nodes);
	hi_vector_free(&deep->edges);
	hi_vector_free(&deep->leaves);
	hi_vector_free(&deep->targets);
	hi_vector_free(&deep->functions);
	hi_table_free(&deep->function_of);
	hi_table_free(&deep->target_of);
	hi_table_free(&deep->edge_of);
	hi_table_free(&deep->leaf_of);
	hi_table_free(&deep->node_of);
	hi_vector_free(&deep->to_unite);
	hi_vector_free(&deep->begins);
	hi_vector_free(&deep->stack);
	free(deep);
}
