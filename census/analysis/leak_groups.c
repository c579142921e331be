/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/leak_groups.h"

#include <stdlib.h>

#include "base/search.h"

uint32_t hi_leak_groups_find(const struct hi_leak_groups *groups, hi_node node)
{
	size_t i = groups ? hi_search(k, groups->n_nodes, groups->nodes[k] < node) : 0;

	if (!groups || i == groups->n_nodes || groups->nodes[i] != node)
		return 0;
	return groups->group_of[i] <= groups->count ? groups->group_of[i] : 0;
}

const struct hi_leak_group *hi_leak_groups_get(const struct hi_leak_groups *groups,
					       uint32_t group)
{
	return groups && group && group <= groups->count ? &groups->items[group - 1]
							 : NULL;
}

void hi_leak_groups_destroy(struct hi_leak_groups *groups)
{
	if (!groups)
		return;
	hi_arena_free(&groups->arena);
	free(groups->items);
	free(groups->nodes);
	free(groups->group_of);
	free(groups);
}
