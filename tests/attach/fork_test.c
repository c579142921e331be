/* SPDX-License-Identifier: BSD-2-Clause */
/* The copy-on-write child: made without a trace, whoever dies when. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/forking.h"

HI_TEST_SCENARIO(attach_fork, a_child_stands_while_the_target_runs_on)
{
	struct hi_fixture *fx = hi_test_start_ready("fork_state", "2", "1");
	struct hi_forked *f;

	hi_test_adopt_orphans();
	f = hi_test_fork(fx->pid);
	HI_ASSERT_EQ('t', hi_process_state(f->child.pid));
	HI_ASSERT_EQ(0, hi_test_count_children(fx->pid));
	hi_test_expect_free(fx->pid, "RS");
	hi_test_expect_well(fx);
	hi_test_fork_end(f);
	hi_test_wait_alone(fx);
	HI_ASSERT_EQ(0, hi_process_state(f->child.pid));
	hi_test_expect_free(fx->pid, "RS");
	hi_test_expect_well(fx);
}

static unsigned char *read_memory(pid_t pid, uint64_t addr, size_t size)
{
	unsigned char *bytes = malloc(size);
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY);
	HI_ASSERT(bytes && fd >= 0);
	HI_ASSERT_EQ(size, pread(fd, bytes, size, (off_t)addr));
	close(fd);
	return bytes;
}

HI_TEST_SCENARIO(attach_fork, the_child_holds_the_memory_of_the_stop)
{
	struct hi_fixture *fx = hi_test_start_ready("fork_state", "1", "16");
	unsigned char *before, *in_child, *after;
	struct hi_tracer_child child;
	struct hi_tracer_stop stop;
	struct hi_tracer *tracer = NULL;
	struct hi_error err = {};
	unsigned long addr;
	uint64_t resumed_ns;
	char line[128];
	size_t size;

	hi_fixture_tell(fx, "area");
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	HI_ASSERT_EQ(2, sscanf(line, "%lx %zu", &addr, &size));
	HI_ASSERT_OK(hi_test_fork_stopped(fx->pid, &tracer, &stop, &child, &err), &err);
	before = read_memory(fx->pid, addr, size);
	HI_ASSERT_OK(hi_tracer_resume(tracer, &resumed_ns, &err), &err);
	after = read_memory(fx->pid, addr, size);
	for (int i = 0; i < 1000 && memcmp(before, after, size) == 0; i++) {
		hi_test_sleep_us(10000);
		free(after);
		after = read_memory(fx->pid, addr, size);
	}
	in_child = read_memory(child.pid, addr, size);
	hi_tracer_destroy(tracer);
	HI_ASSERT(memcmp(before, in_child, size) == 0);
	HI_ASSERT(memcmp(before, after, size) != 0); /* it did scribble */
	free(before);
	free(in_child);
	free(after);
}

/* ---- deaths ---- */

static void die_at_every_step(struct hi_fixture *fx, int rounds)
{
	hi_test_adopt_orphans();
	for (int i = 0; i < rounds; i++) {
		for (int at = 1; at <= HI_TEST_FORK_STEPS; at++)
			hi_test_fork_and_die(fx->pid, at);
		hi_test_expect_free(fx->pid, "RS");
	}
	hi_test_wait_alone(fx);
}

HI_TEST_SLOW(attach_fork, a_tracer_may_die_at_any_step_300_times)
{
	struct hi_fixture *fx = hi_test_start_ready("fork_state", "2", "0");

	for (int i = 0; i < 15; i++) {
		die_at_every_step(fx, 1);
		hi_test_expect_well(fx);
	}
}

/* ---- its life ---- */

static void expect_ended(pid_t child)
{
	for (int i = 0; i < 20000 && hi_process_state(child); i++) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		hi_test_sleep_us(500);
	}
	HI_ASSERT_EQ(0, hi_process_state(child));
}

HI_TEST_SCENARIO(attach_fork, the_child_ends_with_the_target)
{
	struct hi_fixture *fx = hi_test_start_ready("fork_state", "2", "1");
	struct hi_forked *f;

	hi_test_adopt_orphans();
	f = hi_test_fork(fx->pid);
	HI_ASSERT_EQ('t', hi_process_state(f->child.pid));
	kill(fx->pid, SIGKILL);
	hi_fixture_end(fx);
	expect_ended(f->child.pid);
}

