/* SPDX-License-Identifier: BSD-2-Clause */
/* Totals by type of a subset of the objects: new ones, or those that survived. */
#ifndef HI_CENSUS_ANALYSIS_SUBSET_TOTALS_H
#define HI_CENSUS_ANALYSIS_SUBSET_TOTALS_H

#include "base/cleanup.h"
#include "census/analysis/compare.h"
#include "census/analysis/leak_totals.h"

struct hi_marked_row {
	uint32_t type;
	struct hi_heap_total all, unheld[HI_LEAK_KINDS]; /* unheld: of all, not live */
	uint64_t retained; /* by the live ones (a lower bound, as in a census) and by
			    * each other one itself */
	hi_node example;   /* the live one that retains most; else the first one */
};
struct hi_marked {
	struct hi_marked_row *rows; /* by bytes, then type */
	size_t n_rows;
	struct hi_heap_total all, unheld[HI_LEAK_KINDS];
};

/* Totals by type of the objects with a bit in marked; blocks of the allocator have
 * none. */
enum hi_status hi_marked_by_type(const struct hi_heap_side *side, const uint64_t *marked,
				 struct hi_marked **ret, struct hi_error *err);
void hi_marked_destroy(struct hi_marked *m);
HI_DEFINE_GUARD(struct hi_marked *, hi_marked_destroy)

#endif
