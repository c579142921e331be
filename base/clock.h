/* SPDX-License-Identifier: BSD-2-Clause */
/* Time that passes while something is done. */
#ifndef HI_BASE_CLOCK_H
#define HI_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of the monotonic clock: only differences mean something. */
static inline uint64_t hi_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
