/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of leaks without a type in a snapshot file. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/snapshot/snapshot_format.h"
#include "census/snapshot/snapshot_sections.h"
#include "session/snapshot/snapshot_source.h"

static const struct hi_row_member leak_group_members[] = {
#define LEAK_MEMBER(name)                                                                \
	HI_ROW_MEMBER(struct hi_snapshot_leak_row, name, struct hi_leak_group, name)
	LEAK_MEMBER(usable),  LEAK_MEMBER(n_like),  LEAK_MEMBER(pointers),
	LEAK_MEMBER(text),    LEAK_MEMBER(like),    LEAK_MEMBER(n_fits),
	LEAK_MEMBER(fits[0]), LEAK_MEMBER(fits[1]), LEAK_MEMBER(fits[2]),
#undef LEAK_MEMBER
};
_Static_assert(HI_LEAK_FITS == 3, "fits");
static const struct hi_row_map leak_group_map =
	HI_ROW_MAP("leaks.groups", struct hi_leak_group, leak_group_members);

enum hi_status hi_snapshot_save_leak_groups(struct hi_inspection *in,
					    struct hi_snapshot_writer *w,
					    struct hi_error *err)
{
	const struct hi_leak_groups *groups;
	HI_GUARD(free) struct hi_snapshot_leak_node *nodes = NULL;
	enum hi_status status = HI_OK;

	if (!in->results.leak_groups)
		status = in->source->results->find_leak_groups(in, err);
	groups = in->results.leak_groups;
	if (status != HI_OK || !groups)
		return status;
	nodes = hi_calloc(groups->n_nodes + 1, sizeof(*nodes));
	if (!nodes)
		return hi_fail_memory(err, "names of leaks");
	for (size_t i = 0; i < groups->n_nodes; i++)
		nodes[i] = (struct hi_snapshot_leak_node){groups->nodes[i],
							  groups->group_of[i]};
	status = hi_snapshot_put_rows(w, &leak_group_map, groups->items, groups->count,
				      err);
	return status == HI_OK ? hi_snapshot_put_section(w, "leaks.nodes", nodes,
							 groups->n_nodes, err)
			       : status;
}

enum hi_status hi_snapshot_source_leak_groups(struct hi_inspection *in,
					      struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;
	HI_GUARD(hi_leak_groups_destroy)
	struct hi_leak_groups *groups = hi_calloc(1, sizeof(*groups));
	const struct hi_snapshot_leak_node *nodes = NULL;
	uint64_t n = 0;
	enum hi_status status;

	if (!groups)
		return hi_fail_memory(err, "names of leaks");
	status = hi_snapshot_take_rows(s, &leak_group_map, NULL, &groups->items,
				       &groups->count, err);
	if (status == HI_OK)
		status = hi_snapshot_rows(s, "leaks.nodes", &nodes, &n, err);
	if (status != HI_OK || !groups->items || !nodes)
		return status;
	groups->nodes = hi_calloc(n + 1, sizeof(*groups->nodes));
	groups->group_of = hi_calloc(n + 1, sizeof(*groups->group_of));
	if (!groups->nodes || !groups->group_of)
		return hi_fail_memory(err, "names of leaks");
	for (; groups->n_nodes < n; groups->n_nodes++) {
		groups->nodes[groups->n_nodes] = nodes[groups->n_nodes].object;
		groups->group_of[groups->n_nodes] = nodes[groups->n_nodes].group;
	}
	in->results.leak_groups = hi_take(groups);
	return HI_OK;
}
