/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/snapshots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/temporary.h"

char *snapshot_directory(void)
{
	return temporary_directory();
}

const char *snapshot_path(const char *in, const char *name)
{
	char *path = NULL;

	HI_ASSERT(asprintf(&path, "%s/%s", in, name) > 0);
	hi_test_defer(free, path);
	return path;
}

struct hi_fixture *snapshot_fixture(const char *name, const char *argument1,
				    const char *argument2)
{
	struct hi_fixture *fx = hi_fixture_start(name, argument1, argument2, NULL);
	char line[1200];

	do
		HI_ASSERT(hi_fixture_line(fx, line, sizeof(line)));
	while (strncmp(line, "ready", 5) != 0);
	hi_fixture_settle(fx);
	return fx;
}

const char *snapshot_core(const struct hi_fixture *fx, const char *in)
{
	char pid[16], name[32];
	struct hi_command *c;

	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	c = hi_command_run(0, "gcore", "-o", snapshot_path(in, "core"), pid, NULL);
	HI_ASSERT_MSG(c->exit_code == 0, "gcore: %s", c->err);
	snprintf(name, sizeof(name), "core.%s", pid);
	return snapshot_path(in, name);
}

const char *snapshot_of_core(const char *core, const char *in, const char *name,
			     const char *extra)
{
	const char *path = snapshot_path(in, name);
	struct hi_command *c =
		hi_heapinspect("snap", "--core", core, "-q", "-o", path, extra);

	HI_ASSERT_MSG(c->exit_code == 0, "snap: %s", c->err);
	return path;
}
