/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Links that see only the main thread, as those of some kernels do: they are found out
 * before they are used, and probes by perf events take their place.
 */
#include <signal.h>

#include "attach/tracer.h"
#include "base/cleanup.h"
#include "probes/bpf_probe.h"
#include "probes/probe.h"
#include "tests/harness.h"
#include "tests/support/probed.h"

enum { WORKERS = 3 };
#define SECOND 1000000000ull

static struct hi_probe *open_first(struct probed *p, enum hi_bpf_link link,
				   const char *at, uint64_t every)
{
	struct hi_safepoint safepoint = probed_parse(at);
	struct hi_probe *probe = NULL;
	struct hi_error err;

	safepoint.every = every;
	HI_ASSERT_OK(hi_bpf_probe_open_first(link, p->target, &safepoint,
					     probed_find(p, at), &probe, &err),
		     &err);
	hi_test_defer(hi_probe_close, probe);
	return probe;
}

/* The thread that hit; it stood at the probe. */
static pid_t stop_once(struct probed *p, struct hi_probe *probe)
{
	struct hi_stop_options options = {.trigger = hi_probe_trigger(probe),
					  .timeout_ns = 60 * SECOND,
					  .max_pause_ns = 10 * SECOND};
	HI_GUARD(hi_tracer_destroy) struct hi_tracer *tracer = NULL;
	struct hi_tracer_stop stop;
	struct hi_error err;
	uint64_t resumed;
	pid_t tid;

	HI_ASSERT_OK(hi_tracer_start(p->target, &options, &tracer, &err), &err);
	HI_ASSERT_OK(hi_tracer_stop(tracer, &stop, &err), &err);
	HI_ASSERT_EQ(HI_HIT_AT, stop.trigger.position);
	tid = stop.trigger.hit.tid;
	HI_ASSERT_OK(hi_tracer_resume(tracer, &resumed, &err), &err);
	return tid;
}

static void expect_stops_in_workers(enum hi_bpf_link link, const char *at, uint64_t every)
{
	struct probed *p = probed_start();
	struct hi_probe *probe = open_first(p, link, at, every);

	probed_tell(p, "workers %d", WORKERS);
	for (int i = 0; i < 3; i++)
		HI_ASSERT(stop_once(p, probe) != p->fx->pid);
	HI_ASSERT(hi_probe_hits(probe, 0) >= every);
	kill(p->fx->pid, SIGKILL);
}

HI_TEST_ROOT(probe_links, that_miss_threads_are_found_out)
{
	struct probed *p = probed_start();
	struct hi_safepoint safepoint = probed_parse("asm_push");
	struct hi_probe *probe = NULL;
	enum hi_bpf_link link;
	struct hi_error err;

	HI_ASSERT_EQ(HI_UNSUPPORTED,
		     hi_bpf_probe_open_by(HI_BPF_LINK_MULTI_OF_MAIN_THREAD, p->target,
					  &safepoint, probed_find(p, "asm_push"), &probe,
					  &err));
	link = hi_bpf_probe_link(
		open_first(p, HI_BPF_LINK_MULTI_OF_MAIN_THREAD, "asm_push", 1));
	HI_ASSERT(link == HI_BPF_LINK_EVENT || link == HI_BPF_LINK_EVENT_OLD);
}

/* As the kernel says by itself: a link that is taken sees every thread. */
HI_TEST_ROOT(probe_links, that_are_taken_see_all_threads)
{
	struct probed *p = probed_start();
	struct hi_probe *probe = open_first(p, HI_BPF_LINK_MULTI, "asm_push", 1);

	probed_tell(p, "call 7");
	probed_tell(p, "threads %d 100", WORKERS);
	HI_ASSERT_EQ(7 + WORKERS * 100, hi_probe_hits(probe, 0));
	hi_test_note("by %s", hi_bpf_probe_link(probe) == HI_BPF_LINK_MULTI
				      ? "uprobe_multi"
				      : "events");
}

HI_TEST_ROOT(probe_links, stop_in_worker_threads)
{
	expect_stops_in_workers(HI_BPF_LINK_MULTI, "asm_push", 1);
}

HI_TEST_ROOT(probe_links, of_events_stop_in_worker_threads)
{
	expect_stops_in_workers(HI_BPF_LINK_MULTI_OF_MAIN_THREAD, "asm_push", 1);
}

HI_TEST_ROOT(probe_links, of_old_kernels_stop_in_worker_threads)
{
	expect_stops_in_workers(HI_BPF_LINK_EVENT_OLD, "asm_push", 1);
	expect_stops_in_workers(HI_BPF_LINK_EVENT_OLD, "asm_push", 20);
	expect_stops_in_workers(HI_BPF_LINK_EVENT_OLD,
				"take_order if kind == 201 && phase == 3", 1);
}

HI_TEST_ROOT(probe_links, of_events_look_at_conditions_in_worker_threads)
{
	expect_stops_in_workers(HI_BPF_LINK_MULTI_OF_MAIN_THREAD,
				"take_order if kind == 201 && phase == 3", 1);
}

HI_TEST_ROOT(probe_links, of_events_count_in_worker_threads)
{
	expect_stops_in_workers(HI_BPF_LINK_MULTI_OF_MAIN_THREAD, "asm_push", 20);
}