HI_TEST_SCENARIO(attach_fork, the_child_ends_when_the_target_becomes_another_program)
{
	struct hi_fixture *fx = hi_test_start_ready("fork_state", "2", "1");
	struct hi_forked *f;

	hi_test_adopt_orphans();
	f = hi_test_fork(fx->pid);
	HI_ASSERT_EQ('t', hi_process_state(f->child.pid));
	hi_fixture_tell(fx, "exec");
	hi_test_expect_line(fx, "ready");
	expect_ended(f->child.pid);
	hi_test_expect_well(fx);
}

HI_TEST_SCENARIO(attach_fork, the_child_ends_with_the_inspector)
{
	struct hi_fixture *fx = hi_test_start_ready("fork_state", "2", "1");
	pid_t inspector, child;
	int ends[2];

	hi_test_adopt_orphans();
	HI_ASSERT_EQ(0, pipe(ends));
	inspector = fork();
	if (inspector == 0) {
		struct hi_tracer *tracer;
		struct hi_tracer_child forked = {};

		if (hi_test_fork_attempt(fx->pid, &tracer, &forked, NULL) != HI_OK ||
		    write(ends[1], &forked.pid, sizeof(forked.pid)) < 0)
			_exit(1);
		pause();
	}
	HI_ASSERT_EQ(sizeof(child), read(ends[0], &child, sizeof(child)));
	HI_ASSERT_EQ('t', hi_process_state(child));
	kill(inspector, SIGKILL);
	expect_ended(child);
	hi_test_wait_alone(fx);
	hi_test_expect_well(fx);
}

HI_TEST_SCENARIO(attach_fork, a_child_that_is_killed_ends_the_tracer)
{
	struct hi_fixture *fx = hi_test_start_ready("fork_state", "2", "1");
	struct hi_forked *f;
	struct pollfd poll_fd = {.events = POLLIN};

	hi_test_adopt_orphans();
	f = hi_test_fork(fx->pid);
	poll_fd.fd = hi_tracer_fd(f->tracer);
	HI_ASSERT_EQ(0, poll(&poll_fd, 1, 0));
	kill(f->child.pid, SIGKILL);
	HI_ASSERT_EQ(1, poll(&poll_fd, 1, 300000));
	expect_ended(f->child.pid);
	hi_test_fork_end(f);
	hi_test_expect_well(fx);
}

/* Its peer must see the end although the child had the socket too. */
HI_TEST_SCENARIO(attach_fork, a_socket_that_the_target_closes_is_closed)
{
	struct hi_fixture *fx = hi_test_start_ready("fork_state", "2", "1");
	struct hi_forked *f;
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct pollfd poll_fd = {.fd = socket(AF_UNIX, SOCK_STREAM, 0), .events = POLLIN};
	char byte;

	snprintf(addr.sun_path + 1, sizeof(addr.sun_path) - 1, "fork_state.%d",
		 (int)fx->pid);
	HI_ASSERT_EQ(0, hi_test_ask(fx, "listen"));
	HI_ASSERT_EQ(0, connect(poll_fd.fd, (struct sockaddr *)&addr, sizeof(addr)));
	HI_ASSERT_EQ(0, hi_test_ask(fx, "accept"));
	f = hi_test_fork(fx->pid);
	HI_ASSERT_EQ(0, poll(&poll_fd, 1, 50));
	HI_ASSERT_EQ(0, hi_test_ask(fx, "close"));
	HI_ASSERT_EQ(1, poll(&poll_fd, 1, 300000));
	HI_ASSERT_EQ(0, read(poll_fd.fd, &byte, 1));
	HI_ASSERT_EQ('t', hi_process_state(f->child.pid));
	close(poll_fd.fd);
}

