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

/* ---- the cost of all ---- */

static const double dear_share = 0.02, dear_processor = 0.005, count_most_ns = 17e6;
/* Fewer tell nothing. */
enum { FEW_COUNTED = 50 };

/* For traps alone. */
static double traps_ns(const struct hi_allocation_rate *rate)
{
	return (double)rate->allocations * trap_ns -
	       (double)rate->at_places * (trap_ns - place_trap_ns);
}

/* Share of a processor, for as long as the target did not wait for one. */
static double share_of_processor(const struct hi_allocation_rate *rate, double cost_ns)
{
	const double least = 0.05;
	double time = (double)rate->time_ns, left = time - (double)rate->waited_ns;

	if (left < least * time)
		left = least * time;
	return left > 0 ? cost_ns / left : 0;
}

struct hi_whole_cost hi_whole_cost(const struct hi_allocation_rate *rate,
				   bool is_recorded)
{
	double records = (double)rate->allocations * record_ns;
	double cost = traps_ns(rate) + records;
	double cpu = (double)(rate->cpu_ns ? rate->cpu_ns : rate->time_ns) +
		     (is_recorded ? 0 : records);
	double processor = share_of_processor(rate, cost);
	struct hi_whole_cost ret = {.share = cpu > 0 ? cost / cpu : 0};

	if (ret.share > 1)
		ret.share = 1;
	ret.is_dear = ret.share > dear_share && processor > dear_processor &&
		      rate->allocations >= FEW_COUNTED;
	ret.is_at_least_twice = ret.is_dear && ret.share > 2 * dear_share &&
				processor > 2 * dear_processor;
	return ret;
}

struct hi_windows_choice hi_windows_choice_of(const struct hi_whole_cost *cost,
					      bool is_later)
{
	return (struct hi_windows_choice){.why = is_later ? HI_WINDOWS_BECAME_DEAR
							  : HI_WINDOWS_DEAR,
					  .cost_ppm = (uint64_t)(cost->share * 1e6)};
}

bool hi_has_counted_enough(const struct hi_allocation_rate *rate)
{
	return traps_ns(rate) > count_most_ns;
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
