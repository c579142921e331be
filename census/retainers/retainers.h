/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Retainer sets: what keeps each object alive. (Runciman and Röjemo 1996; GHC's -hr.)
 *
 * Some objects and root variables are *retainers*. A retainer has an identity, which
 * others may share: a type, a site, a module, the variable itself. The sets are the least
 * solution of
 *
 *	identity(r) in set(r)		for each root r
 *	from(a) within set(c)		for each edge a -> c
 *	from(a) = {identity(a)} if a is a retainer, else set(a)
 *
 * so the set of an object has its nearest retainers and no farther ones. Root variables
 * cost nothing. The result does not depend on the order of roots, edges and threads.
 * Every set keeps its number for a series of censuses with the same pool (set_pool.h).
 */
#ifndef HI_CENSUS_RETAINERS_RETAINERS_H
#define HI_CENSUS_RETAINERS_RETAINERS_H

#include "base/cleanup.h"
#include "census/retainers/set_table.h"

struct hi_retainer_options {
	/* Identity by node, of objects and root variables (all nodes below
	 * first_kind); 0: no retainer. One of the two; the array is the faster. A
	 * number must mean the same in all censuses of a series. */
	const uint32_t *identities;
	uint32_t (*identity)(void *arg, hi_node node);
	/* Not 0: what root variables contribute that are no retainers, and blocks of
	 * the allocator that no variable leads to. */
	uint32_t system;
	/* 0: weak edges retain nothing, as everywhere. Else what a weak edge leads to,
	 * from any object or root that is alive, is a root with this identity. */
	uint32_t weak;
	uint32_t max_set; /* larger sets become HI_SET_MANY; 0: no limit */
	/* An object that precise edges reach is held by precise edges alone (Note [Flow
	 * graph] in dominators.c). Else one stale word puts its name into many sets. */
	bool prefer_precise;
	hi_pure_fn *pure; /* may be NULL */
	void *arg;	  /* of both callbacks */
};

struct hi_retainers {
	struct hi_set_table table; /* live objects, and with `weak` what that adds */
	uint64_t weak_objects, weak_cost; /* of these: nothing but weak edges hold them */
	hi_node revisited; /* objects that it had to look at twice: a figure of speed */
	uint64_t waiting;  /* of its work list: the most objects at one time */
};

/* HI_USAGE: identities are missing, or system is 0. HI_LIMIT: 2^31 objects, 2^32 edges.
 */
enum hi_status hi_retainers_compute(const struct hi_graph *g,
				    const struct hi_reach *reach,
				    const struct hi_retainer_options *options,
				    struct hi_set_pool *pool, struct hi_retainers **ret,
				    struct hi_error *err);
void hi_retainers_destroy(struct hi_retainers *retainers);
HI_DEFINE_GUARD(struct hi_retainers *, hi_retainers_destroy)

#endif