HI_TEST_SCENARIO(attach_fork, the_child_lives_longer_than_the_pause_budget)
{
	struct hi_fixture *fx = hi_test_start_ready("fork_state", "1", "0");
	struct hi_stop_options options = {.snapshot = HI_REQUEST_FORK,
					  .max_pause_ns = 500000000,
					  .best_effort_priority = true};
	struct hi_target target = hi_test_target(fx->pid);
	enum hi_status status = HI_TIMEOUT;
	struct hi_tracer *tracer = NULL;
	struct hi_tracer_child child;
	struct hi_tracer_stop stop;
	struct hi_error err = {};
	uint64_t resumed_ns;

	/* Again where others have the processors for half a second. */
	for (int i = 0; i < 10 && status == HI_TIMEOUT; i++) {
		hi_tracer_destroy(tracer);
		HI_ASSERT_OK(hi_tracer_start(&target, &options, &tracer, &err), &err);
		status = hi_tracer_stop(tracer, &stop, &err);
		if (status == HI_OK)
			status = hi_tracer_fork(tracer, &child, &err);
		if (status == HI_OK)
			status = hi_tracer_resume(tracer, &resumed_ns, &err);
	}
	HI_ASSERT_OK(status, &err);
	hi_test_sleep_us(800000);
	HI_ASSERT_EQ('t', hi_process_state(child.pid));
	hi_test_expect_free(fx->pid, "RS");
	hi_tracer_destroy(tracer);
}

/* The call takes longer than the budget: the thread comes to its end by itself. */
HI_TEST_SCENARIO(attach_fork, a_budget_that_is_too_short_ends_well)
{
	struct hi_fixture *fx = hi_test_start_ready("fork_state", "2", "192");
	struct hi_stop_options options = {.snapshot = HI_REQUEST_FORK,
					  .max_pause_ns = 2000000};
	struct hi_target target = hi_test_target(fx->pid);
	int n_late = 0;

	hi_test_adopt_orphans();
	for (int i = 0; i < 10; i++) {
		struct hi_tracer *tracer = NULL;
		struct hi_tracer_child child;
		struct hi_tracer_stop stop;
		struct hi_error err = {};
		enum hi_status status = hi_tracer_start(&target, &options, &tracer, &err);

		if (status == HI_OK)
			status = hi_tracer_stop(tracer, &stop, &err);
		if (status == HI_OK)
			status = hi_tracer_fork(tracer, &child, &err);
		n_late += status == HI_TIMEOUT;
		hi_tracer_destroy(tracer);
		hi_test_wait_alone(fx);
	}
	HI_ASSERT(n_late > 5);
	hi_test_expect_free(fx->pid, "RS");
	/* A tracer that died within clone() left it to the thread to end the call, and to
	 * reap the first child: whoever asks for children amid that takes it away. What
	 * is left behind for good is still there. */
	hi_test_sleep_us(300000);
	hi_test_expect_well(fx);
}

/* The mappings are read when the tracer is started; this stack came later. */
HI_TEST_SCENARIO(attach_fork, a_thread_younger_than_the_plan_serves)
{
	struct hi_fixture *fx = hi_test_start_ready("fork_state", "0", "0");
	struct hi_stop_options options = {.snapshot = HI_REQUEST_FORK,
					  .max_pause_ns = HI_TEST_PATIENCE_NS};
	struct hi_target target = hi_test_target(fx->pid);
	struct hi_tracer *tracer = NULL;
	struct hi_tracer_child child;
	struct hi_tracer_stop stop;
	struct hi_error err = {};
	uint64_t resumed_ns;

	HI_ASSERT_OK(hi_tracer_start(&target, &options, &tracer, &err), &err);
	HI_ASSERT_EQ(0, hi_test_ask(fx, "thread"));
	for (int i = 0; i < 10000 && hi_process_state(fx->pid) != 'Z'; i++)
		hi_test_sleep_us(1000);
	HI_ASSERT_OK(hi_tracer_stop(tracer, &stop, &err), &err);
	HI_ASSERT_OK(hi_tracer_fork(tracer, &child, &err), &err);
	HI_ASSERT_OK(hi_tracer_resume(tracer, &resumed_ns, &err), &err);
	HI_ASSERT(child.tid != fx->pid);
	HI_ASSERT_EQ('t', hi_process_state(child.pid));
	hi_tracer_destroy(tracer);
	HI_ASSERT_EQ(0, hi_test_fork_rounds(fx));
}

/* ---- before and after ---- */

/* Lines of a file of /proc with these beginnings (NULL: all of it). */
static void append(char *text, size_t size, pid_t pid, const char *name,
		   const char *const *keys)
{
	char path[64], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	file = fopen(path, "r");
	HI_ASSERT(file);
	while (fgets(line, sizeof(line), file)) {
		bool wanted = !keys;

		for (size_t i = 0; keys && keys[i]; i++)
			wanted |= strncmp(line, keys[i], strlen(keys[i])) == 0;
		if (wanted && strlen(text) + strlen(line) < size)
			strcat(text, line);
	}
	fclose(file);
}

