/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is leaked, in the numbers that gates, differences, series and metrics have in
 * common. What a collector will take is no leak: it has a number of its own.
 */
#ifndef HI_CENSUS_ANALYSIS_LEAK_TOTALS_H
#define HI_CENSUS_ANALYSIS_LEAK_TOTALS_H

#include "census/analysis/analysis.h"

struct hi_leak_total {
	uint64_t objects, bytes; /* UINT64_MAX: unknown */
};
struct hi_leak_totals {
	/* Unreachable objects by verdict, without garbage. */
	struct hi_leak_sum certain, likely;
	struct hi_leak_sum garbage; /* the next collection takes it */
	/* By class of unreachable objects. Unreachable ones are in certain or likely as
	 * well; what a collector has put aside is live. */
	struct hi_leak_sum uncollectable, lost;
};

/* Of one object that is not live: the sum that it counts in, and its row in tables. */
enum hi_leak_kind {
	HI_LEAK_CERTAIN,
	HI_LEAK_LIKELY,
	HI_LEAK_GARBAGE,
	HI_LEAK_KINDS,
};
enum hi_leak_kind hi_leak_kind_of(const struct hi_graph *graph,
				  const struct hi_reach *reach, hi_node object);
/* "(leaked)", "(likely leaked)", "(garbage)" */
const char *hi_leak_kind_label(enum hi_leak_kind kind);

/* live, leaks: the same, or what a restriction leaves of either (census/graph/within.h).
 */
void hi_leak_totals_count(const struct hi_graph *graph, const struct hi_reach *live,
			  const struct hi_reach *leaks, struct hi_leak_totals *ret);
/* Of a heap that is not known. */
struct hi_leak_totals hi_leak_totals_unknown(void);

#endif
