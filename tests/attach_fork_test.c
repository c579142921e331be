/* SPDX-License-Identifier: BSD-2-Clause */
/* The copy-on-write child: made without a trace, whoever dies when. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/stopping.h"

static const struct hi_stop_options wish = {.snapshot = HI_WISH_FORK,
					    .best_effort_priority = true};

/* ---- the step at which the tracer dies ---- */

#define N_STEPS 64
static const char *seen[N_STEPS]; /* in the tracer */
static int die_at;		  /* 1 is the first step; 0: never */

void hi_fork_test_step(const char *step);
void hi_fork_test_step(const char *step)
{
	static int n;

	if (n < N_STEPS)
		seen[n] = step;
	if (++n == die_at)
		kill(getpid(), SIGKILL);
}

/* ---- targets ---- */

static struct hi_fixture *start_ready(const char *name, const char *a, const char *b)
{
	struct hi_fixture *fx = hi_fixture_start(name, a, b, NULL);

	hi_test_expect_line(fx, "ready");
	return fx;
}

/* Rounds of its threads; fails if one was bad. */
static long check(struct hi_fixture *fx)
{
	char line[256] = "";
	long rounds, bad;

	hi_fixture_tell(fx, "check");
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	HI_ASSERT_EQ(2, sscanf(line, "rounds %ld bad %ld", &rounds, &bad));
	HI_ASSERT_EQ(0, bad);
	return rounds;
}

/* Its threads go on, and find all as it was. */
static void expect_well(struct hi_fixture *fx)
{
	long before = check(fx), now = before;

	for (int i = 0; i < 1000 && now < before + 20; i++) {
		hi_test_sleep_us(1000);
		now = check(fx);
	}
	HI_ASSERT(now >= before + 20);
	HI_ASSERT_EQ(0, hi_test_ask(fx, "children"));
}

/* Orphans come to us and not to init, so that we can see them end. */
static void adopt_orphans(void)
{
	HI_ASSERT_EQ(0, prctl(PR_SET_CHILD_SUBREAPER, 1));
}

/* Waits until nobody but the target is left of us, and nobody of the target. */
static void wait_alone(const struct hi_fixture *fx)
{
	for (int i = 0; i < 20000; i++) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (hi_test_count_children(getpid()) == 1 &&
		    hi_test_count_children(fx->pid) == 0)
			return;
		hi_test_sleep_us(500);
	}
	HI_ASSERT_EQ(1, hi_test_count_children(getpid()));
	HI_ASSERT_EQ(0, hi_test_count_children(fx->pid));
}

/* ---- a stop with a child ---- */

struct forked {
	struct hi_tracer *tracer;
	struct hi_tracer_child child;
	uint64_t pause_ns;
};

static void destroy_deferred(void *arg)
{
	struct forked *f = arg;

	hi_tracer_destroy(f->tracer);
	free(f);
}

/* Stopped, with a child; to be resumed. */
static enum hi_status fork_stopped(pid_t pid, struct hi_tracer **tracer_ret,
				   struct hi_tracer_stop *stop,
				   struct hi_tracer_child *child, struct hi_error *err)
{
	struct hi_target target = hi_test_target(pid);

	HI_ASSERT_OK(hi_tracer_start(&target, &wish, tracer_ret, err), err);
	HI_ASSERT_OK(hi_tracer_stop(*tracer_ret, stop, err), err);
	return hi_tracer_fork(*tracer_ret, child, err);
}

/* The target runs on, and the child is there. Ended when the test ends. */
static struct forked *fork_target(pid_t pid)
{
	struct forked *f = calloc(1, sizeof(*f));
	struct hi_tracer_stop stop;
	struct hi_error err = {};
	uint64_t resumed_ns;

	HI_ASSERT(f);
	HI_ASSERT_OK(fork_stopped(pid, &f->tracer, &stop, &f->child, &err), &err);
	hi_test_defer(destroy_deferred, f);
	HI_ASSERT_OK(hi_tracer_resume(f->tracer, &resumed_ns, &err), &err);
	f->pause_ns = resumed_ns - stop.stopped_ns;
	return f;
}

static void end(struct forked *f)
{
	hi_tracer_end_child(f->tracer);
	hi_tracer_destroy(f->tracer);
	f->tracer = NULL;
}

/* A fork that must be refused with this word; the target goes on. */
static void expect_refused(pid_t pid, const char *word)
{
	struct hi_tracer *tracer = NULL;
	struct hi_tracer_child child;
	struct hi_tracer_stop stop;
	struct hi_error err = {};
	enum hi_status status = fork_stopped(pid, &tracer, &stop, &child, &err);
	enum hi_status resumed;
	uint64_t resumed_ns;

	resumed = hi_tracer_resume(tracer, &resumed_ns, NULL);
	hi_tracer_destroy(tracer);
	HI_ASSERT_MSG(status == HI_UNSUPPORTED && strstr(err.text, word), "%d: %s",
		      status, err.text);
	HI_ASSERT_EQ(HI_OK, resumed);
	hi_test_expect_free(pid, "RS");
}

