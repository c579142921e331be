/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/series/series_signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cli/terminal/terminal_screen.h"

static volatile sig_atomic_t stopped;
static int wake_fd = -1;
static pid_t owner;

/* The first one ends the series in order, a second one at once. */
static void on_signal(int number)
{
	int saved = errno;
	uint64_t one = 1;

	/* Children have their own descriptors under these numbers. */
	if (getpid() != owner)
		return;
	if (stopped) {
		hi_terminal_screen_leave();
		signal(number, SIG_DFL);
		raise(number);
	}
	stopped = 1;
	(void)!write(wake_fd, &one, sizeof(one));
	errno = saved;
}

enum hi_status hi_series_signals_watch(struct hi_error *err)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;

	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wake_fd < 0)
		return hi_fail_errno(err, "eventfd");
	owner = getpid();
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		/* nohup stays nohup */
		if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	/* A file that may not grow is an error like a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	return HI_OK;
}

int hi_series_signals_fd(void)
{
	return wake_fd;
}
