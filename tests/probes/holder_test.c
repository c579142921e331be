/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whoever is killed while it opens or closes probes leaves nothing in the target and
 * nothing in the kernel, whose own log is the witness.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fork.h"
#include "probes/bpf_probe.h"
#include "probes/perf_probe.h"
#include "probes/probe.h"
#include "probes/probe_holder.h"
#include "probes/uprobe.h"
#include "tests/harness.h"
#include "tests/support/probe_leaks.h"
#include "tests/support/probed.h"

enum { KILLS = 25, LONGEST_US = 150000, LOOKS = 20 };

/* ---- the probe holder alone ---- */

static enum hi_status open_null(void *arg, size_t i, int *fd_ret, struct hi_error *err)
{
	const size_t *fails_at = arg;

	if (i == *fails_at)
		return hi_fail(err, HI_UNSUPPORTED, 0, "the %zuth", i);
	*fd_ret = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return HI_OK;
}

static size_t count_open(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

HI_TEST_SCENARIO(probe_holder, hands_over_what_it_opens_and_ends)
{
	size_t never = SIZE_MAX, before = count_open();
	struct hi_probe_holder probe_holder;
	struct hi_error err;
	int fds[50];

	HI_ASSERT_OK(hi_probe_holder_start(&probe_holder,
					   &(struct hi_probe_opening){.open = open_null,
								      .arg = &never,
								      .n = 50},
					   fds, &err),
		     &err);
	HI_ASSERT_EQ(before + 52, count_open()); /* socket, pidfd */
	HI_ASSERT_EQ(0, kill(probe_holder.pid, 0));
	for (size_t i = 0; i < 50; i++)
		HI_ASSERT_EQ(0, close(fds[i]));
	hi_probe_holder_end(&probe_holder);
	HI_ASSERT_EQ(before, count_open());
	HI_ASSERT(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
	hi_probe_holder_end(&probe_holder); /* none is well */
}

HI_TEST_SCENARIO(probe_holder, error_of_the_opener_is_passed_on)
{
	size_t before = count_open();

	for (size_t at = 0; at < 3; at++) {
		struct hi_probe_holder probe_holder;
		struct hi_error err;
		char text[16];
		int fds[3];

		snprintf(text, sizeof(text), "the %zuth", at);
		HI_ASSERT_EQ(HI_UNSUPPORTED,
			     hi_probe_holder_start(
				     &probe_holder,
				     &(struct hi_probe_opening){
					     .open = open_null, .arg = &at, .n = 3},
				     fds, &err));
		HI_ASSERT_STREQ(text, err.text);
		HI_ASSERT_EQ(-1, probe_holder.socket);
		HI_ASSERT_EQ(before, count_open());
		HI_ASSERT(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
	}
}

/* ---- a holder that is disturbed ---- */

static void expect_ended(pid_t pid)
{
	HI_ASSERT(kill(pid, 0) < 0 && errno == ESRCH);
	HI_ASSERT(waitpid(pid, NULL, WNOHANG) < 0 && errno == ECHILD);
}

HI_TEST_SCENARIO(probe_holder, ends_while_another_process_holds_its_socket)
{
	size_t never = SIZE_MAX;
	struct hi_probe_holder probe_holder;
	struct hi_error err;
	pid_t holder, pid;
	int fd;

	HI_ASSERT_OK(hi_probe_holder_start(&probe_holder,
					   &(struct hi_probe_opening){.open = open_null,
								      .arg = &never,
								      .n = 1},
					   &fd, &err),
		     &err);
	holder = fork();
	if (holder == 0) {
		for (;;)
			pause();
	}
	pid = probe_holder.pid;
	hi_probe_holder_close(&probe_holder, &fd, 1);
	expect_ended(pid);
	kill(holder, SIGKILL);
	HI_ASSERT_EQ(holder, waitpid(holder, NULL, 0));
}

struct closing {
	struct hi_probe_holder *holder;
	const int *fd;
};

static void *close_holder(void *arg)
{
	struct closing *closing = arg;

	hi_probe_holder_close(closing->holder, closing->fd, 1);
	return NULL;
}

/* Until the parent has slept some times more, so that it has looked at its children.
 * False: the holder has ended. */
static bool does_holder_outlive_looks(pid_t holder, pid_t parent)
{
	unsigned long long until = hi_process_naps(parent) + LOOKS;
	char state;

	do {
		usleep(1000);
		state = hi_process_state(holder);
	} while (state && state != 'Z' && state != 'X' &&
		 hi_process_naps(parent) < until);
	return state && state != 'Z' && state != 'X';
}

/* As a tracer that is forked while there are probes, on a busy machine. */
static void end_behind_late_child(bool in_thread)
{
	struct closing closing;
	pthread_t thread;
	size_t never = SIZE_MAX;
	struct hi_probe_holder probe_holder;
	struct hi_error err;
	pid_t child, pid;
	int fd, status;

	HI_ASSERT_OK(hi_probe_holder_start(&probe_holder,
					   &(struct hi_probe_opening){.open = open_null,
								      .arg = &never,
								      .n = 1},
					   &fd, &err),
		     &err);
	pid = probe_holder.pid;
	child = fork();
	if (child == 0) {
		bool lives = does_holder_outlive_looks(pid, getppid());

		close(fd);
		_exit(lives && does_holder_outlive_looks(pid, getppid()));
	}
	closing = (struct closing){&probe_holder, &fd};
	if (in_thread) {
		HI_ASSERT_EQ(0, pthread_create(&thread, NULL, close_holder, &closing));
		HI_ASSERT_EQ(0, pthread_join(thread, NULL));
	} else {
		close_holder(&closing);
	}
	expect_ended(pid);
	HI_ASSERT_EQ(child, waitpid(child, &status, 0));
	HI_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

HI_TEST_SCENARIO(probe_holder, ends_behind_children_that_close_late)
{
	end_behind_late_child(false);
}

HI_TEST_SCENARIO(probe_holder, ends_behind_children_of_other_threads)
{
	end_behind_late_child(true);
}

HI_TEST_SCENARIO(probe_holder, ends_when_it_is_stopped)
{
	size_t never = SIZE_MAX;
	struct hi_probe_holder probe_holder;
	struct hi_error err;
	pid_t pid;
	int fd;

	HI_ASSERT_OK(hi_probe_holder_start(&probe_holder,
					   &(struct hi_probe_opening){.open = open_null,
								      .arg = &never,
								      .n = 1},
					   &fd, &err),
		     &err);
	pid = probe_holder.pid;
	kill(pid, SIGTERM); /* not heard */
	kill(pid, SIGSTOP);
	hi_probe_holder_close(&probe_holder, &fd, 1);
	expect_ended(pid);
}

/* *arg: descriptor of a file that grows by a byte each time. */
static enum hi_status open_and_die_once(void *arg, size_t i, int *fd_ret,
					struct hi_error *err)
{
	const int *file = arg;

	(void)i, (void)err;
	if (write(*file, "x", 1) == 1 && lseek(*file, 0, SEEK_END) == 1)
		kill(getpid(), SIGKILL);
	*fd_ret = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return HI_OK;
}

HI_TEST_SCENARIO(probe_holder, is_made_anew_when_it_is_killed_while_it_opens)
{
	int file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC | O_APPEND, 0600), fd;
	size_t before = count_open();
	struct hi_probe_holder probe_holder;
	struct hi_error err;

	HI_ASSERT(file >= 0);
	HI_ASSERT_OK(hi_probe_holder_start(
			     &probe_holder,
			     &(struct hi_probe_opening){
				     .open = open_and_die_once, .arg = &file, .n = 1},
			     &fd, &err),
		     &err);
	HI_ASSERT_EQ(2, lseek(file, 0, SEEK_END));
	hi_probe_holder_close(&probe_holder, &fd, 1);
	HI_ASSERT_EQ(before, count_open());
	HI_ASSERT(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static enum hi_status open_and_die(void *arg, size_t i, int *fd_ret, struct hi_error *err)
{
	(void)arg, (void)i, (void)fd_ret, (void)err;
	kill(getpid(), SIGKILL);
	return HI_OK;
}

HI_TEST_SCENARIO(probe_holder, is_not_made_anew_for_ever)
{
	struct hi_probe_holder probe_holder;
	struct hi_error err;
	int fd;

	HI_ASSERT_EQ(HI_GONE, hi_probe_holder_start(
				      &probe_holder,
				      &(struct hi_probe_opening){
					      .open = open_and_die, .arg = NULL, .n = 1},
				      &fd, &err));
	HI_ASSERT_EQ(-1, probe_holder.socket);
	HI_ASSERT(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

/* Whoever closes last is a process that nobody kills: here, one made for it. */
HI_TEST_SCENARIO(probe_holder, is_replaced_when_it_was_killed)
{
	size_t never = SIZE_MAX, before = count_open();
	struct hi_probe_holder probe_holder;
	struct hi_error err;
	int fd;

	HI_ASSERT_OK(hi_probe_holder_start(&probe_holder,
					   &(struct hi_probe_opening){.open = open_null,
								      .arg = &never,
								      .n = 1},
					   &fd, &err),
		     &err);
	kill(probe_holder.pid, SIGKILL);
	hi_probe_holder_close(&probe_holder, &fd, 1);
	HI_ASSERT_EQ(before, count_open());
	HI_ASSERT(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

/* ---- closing that takes long ---- */

/* The kernel closes perf events one after another: these take seconds. */
enum { SLOW_EVENTS = 50 };

struct slow_site {
	struct hi_uprobe uprobe;
	const struct hi_target *target;
};

static int waits_begun, waits_over;
static uint64_t waited_longest_ns;

static void count_wait(bool is_over, uint64_t waited_ns)
{
	waits_begun += !is_over;
	waits_over += is_over;
	waited_longest_ns = waited_ns;
}

static enum hi_status open_slow(void *arg, size_t i, int *fd_ret, struct hi_error *err)
{
	const struct slow_site *site = arg;
	struct perf_event_attr attr = {.sample_period = 1};

	(void)i;
	return hi_uprobe_open(&site->uprobe, site->target, 0, &attr, fd_ret, err);
}

HI_TEST_ROOT_ALONE(probe_holder, is_waited_for_until_the_last_is_out)
{
	struct probed *p = probed_start();
	const struct hi_probe_sites *places = probed_find(p, "asm_push");
	struct slow_site site = {.target = p->target};
	struct hi_probe_holder probe_holder;
	uint8_t before[PROBE_TEXT], after[PROBE_TEXT];
	struct hi_error err;
	int fds[SLOW_EVENTS];

	probe_text_read(p->fx->pid, places->items[0].address, before);
	HI_ASSERT_OK(hi_uprobe_prepare(p->target, &places->items[0], &site.uprobe, &err),
		     &err);
	HI_ASSERT_OK(hi_probe_holder_start(&probe_holder,
					   &(struct hi_probe_opening){.open = open_slow,
								      .arg = &site,
								      .n = SLOW_EVENTS},
					   fds, &err),
		     &err);
	hi_probe_holder_set_wait_hook(count_wait);
	hi_probe_holder_close(&probe_holder, fds, SLOW_EVENTS);
	probe_text_read(p->fx->pid, places->items[0].address, after);
	HI_ASSERT(memcmp(before, after, PROBE_TEXT) == 0);
	HI_ASSERT_EQ(waits_begun, waits_over);
	HI_ASSERT_EQ(waits_begun, waited_longest_ns > HI_NS_PER_S);
	hi_test_note("%d probes were out after %.1f s", SLOW_EVENTS,
		     (double)waited_longest_ns / HI_NS_PER_S);
	hi_uprobe_release(&site.uprobe);
}

/* ---- other processes ---- */

/* As the readers of symbols and of names, which live as long as the recording. */
HI_TEST_ROOT_ALONE(probe_holder, has_them_alone_beside_children_that_live_on)
{
	struct probed *p = probed_start();
	struct hi_safepoint safepoint = probed_parse("asm_push");
	const struct hi_probe_sites *places = probed_find(p, "asm_push");
	struct hi_probe *probe;
	struct hi_error err;
	uint8_t before[PROBE_TEXT], after[PROBE_TEXT];
	char byte;
	int pipes[2];
	pid_t child;

	HI_ASSERT_OK(hi_probe_open(p->target, &safepoint, places, &probe, &err), &err);
	HI_ASSERT_EQ(0, pipe(pipes));
	child = hi_fork();
	if (child == 0) {
		prctl(PR_SET_NAME, "hi-names");
		close(pipes[1]);
		_exit(read(pipes[0], &byte, 1) != 0);
	}
	probe_text_read(p->fx->pid, places->items[0].address, before);
	hi_probe_close(probe);
	probe_text_read(p->fx->pid, places->items[0].address, after);
	HI_ASSERT_EQ(0xcc, before[0]);
	HI_ASSERT(after[0] != 0xcc);
	HI_ASSERT_EQ(0, kill(child, 0));
	close(pipes[1]);
	HI_ASSERT_EQ(child, waitpid(child, NULL, 0));
}

/* ---- kills ---- */

enum means { MULTI, EVENT, PERF };

static enum hi_status open_by(enum means means, struct probed *p,
			      const struct hi_safepoint *safepoint,
			      const struct hi_probe_sites *places, struct hi_probe **ret)
{
	if (means == PERF)
		return hi_perf_probe_open(p->target, places, ret, NULL);
	return hi_bpf_probe_open_by(means == MULTI ? HI_BPF_LINK_MULTI
						   : HI_BPF_LINK_EVENT,
				    p->target, safepoint, places, ret, NULL);
}

/* Opens and closes until it is killed; exits if it cannot. */
static pid_t start_owner(enum means means, const char *name, struct probed *p,
			 const struct hi_safepoint *safepoint,
			 const struct hi_probe_sites *places)
{
	pid_t pid = fork();
	struct hi_probe *probe;

	HI_ASSERT(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_NAME, name);
	while (open_by(means, p, safepoint, places, &probe) == HI_OK)
		hi_probe_close(probe);
	_exit(1);
}

static void expect_nothing_leaks(enum means means)
{
	struct probed *p = probed_start();
	struct hi_safepoint safepoint = probed_parse("asm_push");
	const struct hi_probe_sites *places = probed_find(p, "asm_push");
	uint64_t at = places->items[0].address;
	size_t leaks;
	char name[16];
	uint8_t text[PROBE_TEXT];

	snprintf(name, sizeof(name), "hi-%d", (int)getpid());
	leaks = probe_leaks_count(name);
	probe_text_read(p->fx->pid, at, text);
	srand(1);
	for (int i = 0; i < KILLS; i++) {
		pid_t owner = start_owner(means, name, p, &safepoint, places);
		int status;

		usleep((unsigned)rand() % LONGEST_US);
		kill(owner, SIGKILL);
		HI_ASSERT(waitpid(owner, &status, 0) == owner && WIFSIGNALED(status));
		probe_text_expect(p->fx->pid, at, text);
	}
	HI_ASSERT_EQ(leaks, probe_leaks_count(name));
}

/* ---- kills of the owner and its holder at one time ---- */

enum { KILLS_OF_BOTH = 12, LONGEST_OPENING_US = 60000 };

static void kill_at_opening(pid_t owner)
{
	pid_t family[PROBE_FAMILY];

	for (int i = 0; probe_family_find(owner, family) < 2; i++)
		HI_ASSERT(i < 100000);
	usleep((unsigned)rand() % LONGEST_OPENING_US);
	probe_family_kill(family, probe_family_find(owner, family));
}

/* The opener may be killed as well: only anchors of perf events keep a link that fails
 * from a line in the kernel's log (Note [Anchors] in holder.c). */
static void expect_family_leaves_nothing(enum means means)
{
	struct probed *p = probed_start_program(probe_own_copy("probe_places"));
	struct hi_safepoint safepoint = probed_parse("asm_push");
	const struct hi_probe_sites *places = probed_find(p, "asm_push");
	uint64_t at = places->items[0].address;
	uint8_t text[PROBE_TEXT];
	size_t leaks;
	char name[16];

	snprintf(name, sizeof(name), "hi-%d", (int)getpid());
	leaks = probe_leaks_count(name);
	probe_text_read(p->fx->pid, at, text);
	srand(1);
	for (int i = 0; i < KILLS_OF_BOTH; i++) {
		kill_at_opening(start_owner(means, name, p, &safepoint, places));
		probe_text_expect(p->fx->pid, at, text);
	}
	hi_test_note("%zu records of probes leaked", probe_leaks_count(name) - leaks);
	HI_ASSERT(means == MULTI || leaks == probe_leaks_count(name));
}

HI_TEST_ROOT_ALONE(probe_holder, killed_with_its_owner_leaves_no_link)
{
	expect_family_leaves_nothing(MULTI);
}

HI_TEST_ROOT_ALONE(probe_holder, killed_with_its_owner_leaks_no_link_of_an_event)
{
	expect_family_leaves_nothing(EVENT);
}

HI_TEST_ROOT_ALONE(probe_holder, killed_with_its_owner_leaks_no_event)
{
	expect_family_leaves_nothing(PERF);
}

/* ---- kills of the owner ---- */

HI_TEST_ROOT_ALONE(probe_holder, killed_process_of_the_family_leaks_no_link)
{
	expect_nothing_leaks(MULTI);
}

HI_TEST_ROOT_ALONE(probe_holder, killed_process_of_the_family_leaks_no_link_of_an_event)
{
	expect_nothing_leaks(EVENT);
}

HI_TEST_ROOT_ALONE(probe_holder, killed_process_of_the_family_leaks_no_event)
{
	expect_nothing_leaks(PERF);
}