static size_t count_entries(pid_t pid, const char *name)
{
	struct dirent *entry;
	char path[64];
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	dir = opendir(path);
	HI_ASSERT(dir);
	while ((entry = readdir(dir)))
		n++;
	closedir(dir);
	return n;
}

/* What must be the same: masks and pending signals of all threads, maps, RSS, ... Pages
 * of files do not count: the kernel takes those that it can read again, and the code of
 * libc that the thread passes comes back by itself. */
static char *describe(pid_t pid)
{
	static const char *const keys[] = {"TracerPid", "FDSize",     "VmSize",	 "VmLck",
					   "RssAnon",	"RssShmem",   "Threads", "SigPnd",
					   "ShdPnd",	"SigBlk",     "SigIgn",	 "SigCgt",
					   "CapEff",	"NoNewPrivs", "Seccomp", NULL};
	static const char *const resident[] = {"Anonymous", "Swap:", NULL};
	char *text = calloc(1, 1 << 20), path[64];
	struct dirent *entry;
	DIR *dir;

	HI_ASSERT(text);
	append(text, 1 << 20, pid, "maps", NULL);
	append(text, 1 << 20, pid, "oom_score_adj", NULL);
	append(text, 1 << 20, pid, "smaps_rollup", resident);
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	HI_ASSERT(dir);
	while ((entry = readdir(dir))) {
		char name[300];

		snprintf(name, sizeof(name), "task/%s/status", entry->d_name);
		if (entry->d_name[0] != '.')
			append(text, 1 << 20, pid, name, keys);
	}
	closedir(dir);
	snprintf(path, sizeof(path), "fds %zu children %d\n", count_entries(pid, "fd"),
		 hi_test_count_children(pid));
	return strcat(text, path);
}

static void expect_same_lines(char *before, char *after)
{
	char *save_before = NULL, *save_after = NULL;
	char *line = strtok_r(before, "\n", &save_before);
	char *now = strtok_r(after, "\n", &save_after);

	while (line && now) {
		HI_ASSERT_STREQ(line, now);
		line = strtok_r(NULL, "\n", &save_before);
		now = strtok_r(NULL, "\n", &save_after);
	}
	HI_ASSERT(!line && !now);
}

HI_TEST_SCENARIO(attach_fork, all_that_can_be_seen_of_the_target_is_as_before)
{
	struct hi_fixture *fx = hi_test_start_ready("stop_calls", "ppoll", "leader");
	unsigned long text_start = 0, text_end = 0;
	unsigned char *code, *code_after;
	char *before, *after, *line;

	hi_test_adopt_orphans();
	/* Its other thread may still have pages of its stack to touch. */
	hi_test_expect_free(fx->pid, "S");
	before = describe(fx->pid);
	line = strstr(before, "r-xp");
	HI_ASSERT(line);
	while (line > before && line[-1] != '\n')
		line--;
	HI_ASSERT_EQ(2, sscanf(line, "%lx-%lx", &text_start, &text_end));
	code = read_memory(fx->pid, text_start, text_end - text_start);
	for (int i = 0; i < 50; i++)
		hi_test_fork_once(fx->pid);
	hi_test_wait_alone(fx);
	hi_test_expect_free(fx->pid, "RS");
	code_after = read_memory(fx->pid, text_start, text_end - text_start);
	after = describe(fx->pid);
	expect_same_lines(before, after);
	HI_ASSERT(memcmp(code, code_after, text_end - text_start) == 0);
	free(code);
	free(code_after);
	free(before);
	free(after);
}

/* ---- signals ---- */

HI_TEST_SLOW(attach_fork, no_signal_is_lost_or_doubled_over_40_forks_and_40_deaths)
{
	struct hi_fixture *fx = hi_test_start_ready("stop_signals", NULL, NULL);
	long sent, received;
	char line[128];

	for (int i = 0; i < 40; i++) {
		hi_test_fork_once(fx->pid);
		hi_test_fork_and_die(fx->pid, 1 + i % HI_TEST_FORK_STEPS);
	}
	hi_test_expect_free(fx->pid, "RS");
	hi_fixture_tell(fx, "finish");
	HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	HI_ASSERT_EQ(2, sscanf(line, "sent %ld received %ld", &sent, &received));
	HI_ASSERT(sent > 100);
	HI_ASSERT_EQ(sent, received);
}

