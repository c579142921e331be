/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that say how many objects of each type they have: intrusive records
 * of C, and containers of libraries that are too large for every machine (built
 * by scripts/build-targets). Nothing of theirs is leaked.
 */
#include <unistd.h>

#include "tests/cli/summary.h"
#include "tests/support/targets.h"

#define TARGETS HI_SOURCE_DIR "/build/targets/"

/* "T COUNT TYPE" */
static void check_count(const char *line, void *doc)
{
	long long count, seen;
	char type[200];

	if (line[0] != 'T')
		return;
	HI_ASSERT_EQ(2, sscanf(line, "T %lld %199[^\n]", &count, type));
	seen = count_of_type(doc, type);
	HI_ASSERT_MSG(seen == count, "%s: there are %lld, %lld are seen", type, count,
		      seen);
}

/* share: percent of the live bytes that have a type, exactly or inferred. */
static void check_program(const char *path, unsigned share)
{
	struct target *t = target_start(path, NULL);
	json_t *doc = summary_with(t->fx->pid, NULL);
	long long typed, all;

	target_said(t, "T");
	target_each_line(t, check_count, doc);
	HI_ASSERT_EQ(0, doc_number(doc, "leaks.objects"));
	typed = doc_number(doc, "typed.exact") + doc_number(doc, "typed.inferred");
	all = doc_number(doc, "ledger.live");
	HI_ASSERT_MSG(typed * 100 >= all * share, "%lld of %lld bytes have a type", typed,
		      all);
}

static void check_library(const char *path, unsigned share)
{
	if (access(path, X_OK) != 0)
		HI_SKIP("not built: run scripts/build-targets build/targets rust absl "
			"protobuf qt5");
	check_program(path, share);
}

HI_TEST_SCENARIO(record_shapes, outer_records_are_found_by_their_members)
{
	check_program("record_shapes", 95);
}

HI_TEST_SCENARIO(record_shapes, closures_and_coroutines_have_types)
{
	check_program("closures", 40); /* half of it is libstdc++'s reserve */
}

HI_TEST_SLOW(library_targets, rust)
{
	check_library(TARGETS "libraries/rust", 95);
}

HI_TEST_SLOW(library_targets, abseil_and_boost)
{
	check_library(TARGETS "libraries/absl", 70); /* 71 KiB are libstdc++'s reserve */
}

HI_TEST_SLOW(library_targets, protobuf)
{
	check_library(TARGETS "libraries/protobuf", 80);
}

HI_TEST_SLOW(library_targets, qt5)
{
	check_library(TARGETS "libraries/qt5", 70);
}
