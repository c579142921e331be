/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts each name where its root starts; set_flow.c computes the sets. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "census/analysis/walk_internal.h"
#include "census/retainers/bins.h"
#include "census/retainers/set_table_internal.h"

static bool put_variable(struct hi_set_flow *flow, hi_node variable, uint32_t ref)
{
	struct hi_edges edges = hi_graph_edges(flow->graph, variable);

	for (uint32_t e = 0; e < edges.count; e++)
		if (hi_set_flow_follows(flow, true, edges.to[e], edges.grade[e]) &&
		    !hi_set_flow_put(flow, edges.to[e], ref))
			return false;
	return true;
}

static bool put_root(struct hi_set_flow *flow, const struct hi_bin_root *root,
		     uint32_t *missed)
{
	const struct hi_graph *g = flow->graph;
	uint32_t ref = hi_set_singleton(flow->pool, root->identity);
	bool ok = ref;

	for (size_t i = 0; ok && i < root->n_nodes; i++)
		ok = hi_graph_is_object(g, root->nodes[i])
			     ? hi_set_flow_put(flow, root->nodes[i], ref)
			     : put_variable(flow, root->nodes[i], ref);
	for (size_t i = 0; ok && i < root->n_addresses; i++) {
		hi_node object = hi_objects_find(g->objects, root->addresses[i], NULL);

		if (object == HI_NODE_NONE)
			++*missed;
		else
			ok = hi_set_flow_put(flow, object, ref);
	}
	return ok;
}

static bool put_named_roots(struct hi_set_flow *flow, const struct hi_bin_options *o,
			    struct hi_bins *bins)
{
	bins->missed = hi_calloc(o->n_roots + 1, sizeof(*bins->missed));
	if (!bins->missed)
		return false;
	for (size_t i = 0; i < o->n_roots; i++)
		if (!put_root(flow, &o->roots[i], &bins->missed[i]))
			return false;
	return true;
}

static enum hi_status check_bin_roots(const struct hi_graph *g,
				      const struct hi_bin_options *o,
				      struct hi_error *err)
{
	for (size_t i = 0; i < o->n_roots; i++) {
		if (!o->roots[i].identity)
			return hi_fail(err, HI_USAGE, 0,
				       "sharing sharing bins: root %zu has no identity",
				       i);
		for (size_t k = 0; k < o->roots[i].n_nodes; k++)
			if (o->roots[i].nodes[k] >= g->first_kind)
				return hi_fail(err, HI_USAGE, 0,
					       "sharing bins: root %zu has no start node",
					       i);
	}
	return HI_OK;
}

/* The objects that have no bin. */
static void count_unreached_rows(const struct hi_graph *g, const struct hi_reach *reach,
				 const struct hi_bin_options *o, struct hi_bins *bins)
{
	for (hi_node i = 0; i < g->n_objects; i++)
		if (!bins->table.set[i] && !hi_is_internal(g, i))
			hi_set_row_add(hi_bit(reach->any, i) ? &bins->noroot
							     : &bins->leak,
				       g, reach, o->pure, o->arg, i);
}

static enum hi_status compute_bin_sets(const struct hi_graph *g,
				       const struct hi_reach *reach,
				       const struct hi_bin_options *o,
				       struct hi_set_flow *flow, struct hi_bins *bins,
				       struct hi_error *err)
{
	enum hi_status status;

	if (o->precise)
		flow->worst = HI_GRADE_INTERIOR;
	flow->credit = -1; /* names lie within each other: one walk would not do */
	if (!put_named_roots(flow, o, bins) || !hi_set_flow_run(flow))
		return hi_fail_memory(err, "sharing bins");
	bins->revisited = flow->again;
	status = hi_set_table_make(flow, reach, o->pure, o->arg, &bins->table, err);
	if (status == HI_OK)
		count_unreached_rows(g, reach, o, bins);
	return status;
}

enum hi_status hi_bins_compute(const struct hi_graph *g, const struct hi_reach *reach,
			       const struct hi_bin_options *options,
			       struct hi_set_pool *pool, struct hi_bins **ret,
			       struct hi_error *err)
{
	HI_GUARD(hi_bins_destroy) struct hi_bins *bins = NULL;
	enum hi_status status = check_bin_roots(g, options, err);
	struct hi_set_flow flow;

