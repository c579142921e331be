/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/terminal/browse_terminal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* The cursor, the keypad and the colours as they were, then the other screen. */
#define LEAVE "\033[0m\033[?25h\033[?1l\033>\033[?1049l"

static const int endings[] = {SIGHUP,  SIGINT, SIGQUIT, SIGTERM, SIGSEGV,
			      SIGABRT, SIGBUS, SIGFPE,	SIGILL};
enum { ENDINGS = sizeof(endings) / sizeof(*endings) };

static struct termios before;
static struct sigaction actions_before[ENDINGS];
static volatile sig_atomic_t is_open, is_drawn;

bool hi_browse_terminal_is_possible(void)
{
	const char *term = getenv("TERM");

	return isatty(0) && isatty(1) && term && *term && strcmp(term, "dumb") != 0;
}

static void restore_modes(void)
{
	/* Not from the background: that would stop us. */
	if (is_open && tcgetpgrp(0) == getpgrp())
		(void)tcsetattr(0, TCSADRAIN, &before);
}

void hi_browse_terminal_leave(void)
{
	if (is_open)
		(void)!write(1, LEAVE, sizeof(LEAVE) - 1);
}

static void on_ending(int number)
{
	if (is_drawn)
		hi_browse_terminal_leave();
	restore_modes();
	for (size_t i = 0; i < ENDINGS; i++)
		if (endings[i] == number)
			sigaction(number, &actions_before[i], NULL);
	raise(number);
}

void hi_browse_terminal_drawn(bool drawn)
{
	is_drawn = drawn;
}

void hi_browse_terminal_open(void)
{
	struct sigaction action = {.sa_handler = on_ending};
	struct termios keys;

	if (tcgetattr(0, &before) != 0)
		return;
	is_open = 1;
	for (size_t i = 0; i < ENDINGS; i++) {
		sigaction(endings[i], NULL, &actions_before[i]);
		if (actions_before[i].sa_handler == SIG_DFL)
			sigaction(endings[i], &action, NULL);
	}
	keys = before;
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	keys.c_cc[VMIN] = 1;
	keys.c_cc[VTIME] = 0;
	/* ^Z would stop one of the two processes before the other is done with the
	 * screen. */
	keys.c_cc[VSUSP] = _POSIX_VDISABLE;
	(void)tcsetattr(0, TCSADRAIN, &keys);
}

void hi_browse_terminal_close(void)
{
	if (!is_open)
		return;
	restore_modes();
	is_open = 0;
	for (size_t i = 0; i < ENDINGS; i++)
		sigaction(endings[i], &actions_before[i], NULL);
}
