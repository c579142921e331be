/* SPDX-License-Identifier: BSD-2-Clause */
/* --max-memory: of files, and of all that is computed of them. */
#include <string.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/hostile_snapshot.h"
#include "tests/support/snapshots.h"

static void check_fails(const struct hi_command *run, const char *why)
{
	HI_ASSERT_EQ(2, run->exit_code);
	HI_ASSERT_MSG(strstr(run->err, why), "%s: not in: %s", why, run->err);
	HI_ASSERT_EQ(0, run->out_size);
}

HI_TEST_SCENARIO(max_memory, files_that_unpack_to_more_are_refused_and_the_bound_is_named)
{
	const char *file = hostile_snapshot(snapshot_directory(), "a.hisnap", 300);

	check_fails(hi_heapinspect("summary", file, "--max-memory", "1MiB"),
		    "more than 1.0 MiB with all other files: --max-memory SIZE");
	HI_ASSERT_EQ(0,
		     hi_heapinspect("summary", file, "--max-memory", "1GiB")->exit_code);
	HI_ASSERT_EQ(0, hi_heapinspect("summary", file)->exit_code);
}

#ifndef HI_SANITIZED
HI_TEST_SCENARIO(max_memory, what_is_computed_of_a_core_is_bounded_too)
{
	const char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("bench_heap", "300000", NULL), in);

	check_fails(hi_heapinspect("summary", "--core", core, "--max-memory", "4MiB"),
		    "out of memory (at most 4.0 MiB: --max-memory)");
	HI_ASSERT_EQ(0, hi_heapinspect("summary", "--core", core, "--max-memory", "1GiB")
				->exit_code);
}
#endif

HI_TEST_SCENARIO(max_memory, is_a_size)
{
	check_fails(hi_heapinspect("summary", "a.hisnap", "--max-memory", "much"),
		    "--max-memory much: not a size like 512MiB or 4GiB");
	check_fails(hi_heapinspect("summary", "a.hisnap", "--max-memory", "0"),
		    "--max-memory 0: not a size");
}
