/* SPDX-License-Identifier: BSD-2-Clause */
/* Runtimes: which safepoints they have, and whether those are what they seem. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/probed.h"

#define PYTHON "/usr/bin/python3.11"

static const char program[] = "import gc, sys\n"
			      "gc.disable()\n"
			      "print('ready', flush=True)\n"
			      "for line in sys.stdin:\n"
			      "    for i in range(int(line)):\n"
			      "        gc.collect(i % 3)\n"
			      "    n = sum(s['collections'] for s in gc.get_stats())\n"
			      "    print('collections', n, flush=True)\n"
			      "    print('done', flush=True)\n";

static struct hi_fixture *start_python(struct hi_target **target)
{
	char *argv[] = {(char *)(uintptr_t)PYTHON, (char *)(uintptr_t) "-c",
			(char *)(uintptr_t)program, NULL};
	struct hi_fixture *fx = hi_fixture_startv(PYTHON, argv);
	struct hi_error err;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	HI_ASSERT_OK(hi_target_open(fx->pid, target, &err), &err);
	hi_test_defer(hi_target_close, *target);
	return fx;
}

static void take_collections(const char *line, void *arg)
{
	if (strncmp(line, "collections ", 12) == 0)
		*(long *)arg = atol(line + 12);
}

static long collect(struct hi_fixture *fx, int n)
{
	char line[16];
	long collections = -1;

	snprintf(line, sizeof(line), "%d", n);
	hi_fixture_tell(fx, line);
	hi_fixture_read_until(fx, "done", take_collections, &collections);
	HI_ASSERT(collections >= 0);
	return collections;
}

HI_TEST_ROOT(runtimes, cpython_says_as_many_ends_of_collections_as_it_counts)
{
	struct hi_target *target;
	struct hi_fixture *fx = start_python(&target);
	struct hi_probe_sites places = {};
	struct hi_safepoint gc = probed_parse("gc");
	long before, after;
	struct hi_probe *probe;
	struct hi_error err;
	uint64_t hits = 0;

	before = collect(fx, 5);
	HI_ASSERT_OK(hi_safepoint_find(target, &gc, &places, &err), &err);
	HI_ASSERT_OK(hi_probe_open(target, &gc, &places, &probe, &err), &err);
	hi_test_defer(hi_probe_close, probe);
	after = collect(fx, 321);
	for (size_t i = 0; i < places.count; i++)
		hits += hi_probe_hits(probe, i);
	hi_probe_sites_free(&places);
	HI_ASSERT_EQ(321, after - before);
	HI_ASSERT_EQ(after - before, hits);
}

HI_TEST_SCENARIO(runtimes, cpython_is_listed_with_all_its_usdt_probes)
{
	struct hi_target *target;
	struct hi_known_safepoint *list;
	bool done = false, start = false, line = false;
	struct hi_error err;
	size_t n;

	start_python(&target);
	HI_ASSERT_OK(hi_safepoints_list(target, &list, &n, &err), &err);
	for (size_t i = 0; i < n; i++) {
		const struct hi_known_safepoint *s = &list[i];

		HI_ASSERT(s->sites.count > 0);
		if (strcmp(s->text, "usdt:python:gc__done") == 0) {
			HI_ASSERT(!done && s->is_gc);
			HI_ASSERT_STREQ("CPython", s->runtime);
			done = true;
		} else {
			HI_ASSERT_MSG(!s->is_gc, "%s is gc too", s->text);
		}
		start |= strcmp(s->text, "usdt:python:gc__start") == 0;
		line |= strcmp(s->text, "usdt:python:line") == 0 && !s->runtime[0];
	}
	hi_safepoints_free(list, n);
	HI_ASSERT(done && start && line);
}

HI_TEST_SCENARIO(runtimes, a_program_without_any_has_no_end_of_a_collection)
{
	struct probed *p = probed_start();

	probed_find_nothing(p, "gc", "no known runtime");
}
