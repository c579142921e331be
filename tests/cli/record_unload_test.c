/* SPDX-License-Identifier: BSD-2-Clause */
/* A library that is unloaded while its allocations are recorded: of
 * fixtures/unloads_plugin.c. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/recording_run.h"

enum { LOOK_US = 20000, LOOKS = 3000 };

/* Does the process hold a file of this name open? */
static bool has_file_open(pid_t pid, const char *name)
{
	char directory[64], path[400], target[512];
	struct dirent *entry;
	bool found = false;
	DIR *all;

	snprintf(directory, sizeof(directory), "/proc/%d/fd", (int)pid);
	all = opendir(directory);
	HI_ASSERT(all != NULL);
	while (!found && (entry = readdir(all))) {
		ssize_t n;

		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		n = readlink(path, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = 0;
		found = strstr(target, name) != NULL;
	}
	closedir(all);
	return found;
}

static void await_noticed(pid_t recorder)
{
	for (int i = 0; i < LOOKS && !has_file_open(recorder, "libplugin_parts.so"); i++)
		usleep(LOOK_US);
	HI_ASSERT(has_file_open(recorder, "libplugin_parts.so"));
}

HI_TEST_ROOT(record_unload, frames_of_an_unloaded_library_keep_their_names)
{
	struct hi_fixture *fx = hi_fixture_start("unloads_plugin", NULL);
	struct recording_run run;
	struct hi_command *c;
	const char *row;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = recording_start(fx->pid, NULL);
	hi_fixture_tell(fx, "load");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	await_noticed(run.pid);
	hi_fixture_tell(fx, "unload");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	row = strstr(c->out, "\n  make_part ");
	HI_ASSERT_MSG(row != NULL, "%s", c->out);
	HI_ASSERT_MSG(strstr(row, "plugin_parts.c:14"), "%s", c->out);
	HI_ASSERT_MSG(strtol(row + strlen("\n  make_part "), NULL, 10) == 40, "%s", row);
}
