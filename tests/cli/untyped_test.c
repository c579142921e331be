/* SPDX-License-Identifier: BSD-2-Clause */
/* Names by field through the whole program: fixtures/untyped_fields.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/targets.h"

enum { SHELVES = 30, LINKS = 3, BUFFERS = 4 };

static json_t *row_with(json_t *doc, const char *key, const char *value)
{
	return doc_row(doc_at(doc, "rows"), key, value);
}

static void
check_what_has_no_type_is_named_by_the_field_that_leads_there(const struct target *t)
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
	json_t *doc = target_ask(t, "census", "--all"), *typed = doc_at(doc, "typed");

	for (size_t i = 0; i < sizeof(truth) / sizeof(truth[0]); i++) {
		json_t *row = row_with(doc, "type", truth[i].type);

		HI_ASSERT_EQ(truth[i].count, doc_number(row, "count"));
		HI_ASSERT_EQ(truth[i].bytes, doc_number(row, "shallow"));
	}
	HI_ASSERT_EQ(SHELVES, doc_number(typed, "objects.exact"));
	HI_ASSERT_EQ(SHELVES * (1 + LINKS + BUFFERS) + 1,
		     doc_number(typed, "objects.by_field"));
	HI_ASSERT_EQ(0, doc_number(typed, "objects.unnamed"));
	HI_ASSERT_EQ(doc_number(typed, "by_field"), doc_number(typed, "untyped"));
	/* Only the links know their successors, and nobody knows that they do. */
	HI_ASSERT_EQ(SHELVES * (LINKS - 1) * 336, doc_number(typed, "conservative_only"));
}

static void check_fields_are_ranked_with_what_fits_and_a_hint(const struct target *t)
{
	json_t *doc = target_ask(t, "census", "--untyped");
	json_t *item = row_with(doc, "field", "item"), *candidate;
	json_t *links = row_with(doc, "field", "chain");
	json_t *spare = row_with(doc, "owner", "spare");
	bool fits = false;

	HI_ASSERT_STREQ("shelf", doc_text(item, "owner"));
	HI_ASSERT_STREQ("untyped_fields", doc_text(item, "module"));
	HI_ASSERT_EQ(SHELVES, doc_number(item, "count"));
	HI_ASSERT_EQ(SHELVES, doc_number(item, "direct"));
	HI_ASSERT_EQ(1, doc_size(item, "sizes"));
	HI_ASSERT_EQ(200, doc_number(item, "sizes.0.least"));
	HI_ASSERT_EQ(200, doc_number(item, "sizes.0.most"));
	doc_each (candidate, doc_at(item, "candidates"))
		fits |= strcmp(json_string_value(candidate), "struct crate") == 0;
	HI_ASSERT(fits);
	HI_ASSERT(strncmp(doc_text(item, "hint"), "record shelf { item -> ", 23) == 0);
	HI_ASSERT_EQ(SHELVES * LINKS, doc_number(links, "count"));
	HI_ASSERT_EQ(SHELVES, doc_number(links, "direct"));
	HI_ASSERT_STREQ("root spare -> TYPE;", doc_text(spare, "hint"));
	HI_ASSERT_STREQ("record shelf { buffer[i] for i in 0 .. N -> blob NAME; }",
			doc_text(row_with(doc, "field", "buffer[]"), "hint"));
}

/* What the page suggests, with the names filled in. */
static void check_the_hint_that_is_suggested_names_the_objects(const struct target *t)
{
	static const char hints[] = "hints shelves\n"
				    "record shelf {\n"
				    "    item -> struct crate;\n"
				    "    buffer[i] for i in 0 .. 4 -> blob paper;\n"
				    "}\n"
				    "root spare -> blob spare;\n";
	char path[] = "/tmp/heapinspect-hints-XXXXXX";
	int fd = mkstemp(path);
	json_t *doc;

	HI_ASSERT(fd >= 0);
	HI_ASSERT(write(fd, hints, sizeof(hints) - 1) == (ssize_t)sizeof(hints) - 1);
	close(fd);
	doc = target_ask(t, "census", "--hints", path, "--all");
	unlink(path);
	HI_ASSERT_EQ(SHELVES, doc_number(row_with(doc, "type", "struct crate"), "count"));
	HI_ASSERT_EQ(SHELVES * BUFFERS,
		     doc_number(row_with(doc, "type", "paper"), "count"));
	HI_ASSERT_EQ(1, doc_number(row_with(doc, "type", "spare"), "count"));
	/* What a hint says is never exact. */
	HI_ASSERT_EQ(SHELVES, doc_number(doc, "typed.objects.exact"));
	HI_ASSERT_EQ(SHELVES * (1 + BUFFERS) + 1,
		     doc_number(doc, "typed.objects.inferred"));
	HI_ASSERT_EQ(SHELVES * LINKS, doc_number(doc, "typed.objects.by_field"));
}

static json_t *last_step(const json_t *paths)
{
	return doc_at(paths, "rows.0.steps.%zu", doc_size(paths, "rows.0.steps") - 1);
}

static void check_every_command_takes_names_by_field(const struct target *t)
{
	json_t *census = target_ask(t, "census", "--type", "via shelf.chain*");
	json_t *retained =
		target_ask(t, "retained", "--type", "via shelf.item*", "--all");
	json_t *paths = target_ask(t, "paths", "via shelf.chain …, 328 B", "-k", "1");
	struct hi_command *c;

	HI_ASSERT_EQ(2, doc_size(census, "rows"));
	HI_ASSERT_EQ(SHELVES, doc_size(retained, "rows"));
	HI_ASSERT_STREQ("via shelf.item, 200 B", doc_text(retained, "rows.0.type"));
	HI_ASSERT_STREQ("via shelf.chain …, 328 B", doc_text(last_step(paths), "type"));
	/* Nothing has leaked; the rows that there are not are none. */
	target_run(t, "leaks", "--type", "via *", "-q");
	c = hi_heapinspect("census", "--type", "via shelf.itme*", "--pid", t->pid, "-q");
	HI_ASSERT_EQ(2, c->exit_code);
}

static void check_explain_tells_which_field_leads_there(const struct target *t)
{
	const char *text;
	json_t *paths = target_ask(t, "paths", "via shelf.item*", "-k", "1");
	json_t *row =
		doc_at(target_ask(t, "explain", doc_text(last_step(paths), "address")),
		       "rows.0");
	json_t *first = doc_at(row, "proof.0"), *last;
	size_t n = doc_size(row, "proof");

	text = doc_text(row, "evidence_text");
	HI_ASSERT_MSG(strstr(text, "it is what this field leads to: shelf.item") != NULL,
		      "%s", text);
	HI_ASSERT(n >= 2);
	last = doc_at(row, "proof.%zu", n - 1);
	HI_ASSERT_STREQ("shelves", doc_text(first, "field"));
	HI_ASSERT_STREQ("struct shelf *", doc_text(first, "says"));
	HI_ASSERT(doc_bool(first, "believed"));
	HI_ASSERT_STREQ("->item", doc_text(last, "field"));
	HI_ASSERT_STREQ("void *", doc_text(last, "says"));
	HI_ASSERT(!doc_bool(last, "believed"));
}

HI_TEST_SCENARIO(untyped, untyped_objects_have_names_by_field)
{
	struct target *t = target_start("untyped_fields", "30", NULL);

	check_what_has_no_type_is_named_by_the_field_that_leads_there(t);
	check_fields_are_ranked_with_what_fits_and_a_hint(t);
	check_the_hint_that_is_suggested_names_the_objects(t);
	check_every_command_takes_names_by_field(t);
	check_explain_tells_which_field_leads_there(t);
}
