/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of random columns, names and numbers in each width: no line is too long, no
 * digit and no part of a name is lost. */
#include <string.h>

#include "report/render/text_internal.h"
#include "tests/report/page_text.h"
#include "tests/support/random.h"

static uint64_t drawn_state;

static uint64_t draw_below(uint64_t n)
{
	return random_below(&drawn_state, n);
}

static const char *const words[] = {
	"shop",
	"::",
	"Session",
	"session_registry_of_the_process",
	"<",
	">",
	", ",
	"vector<shared_ptr<company::Order>>",
	"->",
	" ",
	"[",
	"]",
	"\\xff",
	"Größe",
	"表表",
	"e\xcc\x81",
	"unordered_map<string, std::vector<company::product::LineItem>> node",
	"12.0 MiB"};
enum { WORDS = sizeof(words) / sizeof(*words) };

static const char *draw_table_name(struct hi_page *page)
{
	const char *name = "x";

	for (uint64_t n = draw_below(6); n > 0; n--)
		name = hi_page_printf(page, "%s%s", name, words[draw_below(WORDS)]);
	return name;
}

static void draw_table_cell(struct hi_report_table *t, enum hi_column_kind kind)
{
	uint64_t number = draw_below(4) ? draw_below(UINT64_C(1) << draw_below(62))
					: draw_below(100);

	switch (kind) {
	case HI_COLUMN_TEXT:
		hi_cell_text(t, draw_table_name(t->page), (unsigned)draw_below(5));
		break;
	case HI_COLUMN_WORD:
	case HI_COLUMN_MINOR_WORD:
	case HI_COLUMN_FIGURE:
	case HI_COLUMN_MINOR_FIGURE:
		hi_cell_text(t, draw_below(2) ? "pointer" : "4.00 s", 0);
		break;
	case HI_COLUMN_PERCENT:
		hi_cell_percent(t, draw_below(1001), 1000);
		break;
	default:
		if (draw_below(5))
			hi_cell_number(t, number);
		else
			hi_cell_at_least(t, number);
	}
}

/* Titles that differ, some of several words. */
static void draw_table_columns(struct hi_page *page, struct hi_column *columns, size_t n)
{
	static const enum hi_column_kind kinds[] = {
		HI_COLUMN_TEXT,	       HI_COLUMN_WORD,	      HI_COLUMN_MINOR_WORD,
		HI_COLUMN_BYTES,       HI_COLUMN_MINOR_BYTES, HI_COLUMN_COUNT,
		HI_COLUMN_MINOR_COUNT, HI_COLUMN_PERCENT,     HI_COLUMN_ADDRESS,
		HI_COLUMN_FIGURE,      HI_COLUMN_MINOR_FIGURE};

	for (size_t c = 0; c < n; c++) {
		columns[c].kind = c ? kinds[draw_below(11)] : HI_COLUMN_TEXT;
		columns[c].title = hi_page_printf(
			page, draw_below(3) ? "t%zu" : "title %zu of the column", c);
	}
}

HI_TEST(table_widths, nothing_that_is_shown_loses_a_part)
{
	struct hi_column columns[9];

	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct hi_page *page = page_new();
		struct hi_report_table *t;
		size_t n, narrower = 0;

		drawn_state = seed;
		setlocale(LC_CTYPE, "C.UTF-8");
		n = 1 + draw_below(9);
		draw_table_columns(page, columns, n);
		t = hi_page_table(page, columns, n);
		for (size_t i = 0; i < n * 6; i++)
			draw_table_cell(t, columns[i % n].kind);
		for (unsigned width = 60; width <= 240; width += 5) {
			size_t texts = page_widths_check_table(t, width, true);

			(void)page_widths_check_table(t, width, false);
			HI_ASSERT_MSG(texts >= narrower, "shorter at %u", width);
			narrower = texts == SIZE_MAX ? narrower : texts;
		}
	}
}

static const char *shorten_arguments(const char *text)
{
	const struct hi_text_style style = {.utf8 = true};
	static struct hi_arena arena;

	hi_arena_free(&arena);
	hi_test_defer(hi_arena_free, &arena);
	return hi_text_short_arguments(&style, &arena, text);
}

HI_TEST(table_widths, only_namespaces_in_arguments_of_libraries_are_shortened)
{
	HI_ASSERT_STREQ("shop::model::Session",
			shorten_arguments("shop::model::Session"));
	HI_ASSERT_STREQ("shop::Registry<shop::Session>",
			shorten_arguments("shop::Registry<shop::Session>"));
	HI_ASSERT_STREQ("std::shared_ptr<…::Session> block",
			shorten_arguments("std::shared_ptr<shop::model::Session> block"));
	HI_ASSERT_STREQ("map<int, vector<…::Registry<…::Session>>> node",
			shorten_arguments(
				"map<int, vector<shop::Registry<shop::Session>>> node"));
}

HI_TEST(table_widths, lines_end_between_the_parts_of_a_name)
{
	const struct hi_text_style style = {.utf8 = true};
	static const struct {
		const char *text;
		unsigned columns;
		const char *first, *rest;
	} cases[] = {
		{"shop::Session cart", 30, "shop::Session cart", ""},
		{"shop::Session cart", 14, "shop::Session", "cart"},
		{"shop::Session cart", 10, "shop::", "Session cart"},
		{"vector<shop::Session>", 12, "vector<", "shop::Session>"},
		{"uses 10.7 MiB", 10, "uses", "10.7 MiB"},
		{"server->clients", 12, "server", "->clients"},
		{"sessionRegistry", 12, "session", "Registry"},
		{"a_name_of_one", 8, "a_name_", "of_one"},
		{"abcdefgh", 4, "abcd", "efgh"},
		{"abcd\\xffgh", 6, "abcd", "\\xffgh"},
		{"abc1,024", 6, "abc1,0", "24"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hi_text_line line =
			hi_text_next_line(&style, cases[i].text, cases[i].columns);
		char first[64];

		snprintf(first, sizeof(first), "%.*s", (int)line.bytes, cases[i].text);
		HI_ASSERT_STREQ(cases[i].first, first);
		HI_ASSERT_STREQ(cases[i].rest, cases[i].text + line.next);
		HI_ASSERT_EQ(strlen(first), line.columns);
	}
}
