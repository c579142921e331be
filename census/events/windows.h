/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocations in windows: how often each context allocates, by moments in which all of
 * its allocations were seen.
 *
 * Note [Rates by windows]
 *
 * One window lies in each period, at a random place of it, so that the number of
 * allocations in a window, divided by its length, is a rate without a bias for its
 * period, also where a busy period has a shorter window. All windows count the same: the
 * rate of the recording is the mean of theirs, and its variance follows from how much
 * they differ, which has bursts in it; it is never less than chance alone (Poisson's)
 * would make it. The interval of 95 % is that of Wilson's score (sampling.h) with the
 * quantile of Student's distribution, as there may be few windows.
 *
 * Many windows are counted in batches of 2, 4, ... of them, so that memory is bounded;
 * the mean stays the same, and the variance is that of batches.
 */
#ifndef HI_CENSUS_EVENTS_WINDOWS_H
#define HI_CENSUS_EVENTS_WINDOWS_H

#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"

struct hi_windows;
/* most_entries: about as many numbers are kept; 0: the default. *ret:
 * hi_windows_destroy(). */
enum hi_status hi_windows_create(size_t most_entries, struct hi_windows **ret,
				 struct hi_error *err);
void hi_windows_destroy(struct hi_windows *windows); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_windows *, hi_windows_destroy)

/* An allocation of the window that is open. HI_NO_MEMORY. */
enum hi_status hi_windows_count(struct hi_windows *windows, uint32_t context,
				uint64_t size, struct hi_error *err);
/* That window has ended. HI_NO_MEMORY. */
enum hi_status hi_windows_end(struct hi_windows *windows, uint64_t from_ns,
			      uint64_t to_ns, struct hi_error *err);

/* The block of a context was given out again, though no window saw that it was freed. */
void hi_windows_note_reuse(struct hi_windows *windows, uint32_t context);
/* How many were; of contexts that no window saw 0. */
uint64_t hi_windows_reused(const struct hi_windows *windows, uint32_t context);

/* A block was freed in a window, and none has seen its allocation. */
void hi_windows_note_old_free(struct hi_windows *windows, uint64_t addr);
/* Addresses of such blocks, in the order of time; each stands for so many frees. Borrowed
 * until the next one is noted. */
struct hi_window_frees {
	const uint64_t *addresses;
	size_t n;
	uint64_t each;
};
struct hi_window_frees hi_windows_old_frees(const struct hi_windows *windows);

struct hi_window_totals {
	uint64_t n, allocs, bytes; /* windows; what they saw */
	uint64_t covered_ns;
	uint64_t shortest_ns, longest_ns; /* of a window; 0: there are none */
};
struct hi_window_totals hi_windows_totals(const struct hi_windows *windows);
/* The number of the window that was open at a time, and its length; the length is 0: none
 * was. */
uint32_t hi_windows_at(const struct hi_windows *windows, uint64_t time_ns,
		       uint64_t *length_ret);

/* Why there are windows: they were asked for; a recording of all allocations is dear, as
 * was seen before it began, or later: then all were recorded until the windows began. */
enum hi_windows_why { HI_WINDOWS_ASKED, HI_WINDOWS_DEAR, HI_WINDOWS_BECAME_DEAR };
struct hi_windows_choice {
	uint64_t why; /* enum hi_windows_why */
	/* Share of the target's CPU time that a recording of all takes, in millionths;
	 * not of windows that were asked for. */
	uint64_t cost_ppm;
	uint64_t whole_ns; /* for how long all were recorded, before */
};

/* An estimate, and the ends of its interval of 95 %. */
struct hi_bounded {
	double value, low, high;
};
struct hi_window_rate {
	struct hi_bounded allocs, bytes; /* a second */
	uint64_t seen;			 /* allocations */
};
/*
 * The rates of groups of contexts: group_of has a group below n_groups for each of
 * n_contexts contexts, UINT32_MAX for none. ret: n_groups. HI_NO_MEMORY.
 */
enum hi_status hi_windows_rates(const struct hi_windows *windows,
				const uint32_t *group_of, uint32_t n_contexts,
				uint32_t n_groups, struct hi_window_rate *ret,
				struct hi_error *err);

/*
 * Note [Slowed by windows]
 *
 * In a window each hit costs the target a trap, so that a program that has no time to
 * spare does less there than it does otherwise. The CPU time of the target in windows,
 * less the cost of traps and programs, is compared with that of the gaps between them: the
 * quotient is its speed, by which rates are divided. A program that waits anyhow makes up
 * for it, and has a speed of 1. The cost of a trap is known to about a seventh: where most
 * of a window goes into traps, the speed is hardly known, and rates have no upper end. A
 * program that waits has more time in some windows than in others, more so on a busy
 * machine; what that can be by chance is added to the upper end of the speed, so that
 * rates go down to those that were seen.
 */
struct hi_window_load {
	uint64_t cpu_ns,
		cpu_of_ns; /* of windows: CPU time of the target in so much time */
	uint64_t gap_cpu_ns, gap_ns;	 /* the same of gaps */
	uint64_t hits, trap_ns;		 /* in windows; each costs so much */
	uint64_t program_ns, covered_ns; /* in programs; length of the windows */
	/* Windows with a CPU time, and the sum of its square over the time that it is of. */
	uint64_t n, cpu_squares_ns;
};
/* Returns the speed of the target in windows, at most 1. */
struct hi_bounded hi_window_speed(const struct hi_window_load *load);
/* An estimate by windows, at the speed that the target has without them. high: INFINITY
 * where that is not known. */
struct hi_bounded hi_window_at_speed(struct hi_bounded estimate,
				     const struct hi_bounded *speed);

/* ---- means of what was seen in windows ---- */

/* Sums over windows (or batches) of one figure; rates are per second. */
struct hi_window_sum {
	double rates;	/* of each window */
	double squares; /* of the mean rate of each batch, times its windows */
	double chance;	/* the variance of the sum of rates by chance alone */
};
/* The mean rate of n windows in so many batches. */
struct hi_bounded hi_window_mean(const struct hi_window_sum *sum, uint64_t n_windows,
				 uint64_t n_batches);
/* The quantile of 97.5 % of Student's distribution. */
double hi_student_quantile(uint64_t degrees);

#endif