/* ---- the group stop ---- */

/* It could not finish by itself what it was made to begin. */
HI_TEST_SCENARIO(attach_fork, a_group_stopped_target_is_not_forked)
{
	struct hi_fixture *fx = hi_test_start_ready("fork_state", "2", "1");

	kill(fx->pid, SIGSTOP);
	hi_test_expect_free(fx->pid, "T");
	for (int i = 0; i < 10; i++) {
		struct hi_tracer_child child;
		struct hi_tracer *tracer;
		struct hi_error err = {};
		enum hi_status status =
			hi_test_fork_attempt(fx->pid, &tracer, &child, &err);

		hi_tracer_destroy(tracer);
		HI_ASSERT_STATUS(HI_UNSUPPORTED, status);
		HI_ASSERT_MSG(strstr(err.text, "it is stopped"), "%s", err.text);
		hi_test_expect_free(fx->pid, "T");
	}
	kill(fx->pid, SIGCONT);
	hi_test_expect_free(fx->pid, "RS");
	hi_test_expect_well(fx);
	hi_test_wait_alone(fx);
}

HI_TEST_SLOW(attach_fork, forks_amid_a_storm_of_sigstop_and_sigcont_end_well)
{
	struct hi_fixture *fx = hi_test_start_ready("fork_state", "2", "1");
	pid_t storm = fork();
	int n_forked = 0;

	if (storm == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 0;; i++) {
			kill(fx->pid, SIGSTOP);
			hi_test_sleep_us(i * 17 % 300);
			kill(fx->pid, SIGCONT);
			hi_test_sleep_us(i * 29 % 300);
		}
	}
	hi_test_adopt_orphans();
	for (int i = 0; i < 60 || (n_forked == 0 && i < 3000); i++) {
		struct hi_tracer_child child;
		struct hi_tracer *tracer;
		struct hi_error err = {};
		enum hi_status status =
			hi_test_fork_attempt(fx->pid, &tracer, &child, &err);

		hi_tracer_destroy(tracer);
		n_forked += status == HI_OK;
		HI_ASSERT_MSG(status == HI_OK || status == HI_UNSUPPORTED, "%s",
			      err.text);
	}
	hi_test_note("%d were forked", n_forked);
	HI_ASSERT(n_forked > 0);
	kill(storm, SIGKILL);
	waitpid(storm, NULL, 0);
	kill(fx->pid, SIGCONT);
	hi_test_expect_free(fx->pid, "RS");
	hi_test_expect_well(fx);
	hi_test_wait_alone(fx);
}

/* ---- somebody is killed at any moment ---- */

/* A child that forks the target again and again; ends when that is gone. */
static pid_t start_inspector(pid_t target)
{
	pid_t pid = fork();

	HI_ASSERT(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		struct hi_tracer *tracer;
		struct hi_tracer_child child;

		(void)hi_test_fork_attempt(target, &tracer, &child, NULL);
		hi_tracer_destroy(tracer);
	}
}

static void kill_and_wait(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

HI_TEST_SLOW(attach_fork, inspectors_may_be_killed_at_any_moment)
{
	struct hi_fixture *fx = hi_test_start_ready("fork_state", "2", "1");

	hi_test_adopt_orphans();
	for (int i = 0; i < 100; i++) {
		pid_t inspector = start_inspector(fx->pid);

		hi_test_sleep_us(3000 + i * 97 % 4000);
		kill_and_wait(inspector);
		hi_test_wait_alone(fx);
	}
	hi_test_expect_free(fx->pid, "RS");
	hi_test_expect_well(fx);
}

HI_TEST_SLOW(attach_fork, the_target_may_be_killed_at_any_moment)
{
	hi_test_adopt_orphans();
	for (int i = 0; i < 60; i++) {
		struct hi_fixture *fx = hi_test_start_ready("fork_state", "2", "1");
		pid_t inspector = start_inspector(fx->pid);

		hi_test_sleep_us(3000 + i * 97 % 4000);
		kill(fx->pid, SIGKILL);
		hi_fixture_end(fx);
		HI_ASSERT(WIFSIGNALED(fx->wait_status));
		kill_and_wait(inspector);
	}
	for (int i = 0; i < 20000 && hi_test_count_children(getpid()); i++) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		hi_test_sleep_us(500);
	}
	HI_ASSERT_EQ(0, hi_test_count_children(getpid()));
}
