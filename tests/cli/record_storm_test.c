/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recordings of which a process, or all at one time, are killed at a random instant, or
 * when their probes are just being set, by scripts/storm.
 * HI_STORM_ROUNDS is how many kills there are, 1,000 if it is not set.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"

/* A call of the target may return early when the tracer is killed just as it stops the
 * target, and the kernel keeps a record of a probe when the process that opens probes is
 * killed (docs/guide/cost.md); everything else is a trace that stays. */
static void look_at_storm_line(const char *line)
{
	static const char *const traces[] = {
		"hang",	     "process left", "not free",     "died",
		"Traceback", "breakpoint",   "wrong answer", "though nothing was hit"};

	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++)
		HI_ASSERT_MSG(!strstr(line, traces[i]), "%s", line);
	if (strstr(line, " rounds, ") || strstr(line, "KILL") || strstr(line, "found: "))
		hi_test_note("%s", line);
}

HI_TEST_SLOW(record_storm, kills_leave_nothing_in_the_target)
{
	const char *rounds = getenv("HI_STORM_ROUNDS");
	bool has_ended = false;
	char line[2048];
	FILE *pipe;

	if (geteuid() != 0)
		HI_SKIP("probes need root");
	snprintf(line, sizeof(line),
		 HI_SOURCE_DIR "/scripts/storm " HI_BINARY_DIR
			       " %sx 1 8 200 forking record "
			       "'record some' kill 2>&1",
		 rounds ? rounds : "1000");
	pipe = popen(line, "r");
	HI_ASSERT(pipe);
	while (fgets(line, sizeof(line), pipe)) {
		look_at_storm_line(line);
		has_ended |= strstr(line, "found: ") != NULL;
	}
	pclose(pipe);
	HI_ASSERT(has_ended);
}
