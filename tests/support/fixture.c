/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/fixture.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/child.h"

#define MAX_ARGS 32
#define LINE_TIMEOUT_MS 300000
#define END_MS 60000
#define DEFERRED_MS 100 /* nobody asks any more how it ends */
#define SETTLED_NS 3000000
#define SETTLE_TRIES 2000 /* of 1 ms */

/* Until it has ended or the time is over. */
static void await_end(pid_t pid, int ms)
{
	struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, pid, 0),
			       .events = POLLIN};

	if (ended.fd < 0)
		return; /* reaped by the test */
	(void)poll(&ended, 1, ms);
	close(ended.fd);
}

/* Closes its stdin; a fixture that has not ended by then is killed. */
static int end_within(struct hi_fixture *fx, int ms)
{
	if (fx->in >= 0)
		close(fx->in);
	fx->in = -1;
	if (fx->ended)
		return fx->wait_status;
	await_end(fx->pid, ms);
	if (waitpid(fx->pid, &fx->wait_status, WNOHANG) == 0) {
		kill(fx->pid, SIGKILL);
		waitpid(fx->pid, &fx->wait_status, 0);
	}
	fx->ended = 1;
	return fx->wait_status;
}

/* Until it has ended, for some seconds. */
static const char *say_how_it_ended(struct hi_fixture *fx)
{
	static char text[64];

	for (int i = 0; !fx->ended && i < SETTLE_TRIES; i++) {
		fx->ended = waitpid(fx->pid, &fx->wait_status, WNOHANG) == fx->pid;
		if (!fx->ended)
			usleep(1000);
	}
	if (!fx->ended)
		return "it still runs";
	if (WIFSIGNALED(fx->wait_status))
		snprintf(text, sizeof(text), "SIG%s",
			 sigabbrev_np(WTERMSIG(fx->wait_status)));
	else
		snprintf(text, sizeof(text), "exit code %d",
			 WEXITSTATUS(fx->wait_status));
	return text;
}

