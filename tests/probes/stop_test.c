/* SPDX-License-Identifier: BSD-2-Clause */
/* Real probes and the real tracer: where the target stands when it is stopped. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "attach/tracer.h"
#include "base/cleanup.h"
#include "tests/harness.h"
#include "tests/support/probed.h"

struct stopped {
	enum hi_status status;
	struct hi_trigger_stop trigger;
	struct user_regs_struct regs; /* of the thread that hit */
};

static struct stopped stop_at(struct probed *p, struct hi_probe *probe,
			      uint64_t timeout_ns)
{
	struct hi_stop_options options = {.trigger = hi_probe_trigger(probe),
					  .timeout_ns = timeout_ns,
					  .max_pause_ns = 10000000000};
	HI_GUARD(hi_tracer_destroy) struct hi_tracer *tracer = NULL;
	struct stopped ret = {};
	struct hi_tracer_stop stop;
	struct hi_error err;
	uint64_t resumed;

	HI_ASSERT_OK(hi_tracer_start(p->target, &options, &tracer, &err), &err);
	ret.status = hi_tracer_stop(tracer, &stop, &err);
	if (ret.status != HI_OK)
		return ret;
	ret.trigger = stop.trigger;
	for (size_t i = 0; i < stop.n_threads; i++)
		if (stop.threads[i].tid == stop.trigger.hit.tid)
			ret.regs = stop.threads[i].regs;
	HI_ASSERT_OK(hi_tracer_resume(tracer, &resumed, &err), &err);
	return ret;
}

static void end_fixture(struct probed *p)
{
	kill(p->fx->pid, SIGKILL);
}

/* The instruction itself, or the one behind it: as objdump has their lengths. */
static void expect_stops_at(const char *at, uint64_t length, unsigned stops)
{
	struct probed *p = probed_start();
	uint64_t place = probed_find(p, at)->items[0].address;
	struct hi_probe *probe = probed_open(p, at, 1);
	unsigned landed = 0;

	hi_fixture_tell(p->fx, "call 300000000");
	for (unsigned i = 0; i < stops; i++) {
		struct stopped stop = stop_at(p, probe, 20000000000);

		HI_ASSERT_EQ(HI_OK, stop.status);
		HI_ASSERT_EQ(place, stop.trigger.hit.pc);
		HI_ASSERT_EQ(p->fx->pid, stop.trigger.hit.tid);
		landed += stop.trigger.position == HI_HIT_AT &&
			  (stop.regs.rip == place || stop.regs.rip == place + length);
		if (stop.trigger.position != HI_HIT_AT || stop.regs.rip - place > 15)
			hi_test_note("landing %d at %#lx, the probe is at %#lx",
				     stop.trigger.position, (long)stop.regs.rip,
				     (long)place);
	}
	HI_ASSERT_MSG(landed == stops, "%s: %u of %u stops at the probe", at, landed,
		      stops);
	hi_test_note("%s: %u of %u stops at the probe", at, landed, stops);
	end_fixture(p);
}

/* HI_SOAK_STOPS=1000 for the whole claim. */
static unsigned stops(void)
{
	const char *soak = getenv("HI_SOAK_STOPS");

	return soak ? (unsigned)atoi(soak) : 30;
}

HI_TEST_ROOT(probe_stops, land_at_an_emulated_instruction)
{
	expect_stops_at("asm_push", 1, stops());
}

HI_TEST_ROOT(probe_stops, land_at_a_single_stepped_instruction)
{
	expect_stops_at("asm_loop", 5, stops());
}

HI_TEST_ROOT(probe_stops, land_at_a_usdt_probe)
{
	expect_stops_at("usdt:probes_fixture:guarded", 1, stops());
}

HI_TEST_ROOT(probe_stops, satisfy_the_condition)
{
	struct probed *p = probed_start();
	struct hi_probe *probe = probed_open(p, "take_order if count == 180000", 1);
	struct stopped stop;

	/* Again and again: the first may be through before the probe is armed. */
	for (int i = 0; i < 1000; i++)
		hi_fixture_tell(p->fx, "call 200000");
	stop = stop_at(p, probe, 60000000000);
	HI_ASSERT_EQ(HI_OK, stop.status);
	HI_ASSERT_EQ(HI_HIT_AT, stop.trigger.position);
	HI_ASSERT_EQ(180000, (int)stop.regs.rsi);
	end_fixture(p);
}

HI_TEST_ROOT(probe_stops, that_never_come_run_out_of_time)
{
	struct probed *p = probed_start();
	struct hi_probe *probe = probed_open(p, "asm_push if phase == 4", 1);

	hi_fixture_tell(p->fx, "call 300000000");
	HI_ASSERT_EQ(HI_MISSED, stop_at(p, probe, 300000000).status);
	HI_ASSERT_EQ(0, hi_process_status(p->fx->pid, "TracerPid"));
	end_fixture(p);
}

HI_TEST_ROOT(probe_stops, leave_no_signal_behind)
{
	struct probed *p = probed_start();
	struct hi_probe *probe = probed_open(p, "asm_push", 1);
	unsigned stops = 0;

	/* On a busy machine the threads may be through before the probe is armed. */
	for (int i = 0; i < 5 || (stops == 0 && i < 50); i++) {
		hi_fixture_tell(p->fx, "threads 4 100000");
		stops += stop_at(p, probe, 3000000000).status == HI_OK;
		hi_fixture_read_until(p->fx, "done", NULL, NULL);
	}
	HI_ASSERT(stops > 0);
	HI_ASSERT_EQ(0, probed_signals(p, NULL, 0));
}
