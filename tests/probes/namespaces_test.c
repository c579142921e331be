/* SPDX-License-Identifier: BSD-2-Clause */
/* Targets in containers, inspectors in containers, and a main thread that has exited. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/child.h"
#include "tests/support/command.h"
#include "tests/support/probed.h"
#include "tests/support/workshop.h"

/* The fixture in a process namespace of its own, with other files of the same names. */
static struct probed *start_in_container(void)
{
	static const char script[] = "mount -t tmpfs none /mnt && cp " HI_FIXTURE_DIR
				     "/probe_places /mnt/target && mount -t tmpfs none "
				     "/tmp && exec /mnt/target";
	char *argv[] = {(char *)(uintptr_t) "unshare",
			(char *)(uintptr_t) "--pid",
			(char *)(uintptr_t) "--mount",
			(char *)(uintptr_t) "--fork",
			(char *)(uintptr_t) "--kill-child",
			(char *)(uintptr_t) "sh",
			(char *)(uintptr_t) "-c",
			(char *)(uintptr_t)script,
			NULL};
	struct probed *p = calloc(1, sizeof(*p));
	struct hi_error err;

	HI_ASSERT(p);
	hi_test_defer(free, p);
	p->fx = hi_fixture_startv("/usr/bin/unshare", argv);
	hi_fixture_read_until(p->fx, "ready", NULL, NULL);
	HI_ASSERT_OK(hi_target_open(hi_child_first(p->fx->pid), &p->target, &err), &err);
	hi_test_defer(hi_target_close, p->target);
	return p;
}

HI_TEST_ROOT(probe_namespaces, a_target_in_a_container_is_probed)
{
	struct probed *p = start_in_container();
	struct hi_probe *probe = probed_open(p, "take_order if count == 3", 1);
	struct hi_probe *guarded = probed_open(p, "usdt:probes_fixture:guarded", 1);
	struct hi_trigger *trigger = hi_probe_trigger(probe);
	struct probed_signal signal;
	struct hi_trigger_hit hit;

	HI_ASSERT(p->target->other_mount_ns && p->target->other_pid_ns);
	trigger->ops->arm(trigger);
	probed_tell(p, "call 5");
	HI_ASSERT(!trigger->ops->was_hit(trigger, &hit));
	probed_tell(p, "call 7");
	HI_ASSERT(trigger->ops->was_hit(trigger, &hit));
	HI_ASSERT_EQ(12, hi_probe_hits(probe, 0));
	HI_ASSERT_EQ(12, hi_probe_hits(guarded, 0));
	/* In our namespace, while the target calls itself 1. */
	HI_ASSERT_EQ(p->target->pid, hit.tid);
	HI_ASSERT_EQ(1, probed_signals(p, &signal, 1));
	HI_ASSERT_EQ(1, signal.tid);
}

/* The same tests once more where process 1 is another one. */
HI_TEST_ROOT(probe_namespaces, an_inspector_in_a_container_probes)
{
	const struct hi_command *c = hi_command_run(
		0, "unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
		HI_BINARY_DIR "/tests/probes_tests",
		"--gtest_filter=probe_hits.are_won*:probe_hits.are_counted*:"
		"probe_hits.of_forked*:probe_namespaces.a_target*",
		NULL);

	HI_ASSERT_MSG(c->exit_code == 0 && strstr(c->out, "PASSED  ] 4 tests"), "%s",
		      c->out);
}

static const char program[] =
	"#include <pthread.h>\n#include <stdio.h>\n#include <unistd.h>\n"
	"__attribute__((noinline)) void work(void) { __asm__ volatile(\"\"); }\n"
	"static void *run(void *p) { puts(\"ready\");\n"
	"fflush(stdout); for (;;) { work(); usleep(1000); } return p; }\n"
	"int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); pthread_exit(0); "
	"}\n";

HI_TEST_ROOT(probe_namespaces, a_process_whose_main_thread_has_exited_is_probed)
{
	struct probed p = {};
	struct hi_trigger_hit hit;
	struct hi_probe *probe;
	struct hi_error err;
	bool was_hit = false;
	pid_t pid;

	workshop_open();
	workshop_write("gone.c", program);
	workshop_run("gcc -O1 -g -pthread gone.c -o gone");
	pid = workshop_start("gone");
	hi_child_kill_after(pid);
	for (int i = 0; i < 2000 && hi_process_state(pid) != 'Z'; i++)
		usleep(5000);
	HI_ASSERT_EQ('Z', hi_process_state(pid));
	HI_ASSERT_OK(hi_target_open(pid, &p.target, &err), &err);
	hi_test_defer(hi_target_close, p.target);
	probe = probed_open(&p, "work", 1);
	hi_probe_trigger(probe)->ops->arm(hi_probe_trigger(probe));
	for (int i = 0; i < 3000 && hi_probe_hits(probe, 0) < 5; i++)
		usleep(10000);
	HI_ASSERT(hi_probe_hits(probe, 0) >= 5);
	/* The count goes up before the hit is sent. */
	for (int i = 0; i < 30000 && !was_hit; i++) {
		was_hit = hi_probe_trigger(probe)->ops->was_hit(hi_probe_trigger(probe),
								&hit);
		usleep(was_hit ? 0 : 10000);
	}
	HI_ASSERT(was_hit);
	HI_ASSERT(hit.tid != pid);
}
