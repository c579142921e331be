/* SPDX-License-Identifier: BSD-2-Clause */
/* Retainer sets and bins: computed by the source once, and found by their numbers. */
#include <stdlib.h>

#include "base/alloc.h"
#include "query/query_internal.h"

static int by_set(const void *a, const void *b, void *rows)
{
	uint32_t x = ((const struct hi_set_row *)rows)[*(const uint32_t *)a].set;
	uint32_t y = ((const struct hi_set_row *)rows)[*(const uint32_t *)b].set;

	return (x > y) - (x < y);
}

static enum hi_status sort_rows_by_set(struct hi_sets *sets, struct hi_error *err)
{
	size_t n = sets->from.table->n_rows;

	sets->row_of = hi_alloc((n + 1) * sizeof(*sets->row_of));
	if (!sets->row_of)
		return hi_fail_memory(err, "sets");
	for (size_t i = 0; i < n; i++)
		sets->row_of[i] = (uint32_t)i;
	qsort_r(sets->row_of, n, sizeof(*sets->row_of), by_set, sets->from.table->rows);
	sets->n_rows = n + (sets->from.noroot != NULL) + (sets->from.leak != NULL);
	return HI_OK;
}

enum hi_status hi_sets_open(struct hi_query *q, struct hi_sets *sets,
			    struct hi_error *err)
{
	bool is_bins = sets == &q->bins;
	enum hi_status (*find)(void *, struct hi_query_sets *, struct hi_error *) =
		is_bins ? q->source.bins : q->source.retainers;
	enum hi_status status;

	if (sets->is_there)
		return HI_OK;
	if (!find)
		return hi_fail(err, HI_UNSUPPORTED, 0, "%s are not known",
			       is_bins ? "bins" : "retainer sets");
	status = find(q->source.arg, &sets->from, err);
	if (status == HI_OK)
		status = sort_rows_by_set(sets, err);
	sets->is_there = status == HI_OK;
	return status;
}

void hi_sets_free(struct hi_sets *sets)
{
	free(sets->row_of);
	free(sets->text);
	*sets = (struct hi_sets){};
}
