/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files that read the graph of a snapshot. */
#ifndef HI_CENSUS_SNAPSHOT_SNAPSHOT_GRAPH_INTERNAL_H
#define HI_CENSUS_SNAPSHOT_SNAPSHOT_GRAPH_INTERNAL_H

#include "census/snapshot/snapshot_internal.h"

/* After s->types. */
enum hi_status hi_snapshot_objects(struct hi_snapshot *s, struct hi_objects **ret,
				   struct hi_error *err);
/* s->types; at least the one that is none. */
enum hi_status hi_snapshot_types(struct hi_snapshot *s, struct hi_error *err);
/* All but the first. */
enum hi_status hi_snapshot_add_types(struct hi_snapshot *s, struct hi_graph_builder *b,
				     struct hi_error *err);
/* The counts, without the bits. */
void hi_snapshot_reach_numbers(const struct hi_snapshot *s, struct hi_reach *r);

#endif
