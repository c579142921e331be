/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads types and totals of a snapshot without its objects. */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/analysis/walk_internal.h"
#include "census/snapshot/snapshot_graph_internal.h"

static enum hi_status no_objects(struct hi_objects **ret, struct hi_error *err)
{
	struct hi_objects_builder *b = NULL;
	enum hi_status status = hi_objects_builder_create(&b, err);

	return status == HI_OK ? hi_objects_seal(b, ret, err) : status;
}

static enum hi_status outline_graph(struct hi_snapshot *s, struct hi_graph **ret,
				    struct hi_error *err)
{
	HI_GUARD(hi_graph_builder_destroy) struct hi_graph_builder *b = NULL;
	struct hi_objects *objects = NULL;
	enum hi_status status = hi_snapshot_types(s, err);

	if (status == HI_OK)
		status = no_objects(&objects, err);
	if (status == HI_OK)
		status = hi_graph_builder_create(objects, &b, err);
	if (status == HI_OK)
		status = hi_snapshot_add_types(s, b, err);
	return status == HI_OK ? hi_graph_seal(hi_take(b), ret, err) : status;
}

enum hi_status hi_snapshot_outline(struct hi_snapshot *s, struct hi_graph **ret,
				   struct hi_reach **reach_ret, struct hi_error *err)
{
	HI_GUARD(hi_graph_destroy) struct hi_graph *g = NULL;
	HI_GUARD(hi_reach_destroy) struct hi_reach *r = hi_calloc(1, sizeof(*r));
	enum hi_status status;

	if (!r)
		return hi_fail_memory(err, "reachability");
	status = outline_graph(s, &g, err);
	if (status != HI_OK)
		return status;
	r->any = hi_calloc(1, hi_bits_size(g->n_nodes));
	r->exact = hi_calloc(1, hi_bits_size(g->n_nodes));
	r->internal_roots = hi_calloc(1, sizeof(*r->internal_roots));
	if (!r->any || !r->exact || !r->internal_roots)
		return hi_fail_memory(err, "reachability");
	hi_snapshot_reach_numbers(s, r);
	*ret = hi_take(g);
	*reach_ret = hi_take(r);
	return HI_OK;
}
