/* SPDX-License-Identifier: BSD-2-Clause */
/* Heaps that protected pages divide into several mappings. */
#include <string.h>

#include "tests/cli/summary.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"

struct truth {
	long long live, leaks;
};

static void read_truth(const char *line, void *arg)
{
	struct truth *t = arg;

	if (sscanf(line, "live %lld", &t->live) != 1)
		(void)sscanf(line, "leaks %lld", &t->leaks);
}

static void check_heap(const char *protection, const char *where)
{
	struct hi_fixture *fx =
		hi_fixture_start("protected_pages", protection, where, NULL);
	struct truth t = {};
	json_t *doc;

	hi_fixture_read_until(fx, "ready", read_truth, &t);
	doc = summary_with(fx->pid, NULL);
	HI_ASSERT_EQ(0, doc_number(doc, "allocator.damaged"));
	HI_ASSERT(json_is_true(
		json_object_get(json_object_get(doc, "snapshot"), "complete")));
	HI_ASSERT_EQ(1000, count_of_type(doc, "struct node"));
	HI_ASSERT_EQ(t.leaks, doc_number(doc, "leaks.objects"));
	HI_ASSERT_EQ(0, doc_number(doc, "leaks.likely_bytes"));
	/* What the library keeps for a thread is live as well. */
	if (strcmp(where, "main") == 0)
		HI_ASSERT_EQ(t.live, doc_number(doc, "objects.live"));
	else
		HI_ASSERT(doc_number(doc, "objects.live") >= t.live);
}

HI_TEST_SCENARIO(protected_pages, a_page_for_reading_only_divides_no_heap)
{
	check_heap("read", "main");
	check_heap("read", "thread");
}

HI_TEST_SCENARIO(protected_pages, a_page_for_no_access_divides_no_heap)
{
	check_heap("none", "main");
	check_heap("none", "thread");
}
