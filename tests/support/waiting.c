/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/waiting.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/stopping.h"

_Noreturn static void inspect(pid_t pid, const struct hi_stop_options *options, int out)
{
	struct hi_target target = hi_test_target(pid);
	struct hi_waiting_result result = {};
	struct hi_tracer_stop stop = {};
	struct hi_tracer *tracer = NULL;
	struct hi_error err = {};
	uint64_t resumed_ns;

	result.status = hi_tracer_start(&target, options, &tracer, &err);
	if (result.status == HI_OK)
		result.status = hi_tracer_stop(tracer, &stop, &err);
	result.position = stop.trigger.position;
	result.n_threads = stop.n_threads;
	if (result.status == HI_OK)
		result.status = hi_tracer_resume(tracer, &resumed_ns, &err);
	hi_tracer_destroy(tracer);
	memcpy(result.text, err.text, sizeof(result.text));
	_exit(write(out, &result, sizeof(result)) != sizeof(result));
}

/* The ends of fixtures' pipes: they must be able to close. */
static void close_others(const struct hi_mock_trigger *mock, int result)
{
	for (int fd = 3; fd < 256; fd++)
		if (fd != result && fd != mock->pipe[0])
			close(fd);
}

static void kill_inspector(void *arg)
{
	pid_t pid = (pid_t)(intptr_t)arg;

	if (waitpid(pid, NULL, WNOHANG) == 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

static struct hi_waiting start(struct hi_mock_trigger *mock, pid_t target,
			       uint64_t timeout_ns, uint64_t max_pause_ns)
{
	const struct hi_stop_options options = {.trigger = &mock->base,
						.timeout_ns = timeout_ns,
						.max_pause_ns = max_pause_ns,
						.best_effort_priority = true};
	long arms = mock->page->arms;
	struct hi_waiting waiting;
	struct pollfd ready;
	int ends[2];

	hi_mock_trigger_reset(mock);
	HI_ASSERT_EQ(0, pipe2(ends, O_CLOEXEC));
	waiting.inspector = fork();
	HI_ASSERT(waiting.inspector >= 0);
	if (waiting.inspector == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close_others(mock, ends[1]);
		inspect(target, &options, ends[1]);
	}
	close(ends[1]);
	waiting.result = ends[0];
	hi_test_defer(kill_inspector, (void *)(intptr_t)waiting.inspector);
	ready = (struct pollfd){.fd = ends[0], .events = POLLIN};
	for (int i = 0; i < 20000 && mock->page->arms == arms; i++)
		if (poll(&ready, 1, 1) > 0)
			break;
	return waiting;
}

struct hi_waiting hi_waiting_start(struct hi_mock_trigger *mock, pid_t target,
				   uint64_t timeout_ns)
{
	return start(mock, target, timeout_ns, HI_TEST_PATIENCE_NS);
}

struct hi_waiting hi_waiting_start_hurried(struct hi_mock_trigger *mock, pid_t target,
					   uint64_t timeout_ns)
{
	return start(mock, target, timeout_ns, 0);
}

struct hi_waiting_result hi_waiting_end(struct hi_waiting *waiting)
{
	struct hi_waiting_result result = {};
	ssize_t n;

	do {
		n = read(waiting->result, &result, sizeof(result));
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(result))
		result.status = HI_OS;
	close(waiting->result);
	while (waitpid(waiting->inspector, NULL, 0) < 0 && errno == EINTR)
		;
	return result;
}

pid_t hi_waiting_find_child(pid_t parent, const char *name)
{
	char path[64], line[128];
	pid_t found = 0;
	FILE *file;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent,
		 (int)parent);
	file = fopen(path, "r");
	while (file && !found && fscanf(file, "%d", &child) == 1) {
		FILE *comm;

		snprintf(path, sizeof(path), "/proc/%d/comm", child);
		comm = fopen(path, "r");
		if (comm && fgets(line, sizeof(line), comm) &&
		    strncmp(line, name, strlen(name)) == 0)
			found = child;
		if (comm)
			fclose(comm);
	}
	if (file)
		fclose(file);
	return found;
}

pid_t hi_waiting_await_child(pid_t parent, const char *name)
{
	pid_t found = 0;

	for (int i = 0; i < 300000 && !found; i++) {
		found = hi_waiting_find_child(parent, name);
		if (!found)
			hi_test_sleep_us(1000);
	}
	HI_ASSERT_MSG(found, "%d has no child %s", (int)parent, name);
	return found;
}
