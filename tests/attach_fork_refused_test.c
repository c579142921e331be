/* SPDX-License-Identifier: BSD-2-Clause */
/* Targets that are not forked: each with its reason, and none the worse for it. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
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

/* It has four threads. With one more the first child is made, and not the keeper. */
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
