/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes the table of a flow that has run, for retainers.c and bins.c. */
#ifndef HI_CENSUS_RETAINERS_SET_TABLE_INTERNAL_H
#define HI_CENSUS_RETAINERS_SET_TABLE_INTERNAL_H

#include "census/analysis/walk_internal.h"
#include "census/retainers/set_flow_state_internal.h"
#include "census/retainers/set_table.h"

/* Makes the table. Takes the flow's column on success and trims its pool, so that all
 * refs become invalid. */
enum hi_status hi_set_table_make(struct hi_set_flow *flow, const struct hi_reach *reach,
				 hi_pure_fn *pure, void *arg, struct hi_set_table *ret,
				 struct hi_error *err);

HI_INLINE void hi_set_row_add(struct hi_set_row *row, const struct hi_graph *g,
			      const struct hi_reach *reach, hi_pure_fn *pure, void *arg,
			      hi_node object)
{
	const struct hi_objects *o = g->objects;
	uint64_t cost = hi_cost_of(o, object), usable = o->usable_low[object];

	if (pure)
		usable = pure(arg, object);
	else if (__builtin_expect(usable == UINT32_MAX, 0))
		usable = hi_objects_usable(o, object);
	row->objects++;
	row->cost += cost;
	row->cost_pure += usable;
	row->exact_cost += hi_bit(reach->exact, object) ? cost : 0;
	row->leak_cost += hi_bit(reach->any, object) ? 0 : cost;
}

#endif
