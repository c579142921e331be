/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads results that were computed before the snapshot was written. */
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/analysis/walk_internal.h"
#include "census/snapshot/snapshot_graph_internal.h"

HI_DEFINE_GUARD(struct hi_reach *, hi_reach_destroy)
HI_DEFINE_GUARD(struct hi_dominators *, hi_dominators_destroy)

static enum hi_status take_bits(struct hi_snapshot *s, const char *name, hi_node n_nodes,
				uint64_t **ret, struct hi_error *err)
{
	size_t size = hi_bits_size(n_nodes);
	void *bits = NULL;
	enum hi_status status = hi_snapshot_column(s, name, 8, size / 8, &bits, err);

	if (status != HI_OK)
		return status;
	*ret = hi_alloc(size);
	if (!*ret)
		return hi_fail_memory(err, "reachability");
	memcpy(*ret, bits, size);
	/* No bit is set beyond the last node, so that a count of bits is a count of
	 * nodes. */
	if (n_nodes % 64)
		(*ret)[n_nodes / 64] &= (UINT64_C(1) << n_nodes % 64) - 1;
	return HI_OK;
}

static enum hi_status take_internal(struct hi_snapshot *s, const struct hi_graph *g,
				    struct hi_reach *r, struct hi_error *err)
{
	const void *items = NULL;
	const hi_node *nodes;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_get(s, "reach.internal", 4, &items, &n, err);

	if (status != HI_OK)
		return status;
	nodes = items;
	for (uint64_t i = 0; i < n; i++)
		if (nodes[i] >= g->n_objects || (i && nodes[i] <= nodes[i - 1]))
			return hi_snapshot_bad(s, "reach.internal", err, "not in order");
	r->internal_roots = hi_alloc(n * sizeof(*nodes) + 1);
	if (!r->internal_roots)
		return hi_fail_memory(err, "reachability");
	if (n)
		memcpy(r->internal_roots, nodes, n * sizeof(*nodes));
	r->n_internal_roots = n;
	return HI_OK;
}

void hi_snapshot_reach_numbers(const struct hi_snapshot *s, struct hi_reach *r)
{
	r->live_objects = hi_snapshot_number(s, "live.objects", 0);
	r->live_bytes = hi_snapshot_number(s, "live.bytes", 0);
	r->exact_objects = hi_snapshot_number(s, "exact.objects", 0);
	r->exact_bytes = hi_snapshot_number(s, "exact.bytes", 0);
	r->leak_objects = hi_snapshot_number(s, "leak.objects", 0);
	r->leak_bytes = hi_snapshot_number(s, "leak.bytes", 0);
	r->likely_objects = hi_snapshot_number(s, "likely.objects", 0);
	r->likely_bytes = hi_snapshot_number(s, "likely.bytes", 0);
	r->is_doubtful = hi_snapshot_number(s, "likely.all", 0);
	r->unread_bytes = hi_snapshot_number(s, "likely.unread", 0);
	r->integer_objects = hi_snapshot_number(s, "integers.objects", 0);
	r->integer_bytes = hi_snapshot_number(s, "integers.bytes", 0);
	r->apart_bytes = hi_snapshot_number(s, "likely.apart", 0);
	/* Of a damaged file: what is counted in both is no more than the whole. */
	if (r->likely_objects > r->leak_objects)
		r->likely_objects = r->leak_objects;
	if (r->likely_bytes > r->leak_bytes)
		r->likely_bytes = r->leak_bytes;
	r->internal_objects = hi_snapshot_number(s, "internal.objects", 0);
	r->internal_bytes = hi_snapshot_number(s, "internal.bytes", 0);
}

enum hi_status hi_snapshot_reach(struct hi_snapshot *s, const struct hi_graph *g,
				 struct hi_reach **ret, struct hi_error *err)
{
	HI_GUARD(hi_reach_destroy) struct hi_reach *r = hi_calloc(1, sizeof(*r));
	enum hi_status status;