/* A test may have failed because a signal killed its fixture. */
static void note_early_end(struct hi_fixture *fx)
{
	siginfo_t info = {};

	if (hi_test_has_failed() && !fx->ended &&
	    waitid(P_PID, (id_t)fx->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    info.si_pid == fx->pid)
		hi_test_note("fixture %d had ended before the test: %s", (int)fx->pid,
			     say_how_it_ended(fx));
}

static struct hi_fixture *fixtures; /* of the test that runs */

static void end_deferred(void *arg)
{
	struct hi_fixture *fx = arg, **at = &fixtures;

	note_early_end(fx);
	end_within(fx, DEFERRED_MS);
	while (*at != fx)
		at = &(*at)->next;
	*at = fx->next;
	close(fx->out);
	free(fx);
}

static void run_child(const char *path, char *const argv[], int in[2], int out[2])
{
	hi_child_signals();
	dup2(in[0], 0);
	dup2(out[1], 1);
	for (int fd = 3; fd < 256; fd++)
		close(fd);
	execv(path, argv);
	dprintf(2, "%s: %s\n", path, strerror(errno));
	_exit(127);
}

struct hi_fixture *hi_fixture_startv(const char *path, char *const argv[])
{
	struct hi_fixture *fx = calloc(1, sizeof(*fx));
	int in[2], out[2];

	signal(SIGPIPE, SIG_IGN);
	HI_ASSERT(fx && pipe(in) == 0 && pipe(out) == 0);
	fflush(NULL);
	fx->pid = fork();
	HI_ASSERT(fx->pid >= 0);
	if (fx->pid == 0)
		run_child(path, argv, in, out);
	close(in[0]);
	close(out[1]);
	fx->in = in[1];
	fx->out = out[0];
	fx->next = fixtures;
	fixtures = fx;
	hi_test_defer(end_deferred, fx);
	return fx;
}

struct hi_fixture *hi_fixture_start(const char *name, ...)
{
	char path[512];
	char *argv[MAX_ARGS] = {path};
	va_list ap;
	int n = 1;

	if (strchr(name, '/'))
		snprintf(path, sizeof(path), "%s", name);
	else
		snprintf(path, sizeof(path), "%s/%s", HI_FIXTURE_DIR, name);
	va_start(ap, name);
	while (n < MAX_ARGS - 1 && (argv[n] = va_arg(ap, char *)))
		n++;
	va_end(ap);
	argv[n] = NULL;
	return hi_fixture_startv(path, argv);
}

/* The next byte of its stdout; -1 at the end or after the timeout. */
static int next_byte(struct hi_fixture *fx)
{
	struct pollfd pfd = {.fd = fx->out, .events = POLLIN};
	ssize_t n;

	if (fx->used < fx->filled)
		return (unsigned char)fx->buffer[fx->used++];
	if (poll(&pfd, 1, LINE_TIMEOUT_MS) <= 0)
		return -1;
	n = read(fx->out, fx->buffer, sizeof(fx->buffer));
	if (n <= 0)
		return -1;
	fx->filled = (size_t)n;
	fx->used = 1;
	return (unsigned char)fx->buffer[0];
}

bool hi_fixture_line(struct hi_fixture *fx, char *line, size_t size)
{
	size_t used = 0;
	int c = 0;

	while (used + 1 < size && (c = next_byte(fx)) >= 0 && c != '\n')
		line[used++] = (char)c;
	line[used] = 0;
	return used > 0 || c == '\n';
}

/* Processor time of its first thread; 0 where the kernel does not say. */
static unsigned long long run_ns(pid_t pid)
{
	unsigned long long ns = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%llu", &ns) != 1)
		ns = 0;
	if (f)
		fclose(f);
	return ns;
}

void hi_fixture_settle(struct hi_fixture *fx)
{
	unsigned long long start = run_ns(fx->pid);

	for (int i = 0; i < SETTLE_TRIES; i++) {
		char state = hi_process_state(fx->pid);

		/* D: it waits for a page, and then goes on. */
		if ((state != 'R' && state != 'D') ||
		    run_ns(fx->pid) > start + SETTLED_NS)
			return;
		usleep(1000);
	}
}

void hi_fixture_await_program(pid_t pid, const char *name)
{
	char path[64], exe[512] = "";
	const char *base = NULL;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	for (int i = 0; i < 60000; i++) {
		ssize_t n = readlink(path, exe, sizeof(exe) - 1);

		exe[n > 0 ? n : 0] = 0;
		base = strrchr(exe, '/');
		if (base && strcmp(base + 1, name) == 0 && hi_process_state(pid) == 'S')
			return;
		usleep(1000);
	}
	hi_test_fail(__FILE__, __LINE__, "%d is \"%s\", not %s", (int)pid, exe, name);
}

void hi_fixture_read_until(struct hi_fixture *fx, const char *last,
			   void (*fn)(const char *line, void *arg), void *arg)
{
	char line[1024];

	while (hi_fixture_line(fx, line, sizeof(line))) {
		if (strcmp(line, last) == 0) {
			hi_fixture_settle(fx);
			return;
		}
		if (fn)
			fn(line, arg);
	}
	hi_test_fail(__FILE__, __LINE__, "the fixture ended before it said \"%s\": %s",
		     last, say_how_it_ended(fx));
}

void hi_fixture_tell(struct hi_fixture *fx, const char *line)
{
	dprintf(fx->in, "%s\n", line);
}

int hi_fixture_end(struct hi_fixture *fx)
{
	return end_within(fx, END_MS);
}

bool hi_fixture_is_one(pid_t pid)
{
	for (const struct hi_fixture *fx = fixtures; fx; fx = fx->next)
		if (fx->pid == pid)
			return true;
	return false;
}

void hi_fixture_await_call(pid_t pid, long number)
{
	char path[64], line[256] = "";

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	for (int i = 0; i < 10000; i++) {
		FILE *file = fopen(path, "r");
		char *end = line;

		HI_ASSERT(file);
		if (!fgets(line, sizeof(line), file))
			line[0] = 0;
		fclose(file);
		if (strtol(line, &end, 10) == number && end != line &&
		    hi_process_state(pid) == 'S')
			return;
		usleep(1000);
	}
	hi_test_fail(__FILE__, __LINE__, "process %d is not in call %ld: %s", (int)pid,
		     number, line);
}

char hi_process_state(pid_t pid)
{
	char path[64], text[512];
	FILE *f;
	size_t n;
	char *paren;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	paren = strrchr(text, ')');
	return paren && paren[1] ? paren[2] : 0;
}

static long long read_status_number(const char *path, const char *key)
{
	char line[256];
	size_t n = strlen(key);
	long long value = -1;
	FILE *f = fopen(path, "r");

	if (!f)
		return -1;
	while (value < 0 && fgets(line, sizeof(line), f))
		if (strncmp(line, key, n) == 0 && line[n] == ':')
			value = strtoll(line + n + 1, NULL, 10);
	fclose(f);
	return value;
}

long long hi_process_status(pid_t pid, const char *key)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	return read_status_number(path, key);
}

unsigned long long hi_process_naps(pid_t pid)
{
	unsigned long long sum = 0;
	char path[400];
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		long long naps;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/status", (int)pid,
			 entry->d_name);
		naps = read_status_number(path, "voluntary_ctxt_switches");
		sum += naps > 0 ? (unsigned long long)naps : 0;
	}
	if (tasks)
		closedir(tasks);
	return sum;
}
