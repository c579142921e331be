/* SPDX-License-Identifier: BSD-2-Clause */
/* `deep` of a recorded process: fixtures/deep_stacks.c has the stacks of the worked
 * example of SPEC section 5, whose figures are the truth. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/cli/deep_answers.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/recording_run.h"
#include "tests/support/workshop.h"

/* The file is static. */
static const char *record_deep_stacks(const char *name, bool frees)
{
	static char files[4][256];
	static unsigned n;
	char *file = files[n++ % 4];
	struct hi_fixture *fx = hi_fixture_start("deep_stacks", NULL);
	struct recording_run run;
	struct hi_command *c;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(file, sizeof(files[0]), "%s/%s.hirec", workshop_open(), name);
	run = recording_start(fx->pid, "-o", file, NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	if (frees) {
		hi_fixture_tell(fx, "free");
		hi_fixture_read_until(fx, "done", NULL, NULL);
	}
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	return file;
}

/* The row of a function, which has its module behind it. */
static json_t *find_deep_row(json_t *rows, const char *function)
{
	size_t n = strlen(function);
	json_t *row;

	doc_each (row, rows) {
		const char *name = doc_text(row, "function");

		if (strncmp(name, function, n) == 0 && (!name[n] || name[n] == ' '))
			return row;
	}
	hi_test_fail(__FILE__, __LINE__, "%s is missing", function);
}

static void check_functions(const char *file)
{
	static const struct {
		const char *name;
		long long self, total;
	} wanted[] = {{"work", 7, 757},
		      {"parse", 190, 190},
		      {"expr", 60, 60},
		      {"load", 500, 530}};
	json_t *doc = deep_answer(file, "top_procs/1-20/bytes/both/oa");
	json_t *rows = deep_rows(doc, "functions");

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		json_t *row = find_deep_row(rows, wanted[i].name);

		HI_ASSERT_EQ(wanted[i].self, doc_number(row, "own_bytes"));
		HI_ASSERT_EQ(wanted[i].total, doc_number(row, "total_bytes"));
	}
}

/* The second process has freed what load() allocated. */
HI_TEST_ROOT(deep, a_difference_is_what_was_freed)
{
	const char *before = record_deep_stacks("before", false),
		   *after = record_deep_stacks("after", true);
	json_t *doc = deep_answer("diff", before, after, "menu&order=live_bytes"), *rows;

	rows = deep_rows(doc, "functions");
	HI_ASSERT_EQ(-500, doc_number(find_deep_row(rows, "load"), "delta"));
	HI_ASSERT_EQ(0, doc_number(find_deep_row(rows, "expr"), "delta"));
	HI_ASSERT_EQ(0, doc_number(find_deep_row(rows, "load"), "after"));
	doc = deep_answer("merge", before, after, "top_procs/1-20/bytes/both/oa");
	HI_ASSERT_EQ(2 * 757,
		     doc_number(find_deep_row(deep_rows(doc, "functions"), "work"),
				"total_bytes"));
}

static void check_all_pages(const char *file)
{
	struct hi_command *c = hi_heapinspect("deep", "check", file);
	json_t *doc = deep_answer("check", file);

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->out);
	HI_ASSERT_EQ(0, json_array_size(deep_rows(doc, "errors")));
}

static void check_mercury(const char *file)
{
	char data[256];
	struct hi_command *c;
	json_t *doc;

	snprintf(data, sizeof(data), "%s/Deep.data", workshop_open());
	c = hi_heapinspect("deep", file, "--format", "mercury", "-o", data);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	doc = deep_answer(data, "top_procs/1-20/allocs/both/oa");
	HI_ASSERT_EQ(27, doc_number(find_deep_row(deep_rows(doc, "functions"), "work"),
				    "total_allocs"));
}

HI_TEST_SCENARIO(deep, wrong_operands_are_usage_errors)
{
	static const char *const words[][3] = {
		{NULL}, {"menu"}, {"missing.hirec"}, {"/etc/passwd"}, {"diff"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		struct hi_command *c = hi_heapinspect("deep", words[i][0], words[i][1]);

		HI_ASSERT_MSG(c->exit_code == 2, "%zu: exit %d", i, c->exit_code);
	}
}

static void check_wrong_queries(const char *file)
{
	struct hi_command *c = hi_heapinspect("deep", file, "procs/1");

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT(strstr(c->err, "top_procs"));
	c = hi_heapinspect("deep", file, "clique/99");
	HI_ASSERT(c->exit_code != 0);
	HI_ASSERT(strstr(c->err, "99"));
	c = hi_heapinspect("deep", file, "--format", "svg");
	HI_ASSERT_EQ(2, c->exit_code);
}

HI_TEST_ROOT(deep, answers_have_the_figures_of_the_worked_example)
{
	const char *file = record_deep_stacks("app", false);

	check_functions(file);
	check_all_pages(file);
	check_mercury(file);
	check_wrong_queries(file);
}
