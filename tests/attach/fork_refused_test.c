/* SPDX-License-Identifier: BSD-2-Clause */
/* Targets that are not forked: each with its reason, and none the worse for it. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/child.h"
#include "tests/support/forking.h"

#define NOBODY 65534

HI_TEST_SCENARIO(attach_fork_refused, a_subreaper)
{
	struct hi_fixture *fx = hi_test_start_ready("fork_state", "2", "1");

	HI_ASSERT_EQ(0, hi_test_ask(fx, "subreaper"));
	hi_test_expect_unforked(fx->pid, "subreaper");
	hi_test_expect_well(fx);
	HI_ASSERT_EQ(0, hi_test_count_children(fx->pid));
}

HI_TEST_ROOT(attach_fork_refused, a_userfaultfd_that_waits_for_forks)
{
	struct hi_fixture *fx = hi_test_start_ready("fork_state", "2", "1");

	HI_ASSERT_EQ(0, hi_test_ask(fx, "userfault"));
	hi_test_expect_unforked(fx->pid, "userfaultfd");
	hi_test_expect_well(fx);
}

HI_TEST_SCENARIO(attach_fork_refused, fork_is_refused_where_it_was_not_requested)
{
	struct hi_fixture *fx = hi_test_start_ready("fork_state", "1", "0");
	struct hi_stop_options options = {.snapshot = HI_REQUEST_COPY,
					  .max_pause_ns = HI_TEST_PATIENCE_NS};
	struct hi_target target = hi_test_target(fx->pid);
	struct hi_tracer *tracer = NULL;
	struct hi_tracer_child child;
	struct hi_tracer_stop stop;
	struct hi_error err = {};
	uint64_t resumed_ns;

	HI_ASSERT_OK(hi_tracer_start(&target, &options, &tracer, &err), &err);
	HI_ASSERT_OK(hi_tracer_stop(tracer, &stop, &err), &err);
	HI_ASSERT_STATUS(HI_UNSUPPORTED, hi_tracer_fork(tracer, &child, &err));
	HI_ASSERT_OK(hi_tracer_resume(tracer, &resumed_ns, &err), &err);
	hi_tracer_destroy(tracer);
	hi_test_expect_well(fx);
}

/* ---- other pid namespaces ---- */

static struct hi_fixture *start_in_namespace(const char *shell, const char *command)
{
	char *argv[] = {strdup("unshare"), strdup("--pid"),
			strdup("--fork"),  strdup("--kill-child"),
			strdup(shell),	   strdup("-c"),
			strdup(command),   NULL};
	struct hi_fixture *fx = hi_fixture_startv("/usr/bin/unshare", argv);

	for (int i = 0; argv[i]; i++)
		free(argv[i]);
	hi_test_expect_line(fx, "ready");
	return fx;
}

HI_TEST_ROOT(attach_fork_refused, process_1_of_a_pid_namespace)
{
	struct hi_fixture *fx =
		start_in_namespace("sh", "exec " HI_FIXTURE_DIR "/fork_state 2 1");

	hi_test_expect_unforked(hi_child_first(fx->pid), "process 1");
	hi_test_expect_well(fx);
}

/* A shell reaps, but nobody promised it. */
HI_TEST_ROOT(attach_fork_refused, others_of_a_pid_namespace_where_nobody_reaps)
{
	struct hi_fixture *fx =
		start_in_namespace("sh", HI_FIXTURE_DIR "/fork_state 2 1; exit 0");
	pid_t init = hi_child_first(fx->pid);

	hi_test_expect_unforked(hi_child_first(init), "process 1");
	hi_test_expect_well(fx);
	HI_ASSERT_EQ(1, hi_test_count_children(init));
}

/* A shell by the name of one who did. */
HI_TEST_ROOT(attach_fork_refused, not_others_of_a_pid_namespace_with_an_init)
{
	char directory[] = "/tmp/heapinspect-init-XXXXXX", shell[64];
	struct hi_fixture *fx;
	pid_t init, pid;

	HI_ASSERT(mkdtemp(directory));
	snprintf(shell, sizeof(shell), "%s/tini", directory);
	HI_ASSERT_EQ(0, symlink("/bin/sh", shell));
	fx = start_in_namespace(shell, HI_FIXTURE_DIR "/fork_state 2 1; exit 0");
	unlink(shell);
	rmdir(directory);
	init = hi_child_first(fx->pid);
	pid = hi_child_first(init);
	for (int i = 0; i < 10; i++)
		hi_test_fork_once(pid);
	for (int at = 1; at <= HI_TEST_FORK_STEPS; at++)
		hi_test_fork_and_die(pid, at);
	hi_test_expect_free(pid, "RS");
	hi_test_expect_well(fx);
	for (int i = 0; i < 10000 && hi_test_count_children(init) > 1; i++)
		hi_test_sleep_us(1000);
	HI_ASSERT_EQ(1, hi_test_count_children(init));
}

