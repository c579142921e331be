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

#include "census/events/windows.h"

/* Allocations that were counted in a time. */
struct hi_allocation_rate {
	uint64_t allocations, bytes, time_ns;
	uint64_t at_places; /* of the allocations: at places in copies of an allocator,
			       which have no probe at a return */
	/* In that time, of the target's threads: CPU time, and time that they waited for a
	 * processor. Both 0: not known. */
	uint64_t ran_ns, waited_ns;
	uint64_t cpu_ns; /* of all threads, also of those that have ended; 0: not known */
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

/*
 * The cost of a recording of all allocations for the target, as a share of its CPU time: so it
 * is the same whether others keep the machine busy or not. It is dear above 2 % of that,
 * unless it is below half a percent of one processor: a program that does next to nothing
 * loses nothing, whatever its share is.
 */
struct hi_whole_cost {
	double share; /* of the target's CPU time with its probes; at most 1 */
	bool is_dear, is_at_least_twice; /* the latter: of what is dear */
};
/* is_recorded: in this time all were, else they were counted by probes. */
struct hi_whole_cost hi_whole_cost(const struct hi_allocation_rate *rate,
				   bool is_recorded);
/* Why there are windows then; later: the recording had begun. */
struct hi_windows_choice hi_windows_choice_of(const struct hi_whole_cost *cost,
					      bool is_later);
/* Have probes that only count cost a window's worth, so that there is no need to count
 * for longer? */
bool hi_has_counted_enough(const struct hi_allocation_rate *rate);

/* Returns the cost of the probes for so many calls of allocator functions, entries of all
 * of them, in a time: a share of a processor. */
double hi_sample_probes_cost(uint64_t calls, uint64_t time_ns);
struct hi_sample_choice hi_sample_choose(const struct hi_allocation_rate *rate);

#endif
