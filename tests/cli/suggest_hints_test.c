/* SPDX-License-Identifier: BSD-2-Clause */
/* `census --suggest-hints`, on fixtures/tagged_unions.c. */
#include <stdlib.h>
#include <string.h>

#include "tests/cli/summary.h"
#include "tests/support/fixture.h"
#include "tests/support/snapshots.h"

enum { OF_EACH = 30, NODES_OF_EACH = 15 };

static char pid_text[16];

static void start_unions(void)
{
	struct hi_fixture *fx = hi_fixture_start("tagged_unions", NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	snprintf(pid_text, sizeof(pid_text), "%d", (int)fx->pid);
}

static json_t *census_with(const char *option, const char *value)
{
	struct hi_command *c = hi_heapinspect("census", "--json", "--all", "--pid",
					      pid_text, option, value);
	json_t *doc;

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	doc = json_loads(c->out, 0, NULL);
	HI_ASSERT(doc);
	hi_test_defer(free_json, doc);
	return doc;
}

static long long count_of(json_t *doc, const char *type)
{
	json_t *rows = json_object_get(doc, "rows");

	for (size_t i = 0; i < json_array_size(rows); i++) {
		json_t *row = json_array_get(rows, i);
		const char *name = json_string_value(json_object_get(row, "type"));

		if (name && strcmp(name, type) == 0)
			return json_integer_value(json_object_get(row, "count"));
	}
	return 0;
}

static const char *suggest_to(const char *directory)
{
	const char *file = snapshot_path(directory, "x.hints");
	struct hi_command *c = hi_heapinspect("census", "--suggest-hints", "-o", file,
					      "--pid", pid_text);

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	return file;
}

HI_TEST_SCENARIO(suggest_hints, a_tagged_union_gets_its_types)
{
	const char *file;
	json_t *doc;

	start_unions();
	file = suggest_to(snapshot_directory());
	doc = census_with(NULL, NULL);
	HI_ASSERT_EQ(0, count_of(doc, "struct list"));
	doc = census_with("--hints", file);
	HI_ASSERT_EQ(OF_EACH, count_of(doc, "struct list"));
	HI_ASSERT_EQ(OF_EACH, count_of(doc, "string"));
	HI_ASSERT_EQ(0, json_array_size(json_object_get(doc, "warnings")));
}

static void check_line(const char *text, const char *line)
{
	HI_ASSERT_MSG(strstr(text, line), "no \"%s\" in:\n%s", line, text);
}

HI_TEST_SCENARIO(suggest_hints, what_fits_is_counted_and_what_does_not_is_left_out)
{
	struct hi_command *c;

	start_unions();
	c = hi_heapinspect("census", "--suggest-hints", "--pid", pid_text);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	check_line(c->out, "  as.string switch kind {\n");
	check_line(c->out, "    VALUE_NUMBER: scalar; # 30 fit, 0 do not\n");
	check_line(c->out, "    VALUE_STR: blob string; # 30 fit, 0 do not\n");
	check_line(c->out, "    VALUE_LIST: list; # 30 fit, 0 do not\n");
	check_line(c->out, "    VALUE_BLOB: any; # 30 fit, 0 do not\n");
	check_line(c->out, "    # VALUE_OTHER: no member of one word has such a name\n");
	/* Their sizes are those of the other. */
	check_line(c->out, "    # NODE_LEAF: pair; # 0 fit, 15 do not\n");
	check_line(c->out, "    # NODE_PAIR: leaf; # 0 fit, 15 do not\n");
	check_line(c->out, "\n# record node {\n");
	HI_ASSERT_MSG(!strstr(c->out, "record plain {\n"), "%s", c->out);
	/* The page has them too. */
	c = hi_heapinspect("census", "--untyped", "--pid", pid_text);
	check_line(c->out, "VALUE_LIST: list; # 30 fit, 0 do not");
}

HI_TEST_SCENARIO(suggest_hints, a_file_has_not_what_they_need)
{
	const char *file = snapshot_path(snapshot_directory(), "a.hisnap");
	struct hi_command *c;

	start_unions();
	c = hi_heapinspect("snap", "-o", file, "--pid", pid_text);
	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	c = hi_heapinspect("census", "--suggest-hints", file);
	HI_ASSERT_EQ(2, c->exit_code);
	check_line(c->err, "--suggest-hints: not with a snapshot file");
	c = hi_heapinspect("census", "--suggest-hints", "--json", "--pid", pid_text);
	HI_ASSERT_EQ(2, c->exit_code);
	check_line(c->err, "--suggest-hints and --json");
}