/* ---- filters ---- */

static struct hi_fixture *start_filtered(const char *kind)
{
	struct hi_fixture *fx = hi_test_start_ready("fork_filter", kind, NULL);

	HI_ASSERT_EQ(1, hi_test_ask(fx, "install"));
	return fx;
}

static void expect_filtered(const char *kind, const char *word)
{
	struct hi_fixture *fx = start_filtered(kind);

	hi_test_expect_unforked(fx->pid, word);
	HI_ASSERT_EQ(1, hi_test_ask(fx, "ping"));
	HI_ASSERT_EQ(0, hi_test_count_children(fx->pid));
}

#define FILTERED(kind, word)                                                             \
	HI_TEST_ROOT(attach_fork_refused, a_filter_against_##kind)                       \
	{                                                                                \
		expect_filtered(#kind, word);                                            \
	}
FILTERED(clone, "filter refuses clone")
FILTERED(clone_vm, "filter refuses clone")
FILTERED(wait4, "filter refuses wait4")
FILTERED(exit_group, "filter refuses exit_group")
FILTERED(rt_sigreturn, "filter refuses rt_sigreturn")
FILTERED(prctl, "filter refuses prctl")
FILTERED(strict, "strict")

HI_TEST_ROOT(attach_fork_refused, not_by_filters_that_allow_it)
{
	struct hi_fixture *fx = start_filtered("allow");

	for (int i = 0; i < 10; i++)
		hi_test_fork_once(fx->pid);
	HI_ASSERT_EQ(1, hi_test_ask(fx, "ping"));
	for (int at = 1; at <= HI_TEST_FORK_STEPS; at++)
		hi_test_fork_and_die(fx->pid, at);
	HI_ASSERT_EQ(1, hi_test_ask(fx, "ping"));
	hi_test_expect_free(fx->pid, "RS");
}

/* ---- another user: filters cannot be read, processes are counted ---- */

#define USER "54321"

HI_TEST_ROOT(attach_fork_refused, a_filter_that_cannot_be_read)
{
	struct hi_fixture *fx = hi_test_start_ready("fork_filter", "allow", USER);
	unsigned user = (unsigned)strtoul(USER, NULL, 10);
	pid_t child;
	int status;

	HI_ASSERT_EQ(1, hi_test_ask(fx, "install"));
	child = fork();
	if (child == 0) {
		struct hi_tracer_child forked;
		struct hi_tracer *tracer;
		struct hi_error err = {};

		if (setgid(user) || setuid(user))
			_exit(2);
		if (hi_test_fork_attempt(fx->pid, &tracer, &forked, &err) !=
		    HI_UNSUPPORTED)
			_exit(3);
		hi_tracer_destroy(tracer);
		_exit(strstr(err.text, "CAP_SYS_ADMIN") ? 0 : 4);
	}
	waitpid(child, &status, 0);
	HI_ASSERT(WIFEXITED(status));
	HI_ASSERT_EQ(0, WEXITSTATUS(status));
	hi_test_expect_free(fx->pid, "RS");
	HI_ASSERT_EQ(1, hi_test_ask(fx, "ping"));
}

/* It has four threads. With one more the first child is made, and not the snapshot child.
 */
static void expect_limited(const char *processes)
{
	struct hi_fixture *fx = hi_test_start_ready("fork_state", "2", "1");
	char line[64];

	HI_ASSERT_EQ(0, hi_test_ask(fx, "user " USER));
	snprintf(line, sizeof(line), "processes %s", processes);
	HI_ASSERT_EQ(0, hi_test_ask(fx, line));
	hi_test_adopt_orphans();
	for (int i = 0; i < 5; i++)
		hi_test_expect_unforked(fx->pid, "ulimit -u");
	hi_test_expect_well(fx);
	hi_test_wait_alone(fx);
}

HI_TEST_ROOT(attach_fork_refused, a_user_with_no_process_to_spare)
{
	expect_limited("4");
}

HI_TEST_ROOT(attach_fork_refused, a_user_with_one_process_to_spare)
{
	expect_limited("5");
}
