/* SPDX-License-Identifier: BSD-2-Clause */
/* `deep` of a recorded process: fixtures/deep_stacks.c has the stacks of the worked
 * example of SPEC section 5, whose figures are the truth. */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/recording_run.h"
#include "tests/support/schema.h"
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

static void free_deep_document(void *doc)
{
	json_decref(doc);
}

static json_t *ask_deep(const char *first, const char *second, const char *third,
			const char *fourth)
{
	struct hi_command *c =
		hi_heapinspect("deep", "--json", first, second, third, fourth);
	json_error_t error;
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	doc = json_loads(c->out, 0, &error);
	HI_ASSERT_MSG(doc, "%s", error.text);
	hi_test_defer(free_deep_document, doc);
	hi_check_schema(c, "deep.v1.json");
	return doc;
}

static json_t *find_deep_table(json_t *doc, const char *key)
{
	json_t *table;
	size_t i;

	json_array_foreach(json_object_get(doc, "tables"), i, table)
	{
		const char *found = json_string_value(json_object_get(table, "key"));

		if (found && strcmp(found, key) == 0)
			return json_object_get(table, "rows");
	}
	HI_ASSERT_MSG(false, "table %s is missing", key);
	return NULL;
}

/* The row of a function, which has its module behind it. */
static json_t *find_deep_row(json_t *rows, const char *function)
{
	json_t *row;
	size_t i, n = strlen(function);

	json_array_foreach(rows, i, row)
	{
		const char *name = json_string_value(json_object_get(row, "function"));

		if (name && strncmp(name, function, n) == 0 &&
		    (!name[n] || name[n] == ' '))
			return row;
	}
	HI_ASSERT_MSG(false, "%s is missing", function);
	return NULL;
}

static long long deep_number(json_t *row, const char *key)
{
	HI_ASSERT_MSG(json_is_integer(json_object_get(row, key)), "%s is no number", key);
	return json_integer_value(json_object_get(row, key));
}

HI_TEST_ROOT(deep, functions_have_the_figures_of_the_worked_example)
{
	static const struct {
		const char *name;
		long long self, total;
	} wanted[] = {{"work", 7, 757},
		      {"parse", 190, 190},
		      {"expr", 60, 60},
		      {"load", 500, 530}};
	json_t *doc = ask_deep(record_deep_stacks("app", false),
			       "top_procs/1-20/bytes/both/oa", NULL, NULL);
	json_t *rows = find_deep_table(doc, "functions");

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		json_t *row = find_deep_row(rows, wanted[i].name);

		HI_ASSERT_EQ(wanted[i].self, deep_number(row, "own_bytes"));
		HI_ASSERT_EQ(wanted[i].total, deep_number(row, "total_bytes"));
	}
}

/* The second process has freed what load() allocated. */
HI_TEST_ROOT(deep, a_difference_is_what_was_freed)
{
	const char *before = record_deep_stacks("before", false),
		   *after = record_deep_stacks("after", true);
	json_t *doc = ask_deep("diff", before, after, "menu&order=live_bytes"), *rows;

	rows = find_deep_table(doc, "functions");
	HI_ASSERT_EQ(-500, deep_number(find_deep_row(rows, "load"), "delta"));
	HI_ASSERT_EQ(0, deep_number(find_deep_row(rows, "expr"), "delta"));
	HI_ASSERT_EQ(0, json_integer_value(
				json_object_get(find_deep_row(rows, "load"), "after")));
	doc = ask_deep("merge", before, after, "top_procs/1-20/bytes/both/oa");
	HI_ASSERT_EQ(2 * 757,
		     deep_number(find_deep_row(find_deep_table(doc, "functions"), "work"),
				 "total_bytes"));
}

HI_TEST_ROOT(deep, check_makes_all_pages)
{
	const char *file = record_deep_stacks("app", false);
	struct hi_command *c = hi_heapinspect("deep", "check", file);
	json_t *doc = ask_deep("check", file, NULL, NULL);

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->out);
	HI_ASSERT_EQ(0, json_array_size(find_deep_table(doc, "errors")));
}

HI_TEST_ROOT(deep, data_of_mercury_have_the_same_words)
{
	const char *file = record_deep_stacks("app", false);
	char data[256];
	struct hi_command *c;
	json_t *doc;

	snprintf(data, sizeof(data), "%s/Deep.data", workshop_open());
	c = hi_heapinspect("deep", file, "--format", "mercury", "-o", data);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	doc = ask_deep(data, "top_procs/1-20/allocs/both/oa", NULL, NULL);
	HI_ASSERT_EQ(27,
		     deep_number(find_deep_row(find_deep_table(doc, "functions"), "work"),
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

HI_TEST_ROOT(deep, wrong_queries_are_explained)
{
	const char *file = record_deep_stacks("app", false);
	struct hi_command *c = hi_heapinspect("deep", file, "procs/1");

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT(strstr(c->err, "top_procs"));
	c = hi_heapinspect("deep", file, "clique/99");
	HI_ASSERT(c->exit_code != 0);
	HI_ASSERT(strstr(c->err, "99"));
	c = hi_heapinspect("deep", file, "--format", "svg");
	HI_ASSERT_EQ(2, c->exit_code);
}
