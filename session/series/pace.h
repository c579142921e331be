/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How often, and by how many threads, a process may be inspected without taking
 * processors from it. Between two censuses the machine's idle time is measured
 * (/proc/stat, proc(5)). A census computes on as many processors as were idle. If none
 * was, censuses are so far apart that they take a small share of the processors.
 */
#ifndef HI_SESSION_SERIES_PACE_H
#define HI_SESSION_SERIES_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct hi_pace {
	unsigned processors;
	double share;		    /* processors that it may take where none is idle */
	bool measures_each;	    /* there is time for it before each census */
	uint64_t ended_ns, idle_ns; /* at the end of the last census */
	uint64_t measured_ns;	    /* when the idle time was measured last */
	uint64_t own_ns;	    /* processor time of this process, at its begin */
	uint64_t spent_ns;	    /* of the last census */
	double idle;		    /* processors */
	bool is_known;
};

/* Was no processor idle before the last census? */
bool hi_pace_is_machine_busy(const struct hi_pace *pace);

/* Measures from now on. spares_target: the series runs for long beside a recording, and
 * takes 3 % of all processors; else half of one. */
void hi_pace_start(struct hi_pace *ret, bool spares_target);
/* Before a census. */
void hi_pace_begin_census(struct hi_pace *pace);
/* Threads for a census, at most `most` (0: as many as there are processors) and at least
 * one. */
unsigned hi_pace_threads(const struct hi_pace *pace, unsigned most);
/* After a census that began at began_ns: before which time no other one is to begin (both
 * CLOCK_MONOTONIC). */
uint64_t hi_pace_end_census(struct hi_pace *pace, uint64_t began_ns);

/* The least time between the beginnings of two censuses, of which one has spent so much,
 * on a machine with so many idle processors, if they may take `share` processors; 0: any.
 */
uint64_t hi_pace_rest_ns(double idle, double share, uint64_t spent_ns);

#endif
