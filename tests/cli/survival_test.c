/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whatever ends heapinspect, and whenever: programs that check themselves go on and
 * find nothing wrong, and no process, probe or stopped thread is left.
 *
 * HI_SURVIVAL=N for N deaths a target and mode (12), HI_SEED=N for other instants.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/interrupted.h"
#include "tests/support/portrait.h"
#include "tests/support/stopping.h"
#include "tests/support/survivor.h"

enum { AROUND_THE_STOP_US = 4000, MEASURED_RUNS = 3, MIN_ADDRESS_SPACE = 64 << 20 };

enum mode { COPY, FORK, AT, WAITING };

static const char *const mode_names[] = {"copy", "fork", "at", "waiting"};

static const char *budget = "10s"; /* a loaded machine is no failure */

/* The words of one inspection; static. */
static const char *const *words_of(const struct hi_survivor *s, enum mode mode)
{
	static const char *words[24];
	static char pid[16];
	size_t n = 0;

	snprintf(pid, sizeof(pid), "%d", (int)s->pid);
	words[n++] = "--pid";
	words[n++] = pid;
	words[n++] = "--json";
	words[n++] = "--max-pause";
	words[n++] = budget;
	words[n++] = "--snapshot";
	words[n++] = mode == COPY ? "copy" : "fork";
	if (mode >= AT) {
		words[n++] = "--at";
		/* abort() is never called by who is still there. */
		words[n++] = mode == AT ? s->function : "abort";
		words[n++] = "--timeout";
		words[n++] = mode == AT ? "60s" : "300ms";
	}
	words[n] = NULL;
	return words;
}

static int run_whole(const struct hi_survivor *s, enum mode mode)
{
	return hi_inspector_wait(hi_inspector_start(words_of(s, mode), -1));
}

/* Undisturbed it works, and takes so long (the median). */
static uint64_t measure_us(const struct hi_survivor *s, enum mode mode)
{
	uint64_t times[MEASURED_RUNS];
	int expected = mode == WAITING ? 124 : 0;

	for (int i = 0; i < MEASURED_RUNS; i++) {
		uint64_t start = hi_test_now_us();
		int status = run_whole(s, mode);

		HI_ASSERT_MSG(WIFEXITED(status) && WEXITSTATUS(status) == expected,
			      "%s, %s: wait status 0x%x before anything was disturbed",
			      s->name, mode_names[mode], (unsigned)status);
		times[i] = hi_test_now_us() - start;
		for (int k = i; k > 0 && times[k] < times[k - 1]; k--) {
			uint64_t other = times[k];

			times[k] = times[k - 1];
			times[k - 1] = other;
		}
	}
	return times[MEASURED_RUNS / 2];
}

/* Sleeps until the instant at which this run dies: one time in two anywhere in its
 * life, else near its stop. */
static void await_instant(pid_t inspector, pid_t target, uint64_t life_us, unsigned round)
{
	if (round % 2 == 0) {
		hi_test_sleep_us((long)hi_test_random(life_us * 11 / 10));
		return;
	}
	if (hi_inspector_await_stop(inspector, target)) {
		uint64_t end = hi_test_now_us() + hi_test_random(AROUND_THE_STOP_US);

		while (hi_test_now_us() < end)
			;
	}
}

static void check_after_death(struct hi_survivor *s, unsigned round)
{
	hi_traces_expect_none(s->pid, "RSD");
	if (round % 8 == 0)
		hi_survivor_check(s);
}

static void survive(enum hi_survivor_kind kind, enum mode mode)
{
	struct hi_survivor *s = hi_survivor_start(kind);
	unsigned rounds = hi_test_rounds("HI_SURVIVAL", 12), amid = 0;
	uint64_t life_us;

	hi_traces_watch(s->pid);
	life_us = measure_us(s, mode);
	for (unsigned i = 0; i < rounds; i++) {
		pid_t inspector = hi_inspector_start(words_of(s, mode), -1);
		int status;

		await_instant(inspector, s->pid, life_us, i);
		kill(inspector, SIGKILL);
		status = hi_inspector_wait(inspector);
		amid += WIFSIGNALED(status);
		/* It was not as busy here any more as when that was measured. */
		if (!WIFSIGNALED(status) && i % 2 == 0)
			life_us /= 2;
		check_after_death(s, i);
	}
	hi_text_expect_whole(s->pid);
	hi_test_note("%s, %s: %u deaths in %u runs of %llu us", s->name, mode_names[mode],
		     amid, rounds, (unsigned long long)life_us);
	HI_ASSERT(amid > rounds / 3);
	HI_ASSERT_EQ(mode == WAITING ? 124 << 8 : 0, run_whole(s, mode));
	hi_survivor_end(s);
}

