/* SPDX-License-Identifier: BSD-2-Clause */
/* A library that is unloaded while its allocations are recorded: of
 * fixtures/unloads_plugin.c. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/recording_run.h"

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
	recording_await_code(&run, "libplugin_parts.so");
	hi_fixture_tell(fx, "unload");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	row = strstr(c->out, "\n  make_part ");
	HI_ASSERT_MSG(row != NULL, "%s", c->out);
	HI_ASSERT_MSG(strstr(row, "plugin_parts.c:14"), "%s", c->out);
	HI_ASSERT_MSG(strtol(row + strlen("\n  make_part "), NULL, 10) == 40, "%s", row);
}
