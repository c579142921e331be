/* SPDX-License-Identifier: BSD-2-Clause */
/* `census --untyped` as a page and as hints. */
#include "report/reports/untyped/untyped_report.h"
#include "tests/report/page_text.h"
#include "tests/report/sample.h"
#include "tests/support/golden.h"

static struct hi_error err;

static struct hi_untyped_size sizes[6] = {
	{48, 48, 48, 99000, 5544000}, {64, 64, 64, 1000, 72000},
	{1024, 600, 1016, 20, 16000}, {80, 80, 80, 10, 880},
	{96, 96, 96, 5, 520},	      {112, 112, 112, 1, 120}};

static const char *hint_of(const char *record, const char *variable, const char *field,
			   size_t n_sizes, size_t total)
{
	static struct hi_arena arena;
	struct hi_untyped_row row = {
		.owner = "", .field = field, .sizes = sizes, .n_sizes = n_sizes};
	struct hi_untyped_line line = {
		.row = &row,
		.record = record,
		.variable = variable,
		.fit = {.names = {"struct redisObject"}, .n = total > 0, .total = total}};
	const char *hint = hi_untyped_hint(&line, &arena);

	HI_ASSERT(hint != NULL);
	return hint;
}

HI_TEST(report_untyped, the_hint_is_what_the_language_asks_for)
{
	HI_ASSERT_STREQ("record dictEntry { v.val -> struct redisObject; }",
			hint_of("struct dictEntry", "", "v.val", 1, 1));
	HI_ASSERT_STREQ("record dictEntry { v.val -> TYPE; }",
			hint_of("struct dictEntry", "", "v.val", 1, 7));
	HI_ASSERT_STREQ("record dictEntry { v.val -> TYPE if …; }",
			hint_of("dictEntry", "", "v.val", 2, 1));
	HI_ASSERT_STREQ("record dictEntry { key -> blob NAME; }",
			hint_of("dictEntry", "", "key", 6, 3));
	sizes[0].most = 56;
	HI_ASSERT_STREQ("record dictEntry { key -> blob NAME; }",
			hint_of("dictEntry", "", "key", 1, 3));
	sizes[0].most = 48;
	HI_ASSERT_STREQ("record dict { ht_table[i] for i in 0 .. N -> TYPE; }",
			hint_of("dict", "", "ht_table[]", 1, 0));
	HI_ASSERT_STREQ(
		"record obj { ((void **)(this + 1))[i] for i in 0 .. N -> TYPE; }",
		hint_of("obj", "", "(behind it)", 1, 0));
	HI_ASSERT_STREQ("root server -> TYPE;", hint_of("", "server", "", 1, 0));
	HI_ASSERT_STREQ("", hint_of("", "", "[]", 1, 0));
}

static struct hi_untyped_report *make_report(struct sample *s, size_t top)
{
	static struct hi_untyped_row rows[] = {
		{"struct dictEntry", "v.val", "redis-server", 120000, 7000000, 100000,
		 sizes, 2},
		{"server", "", NULL, 20000, 3000000, 136, sizes + 2, 4},
		{SAMPLE_HOSTILE, SAMPLE_HOSTILE, SAMPLE_HOSTILE, 1, 64, 0, sizes, 0},
		{"void *", "[]", NULL, 1, 32, 1, sizes, 1}};
	const struct hi_untyped untyped = {
		.rows = rows, .n_rows = 4, .objects = 140001, .bytes = 10000064};
	struct hi_restrict only = {.top = top};
	struct hi_untyped_report *r;

	HI_ASSERT_OK(hi_untyped_report_create(&s->header, s->graph, &s->reach, &untyped,
					      &only, &r, &err),
		     &err);
	hi_test_defer(hi_untyped_report_destroy, r);
	r->rows[0].fit = (struct hi_candidates){
		{"struct redisObject", SAMPLE_HOSTILE, "c", "d", "e"}, 5, 42};
	return r;
}

static const char *render(const struct hi_untyped_report *r, unsigned width)
{
	struct hi_page *page = page_new();

	hi_untyped_display(r, page);
	return page_text(page, width);
}

/* Drawn: four fields with 10,000,064 B in 140,001 objects, of which 120,000 are behind
 * dictEntry.v.val: 99,000 of 48 B and 1,000 of 64 B, and so 20,000 elsewhere. */
HI_TEST(report_untyped, the_page_has_fields_sizes_hints_and_what_fits)
{
	struct sample *s = sample_make();

	HI_EXPECT_GOLDEN("untyped-200", render(make_report(s, 10), 200));
	HI_EXPECT_GOLDEN("untyped-80-top-1", render(make_report(s, 1), 80));
}

HI_TEST(report_untyped, what_is_about_one_record_is_one_block)
{
	static struct hi_untyped_row rows[] = {
		{"struct shelf", "item", NULL, 1, 3, 1, sizes, 1},
		{"spare", "", NULL, 1, 2, 1, sizes, 1},
		{"shelf", "buffer[]", NULL, 1, 1, 1, sizes + 2, 1}};
	struct hi_untyped_line lines[] = {
		{.row = &rows[0], .record = "struct shelf", .variable = ""},
		{.row = &rows[1], .record = "", .variable = "spare"},
		{.row = &rows[2], .record = "shelf", .variable = ""}};
	struct sample *s = sample_make();
	struct hi_untyped_report r = {.header = &s->header, .rows = lines, .n_rows = 3};

	HI_EXPECT_GOLDEN("untyped-records", render(&r, 80));
}

HI_TEST(report_untyped, the_document_says_it_too)
{
	struct sample *s = sample_make();
	struct hi_json json;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	HI_ASSERT(out != NULL);
	hi_json_init(&json, out);
	HI_ASSERT_OK(hi_untyped_json(make_report(s, 10), &json, &err), &err);
	HI_ASSERT(hi_json_finish(&json));
	fclose(out);
	hi_test_defer(free, text);
	HI_EXPECT_GOLDEN("untyped-json", text);
}
