/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/command.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/child.h"

#define MAX_ARGS 64
#define MAX_WORDS 127
#define TIMEOUT_S 600

static void free_deferred(struct hi_command *c)
{
	free(c->out);
	free(c->err);
	free(c);
}

static void run_child(uid_t uid, char *const argv[], int out, int err)
{
	int null = open("/dev/null", O_RDONLY);

	hi_child_signals();
	dup2(null, 0);
	dup2(out, 1);
	dup2(err, 2);
	for (int fd = 3; fd < 256; fd++)
		close(fd);
	if (uid && (setgroups(0, NULL) || setgid(uid) || setuid(uid)))
		_exit(126);
	execvp(argv[0], argv);
	dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* Reads what is there; false at the end of the stream. */
static bool drain(int fd, char **text, size_t *size)
{
	char *grown = realloc(*text, *size + (1 << 16) + 1);
	ssize_t n;

	HI_ASSERT(grown);
	*text = grown;
	n = read(fd, grown + *size, 1 << 16);
	*size += n > 0 ? (size_t)n : 0;
	grown[*size] = 0;
	return n > 0;
}

static bool collect(struct hi_command *c, int out, int err)
{
	struct pollfd fds[2] = {{.fd = out, .events = POLLIN},
				{.fd = err, .events = POLLIN}};
	time_t end = time(NULL) + TIMEOUT_S;

	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		if (time(NULL) > end)
			return false;
		if (poll(fds, 2, 1000) <= 0)
			continue;
		if (fds[0].revents && !drain(out, &c->out, &c->out_size))
			fds[0].fd = -1;
		if (fds[1].revents && !drain(err, &c->err, &c->err_size))
			fds[1].fd = -1;
	}
	return true;
}

struct hi_command *hi_command_runv(uid_t uid, char *const argv[])
{
	struct hi_command *c = calloc(1, sizeof(*c));
	int out[2], err[2], status = 0;
	bool in_time;
	pid_t pid;

	HI_ASSERT(c && pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0);
	c->out = calloc(1, 1);
	c->err = calloc(1, 1);
	hi_test_defer(free_deferred, c);
	fflush(NULL);
	pid = fork();
	HI_ASSERT(pid >= 0);
	if (pid == 0)
		run_child(uid, argv, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	in_time = collect(c, out[0], err[0]);
	close(out[0]);
	close(err[0]);
	if (!in_time)
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	c->exit_code = !in_time		   ? 124
		       : WIFEXITED(status) ? WEXITSTATUS(status)
					   : 128 + WTERMSIG(status);
	return c;
}

struct hi_command *hi_command_run(uid_t uid, const char *argv0, ...)
{
	char *argv[MAX_ARGS] = {strdup(argv0)};
	struct hi_command *c;
	va_list ap;
	int n = 1;

	va_start(ap, argv0);
	while (n < MAX_ARGS - 1 && (argv[n] = va_arg(ap, char *)))
		n++;
	va_end(ap);
	argv[n] = NULL;
	c = hi_command_runv(uid, argv);
	free(argv[0]);
	return c;
}

struct hi_command *hi_heapinspect_words(const char *const *words, const char *const *more)
{
	const char *argv[MAX_WORDS + 1] = {HI_BINARY_DIR "/heapinspect"};
	size_t n = 1;

	for (; *words; words++) {
		HI_ASSERT(n < MAX_WORDS);
		argv[n++] = *words;
	}
	for (; more && *more; more++) {
		HI_ASSERT(n < MAX_WORDS);
		argv[n++] = *more;
	}
	return hi_command_runv(0, (char *const *)(uintptr_t)argv);
}
