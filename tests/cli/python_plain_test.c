/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of all layouts (fixtures/python/plain.py): their types, and what `explain` says
 * of one, by its id(). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/python.h"
#include "tests/support/snapshots.h"

static long long count_of(json_t *census, const char *type)
{
	json_t *row = python_row(json_object_get(census, "rows"), "type", type);

	return row ? python_number(row, "count") : 0;
}

static const char *line_of(const struct python *p, const char *key, const char *name)
{
	char begin[64];

	snprintf(begin, sizeof(begin), "%s %s ", key, name);
	for (size_t i = 0; i < p->n_lines; i++)
		if (strncmp(p->lines[i], begin, strlen(begin)) == 0)
			return p->lines[i] + strlen(begin);
	hi_test_fail(__FILE__, __LINE__, "it says nothing of %s", begin);
}

HI_TEST_SCENARIO(python_plain, strings_and_times_of_all_layouts_have_their_types)
{
	static const char *const types[] = {"str", "datetime.time", "datetime.datetime",
					    "datetime.date"};
	struct python *p = python_start(NULL, "plain", NULL, NULL);
	json_t *census = python_ask(p, PYTHON_WORDS("census", "--all"));
	long long data = count_of(census, "str data");

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		HI_ASSERT_MSG(count_of(census, types[i]) >=
				      atoll(line_of(p, "count", types[i])),
			      "%lld %s", count_of(census, types[i]), types[i]);
	/* Some names of the library have UTF-8 as well. */
	HI_ASSERT_MSG(data >= atoll(python_said(p, "data", 0)) && data < 2 * 300, "%lld",
		      data);
	HI_ASSERT_EQ(0, python_number(python_ask(p, PYTHON_WORDS("audit")), "excess"));
}

static void check_object(const struct python *p, const char *kind, const char *type,
			 const char *name, const char *value)
{
	unsigned long long id, refs;
	char address[32];
	json_t *row;

	HI_ASSERT(sscanf(line_of(p, "object", kind), "%llx %llu", &id, &refs) == 2);
	snprintf(address, sizeof(address), "%#llx", id);
	row = json_array_get(
		json_object_get(python_ask(p, PYTHON_WORDS("explain", address)), "rows"),
		0);
	HI_ASSERT_STREQ(type, python_text(row, "type"));
	HI_ASSERT_STREQ(address, python_text(row, "id"));
	HI_ASSERT_EQ(refs, python_number(row, "counted"));
	HI_ASSERT_STREQ(name, python_text(row, "name"));
	HI_ASSERT_STREQ(value, python_text(row, "value"));
}

HI_TEST_SCENARIO(python_plain, an_object_is_explained_by_its_id)
{
	struct python *p = python_start(NULL, "plain", NULL, NULL);
	struct hi_command *c;
	char text[32];

	check_object(p, "str", "str", "", "\"message \U0001F600 17\"");
	check_object(p, "list", "list", "", "3000 items");
	check_object(p, "float", "float", "", "2.5");
	check_object(p, "instance", "__main__.Thing", "", "");
	check_object(p, "function", "function", "__main__.Thing.method", "");
	check_object(p, "class", "type", "__main__.Thing", "");
	check_object(p, "coroutine", "coroutine", "coroutine", "");
	check_object(p, "dict", "dict", "", "11 items");
	snprintf(text, sizeof(text), "%.14s", line_of(p, "object", "function"));
	c = hi_heapinspect("explain", text, "--pid", p->pid);
	HI_ASSERT_MSG(strstr(c->out, "id()") && strstr(c->out, text), "%s", c->out);
}

/* By its id() there is the object, live and in a file, and by its block as well. */
static void check_addresses(const struct python *p, const char *file, const char *kind,
			    const char *type)
{
	char address[32], sql[120], block[32];
	struct hi_command *c;
	json_t *row, *doc;

	snprintf(address, sizeof(address), "%s", line_of(p, "object", kind));
	address[strcspn(address, " ")] = 0;
	snprintf(sql, sizeof(sql), "SELECT type, block FROM objects WHERE address = %lld",
		 strtoll(address, NULL, 16));
	doc = python_ask_file(file, PYTHON_WORDS("query", "-q", sql));
	row = json_array_get(json_object_get(doc, "rows"), 0);
	HI_ASSERT_MSG(row, "%s: no object at %s", kind, address);
	HI_ASSERT_STREQ(type, python_text(row, "type"));
	snprintf(block, sizeof(block), "%s", python_text(row, "block"));
	HI_ASSERT(strtoull(block, NULL, 16) <= strtoull(address, NULL, 16));
	for (int stored = 0; stored < 2; stored++) {
		const char *const words[] = {"explain", block, NULL};

		doc = stored ? python_ask_file(file, words) : python_ask(p, words);
		row = json_array_get(json_object_get(doc, "rows"), 0);
		HI_ASSERT_STREQ(address, python_text(row, "address"));
		HI_ASSERT_EQ(0, python_number(row, "offset"));
		HI_ASSERT_STREQ(block, python_text(row, "block"));
	}
	c = hi_heapinspect("paths", address, file, "-k", "1", "--json");
	HI_ASSERT_MSG(strstr(c->out, address), "%s: %.1200s", kind, c->out);
}

HI_TEST_SCENARIO(python_plain, addresses_are_those_that_id_gives)
{
	struct python *p = python_start(NULL, "plain", NULL, NULL);
	const char *file = snapshot_path(snapshot_directory(), "plain.hisnap");

	HI_ASSERT_EQ(
		0, hi_heapinspect("snap", "--pid", p->pid, "-q", "-o", file)->exit_code);
	check_addresses(p, file, "str", "str");
	check_addresses(p, file, "list", "list");
	check_addresses(p, file, "float", "float");
	check_addresses(p, file, "instance", "__main__.Thing");
	check_addresses(p, file, "function", "function");
	check_addresses(p, file, "class", "type");
	check_addresses(p, file, "coroutine", "coroutine");
	check_addresses(p, file, "dict", "dict");
}

/* Inline caches have borrowed references among their words. */
HI_TEST_SCENARIO(python_plain, instructions_of_frozen_modules_refer_to_nothing)
{
	struct python *p = python_start(NULL, "stdlib", NULL, NULL);
	struct hi_command *c =
		hi_heapinspect("query", "--pid", p->pid, "--format", "csv",
			       "SELECT sum(label LIKE '%.co_consts'), sum(label LIKE "
			       "'%.co_code_adaptive[%') FROM edges");
	long long of_constants = 0, of_instructions = -1;

	HI_ASSERT_MSG(c->exit_code == 0 && strchr(c->out, '\n'), "%s", c->err);
	(void)sscanf(strchr(c->out, '\n') + 1, "%lld,%lld", &of_constants,
		     &of_instructions);
	HI_ASSERT_MSG(of_constants > 0, "%s", c->out);
	HI_ASSERT_EQ(0, of_instructions);
}
