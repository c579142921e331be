/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/alloc/alloc_sort.h"

#include <stdlib.h>
#include <string.h>

static uint64_t amount_of_order(enum hi_alloc_order order,
				const struct hi_alloc_function *f)
{
	switch (order) {
	case HI_ALLOC_BY_SURVIVED:
		return hi_space_survived(&f->all).size;
	case HI_ALLOC_BY_LIVE:
		return hi_space_live(&f->all).size;
	case HI_ALLOC_BY_NAME:
		return 0;
	case HI_ALLOC_BY_WEIGHT:
	case HI_ALLOC_BY_ALLOC:
	default:
		return hi_space_at_age(&f->all, 0).size;
	}
}

int hi_alloc_compare(enum hi_alloc_order order, const struct hi_alloc_function *a,
		     const struct hi_alloc_function *b)
{
	uint64_t m = amount_of_order(order, a), n = amount_of_order(order, b);
	int by_name;

	if (m != n)
		return m > n ? -1 : 1;
	if (order != HI_ALLOC_BY_NAME && a->time.top != b->time.top)
		return a->time.top > b->time.top ? -1 : 1;
	by_name = strcmp(a->name, b->name);
	return by_name ? by_name : strcmp(a->file, b->file);
}

/* For qsort_r. */
static int compare_by_order(const void *a, const void *b, void *order)
{
	return hi_alloc_compare(*(const enum hi_alloc_order *)order, a, b);
}

void hi_alloc_sort(enum hi_alloc_order order, struct hi_alloc_function *functions,
		   size_t n)
{
	if (n)
		qsort_r(functions, n, sizeof(*functions), compare_by_order, &order);
}
