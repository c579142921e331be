/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks with an alignment, whose address mimalloc does not note:
 * fixtures/aligned_blocks.c says which are in its list and which are leaked.
 */
#include <string.h>

#include "tests/cli/summary.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"

struct aligned_truth {
	long long items, leaked;
	char pid[16];
};

static void take_aligned_line(const char *line, void *arg)
{
	struct aligned_truth *t = arg;

	t->items += strncmp(line, "item ", 5) == 0;
	t->leaked += strncmp(line, "leaked ", 7) == 0;
}

static void start_aligned(struct aligned_truth *t, const char *preload)
{
	char env[] = "env", path[] = HI_FIXTURE_DIR "/aligned_blocks", variable[128];
	char *argv[] = {env, variable, path, NULL};
	struct hi_fixture *fx;

	snprintf(variable, sizeof(variable), "LD_PRELOAD=%s", preload);
	fx = hi_fixture_startv("/usr/bin/env", argv);
	hi_fixture_read_until(fx, "ready", take_aligned_line, t);
	snprintf(t->pid, sizeof(t->pid), "%d", fx->pid);
	HI_ASSERT(t->items == 500 && t->leaked == 40);
}

static long long count_in_census(json_t *doc, const char *type)
{
	return doc_number(doc_row(doc_at(doc, "rows"), "type", type), "count");
}

static void compare_aligned(const char *preload)
{
	struct aligned_truth t = {};
	json_t *census, *doc;

	start_aligned(&t, preload);
	census = doc_of(hi_heapinspect("census", "--json", "--pid", t.pid));
	HI_ASSERT_EQ(t.items, count_in_census(census, "struct aligned_item"));
	HI_ASSERT_EQ(t.items, count_in_census(census, "struct plain_item"));
	doc = doc_of(hi_heapinspect("leaks", "--json", "--pid", t.pid));
	HI_ASSERT_EQ(2 * t.leaked, doc_number(doc, "leaks.objects"));
	HI_ASSERT_EQ(0, doc_number(doc, "leaks.likely_objects"));
}

HI_TEST_SCENARIO(aligned_blocks, glibc_has_their_types_and_leaks)
{
	compare_aligned("");
}

HI_TEST_SCENARIO(aligned_blocks, mimalloc_has_their_types_and_leaks)
{
	compare_aligned("libmimalloc.so.2.0");
}
