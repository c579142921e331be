/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/stopping.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness.h"

struct hi_target hi_test_target(pid_t pid)
{
	return (struct hi_target){.pid = pid, .pidfd = -1};
}

long long hi_test_ask(struct hi_fixture *fx, const char *line)
{
	char answer[256];

	hi_fixture_tell(fx, line);
	HI_ASSERT_MSG(hi_fixture_line(fx, answer, sizeof(answer)), "no answer to %s",
		      line);
	return strtoll(answer, NULL, 10);
}

void hi_test_expect_progress(struct hi_fixture *fx)
{
	long long before = hi_test_ask(fx, "count");

	for (int i = 0; i < 1000; i++) {
		hi_test_sleep_us(10000);
		if (hi_test_ask(fx, "count") > before)
			return;
	}
	hi_test_fail(__FILE__, __LINE__, "%d makes no progress", (int)fx->pid);
}

void hi_test_expect_line(struct hi_fixture *fx, const char *line)
{
	char got[256] = "";

	HI_ASSERT_MSG(hi_fixture_line(fx, got, sizeof(got)), "no line \"%s\"", line);
	HI_ASSERT_STREQ(line, got);
	hi_fixture_settle(fx);
}

void hi_test_sleep_us(long us)
{
	struct timespec ts = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

	nanosleep(&ts, NULL);
}

/* A field of a status file below /proc; empty if it is not there. */
static void status_field(const char *path, const char *key, char *value, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t n = strlen(key);
	char line[256];

	value[0] = 0;
	if (!file)
		return;
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, key, n) == 0 && line[n] == ':')
			snprintf(value, size, "%s",
				 line + n + 1 + strspn(line + n + 1, " \t"));
	fclose(file);
	value[strcspn(value, "\n")] = 0;
}

/* The first thread that is not free, as text; empty if all are. */
static void find_unfree(pid_t pid, const char *states, char *text, size_t size)
{
	char dir[64], path[400], state[64], tracer[64];
	struct dirent *entry;
	DIR *tasks;

	text[0] = 0;
	snprintf(dir, sizeof(dir), "/proc/%d/task", (int)pid);
	tasks = opendir(dir);
	while (tasks && (entry = readdir(tasks))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s/status", dir, entry->d_name);
		status_field(path, "State", state, sizeof(state));
		status_field(path, "TracerPid", tracer, sizeof(tracer));
		if (state[0] && (!strchr(states, state[0]) || strcmp(tracer, "0") != 0))
			snprintf(text, size, "thread %s: state %s, tracer %s",
				 entry->d_name, state, tracer);
	}
	if (tasks)
		closedir(tasks);
	else
		snprintf(text, size, "no process %d", (int)pid);
}

void hi_test_expect_free(pid_t pid, const char *states)
{
	char text[512];

	for (int i = 0; i < 4000; i++) {
		find_unfree(pid, states, text, sizeof(text));
		if (!text[0])
			return;
		hi_test_sleep_us(5000);
	}
	hi_test_fail(__FILE__, __LINE__, "%s, expected one of \"%s\"", text, states);
}

static int count_processes(const char *key, const char *wanted)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	char path[400], value[64];
	int n = 0;

	while (proc && (entry = readdir(proc))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/status", entry->d_name);
		status_field(path, key, value, sizeof(value));
		n += strcmp(value, wanted) == 0;
	}
	if (proc)
		closedir(proc);
	return n;
}

int hi_test_count_children(pid_t pid)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", (int)pid);
	return count_processes("PPid", text);
}

void hi_test_expect_children(int n)
{
	/* Long: the killed must be scheduled once more to die. */
	for (int i = 0; i < 1000 && hi_test_count_children(getpid()) > n; i++) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		hi_test_sleep_us(10000);
	}
	HI_ASSERT_EQ(n, hi_test_count_children(getpid()));
}

size_t hi_test_stop_once(pid_t pid, const struct hi_stop_options *options)
{
	struct hi_target target = hi_test_target(pid);
	struct hi_tracer *tracer = NULL;
	struct hi_tracer_stop stop = {};
	struct hi_error err = {};
	enum hi_status status;
	uint64_t resumed_ns = 0;
	size_t n_threads;

	HI_ASSERT_OK(hi_tracer_start(&target, options, &tracer, &err), &err);
	status = hi_tracer_stop(tracer, &stop, &err);
	n_threads = stop.n_threads;
	if (status == HI_OK)
		status = hi_tracer_resume(tracer, &resumed_ns, &err);
	hi_tracer_destroy(tracer);
	HI_ASSERT_OK(status, &err);
	HI_ASSERT(resumed_ns > stop.stopped_ns);
	return n_threads;
}

void hi_test_expect_traced(pid_t pid)
{
	for (int i = 0; i < 4000; i++) {
		if (hi_process_status(pid, "TracerPid") > 0)
			return;
		hi_test_sleep_us(5000);
	}
	hi_test_fail(__FILE__, __LINE__, "nobody traces %d", (int)pid);
}

/* A child of ours that is no fixture; 0: none. */
static pid_t find_orphan(void)
{
	char path[64];
	pid_t found = 0;
	FILE *file;
	int child;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	file = fopen(path, "r");
	while (file && !found && fscanf(file, "%d", &child) == 1)
		found = hi_fixture_is_one(child) ? 0 : child;
	if (file)
		fclose(file);
	return found;
}

/* Who has been killed takes a moment to die. */
static void release_orphans(void *arg)
{
	pid_t orphan;

	(void)arg;
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	for (int i = 0; i < 5000 && (orphan = find_orphan()); i++) {
		if (waitpid(orphan, NULL, WNOHANG | __WALL) == 0)
			hi_test_sleep_us(1000);
		else if (errno == ECHILD)
			return;
	}
}

void hi_test_adopt_orphans(void)
{
	hi_test_defer(release_orphans, NULL);
	HI_ASSERT_EQ(0, prctl(PR_SET_CHILD_SUBREAPER, 1));
}
