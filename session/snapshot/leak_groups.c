/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of leaks without a type in a snapshot file. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "session/snapshot/snapshot_source.h"

static enum hi_status put_group_rows(struct hi_snapshot_writer *w,
				     const struct hi_leak_groups *groups,
				     struct hi_error *err)
{
	HI_GUARD(free)
	struct hi_snapshot_leak_row *rows = hi_calloc(groups->count + 1, sizeof(*rows));
	enum hi_status status = HI_OK;

	if (!rows)
		return hi_fail_memory(err, "names of leaks");
	for (size_t i = 0; i < groups->count; i++) {
		const struct hi_leak_group *g = &groups->items[i];

		rows[i] = (struct hi_snapshot_leak_row){.usable = g->usable,
							.n_like = g->n_like,
							.pointers = g->pointers,
							.text = g->text,
							.like = g->like,
							.n_fits = g->n_fits};
		for (uint32_t k = 0; k < g->n_fits && status == HI_OK; k++)
			status = hi_snapshot_put_string(w, g->fits[k], &rows[i].fits[k],
							err);
	}
	return status == HI_OK ? hi_snapshot_put(w, "leaks.groups", rows, sizeof(*rows),
						 groups->count, err)
			       : status;
}

enum hi_status hi_snapshot_save_leak_groups(struct hi_inspection *in,
					    struct hi_snapshot_writer *w,
					    struct hi_error *err)
{
	const struct hi_leak_groups *groups;
	HI_GUARD(free) struct hi_snapshot_leak_node *nodes = NULL;
	enum hi_status status = HI_OK;

	if (!in->results.leak_groups)
		status = in->source->find_leak_groups(in, err);
	groups = in->results.leak_groups;
	if (status != HI_OK || !groups)
		return status;
	nodes = hi_calloc(groups->n_nodes + 1, sizeof(*nodes));
	if (!nodes)
		return hi_fail_memory(err, "names of leaks");
	for (size_t i = 0; i < groups->n_nodes; i++)
		nodes[i] = (struct hi_snapshot_leak_node){groups->nodes[i],
							  groups->group_of[i]};
	status = put_group_rows(w, groups, err);
	return status == HI_OK ? hi_snapshot_put(w, "leaks.nodes", nodes, sizeof(*nodes),
						 groups->n_nodes, err)
			       : status;
}

static enum hi_status fail_group(const struct hi_inspection *in, const char *what,
				 struct hi_error *err)
{
	return hi_fail(err, HI_BAD_DATA, 0, "%.120s: section %s is damaged",
		       in->options->target.file, what);
}

static enum hi_status take_group_rows(struct hi_inspection *in,
				      struct hi_leak_groups *groups,
				      const struct hi_snapshot_leak_row *rows, uint64_t n,
				      struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;

	groups->items = hi_calloc(n + 1, sizeof(*groups->items));
	if (!groups->items)
		return hi_fail_memory(err, "names of leaks");
	for (; groups->count < n; groups->count++) {
		const struct hi_snapshot_leak_row *row = &rows[groups->count];
		struct hi_leak_group *g = &groups->items[groups->count];

		if (row->n_fits > HI_LEAK_FITS || row->like >= in->graph->n_types)
			return fail_group(in, "leaks.groups", err);
		*g = (struct hi_leak_group){.usable = row->usable,
					    .pointers = row->pointers,
					    .text = row->text != 0,
					    .like = row->like,
					    .n_like = row->n_like,
					    .n_fits = row->n_fits};
		for (uint32_t k = 0; k < row->n_fits; k++) {
			g->fits[k] = hi_snapshot_string(s, row->fits[k]);
			if (!g->fits[k])
				return fail_group(in, "leaks.groups", err);
		}
	}
	return HI_OK;
}

static enum hi_status take_group_nodes(struct hi_inspection *in,
				       struct hi_leak_groups *groups,
				       const struct hi_snapshot_leak_node *nodes,
				       uint64_t n, struct hi_error *err)
{
	groups->nodes = hi_calloc(n + 1, sizeof(*groups->nodes));
	groups->group_of = hi_calloc(n + 1, sizeof(*groups->group_of));
	if (!groups->nodes || !groups->group_of)
		return hi_fail_memory(err, "names of leaks");
	for (uint64_t i = 0; i < n; i++) {
		if (nodes[i].object >= in->graph->n_objects || !nodes[i].group ||
		    nodes[i].group > groups->count ||
		    (i && nodes[i].object <= nodes[i - 1].object))
			return fail_group(in, "leaks.nodes", err);
		groups->nodes[i] = nodes[i].object;
		groups->group_of[i] = nodes[i].group;
	}
	groups->n_nodes = n;
	return HI_OK;
}

HI_DEFINE_GUARD(struct hi_leak_groups *, hi_leak_groups_destroy)

enum hi_status hi_snapshot_source_leak_groups(struct hi_inspection *in,
					      struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;
	HI_GUARD(hi_leak_groups_destroy) struct hi_leak_groups *groups = NULL;
	const void *rows = NULL, *nodes = NULL;
	uint64_t n_rows = 0, n_nodes = 0;
	enum hi_status status =
		hi_snapshot_get(s, "leaks.groups", sizeof(struct hi_snapshot_leak_row),
				&rows, &n_rows, err);

	if (status == HI_OK)
		status = hi_snapshot_get(s, "leaks.nodes",
					 sizeof(struct hi_snapshot_leak_node), &nodes,
					 &n_nodes, err);
	if (status != HI_OK)
		return status == HI_NOT_FOUND ? HI_OK : status;
	groups = hi_calloc(1, sizeof(*groups));
	if (!groups)
		return hi_fail_memory(err, "names of leaks");
	status = take_group_rows(in, groups, rows, n_rows, err);
	if (status == HI_OK)
		status = take_group_nodes(in, groups, nodes, n_nodes, err);
	if (status == HI_OK)
		in->results.leak_groups = hi_take(groups);
	return status;
}
