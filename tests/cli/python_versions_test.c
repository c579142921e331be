/* SPDX-License-Identifier: BSD-2-Clause */
/* What commands say of an interpreter that has done nothing. */
#include <string.h>

#include "harness.h"
#include "support/pythons.h"
#include "support/targets.h"

static const char program[] = "import gc, sys\n"
			      "gc.collect()\n"
			      "gc.disable()\n"
			      "print('ready', flush=True)\n"
			      "sys.stdin.read(1)\n";

/* Nothing is lost; 3.8 takes a reference to its module of warnings too many. */
static void check_leaks(const char *python)
{
	struct hi_command *said = target_run(target_start(python, "-c", program, NULL));

	HI_ASSERT_MSG(strstr(said->out, "CPython 3."), "%s", said->out);
	if (!strstr(said->out, "CPython 3.8."))
		HI_ASSERT_MSG(strstr(said->out, "no leaks"), "%s", said->out);
	else
		HI_ASSERT_MSG(strstr(said->out, "leaked in 1 root"), "%s", said->out);
}

HI_TEST_SCENARIO(python_versions, fresh_interpreter_has_no_lost_objects)
{
	hi_each_python(check_leaks);
}
