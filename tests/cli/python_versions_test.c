/* SPDX-License-Identifier: BSD-2-Clause */
/* What commands say of an interpreter that has done nothing. */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "support/command.h"
#include "support/fixture.h"
#include "support/pythons.h"

static const char program[] = "import gc, sys\n"
			      "gc.collect()\n"
			      "gc.disable()\n"
			      "print('ready', flush=True)\n"
			      "sys.stdin.read(1)\n";

/* Nothing is lost; 3.8 takes a reference to its module of warnings too many. */
static void check_leaks(const char *python)
{
	struct hi_fixture *fx = hi_fixture_start(python, "-c", program, NULL);
	struct hi_command *said;
	char pid[16];

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	said = hi_heapinspect("--pid", pid);
	HI_ASSERT_EQ(0, said->exit_code);
	HI_ASSERT_MSG(strstr(said->out, "CPython 3."), "%s", said->out);
	if (!strstr(said->out, "CPython 3.8."))
		HI_ASSERT_MSG(strstr(said->out, "no leaks"), "%s", said->out);
	else
		HI_ASSERT_MSG(strstr(said->out, "leaked in 1 root"), "%s", said->out);
}

HI_TEST_SCENARIO(python_versions, a_fresh_interpreter_has_lost_nothing)
{
	hi_each_python(check_leaks);
}
