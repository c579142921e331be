/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/watch_trial.h"

#include <assert.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/child.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fork.h"

enum { WORDS = 8, ANSWER_MS = 10000, REAP_MS = 2000, END_MS = 1000 };
/* The accesses come in so many parts. */
enum { ROUNDS = 25, PAUSE_NS = 50000 };
static_assert(HI_WATCH_TRIAL_READS % ROUNDS == 0 && HI_WATCH_TRIAL_WRITES % ROUNDS == 0);

/* At the same address in both processes. */
static volatile uint64_t words[WORDS];

/* ---- the process ---- */

static uint64_t processor_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * HI_NS_PER_S + (uint64_t)ts.tv_nsec;
}

static void access_trial_words(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < HI_WATCH_TRIAL_READS / ROUNDS; k++)
			(void)words[i];
		for (unsigned k = 0; k < HI_WATCH_TRIAL_WRITES / ROUNDS; k++)
			words[i] = k;
	}
}

/* To the next processor that is allowed, after *now (-1: to the first). */
static void move_to_next_processor(const cpu_set_t *allowed, int *now)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	for (int i = 1; i <= CPU_SETSIZE; i++) {
		int next = (*now + i) % CPU_SETSIZE;

		if (!CPU_ISSET(next, allowed))
			continue;
		CPU_SET(next, &one);
		*now = next;
		(void)sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

/* As a program does it: it sleeps and moves to another processor between its accesses,
 * so that the watchpoints are unloaded and loaded each time. */
static uint64_t run_trial_rounds(unsigned n)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	uint64_t took_ns = 0;
	cpu_set_t allowed;
	int processor = -1;
	const bool moves = sched_getaffinity(0, sizeof(allowed), &allowed) == 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t start_ns = processor_ns();

		access_trial_words(n);
		took_ns += processor_ns() - start_ns;
		(void)nanosleep(&pause, NULL);
		if (moves)
			move_to_next_processor(&allowed, &processor);
	}
	if (moves)
		(void)sched_setaffinity(0, sizeof(allowed), &allowed);
	return took_ns;
}

_Noreturn static void run_watch_trial(unsigned n, int socket)
{
	uint64_t took_ns = 0;
	char go;

	hi_child_settle("hi-watch", &socket, 1);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (send(socket, &took_ns, sizeof(took_ns), MSG_NOSIGNAL) == sizeof(took_ns) &&
	       recv(socket, &go, 1, 0) == 1)
		took_ns = run_trial_rounds(n);
	_exit(0);
}

/* ---- the inspector ---- */

/* The kernel sends SIGTRAP to a thread for a debug exception that belongs to none of its
 * events: so a processor, or its virtual machine, that reports a hit without the register
 * that was hit kills the program. */
static bool was_killed_by_trap(const struct hi_watch_trial *trial)
{
	siginfo_t info = {};

	return waitid(P_PID, (id_t)trial->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == trial->pid && info.si_code != CLD_EXITED &&
	       info.si_status == SIGTRAP;
}

static enum hi_status fail_trial(const struct hi_watch_trial *trial, struct hi_error *err)
{
	struct pollfd end = {.fd = trial->pidfd, .events = POLLIN};

	/* Its socket is closed a moment before it has ended. */
	(void)poll(&end, 1, END_MS);
	if (was_killed_by_trap(trial))
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "hardware watchpoints kill programs here: the process for "
			       "their trial ended by SIGTRAP (of a virtual machine?)");
	return hi_fail(err, HI_TIMEOUT, 0,
		       "the process for the trial of watchpoints did not answer");
}

static enum hi_status await_watch_trial(struct hi_watch_trial *trial,
					uint64_t *took_ns_ret, struct hi_error *err)
{
	struct pollfd answer = {.fd = trial->socket, .events = POLLIN};

	if (poll(&answer, 1, ANSWER_MS) > 0 &&
	    recv(trial->socket, took_ns_ret, sizeof(*took_ns_ret), MSG_DONTWAIT) ==
		    sizeof(*took_ns_ret))
		return HI_OK;
	return fail_trial(trial, err);
}

enum hi_status hi_watch_trial_start(struct hi_watch_trial *ret, unsigned n,
				    struct hi_error *err)
{
	uint64_t took_ns;
	int ends[2];

	*ret = (struct hi_watch_trial){.pidfd = -1, .socket = -1, .n = n};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return hi_fail_errno(err, "socketpair");
	ret->socket = ends[0];
	ret->pid = hi_fork();
	if (ret->pid == 0)
		run_watch_trial(n, ends[1]);
	close(ends[1]);
	if (ret->pid < 0)
		return hi_fail_errno(err, "fork");
	ret->pidfd = pidfd_open(ret->pid, 0);
	return await_watch_trial(ret, &took_ns, err);
}

uint64_t hi_watch_trial_word(const struct hi_watch_trial *trial, unsigned i)
{
	(void)trial;
	return (uintptr_t)&words[i];
}

enum hi_status hi_watch_trial_run(struct hi_watch_trial *trial, uint64_t *took_ns,
				  struct hi_error *err)
{
	if (send(trial->socket, "", 1, MSG_NOSIGNAL) != 1)
		return fail_trial(trial, err);
	return await_watch_trial(trial, took_ns, err);
}

void hi_watch_trial_end(struct hi_watch_trial *trial)
{
	hi_close_fd(trial->socket);
	if (trial->pid > 0) {
		kill(trial->pid, SIGKILL); /* ours, and not yet reaped */
		(void)hi_child_reap(trial->pid, trial->pidfd, REAP_MS);
	}
	hi_close_fd(trial->pidfd);
}
