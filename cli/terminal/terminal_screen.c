/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/terminal/terminal_screen.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/files.h"
#include "report/reports/series/series_live.h"

/* The terminal that shows a view; -1: none does. */
static volatile sig_atomic_t screen = -1;

/* Standard input as it was before keys were read one by one; while has_keys. */
static struct termios before_keys;
static volatile sig_atomic_t has_keys, takes_keys;

/* Children have their own descriptors under this number. */
static pid_t owner;
static struct sigaction before_stop;

/* Only the process group in the foreground may read keys, or set the terminal. */
static bool owns_terminal(void)
{
	return isatty(0) && tcgetpgrp(0) == getpgrp();
}

static void leave_keys(void)
{
	if (has_keys && owns_terminal())
		(void)tcsetattr(0, TCSANOW, &before_keys);
	has_keys = 0;
}

static void enter_keys(void)
{
	struct termios keys;

	if (has_keys || !takes_keys || !owns_terminal() ||
	    tcgetattr(0, &before_keys) != 0)
		return;
	keys = before_keys;
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	keys.c_cc[VMIN] = 1;
	keys.c_cc[VTIME] = 0;
	has_keys = tcsetattr(0, TCSANOW, &keys) == 0;
}

/* The modes of a terminal are set by a process with rights (cli/decoder/decoder.h), which
 * knows what they were. */
static bool ask_for_terminal(int fd)
{
	char text[32] = "";

	if (fd >= 0)
		snprintf(text, sizeof(text), "%d%s", fd, takes_keys ? " keys" : "");
	hi_close_fd(hi_files_ask(HI_FILES_TERMINAL, text, "", NULL));
	return errno == 0;
}

void hi_terminal_screen_leave(void)
{
	int fd = screen;

	if (hi_files_are_served()) {
		if (fd >= 0)
			(void)ask_for_terminal(-1);
		return;
	}
	leave_keys();
	if (fd >= 0)
		(void)!write(fd, HI_SERIES_LIVE_LEAVE, sizeof(HI_SERIES_LIVE_LEAVE) - 1);
}

static void enter_screen(void)
{
	int fd = screen;

	if (fd < 0)
		return;
	enter_keys();
	(void)!write(fd, HI_SERIES_LIVE_ENTER, sizeof(HI_SERIES_LIVE_ENTER) - 1);
}

/* The shell gets its own screen back for as long as we are stopped. */
static void on_terminal_stop(int number)
{
	int saved = errno;

	(void)number;
	if (getpid() != owner)
		return;
	hi_terminal_screen_leave();
	raise(SIGSTOP);
	enter_screen();
	errno = saved;
}

void hi_terminal_screen_open(int fd, bool keys)
{
	struct sigaction action = {.sa_handler = on_terminal_stop,
				   .sa_flags = SA_RESTART};

	takes_keys = keys;
	if (hi_files_are_served()) {
		has_keys = ask_for_terminal(fd) && keys;
		screen = fd;
		return;
	}
	owner = getpid();
	if (sigaction(SIGTSTP, NULL, &before_stop) == 0 &&
	    before_stop.sa_handler != SIG_IGN)
		sigaction(SIGTSTP, &action, NULL);
	screen = fd;
	enter_screen();
}

bool hi_terminal_screen_is_open(void)
{
	return screen >= 0;
}

void hi_terminal_screen_close(void)
{
	if (screen < 0)
		return;
	hi_terminal_screen_leave();
	screen = -1;
	if (hi_files_are_served())
		return;
	sigaction(SIGTSTP, &before_stop, NULL);
}

int hi_terminal_screen_serve(const char *request)
{
	uint64_t fd = request[0] - (uint64_t)'0';

	errno = 0;
	if (!*request)
		hi_terminal_screen_close();
	else if (fd != STDOUT_FILENO && fd != STDERR_FILENO)
		errno = EPERM;
	else if (!hi_terminal_screen_is_open())
		hi_terminal_screen_open((int)fd, request[1] == ' ');
	return -1;
}

int hi_terminal_screen_keys_fd(void)
{
	return has_keys && owns_terminal() ? 0 : -1;
}

unsigned hi_terminal_screen_lines(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row ? size.ws_row : 24;
}

bool hi_terminal_screen_is_possible(void)
{
	const char *term = getenv("TERM");

	return isatty(1) && term && *term && strcmp(term, "dumb") != 0;
}