HI_TEST_SLOW(survival, killed_amid_a_copy_of_a_program_that_computes)
{
	survive(HI_SURVIVOR_FLOAT, COPY);
}
HI_TEST_SLOW(survival, killed_amid_a_copy_of_a_program_that_allocates)
{
	survive(HI_SURVIVOR_MALLOC, COPY);
}
HI_TEST_SLOW(survival, killed_amid_a_copy_of_redis_under_load)
{
	survive(HI_SURVIVOR_REDIS, COPY);
}
HI_TEST_SLOW(survival, killed_amid_a_copy_of_python_in_a_loop)
{
	survive(HI_SURVIVOR_PYTHON, COPY);
}
HI_TEST_SLOW(survival, killed_amid_a_fork_of_a_program_that_computes)
{
	survive(HI_SURVIVOR_FLOAT, FORK);
}
HI_TEST_SLOW(survival, killed_amid_a_fork_of_a_program_that_allocates)
{
	survive(HI_SURVIVOR_MALLOC, FORK);
}
HI_TEST_SLOW(survival, killed_amid_a_fork_of_redis_under_load)
{
	survive(HI_SURVIVOR_REDIS, FORK);
}
HI_TEST_SLOW(survival, killed_amid_a_fork_of_python_in_a_loop)
{
	survive(HI_SURVIVOR_PYTHON, FORK);
}
HI_TEST_SLOW(survival, killed_at_a_safepoint_of_a_program_that_computes)
{
	survive(HI_SURVIVOR_FLOAT, AT);
}
HI_TEST_SLOW(survival, killed_at_a_safepoint_of_a_program_that_allocates)
{
	survive(HI_SURVIVOR_MALLOC, AT);
}
HI_TEST_SLOW(survival, killed_at_a_safepoint_of_redis_under_load)
{
	survive(HI_SURVIVOR_REDIS, AT);
}
HI_TEST_SLOW(survival, killed_at_a_safepoint_of_python_in_a_loop)
{
	survive(HI_SURVIVOR_PYTHON, AT);
}
HI_TEST_SLOW(survival, killed_while_it_waits_for_a_program_that_computes)
{
	survive(HI_SURVIVOR_FLOAT, WAITING);
}
HI_TEST_SLOW(survival, killed_while_it_waits_for_redis_under_load)
{
	survive(HI_SURVIVOR_REDIS, WAITING);
}

/* ---- other ends ---- */

/* A quarter of the usual rounds, and at least some. */
static unsigned few(void)
{
	return hi_test_rounds("HI_SURVIVAL", 12) / 4 + 2;
}

static void survive_signal(enum mode mode, int number)
{
	struct hi_survivor *s = hi_survivor_start(HI_SURVIVOR_MALLOC);
	unsigned rounds = few();
	uint64_t life_us;

	hi_traces_watch(s->pid);
	life_us = measure_us(s, mode);
	for (unsigned i = 0; i < rounds; i++) {
		pid_t inspector = hi_inspector_start(words_of(s, mode), -1);
		int status;

		await_instant(inspector, s->pid, life_us, i);
		kill(inspector, number);
		status = hi_inspector_wait(inspector);
		/* 124: a busy machine let the pause's budget run out first. */
		HI_ASSERT_MSG(WIFEXITED(status) ? WEXITSTATUS(status) == 0 ||
							  WEXITSTATUS(status) == 124
						: WTERMSIG(status) == number,
			      "signal %d: wait status 0x%x", number, (unsigned)status);
		check_after_death(s, i);
	}
	hi_survivor_end(s);
}

HI_TEST_SLOW(survival, ended_by_a_signal_amid_a_copy)
{
	survive_signal(COPY, SIGTERM);
	survive_signal(COPY, SIGINT);
	survive_signal(COPY, SIGHUP);
}
HI_TEST_SLOW(survival, ended_by_a_signal_amid_a_fork)
{
	survive_signal(FORK, SIGTERM);
	survive_signal(FORK, SIGINT);
	survive_signal(FORK, SIGHUP);
}

/* Kills one of its own processes at some instant of its life. heapinspect must end
 * by itself, with a word where it has lost its tracer. */
