/* SPDX-License-Identifier: BSD-2-Clause */
/* State that the steps of a flow share: set_flow.c, in whose Note [Two walks] they are
 * explained, set_flow_try.c, set_flow_walk.c, set_flow_order.c. */
#ifndef HI_CENSUS_RETAINERS_SET_FLOW_ROWS_INTERNAL_H
#define HI_CENSUS_RETAINERS_SET_FLOW_ROWS_INTERNAL_H

#include "census/analysis/walk_internal.h"
#include "census/retainers/set_flow_state_internal.h"

/* In a flow's column, once the walk has come there: the rest is its number. */
#define HI_FLOW_NUMBERED (1u << 31)
/* In set, during the walk. */
#define HI_FLOW_VISITED (1u << 31)
#define HI_FLOW_LATE (1u << 30)
/* In succ: the row ends; in done: the component ends. */
#define HI_FLOW_LAST (1u << 31)

/* Prefetches the entry so many nodes ahead: done has room for it. */
enum { HI_FLOW_AHEAD = 8, HI_FLOW_SLACK = 3 * HI_FLOW_AHEAD };

struct hi_flow_pair {
	uint32_t number;
	union {
		hi_node object; /* on the stack of the walk */
		uint32_t next;	/* on the path of the search: in succ */
	};
};

struct hi_flow_rows {
	uint32_t n;		  /* objects that sets have come to */
	uint32_t n_late;	  /* of these: the search came to them */
	bool has_late, has_doubt; /* edges that brought a set too late: to nodes that
				   * lead on, to any */
	uint32_t *start;	  /* number -> first of its succ; 0: none */
	uint32_t *set;		  /* number -> ref */
	uint32_t *succ;		  /* [1 ..]: numbers, HI_FLOW_LAST at row ends */
	uint32_t *state; /* number -> HI_FLOW_FINAL if the search was not there */
	uint32_t *done;	 /* room for n; the last n_late of them: numbers, sources
			  * first, HI_FLOW_LAST at the ends of components */
	struct hi_flow_pair *pairs; /* a stack with room for every object */
};
#define HI_FLOW_FINAL 0u

/* The first walk: true sets in the column, or in stack[0 .. *left_ret), which has room
 * for every object, those that all the others are reached from whose sets may lack
 * something. False: out of memory. */
bool hi_flow_try(struct hi_set_flow *flow, hi_node *stack, size_t *left_ret);
/* The second: numbers, rows and sets of what the n starts lead to, the last one first.
 * False: out of memory. */
bool hi_flow_rows_walk(struct hi_flow_rows *rows, struct hi_set_flow *flow,
		       const hi_node *starts, size_t n);
/* state, which is zeroed, and done. */
void hi_flow_rows_order(struct hi_flow_rows *rows);

#endif
