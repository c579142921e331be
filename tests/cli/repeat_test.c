/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same target again and again, and by two at once: whatever can be seen of it is
 * as it was before the first inspection.
 *
 * HI_REPEAT=N for N inspections a mode (40).
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/interrupted.h"
#include "tests/support/portrait.h"
#include "tests/support/stopping.h"

enum { WARM_UP = 2 };

static struct hi_fixture *start_quiet(const char *mib, const char *tick_us)
{
	struct hi_fixture *fx;

	/* The kernel notes there on which processor a thread woke up. */
	setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
	fx = hi_fixture_start("quiet_service", mib, tick_us, NULL);
	unsetenv("GLIBC_TUNABLES");
	hi_test_expect_line(fx, "ready");
	hi_traces_watch(fx->pid);
	return fx;
}

/* What it sees of itself, without the ticks. */
static void ask(struct hi_fixture *fx, char answer[256])
{
	char *ticks;

	hi_fixture_tell(fx, "");
	HI_ASSERT_MSG(hi_fixture_line(fx, answer, 256), "it does not answer any more");
	ticks = strstr(answer, " ticks");
	HI_ASSERT_MSG(ticks, "%s", answer);
	*ticks = 0;
	hi_test_expect_free(fx->pid, "S"); /* it sleeps again */
}

static void inspect_often(pid_t target, unsigned rounds, const char *const *options)
{
	const char *words[16] = {"--pid", NULL, "--json", "--quiet"};
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)target);
	words[1] = pid;
	for (int i = 0; options[i] && i < 11; i++)
		words[i + 4] = options[i];
	for (unsigned i = 0; i < rounds; i++) {
		int status = hi_inspector_wait(hi_inspector_start(words, -1));

		HI_ASSERT_MSG(status == 0, "inspection %u: wait status 0x%x", i,
			      (unsigned)status);
	}
	hi_traces_expect_none(target, "S");
}

/* A probe makes the kernel bring in the page of text that it is put on. */
enum { TEXT_PAGES_KB = 8 };

static void check_unchanged(struct hi_fixture *fx, enum hi_portrait_detail detail,
			    const char *const *options)
{
	unsigned rounds = hi_test_rounds("HI_REPEAT", 40);
	char said_before[256], said_after[256];
	long long resident;
	char *before, *after;

	ask(fx, said_before);
	resident = hi_process_status(fx->pid, "VmRSS");
	before = hi_portrait_take(fx->pid, detail);
	inspect_often(fx->pid, WARM_UP, options);
	after = hi_portrait_take(fx->pid, detail);
	if (detail == HI_PORTRAIT_STILL)
		hi_portrait_expect_same(before, after);
	resident = hi_process_status(fx->pid, "VmRSS") - resident;
	HI_ASSERT_MSG(resident <= TEXT_PAGES_KB, "%lld kB more are resident", resident);
	before = after;
	inspect_often(fx->pid, rounds, options);
	after = hi_portrait_take(fx->pid, detail);
	hi_portrait_expect_same(before, after);
	hi_text_expect_whole(fx->pid);
	ask(fx, said_after);
	HI_ASSERT_STREQ(said_before, said_after);
	HI_ASSERT_EQ(0, hi_fixture_end(fx));
}

HI_TEST_SLOW(repeat, after_many_copies_it_is_as_before)
{
	const char *const options[] = {"--snapshot", "copy", NULL};

	check_unchanged(start_quiet("1", NULL), HI_PORTRAIT_STILL, options);
}

HI_TEST_SLOW(repeat, after_many_forks_it_is_as_before)
{
	const char *const options[] = {"--snapshot", "fork", NULL};

	check_unchanged(start_quiet("1", NULL), HI_PORTRAIT_STILL, options);
}

HI_TEST_SLOW(repeat, after_forks_of_a_larger_heap_it_is_as_before)
{
	const char *const options[] = {"--snapshot", "auto", NULL};

	check_unchanged(start_quiet("80", NULL), HI_PORTRAIT_STILL, options);
}

