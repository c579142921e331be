/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/space/bars.h"

#include <stdlib.h>

static double share_of_all(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

double hi_space_bar_height(double weight, struct hi_space_cost of,
			   struct hi_space_cost all)
{
	double w = weight < 0 ? 0 : weight > 1 ? 1 : weight;

	return 100 * ((1 - w) * share_of_all(of.top, all.top) +
		      w * share_of_all(of.alloc, all.alloc));
}

static int compare_bars(const void *a, const void *b)
{
	const struct hi_space_bar *x = a, *y = b;

	if (x->height < y->height || x->height > y->height)
		return x->height > y->height ? -1 : 1;
	return x->index == y->index ? 0 : x->index < y->index ? -1 : 1;
}

size_t hi_space_bars(double weight, const struct hi_space_cost *of, size_t n,
		     struct hi_space_cost all, struct hi_space_bar *ret)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (of[i].top || of[i].alloc)
			ret[kept++] = (struct hi_space_bar){
				i, hi_space_bar_height(weight, of[i], all)};
	qsort(ret, kept, sizeof(*ret), compare_bars);
	return kept;
}
