/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/mock_trigger.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "attach/thread_stat.h"
#include "tests/harness.h"
#include "tests/support/stopping.h"

static size_t mock_fds(struct hi_trigger *trigger, int *fds, size_t max)
{
	struct hi_mock_trigger *mock = (struct hi_mock_trigger *)trigger;

	if (max < 1)
		return 0;
	fds[0] = mock->pipe[0];
	return 1;
}

/* At the second call it stands at its end: it had the signal after the first. */
static void end_process(const struct hi_mock_trigger *mock)
{
	if (mock->page->added == 1)
		(void)syscall(SYS_tgkill, mock->ends, mock->ends, SIGTERM);
	for (int i = 0; i < 10000; i++) {
		if (hi_thread_state(mock->ends, mock->ends) == 't')
			return;
		hi_test_sleep_us(1000);
	}
}

static void mock_add_thread(struct hi_trigger *trigger, pid_t tid)
{
	struct hi_mock_trigger *mock = (struct hi_mock_trigger *)trigger;

	(void)tid;
	mock->page->added++;
	if (mock->ends)
		end_process(mock);
}

static void mock_arm(struct hi_trigger *trigger)
{
	struct hi_mock_trigger *mock = (struct hi_mock_trigger *)trigger;

	mock->page->arms++;
	mock->page->armed = 1;
}

static void mock_disarm(struct hi_trigger *trigger)
{
	struct hi_mock_trigger *mock = (struct hi_mock_trigger *)trigger;

	mock->page->disarms++;
	mock->page->armed = 0;
}

/*
 * A probe of the kernel sends its signal together with the hit. The fixture needs some
 * system calls in between, and on a loaded machine a long time: until then there was no
 * hit. The thread has it when it is pending, or has stopped for it.
 */
static bool was_sent(const struct probe_page *page)
{
	unsigned long long pending = 0;
	char path[64], line[128];
	bool is_stopped = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", page->tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		is_stopped |= strncmp(line, "State:\tt", 8) == 0;
		if (strncmp(line, "SigPnd:", 7) == 0)
			pending = strtoull(line + 7, NULL, 16);
	}
	if (!file)
		return true; /* it has ended */
	fclose(file);
	return is_stopped || (pending >> (SIGURG - 1) & 1);
}

static bool mock_was_hit(struct hi_trigger *trigger, struct hi_trigger_hit *ret)
{
	const struct probe_page *page = ((struct hi_mock_trigger *)trigger)->page;

	if (!page->hit || (page->sends && !was_sent(page)))
		return false;
	*ret = (struct hi_trigger_hit){.time_ns = page->time_ns,
				       .pc = page->pc,
				       .tid = page->tid,
				       .unsent = page->unsent};
	return true;
}

static const struct hi_trigger_ops ops = {
	.fds = mock_fds,
	.add_thread = mock_add_thread,
	.arm = mock_arm,
	.disarm = mock_disarm,
	.was_hit = mock_was_hit,
};

static void destroy(struct hi_mock_trigger *mock)
{
	munmap(mock->page, sizeof(*mock->page));
	close(mock->memory);
	close(mock->pipe[0]);
	close(mock->pipe[1]);
	free(mock);
}

struct hi_mock_trigger *hi_mock_trigger_create(void)
{
	struct hi_mock_trigger *mock = calloc(1, sizeof(*mock));

	HI_ASSERT(mock);
	mock->memory = memfd_create("probe", MFD_CLOEXEC);
	HI_ASSERT(mock->memory >= 0 && ftruncate(mock->memory, 4096) == 0);
	mock->page = mmap(NULL, sizeof(*mock->page), PROT_READ | PROT_WRITE, MAP_SHARED,
			  mock->memory, 0);
	HI_ASSERT(mock->page != MAP_FAILED);
	HI_ASSERT_EQ(0, pipe2(mock->pipe, O_CLOEXEC | O_NONBLOCK));
	snprintf(mock->page_path, sizeof(mock->page_path), "/proc/%d/fd/%d",
		 (int)getpid(), mock->memory);
	snprintf(mock->pipe_path, sizeof(mock->pipe_path), "/proc/%d/fd/%d",
		 (int)getpid(), mock->pipe[1]);
	mock->base = (struct hi_trigger){.ops = &ops, .poll_fd = mock->pipe[0]};
	hi_test_defer(destroy, mock);
	return mock;
}

void hi_mock_trigger_reset(struct hi_mock_trigger *mock)
{
	char bytes[256];

	mock->page->armed = mock->page->hit = mock->page->sends = 0;
	while (read(mock->pipe[0], bytes, sizeof(bytes)) > 0)
		;
}

void hi_mock_trigger_hit(struct hi_mock_trigger *mock, pid_t tid)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	mock->page->time_ns =
		(unsigned long)now.tv_sec * 1000000000 + (unsigned long)now.tv_nsec;
	mock->page->tid = tid;
	mock->page->hit = 1;
	HI_ASSERT_EQ(1, write(mock->pipe[1], "", 1));
}
