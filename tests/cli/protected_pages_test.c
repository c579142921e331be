/* SPDX-License-Identifier: BSD-2-Clause */
/* Heaps that protected pages divide into several mappings. */
#include "tests/cli/summary.h"
#include "tests/support/targets.h"

static void check_heap(const char *protection, const char *where)
{
	struct target *t = target_start("protected_pages", protection, where, NULL);
	json_t *doc = summary_with(t->fx->pid, NULL);

	HI_ASSERT_EQ(0, doc_number(doc, "allocator.damaged"));
	HI_ASSERT(doc_bool(doc, "snapshot.complete"));
	HI_ASSERT_EQ(1000, count_of_type(doc, "struct node"));
	HI_ASSERT_EQ(target_number(t, "leaks"), doc_number(doc, "leaks.objects"));
	HI_ASSERT_EQ(0, doc_number(doc, "leaks.likely_bytes"));
	/* What the library keeps for a thread is live as well. */
	if (strcmp(where, "main") == 0)
		HI_ASSERT_EQ(target_number(t, "live"), doc_number(doc, "objects.live"));
	else
		HI_ASSERT(doc_number(doc, "objects.live") >= target_number(t, "live"));
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
