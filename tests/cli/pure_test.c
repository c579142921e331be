/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes of sets: pure ones have one meaning wherever they are told, and a series says
 * what a restriction hides. fixtures/shared_environment.c has the pure sums 80, 48, 72,
 * 32 that its authors drew; in the heap r6 of profile_heaps.c, o is in MANY.
 */
#include <signal.h>
#include <stdlib.h>

#include "tests/cli/summary.h"
#include "tests/support/fixture.h"
#include "tests/support/schema.h"
#include "tests/support/snapshots.h"

static char pid[16];
static long long cost_of_o;

static void keep_o(const char *line, void *arg)
{
	char name[16];
	long long cost;

	(void)arg;
	if (sscanf(line, "cost %15s %lld", name, &cost) == 2 && strcmp(name, "o") == 0)
		cost_of_o = cost;
}

/* heap NULL: the environment. */
static void start(const char *heap)
{
	struct hi_fixture *fx = hi_fixture_start(
		heap ? "profile_heaps" : "shared_environment", heap, NULL);

	hi_fixture_read_until(fx, "ready", keep_o, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
}

static json_t *parse(const struct hi_command *c)
{
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	doc = json_loads(c->out, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, NULL);
	HI_ASSERT_MSG(doc, "no JSON: %.300s", c->out);
	hi_test_defer(free_json, doc);
	return doc;
}

static const char *const labels[] = {"hsc", "hsc-eps", "hsc-fc", "hsc-eps-fc"};
static const long long truth[] = {80, 48, 72, 32};
static char roots[3][24] = {"--root=hsc=hsc", "--root=eps=eps", "--root=fc=fc"};

/* Rows of which key is the label: their member is the truth, n of them. */
static void check_rows(json_t *doc, const char *key, const char *member, int n)
{
	json_t *row;
	size_t i;
	int found = 0;

	json_array_foreach(json_object_get(doc, "rows"), i, row)
	{
		for (size_t k = 0; k < 4; k++) {
			if (strcmp(labels[k],
				   json_string_value(json_object_get(row, key))) != 0)
				continue;
			HI_ASSERT_EQ(truth[k],
				     json_integer_value(json_object_get(row, member)));
			found++;
		}
	}
	HI_ASSERT_EQ(n, found);
}

HI_TEST_SCENARIO(pure, bins_have_the_sums_of_the_paper)
{
	const char *file = snapshot_path(snapshot_directory(), "o1.hisnap");
	struct hi_command *c;

	start(NULL);
	check_rows(parse(hi_heapinspect("roots", "--pid", pid, roots[0], roots[1],
					roots[2], "--json")),
		   "bin", "pure", 4);
	check_rows(parse(hi_heapinspect("roots", "--pid", pid, roots[0], roots[1],
					roots[2], "--under=eps", "--json")),
		   "bin", "pure", 2);
	c = hi_heapinspect("snap", "-q", "--pid", pid, "-o", file);
	HI_ASSERT_EQ(0, c->exit_code);
	check_rows(parse(hi_heapinspect("roots", file, roots[0], roots[1], roots[2],
					"--json")),
		   "bin", "pure", 4);
	c = hi_heapinspect("query", file, "-q", "-f", "csv", roots[0], roots[1], roots[2],
			   "SELECT pure FROM bins WHERE id IS NOT NULL ORDER BY pure");
	HI_ASSERT_STREQ("pure\n32\n48\n72\n80\n", c->out);
	c = hi_heapinspect("roots", "--pid", pid, roots[0], roots[1], roots[2], "--pure");
	HI_ASSERT_MSG(strstr(c->out, "pure bytes"), "%s", c->out);
}

HI_TEST_SCENARIO(pure, a_restriction_changes_nothing_of_it)
{
	json_t *doc, *row;
	long long sum = 0;
	size_t i;

	start(NULL);
	doc = parse(hi_heapinspect("retainers", "--pid", pid, "--json", roots[0],
				   "--under=hsc"));
	json_array_foreach(json_object_get(doc, "rows"), i, row) sum +=
		json_integer_value(json_object_get(row, "pure"));
	HI_ASSERT_EQ(80 + 48 + 72 + 32, sum);
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

HI_TEST_SCENARIO(pure, a_heap_profile_has_them)
{
	const char *hp = snapshot_path(snapshot_directory(), "o1.hp");
	struct hi_command *c;

	start(NULL);
	c = hi_heapinspect("roots", "--pid", pid, roots[0], roots[1], roots[2], "--pure",
			   "--json", "--every=50ms", "--for=20ms", "--hp", hp);
	check_rows(parse(c), "name", "bytes", 4);
	check_has(read_file(hp), "\nhsc\t80\n");
	check_has(read_file(hp), "\nhsc-eps\t48\n");
	check_has(read_file(hp), "pure bytes");
}

/* ---- what a series says ---- */

HI_TEST_SCENARIO(pure, a_series_says_what_many_hides)
{
	char *in = snapshot_directory();
	const char *hp = snapshot_path(in, "r6.hp"), *key = snapshot_path(in, "r6.prof");
	char text[80];
	struct hi_command *c;
	json_t *only;

	start("r6");
	c = hi_heapinspect("census", "--pid", pid, "--max-set=2", "--retained-by=a",
			   "--json", "--every=50ms", "--for=20ms", "--hp", hp);
	only = json_object_get(parse(c), "only");
	HI_ASSERT_EQ(cost_of_o, json_integer_value(json_object_get(only, "many_bytes")));
	HI_ASSERT_EQ(cost_of_o,
		     json_integer_value(json_object_get(only, "hidden_bytes")));
	snprintf(text, sizeof(text), "\n(hidden,MANY)\t%lld\n", cost_of_o);
	check_has(read_file(hp), text);
	snprintf(text, sizeof(text), "%lld bytes, of these in MANY: %lld", cost_of_o,
		 cost_of_o);
	check_has(read_file(key), text);
	c = hi_heapinspect("census", "--pid", pid, "--max-set=2", "--retained-by=a",
			   "--every=50ms", "--for=20ms");
	check_has(c->out, "; hidden: ");
	check_has(c->out, "in MANY");
}

HI_TEST_SCENARIO(pure, the_axis_of_censuses_counts_from_the_first)
{
	const char *hp = snapshot_path(snapshot_directory(), "axis.hp");
	struct hi_fixture *series;
	char line[4096];

	start("r6");
	series = hi_fixture_start(HI_BINARY_DIR "/heapinspect", "census", "--every=10ms",
				  "--time=census", "--hp", hp, "--pid", pid, NULL);
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
