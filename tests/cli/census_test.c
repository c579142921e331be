/* SPDX-License-Identifier: BSD-2-Clause */
/* `census` and its break-downs on a running service, against what the service
 * says of itself. */
#include <jansson.h>
#include <stdio.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"

/* fixtures/leaky_service.c, with these arguments. */
enum { SESSIONS = 3000, PAGES = 200 };

static char pid_text[16];

static const char *start_service(void)
{
	struct hi_fixture *fx = hi_fixture_start("leaky_service", "3000", "200", NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid_text, sizeof(pid_text), "%d", (int)fx->pid);
	return pid_text;
}

static void free_json(void *json)
{
	json_decref(json);
}

static json_t *parse(const struct hi_command *c)
{
	json_error_t error;
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	doc = json_loads(c->out, JSON_REJECT_DUPLICATES, &error);
	HI_ASSERT_MSG(doc != NULL, "%s in %s", error.text, c->out);
	hi_test_defer(free_json, doc);
	return doc;
}

static long long number_of(const json_t *object, const char *key)
{
	json_t *number = json_object_get(object, key);

	HI_ASSERT_MSG(json_is_integer(number), "no number %s", key);
	return json_integer_value(number);
}

static long long sum_of(json_t *rows, const char *key)
{
	long long sum = 0;

	for (size_t i = 0; i < json_array_size(rows); i++)
		sum += number_of(json_array_get(rows, i), key);
	return sum;
}

/* The first row whose `key` is value. */
static json_t *row_with(json_t *rows, const char *key, const char *value)
{
	for (size_t i = 0; i < json_array_size(rows); i++) {
		json_t *row = json_array_get(rows, i);
		const char *text = json_string_value(json_object_get(row, key));

		if (text && strcmp(text, value) == 0)
			return row;
	}
	hi_test_fail(__FILE__, __LINE__, "no row with %s = %s", key, value);
}

HI_TEST_SCENARIO(census, every_break_down_adds_up_to_the_live_heap)
{
	static const char *const by[] = {"type", "type2", "module", "class"};
	const char *pid = start_service();

	for (unsigned i = 0; i < 4; i++) {
		json_t *doc = parse(hi_heapinspect("census", "--by", by[i], "--pid", pid,
						   "--json", "--all"));
		json_t *live = json_object_get(doc, "live");
		json_t *rows = json_object_get(doc, "rows");

		HI_ASSERT_STREQ(by[i], json_string_value(json_object_get(doc, "by")));
		HI_ASSERT_EQ(number_of(live, "bytes"), sum_of(rows, "shallow"));
		HI_ASSERT_EQ(number_of(live, "objects"), sum_of(rows, "count"));
	}
}

HI_TEST_SCENARIO(census, children_tell_one_use_of_a_type_from_another)
{
	const char *pid = start_service();
	json_t *doc = parse(hi_heapinspect("census", "--by", "type2", "--type",
					   "struct session", "--pid", pid, "--json"));
	json_t *rows = json_object_get(doc, "rows");
	bool to_itself = false;

	/* Chains of a hash table: some lead to the next one, the last of each not. */
	HI_ASSERT_EQ(SESSIONS, sum_of(rows, "count"));
	HI_ASSERT_MSG(json_array_size(rows) >= 2, "%zu rows", json_array_size(rows));
	for (size_t i = 0; i < json_array_size(rows); i++) {
		json_t *children = json_object_get(json_array_get(rows, i), "children");

		for (size_t k = 0; k < json_array_size(children); k++)
			to_itself |=
				strcmp(json_string_value(json_array_get(children, k)),
				       "struct session") == 0;
	}
	HI_ASSERT(to_itself);
	/* What --type hides is told, in types and bytes. */
	HI_ASSERT(number_of(json_object_get(json_object_get(doc, "hidden"), "by_type"),
			    "bytes") > 0);
	HI_ASSERT(strstr(hi_heapinspect("census", "--by", "type2", "--type", "session",
					"--pid", pid, "-q")
				 ->out,
			 " hidden by --type") != NULL);
}

HI_TEST_SCENARIO(census, structs_of_the_program_are_its_records)
{
	const char *pid = start_service();
	json_t *modules = json_object_get(
		parse(hi_heapinspect("census", "--by", "module", "--type",
				     "struct session", "--pid", pid, "--json")),
		"rows");
	json_t *classes = json_object_get(
		parse(hi_heapinspect("census", "--by", "class", "--type",
				     "struct session", "--pid", pid, "--json")),
		"rows");

	HI_ASSERT_EQ(1, json_array_size(modules));
	HI_ASSERT_EQ(SESSIONS,
		     number_of(row_with(modules, "module", "leaky_service"), "count"));
	HI_ASSERT_EQ(1, json_array_size(classes));
	HI_ASSERT_EQ(SESSIONS, number_of(row_with(classes, "class", "record"), "count"));
	/* One is held by nobody else of them: what they retain includes their own. */
	HI_ASSERT(number_of(json_array_get(classes, 0), "retained") >=
		  number_of(json_array_get(classes, 0), "shallow"));
}
