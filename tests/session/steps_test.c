/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps that run beside each other (session/inspect/steps.h). */
#include "tests/harness.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "session/inspect/steps.h"
#include "tests/support/random.h"

/* A step's number is in its function: one for each. */
enum { N = 12 };

static struct {
	_Atomic uint32_t begun, done;
	uint32_t needs[N], fails;
	_Atomic unsigned wrong;
} world;

static enum hi_status run_numbered(unsigned step, struct hi_error *err)
{
	uint32_t done = world.done;

	if ((world.needs[step] & ~done) || (world.begun >> step & 1))
		world.wrong++;
	world.begun |= 1u << step;
	for (unsigned i = 0; i < step % 5; i++)
		sched_yield();
	world.done |= 1u << step;
	return world.fails >> step & 1 ? hi_fail(err, HI_BAD_DATA, step, "step %u", step)
				       : HI_OK;
}

#define NUMBERED(n)                                                                      \
	static enum hi_status run_step_##n(struct hi_inspection *in,                     \
					   struct hi_error *err)                         \
	{                                                                                \
		(void)in;                                                                \
		return run_numbered(n, err);                                             \
	}
NUMBERED(0)
NUMBERED(1)
NUMBERED(2)
NUMBERED(3)
NUMBERED(4)
NUMBERED(5)
NUMBERED(6)
NUMBERED(7)
NUMBERED(8)
NUMBERED(9)
NUMBERED(10)
NUMBERED(11)

static enum hi_status (*const functions[N])(struct hi_inspection *, struct hi_error *) = {
	run_step_0, run_step_1, run_step_2, run_step_3, run_step_4,  run_step_5,
	run_step_6, run_step_7, run_step_8, run_step_9, run_step_10, run_step_11};

static void end_phases(struct hi_inspection *in)
{
	hi_vector_free(&in->phases.list);
	free(in);
}

/* Any needs of steps before; a step in four is not wanted, and counts as done. */
static uint32_t draw_steps(uint64_t seed, struct hi_step *steps)
{
	uint64_t state = seed;
	uint32_t wanted = 0;

	memset(&world, 0, sizeof(world));
	for (unsigned i = 0; i < N; i++) {
		uint32_t needs = (uint32_t)(next_random(&state) & next_random(&state)) &
				 ((1u << i) - 1);

		steps[i] = (struct hi_step){"step", functions[i], needs,
					    next_random(&state) % 4 != 0};
		wanted |= (uint32_t)steps[i].is_wanted << i;
		world.needs[i] = needs & wanted;
	}
	return wanted;
}

static void check_steps(uint64_t seed, unsigned threads)
{
	struct hi_inspection *in = calloc(1, sizeof(*in));
	struct hi_step steps[N];
	struct hi_error err = {};
	uint32_t wanted;

	HI_ASSERT(in);
	hi_test_defer(end_phases, in);
	wanted = draw_steps(seed, steps);
	HI_ASSERT_OK(hi_steps_run(in, steps, N, threads, &err), &err);
	HI_ASSERT_EQ(0, world.wrong);
	HI_ASSERT_EQ(wanted, world.done);
	HI_ASSERT_EQ((size_t)__builtin_popcount(wanted), in->phases.list.count);
}

HI_TEST(steps, each_runs_once_after_what_it_needs)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		check_steps(seed, 1);
		check_steps(seed, 2);
		check_steps(seed, 8);
	}
}

/* All that begins ends; what needs a step that failed does not begin. */
HI_TEST(steps, a_failure_is_that_of_the_first_in_the_table)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct hi_inspection *in = calloc(1, sizeof(*in));
		struct hi_step steps[N];
		struct hi_error err = {};
		uint32_t wanted, failed;

		HI_ASSERT(in);
		hi_test_defer(end_phases, in);
		wanted = draw_steps(seed, steps);
		world.fails = wanted & (1u << seed % N | 1u << seed % 5);
		if (!world.fails)
			continue;
		HI_ASSERT_EQ(HI_BAD_DATA,
			     hi_steps_run(in, steps, N, 1 + (unsigned)(seed % 3), &err));
		failed = world.fails & world.done;
		HI_ASSERT_EQ((uint64_t)__builtin_ctz(failed), err.address);
		HI_ASSERT_EQ(world.begun, world.done);
		for (unsigned i = 0; i < N; i++)
			HI_ASSERT(!(world.begun >> i & 1) ||
				  !(world.needs[i] & world.fails));
	}
}

static struct hi_phase draw_phase(uint64_t begin, uint64_t ns, uint64_t cpu_begin,
				  uint64_t cpu_ns)
{
	return (struct hi_phase){.name = "step",
				 .begin_ns = begin,
				 .ns = ns,
				 .begin_cpu_ns = cpu_begin,
				 .cpu_ns = cpu_ns,
				 .peak_bytes = begin};
}

/* The last one is of another process, whose clock began at 0. */
HI_TEST(steps, time_together_is_the_time_in_which_any_runs)
{
	struct hi_phase list[] = {
		draw_phase(100, 50, 1000, 60), draw_phase(120, 10, 1020, 15),
		draw_phase(140, 30, 1050, 20), draw_phase(200, 5, 10, 7)};
	const struct hi_phases phases = {.items = list, .count = 4};
	struct hi_phase all = hi_phases_together(&phases);

	HI_ASSERT_EQ(75, all.ns);
	HI_ASSERT_EQ(77, all.cpu_ns);
	HI_ASSERT_EQ(200, all.peak_bytes);
}
