/* SPDX-License-Identifier: BSD-2-Clause */
/* The pages of serve and report in a headless Chromium; tests/browser/pages.mjs opens
 * them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/hostile_snapshot.h"
#include "tests/support/readers.h"
#include "tests/support/snapshots.h"

enum { WORDS = 24 };

/* Runs pages.mjs WHAT WORDS; fails the test with each problem that it found. */
static json_t *ask_chromium(const char *what, const char *const *words)
{
	const char *argv[WORDS + 5] = {
		"node", HI_SOURCE_DIR "/tests/browser/pages.mjs", readers_directory(),
		what};
	json_t *found, *problem;
	size_t n = 4, i;

	readers_need("chromium");
	for (; *words && n < WORDS + 4; words++)
		argv[n++] = *words;
	HI_ASSERT(!*words);
	found = readers_ask_json(argv);
	json_array_foreach(json_object_get(found, "problems"), i, problem)
		hi_test_note("%s", json_string_value(problem));
	HI_ASSERT_MSG(i == 0, "%zu problems, the first one: %s", i,
		      json_string_value(json_array_get(
			      json_object_get(found, "problems"), 0)));
	return found;
}

HI_TEST_INTEROP(browser_driver, names_each_fault_of_a_page)
{
	json_t *found = ask_chromium("faults", (const char *const[]){NULL});

	HI_ASSERT(json_integer_value(json_object_get(found, "faults")) > 20);
}

/* The file is a good one: other commands read it, and so must the pages. */
HI_TEST_SCENARIO(browser_corpus, hostile_files_are_read_by_commands)
{
	char *in = snapshot_directory();
	const char *file = hostile_snapshot(in, "hostile.hirec", 2000),
		   *series = hostile_series(in, "hostile.hisnap", 3);
	const char *const commands[] = {"summary",    "census",	   "retained", "leaks",
					"retainers",  "spacetime", "peaks",    "snapshots",
					"deep"};

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		struct hi_command *c = hi_heapinspect(
			commands[i], i >= 5 && i < 8 ? series : file, "--width", "200");

		HI_ASSERT_MSG(c->exit_code == 0, "%s: exit %d: %.500s", commands[i],
			      c->exit_code, c->err);
	}
}
