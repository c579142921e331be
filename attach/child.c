/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define REAP_PAUSE_NS 1000000u

void hi_child_set_signals(void)
{
	static const int requests[] = {SIGHUP,	SIGINT,	 SIGQUIT, SIGTERM, SIGPIPE,
				       SIGUSR1, SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU};
	struct sigaction sa = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		(void)sigaction(sig, &sa, NULL); /* KILL, STOP, libc's own: refused */
	sa.sa_handler = SIG_IGN;
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++)
		(void)sigaction(requests[i], &sa, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool is_kept_fd(unsigned fd, const int *keep, size_t n_keep)
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
#ifdef HI_SANITIZED /* sanitizers report there */
		if (fd == 2)
			continue;
#endif
		if (!is_kept_fd((unsigned)fd, keep, n_keep))
			dup2(null, fd);
	}
	if (null > 2)
		close(null);
}

void hi_child_settle(const char *name, const int *keep, size_t n_keep)
{
	(void)setsid();
	hi_child_set_signals();
	silence_standard_streams(keep, n_keep);
	close_all_but(keep, n_keep);
	(void)prctl(PR_SET_NAME, name);
}

bool hi_child_reap(pid_t pid, int pidfd, unsigned limit_ms)
{
	uint64_t end_ns = hi_clock_ns() + limit_ms * 1000000ull;
	struct pollfd end = {.fd = pidfd, .events = POLLIN};

	for (;;) {
		pid_t got = waitpid(pid, NULL, WNOHANG);
		uint64_t now_ns = hi_clock_ns();

		if (got == pid || (got < 0 && errno == ECHILD))
			return true;
		if (now_ns >= end_ns)
			return false;
		if (pidfd < 0)
			hi_clock_pause_ns(REAP_PAUSE_NS);
		else
			(void)poll(&end, 1, (int)((end_ns - now_ns) / 1000000) + 1);
	}
}

void hi_child_set_priority(int priority)
{
	struct sched_param param = {.sched_priority = priority};

	(void)sched_setscheduler(0, priority ? SCHED_FIFO : SCHED_OTHER, &param);
}
