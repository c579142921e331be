/* SPDX-License-Identifier: BSD-2-Clause */
/* Names by field through the whole program: fixtures/untyped_fields.c. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/command.h"
#include "tests/support/fixture.h"

enum { SHELVES = 30, LINKS = 3, BUFFERS = 4 };

static char pid_text[16];

static const char *start(void)
{
	struct hi_fixture *fx = hi_fixture_start("untyped_fields", "30", NULL);

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

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	HI_ASSERT_MSG(text != NULL, "no text %s", key);
	return text;
}

static json_t *row_with(json_t *doc, const char *key, const char *value)
{
	json_t *rows = json_object_get(doc, "rows");

	for (size_t i = 0; i < json_array_size(rows); i++) {
		json_t *row = json_array_get(rows, i);
		const char *text = json_string_value(json_object_get(row, key));

		if (text && strcmp(text, value) == 0)
			return row;
	}
	hi_test_fail(__FILE__, __LINE__, "no row with %s = %s", key, value);
}

HI_TEST_SCENARIO(untyped, what_has_no_type_is_named_by_the_field_that_leads_there)
{
	static const struct {
		const char *type;
		long long count, bytes; /* with the 8 of each chunk */
	} truth[] = {
		{"via shelf.item, 200 B", SHELVES, SHELVES * 208},
		{"via shelf.chain, 328 B", SHELVES, SHELVES * 336},
		{"via shelf.chain …, 328 B", SHELVES * (LINKS - 1),
		 SHELVES * (LINKS - 1) * 336},
		{"via spare, ≤ 8 KiB", 1, 5008},
		{"struct shelf", SHELVES, SHELVES * 80},
	};
	const char *pid = start();
	json_t *doc = parse(hi_heapinspect("census", "--pid", pid, "--json", "--all"));
	json_t *typed = json_object_get(doc, "typed");
	json_t *objects = json_object_get(typed, "objects");

	for (size_t i = 0; i < sizeof(truth) / sizeof(truth[0]); i++) {
		json_t *row = row_with(doc, "type", truth[i].type);

		HI_ASSERT_EQ(truth[i].count, number_of(row, "count"));
		HI_ASSERT_EQ(truth[i].bytes, number_of(row, "shallow"));
	}
	HI_ASSERT_EQ(SHELVES, number_of(objects, "exact"));
	HI_ASSERT_EQ(SHELVES * (1 + LINKS + BUFFERS) + 1, number_of(objects, "by_field"));
	HI_ASSERT_EQ(0, number_of(objects, "unnamed"));
	HI_ASSERT_EQ(number_of(typed, "by_field"), number_of(typed, "untyped"));
	/* Only the links know their successors, and nobody knows that they do. */
	HI_ASSERT_EQ(SHELVES * (LINKS - 1) * 336, number_of(typed, "conservative_only"));
}

HI_TEST_SCENARIO(untyped, fields_are_ranked_with_what_fits_and_a_hint)
{
	const char *pid = start();
	json_t *doc =
		parse(hi_heapinspect("census", "--untyped", "--pid", pid, "--json"));
	json_t *item = row_with(doc, "field", "item"), *size;
	json_t *links = row_with(doc, "field", "chain");
	json_t *spare = row_with(doc, "owner", "spare");
	bool fits = false;

	HI_ASSERT_STREQ("shelf", text_of(item, "owner"));
	HI_ASSERT_STREQ("untyped_fields", text_of(item, "module"));
	HI_ASSERT_EQ(SHELVES, number_of(item, "count"));
	HI_ASSERT_EQ(SHELVES, number_of(item, "direct"));
	HI_ASSERT_EQ(1, json_array_size(json_object_get(item, "sizes")));
	size = json_array_get(json_object_get(item, "sizes"), 0);
	HI_ASSERT_EQ(200, number_of(size, "least"));
	HI_ASSERT_EQ(200, number_of(size, "most"));
	for (size_t i = 0; i < json_array_size(json_object_get(item, "candidates")); i++)
		fits |= strcmp(json_string_value(json_array_get(
				       json_object_get(item, "candidates"), i)),
			       "struct crate") == 0;
	HI_ASSERT(fits);
	HI_ASSERT(strncmp(text_of(item, "hint"), "record shelf { item -> ", 23) == 0);
	HI_ASSERT_EQ(SHELVES * LINKS, number_of(links, "count"));
	HI_ASSERT_EQ(SHELVES, number_of(links, "direct"));
	HI_ASSERT_STREQ("root spare -> TYPE;", text_of(spare, "hint"));
	HI_ASSERT_STREQ("record shelf { buffer[i] for i in 0 .. N -> blob NAME; }",
			text_of(row_with(doc, "field", "buffer[]"), "hint"));
}

