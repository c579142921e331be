/* SPDX-License-Identifier: BSD-2-Clause */
/* Unreachable objects by class (see graph.h) and type: what a runtime's collector will
 * do with them. */
#ifndef HI_CENSUS_ANALYSIS_GARBAGE_H
#define HI_CENSUS_ANALYSIS_GARBAGE_H

#include "census/analysis/analysis.h"

struct hi_garbage_row {
	uint32_t type;
	enum hi_unreachable_class unreachable_class;
	bool put_aside; /* uncollectable and live: the collector keeps a reference to it
			 */
	uint64_t objects, bytes;
	hi_node example; /* the largest; of several the lowest */
};
struct hi_garbage {
	struct hi_garbage_row *rows; /* by bytes, then type */
	size_t n_rows;
	/* By class. Objects that the collector put aside are in none of them. */
	uint64_t objects[HI_UNREACHABLE_CLASSES], bytes[HI_UNREACHABLE_CLASSES];
	uint64_t aside_objects, aside_bytes;
};

/* Counts the classes. A graph of a target without a collector gives no rows.
 * HI_NO_MEMORY. */
enum hi_status hi_garbage_compute(const struct hi_graph *graph,
				  const struct hi_reach *reach, struct hi_garbage **ret,
				  struct hi_error *err);
void hi_garbage_destroy(struct hi_garbage *garbage);

#endif
