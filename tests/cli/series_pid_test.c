/* SPDX-License-Identifier: BSD-2-Clause */
/* A series whose target has exited does not go on with the next process of its number. */
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/census_cache.h"
#include "session/inspect/inspect.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"

/* Of a process that is there no more; the number is the other one's, as if the kernel had
 * given it away again. */
static int pidfd_of_the_dead(void)
{
	pid_t pid = fork();
	int fd;

	if (pid == 0)
		_exit(0);
	fd = pidfd_open(pid, 0);
	HI_ASSERT(fd >= 0);
	HI_ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	return fd;
}

HI_TEST_SCENARIO(series_pid, a_census_of_another_process_is_refused)
{
	struct hi_fixture *fx = hi_fixture_start("probe_places", NULL);
	struct hi_census_cache census_cache = {};
	struct hi_options options = {.output.quiet = true};
	const struct hi_run run = {.census_cache = &census_cache};
	struct hi_inspection *in = NULL;
	struct hi_error err;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	options.target.pid = fx->pid;
	census_cache.pidfd = pidfd_of_the_dead();
	HI_ASSERT_STATUS(HI_GONE, hi_inspect_begin(&options, &run, &in, &err));
	HI_ASSERT_MSG(strstr(err.text, "has exited"), "%s", err.text);
	HI_ASSERT(!in);
	HI_ASSERT_EQ(0, hi_process_status(fx->pid, "TracerPid"));
	close(census_cache.pidfd);

	census_cache.pidfd = pidfd_open(fx->pid, 0);
	HI_ASSERT_OK(hi_inspect_begin(&options, &run, &in, &err), &err);
	HI_ASSERT(in->image && in->image->pid == fx->pid);
	hi_inspect_close(in);
	close(census_cache.pidfd);
}
