/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/space/times.h"

static struct hi_alloc_time sum_stacks(const struct hi_space_stack *stacks, size_t n)
{
	struct hi_alloc_time sum = {};

	for (size_t i = 0; i < n; i++) {
		if (!stacks[i].ticks)
			continue;
		sum.scans += stacks[i].ticks;
		sum.frames += stacks[i].ticks * stacks[i].n;
		sum.no_stack += stacks[i].n ? 0 : stacks[i].ticks;
		if (stacks[i].n > sum.most_frames)
			sum.most_frames = stacks[i].n;
	}
	return sum;
}

static void fill_alloc_time(const struct hi_space_profile *profile,
			    struct hi_alloc_time *ret)
{
	struct hi_recording_counts counts;
	struct hi_recorded_time time = hi_space_profile_time(profile, &counts);

	ret->scan_ns = time.scan_ns;
	ret->target_ns = time.target_ns;
	ret->tool_ns = time.tool_ns;
	ret->missed = time.missed;
	/* Of a file it may be any number. */
	ret->in_probes =
		counts.ticks_in_probes < ret->scans ? counts.ticks_in_probes : ret->scans;
}

enum hi_status hi_space_profile_times(const struct hi_space_profile *profile,
				      struct hi_arena *arena, struct hi_alloc_time *ret,
				      struct hi_space_time **times_ret,
				      struct hi_error *err)
{
	uint32_t n = hi_space_profile_n_contexts(profile);
	size_t n_functions;
	const struct hi_space_function *functions =
		hi_space_profile_functions(profile, &n_functions);
	struct hi_space_stack *stacks = hi_arena_alloc(arena, (n + 1u) * sizeof(*stacks));
	bool *is_allocator =
		hi_arena_alloc(arena, (n_functions + 1) * sizeof(*is_allocator));
	struct hi_recording_counts unused;

	*ret = (struct hi_alloc_time){};
	*times_ret = NULL;
	if (!hi_space_profile_time(profile, &unused).scan_ns)
		return HI_OK;
	*times_ret = hi_arena_alloc(arena, (n_functions + 1) * sizeof(**times_ret));
	if (!stacks || !is_allocator || !*times_ret)
		return hi_fail_memory(err, "times of functions");
	for (uint32_t i = 0; i < n; i++)
		stacks[i] = hi_space_profile_stack(profile, i);
	for (size_t i = 0; i < n_functions; i++)
		is_allocator[i] = functions[i].is_allocator;
	*ret = sum_stacks(stacks, n);
	ret->in_allocator =
		hi_space_ticks_inside(stacks, n, is_allocator, (uint32_t)n_functions);
	fill_alloc_time(profile, ret);
	return hi_space_times(stacks, n, *times_ret, (uint32_t)n_functions, err);
}
