/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rates by windows beside simulations whose truth is known: many recordings of drawn
 * programs, of which about 95 % must have the true rate in the interval.
 */
#include "census/events/windows.h"

#include <math.h>

#include "base/clock.h"
#include "tests/harness.h"

enum { RECORDINGS = 400 };

static uint64_t state = 0x9e3779b97f4a7c15;

static double draw_uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double draw_exponential(double rate)
{
	return -log(draw_uniform()) / rate;
}

/* A drawn site: calls at random, or in bursts of some calls that begin at random; it is
 * `loud` times as busy in the last half of the recording. */
struct drawn_site {
	double rate; /* bursts a second */
	unsigned burst;
	double gap_s; /* between two calls of a burst, on average */
	double loud;
};

static const struct drawn_site sites[] = {
	{500, 1, 0, 1},	     /* calls often */
	{60, 1, 0, 1},	     /* once a window or so */
	{5, 1, 0, 1},	     /* in few windows */
	{20, 20, 0.0002, 1}, /* bursts shorter than a window */
	{300, 1, 0, 5},	     /* grows */
	{20, 30, 0.001, 1},  /* bursts as long as a window */
};
enum { SITES = sizeof(sites) / sizeof(*sites) };

/* Returns the calls of the recording; those within [from, to) of each window go into
 * *windows as context c. */
static double draw_calls_of_site(const struct drawn_site *site, double seconds,
				 const double *from, const double *length, size_t n,
				 uint32_t *seen)
{
	double all = 0;

	for (int half = 0; half < 2; half++) {
		double rate = site->rate * (half ? site->loud : 1);
		double end = seconds * (half + 1) / 2, t = seconds * half / 2;

		while ((t += draw_exponential(rate)) < end) {
			double at = t;

			for (unsigned i = 0; i < site->burst; i++) {
				size_t k = (size_t)(at < 0 ? 0 : at);

				if (at >= seconds)
					break;
				all++;
				if (k < n && at >= from[k] && at < from[k] + length[k])
					seen[k]++;
				if (site->gap_s > 0)
					at += draw_exponential(1 / site->gap_s);
			}
		}
	}
	return all;
}

static void draw_windows(size_t n, double *from, double *length)
{
	for (size_t k = 0; k < n; k++) {
		length[k] = draw_uniform() < 0.3 ? 0.006 : 0.02; /* some are cut */
		from[k] = (double)k + draw_uniform() * (1 - length[k]);
	}
}

/* In how many recordings is the true number of calls in the interval? */
static unsigned count_covered(const struct drawn_site *site, size_t n, size_t most)
{
	enum { MOST = 240 };
	double from[MOST], length[MOST];
	const uint32_t group_of = 0;
	unsigned covered = 0;
	struct hi_error err;

	for (int r = 0; r < RECORDINGS; r++) {
		uint32_t seen[MOST] = {};
		struct hi_windows *w;
		struct hi_window_rate rate;
		double all, truth;

		HI_ASSERT_OK(hi_windows_create(most, &w, &err), &err);
		draw_windows(n, from, length);
		all = draw_calls_of_site(site, (double)n, from, length, n, seen);
		truth = all / (double)n;
		for (size_t k = 0; k < n; k++) {
			uint64_t at = (uint64_t)(from[k] * HI_NS_PER_S) + 1;

			for (uint32_t i = 0; i < seen[k]; i++)
				HI_ASSERT_OK(hi_windows_count(w, 0, 24, &err), &err);
			HI_ASSERT_OK(
				hi_windows_end(w, at,
					       at + (uint64_t)(length[k] * HI_NS_PER_S),
					       &err),
				&err);
		}
		HI_ASSERT_OK(hi_windows_rates(w, &group_of, 1, 1, &rate, &err), &err);
		covered += rate.seen == 0 ? 1
					  : rate.allocs.low <= truth &&
						    truth <= rate.allocs.high;
		hi_windows_destroy(w);
	}
	return covered;
}

/* Three standard deviations of the number of recordings below 95 %. */
static void expect_coverage(size_t n_windows, size_t most)
{
	const double least = RECORDINGS * 0.95 - 3 * sqrt(RECORDINGS * 0.95 * 0.05);

	for (size_t i = 0; i < SITES; i++) {
		unsigned covered = count_covered(&sites[i], n_windows, most);

		hi_test_note("site %zu: %u of %u", i, covered, (unsigned)RECORDINGS);
		HI_ASSERT_MSG(covered >= least, "site %zu: %u of %u recordings", i,
			      covered, (unsigned)RECORDINGS);
	}
}