	if (!r)
		return hi_fail_memory(err, "reachability");
	status = take_bits(s, "reach.any", g->n_nodes, &r->any, err);
	if (status == HI_OK)
		status = take_bits(s, "reach.exact", g->n_nodes, &r->exact, err);
	if (status == HI_OK && hi_snapshot_has(s, "reach.likely"))
		status = take_bits(s, "reach.likely", g->n_nodes, &r->likely, err);
	if (status == HI_OK)
		status = take_internal(s, g, r, err);
	if (status != HI_OK)
		return status;
	hi_snapshot_reach_numbers(s, r);
	*ret = hi_take(r);
	return HI_OK;
}

/* ---- dominators ---- */

/*
 * order[] must be a preorder with the subtree sizes of span[], idom[] must describe the
 * same tree, and each node may be in it once: then every walk up or down ends.
 */
static bool tree_holds(const struct hi_dominators *d, hi_node super_root, uint32_t *open,
		       uint64_t *seen)
{
	uint32_t depth = 0;
	hi_node in_tree = 0;

	if (!d->n_order || d->order[0] != super_root || d->span[0] != d->n_order ||
	    d->idom[super_root] != HI_NODE_NONE)
		return false;
	for (uint32_t i = 0; i < d->n_order; i++) {
		hi_node node = d->order[i];

		/* open[]: the positions of those whose subtree this is in. */
		while (depth && i - open[depth - 1] >= d->span[open[depth - 1]])
			depth--;
		if (node >= d->n_nodes || !hi_bit_take(seen, node) || !d->span[i] ||
		    d->span[i] > d->n_order - i)
			return false;
		if (i && (!depth || d->idom[node] != d->order[open[depth - 1]] ||
			  i + d->span[i] > open[depth - 1] + d->span[open[depth - 1]]))
			return false;
		open[depth++] = i;
	}
	for (hi_node i = 0; i < d->n_nodes; i++)
		in_tree += d->idom[i] != HI_NODE_NONE;
	return in_tree == d->n_order - 1;
}

static enum hi_status check_tree(struct hi_snapshot *s, const struct hi_graph *g,
				 const struct hi_dominators *d, struct hi_error *err)
{
	HI_GUARD(free) uint32_t *open = hi_alloc((size_t)d->n_order * sizeof(*open) + 1);
	HI_GUARD(free) uint64_t *seen = hi_calloc(1, hi_bits_size(d->n_nodes));

	if (!open || !seen)
		return hi_fail_memory(err, "dominators");
	if (!tree_holds(d, g->super_root, open, seen))
		return hi_snapshot_bad(s, "dom.order", err, "not a tree");
	return HI_OK;
}

static enum hi_status take_tree(struct hi_snapshot *s, struct hi_dominators *d,
				struct hi_error *err)
{
	const void *order = NULL;
	void *items = NULL;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_get(s, "dom.order", 4, &order, &n, err);

	if (status != HI_OK)
		return status;
	if (n > d->n_nodes)
		return hi_snapshot_bad(s, "dom.order", err, "more than all nodes");
	d->n_order = (hi_node)n;
	status = hi_snapshot_column(s, "dom.order", 4, n, &items, err);
	d->order = items;
	if (status == HI_OK)
		status = hi_snapshot_column(s, "dom.span", 4, n, &items, err);
	d->span = items;
	if (status == HI_OK)
		status = hi_snapshot_column(s, "dom.idom", 4, d->n_nodes, &items, err);
	d->idom = items;
	if (status == HI_OK)
		status =
			hi_snapshot_column(s, "dom.retained", 8, d->n_nodes, &items, err);
	d->retained = items;
	return status;
}

enum hi_status hi_snapshot_dominators(struct hi_snapshot *s, const struct hi_graph *g,
				      struct hi_dominators **ret, struct hi_error *err)
{
	static const char *const columns[] = {"dom.retained", "dom.order", "dom.span",
					      "dom.idom"};
	HI_GUARD(hi_dominators_destroy)
	struct hi_dominators *d = hi_calloc(1, sizeof(*d));
	enum hi_status status;

	if (!d)
		return hi_fail_memory(err, "dominators");
	d->is_borrowed = true;
	d->n_nodes = g->n_nodes;
	hi_snapshot_prepare(s, columns, sizeof(columns) / sizeof(columns[0]));
	status = take_tree(s, d, err);
	if (status == HI_OK)
		status = check_tree(s, g, d, err);
	if (status == HI_OK)
		*ret = hi_take(d);
	return status;
}
