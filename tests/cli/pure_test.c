/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes of sets: pure ones have one meaning wherever they are told, and a series says
 * what a restriction hides. fixtures/shared_environment.c has the pure sums 80, 48, 72,
 * 32 that its authors drew; in the heap r6 of profile_heaps.c, o is in MANY.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/snapshots.h"
#include "tests/support/targets.h"

static const char *const labels[] = {"hsc", "hsc-eps", "hsc-fc", "hsc-eps-fc"};
static const long long truth[] = {80, 48, 72, 32};
#define ROOTS "--root=hsc=hsc", "--root=eps=eps", "--root=fc=fc"

/* Rows of which key is the label: their member is the truth, n of them. */
static void check_rows(json_t *doc, const char *key, const char *member, int n)
{
	json_t *row;
	int found = 0;

	doc_each (row, doc_at(doc, "rows")) {
		for (size_t k = 0; k < 4; k++) {
			if (strcmp(labels[k], doc_text(row, "%s", key)) != 0)
				continue;
			HI_ASSERT_EQ(truth[k], doc_number(row, "%s", member));
			found++;
		}
	}
	HI_ASSERT_EQ(n, found);
}

static void check_bins_have_the_sums_of_the_paper(const struct target *t)
{
	const char *file = target_snap(t);
	struct hi_command *c;

	check_rows(target_ask(t, "roots", ROOTS), "bin", "pure", 4);
	check_rows(target_ask(t, "roots", ROOTS, "--under=eps"), "bin", "pure", 2);
	check_rows(doc_of(hi_heapinspect("roots", file, ROOTS, "--json")), "bin", "pure",
		   4);
	c = hi_heapinspect("query", file, "-q", "-f", "csv", ROOTS,
			   "SELECT pure FROM bins WHERE id IS NOT NULL ORDER BY pure");
	HI_ASSERT_STREQ("pure\n32\n48\n72\n80\n", c->out);
	c = target_run(t, "roots", ROOTS, "--pure");
	HI_ASSERT_MSG(strstr(c->out, "pure bytes"), "%s", c->out);
}

static void check_a_restriction_changes_nothing_of_it(const struct target *t)
{
	json_t *doc = target_ask(t, "retainers", "--root=hsc=hsc", "--under=hsc");

	HI_ASSERT_EQ(80 + 48 + 72 + 32, doc_sum(doc_at(doc, "rows"), "pure"));
}

static char *read_file(const char *path)
{
	struct hi_command *c = hi_command_run(0, "cat", path, NULL);

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	return c->out;
}

static void check_has(const char *text, const char *part)
{
	HI_ASSERT_MSG(strstr(text, part), "no \"%s\" in: %.1500s", part, text);
}

static json_t *first_census(const struct hi_command *c)
{
	return json_array_get(doc_lines(c->out), 0);
}

static void check_a_heap_profile_has_them(const struct target *t)
{
	const char *hp = snapshot_path(snapshot_directory(), "o1.hp");
	struct hi_command *c = target_run(t, "roots", ROOTS, "--pure", "--json",
					  "--every=50ms", "--for=20ms", "--hp", hp);

	check_rows(first_census(c), "name", "bytes", 4);
	check_has(read_file(hp), "\nhsc\t80\n");
	check_has(read_file(hp), "\nhsc-eps\t48\n");
	check_has(read_file(hp), "pure bytes");
}

HI_TEST_SCENARIO(pure, bytes_equal_the_sums_of_the_paper)
{
	struct target *t = target_start("shared_environment", NULL);

	check_bins_have_the_sums_of_the_paper(t);
	check_a_restriction_changes_nothing_of_it(t);
	check_a_heap_profile_has_them(t);
}

/* ---- what a series says ---- */

static void check_a_series_says_what_many_hides(const struct target *t)
{
	char *in = snapshot_directory();
	const char *hp = snapshot_path(in, "r6.hp"), *key = snapshot_path(in, "r6.prof");
	long long cost_of_o = target_number(t, "cost o");
	char text[80];
	struct hi_command *c;
	json_t *doc;

	c = target_run(t, "census", "--max-set=2", "--retained-by=a", "--json",
		       "--every=50ms", "--for=20ms", "--hp", hp);
	doc = first_census(c);
	HI_ASSERT_EQ(cost_of_o, doc_number(doc, "only.many_bytes"));
	HI_ASSERT_EQ(cost_of_o, doc_number(doc, "only.hidden_bytes"));
	snprintf(text, sizeof(text), "\n(hidden,MANY)\t%lld\n", cost_of_o);
	check_has(read_file(hp), text);
	snprintf(text, sizeof(text), "%lld bytes, of these in MANY: %lld", cost_of_o,
		 cost_of_o);
	check_has(read_file(key), text);
	c = target_run(t, "census", "--max-set=2", "--retained-by=a", "--every=50ms",
		       "--for=20ms");
	check_has(c->out, "; hidden: ");
	check_has(c->out, "in MANY");
}

static void check_the_axis_of_censuses_counts_from_the_first(const struct target *t)
{
	const char *hp = snapshot_path(snapshot_directory(), "axis.hp");
	struct hi_fixture *series =
		hi_fixture_start(HI_BINARY_DIR "/heapinspect", "census", "--every=10ms",
				 "--time=census", "--hp", hp, "--pid", t->pid, NULL);
	char line[4096];

	for (int i = 0; i < 4; i++) {
		char wanted[24];

		HI_ASSERT(hi_fixture_line(series, line, sizeof(line)));
		snprintf(wanted, sizeof(wanted), "census %d ", i);
		check_has(line, wanted);
	}
	HI_ASSERT_EQ(0, kill(series->pid, SIGTERM));
	while (hi_fixture_line(series, line, sizeof(line)))
		;
	hi_fixture_end(series);
	for (int i = 0; i < 4; i++) {
		snprintf(line, sizeof(line), "BEGIN_SAMPLE %d.000000\n", i);
		check_has(read_file(hp), line);
	}
}

/* R2 of the seeds: {cache} has n1, {indices} n2, and both have s and t. */
HI_TEST_SCENARIO(pure, a_heap_profile_may_have_objects_in_place_of_bytes)
{
	const struct target *t = target_start("profile_heaps", "r2", NULL);
	const char *hp = snapshot_path(snapshot_directory(), "r2.hp");
	const char *text;

	target_run(t, "retainers", "--count", "--every=50ms", "--for=20ms", "--hp", hp);
	text = read_file(hp);
	check_has(text, "VALUE_UNIT \"objects\"");
	check_has(text, ")cache\t1\n");
	check_has(text, ")indices\t1\n");
	check_has(text, ")cache,indices\t2\n");
}

HI_TEST_SCENARIO(pure, a_series_says_what_many_hides_and_counts_from_the_first)
{
	struct target *t = target_start("profile_heaps", "r6", NULL);

	check_a_series_says_what_many_hides(t);
	check_the_axis_of_censuses_counts_from_the_first(t);
}