	if (status != HI_OK)
		return status;
	bins = hi_calloc(1, sizeof(*bins));
	if (!bins)
		return hi_fail_memory(err, "sharing bins");
	bins->pure = options->pure;
	bins->pure_arg = options->arg;
	status = hi_set_flow_init(&flow, g, pool, err);
	if (status == HI_OK)
		status = compute_bin_sets(g, reach, options, &flow, bins, err);
	hi_set_flow_deinit(&flow);
	if (status == HI_OK)
		*ret = hi_take(bins);
	return status;
}

static bool has_any(const struct hi_set_pool *pool, uint32_t set,
		    const uint32_t *identities, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (hi_set_has(pool, set, identities[i]))
			return true;
	return false;
}

void hi_bins_restrict(struct hi_bins *bins, const struct hi_set_pool *pool,
		      const uint32_t *identities, size_t n)
{
	struct hi_set_table *t = &bins->table;
	size_t kept = 0;

	t->objects = t->cost = t->cost_pure = 0;
	for (size_t i = 0; i < t->n_rows; i++) {
		struct hi_set_row row = t->rows[i];

		if (!has_any(pool, row.set, identities, n))
			continue;
		t->objects += row.objects;
		t->cost += row.cost;
		t->cost_pure += row.cost_pure;
		t->rows[kept++] = row;
	}
	t->n_rows = kept;
	bins->noroot = bins->leak = (struct hi_set_row){};
}

/* By number of a set: its row + 1. */
static uint32_t *index_rows(struct hi_set_table *t, uint32_t *max_ret)
{
	uint32_t max = 0, *index;

	for (size_t i = 0; i < t->n_rows; i++)
		max = t->rows[i].set > max ? t->rows[i].set : max;
	index = hi_calloc((size_t)max + 1, sizeof(*index));
	for (size_t i = 0; index && i < t->n_rows; i++) {
		index[t->rows[i].set] = (uint32_t)i + 1;
		t->rows[i] = (struct hi_set_row){.set = t->rows[i].set,
						 .size = t->rows[i].size};
	}
	*max_ret = max;
	return index;
}

static void drop_empty_rows(struct hi_set_table *t)
{
	size_t kept = 0;

	t->objects = t->cost = t->cost_pure = 0;
	for (size_t i = 0; i < t->n_rows; i++) {
		if (!t->rows[i].objects)
			continue;
		t->objects += t->rows[i].objects;
		t->cost += t->rows[i].cost;
		t->cost_pure += t->rows[i].cost_pure;
		t->rows[kept++] = t->rows[i];
	}
	t->n_rows = kept;
	if (kept > 1)
		qsort(t->rows, kept, sizeof(*t->rows), hi_set_row_compare);
}

enum hi_status hi_bins_recount(struct hi_bins *bins, const struct hi_graph *g,
			       const struct hi_reach *reach, const uint64_t *bits,
			       struct hi_error *err)
{
	struct hi_set_table *t = &bins->table;
	uint32_t max;
	HI_GUARD(free) uint32_t *index = index_rows(t, &max);

	if (!index)
		return hi_fail_memory(err, "sharing bins");
	bins->noroot = bins->leak = (struct hi_set_row){};
	for (hi_node i = 0; i < g->n_objects; i++) {
		uint32_t set = t->set[i];
		struct hi_set_row *row =
			hi_bit(reach->any, i) ? &bins->noroot : &bins->leak;

		if (!hi_bit(bits, i) || hi_is_internal(g, i))
			continue;
		if (set && set <= max && index[set])
			row = &t->rows[index[set] - 1];
		hi_set_row_add(row, g, reach, bins->pure, bins->pure_arg, i);
	}
	drop_empty_rows(t);
	return HI_OK;
}

void hi_bins_destroy(struct hi_bins *bins)
{
	if (!bins)
		return;
	hi_set_table_free(&bins->table);
	free(bins->missed);
	free(bins);
}
