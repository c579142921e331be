/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a target was about goes on: its system calls sleep on, signals come, timers
 * tick, a group stop stays, what it closes is closed for its peers. After copies,
 * after forks, and after waiting for a function that is not called.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"
#include "tests/support/interrupted.h"
#include "tests/support/portrait.h"
#include "tests/support/stopping.h"
#include "tests/support/workshop.h"

enum mode { COPY, FORK, WAITING, N_MODES };

static const char *const mode_names[] = {"copy", "fork", "waiting"};

/* The words of one inspection; static. */
static const char *const *words_of(pid_t target, enum mode mode)
{
	static const char *words[16];
	static char pid[16];
	size_t n = 0;

	snprintf(pid, sizeof(pid), "%d", (int)target);
	words[n++] = "--pid";
	words[n++] = pid;
	words[n++] = "--json";
	words[n++] = "--max-pause=30s"; /* a loaded machine is no failure */
	words[n++] = "--snapshot";
	words[n++] = mode == COPY ? "copy" : "fork";
	if (mode == WAITING) {
		words[n++] = "--at";
		words[n++] = "abort";
		words[n++] = "--timeout";
		words[n++] = "100ms";
	}
	words[n] = NULL;
	return words;
}

static void inspect(pid_t target, enum mode mode)
{
	int status = hi_inspector_wait(hi_inspector_start(words_of(target, mode), -1));

	HI_ASSERT_MSG(WIFEXITED(status) &&
			      WEXITSTATUS(status) == (mode == WAITING ? 124 : 0),
		      "%s: wait status 0x%x", mode_names[mode], (unsigned)status);
}

/* ---- system calls ---- */

struct outcome {
	int result, error, early, late, children;
	char line[128];
};

/* Inspects it in all modes while it sleeps. */
static struct outcome inspect_asleep(const char *call, const char *seconds)
{
	struct hi_fixture *fx = hi_fixture_start("lone_call", call, seconds, NULL);
	struct outcome o;
	pid_t target = 0;

	HI_ASSERT(hi_fixture_line(fx, o.line, sizeof(o.line)));
	HI_ASSERT_EQ(1, sscanf(o.line, "target %d", &target));
	hi_test_expect_line(fx, "ready");
	hi_traces_watch(target);
	for (int i = 0; i < 2 * N_MODES; i++) {
		inspect(target, (enum mode)(i / 2));
		hi_traces_expect_none(target, "RS");
	}
	hi_fixture_tell(fx, "finish");
	HI_ASSERT(hi_fixture_line(fx, o.line, sizeof(o.line)));
	HI_ASSERT_EQ(5, sscanf(o.line, "result %d errno %d early %d late %d children %d",
			       &o.result, &o.error, &o.early, &o.late, &o.children));
	HI_ASSERT_EQ(0, hi_fixture_end(fx));
	return o;
}

/* A nap that was whole may end before the inspections do, on a machine that is busy:
 * then it was too short to say anything. */
static bool is_slept_out(const struct outcome *o)
{
	return o->result == 1 && o->early;
}

static void sleep_on(const char *call)
{
	static const char *const naps[] = {"3", "12", "48", "160"};
	struct outcome o = inspect_asleep(call, naps[0]);

	for (int i = 1; i < 4 && strstr(call, "nanosleep") && is_slept_out(&o); i++)
		o = inspect_asleep(call, naps[i]);
	HI_ASSERT_MSG(o.result == 1 && !o.error && !o.early && !o.late && !o.children,
		      "%s: %s", call, o.line);
}

