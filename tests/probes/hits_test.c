/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a probe does when its place is hit. The fixture takes the signal itself and
 * remembers where it stood: nobody traces it here.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/bpf_load.h"
#include "probes/bpf_probe.h"
#include "probes/probe.h"
#include "tests/harness.h"
#include "tests/support/probed.h"

static void arm(struct hi_probe *probe)
{
	struct hi_trigger *trigger = hi_probe_trigger(probe);

	trigger->ops->arm(trigger);
}

static bool was_hit(struct hi_probe *probe, struct hi_trigger_hit *ret)
{
	struct hi_trigger *trigger = hi_probe_trigger(probe);

	return trigger->ops->was_hit(trigger, ret);
}

/* timeout_ms: 300,000: it must be; few: it must not. */
static bool is_readable(struct hi_probe *probe, int timeout_ms)
{
	struct pollfd fd = {.fd = hi_probe_trigger(probe)->poll_fd, .events = POLLIN};

	return poll(&fd, 1, timeout_ms) == 1 && (fd.revents & POLLIN);
}

/* The longest instruction that the chosen places have in the fixture. */
enum { INSTRUCTION_MAX = 9 };

static void expect_one_signal(struct probed *p, struct hi_probe *probe, pid_t tid,
			      uint64_t place)
{
	struct probed_signal signal = {};
	struct hi_trigger_hit hit = {};

	HI_ASSERT_EQ(1, probed_signals(p, &signal, 1));
	HI_ASSERT(was_hit(probe, &hit));
	HI_ASSERT(is_readable(probe, 300000));
	HI_ASSERT_EQ(place, hit.pc);
	HI_ASSERT_EQ(signal.tid, hit.tid);
	if (tid)
		HI_ASSERT_EQ(tid, hit.tid);
	HI_ASSERT(hit.time_ns > 0);
	HI_ASSERT_MSG(signal.pc >= place && signal.pc <= place + INSTRUCTION_MAX,
		      "signal at %#lx, the probe is at %#lx", (unsigned long)signal.pc,
		      (unsigned long)place);
}

HI_TEST_ROOT(probe_hits, send_one_signal_to_the_hitting_thread_at_the_instruction)
{
	static const char *const places[] = {"asm_push",
					     "asm_mov_then_push",
					     "asm_loop",
					     "stepped_first",
					     "take_order",
					     "usdt:probes_fixture:plain",
					     "usdt:probes_fixture:guarded"};
	struct probed *p = probed_start();

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		uint64_t place = probed_find(p, places[i])->items[0].address;
		struct hi_probe *probe = probed_open(p, places[i], 1);
		struct hi_trigger_hit hit;

		HI_ASSERT_EQ(HI_PROBE_BPF, hi_probe_means(probe));
		probed_tell(p, "call 10");
		HI_ASSERT_EQ(0, probed_signals(p, NULL, 0));
		HI_ASSERT(!was_hit(probe, &hit));
		for (int again = 0; again < 3; again++) {
			arm(probe);
			HI_ASSERT(!was_hit(probe, &hit));
			HI_ASSERT(!is_readable(probe, 100));
			probed_tell(p, "call 10");
			expect_one_signal(p, probe, p->fx->pid, place);
		}
	}
}

HI_TEST_ROOT(probe_hits, are_won_by_one_of_many_threads)
{
	struct probed *p = probed_start();
	uint64_t place = probed_find(p, "asm_push")->items[0].address;
	struct hi_probe *probe = probed_open(p, "asm_push", 1);

	for (int i = 0; i < 50; i++) {
		arm(probe);
		probed_tell(p, "threads 8 100");
		expect_one_signal(p, probe, 0, place);
	}
}

HI_TEST_ROOT(probe_hits, are_counted_whether_armed_or_not)
{
	struct probed *p = probed_start();
	struct hi_probe *probe = probed_open(p, "asm_mov_then_push", 1);
	struct hi_probe *loop = probed_open(p, "asm_loop", 1);

	probed_tell(p, "call 1000");
	HI_ASSERT_EQ(1000, hi_probe_hits(probe, 0));
	HI_ASSERT_EQ(1000, hi_probe_hits(loop, 0));
	arm(probe);
	probed_tell(p, "threads 4 500");
	HI_ASSERT_EQ(3000, hi_probe_hits(probe, 0));
	HI_ASSERT_EQ(3000, hi_probe_hits(loop, 0));
}

