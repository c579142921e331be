/* SPDX-License-Identifier: BSD-2-Clause */
/* Restricts other analyses to a subset of the objects. */
#ifndef HI_CENSUS_ANALYSIS_SUBGRAPH_H
#define HI_CENSUS_ANALYSIS_SUBGRAPH_H

#include "census/analysis/analysis.h"

/* A bit per node: these objects and all that edges lead to from there, alive or
 * not. Weak edges lead nowhere. Free it. */
enum hi_status hi_within_mark(const struct hi_graph *g, const hi_node *starts, size_t n,
			      uint64_t **bits_ret, struct hi_error *err);

/* Adds up the live objects among these, and what they lead to: also what others keep
 * alive, each once. HI_NO_MEMORY. */
struct hi_reachable {
	uint64_t objects, bytes; /* cost; UINT64_MAX: not asked for */
};
enum hi_status hi_within_sum(const struct hi_graph *g, const struct hi_reach *reach,
			     const hi_node *starts, size_t n, struct hi_reachable *ret,
			     struct hi_error *err);

/*
 * Makes the reachability of a graph restricted to the objects in `bits`: `any` and
 * `exact` have no other bits, roots included, and the counts are of these objects. For
 * counts of live objects, not for walks from the roots. leaks: for counts of unreachable
 * objects; then `any` has the bits of all objects outside of `bits`, so that they are not
 * counted as leaks.
 */
enum hi_status hi_within_reach(const struct hi_graph *g, const struct hi_reach *reach,
			       const uint64_t *bits, bool leaks, struct hi_reach **ret,
			       struct hi_error *err);

/*
 * The same tree of dominators (borrowed from d), in which a node retains what it has of
 * the live objects in `shown` alone: of a root variable, what of them only it keeps.
 * ret->retained is the caller's to free, nothing else of *ret.
 */
enum hi_status hi_within_dominators(const struct hi_graph *g,
				    const struct hi_reach *shown,
				    const struct hi_dominators *d,
				    struct hi_dominators *ret, struct hi_error *err);

#endif
