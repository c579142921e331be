/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread that is made to call clone() was asleep in another system call: that goes
 * on as if nothing was, whether the tracer lives or dies.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/forking.h"

#define FORKS 10

static struct hi_fixture *start_call(const char *name)
{
	return hi_test_start_ready("stop_calls", name, "leader");
}

static void expect_unnoticed(const char *name, const char *end)
{
	struct hi_fixture *fx = start_call(name);

	for (int i = 0; i < FORKS; i++) {
		struct hi_forked *f = hi_test_fork(fx->pid);

		HI_ASSERT_EQ(fx->pid, f->child.tid);
		hi_test_fork_end(f);
		hi_test_sleep_us(i * 137 % 1000);
	}
	hi_test_expect_free(fx->pid, "RS");
	hi_fixture_tell(fx, "finish");
	hi_test_expect_line(fx, end);
}

/* Where its call was made: sp and pc, the last words of /proc/PID/syscall. The number may
 * become that of restart_syscall. */
static void read_call(pid_t pid, char *text, size_t size)
{
	char path[64], line[256] = "", *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	file = fopen(path, "r");
	if (file && !fgets(line, sizeof(line), file))
		line[0] = 0;
	if (file)
		fclose(file);
	at = strstr(line, " 0x7ff"); /* the stack is the only thing up there */
	while (at && strstr(at + 1, " 0x7ff"))
		at = strstr(at + 1, " 0x7ff");
	snprintf(text, size, "%s", at ? at : "");
}

/* A signal between two tries of pause() would come too early. */
static void wait_until_as_before(pid_t pid, const char *before)
{
	char now[256] = "";

	for (int i = 0; i < 20000 && strcmp(before, now) != 0; i++) {
		hi_test_sleep_us(1000);
		read_call(pid, now, sizeof(now));
	}
	HI_ASSERT_STREQ(before, now);
}

/* Each death meets a call that was not interrupted before: there is no way to go on
 * with restart_syscall for a thread that came through rt_sigreturn. */
static void expect_deaths_unnoticed(const char *name)
{
	struct hi_fixture *fx[HI_TEST_FORK_STEPS];
	char before[256];

	for (int i = 0; i < HI_TEST_FORK_STEPS; i++) {
		fx[i] = start_call(name);
		read_call(fx[i]->pid, before, sizeof(before));
		hi_test_fork_and_die(fx[i]->pid, i + 1);
		hi_test_expect_free(fx[i]->pid, "RS");
		wait_until_as_before(fx[i]->pid, before);
	}
	for (int i = 0; i < HI_TEST_FORK_STEPS; i++) {
		char line[256] = "";

		hi_fixture_tell(fx[i], "finish");
		HI_ASSERT(hi_fixture_line(fx[i], line, sizeof(line)));
		/* Whether it is early or not: a sleep may be over by now. */
		HI_ASSERT_MSG(strncmp(line, "calls 1 result 1 errno 0", 24) == 0, "%s",
			      line);
		hi_fixture_end(fx[i]);
	}
}

#define UNNOTICED(call)                                                                  \
	HI_TEST_SCENARIO(attach_fork_calls, call##_sleeps_on_over_many_forks)            \
	{                                                                                \
		expect_unnoticed(#call, "calls 1 result 1 errno 0 early 0");             \
	}                                                                                \
	HI_TEST_SLOW(attach_fork_calls, call##_sleeps_on_when_tracers_die)               \
	{                                                                                \
		expect_deaths_unnoticed(#call);                                          \
	}
HI_TEST_EACH_CALL(UNNOTICED)
