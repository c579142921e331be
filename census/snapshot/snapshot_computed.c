/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads results that were computed before the snapshot was written. */
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/analysis/walk_internal.h"
#include "census/snapshot/snapshot_graph_internal.h"

static enum hi_status take_bits(struct hi_snapshot *s, const char *name, hi_node n_nodes,
				uint64_t **ret, struct hi_error *err)
{
	size_t size = hi_bits_size(n_nodes);
	const uint64_t *bits;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_rows(s, name, &bits, &n, err);

	if (status != HI_OK || !bits)
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

static enum hi_status take_internal(struct hi_snapshot *s, struct hi_reach *r,
				    struct hi_error *err)
{
	const hi_node *nodes;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_rows(s, "reach.internal", &nodes, &n, err);

	if (status != HI_OK)
		return status;
	r->internal_roots = hi_alloc(n * sizeof(*nodes) + 1);
	if (!r->internal_roots)
		return hi_fail_memory(err, "reachability");
	if (n)
		memcpy(r->internal_roots, nodes, n * sizeof(*nodes));
	r->n_internal_roots = n;
	return HI_OK;
}

static const struct hi_property reach_numbers[] = {
	HI_PROPERTY("live.objects", struct hi_reach, live_objects),
	HI_PROPERTY("live.bytes", struct hi_reach, live_bytes),
	HI_PROPERTY("exact.objects", struct hi_reach, exact_objects),
	HI_PROPERTY("exact.bytes", struct hi_reach, exact_bytes),
	HI_PROPERTY("leak.objects", struct hi_reach, leak_objects),
	HI_PROPERTY("leak.bytes", struct hi_reach, leak_bytes),
	HI_PROPERTY("likely.objects", struct hi_reach, likely_objects),
	HI_PROPERTY("likely.bytes", struct hi_reach, likely_bytes),
	HI_PROPERTY("likely.all", struct hi_reach, is_doubtful),
	HI_PROPERTY("likely.unread", struct hi_reach, unread_bytes),
	HI_PROPERTY("likely.apart", struct hi_reach, apart_bytes),
	HI_PROPERTY("integers.objects", struct hi_reach, integer_objects),
	HI_PROPERTY("integers.bytes", struct hi_reach, integer_bytes),
	HI_PROPERTY("internal.objects", struct hi_reach, internal_objects),
	HI_PROPERTY("internal.bytes", struct hi_reach, internal_bytes),
};
enum { REACH_NUMBERS = sizeof(reach_numbers) / sizeof(*reach_numbers) };

enum hi_status hi_snapshot_put_reach_numbers(struct hi_snapshot_writer *w,
					     const struct hi_reach *reach,
					     struct hi_error *err)
{
	return hi_snapshot_put_properties(w, "", reach_numbers, REACH_NUMBERS, reach,
					  err);
}

void hi_snapshot_reach_numbers(const struct hi_snapshot *s, struct hi_reach *r)
{
	hi_snapshot_take_properties(s, "", reach_numbers, REACH_NUMBERS, r);
	/* A file may be damaged: the part is no more than the whole. */
	if (r->likely_objects > r->leak_objects)
		r->likely_objects = r->leak_objects;
	if (r->likely_bytes > r->leak_bytes)
		r->likely_bytes = r->leak_bytes;
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
	if (status == HI_OK)
		status = take_bits(s, "reach.likely", g->n_nodes, &r->likely, err);
	if (status == HI_OK)
		status = take_internal(s, r, err);
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

/* Their order is that in which the reader needs them. */
static const struct hi_section_member tree_columns[] = {
	HI_SECTION_MEMBER("dom.order", struct hi_dominators, order, n_order),
	HI_SECTION_MEMBER("dom.span", struct hi_dominators, span, n_order),
	HI_SECTION_MEMBER("dom.idom", struct hi_dominators, idom, n_nodes),
	HI_SECTION_MEMBER("dom.retained", struct hi_dominators, retained, n_nodes),
};

/* idom, retained, order, span: as files have always had them. */
enum hi_status hi_snapshot_put_dominators(struct hi_snapshot_writer *w,
					  const struct hi_dominators *dominators,
					  struct hi_error *err)
{
	enum hi_status status =
		hi_snapshot_put_lasting_members(w, tree_columns + 2, 2, dominators, err);

	return status == HI_OK ? hi_snapshot_put_lasting_members(w, tree_columns, 2,
								 dominators, err)
			       : status;
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
	status = hi_snapshot_take_members(s, tree_columns, 4, d, err);
	if (status == HI_OK)
		status = check_tree(s, g, d, err);
	if (status == HI_OK)
		*ret = hi_take(d);
	return status;
}