/* What the page suggests, with the names filled in. */
HI_TEST_SCENARIO(untyped, the_hint_that_is_suggested_names_the_objects)
{
	static const char hints[] = "hints shelves\n"
				    "record shelf {\n"
				    "    item -> struct crate;\n"
				    "    buffer[i] for i in 0 .. 4 -> blob paper;\n"
				    "}\n"
				    "root spare -> blob spare;\n";
	char path[] = "/tmp/heapinspect-hints-XXXXXX";
	int fd = mkstemp(path);
	json_t *doc, *objects;

	HI_ASSERT(fd >= 0);
	HI_ASSERT(write(fd, hints, sizeof(hints) - 1) == (ssize_t)sizeof(hints) - 1);
	close(fd);
	doc = parse(hi_heapinspect("census", "--hints", path, "--pid", start(), "--json",
				   "--all"));
	unlink(path);
	HI_ASSERT_EQ(SHELVES, number_of(row_with(doc, "type", "struct crate"), "count"));
	HI_ASSERT_EQ(SHELVES * BUFFERS,
		     number_of(row_with(doc, "type", "paper"), "count"));
	HI_ASSERT_EQ(1, number_of(row_with(doc, "type", "spare"), "count"));
	objects = json_object_get(json_object_get(doc, "typed"), "objects");
	/* What a hint says is never exact. */
	HI_ASSERT_EQ(SHELVES, number_of(objects, "exact"));
	HI_ASSERT_EQ(SHELVES * (1 + BUFFERS) + 1, number_of(objects, "inferred"));
	HI_ASSERT_EQ(SHELVES * LINKS, number_of(objects, "by_field"));
}

HI_TEST_SCENARIO(untyped, every_command_takes_names_by_field)
{
	const char *pid = start();
	json_t *census = parse(hi_heapinspect("census", "--type", "via shelf.chain*",
					      "--pid", pid, "--json"));
	json_t *retained = parse(hi_heapinspect("retained", "--type", "via shelf.item*",
						"--pid", pid, "--json", "--all"));
	json_t *paths = parse(hi_heapinspect("paths", "via shelf.chain …, 328 B", "-k",
					     "1", "--pid", pid, "--json"));
	json_t *steps;
	struct hi_command *c;

	HI_ASSERT_EQ(2, json_array_size(json_object_get(census, "rows")));
	HI_ASSERT_EQ(SHELVES, json_array_size(json_object_get(retained, "rows")));
	HI_ASSERT_STREQ(
		"via shelf.item, 200 B",
		text_of(json_array_get(json_object_get(retained, "rows"), 0), "type"));
	steps = json_object_get(json_array_get(json_object_get(paths, "rows"), 0),
				"steps");
	HI_ASSERT_STREQ(
		"via shelf.chain …, 328 B",
		text_of(json_array_get(steps, json_array_size(steps) - 1), "type"));
	/* Nothing has leaked; the rows that there are not are none. */
	c = hi_heapinspect("leaks", "--type", "via *", "--pid", pid, "-q");
	HI_ASSERT_EQ(0, c->exit_code);
	c = hi_heapinspect("census", "--type", "via shelf.itme*", "--pid", pid, "-q");
	HI_ASSERT_EQ(2, c->exit_code);
}

HI_TEST_SCENARIO(untyped, explain_tells_which_field_leads_there)
{
	const char *pid = start(), *text;
	json_t *paths = parse(hi_heapinspect("paths", "via shelf.item*", "-k", "1",
					     "--pid", pid, "--json"));
	json_t *steps = json_object_get(json_array_get(json_object_get(paths, "rows"), 0),
					"steps");
	json_t *row = json_array_get(
		json_object_get(
			parse(hi_heapinspect(
				"explain",
				text_of(json_array_get(steps, json_array_size(steps) - 1),
					"address"),
				"--pid", pid, "--json")),
			"rows"),
		0);
	json_t *proof = json_object_get(row, "proof");
	size_t n = json_array_size(proof);

	text = text_of(row, "evidence_text");
	HI_ASSERT_MSG(strstr(text, "it is what this field leads to: shelf.item") != NULL,
		      "%s", text);
	HI_ASSERT(n >= 2);
	HI_ASSERT_STREQ("shelves", text_of(json_array_get(proof, 0), "field"));
	HI_ASSERT_STREQ("struct shelf *", text_of(json_array_get(proof, 0), "says"));
	HI_ASSERT(json_is_true(json_object_get(json_array_get(proof, 0), "believed")));
	HI_ASSERT_STREQ("->item", text_of(json_array_get(proof, n - 1), "field"));
	HI_ASSERT_STREQ("void *", text_of(json_array_get(proof, n - 1), "says"));
	HI_ASSERT(
		json_is_false(json_object_get(json_array_get(proof, n - 1), "believed")));
}
