/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sharing bins: how much each named root holds, and what named roots share. (Gröber's
 * root profiler for GHC.) The bin of an object is the set of names that reach it. There
 * may be any number of names; each edge is visited once or twice, independent of how many
 * names share it. Names keep nothing alive: what only a name reaches is in its bin, and
 * counted there as a leak too.
 *
 * Rows, `noroot` and `leak` add up to all objects but the allocator's own. The result
 * does not depend on the order of names and edges. Bins keep their numbers for a series
 * of censuses with the same pool.
 */
#ifndef HI_CENSUS_RETAINERS_BINS_H
#define HI_CENSUS_RETAINERS_BINS_H

#include "base/cleanup.h"
#include "census/retainers/set_table.h"

/* A name, and where it starts: nothing at all (a null pointer) is fine. */
struct hi_bin_root {
	uint32_t identity;    /* not 0; the same name for a whole series. Roots may share
			       * one: they are then one name. */
	const hi_node *nodes; /* objects, or root variables: what those refer to */
	size_t n_nodes;
	const uint64_t *addresses; /* of objects, or inside them */
	size_t n_addresses;
};
struct hi_bin_options {
	const struct hi_bin_root *roots;
	size_t n_roots;
	bool precise; /* follow precise edges only, not words that look like pointers */
	hi_pure_fn *pure; /* may be NULL */
	void *arg;
};

struct hi_bins {
	struct hi_set_table table; /* what names reach; leak_cost: without being live */
	struct hi_set_row noroot;  /* live, under no name; set is HI_SET_NONE */
	struct hi_set_row leak;	   /* neither live nor under a name */
	uint32_t *missed;	   /* by root: its addresses that lie in no object */
	hi_node revisited; /* objects that it had to look at twice: a figure of speed */
	hi_pure_fn *pure;  /* of the options, as pure_arg */
	void *pure_arg;
};

/* HI_USAGE: an identity is 0, or a node is none. HI_LIMIT: 2^31 objects, 2^32 edges. */
enum hi_status hi_bins_compute(const struct hi_graph *g, const struct hi_reach *reach,
			       const struct hi_bin_options *options,
			       struct hi_set_pool *pool, struct hi_bins **ret,
			       struct hi_error *err);
/* Leaves the rows of which one of these names is a member; noroot and leak are empty
 * then. The sets of objects stay. */
void hi_bins_restrict(struct hi_bins *bins, const struct hi_set_pool *pool,
		      const uint32_t *identities, size_t n);
/* Counts the rows, noroot and leak again, of the objects in `bits` alone; rows that have
 * none are removed. Before hi_bins_restrict(). HI_NO_MEMORY. */
enum hi_status hi_bins_recount(struct hi_bins *bins, const struct hi_graph *g,
			       const struct hi_reach *reach, const uint64_t *bits,
			       struct hi_error *err);
void hi_bins_destroy(struct hi_bins *bins);
HI_DEFINE_GUARD(struct hi_bins *, hi_bins_destroy)

#endif
