/* SPDX-License-Identifier: BSD-2-Clause */
/* How the analyses make their table of a flow that has run. */
#ifndef HI_CENSUS_SET_TABLE_INTERNAL_H
#define HI_CENSUS_SET_TABLE_INTERNAL_H

#include "census/set_flow_internal.h"
#include "census/set_table.h"

/* Takes the flow's column on success, and trims its pool: all refs are void. */
enum hi_status hi_set_table_make(struct hi_set_flow *flow, const struct hi_reach *reach,
				 hi_pure_fn *pure, void *arg, struct hi_set_table *ret,
				 struct hi_error *err);

#endif
