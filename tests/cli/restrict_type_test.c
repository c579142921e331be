/* SPDX-License-Identifier: BSD-2-Clause */
/* What `roots`, `retainers` and `explain` take of names: of types, of variables. On
 * fixtures/leaky_service.c. */
#include <stdlib.h>
#include <string.h>

#include "tests/cli/summary.h"
#include "tests/support/fixture.h"
#include "tests/support/json.h"
#include "tests/support/snapshots.h"

/* Chunks of 40 bytes for a record, and of 8 for the size: sessions 50, entries 30. */
enum { SESSIONS = 50, ENTRIES = 30, SESSION = 48, ENTRY = 48 };

static char pid_text[16];

static void start_service(void)
{
	struct hi_fixture *fx = hi_fixture_start("leaky_service", "50", "30", NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid_text, sizeof(pid_text), "%d", (int)fx->pid);
}

static json_t *parse_output(struct hi_command *c)
{
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	doc = json_loads(c->out, 0, NULL);
	HI_ASSERT_MSG(doc, "%s", c->out);
	hi_test_defer(free_json, doc);
	return doc;
}

static json_t *row_at(json_t *doc, size_t i)
{
	return json_array_get(json_object_get(doc, "rows"), i);
}

static long long value_of(json_t *row, const char *key)
{
	return json_integer_value(json_object_get(row, key));
}

HI_TEST_SCENARIO(restrict_type, retainers_count_objects_of_the_type_alone)
{
	json_t *doc, *only;

	start_service();
	doc = parse_output(hi_heapinspect("retainers", "--json", "--type", "session",
					  "--pid", pid_text));
	HI_ASSERT_EQ(1, json_array_size(json_object_get(doc, "rows")));
	HI_ASSERT_EQ(SESSIONS, value_of(row_at(doc, 0), "objects"));
	HI_ASSERT_EQ(SESSIONS * SESSION, value_of(row_at(doc, 0), "bytes"));
	only = json_object_get(doc, "only");
	HI_ASSERT_STREQ("session", json_string_value(json_object_get(only, "type")));
	HI_ASSERT_EQ(SESSIONS * SESSION, value_of(only, "bytes"));
	/* With what is hidden it is the whole heap. */
	doc = parse_output(hi_heapinspect("census", "--json", "--pid", pid_text));
	HI_ASSERT_EQ(doc_number(doc, "live.bytes"),
		     value_of(only, "bytes") + value_of(only, "hidden_bytes"));
}

HI_TEST_SCENARIO(restrict_type, bins_count_objects_of_the_type_alone)
{
	json_t *doc;
	long long all = 0;

	start_service();
	doc = parse_output(hi_heapinspect(
		"roots", "--json", "--root", "s=sessions", "--root", "pages=page_cache",
		"--type", "struct session,struct cache_entry", "--pid", pid_text));
	HI_ASSERT_EQ(SESSIONS * SESSION, value_of(row_at(doc, 0), "bytes"));
	HI_ASSERT_EQ(SESSIONS, value_of(row_at(doc, 0), "objects"));
	HI_ASSERT_EQ(ENTRIES * ENTRY, value_of(row_at(doc, 1), "bytes"));
	for (size_t i = 0; i < json_array_size(json_object_get(doc, "rows")); i++)
		all += value_of(row_at(doc, i), "bytes");
	HI_ASSERT_EQ(SESSIONS * SESSION + ENTRIES * ENTRY, all);
	/* Those of no root are in NOROOT. */
	doc = parse_output(hi_heapinspect("roots", "--json", "--root", "s=sessions",
					  "--type", "struct cache_entry", "--pid",
					  pid_text));
	all = 0;
	for (size_t i = 0; i < json_array_size(json_object_get(doc, "rows")); i++)
		if (value_of(row_at(doc, i), "bytes"))
			HI_ASSERT_EQ(ENTRIES * ENTRY,
				     all = value_of(row_at(doc, i), "bytes"));
	HI_ASSERT_EQ(ENTRIES * ENTRY, all);
}

HI_TEST_SCENARIO(restrict_type, small_rows_are_hidden_and_counted)
{
	static const char *const commands[] = {"retainers", "roots"};

	start_service();
	for (size_t i = 0; i < 2; i++) {
		struct hi_command *c =
			hi_heapinspect(commands[i], "--root", "s=sessions", "--type",
				       "struct session", "--min-size", "1MiB", "--pid",
				       pid_text, i ? NULL : "--under", "s", NULL);

		HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
		HI_ASSERT_MSG(strstr(c->out, "1 row with 2.3 KiB hidden by --min-size"),
			      "%s", c->out);
	}
}

HI_TEST_SCENARIO(restrict_type, a_type_that_nothing_has_is_an_error_with_near_names)
{
	static const char *const commands[] = {"retainers", "roots"};

	start_service();
	for (size_t i = 0; i < 2; i++) {
		struct hi_command *c =
			hi_heapinspect(commands[i], "--type", "struct sesion", "--pid",
				       pid_text, i ? "--root" : NULL, "s=sessions");

		HI_ASSERT_EQ(2, c->exit_code);
		HI_ASSERT_MSG(strstr(c->err, "struct session"), "%s", c->err);
	}
}

HI_TEST_SCENARIO(restrict_type, a_variable_that_is_not_there_has_near_names)
{
	const char *file = snapshot_path(snapshot_directory(), "a.hisnap");
	struct hi_command *c;

	start_service();
	c = hi_heapinspect("roots", "--root", "s=sesions->buckets", "--pid", pid_text);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "'sesions'; near it: 'sessions'"), "%s", c->err);
	c = hi_heapinspect("explain", "page_cahce", "--pid", pid_text);
	HI_ASSERT_MSG(strstr(c->err, "near it: 'page_cache'"), "%s", c->err);
	c = hi_heapinspect("roots", "--root", "s=nothing_like_it", "--pid", pid_text);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(!strstr(c->err, "near it"), "%s", c->err);
	c = hi_heapinspect("snap", "-o", file, "--pid", pid_text);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	c = hi_heapinspect("roots", "--root", "s=sesions->buckets", file);
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "near it: sessions"), "%s", c->err);
}
