/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/node_order.h"

#include <stdlib.h>

static int compare_ranked_nodes(const void *a, const void *b, void *arg)
{
	const uint64_t *retained = arg;
	hi_node x = *(const hi_node *)a, y = *(const hi_node *)b;

	if (retained[x] != retained[y])
		return retained[x] > retained[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

void hi_rank_nodes(const struct hi_dominators *d, hi_node *nodes, size_t n)
{
	if (n) /* else there may be no array */
		qsort_r(nodes, n, sizeof(*nodes), compare_ranked_nodes, d->retained);
}

enum hi_evidence hi_main_evidence(const struct hi_census_row *row)
{
	enum hi_evidence best = HI_EVIDENCE_NONE;

	for (unsigned e = 0; e <= HI_EVIDENCE_RUNTIME; e++)
		if (row->by_evidence[e] > row->by_evidence[best])
			best = (enum hi_evidence)e;
	return best;
}
