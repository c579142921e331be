/* SPDX-License-Identifier: BSD-2-Clause */
/* What is left without BPF, and what is said without anything. */
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/tracer.h"
#include "base/cleanup.h"
#include "probes/bpf_probe.h"
#include "probes/probe.h"
#include "tests/harness.h"
#include "tests/support/probed.h"

static const int bpf_caps[] = {CAP_SYS_ADMIN, CAP_BPF};
static const int admin_caps[] = {CAP_SYS_ADMIN};
static const int all_probe_caps[] = {CAP_SYS_ADMIN, CAP_BPF, CAP_PERFMON};

/* As on a kernel that has no BPF: here whoever may do the one may do the other. */
static struct hi_probe *open_perf(struct probed *p, const char *at)
{
	struct hi_probe *probe;
	struct hi_error err;

	HI_ASSERT_OK(hi_probe_open_by(HI_PROBE_PERF, p->target, NULL, probed_find(p, at),
				      &probe, &err),
		     &err);
	hi_test_defer(hi_probe_close, probe);
	return probe;
}

/* With links of many, that is; perf events want CAP_SYS_ADMIN. */
HI_TEST_ROOT(probe_permission, bpf_and_perfmon_are_enough)
{
	struct probed *p = probed_start();
	const struct hi_probe_sites *places = probed_find(p, "asm_push");
	struct hi_safepoint safepoint = probed_parse("asm_push");
	bool many = hi_bpf_probe_link(probed_open(p, "asm_push", 1)) == HI_BPF_LINK_MULTI;
	struct hi_probe *probe;
	struct hi_error err;

	probed_drop_caps(admin_caps, 1);
	if (!many) {
		HI_ASSERT_STATUS(HI_CANNOT_ATTACH, hi_probe_open(p->target, &safepoint,
								 places, &probe, &err));
		HI_ASSERT_MSG(strstr(err.text, "CAP_SYS_ADMIN"), "%s", err.text);
		HI_ASSERT_MSG(strstr(err.text, "perf_event_paranoid "), "%s", err.text);
		return;
	}
	probe = probed_open(p, "asm_push", 1);
	HI_ASSERT_EQ(HI_PROBE_BPF, hi_probe_means(probe));
	probed_tell(p, "call 10");
	HI_ASSERT_EQ(10, hi_probe_hits(probe, 0));
}

HI_TEST_ROOT(probe_permission, without_bpf_perf_events_stop_the_hitting_thread)
{
	struct probed *p = probed_start();
	struct hi_trigger *trigger;
	struct probed_signal signal;
	struct hi_trigger_hit hit;
	struct hi_probe *probe;
	uint64_t place;

	probe = open_perf(p, "asm_push");
	place = probed_find(p, "asm_push")->items[0].address;
	HI_ASSERT_EQ(HI_PROBE_PERF, hi_probe_means(probe));
	HI_ASSERT_EQ(UINT64_MAX, hi_probe_hits(probe, 0));
	trigger = hi_probe_trigger(probe);
	probed_tell(p, "call 10");
	HI_ASSERT(!trigger->ops->was_hit(trigger, &hit));
	for (int i = 0; i < 10; i++) {
		struct pollfd fd = {.fd = trigger->poll_fd, .events = POLLIN};

		trigger->ops->arm(trigger);
		HI_ASSERT(!trigger->ops->was_hit(trigger, &hit));
		probed_tell(p, "call 10");
		HI_ASSERT_EQ(1, poll(&fd, 1, 300000));
		HI_ASSERT(trigger->ops->was_hit(trigger, &hit));
		HI_ASSERT_EQ(p->fx->pid, hit.tid);
		HI_ASSERT_EQ(place, hit.pc);
		HI_ASSERT_EQ(1, probed_signals(p, &signal, 1));
		HI_ASSERT_MSG(signal.pc == place || signal.pc == place + 1,
			      "signal at %#lx, the probe is at %#lx",
			      (unsigned long)signal.pc, (unsigned long)place);
	}
	trigger->ops->arm(trigger);
	trigger->ops->disarm(trigger);
	probed_tell(p, "call 10");
	HI_ASSERT_EQ(0, probed_signals(p, NULL, 0));
}

