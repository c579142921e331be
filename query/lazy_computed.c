/* SPDX-License-Identifier: BSD-2-Clause */
/* Results that the source computes, cached. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "query/query_internal.h"

enum hi_status hi_query_dominators(struct hi_query *q, const struct hi_dominators **ret,
				   struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (!q->dominators && q->source.dominators)
		status = q->source.dominators(q->source.arg, &q->dominators, err);
	if (status == HI_OK && !q->dominators)
		status = hi_fail(err, HI_UNSUPPORTED, 0, "dominators are not known");
	*ret = q->dominators;
	return status;
}

enum hi_status hi_query_census(struct hi_query *q, const struct hi_census **ret,
			       struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (!q->census && q->source.census)
		status = q->source.census(q->source.arg, &q->census, err);
	if (status == HI_OK && !q->census)
		status = hi_fail(err, HI_UNSUPPORTED, 0, "the census is not known");
	*ret = q->census;
	return status;
}

enum hi_status hi_query_censuses(struct hi_query *q, struct hi_error *err)
{
	enum hi_status status = HI_OK;
	uint64_t end = 0;

	if (q->census_end)
		return HI_OK;
	if (q->source.censuses)
		status = q->source.censuses(q->source.arg, &q->censuses, &q->n_censuses,
					    err);
	if (status != HI_OK)
		return status;
	q->census_end = hi_alloc((q->n_censuses + 1) * sizeof(*q->census_end));
	if (!q->census_end)
		return hi_fail_memory(err, "censuses");
	for (size_t i = 0; i < q->n_censuses; i++)
		q->census_end[i] = end += q->censuses[i].n_rows;
	return HI_OK;
}

enum hi_status hi_query_census_row(struct hi_query *q, uint32_t type,
				   const struct hi_census_row **ret, struct hi_error *err)
{
	uint32_t n_types = q->source.graph->n_types;
	const struct hi_census *census;
	enum hi_status status = hi_query_census(q, &census, err);

	*ret = NULL;
	if (status != HI_OK)
		return status;
	if (!q->census_row) {
		q->census_row = hi_alloc(((size_t)n_types + 1) * sizeof(*q->census_row));
		if (!q->census_row)
			return hi_fail_memory(err, "census");
		memset(q->census_row, 0xff, ((size_t)n_types + 1) * 4);
		for (size_t i = 0; i < census->n_rows; i++)
			if (census->rows[i].type < n_types)
				q->census_row[census->rows[i].type] = (uint32_t)i;
	}
	if (type < n_types && q->census_row[type] != UINT32_MAX)
		*ret = &census->rows[q->census_row[type]];
	return HI_OK;
}

enum hi_status hi_query_preorder_index(struct hi_query *q, const uint32_t **ret,
				       struct hi_error *err)
{
	size_t n = q->source.graph->n_nodes;
	const struct hi_dominators *d;
	enum hi_status status = hi_query_dominators(q, &d, err);

	if (status != HI_OK)
		return status;
	if (!q->preorder_index) {
		q->preorder_index = hi_alloc((n + 1) * sizeof(*q->preorder_index));
		if (!q->preorder_index)
			return hi_fail_memory(err, "dominators");
		memset(q->preorder_index, 0xff, (n + 1) * sizeof(*q->preorder_index));
		for (uint32_t i = 0; i < d->n_order; i++)
			q->preorder_index[d->order[i]] = i;
	}
	*ret = q->preorder_index;
	return HI_OK;
}