static void survive_loss(enum mode mode, const char *name)
{
	struct hi_survivor *s = hi_survivor_start(HI_SURVIVOR_MALLOC);
	unsigned rounds = few() * 2, lost = 0;

	hi_traces_watch(s->pid);
	for (unsigned i = 0; i < rounds; i++) {
		pid_t inspector = hi_inspector_start(words_of(s, mode), -1), victim = 0;
		int status;

		if (i % 2)
			(void)hi_inspector_await_stop(inspector, s->pid);
		while (!victim && !hi_inspector_is_over(inspector))
			victim = hi_process_of(inspector, name);
		hi_test_sleep_us((long)hi_test_random(AROUND_THE_STOP_US));
		if (victim && !hi_inspector_is_over(inspector))
			lost += kill(victim, SIGKILL) == 0;
		status = hi_inspector_wait(inspector);
		HI_ASSERT_MSG(WIFEXITED(status) && (WEXITSTATUS(status) == 0 ||
						    WEXITSTATUS(status) == 2 ||
						    WEXITSTATUS(status) == 3 ||
						    WEXITSTATUS(status) == 124),
			      "wait status 0x%x without its %s", (unsigned)status, name);
		check_after_death(s, i);
	}
	hi_test_note("%s, %s: %u of %u were killed", mode_names[mode], name, lost,
		     rounds);
	hi_survivor_end(s);
}

HI_TEST_SLOW(survival, its_tracer_killed_amid_a_copy)
{
	survive_loss(COPY, "hi-tracer");
}
HI_TEST_SLOW(survival, its_tracer_killed_amid_a_fork)
{
	survive_loss(FORK, "hi-tracer");
}
HI_TEST_SLOW(survival, its_watchdog_killed_amid_a_copy)
{
	survive_loss(COPY, "hi-watchdog");
}
HI_TEST_SLOW(survival, its_watchdog_killed_amid_a_fork)
{
	survive_loss(FORK, "hi-watchdog");
}

/* Ctrl-Z and SIGSTOP while the target stands: it goes on when the budget is over. */
static void survive_freeze(enum mode mode, int number)
{
	struct hi_survivor *s = hi_survivor_start(HI_SURVIVOR_FLOAT);
	unsigned rounds = few(), amid = 0;

	budget = "200ms";
	hi_traces_watch(s->pid);
	for (unsigned i = 0; i < rounds; i++) {
		pid_t inspector = hi_inspector_start(words_of(s, mode), -1);
		uint64_t start;

		amid += hi_inspector_await_stop(inspector, s->pid);
		kill(inspector, number);
		start = hi_test_now_us();
		while (hi_process_status(s->pid, "TracerPid") > 0)
			HI_ASSERT_MSG(hi_test_now_us() - start < 300000000,
				      "it still stands after 300 s");
		hi_survivor_check(s);
		hi_test_expect_free(s->pid, "RSD");
		kill(inspector, SIGCONT);
		HI_ASSERT(WIFEXITED(hi_inspector_wait(inspector)));
		hi_traces_expect_none(s->pid, "RSD");
	}
	budget = "10s";
	HI_ASSERT(amid > 0);
	hi_survivor_end(s);
}

HI_TEST_SLOW(survival, stopped_by_ctrl_z_or_sigstop_amid_a_copy)
{
	survive_freeze(COPY, SIGSTOP);
	survive_freeze(COPY, SIGTSTP);
}
HI_TEST_SLOW(survival, stopped_by_ctrl_z_or_sigstop_amid_a_fork)
{
	survive_freeze(FORK, SIGSTOP);
	survive_freeze(FORK, SIGTSTP);
}

/* ---- nothing left to work with ---- */

/* Every limit from next to nothing to plenty, in steps of a factor: it fails
 * somewhere else each time, says so, and the target does not notice. */
static void survive_limit(enum mode mode, int resource, uint64_t low, uint64_t high)
{
	struct hi_survivor *s = hi_survivor_start(HI_SURVIVOR_FLOAT);
	unsigned fine = 0, runs = 0;
	uint64_t part = hi_test_rounds("HI_SURVIVAL", 0) ? 64 : 5;

	hi_traces_watch(s->pid);
	for (uint64_t limit = low; limit < high; limit += limit / part + 1) {
		pid_t inspector = hi_inspector_start_limited(words_of(s, mode), -1,
							     resource, limit);
		int status = hi_inspector_wait(inspector);
		/* Libraries may end it in ways of their own: abort(), exit(1). */
		HI_ASSERT_MSG(WIFEXITED(status) || WTERMSIG(status) == SIGABRT ||
				      limit < MIN_ADDRESS_SPACE,
			      "limit %llu: wait status 0x%x", (unsigned long long)limit,
			      (unsigned)status);
		fine += status == 0;
		check_after_death(s, runs++);
	}
	HI_ASSERT_EQ(0, run_whole(s, mode));
	hi_test_note("%s: fine under %u of %u limits", mode_names[mode], fine, runs);
	hi_survivor_end(s);
}

HI_TEST_SLOW(survival, out_of_memory_amid_a_copy)
{
	survive_limit(COPY, RLIMIT_AS, 8 << 20, 4ull << 30);
}
HI_TEST_SLOW(survival, out_of_memory_amid_a_fork)
{
	survive_limit(FORK, RLIMIT_AS, 8 << 20, 4ull << 30);
}
HI_TEST_SLOW(survival, out_of_descriptors_amid_a_fork)
{
	survive_limit(FORK, RLIMIT_NOFILE, 3, 64);
}

