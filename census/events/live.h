/* SPDX-License-Identifier: BSD-2-Clause */
/* One live allocation. */
#ifndef HI_CENSUS_EVENTS_LIVE_H
#define HI_CENSUS_EVENTS_LIVE_H

#include <stdint.h>

struct hi_live_allocation {
	uint64_t addr, size; /* size: as requested */
	uint64_t time_ns;    /* CLOCK_MONOTONIC, when it was allocated */
	uint32_t context;    /* contexts.h */
	uint32_t tid;
};

#endif