HI_TEST_SLOW(repeat, after_many_stops_at_a_function_it_is_as_before)
{
	const char *const copy[] = {"--snapshot", "copy", "--at", "quiet_tick", NULL};
	const char *const fork[] = {"--snapshot", "fork", "--at", "quiet_tick", NULL};

	check_unchanged(start_quiet("1", "1000"), HI_PORTRAIT_MOVING, copy);
	check_unchanged(start_quiet("1", "1000"), HI_PORTRAIT_MOVING, fork);
}

static void wait_in_vain(pid_t target)
{
	struct hi_command *c;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)target);
	c = hi_heapinspect("--pid", pid, "--at", "quiet_tick", "--timeout", "200ms");
	HI_ASSERT_MSG(c->exit_code == 124, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_EQ(0, c->out_size);
}

HI_TEST_SLOW(repeat, after_a_function_that_is_never_called_it_is_as_before)
{
	struct hi_fixture *fx = start_quiet("1", NULL);
	char *before;

	wait_in_vain(fx->pid);
	hi_traces_expect_none(fx->pid, "S");
	before = hi_portrait_take(fx->pid, HI_PORTRAIT_PROBED);
	for (int i = 0; i < 3; i++)
		wait_in_vain(fx->pid);
	hi_traces_expect_none(fx->pid, "S");
	hi_portrait_expect_same(before, hi_portrait_take(fx->pid, HI_PORTRAIT_PROBED));
	hi_text_expect_whole(fx->pid);
	HI_ASSERT_EQ(0, hi_fixture_end(fx));
}

/* ---- two at once ---- */

/* Two inspectors as fast as they can: each run works, or is told that there is
 * another. Returns how often it was told. */
static unsigned run_two(pid_t target, unsigned rounds, const char *const *words)
{
	unsigned refused = 0, fine = 0;

	for (unsigned i = 0; i < rounds; i++) {
		pid_t both[2] = {hi_inspector_start(words, -1),
				 hi_inspector_start(words, -1)};

		for (int k = 0; k < 2; k++) {
			int status = hi_inspector_wait(both[k]);

			HI_ASSERT_MSG(status == 0 || status == 3 << 8,
				      "one of two: wait status 0x%x", (unsigned)status);
			fine += status == 0;
			refused += status != 0;
		}
	}
	HI_ASSERT(fine >= rounds);
	hi_traces_expect_none(target, "S");
	return refused;
}

static void check_two(const char *snapshot)
{
	struct hi_fixture *fx = start_quiet("64", NULL);
	char *before, pid[16];
	const char *const words[] = {"--pid",	   pid,	     "--json", "--quiet",
				     "--snapshot", snapshot, NULL};

	hi_traces_expect_none(fx->pid, "S");
	before = hi_portrait_take(fx->pid, HI_PORTRAIT_STILL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	hi_test_note("%s: %u of two were told to wait", snapshot,
		     run_two(fx->pid, 8, words));
	hi_portrait_expect_same(before, hi_portrait_take(fx->pid, HI_PORTRAIT_STILL));
	HI_ASSERT_EQ(0, hi_fixture_end(fx));
}

HI_TEST_SLOW(repeat, two_inspectors_at_once_do_the_target_no_harm)
{
	check_two("copy");
	check_two("fork");
}

/* The first waits for a function; the second comes meanwhile. */
HI_TEST_SCENARIO(repeat, a_second_inspector_is_told_who_is_there)
{
	struct hi_fixture *fx = start_quiet("1", NULL);
	const char *words[] = {"--pid",	    NULL,  "--at", "quiet_tick",
			       "--timeout", "60s", NULL};
	struct hi_command *second;
	pid_t first;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	words[1] = pid;
	first = hi_inspector_start(words, -1);
	HI_ASSERT(hi_inspector_await_stop(first, fx->pid));
	second = hi_heapinspect("--pid", pid);
	HI_ASSERT_MSG(second->exit_code == 3, "exit %d: %s", second->exit_code,
		      second->err);
	HI_ASSERT_MSG(strstr(second->err, "traced"), "%s", second->err);
	HI_ASSERT_EQ(0, second->out_size);
	HI_ASSERT(!hi_inspector_is_over(first));
	kill(first, SIGINT);
	hi_inspector_wait(first);
	hi_traces_expect_none(fx->pid, "S");
	HI_ASSERT_EQ(0, hi_heapinspect("--pid", pid)->exit_code);
	HI_ASSERT_EQ(0, hi_fixture_end(fx));
}
