/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/sample_choice.h"

#include "base/clock.h"
#include "probes/bpf/sampling.h"

/*
 * Nanoseconds of a malloc with its free, as bench/bench_events.c measures them: the traps
 * of the probes, which are paid in any case; the countdown to the next sample; the stack
 * and the events of one that is recorded.
 */
static const double trap_ns = 2000, countdown_ns = 100, record_ns = 1600;
/* The same of two traps at places in copies of pymalloc: 1060 ns. */
static const double place_trap_ns = 1100;
/* Shares of one processor: all that may be lost; what samples get if the probes alone
 * take that. */
static const double most_share = 0.05, least_share = 0.005;
/* All are recorded below. */
static const double few_calls = 20000;
static const uint64_t least_distance = 4096;

double hi_allocation_rate_calls(const struct hi_allocation_rate *rate)
{
	return rate->time_ns
		       ? (double)rate->allocations * HI_NS_PER_S / (double)rate->time_ns
		       : 0;
}

/* How much more often things happen where nothing waits for a processor. */
static double factor_of_starvation(const struct hi_allocation_rate *rate)
{
	return rate->ran_ns ? ((double)rate->ran_ns + (double)rate->waited_ns) /
				      (double)rate->ran_ns
			    : 1;
}

double hi_allocation_rate_unstarved(const struct hi_allocation_rate *rate)
{
	return hi_allocation_rate_calls(rate) * factor_of_starvation(rate);
}

/* A malloc with its free has two. */
double hi_sample_probes_cost(uint64_t calls, uint64_t time_ns)
{
	return time_ns ? (double)calls * trap_ns / 2 / (double)time_ns : 0;
}

/* The power of two from which on at most so many are sampled in a second. */
static uint64_t choose_distance(double bytes_a_second, double samples_a_second)
{
	uint64_t distance = least_distance;

	while (distance < HI_SAMPLING_MEAN_MAX &&
	       bytes_a_second / (double)distance > samples_a_second)
		distance *= 2;
	return distance;
}

struct hi_sample_choice hi_sample_choose(const struct hi_allocation_rate *rate)
{
	const struct hi_allocation_rate at_places = {.allocations = rate->at_places,
						     .time_ns = rate->time_ns,
						     .ran_ns = rate->ran_ns,
						     .waited_ns = rate->waited_ns};
	double calls = hi_allocation_rate_unstarved(rate);
	double probes = (calls * trap_ns - hi_allocation_rate_unstarved(&at_places) *
						   (trap_ns - place_trap_ns)) *
			1e-9;
	double left = most_share - probes - calls * countdown_ns * 1e-9;
	struct hi_sample_choice choice = {.probes = probes,
					  .probes_are_too_much = probes > most_share};

	if (calls < few_calls)
		return choice;
	if (left < least_share)
		left = least_share;
	choice.sample_bytes = choose_distance((double)rate->bytes * HI_NS_PER_S /
						      (double)rate->time_ns *
						      factor_of_starvation(rate),
					      left / (record_ns * 1e-9));
	return choice;
}
