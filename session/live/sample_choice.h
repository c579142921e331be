/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which allocations a recording takes, by how often the target allocates: all of them, or
 * samples, so that the target loses at most about 5 % of one processor, or of the
 * part of one that it gets.
 */
#ifndef HI_SESSION_LIVE_SAMPLE_CHOICE_H
#define HI_SESSION_LIVE_SAMPLE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

/* Allocations that were counted in a time. */
struct hi_allocation_rate {
	uint64_t allocations, bytes, time_ns;
	uint64_t at_places; /* of the allocations: at places in copies of an allocator,
			       which have no probe at a return */
	/* In that time, of the target's threads: CPU time, and time that they waited for a
	 * processor. Both 0: not known. */
	uint64_t ran_ns, waited_ns;
};
/* A second; 0 if no time has passed. */
double hi_allocation_rate_calls(const struct hi_allocation_rate *rate);
/*
 * Returns the same, of the second in which the target would have done so much had its
 * threads not waited for processors. On a machine that others keep busy a program gets a
 * part of its CPU time, and allocates as much less; but what its probes cost it is a share
 * of the time that it runs. Time in which it has nothing to do counts as before.
 */
double hi_allocation_rate_unstarved(const struct hi_allocation_rate *rate);

struct hi_sample_choice {
	uint64_t sample_bytes; /* mean distance; 0: all */
	double probes;	       /* what the probes alone cost, as a share of a processor */
	bool probes_are_too_much; /* by themselves more than the 5 % */
};
/* Returns the cost of the probes for so many calls of allocator functions, entries of all
 * of them, in a time: a share of a processor. */
double hi_sample_probes_cost(uint64_t calls, uint64_t time_ns);
struct hi_sample_choice hi_sample_choose(const struct hi_allocation_rate *rate);

#endif
