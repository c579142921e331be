/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Totals of leaked memory: the numbers that gates, comparisons, series and metrics share.
 * Garbage that a collector will take is no leak and has a total of its own.
 */
#ifndef HI_CENSUS_ANALYSIS_LEAK_TOTALS_H
#define HI_CENSUS_ANALYSIS_LEAK_TOTALS_H

#include "census/analysis/analysis.h"

struct hi_leak_total {
	uint64_t objects, bytes; /* UINT64_MAX: unknown */
};
struct hi_leak_totals {
	/* Unreachable objects by verdict, without garbage. */
	struct hi_leak_total certain, likely;
	struct hi_leak_total garbage; /* the next collection takes it */
	/* By class. Unreachable objects are counted in certain or likely as well;
	 * objects that a collector put aside are live. */
	struct hi_leak_total uncollectable, lost;
};

/* The count of an object that is not live: the total, and the row in tables. */
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

/* Counts the totals. live and leaks are the same reachability, or what a restriction
 * leaves of it for either count (census/analysis/subgraph.h). */
void hi_leak_totals_count(const struct hi_graph *graph, const struct hi_reach *live,
			  const struct hi_reach *leaks, struct hi_leak_totals *ret);
/* Returns totals that are all unknown (UINT64_MAX), for a heap that was not decoded. */
struct hi_leak_totals hi_leak_totals_unknown(void);

#endif
