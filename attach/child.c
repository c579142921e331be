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

static void close_all_but(const int *keep, size_t n_keep)
{
	unsigned next = 3;

	for (size_t i = 0; i < n_keep; i++) {
		if ((unsigned)keep[i] > next)
			(void)close_range(next, (unsigned)keep[i] - 1, 0);
		next = (unsigned)keep[i] + 1;
	}
	(void)close_range(next, ~0u, 0);
}

static void silence_standard_streams(void)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0)
		return;
	dup2(null, 0);
	dup2(null, 1);
#ifndef HI_SANITIZED /* their findings are meant to be seen */
	dup2(null, 2);
#endif
	if (null > 2)
		close(null);
}

void hi_child_settle(const char *name, const int *keep, size_t n_keep)
{
	(void)setsid();
	default_signals();
	silence_standard_streams();
	close_all_but(keep, n_keep);
	(void)prctl(PR_SET_NAME, name);
}

void hi_child_set_priority(int priority)
{
	struct sched_param param = {.sched_priority = priority};

	(void)sched_setscheduler(0, priority ? SCHED_FIFO : SCHED_OTHER, &param);
}
