/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HI_CENSUS_BIOGRAPHY_VIEW_INTERNAL_H
#define HI_CENSUS_BIOGRAPHY_VIEW_INTERNAL_H

#include "census/biography/biography_internal.h"
#include "census/biography/view.h"

struct hi_bio_view {
	struct hi_band_store store; /* summed */
	struct hi_bio_areas areas;
	uint64_t censuses;
	uint64_t unbalanced; /* groups whose differences did not add up to 0 */
	uint64_t misordered; /* lives, of the dead and of the living */
	uint32_t n_groups;
};

#endif
