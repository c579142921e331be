/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/child.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

static void default_signals(void)
{
	struct sigaction sa = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		(void)sigaction(sig, &sa, NULL); /* KILL, STOP, libc's own: refused */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool is_kept(unsigned fd, const int *keep, size_t n_keep)
{
	for (size_t i = 0; i < n_keep; i++)
		if (keep[i] >= 0 && (unsigned)keep[i] == fd)
			return true;
	return false;
}

static void close_all_but(const int *keep, size_t n_keep)
{
	unsigned next = 3;

	/* From one that is kept to the next higher one. */
	for (size_t i = 0; i <= n_keep; i++) {
		unsigned end = ~0u;

		for (size_t j = 0; j < n_keep; j++)
			if (keep[j] >= 0 && (unsigned)keep[j] >= next &&
			    (unsigned)keep[j] < end)
				end = (unsigned)keep[j];
		if (end > next)
			(void)close_range(next, end == ~0u ? end : end - 1, 0);
		if (end == ~0u)
			return;
		next = end + 1;
	}
}

static void silence_standard_streams(const int *keep, size_t n_keep)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0)
		return;
	for (int fd = 0; fd <= 2; fd++) {
#ifdef HI_SANITIZED /* their findings are meant to be seen */
		if (fd == 2)
			continue;
#endif
		if (!is_kept((unsigned)fd, keep, n_keep))
			dup2(null, fd);
	}
	if (null > 2)
		close(null);
}

void hi_child_settle(const char *name, const int *keep, size_t n_keep)
{
	(void)setsid();
	default_signals();
	silence_standard_streams(keep, n_keep);
	close_all_but(keep, n_keep);
	(void)prctl(PR_SET_NAME, name);
}

void hi_child_set_priority(int priority)
{
	struct sched_param param = {.sched_priority = priority};

	(void)sched_setscheduler(0, priority ? SCHED_FIFO : SCHED_OTHER, &param);
}
