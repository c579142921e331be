/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/forking.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"

/* The budget is no part of what is tried: other tests may have the processors. */
static const struct hi_stop_options wish = {.snapshot = HI_REQUEST_FORK,
					    .max_pause_ns = HI_TEST_PATIENCE_NS,
					    .best_effort_priority = true};

/* ---- the step at which the tracer dies ---- */

#define N_STEPS 64
static const char *seen[N_STEPS]; /* in the tracer */
static int die_at;		  /* 1 is the first step; 0: never */
static _Atomic int *n_late;	  /* shared with tracers; NULL: none is late */

void hi_fork_test_step(const char *step);
void hi_fork_test_step(const char *step)
{
	static int n;

	if (n < N_STEPS)
		seen[n] = step;
	if (++n == die_at)
		kill(getpid(), SIGKILL);
	/* Until the watchdog ends this process. */
	if (strcmp(step, "snapshot child") == 0 && n_late && *n_late > 0) {
		--*n_late;
		for (;;)
			(void)pause();
	}
}

void hi_test_make_forks_late(int n)
{
	if (!n_late)
		n_late = mmap(NULL, sizeof(*n_late), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	HI_ASSERT(n_late != MAP_FAILED);
	*n_late = n;
}

/* ---- targets ---- */

struct hi_fixture *hi_test_start_ready(const char *name, const char *a, const char *b)
{
	struct hi_fixture *fx = hi_fixture_start(name, a, b, NULL);

	hi_test_expect_line(fx, "ready");
	return fx;
}

/* Rounds of its threads; fails if one was bad. */
long hi_test_fork_rounds(struct hi_fixture *fx)
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
void hi_test_expect_well(struct hi_fixture *fx)
{
	long before = hi_test_fork_rounds(fx), now = before;

	for (int i = 0; i < 10000 && now < before + 20; i++) {
		hi_test_sleep_us(1000);
		now = hi_test_fork_rounds(fx);
	}
	HI_ASSERT(now >= before + 20);
	HI_ASSERT_EQ(0, hi_test_ask(fx, "children"));
}

/* Faster than to look at every process of the machine. */
static int count_children(pid_t pid)
{
	char path[400];
	struct dirent *entry;
	int n = 0, child;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/children", (int)pid,
			 entry->d_name);
		file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
		while (file && fscanf(file, "%d", &child) == 1)
			n++;
		if (file)
			fclose(file);
	}
	if (tasks)
		closedir(tasks);
	return n;
}

/* Waits until nobody but the target is left of us, and nobody of the target. */
void hi_test_wait_alone(const struct hi_fixture *fx)
{
	for (int i = 0; i < 20000; i++) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (count_children(getpid()) == 1 && count_children(fx->pid) == 0)
			return;
		hi_test_sleep_us(500);
	}
	HI_ASSERT_EQ(1, hi_test_count_children(getpid()));
	HI_ASSERT_EQ(0, hi_test_count_children(fx->pid));
}

/* ---- a stop with a child ---- */

static void destroy_deferred(struct hi_forked *f)
{
	hi_tracer_destroy(f->tracer);
	free(f);
}

enum hi_status hi_test_fork_attempt(pid_t pid, struct hi_tracer **tracer_ret,
				    struct hi_tracer_child *child, struct hi_error *err)
{
	struct hi_target target = hi_test_target(pid);
	struct hi_tracer_stop stop;
	enum hi_status status;
	uint64_t resumed_ns;

	*tracer_ret = NULL;
	status = hi_tracer_start(&target, &wish, tracer_ret, err);
	if (status == HI_OK)
		status = hi_tracer_stop(*tracer_ret, &stop, err);
	if (status == HI_OK)
		status = hi_tracer_fork(*tracer_ret, child, err);
	return status == HI_OK ? hi_tracer_resume(*tracer_ret, &resumed_ns, err) : status;
}

/* Stopped, with a child; to be resumed. */
enum hi_status hi_test_fork_stopped(pid_t pid, struct hi_tracer **tracer_ret,
				    struct hi_tracer_stop *stop,
				    struct hi_tracer_child *child, struct hi_error *err)
{
	struct hi_target target = hi_test_target(pid);

	HI_ASSERT_OK(hi_tracer_start(&target, &wish, tracer_ret, err), err);
	HI_ASSERT_OK(hi_tracer_stop(*tracer_ret, stop, err), err);
	return hi_tracer_fork(*tracer_ret, child, err);
}

/* The target runs on, and the child is there. Ended when the test ends. */
struct hi_forked *hi_test_fork(pid_t pid)
{
	struct hi_forked *f = calloc(1, sizeof(*f));
	struct hi_tracer_stop stop;
	struct hi_error err = {};
	uint64_t resumed_ns;

	HI_ASSERT(f);
	HI_ASSERT_OK(hi_test_fork_stopped(pid, &f->tracer, &stop, &f->child, &err), &err);
	hi_test_defer(destroy_deferred, f);
	HI_ASSERT_OK(hi_tracer_resume(f->tracer, &resumed_ns, &err), &err);
	f->pause_ns = resumed_ns - stop.stopped_ns;
	return f;
}

void hi_test_fork_end(struct hi_forked *f)
{
	hi_tracer_end_child(f->tracer);
	hi_tracer_destroy(f->tracer);
	f->tracer = NULL;
}

/* A fork that must be refused with this word; the target goes on. */
void hi_test_expect_unforked(pid_t pid, const char *word)
{
	struct hi_tracer *tracer = NULL;
	struct hi_tracer_child child;
	struct hi_tracer_stop stop;
	struct hi_error err = {};
	enum hi_status status = hi_test_fork_stopped(pid, &tracer, &stop, &child, &err);
	enum hi_status resumed;
	uint64_t resumed_ns;

	resumed = hi_tracer_resume(tracer, &resumed_ns, NULL);
	hi_tracer_destroy(tracer);
	HI_ASSERT_MSG(status == HI_UNSUPPORTED && strstr(err.text, word), "%d: %s",
		      status, err.text);
	HI_ASSERT_EQ(HI_OK, resumed);
	hi_test_expect_free(pid, "RS");
}

/* One fork in a process of its own, whose tracer dies at this step. */
void hi_test_fork_and_die(pid_t pid, int at)
{
	pid_t inspector = fork();

	HI_ASSERT(inspector >= 0);
	if (inspector == 0) {
		struct hi_tracer_child child;
		struct hi_tracer *tracer;

		die_at = at;
		(void)hi_test_fork_attempt(pid, &tracer, &child, NULL);
		_exit(0);
	}
	while (waitpid(inspector, NULL, 0) < 0 && errno == EINTR)
		;
}

void hi_test_fork_once(pid_t pid)
{
	hi_test_fork_end(hi_test_fork(pid));
}
