/* SPDX-License-Identifier: BSD-2-Clause */
/* Described fields: each unit and flag, on a page, in JSON and in a schema. */
#include "report/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/address.h"
#include "tests/harness.h"

struct part {
	uint64_t bytes;
};
struct thing {
	const char *name;
	char build[8];
	uint64_t count, address;
	uint32_t kind;
	int64_t change;
	bool is_new;
	struct part part, *parts;
	size_t n_parts;
	const char **texts;
	size_t n_texts;
};

static const char *kind_word(unsigned kind)
{
	return kind ? "large" : "small";
}
static struct hi_doc_value double_of_thing(const struct hi_doc_row *row)
{
	struct hi_doc_value value =
		hi_doc_number(((const struct thing *)row->row)->count * 2);

	if (row->page)
		value.shown = "twice";
	return value;
}
static struct hi_doc_value place_of_part(const struct hi_doc_row *row)
{
	const struct thing *thing = row->parent;

	return hi_doc_number(row->index * 10 + thing->n_parts);
}
static bool is_new_thing(const struct hi_doc_row *row)
{
	return ((const struct thing *)row->row)->is_new;
}

static const struct hi_doc_field part_fields[] = {
	{"bytes", NULL, HI_DOC_BYTES, HI_AT(struct part, bytes)},
	{"place", NULL, HI_DOC_COUNT, .value = place_of_part},
};
static const struct hi_doc_fields parts =
	HI_DOC_FIELDS(part_fields, .row_size = sizeof(struct part));
static const struct hi_doc_field only_bytes[] = {
	{"bytes", NULL, HI_DOC_BYTES, HI_AT(struct part, bytes)},
};
static const struct hi_doc_fields bytes = HI_DOC_FIELDS(only_bytes);

enum { PLAIN = 1, RICH = 2 };
static const struct hi_doc_field thing_fields[] = {
	{"type", "type", HI_DOC_TYPE, HI_AT(struct thing, name),
	 .text_link = hi_address_of_type, .meaning = "say \"it\""},
	{"build", NULL, HI_DOC_TEXT, HI_AT_CHARS(struct thing, build), .nullable = true},
	{"twice", "twice", HI_DOC_FIGURE, .value = double_of_thing, .variants = RICH,
	 .place = 1},
	{"once", "once", HI_DOC_COUNT, HI_AT(struct thing, count), .variants = PLAIN,
	 .least = 1},
	{"count", "count", HI_DOC_COUNT, HI_AT(struct thing, count), .at_least = true,
	 .nullable = true, .shown_in = RICH},
	{NULL, "of all", HI_DOC_SHARE, HI_AT(struct thing, count),
	 HI_SHARE_OF(struct thing, address)},
	{"address", "address", HI_DOC_ADDRESS, HI_AT(struct thing, address)},
	{"kind", "kind", HI_DOC_WORD, HI_AT(struct thing, kind), .word = kind_word,
	 .n_words = 2},
	{"change", "change", HI_DOC_BYTES, HI_AT(struct thing, change),
	 .is_signed = true},
	{"new", NULL, HI_DOC_FLAG, HI_AT(struct thing, is_new)},
	{"first", NULL, HI_DOC_OBJECT, HI_AT_PART(struct thing, part), .nested = &bytes},
	{.unit = HI_DOC_MEMBERS, HI_AT_PART(struct thing, part), .nested = &bytes},
	{"parts", NULL, HI_DOC_ROWS, HI_AT_ROWS(struct thing, parts, n_parts),
	 .nested = &parts, .most = 2},
	{"texts", NULL, HI_DOC_LIST, HI_AT_ROWS(struct thing, texts, n_texts),
	 .nested = &hi_doc_texts, .optional = true},
};
static const struct hi_doc_fields things = HI_DOC_FIELDS(
	thing_fields, .row_size = sizeof(struct thing), .is_strong = is_new_thing);

static const char *texts[] = {"a", "\033"};
static struct part two_parts[] = {{1}, {2}};
static const struct thing full = {.name = "struct x",
				  .build = "ab",
				  .count = 3,
				  .address = 0x10,
				  .kind = 1,
				  .change = -5,
				  .is_new = true,
				  .part = {7},
				  .parts = two_parts,
				  .n_parts = 2,
				  .texts = texts,
				  .n_texts = 2};
static const struct thing bare = {.name = "", .count = UINT64_MAX};

static void expect_json(const char *expected, const struct thing *thing, unsigned form)
{
	struct hi_json json;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	hi_json_init(&json, out);
	json.one_line = true;
	hi_json_object(&json, NULL);
	hi_doc_put_report(&things, thing, form, &json);
	hi_json_end(&json);
	HI_ASSERT(hi_json_finish(&json));
	fclose(out);
	text[strcspn(text, "\n")] = 0;
	HI_ASSERT_STREQ(expected, text);
	free(text);
}

HI_TEST(document, a_row_becomes_members_in_the_order_of_its_fields)
{
	expect_json("{\"type\": \"struct x\", \"build\": \"ab\", \"twice\": 6, "
		    "\"count\": 3, \"address\": \"0x10\", \"kind\": \"large\", "
		    "\"change\": -5, \"new\": true, \"first\": {\"bytes\": 7}, "
		    "\"bytes\": 7, \"parts\": [{\"bytes\": 1, \"place\": 2}, "
		    "{\"bytes\": 2, \"place\": 12}], \"texts\": [\"a\", \"\\\\x1b\"]}",
		    &full, RICH);
}

