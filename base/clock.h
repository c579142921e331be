/* SPDX-License-Identifier: BSD-2-Clause */
/* The monotonic clock, for measuring and for time limits. */
#ifndef HI_BASE_CLOCK_H
#define HI_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define HI_NS_PER_S 1000000000ull

/*
 * CLOCK_MONOTONIC in nanoseconds, the same in every process of this machine. Only
 * differences mean something.
 */
static inline uint64_t hi_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * HI_NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* ns nanoseconds as a timespec. */
static inline struct timespec hi_timespec(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / HI_NS_PER_S),
				 .tv_nsec = (long)(ns % HI_NS_PER_S)};
}

/* Sleeps for ns nanoseconds; a signal may end it early. */
static inline void hi_clock_pause_ns(uint64_t ns)
{
	struct timespec ts = hi_timespec(ns);

	nanosleep(&ts, NULL);
}

#endif