/* Who waits for hits must not be woken for ever by those that cannot come any more. */
HI_TEST_ROOT(probe_permission, without_bpf_a_thread_that_has_exited_wakes_nobody)
{
	struct probed *p = probed_start();
	struct hi_probe *probe = open_perf(p, "asm_push");
	struct hi_trigger *trigger = hi_probe_trigger(probe);
	struct pollfd fd = {.fd = trigger->poll_fd, .events = POLLIN};
	struct hi_trigger_hit hit;

	trigger->ops->arm(trigger);
	kill(p->fx->pid, SIGKILL);
	HI_ASSERT_EQ(1, poll(&fd, 1, 300000));
	HI_ASSERT(!trigger->ops->was_hit(trigger, &hit));
	HI_ASSERT_EQ(0, poll(&fd, 1, 50));
}

static unsigned count_landings(const char *work, unsigned stops)
{
	struct probed *p = probed_start();
	struct hi_probe *probe = open_perf(p, "asm_push");
	uint64_t place = probed_find(p, "asm_push")->items[0].address;
	unsigned landed = 0;

	hi_fixture_tell(p->fx, work);
	for (unsigned i = 0; i < stops; i++) {
		struct hi_stop_options options = {.trigger = hi_probe_trigger(probe),
						  .timeout_ns = 20000000000,
						  .max_pause_ns = 10000000000};
		HI_GUARD(hi_tracer_destroy) struct hi_tracer *tracer = NULL;
		struct hi_tracer_stop stop;
		struct hi_error err;
		uint64_t resumed;

		HI_ASSERT_OK(hi_tracer_start(p->target, &options, &tracer, &err), &err);
		HI_ASSERT_OK(hi_tracer_stop(tracer, &stop, &err), &err);
		HI_ASSERT_EQ(place, stop.trigger.hit.pc);
		for (size_t t = 0; t < stop.n_threads; t++)
			landed += stop.trigger.position == HI_HIT_AT &&
				  stop.threads[t].tid == stop.trigger.hit.tid &&
				  stop.threads[t].regs.rip - place <= 1;
		HI_ASSERT_OK(hi_tracer_resume(tracer, &resumed, &err), &err);
	}
	kill(p->fx->pid, SIGKILL);
	return landed;
}

HI_TEST_ROOT(probe_permission, without_bpf_the_tracer_stops_at_the_probe)
{
	HI_ASSERT_EQ(10, count_landings("call 2000000000", 10));
	HI_ASSERT_EQ(10, count_landings("threads 3 2000000000", 10));
}

HI_TEST_ROOT(probe_permission, conditions_and_counts_need_bpf)
{
	struct probed *p = probed_start();
	struct hi_safepoint safepoint = probed_parse("asm_push if $1 == 1");
	const struct hi_probe_sites *places = probed_find(p, "asm_push if $1 == 1");
	struct hi_probe *probe;
	struct hi_error err;

	probed_drop_caps(bpf_caps, 2);
	HI_ASSERT_STATUS(HI_CANNOT_ATTACH,
			 hi_probe_open(p->target, &safepoint, places, &probe, &err));
	HI_ASSERT_MSG(strstr(err.text, "CAP_BPF"), "%s", err.text);
	HI_ASSERT_MSG(strstr(err.text, "a condition needs BPF"), "%s", err.text);
	HI_ASSERT_MSG(strstr(err.text, "perf events"), "%s", err.text);
	safepoint = probed_parse("asm_push");
	safepoint.every = 2;
	HI_ASSERT_STATUS(HI_CANNOT_ATTACH,
			 hi_probe_open(p->target, &safepoint, places, &probe, &err));
	HI_ASSERT_MSG(strstr(err.text, "every:N needs BPF"), "%s", err.text);
}

HI_TEST_ROOT(probe_permission, without_both_is_said_with_what_is_needed)
{
	struct probed *p = probed_start();
	struct hi_safepoint safepoint = probed_parse("asm_push");
	const struct hi_probe_sites *places = probed_find(p, "asm_push");
	struct hi_probe *probe;
	struct hi_error err;

	probed_drop_caps(all_probe_caps, 3);
	HI_ASSERT_STATUS(HI_CANNOT_ATTACH,
			 hi_probe_open(p->target, &safepoint, places, &probe, &err));
	HI_ASSERT_MSG(strstr(err.text, "CAP_BPF and CAP_PERFMON"), "%s", err.text);
	HI_ASSERT_MSG(strstr(err.text, "unprivileged_bpf_disabled"), "%s", err.text);
	HI_ASSERT_MSG(strstr(err.text, "perf_event_paranoid "), "%s", err.text);
}