HI_TEST_SCENARIO(attach_fork, a_child_stands_while_the_target_runs_on)
{
	struct hi_fixture *fx = start_ready("fork_state", "2", "1");
	struct forked *f;

	adopt_orphans();
	f = fork_target(fx->pid);
	HI_ASSERT_EQ('t', hi_process_state(f->child.pid));
	HI_ASSERT_EQ(0, hi_test_count_children(fx->pid));
	hi_test_expect_free(fx->pid, "RS");
	expect_well(fx);
	end(f);
	wait_alone(fx);
	HI_ASSERT_EQ(0, hi_process_state(f->child.pid));
	hi_test_expect_free(fx->pid, "RS");
	expect_well(fx);
}

static unsigned char *read_memory(pid_t pid, uint64_t addr, size_t size)
{
	unsigned char *bytes = malloc(size);
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY);
	HI_ASSERT(bytes && fd >= 0);
	HI_ASSERT_EQ(size, pread(fd, bytes, size, (off_t)addr));
	close(fd);
	return bytes;
}

HI_TEST_SCENARIO(attach_fork, the_child_holds_the_memory_of_the_stop)
{
	struct hi_fixture *fx = start_ready("fork_state", "1", "16");
	unsigned char *before, *in_child, *after;
	struct hi_tracer_child child;
	struct hi_tracer_stop stop;
	struct hi_tracer *tracer = NULL;
	struct hi_error err = {};
	unsigned long addr;
	uint64_t resumed_ns;
	char line[128];
	size_t size;

	hi_fixture_tell(fx, "area");
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	HI_ASSERT_EQ(2, sscanf(line, "%lx %zu", &addr, &size));
	HI_ASSERT_OK(fork_stopped(fx->pid, &tracer, &stop, &child, &err), &err);
	before = read_memory(fx->pid, addr, size);
	HI_ASSERT_OK(hi_tracer_resume(tracer, &resumed_ns, &err), &err);
	hi_test_sleep_us(100000);
	in_child = read_memory(child.pid, addr, size);
	after = read_memory(fx->pid, addr, size);
	hi_tracer_destroy(tracer);
	HI_ASSERT(memcmp(before, in_child, size) == 0);
	HI_ASSERT(memcmp(before, after, size) != 0); /* it did scribble */
	free(before);
	free(in_child);
	free(after);
}

/* ---- deaths ---- */

/* One fork in a process of its own, whose tracer dies at this step. */
static void fork_and_die(pid_t pid, int at)
{
	pid_t inspector = fork();

	HI_ASSERT(inspector >= 0);
	if (inspector == 0) {
		struct hi_target target = hi_test_target(pid);
		struct hi_tracer *tracer = NULL;
		struct hi_tracer_child child;
		struct hi_tracer_stop stop;
		uint64_t resumed_ns;

		die_at = at;
		if (hi_tracer_start(&target, &wish, &tracer, NULL) == HI_OK &&
		    hi_tracer_stop(tracer, &stop, NULL) == HI_OK &&
		    hi_tracer_fork(tracer, &child, NULL) == HI_OK)
			(void)hi_tracer_resume(tracer, &resumed_ns, NULL);
		_exit(0);
	}
	while (waitpid(inspector, NULL, 0) < 0 && errno == EINTR)
		;
}

#define STEPS 20 /* a few more than there are: those die after the fork */

static void die_at_every_step(struct hi_fixture *fx, int rounds)
{
	adopt_orphans();
	for (int i = 0; i < rounds; i++) {
		for (int at = 1; at <= STEPS; at++)
			fork_and_die(fx->pid, at);
		hi_test_expect_free(fx->pid, "RS");
	}
	wait_alone(fx);
}

HI_TEST_SLOW(attach_fork, a_tracer_may_die_at_any_step_300_times)
{
	struct hi_fixture *fx = start_ready("fork_state", "3", "4");

	for (int i = 0; i < 15; i++) {
		die_at_every_step(fx, 1);
		expect_well(fx);
	}
}

/* ---- refusals ---- */

HI_TEST_SCENARIO(attach_fork, a_subreaper_is_not_forked)
{
	struct hi_fixture *fx = start_ready("fork_state", "2", "1");

	HI_ASSERT_EQ(0, hi_test_ask(fx, "subreaper"));
	expect_refused(fx->pid, "subreaper");
	expect_well(fx);
	HI_ASSERT_EQ(0, hi_test_count_children(fx->pid));
}
