/* SPDX-License-Identifier: BSD-2-Clause */
/* A runtime that a program is linked with is one of its heaps from its start on. */
#include "tests/cli/summary.h"
#include "tests/support/targets.h"

HI_TEST_SCENARIO(runtime_linked, is_no_heap_until_it_begins)
{
	struct target *t = target_start("runtime_linked", NULL);
	json_t *doc = summary_with(t->fx->pid, NULL);

	HI_ASSERT_STREQ("all", doc_text(doc, "heap.known"));
	HI_ASSERT_EQ(0, doc_number(doc, "leaks.bytes"));
	t = target_start("runtime_linked", "begin", NULL);
	doc = summary_with(t->fx->pid, NULL);
	HI_ASSERT_STREQ("part", doc_text(doc, "heap.known"));
	HI_ASSERT_STREQ("Ruby", doc_text(doc, "heap.not_decoded"));
}