HI_TEST_ROOT(probe_hits, of_forked_children_and_of_those_that_share_memory_do_not_count)
{
	struct probed *p = probed_start();
	struct hi_probe *probe = probed_open(p, "asm_push", 1);
	struct hi_trigger_hit hit;

	arm(probe);
	probed_tell(p, "fork 100");
	probed_tell(p, "spawn 100");
	HI_ASSERT(!was_hit(probe, &hit));
	HI_ASSERT_EQ(0, hi_probe_hits(probe, 0));
	HI_ASSERT_EQ(0, probed_signals(p, NULL, 0));
	probed_tell(p, "call 1");
	HI_ASSERT(was_hit(probe, &hit));
}

/* The program alone tells processes apart here: these links know address spaces. */
HI_TEST_ROOT(probe_hits, by_perf_events_are_those_of_the_process_as_well)
{
	struct probed *p = probed_start();
	struct hi_safepoint safepoint = probed_parse("asm_push");
	const struct hi_probe_sites *places = probed_find(p, "asm_push");
	struct probed_signal signal;
	struct hi_probe *probe;
	struct hi_trigger_hit hit;
	struct hi_error err;

	HI_ASSERT_OK(hi_bpf_probe_open_by(
			     hi_bpf_has(HI_BPF_NEEDS_FETCHES | HI_BPF_NEEDS_COOKIES)
				     ? HI_BPF_LINK_EVENT
				     : HI_BPF_LINK_EVENT_OLD,
			     p->target, &safepoint, places, &probe, &err),
		     &err);
	arm(probe);
	probed_tell(p, "spawn 100");
	probed_tell(p, "fork 100");
	HI_ASSERT(!was_hit(probe, &hit));
	HI_ASSERT_EQ(0, hi_probe_hits(probe, 0));
	probed_tell(p, "threads 4 100");
	HI_ASSERT(was_hit(probe, &hit));
	HI_ASSERT_EQ(400, hi_probe_hits(probe, 0));
	HI_ASSERT_EQ(1, probed_signals(p, &signal, 1));
	HI_ASSERT_EQ(hit.tid, signal.tid);
	HI_ASSERT_EQ(places->items[0].address, hit.pc);
	HI_ASSERT_EQ(hit.pc + 1, signal.pc);
	hi_probe_close(probe);
}

HI_TEST_ROOT(probe_hits, raise_and_lower_the_semaphore_of_a_usdt_probe)
{
	struct probed *p = probed_start();
	const struct hi_probe_sites *places =
		probed_find(p, "usdt:probes_fixture:guarded");
	struct hi_safepoint safepoint = probed_parse("usdt:probes_fixture:guarded");
	struct hi_probe *probe;
	struct hi_error err;

	probed_tell(p, "call 5");
	HI_ASSERT_EQ(0, probed_counter(p, "guarded"));
	HI_ASSERT_OK(hi_probe_open(p->target, &safepoint, places, &probe, &err), &err);
	HI_ASSERT_EQ(1, probed_counter(p, "semaphore"));
	probed_tell(p, "call 5");
	HI_ASSERT_EQ(5, probed_counter(p, "guarded"));
	HI_ASSERT_EQ(5, hi_probe_hits(probe, 0));
	hi_probe_close(probe);
	HI_ASSERT_EQ(0, probed_counter(p, "semaphore"));
	probed_tell(p, "call 5");
	HI_ASSERT_EQ(5, probed_counter(p, "guarded"));
}

HI_TEST_ROOT(probe_hits, fire_at_the_nth)
{
	struct probed *p = probed_start();
	struct hi_probe *probe = probed_open(p, "asm_push", 1000);
	struct hi_trigger_hit hit;

	for (int i = 0; i < 3; i++) {
		arm(probe);
		probed_tell(p, "call 999");
		HI_ASSERT(!was_hit(probe, &hit));
		HI_ASSERT_EQ(0, probed_signals(p, NULL, 0));
		probed_tell(p, "call 1");
		HI_ASSERT(was_hit(probe, &hit));
		HI_ASSERT_EQ(1, probed_signals(p, NULL, 0));
	}
}

