/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets that flow along the edges of a graph: the least solution of
 *
 *	set(c) includes what was put into it by hi_set_flow_put(), and
 *	set(c) includes set(a) for each edge a -> c that is followed, a not cut.
 *
 * It has one solution, so no order of anything shows in the result. Linear in
 * the edges and the unions of different pairs of sets. set_flow.c.
 */
#ifndef HI_CENSUS_RETAINERS_SET_FLOW_STATE_INTERNAL_H
#define HI_CENSUS_RETAINERS_SET_FLOW_STATE_INTERNAL_H

#include "census/analysis/analysis.h"
#include "census/retainers/set_pool_internal.h"

struct hi_set_flow {
	const struct hi_graph *graph;
	struct hi_set_pool *pool;
	uint32_t max;	       /* larger sets are HI_SET_MANY */
	uint8_t worst;	       /* grade of the edges that are followed */
	const uint64_t *exact; /* if not NULL: Note [Flow graph] in dominators.c */
	uint32_t *column;      /* per object: before the run what hi_set_flow_put() and
				* hi_set_flow_cut() made of it, after it the ref of its set */
	size_t column_size;    /* bytes */
	size_t few;	       /* Note [Unions in the walk] in set_flow_walk.c: nodes that
				* the pool may get by then */
	int32_t credit;	       /* Note [Two walks]: what the first starts with;
				* below 0: it is left out */
	/* State of the run. */
	hi_node again;	/* objects whose sets the first walk did not settle */
	size_t waiting; /* objects that waited for their visit at one time, at most */
};

/* Above the ref, in a column before the run. */
#define HI_SET_FLOW_CUT (1u << HI_SET_REF_BITS)
#define HI_SET_FLOW_REF ((uint32_t)HI_SET_REF_MAX)

/* Nothing put, nothing cut, all edges but weak ones. Deinit also after failure. */
enum hi_status hi_set_flow_init(struct hi_set_flow *flow, const struct hi_graph *g,
				struct hi_set_pool *pool, struct hi_error *err);
void hi_set_flow_deinit(struct hi_set_flow *flow);
/* Before the run: nothing flows out of the object. */
static inline void hi_set_flow_cut(struct hi_set_flow *flow, hi_node object)
{
	flow->column[object] |= HI_SET_FLOW_CUT;
}
/* Before the run; the object's set gets ref. False when out of memory, as below. */
bool hi_set_flow_put(struct hi_set_flow *flow, hi_node object, uint32_t ref);
bool hi_set_flow_run(struct hi_set_flow *flow);

/* Is an edge of this grade followed? */
static inline bool hi_set_flow_follows(const struct hi_set_flow *f, bool from_exact,
				       hi_node to, uint8_t grade)
{
	if (f->exact && hi_bit(f->exact, to))
		return from_exact && hi_grade_is_precise(grade);
	return grade <= f->worst;
}
static inline bool hi_set_flow_is_exact(const struct hi_set_flow *f, hi_node node)
{
	return f->exact && hi_bit(f->exact, node);
}

#endif