HI_TEST(windows, intervals_have_the_true_rate_of_a_minute)
{
	expect_coverage(60, 0);
}

HI_TEST(windows, intervals_have_the_true_rate_of_ten_windows)
{
	expect_coverage(10, 0);
}

HI_TEST(windows, intervals_of_batches_have_the_true_rate)
{
	expect_coverage(120, 16);
}

/* ---- frees of unseen blocks ---- */

/* Many are a sample, in the order of time. */
HI_TEST(windows, old_frees_stand_for_those_that_have_no_room)
{
	const uint64_t all = 200000;
	struct hi_window_frees frees;
	struct hi_windows *w;
	struct hi_error err;

	HI_ASSERT_OK(hi_windows_create(0, &w, &err), &err);
	hi_test_defer(hi_windows_destroy, w);
	HI_ASSERT_EQ(0, hi_windows_old_frees(w).n);
	for (uint64_t i = 0; i < all; i++)
		hi_windows_note_old_free(w, 16 * i);
	frees = hi_windows_old_frees(w);
	HI_ASSERT(frees.n > 10000 && frees.n <= 65536);
	HI_ASSERT(frees.n * frees.each >= all && (frees.n - 1) * frees.each < all);
	for (size_t i = 0; i < frees.n; i++)
		HI_ASSERT_EQ(16 * i * frees.each, frees.addresses[i]);
}

/* ---- the speed in windows ---- */

/* 20 windows of 20 ms, and gaps of 980 ms, on one processor. */
static struct hi_window_load load_of(double usage, double in_gaps, uint64_t hits)
{
	return (struct hi_window_load){.cpu_ns = (uint64_t)(usage * 400e6),
				       .cpu_of_ns = 400000000,
				       .gap_cpu_ns = (uint64_t)(in_gaps * 19600e6),
				       .gap_ns = 19600000000,
				       .hits = hits,
				       .trap_ns = 500,
				       .program_ns = hits * 500,
				       .covered_ns = 400000000};
}

HI_TEST(windows, speed_is_what_traps_leave_of_a_saturated_program)
{
	struct hi_window_load half = load_of(1, 1, 200000), none = load_of(1, 1, 0),
			      all = load_of(1, 1, 396000);
	struct hi_bounded speed = hi_window_speed(&half), most;

	HI_ASSERT(fabs(speed.value - 0.5) < 1e-9);
	HI_ASSERT(speed.low < 0.45 && speed.high > 0.55);
	HI_ASSERT(hi_window_speed(&none).low >= 1);
	most = hi_window_at_speed((struct hi_bounded){100, 90, 110}, &speed);
	HI_ASSERT(fabs(most.value - 200) < 1e-9);
	HI_ASSERT(most.low < 90 / 0.55 && most.high > 110 / 0.45);
	/* Nothing is left that could be known. */
	speed = hi_window_speed(&all);
	most = hi_window_at_speed((struct hi_bounded){100, 90, 110}, &speed);
	HI_ASSERT(isinf(most.high) && most.low >= 90);
}

/* It waits, and had the processor in half of the windows alone, by chance. */
HI_TEST(windows, a_speed_by_chance_may_be_the_full_one)
{
	struct hi_window_load busy = load_of(0.4, 0.6, 0), one = busy;
	struct hi_bounded speed;

	busy.n = 20;
	/* Ten windows of 20 ms have 16 ms, ten none. */
	busy.cpu_squares_ns = 10 * 12800000ull;
	speed = hi_window_speed(&busy);
	HI_ASSERT(fabs(speed.value - 0.4 / 0.6) < 1e-9);
	HI_ASSERT(speed.low < speed.value + 1e-9);
	/* 2.09 times the root of 0.16 / 19 above it. */
	HI_ASSERT(fabs(speed.high - (0.4 + 2.093 * sqrt(0.16 / 19)) / 0.6) < 0.01);
	/* All have had as much. */
	one.n = 20;
	one.cpu_squares_ns = (uint64_t)(0.4 * 0.4 * 400e6);
	HI_ASSERT(hi_window_speed(&one).high < speed.value + 1e-3);
}

/* It waits for half of the time, and works off the traps then. */
HI_TEST(windows, a_program_that_waits_is_not_slowed)
{
	struct hi_window_load waits = load_of(0.8, 0.5, 120000),
			      unknown = {.hits = 5, .covered_ns = 10};
	struct hi_bounded speed = hi_window_speed(&waits);

	HI_ASSERT(fabs(speed.value - 1) < 1e-9);
	HI_ASSERT(hi_window_speed(&unknown).value >= 1);
}
