/* SPDX-License-Identifier: BSD-2-Clause */
/* What looks like a chunk, a caller or a name that it is not. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"

static void free_json(void *json)
{
	json_decref(json);
}

static json_t *summary_of(const char *fixture)
{
	struct hi_fixture *fx = hi_fixture_start(fixture, NULL);
	struct hi_command *c;
	char pid[16];
	json_t *doc;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", (int)fx->pid);
	c = hi_heapinspect("--json", "--all", "--pid", pid);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	doc = json_loads(c->out, 0, NULL);
	HI_ASSERT(doc);
	hi_test_defer(free_json, doc);
	return doc;
}

static long long number(json_t *doc, const char *object, const char *key)
{
	json_t *value = json_object_get(json_object_get(doc, object), key);

	HI_ASSERT_MSG(json_is_integer(value), "no %s.%s", object, key);
	return json_integer_value(value);
}

HI_TEST_SCENARIO(looks, a_page_that_begins_like_a_chunk_is_none)
{
	json_t *doc = summary_of("looks_like");

	HI_ASSERT_EQ(0, number(doc, "allocator", "damaged"));
	HI_ASSERT_EQ(0, number(doc, "leaks", "bytes"));
}

HI_TEST_SCENARIO(looks, a_stale_word_on_the_stack_is_no_call_out_of_malloc)
{
	json_t *doc = summary_of("looks_like");

	HI_ASSERT_EQ(0, number(doc, "snapshot", "threads_in_allocator"));
}

HI_TEST_SCENARIO(looks,
		 a_cxx_variable_that_only_a_symbol_names_has_its_name_of_the_source)
{
	json_t *doc = summary_of("symbols_only"), *row;
	bool found = false;
	size_t i;

	json_array_foreach(json_object_get(doc, "roots"), i, row) found |=
		strcmp(json_string_value(json_object_get(row, "name")),
		       "app::the_registry") == 0;
	HI_ASSERT(found);
}

HI_TEST_SCENARIO(looks, what_lies_behind_the_first_member_of_a_record_is_not_leaked)
{
	json_t *doc = summary_of("first_member");

	HI_ASSERT(number(doc, "objects", "live") >= 100);
	HI_ASSERT_EQ(0, number(doc, "leaks", "objects"));
}