static void full_disk(enum mode mode)
{
	struct hi_survivor *s = hi_survivor_start(HI_SURVIVOR_FLOAT);
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC), ends[2], status;

	HI_ASSERT(full >= 0 && pipe2(ends, O_CLOEXEC) == 0);
	hi_traces_watch(s->pid);
	status = hi_inspector_wait(hi_inspector_start(words_of(s, mode), full));
	HI_ASSERT_EQ(2 << 8, status);
	check_after_death(s, 0);
	close(ends[0]);
	status = hi_inspector_wait(hi_inspector_start(words_of(s, mode), ends[1]));
	HI_ASSERT_EQ((128 + SIGPIPE) << 8, status);
	check_after_death(s, 0);
	close(ends[1]);
	close(full);
	hi_survivor_end(s);
}

HI_TEST_SCENARIO(survival, its_output_is_full_or_closed)
{
	full_disk(COPY);
	full_disk(FORK);
}

HI_TEST_ROOT(survival, the_file_system_of_its_file_is_full)
{
	struct hi_survivor *s = hi_survivor_start(HI_SURVIVOR_FLOAT);
	struct hi_command *c;
	char script[512];

	hi_traces_watch(s->pid);
	/* Its own mount namespace: nothing of it is left. */
	snprintf(script, sizeof(script),
		 "mount -t tmpfs -o size=4k none /mnt && cd /mnt && "
		 "%s/heapinspect --pid %d --json --all -o x; code=$?; ls -A; exit $code",
		 HI_BINARY_DIR, (int)s->pid);
	c = hi_command_run(0, "unshare", "-m", "sh", "-c", script, NULL);
	HI_ASSERT_MSG(c->exit_code == 2, "exit %d: %s", c->exit_code, c->err);
	HI_ASSERT_MSG(strstr(c->err, "No space left"), "%s", c->err);
	HI_ASSERT_STREQ("", c->out); /* no litter */
	check_after_death(s, 0);
	hi_survivor_end(s);
}

static bool is_in_write(pid_t pid)
{
	char path[64], text[64] = "";
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	in = fopen(path, "r");
	if (in && !fgets(text, sizeof(text), in))
		text[0] = 0;
	if (in)
		fclose(in);
	return strncmp(text, "1 0x1 ", 6) == 0;
}

/* Of its children the one that decodes writes the report. */
static bool has_child_in_write(pid_t pid)
{
	char path[64];
	bool found = false;
	FILE *in;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	in = fopen(path, "r");
	while (in && !found && fscanf(in, "%d", &child) == 1)
		found = is_in_write(child);
	if (in)
		fclose(in);
	return found;
}

/* In write(1): there it stays. */
static void await_blocked(pid_t inspector)
{
	for (int i = 0; i < 60000; i++) {
		if (is_in_write(inspector) || has_child_in_write(inspector))
			return;
		hi_test_sleep_us(1000);
	}
	hi_test_fail(__FILE__, __LINE__, "%d does not write", (int)inspector);
}

/* Its memory is read by then; a busy machine lets it die later. */
static void await_no_child(pid_t target)
{
	for (int i = 0; i < 60000 && hi_forked_child_of(target); i++)
		hi_test_sleep_us(1000);
	HI_ASSERT_EQ(0, hi_forked_child_of(target));
}

/* Nobody reads what it says: it hangs, the target does not. */
static void blocked_pipe(enum mode mode)
{
	struct hi_survivor *s = hi_survivor_start(HI_SURVIVOR_FLOAT);
	char junk[4096] = "";
	pid_t inspector;
	int ends[2];

	HI_ASSERT(pipe2(ends, O_CLOEXEC) == 0);
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	while (write(ends[1], junk, sizeof(junk)) > 0)
		;
	fcntl(ends[1], F_SETFL, 0);
	hi_traces_watch(s->pid);
	inspector = hi_inspector_start(words_of(s, mode), ends[1]);
	await_blocked(inspector);
	HI_ASSERT(!hi_inspector_is_over(inspector));
	hi_test_expect_free(s->pid, "RSD");
	hi_survivor_check(s);
	await_no_child(s->pid);
	kill(inspector, SIGKILL);
	hi_inspector_wait(inspector);
	check_after_death(s, 0);
	close(ends[0]);
	close(ends[1]);
	hi_survivor_end(s);
}

HI_TEST_SCENARIO(survival, nobody_reads_its_output)
{
	blocked_pipe(COPY);
	blocked_pipe(FORK);
}
