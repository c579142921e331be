/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks to which only the kernel leads (fixtures/kernel_words.c) are alive. */
#include <stdio.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/targets.h"

static void check_edges(struct target *t, const char *name, long long n)
{
	char sql[160];

	snprintf(sql, sizeof(sql),
		 "SELECT count(*) FROM edges e, roots r WHERE e.source = r.node "
		 "AND r.name = '%s'",
		 name);
	HI_ASSERT_EQ(n, target_query(t, sql));
}

static void check_words(const char *n, const char *way)
{
	struct target *t = target_start("kernel_words", n, NULL);
	json_t *doc = target_ask(t, "leaks", "--all", "--snapshot", way);
	char name[64];

	HI_ASSERT_EQ(1, doc_number(doc, "leaks.objects"));
	HI_ASSERT_EQ(0, doc_number(doc, "leaks.likely_objects"));
	HI_ASSERT_STREQ(target_said(t, "leaked"), doc_text(doc, "roots.0.address"));
	snprintf(name, sizeof(name), "data of epoll descriptor %lld",
		 target_number(t, "descriptor"));
	check_edges(t, name, atoll(n));
	check_edges(t, "values of timers", 1);
}

HI_TEST_SCENARIO(kernel_words, words_in_the_kernel_keep_their_objects_alive)
{
	check_words("10", "copy");
	check_words("10", "fork");
}

/* They would take too long to read while the target stands: no leak is certain. */
HI_TEST_SCENARIO(kernel_words, very_many_words_in_the_kernel_make_leaks_likely)
{
	struct target *t = target_start("kernel_words", "9000", NULL);
	json_t *doc = target_ask(t, "leaks", "--all");

	if (target_number(t, "watched") < 9000)
		HI_SKIP("not so many descriptors are permitted");
	HI_ASSERT_EQ(0, doc_number(doc, "leaks.objects"));
	HI_ASSERT(doc_number(doc, "leaks.unread_bytes") >= 8192 * 8);
	HI_ASSERT(json_is_true(doc_at(doc, "leaks.doubtful")));
}
