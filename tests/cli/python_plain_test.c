/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of all layouts (fixtures/python/plain.py): their types, and what `explain` says
 * of one, by its id(). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/python.h"

static const struct plain_value {
	const char *kind, *type, *name, *value; /* NULL: it has none */
} values[] = {
	{"str", "str", NULL, "\"message \U0001F600 17\""},
	{"list", "list", NULL, "3000 items"},
	{"float", "float", NULL, "2.5"},
	{"instance", "__main__.Thing", NULL, NULL},
	{"function", "function", "__main__.Thing.method", NULL},
	{"class", "type", "__main__.Thing", NULL},
	{"coroutine", "coroutine", "coroutine", NULL},
	{"dict", "dict", NULL, "11 items"},
};
enum { N_VALUES = sizeof(values) / sizeof(values[0]) };

/* It says "object KIND ADDRESS REFERENCES". */
static const char *address_of_kind(const struct target *t, const char *kind)
{
	char key[32];
	char *text;

	snprintf(key, sizeof(key), "object %s", kind);
	text = target_said(t, key);
	text[strcspn(text, " ")] = 0;
	return text;
}

static void
check_strings_and_times_of_all_layouts_have_their_types(const struct target *t)
{
	static const char *const types[] = {"str", "datetime.time", "datetime.datetime",
					    "datetime.date"};
	json_t *census = python_ask(t, "census", "--all");
	long long data = python_count(census, "str data");

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		char key[40];

		snprintf(key, sizeof(key), "count %s", types[i]);
		HI_ASSERT_MSG(python_count(census, types[i]) >= target_number(t, key),
			      "%lld %s", python_count(census, types[i]), types[i]);
	}
	/* Some names of the library have UTF-8 as well. */
	HI_ASSERT_MSG(data >= target_number(t, "data") && data < 2 * 300, "%lld", data);
	HI_ASSERT_EQ(0, doc_number(python_ask(t, "audit"), "excess"));
}

static void check_text(json_t *row, const char *key, const char *text)
{
	if (text)
		HI_ASSERT_STREQ(text, doc_text(row, "%s", key));
	else
		HI_ASSERT(!json_is_string(doc_find(row, "%s", key)));
}

static void check_an_object_is_explained_by_its_id(const struct target *t,
						   const struct plain_value *v)
{
	const char *address = address_of_kind(t, v->kind);
	json_t *row = doc_at(python_ask(t, "explain", address), "rows.0");
	char key[32];

	snprintf(key, sizeof(key), "object %s", v->kind);
	HI_ASSERT_STREQ(v->type, doc_text(row, "type"));
	HI_ASSERT_STREQ(address, doc_text(row, "id"));
	HI_ASSERT_EQ(target_nth(t, key, 1), doc_number(row, "counted"));
	check_text(row, "name", v->name);
	check_text(row, "value", v->value);
}

static void check_explained_block(json_t *doc, const char *address, const char *block)
{
	json_t *row = doc_at(doc, "rows.0");

	HI_ASSERT_STREQ(address, doc_text(row, "address"));
	HI_ASSERT_EQ(0, doc_number(row, "offset"));
	HI_ASSERT_STREQ(block, doc_text(row, "block"));
}

/* By its id() there is the object, live and in a file, and by its block as well. */
static void check_addresses_are_those_that_id_gives(const struct target *t,
						    const char *file,
						    const struct plain_value *v)
{
	const char *address = address_of_kind(t, v->kind), *block;
	struct hi_command *c;
	char sql[120];
	json_t *row;

	snprintf(sql, sizeof(sql), "SELECT type, block FROM objects WHERE address = %lld",
		 strtoll(address, NULL, 16));
	row = doc_at(python_ask_file(file, "query", "-q", sql), "rows.0");
	HI_ASSERT_STREQ(v->type, doc_text(row, "type"));
	block = doc_text(row, "block");
	HI_ASSERT(strtoull(block, NULL, 16) <= strtoull(address, NULL, 16));
	check_explained_block(python_ask(t, "explain", block), address, block);
	check_explained_block(python_ask_file(file, "explain", block), address, block);
	c = hi_heapinspect("paths", address, file, "-k", "1", "--json");
	HI_ASSERT_MSG(strstr(c->out, address), "%s: %.1200s", v->kind, c->out);
}

HI_TEST_SCENARIO(python_plain, values_of_all_layouts_are_known_by_their_types_and_ids)
{
	struct target *t = python_start(NULL, "plain", NULL, NULL);
	const char *file = target_snap(t), *function = address_of_kind(t, "function");
	struct hi_command *c;

	check_strings_and_times_of_all_layouts_have_their_types(t);
	for (size_t i = 0; i < N_VALUES; i++) {
		check_an_object_is_explained_by_its_id(t, &values[i]);
		check_addresses_are_those_that_id_gives(t, file, &values[i]);
	}
	c = target_run(t, "explain", function);
	HI_ASSERT_MSG(strstr(c->out, "id()") && strstr(c->out, function), "%s", c->out);
}

/* Inline caches have borrowed references among their words. */
HI_TEST_SCENARIO(python_plain, instructions_of_frozen_modules_refer_to_nothing)
{
	struct target *t = python_start(NULL, "stdlib", NULL, NULL);
	struct hi_command *c =
		target_run(t, "query", "--format", "csv",
			   "SELECT sum(label LIKE '%.co_consts'), sum(label LIKE "
			   "'%.co_code_adaptive[%') FROM edges");
	long long of_constants = 0, of_instructions = -1;

	HI_ASSERT_MSG(strchr(c->out, '\n'), "%s", c->out);
	(void)sscanf(strchr(c->out, '\n') + 1, "%lld,%lld", &of_constants,
		     &of_instructions);
	HI_ASSERT_MSG(of_constants > 0, "%s", c->out);
	HI_ASSERT_EQ(0, of_instructions);
}
