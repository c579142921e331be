/* SPDX-License-Identifier: BSD-2-Clause */
/* What the snapshot's reader of graphs consists of. */
#ifndef HI_CENSUS_SNAPSHOT_GRAPH_INTERNAL_H
#define HI_CENSUS_SNAPSHOT_GRAPH_INTERNAL_H

#include "census/snapshot_internal.h"

enum hi_status hi_snapshot_objects(struct hi_snapshot *s, uint32_t n_types,
				   struct hi_objects **ret, struct hi_error *err);

#endif
