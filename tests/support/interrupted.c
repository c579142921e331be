/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/interrupted.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/child.h"
#include "tests/support/fixture.h"
#include "tests/support/stopping.h"

#define PROGRAM HI_BINARY_DIR "/heapinspect"
#define CHILDREN 256
#define PATIENCE_TRIES 10000
#define PATIENCE_US 2000
#define COURSE_US 4000000

struct family {
	pid_t pids[CHILDREN];
	size_t count;
};

/* Taken by hi_traces_watch(). */
static struct family before, before_in_target;
static pid_t running[CHILDREN];

static void add_children(pid_t pid, const char *task, struct family *ret)
{
	char path[64];
	FILE *in;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/children", (int)pid, task);
	in = fopen(path, "r");
	while (in && ret->count < CHILDREN && fscanf(in, "%d", &child) == 1)
		ret->pids[ret->count++] = child;
	if (in)
		fclose(in);
}

static struct family family_of(pid_t pid)
{
	struct family family = {};
	struct dirent *entry;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			add_children(pid, entry->d_name, &family);
	if (tasks)
		closedir(tasks);
	return family;
}

static bool has(const struct family *family, pid_t pid)
{
	for (size_t i = 0; i < family->count; i++)
		if (family->pids[i] == pid)
			return true;
	return false;
}

/* One that was not there before; 0 if there is none. */
static pid_t stranger_in(const struct family *now, const struct family *then)
{
	for (size_t i = 0; i < now->count; i++)
		if (!has(then, now->pids[i]))
			return now->pids[i];
	return 0;
}

static void kill_deferred(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < CHILDREN; i++)
		if (running[i]) {
			kill(running[i], SIGKILL);
			waitpid(running[i], NULL, 0);
			running[i] = 0;
		}
}

void hi_traces_watch(pid_t target)
{
	HI_ASSERT_EQ(0, prctl(PR_SET_CHILD_SUBREAPER, 1));
	hi_test_defer(kill_deferred, NULL);
	before = family_of(getpid());
	before_in_target = family_of(target);
}

static void reap_strangers(const struct family *now)
{
	for (size_t i = 0; i < now->count; i++)
		if (!has(&before, now->pids[i]))
			waitpid(now->pids[i], NULL, WNOHANG | __WALL);
}

static void describe(pid_t pid, char text[128])
{
	char path[64], name[64] = "?";
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	in = fopen(path, "r");
	if (in && fgets(name, sizeof(name), in))
		name[strcspn(name, "\n")] = 0;
	if (in)
		fclose(in);
	snprintf(text, 128, "%d (%s, state %c)", (int)pid, name, hi_process_state(pid));
}

void hi_traces_expect_none(pid_t target, const char *states)
{
	pid_t ours = 0, theirs = 0;
	char text[128] = "";

	for (int i = 0; i < PATIENCE_TRIES; i++) {
		struct family now = family_of(getpid()), in_target = family_of(target);

		reap_strangers(&now);
		ours = stranger_in(&now, &before);
		theirs = stranger_in(&in_target, &before_in_target);
		if (!ours && !theirs)
			break;
		hi_test_sleep_us(PATIENCE_US);
	}
	if (ours || theirs)
		describe(ours ? ours : theirs, text);
	HI_ASSERT_MSG(!ours, "a process is left: %s", text);
	HI_ASSERT_MSG(!theirs, "the target has a child: %s", text);
	hi_test_expect_free(target, *states ? states : "RSDTtXZ");
}

/* ---- heapinspect ---- */

