/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two readings of a heap: by types, where numbers and dead tails keep
 * nothing alive, and --conservative, where every word does. fixtures/mixed_heap
 * leaks 1,000 blocks whose addresses stand only in a uint64_t[], and 1,000 that
 * only the dead tail of a vector has.
 */
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/snapshots.h"

enum { IN_NUMBERS = 1000, IN_TAIL = 1000 };

static json_t *run(const char *pid, const char *reading)
{
	return doc_of(hi_heapinspect("--pid", pid, "--json", "--quiet", reading));
}

HI_TEST_SCENARIO(readings, conservative_and_typed_counts_are_both_reported)
{
	struct hi_fixture *fx = snapshot_fixture("mixed_heap", "/dev/null", NULL);
	json_t *by_types, *by_words;
	char pid[16];
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	by_types = run(pid, "--no-hints");
	by_words = run(pid, "--conservative");
	HI_ASSERT(!doc_find(by_types, "by_types"));
	HI_ASSERT_EQ(doc_number(by_types, "objects.leak") +
			     doc_number(by_types, "objects.likely"),
		     doc_number(by_words, "by_types.leak_objects"));
	HI_ASSERT_EQ(doc_number(by_types, "bytes.leak") +
			     doc_number(by_types, "bytes.likely"),
		     doc_number(by_words, "by_types.leak"));
	/* What words keep alive is what is likely leaked by types. */
	HI_ASSERT_EQ(doc_number(by_types, "objects.leak"),
		     doc_number(by_words, "objects.leak"));
	HI_ASSERT_EQ(IN_NUMBERS + IN_TAIL, doc_number(by_types, "objects.likely"));
	HI_ASSERT_EQ(0, doc_number(by_words, "objects.likely"));
}
