/* SPDX-License-Identifier: BSD-2-Clause */
/* How much of the live heap has a type, by the evidence for it. */
#ifndef HI_CENSUS_RETAINERS_TYPE_EVIDENCE_H
#define HI_CENSUS_RETAINERS_TYPE_EVIDENCE_H

#include "census/analysis/analysis.h"

struct hi_share {
	uint64_t objects, bytes; /* cost */
};
/* exact + inferred + by_field + unnamed = live. Internal blocks are left out. */
struct hi_shares {
	struct hi_share exact;	  /* evidence from HI_EVIDENCE_POINTER up */
	struct hi_share inferred; /* less: containers, hints, sites, shapes */
	struct hi_share by_field; /* no type, but a field leads there (HI_TYPE_FIELD) */
	struct hi_share unnamed;
	struct hi_share conservative_only; /* of all these: no path of precise edges */
};
void hi_shares_count(const struct hi_graph *g, const struct hi_reach *reach,
		     struct hi_shares *ret);

#endif