static void run_child(const char *const *words, int out, int resource, uint64_t limit)
{
	const struct rlimit both = {.rlim_cur = limit, .rlim_max = limit};
	const char *argv[64] = {PROGRAM};
	int null = open("/dev/null", O_RDWR);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	hi_child_signals();
	dup2(null, 0);
	dup2(out < 0 ? null : out, 1);
	dup2(null, 2);
	for (int fd = 3; fd < 256; fd++)
		close(fd);
	for (int i = 0; i < 62 && words[i]; i++)
		argv[i + 1] = words[i];
	if (resource >= 0)
		setrlimit((__rlimit_resource_t)resource, &both);
	execv(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

pid_t hi_inspector_start(const char *const *words, int out)
{
	return hi_inspector_start_limited(words, out, -1, 0);
}

pid_t hi_inspector_start_limited(const char *const *words, int out, int resource,
				 uint64_t limit)
{
	size_t slot = 0;
	pid_t pid;

	while (running[slot])
		HI_ASSERT(++slot < CHILDREN);
	fflush(NULL);
	pid = fork();
	HI_ASSERT(pid >= 0);
	if (pid == 0)
		run_child(words, out, resource, limit);
	running[slot] = pid;
	return pid;
}

static void forget(pid_t pid)
{
	for (size_t i = 0; i < CHILDREN; i++)
		if (running[i] == pid)
			running[i] = 0;
}

int hi_inspector_wait(pid_t inspector)
{
	int status = 0;

	/* Not by the clock: it goes on while a virtual machine stands still. */
	for (int i = 0; i < 60000; i++) {
		pid_t got = waitpid(inspector, &status, WNOHANG);

		if (got == inspector || (got < 0 && errno == ECHILD)) {
			forget(inspector);
			return status;
		}
		hi_test_sleep_us(1000);
	}
	hi_test_fail(__FILE__, __LINE__, "heapinspect does not end");
}

bool hi_inspector_is_over(pid_t inspector)
{
	char state = hi_process_state(inspector);

	return state == 'Z' || state == 0;
}

bool hi_inspector_await_stop(pid_t inspector, pid_t target)
{
	struct timespec start, now;

	/* On a busy machine the stop may be missed, and the inspector's end may
	 * never come: nobody reads what it says. */
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		if (hi_process_status(target, "TracerPid") > 0)
			return true;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (!hi_inspector_is_over(inspector) && now.tv_sec - start.tv_sec < 15);
	return false;
}

/* Where its stack and its arguments lie: the kernel chooses that at each exec, and a fork
 * has it of its parent. False: it has no memory (any more). */
static bool read_places(pid_t pid, unsigned long long places[2])
{
	char path[64], text[1024], *at;
	FILE *in;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	in = fopen(path, "r");
	if (!in)
		return false;
	n = fread(text, 1, sizeof(text) - 1, in);
	fclose(in);
	text[n] = 0;
	at = strrchr(text, ')');
	/* Fields 28 and 48 of proc(5), startstack and arg_start; the second is its name.
	 */
	for (int field = 2; at && field < 48; field++) {
		at = strchr(at + 1, ' ');
		if (at && (field + 1 == 28 || field + 1 == 48))
			places[field + 1 == 48] = strtoull(at, NULL, 10);
	}
	return at && places[0] > 1 && places[1] > 1;
}

static bool has_memory_of(pid_t a, pid_t b)
{
	unsigned long long of_a[2], of_b[2];

	return read_places(a, of_a) && read_places(b, of_b) &&
	       memcmp(of_a, of_b, sizeof(of_a)) == 0;
}

pid_t hi_process_of(pid_t parent, const char *name)
{
	struct family family = family_of(parent);

	for (size_t i = 0; i < family.count; i++) {
		char path[64], comm[64] = "";
		FILE *in;

		snprintf(path, sizeof(path), "/proc/%d/comm", (int)family.pids[i]);
		in = fopen(path, "r");
		if (in && fgets(comm, sizeof(comm), in))
			comm[strcspn(comm, "\n")] = 0;
		if (in)
			fclose(in);
		if (strcmp(comm, name) == 0)
			return family.pids[i];
	}
	return 0;
}

pid_t hi_forked_child_of(pid_t target)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;

	while (proc && !found && (entry = readdir(proc))) {
		pid_t pid = atoi(entry->d_name);

		if (pid > 0 && pid != target && has_memory_of(pid, target) &&
		    hi_process_status(pid, "TracerPid") > 0)
			found = pid;
	}
	if (proc)
		closedir(proc);
	return found;
}

/* ---- chance and time ---- */

uint64_t hi_test_random(uint64_t below)
{
	static uint64_t seed;

	if (!seed)
		seed = 0x9e3779b97f4a7c15ull * (hi_test_rounds("HI_SEED", 0) + 1);
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return below ? seed % below : 0;
}

uint64_t hi_test_now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

unsigned hi_test_rounds(const char *variable, unsigned usual)
{
	const char *text = getenv(variable);

	return text && *text ? (unsigned)strtoul(text, NULL, 10) : usual;
}

struct hi_test_course hi_test_course_of(const char *variable, unsigned least,
					unsigned most)
{
	unsigned wanted = hi_test_rounds(variable, 0);

	return (struct hi_test_course){.least = wanted ? wanted : least,
				       .most = wanted ? wanted : most,
				       .until_us = hi_test_now_us() + COURSE_US};
}

bool hi_test_course_goes_on(struct hi_test_course *course)
{
	course->round = course->next++;
	return course->round < course->least ||
	       (course->round < course->most && hi_test_now_us() < course->until_us);
}
