/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/recording_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/child.h"

enum {
	WORDS = 32,
	OUTPUT = 1 << 20,
	LOOK_US = 10000,
	LOOKS = RECORDING_PATIENCE_MS * 1000 / LOOK_US,
};

static void end_run(void *arg)
{
	pid_t pid = (pid_t)(intptr_t)arg;

	if (waitpid(pid, NULL, WNOHANG) == 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

_Noreturn static void become_recorder(char *const argv[], int out, int err)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	for (int fd = 3; fd < 256; fd++)
		close(fd);
	hi_child_signals();
	execv(argv[0], argv);
	_exit(127);
}

static size_t count_in(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

/* False: nothing came for so many milliseconds. */
static bool read_more(struct recording_run *run, const char *awaited, int timeout_ms)
{
	size_t used = strlen(run->begun);
	struct pollfd ready = {.fd = run->err, .events = POLLIN};
	ssize_t n;

	if (poll(&ready, 1, timeout_ms) != 1)
		return false;
	HI_ASSERT(used + 1 < sizeof(run->begun));
	n = read(run->err, run->begun + used, sizeof(run->begun) - 1 - used);
	HI_ASSERT_MSG(n > 0, "it ended before \"%s\": %s", awaited, run->begun);
	run->begun[used + (size_t)n] = '\0';
	return true;
}

/* Lines of its progress come all the while. */
void recording_await(struct recording_run *run, const char *text, size_t times)
{
	time_t until = time(NULL) + RECORDING_PATIENCE_MS / 1000;

	while (count_in(run->begun, text) < times)
		HI_ASSERT_MSG(read_more(run, text, RECORDING_PATIENCE_MS) &&
				      time(NULL) < until,
			      "no \"%s\" in: %s", text, run->begun);
}

bool recording_says(struct recording_run *run, const char *text, int timeout_ms)
{
	char *line, *end = NULL;

	while (!(line = strstr(run->begun + run->taken, text)) ||
	       !(end = strchr(line, '\n')))
		if (!read_more(run, text, timeout_ms))
			return false;
	run->taken = (size_t)(end + 1 - run->begun);
	return true;
}

static bool has_file_open(pid_t pid, const char *name)
{
	char directory[64], path[400], target[512];
	struct dirent *entry;
	bool found = false;
	DIR *all;

	snprintf(directory, sizeof(directory), "/proc/%d/fd", (int)pid);
	all = opendir(directory);
	HI_ASSERT(all != NULL);
	while (!found && (entry = readdir(all))) {
		ssize_t n;

		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		n = readlink(path, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = 0;
		found = strstr(target, name) != NULL;
	}
	closedir(all);
	return found;
}

void recording_await_code(const struct recording_run *run, const char *name)
{
	for (int i = 0; i < LOOKS && !has_file_open(run->pid, name); i++)
		usleep(LOOK_US);
	HI_ASSERT_MSG(has_file_open(run->pid, name), "it has not seen %s", name);
}

static struct recording_run start_run(char *const argv[], const char *begun)
{
	struct recording_run run = {};
	int out[2], err[2];

	HI_ASSERT_EQ(0, pipe2(out, O_CLOEXEC));
	HI_ASSERT_EQ(0, pipe2(err, O_CLOEXEC));
	run.pid = fork();
	HI_ASSERT(run.pid >= 0);
	if (run.pid == 0)
		become_recorder(argv, out[1], err[1]);
	hi_test_defer(end_run, (void *)(intptr_t)run.pid);
	close(out[1]);
	close(err[1]);
	run.out = out[0];
	run.err = err[0];
	recording_await(&run, begun, 1);
	return run;
}

struct recording_run recording_start(pid_t target, ...)
{
	static char program[] = HI_BINARY_DIR "/heapinspect", record[] = "record",
		    pid_option[] = "--pid", sample_option[] = "--sample",
		    sample_all[] = "all";
	char pid_text[16], *argv[WORDS] = {program,    record,	   sample_option,
					   sample_all, pid_option, pid_text};
	size_t n = 6;
	va_list words;

	snprintf(pid_text, sizeof(pid_text), "%d", (int)target);
	va_start(words, target);
	while (n + 1 < WORDS && (argv[n] = va_arg(words, char *)))
		n++;
	va_end(words);
	/* It prints that it records when the probes are there. */
	return start_run(argv, "recording pid");
}

struct recording_run recording_start_as(const char *command, const char *begun,
					pid_t target, const char *const *words)
{
	static char program[] = HI_BINARY_DIR "/heapinspect", pid_option[] = "--pid";
	char pid_text[16], *argv[WORDS] = {program, (char *)(uintptr_t)command,
					   pid_option, pid_text};
	size_t n = 4;

	snprintf(pid_text, sizeof(pid_text), "%d", (int)target);
	while (n + 1 < WORDS && *words)
		argv[n++] = (char *)(uintptr_t)*words++;
	return start_run(argv, begun);
}

static void free_recorded_command(struct hi_command *c)
{
	free(c->out);
	free(c->err);
	free(c);
}

/* Both until their ends, so that neither pipe fills up. */
static void read_both(const struct recording_run *run, struct hi_command *c)
{
	struct pollfd fds[2] = {{.fd = run->out, .events = POLLIN},
				{.fd = run->err, .events = POLLIN}};
	char *texts[2] = {c->out, c->err};
	size_t *sizes[2] = {&c->out_size, &c->err_size};

	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		HI_ASSERT(poll(fds, 2, RECORDING_PATIENCE_MS) > 0);
		for (int i = 0; i < 2; i++) {
			ssize_t n;

			if (fds[i].fd < 0 || !fds[i].revents)
				continue;
			n = read(fds[i].fd, texts[i] + *sizes[i], OUTPUT - 1 - *sizes[i]);
			if (n <= 0)
				fds[i].fd = -1;
			else
				*sizes[i] += (size_t)n;
		}
	}
}

struct hi_command *recording_end(struct recording_run *run, int number)
{
	struct hi_command *c = calloc(1, sizeof(*c));
	int status = 0;

	HI_ASSERT(c);
	c->out = calloc(1, OUTPUT);
	c->err = calloc(1, OUTPUT);
	HI_ASSERT(c->out && c->err);
	hi_test_defer(free_recorded_command, c);
	if (number)
		kill(run->pid, number);
	c->err_size = strlen(run->begun);
	memcpy(c->err, run->begun, c->err_size);
	read_both(run, c);
	close(run->out);
	close(run->err);
	HI_ASSERT_EQ(run->pid, waitpid(run->pid, &status, 0));
	c->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return c;
}