#define SLEEPS_ON(call)                                                                  \
	HI_TEST_SCENARIO(state, call##_sleeps_on)                                        \
	{                                                                                \
		sleep_on(#call);                                                         \
	}
SLEEPS_ON(epoll_wait)
SLEEPS_ON(sigtimedwait)
SLEEPS_ON(semop)
SLEEPS_ON(io_getevents)
SLEEPS_ON(recv_timeout)
SLEEPS_ON(nanosleep)
SLEEPS_ON(clock_nanosleep)
SLEEPS_ON(poll)
SLEEPS_ON(select)
SLEEPS_ON(futex)
SLEEPS_ON(read)
SLEEPS_ON(msgrcv)
SLEEPS_ON(fcntl_lock)
SLEEPS_ON(wait4)
SLEEPS_ON(pause)
SLEEPS_ON(nothing)

/* ---- group stops and signals ---- */

static void stop_and_check(enum mode mode)
{
	struct hi_fixture *fx;
	enum hi_portrait_detail detail =
		mode == WAITING ? HI_PORTRAIT_PROBED : HI_PORTRAIT_STILL;
	long long count;
	char *before;

	/* The kernel notes there on which processor a thread woke up. */
	setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
	fx = hi_fixture_start("stop_threads", "busy", "8", NULL);
	unsetenv("GLIBC_TUNABLES");
	hi_test_expect_line(fx, "ready");
	hi_traces_watch(fx->pid);
	count = hi_test_ask(fx, "count");
	kill(fx->pid, SIGSTOP);
	hi_test_expect_free(fx->pid, "T");
	inspect(fx->pid, mode); /* the page of text that a probe is put on is there now */
	hi_traces_expect_none(fx->pid, "T");
	before = hi_portrait_take(fx->pid, detail);
	for (int i = 0; i < 5; i++) {
		inspect(fx->pid, mode);
		hi_traces_expect_none(fx->pid, "T");
	}
	hi_portrait_expect_same(before, hi_portrait_take(fx->pid, detail));
	/* The parent is told of the stop once, at its beginning. */
	HI_ASSERT_EQ(fx->pid, waitpid(fx->pid, NULL, WUNTRACED | WNOHANG));
	for (int i = 0; i < 10; i++) {
		pid_t inspector = hi_inspector_start(words_of(fx->pid, mode), -1);

		(void)hi_inspector_await_stop(inspector, fx->pid);
		hi_test_sleep_us((long)hi_test_random(2000));
		kill(inspector, SIGKILL);
		hi_inspector_wait(inspector);
		hi_traces_expect_none(fx->pid, "T");
	}
	kill(fx->pid, SIGCONT);
	hi_traces_expect_none(fx->pid, "RS");
	HI_ASSERT(hi_test_ask(fx, "count") > count);
	HI_ASSERT_EQ(0, hi_fixture_end(fx));
}

HI_TEST_SCENARIO(state, a_group_stopped_target_stays_stopped_over_copies)
{
	stop_and_check(COPY);
}
HI_TEST_SCENARIO(state, a_group_stopped_target_stays_stopped_over_forks)
{
	stop_and_check(FORK);
}
HI_TEST_SCENARIO(state, a_group_stopped_target_stays_stopped_while_it_is_waited_for)
{
	stop_and_check(WAITING);
}

static void storm(enum mode mode)
{
	struct hi_fixture *fx = hi_fixture_start("stop_signals", NULL);
	long sent, received;
	char line[256];

	hi_test_expect_line(fx, "ready");
	hi_traces_watch(fx->pid);
	for (int i = 0; i < 8; i++)
		inspect(fx->pid, mode);
	hi_traces_expect_none(fx->pid, "RSD");
	hi_fixture_tell(fx, "finish");
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	HI_ASSERT_EQ(2, sscanf(line, "sent %ld received %ld", &sent, &received));
	HI_ASSERT(sent > 1000);
	HI_ASSERT_EQ(sent, received);
}

HI_TEST_SLOW(state, no_signal_of_a_storm_is_lost_or_doubled)
{
	for (enum mode mode = COPY; mode < N_MODES; mode++)
		storm(mode);
}

/* ---- clocks, sockets, locks ---- */

static const char *socket_path;

static struct hi_fixture *start_service(const char *mib)
{
	static char path[128];
	struct hi_fixture *fx;

	snprintf(path, sizeof(path), "%s/socket", workshop_open());
	socket_path = path;
	fx = hi_fixture_start("state_service", path, mib, NULL);
	hi_test_expect_line(fx, "ready");
	hi_traces_watch(fx->pid);
	return fx;
}

struct clocks {
	long due, timerfd, posix, itimer;
};

static struct clocks ask_clocks(struct hi_fixture *fx)
{
	struct clocks c;
	char line[256];

	hi_fixture_tell(fx, "clocks");
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	HI_ASSERT_EQ(4, sscanf(line, "clocks %ld %ld %ld %ld", &c.due, &c.timerfd,
			       &c.posix, &c.itimer));
	return c;
}

HI_TEST_SLOW(state, timers_tick_on)
{
	struct hi_fixture *fx = start_service("1");
	struct clocks c, later;

	for (enum mode mode = COPY; mode < N_MODES; mode++)
		for (int i = 0; i < 10; i++)
			inspect(fx->pid, mode);
	c = later = ask_clocks(fx);
	HI_ASSERT_MSG(labs(c.timerfd - c.due) <= 2, "%ld of %ld", c.timerfd, c.due);
	/* One more may be on its way. */
	HI_ASSERT_MSG(labs(c.posix - c.due) <= 3, "%ld of %ld", c.posix, c.due);
	/* It does not count what comes together while others have the processors. */
	HI_ASSERT_MSG(c.itimer > 0 && c.itimer <= c.due + 1, "%ld of %ld", c.itimer,
		      c.due);
	for (int i = 0; i < 6000 && later.itimer < c.itimer + 20; i++) {
		hi_test_sleep_us(10000);
		later = ask_clocks(fx);
	}
	HI_ASSERT_MSG(later.itimer >= c.itimer + 20, "%ld, then %ld", c.itimer,
		      later.itimer);
	hi_fixture_end(fx);
}

static int connect_to_service(struct hi_fixture *fx)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", socket_path);
	HI_ASSERT(fd >= 0 && connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0);
	hi_fixture_tell(fx, "accept");
	hi_test_expect_line(fx, "accepted");
	return fd;
}

/* An inspector that is stopped while a forked child of the target lives; 0: it was too
 * fast. */
static pid_t hold_a_child(pid_t target, pid_t *child_ret)
{
	pid_t inspector = hi_inspector_start(words_of(target, FORK), -1);

	while (!hi_inspector_is_over(inspector)) {
		*child_ret = hi_forked_child_of(target);
		if (!*child_ret)
			continue;
		kill(inspector, SIGSTOP);
		hi_test_sleep_us(20000);
		if (hi_process_status(*child_ret, "TracerPid") > 0)
			return inspector;
		kill(inspector, SIGCONT);
	}
	hi_inspector_wait(inspector);
	return 0;
}

static pid_t hold_a_child_at_last(pid_t target, pid_t *child_ret)
{
	pid_t inspector = 0;

	for (int i = 0; i < 60 && !inspector; i++)
		inspector = hold_a_child(target, child_ret);
	HI_ASSERT_MSG(inspector, "no child of a fork was seen");
	return inspector;
}

static void release(pid_t inspector, struct hi_fixture *fx)
{
	kill(inspector, SIGCONT);
	HI_ASSERT_EQ(0, hi_inspector_wait(inspector));
	hi_traces_expect_none(fx->pid, "RSD");
}

HI_TEST_SLOW(state, a_socket_that_the_target_closes_is_closed_while_a_child_lives)
{
	struct hi_fixture *fx = start_service("128");
	struct pollfd peer = {.fd = connect_to_service(fx), .events = POLLIN};
	pid_t child, inspector = hold_a_child_at_last(fx->pid, &child);
	char byte;

	hi_fixture_tell(fx, "close");
	hi_test_expect_line(fx, "closed");
	HI_ASSERT_EQ(1, poll(&peer, 1, 300000));
	HI_ASSERT_EQ(0, read(peer.fd, &byte, 1));
	HI_ASSERT(hi_process_status(child, "TracerPid") > 0); /* it still lived */
	/* So with what it opens now: nothing of it is the child's alone. */
	close(peer.fd);
	peer.fd = connect_to_service(fx);
	hi_fixture_tell(fx, "close");
	hi_test_expect_line(fx, "closed");
	HI_ASSERT_EQ(1, poll(&peer, 1, 300000));
	release(inspector, fx);
	close(peer.fd);
	hi_fixture_end(fx);
}

/* Locks are those of a table of descriptors, and end with one that closes. */
HI_TEST_SLOW(state, a_lock_of_the_target_outlives_a_child)
{
	struct hi_fixture *fx = start_service("128");
	struct flock whole = {.l_type = F_WRLCK};
	pid_t child, inspector;
	char path[160];
	int fd;

	hi_fixture_tell(fx, "lock");
	hi_test_expect_line(fx, "locked");
	snprintf(path, sizeof(path), "%s.lock", socket_path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	HI_ASSERT(fd >= 0 && fcntl(fd, F_GETLK, &whole) == 0);
	HI_ASSERT_EQ(fx->pid, whole.l_pid);
	inspector = hold_a_child_at_last(fx->pid, &child);
	release(inspector, fx);
	whole = (struct flock){.l_type = F_WRLCK};
	HI_ASSERT_EQ(0, fcntl(fd, F_GETLK, &whole));
	HI_ASSERT_EQ(F_WRLCK, whole.l_type);
	HI_ASSERT_EQ(fx->pid, whole.l_pid);
	close(fd);
	hi_fixture_end(fx);
}

/* The child must not live on, nor be seen by the target, when the target goes. */
HI_TEST_SLOW(state, a_target_that_ends_while_a_child_lives_leaves_none)
{
	struct hi_fixture *fx = start_service("128");
	pid_t child, inspector = hold_a_child_at_last(fx->pid, &child);

	kill(fx->pid, SIGKILL);
	waitpid(fx->pid, &fx->wait_status, 0);
	fx->ended = 1;
	kill(inspector, SIGCONT);
	hi_inspector_wait(inspector);
	for (int i = 0; i < 1000 && hi_process_status(child, "TracerPid") >= 0; i++) {
		waitpid(child, NULL, WNOHANG | __WALL);
		hi_test_sleep_us(2000);
	}
	HI_ASSERT(hi_process_state(child) == 0);
}