HI_TEST_ROOT(probe_hits, send_nothing_once_disarmed)
{
	struct probed *p = probed_start();
	struct hi_probe *probe = probed_open(p, "asm_push", 1);
	struct hi_trigger *trigger = hi_probe_trigger(probe);
	struct hi_trigger_hit hit;

	arm(probe);
	trigger->ops->disarm(trigger);
	probed_tell(p, "call 100");
	HI_ASSERT(!was_hit(probe, &hit));
	HI_ASSERT_EQ(0, probed_signals(p, NULL, 0));
}

HI_TEST_ROOT(probe_hits, are_seen_where_the_signal_is_blocked)
{
	struct probed *p = probed_start();
	struct hi_probe *probe = probed_open(p, "asm_push", 1);
	struct hi_trigger_hit hit;

	probed_tell(p, "block");
	arm(probe);
	probed_tell(p, "call 1");
	HI_ASSERT(was_hit(probe, &hit));
	HI_ASSERT(is_readable(probe, 300000));
	HI_ASSERT_EQ(p->fx->pid, hit.tid);
	HI_ASSERT(hit.unsent);
	probed_tell(p, "unblock");
	HI_ASSERT_EQ(0, probed_signals(p, NULL, 0));
	arm(probe);
	probed_tell(p, "call 1");
	HI_ASSERT(was_hit(probe, &hit) && !hit.unsent);
	HI_ASSERT_EQ(1, probed_signals(p, NULL, 0));
}

HI_TEST_ROOT(probe_hits, of_threads_that_are_not_traced_are_left_alone_when_asked)
{
	struct probed *p = probed_start();
	struct hi_probe *probe = probed_open(p, "asm_push", 1);
	struct hi_trigger_hit hit;

	hi_probe_trigger(probe)->traced_only = true;
	arm(probe);
	probed_tell(p, "call 10");
	HI_ASSERT(!was_hit(probe, &hit));
	HI_ASSERT_EQ(10, hi_probe_hits(probe, 0));
	HI_ASSERT_EQ(0, probed_signals(p, NULL, 0));
	hi_probe_trigger(probe)->traced_only = false;
	arm(probe);
	probed_tell(p, "call 1");
	HI_ASSERT(was_hit(probe, &hit));
	HI_ASSERT_EQ(1, probed_signals(p, NULL, 0));
}

static uint8_t byte_at(pid_t pid, uint64_t addr)
{
	char path[64];
	uint8_t byte = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	HI_ASSERT(fd >= 0 && pread(fd, &byte, 1, (off_t)addr) == 1);
	close(fd);
	return byte;
}

/* A process that puts a probe there and waits to be killed. */
static pid_t start_owner(struct probed *p, const char *at)
{
	struct hi_safepoint safepoint = probed_parse(at);
	const struct hi_probe_sites *places = probed_find(p, at);
	int ready[2];
	char byte;
	pid_t pid;

	HI_ASSERT(pipe(ready) == 0);
	pid = fork();
	if (pid == 0) {
		struct hi_probe *probe;
		struct hi_error err;

		if (hi_probe_open(p->target, &safepoint, places, &probe, &err) == HI_OK) {
			arm(probe);
			(void)!write(ready[1], "", 1);
		}
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	HI_ASSERT(pid > 0 && read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	return pid;
}

HI_TEST_ROOT(probe_hits, vanish_with_the_process_that_is_killed)
{
	enum { BREAKPOINT = 0xcc };
	struct probed *p = probed_start();
	uint64_t push = probed_find(p, "asm_push")->items[0].address;
	uint8_t before = byte_at(p->fx->pid, push);

	for (int i = 0; i < 10; i++) {
		pid_t owner = start_owner(p, i % 2 ? "asm_push"
						   : "usdt:probes_fixture:guarded");

		if (i % 2)
			HI_ASSERT_EQ(BREAKPOINT, byte_at(p->fx->pid, push));
		else
			HI_ASSERT_EQ(1, probed_counter(p, "semaphore"));
		kill(owner, SIGKILL);
		HI_ASSERT(waitpid(owner, NULL, 0) == owner);
		/* The kernel takes them out behind the death of the last owner. */
		for (int wait = 0; wait < 2000 && (byte_at(p->fx->pid, push) != before ||
						   probed_counter(p, "semaphore") != 0);
		     wait++)
			usleep(10000);
		HI_ASSERT_EQ(before, byte_at(p->fx->pid, push));
		HI_ASSERT_EQ(0, probed_counter(p, "semaphore"));
	}
	probed_tell(p, "call 100");
	HI_ASSERT_EQ(0, probed_signals(p, NULL, 0));
}