HI_TEST(document, unknown_is_null_and_optional_is_left_out)
{
	expect_json("{\"type\": \"(untyped)\", \"build\": null, \"once\": null, "
		    "\"count\": null, \"address\": null, \"kind\": \"small\", "
		    "\"change\": 0, \"new\": false, \"first\": {\"bytes\": 0}, "
		    "\"bytes\": 0, \"parts\": []}",
		    &bare, PLAIN);
}

HI_TEST(document, a_table_has_the_columns_of_its_form_and_their_order)
{
	static const char *const titles[] = {"type", "count",  "of all", "address",
					     "kind", "change", "twice"};
	struct thing rows[] = {bare, full};
	struct hi_page *page = hi_page_create();
	const struct hi_report_table *t;
	const struct hi_cell *cells;

	HI_ASSERT(page != NULL);
	t = hi_doc_show_rows(page, &things, &full, RICH, rows, 2);
	HI_ASSERT_EQ(7, t->n_columns);
	for (size_t i = 0; i < 7; i++)
		HI_ASSERT_STREQ(titles[i], t->columns[i].title);
	HI_ASSERT_EQ(HI_COLUMN_PERCENT, t->columns[2].kind);
	HI_ASSERT_EQ(HI_COLUMN_FIGURE, t->columns[6].kind);
	HI_ASSERT_EQ(14, t->cells.count);
	cells = t->cells.items;
	HI_ASSERT_STREQ("(untyped)", cells[0].text);
	HI_ASSERT(!cells[0].link);
	HI_ASSERT_EQ(HI_CELL_UNKNOWN, cells[1].state);
	HI_ASSERT_EQ(HI_CELL_EMPTY, cells[3].state);
	cells += 7;
	HI_ASSERT_STREQ("paths/struct%20x", cells[0].link);
	HI_ASSERT(cells[1].at_least && cells[1].number == 3);
	HI_ASSERT(cells[2].number == 3 && cells[2].whole == 0x10);
	HI_ASSERT_EQ(0x10, cells[3].number);
	HI_ASSERT_STREQ("large", cells[4].text);
	HI_ASSERT(cells[5].negative && cells[5].number == 5);
	HI_ASSERT_STREQ("twice", cells[6].text);
	HI_ASSERT_EQ(1, t->strong.count);
	HI_ASSERT_EQ(1, t->strong.items[0]);
	hi_page_destroy(page);
}

HI_TEST(document, a_schema_has_the_types_and_what_each_form_requires)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	hi_doc_put_schema(&things, "things/v1", NULL, 2, out);
	fclose(out);
	HI_ASSERT_STREQ(
		"{\n"
		"    \"type\": \"object\",\n"
		"    \"properties\": {\n"
		"      \"schema\": {\"const\": \"heapinspect/things/v1\"},\n"
		"      \"type\": {\"type\": \"string\", \"description\": \"say "
		"\\\"it\\\"\"},\n"
		"      \"build\": {\"type\": [\"string\", \"null\"]},\n"
		"      \"twice\": {\"type\": \"integer\", \"minimum\": 0},\n"
		"      \"once\": {\"type\": \"integer\", \"minimum\": 1},\n"
		"      \"count\": {\"type\": [\"integer\", \"null\"], \"minimum\": 0},\n"
		"      \"address\": {\"type\": \"string\", \"pattern\": "
		"\"^0x[0-9a-f]+$\"},\n"
		"      \"kind\": {\"enum\": [\"small\", \"large\"]},\n"
		"      \"change\": {\"type\": \"integer\"},\n"
		"      \"new\": {\"type\": \"boolean\"},\n"
		"      \"first\": {\n"
		"        \"type\": \"object\",\n"
		"        \"properties\": {\n"
		"          \"bytes\": {\"type\": \"integer\", \"minimum\": 0}\n"
		"        },\n"
		"        \"required\": [\"bytes\"],\n"
		"        \"additionalProperties\": false\n"
		"      },\n"
		"      \"bytes\": {\"type\": \"integer\", \"minimum\": 0},\n"
		"      \"parts\": {\"type\": \"array\", \"maxItems\": 2, \"items\": {\n"
		"        \"type\": \"object\",\n"
		"        \"properties\": {\n"
		"          \"bytes\": {\"type\": \"integer\", \"minimum\": 0},\n"
		"          \"place\": {\"type\": \"integer\", \"minimum\": 0}\n"
		"        },\n"
		"        \"required\": [\"bytes\", \"place\"],\n"
		"        \"additionalProperties\": false\n"
		"      }},\n"
		"      \"texts\": {\"type\": \"array\", \"items\": {\"type\": "
		"\"string\"}}\n"
		"    },\n"
		"    \"required\": [\"schema\", \"type\", \"build\", \"count\", "
		"\"address\", \"kind\", \"change\", \"new\", \"first\", \"bytes\", "
		"\"parts\"],\n"
		"    \"oneOf\": [\n"
		"      {\"required\": [\"once\"]},\n"
		"      {\"required\": [\"twice\"]}\n"
		"    ],\n"
		"    \"additionalProperties\": false\n"
		"  }",
		text);
	free(text);
}
