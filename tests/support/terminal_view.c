/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/terminal_view.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

#include "tests/harness.h"

enum { WORDS = 32 };

static void close_terminal_view(struct terminal_view *v)
{
	if (v->pid > 0) {
		kill(v->pid, SIGKILL);
		waitpid(v->pid, NULL, 0);
	}
	close(v->terminal);
	close(v->other);
	free(v);
}

struct terminal_view *terminal_view_open(unsigned columns, const char *program, ...)
{
	struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns};
	struct terminal_view *v = calloc(1, sizeof(*v));
	char *argv[WORDS] = {(char *)(uintptr_t)program};
	size_t n = 1;
	va_list words;

	va_start(words, program);
	while (n + 1 < WORDS && (argv[n] = va_arg(words, char *)))
		n++;
	va_end(words);
	HI_ASSERT(v && openpty(&v->terminal, &v->other, NULL, NULL, &size) == 0);
	HI_ASSERT_EQ(0, tcgetattr(v->other, &v->before));
	v->pid = fork();
	HI_ASSERT(v->pid >= 0);
	if (v->pid == 0) {
		if (login_tty(v->other) != 0 || setenv("TERM", "xterm", 1) != 0)
			_exit(126);
		execv(argv[0], argv);
		_exit(127);
	}
	hi_test_defer(close_terminal_view, v);
	return v;
}

static bool has_view_ended(const struct terminal_view *v)
{
	siginfo_t info = {};

	HI_ASSERT_EQ(0, waitid(P_PID, (id_t)v->pid, &info, WEXITED | WNOHANG | WNOWAIT));
	return info.si_pid != 0;
}

/* False: the program has ended, and all that it wrote was read. */
static bool read_terminal_view(struct terminal_view *v)
{
	struct pollfd poll_fd = {.fd = v->terminal, .events = POLLIN};
	ssize_t n;

	HI_ASSERT_MSG(v->used + 1 < sizeof(v->text), "too much");
	if (poll(&poll_fd, 1, 20) <= 0)
		return !has_view_ended(v) || poll(&poll_fd, 1, 0) > 0;
	n = read(v->terminal, v->text + v->used, sizeof(v->text) - 1 - v->used);
	if (n > 0)
		v->used += (size_t)n;
	return n > 0;
}

void terminal_view_await(struct terminal_view *v, const char *text)
{
	v->used = 0;
	for (;;) {
		v->text[v->used] = 0;
		if (strstr(v->text, text))
			return;
		HI_ASSERT_MSG(read_terminal_view(v), "it ended without %s: %s", text,
			      v->text);
	}
}

void terminal_view_press(struct terminal_view *v, const char *key)
{
	HI_ASSERT_EQ(1, write(v->terminal, key, 1));
}

const char *terminal_view_end(struct terminal_view *v)
{
	struct termios after;
	const char *left;

	while (read_terminal_view(v))
		;
	v->text[v->used] = 0;
	HI_ASSERT_EQ(0, tcgetattr(v->other, &after));
	HI_ASSERT_EQ(v->before.c_lflag, after.c_lflag);
	HI_ASSERT_EQ(v->before.c_cc[VMIN], after.c_cc[VMIN]);
	left = strstr(v->text, "\033[?1049l");
	HI_ASSERT_MSG(left, "%s", v->text);
	return left + 8;
}
