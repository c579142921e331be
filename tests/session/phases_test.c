/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps of an inspection: how long, with how much work, and with how much memory. */
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/cleanup.h"
#include "session/inspection.h"
#include "tests/harness.h"

enum { BIG = 64 << 20, BUSY_NS = 20000000 };

static void free_phases(void *arg)
{
	hi_vector_free((struct hi_phases *)arg);
}

static uint64_t read_cpu_ns(void)
{
	struct timespec t;

	HI_ASSERT_EQ(0, clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t));
	return (uint64_t)t.tv_sec * HI_NS_PER_S + (uint64_t)t.tv_nsec;
}

static void compute_for(uint64_t cpu_ns)
{
	uint64_t end = read_cpu_ns() + cpu_ns;

	while (read_cpu_ns() < end)
		;
}

static void touch_much(void)
{
	void *all = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	HI_ASSERT(all != MAP_FAILED);
	memset(all, 1, BIG);
	munmap(all, BIG);
}

/* wait sleeps, compute works, touch takes memory and gives it back, and the last step
 * has not ended. */
HI_TEST(phases, have_their_time_their_work_and_the_memory_up_to_their_end)
{
	static const struct hi_options options;
	static const struct hi_run run;
	static struct hi_inspection in;
	const struct hi_phase *p;

	in = (struct hi_inspection){.options = &options, .run = &run};
	hi_test_defer(free_phases, &in.phases.list);
	hi_inspect_phase(&in, "wait");
	hi_clock_pause_ns(BUSY_NS);
	hi_inspect_phase(&in, "compute");
	compute_for(BUSY_NS);
	hi_inspect_phase(&in, NULL);
	/* This belongs to no step. */
	compute_for(BUSY_NS);
	hi_inspect_phase(&in, "touch");
	touch_much();
	hi_inspect_phase(&in, "report");

	p = in.phases.list.items;
	HI_ASSERT_EQ(4, in.phases.list.count);
	HI_ASSERT_STREQ("wait", p[0].name);
	HI_ASSERT(p[0].ns >= BUSY_NS && p[0].cpu_ns < BUSY_NS);
	HI_ASSERT_STREQ("compute", p[1].name);
	HI_ASSERT(p[1].cpu_ns >= BUSY_NS && p[1].ns >= BUSY_NS);
	/* Work between two steps has not been counted. */
	HI_ASSERT(p[1].cpu_ns < 2 * (uint64_t)BUSY_NS);
	HI_ASSERT_STREQ("touch", p[2].name);
	HI_ASSERT(p[2].peak_bytes >= BIG && p[2].peak_bytes >= p[1].peak_bytes);
	HI_ASSERT_STREQ("report", p[3].name);
	HI_ASSERT_EQ(0, p[3].ns);
}
