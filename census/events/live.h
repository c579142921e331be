/* SPDX-License-Identifier: BSD-2-Clause */
/* One live allocation. */
#ifndef HI_CENSUS_EVENTS_LIVE_H
#define HI_CENSUS_EVENTS_LIVE_H

#include <stdint.h>

/* The largest size: as much as a record has room for, and no allocation reaches. */
#define HI_LIVE_SIZE_MAX ((1ull << 56) - 1)

struct hi_live_allocation {
	uint64_t addr;
	uint64_t size : 56;  /* as requested */
	uint64_t source : 8; /* of the recording */
	uint64_t time_ns;    /* CLOCK_MONOTONIC, when it was allocated */
	uint32_t context;    /* contexts.h */
	uint32_t tid;
};

#endif
