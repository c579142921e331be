/* SPDX-License-Identifier: BSD-2-Clause */
/* Tickets: the page of a drawn heap, what is left out of it, and Markdown that nothing of
 * a target can leave. */
#include "report/reports/ticket/ticket_report.h"

#include <stdio.h>
#include <string.h>

#include "report/render/markdown.h"
#include "tests/harness.h"
#include "tests/report/page_text.h"
#include "tests/report/sample.h"
#include "tests/support/golden.h"

static const char *markdown_of(const struct hi_page *page)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	struct hi_error err;
	enum hi_status status;

	HI_ASSERT(out != NULL);
	status = hi_markdown_render(page, out, &err);
	fclose(out);
	hi_test_defer(free, text);
	HI_ASSERT_OK(status, &err);
	return text;
}

static const char *paragraph(const char *text)
{
	struct hi_page *page = page_new();

	hi_page_text(page, text);
	return markdown_of(page);
}

/* ---- Markdown ---- */

HI_TEST(markdown, text_has_no_effect)
{
	HI_ASSERT_STREQ("plain snake_case 3.4 a.b->c (x)\n",
			paragraph("plain snake_case 3.4 a.b->c (x)"));
	HI_ASSERT_STREQ(
		"\\_\\_main\\_\\_ \\*p\\* \\`x\\` \\[a](b) \\<b> \\&amp; \\| \\~\\~\n",
		paragraph("__main__ *p* `x` [a](b) <b> &amp; | ~~"));
	/* Users, tickets, addresses without brackets, formulas. */
	HI_ASSERT_STREQ("&#64;root &#35;12 https&#58;//evil www&#46;evil &#36;x&#36;\n",
			paragraph("@root #12 https://evil www.evil $x$"));
	/* At the begin of a line. */
	HI_ASSERT_STREQ("\\- a\n", paragraph("- a"));
	HI_ASSERT_STREQ("\\> a\n", paragraph("> a"));
	HI_ASSERT_STREQ("12\\. a\n", paragraph("12. a"));
	HI_ASSERT_STREQ("12.5 a\n", paragraph("12.5 a"));
	HI_ASSERT_STREQ("&#35; a\n", paragraph("# a"));
	HI_ASSERT_STREQ("a b\n", paragraph("a\nb"));
}

HI_TEST(markdown, names_in_tables_are_code_that_ends_no_cell)
{
	static const struct hi_column columns[] = {{"type", HI_COLUMN_TEXT},
						   {"kind", HI_COLUMN_WORD},
						   {"bytes", HI_COLUMN_BYTES}};
	struct hi_page *page = page_new();
	struct hi_report_table *t = hi_page_table(page, columns, 3);

	hi_cell_text(t, "a|b", 0);
	hi_cell_text(t, "x|y", 0);
	hi_cell_number(t, 2048);
	hi_cell_text(t, "`a``b`", 0);
	hi_cell_empty(t);
	hi_cell_at_least(t, 1);
	hi_cell_text(t, "(untyped)", 0);
	hi_cell_empty(t);
	hi_cell_number(t, UINT64_MAX);
	HI_ASSERT_STREQ("| type | kind | bytes |\n"
			"|---|---|---:|\n"
			"| `a\\|b` | x\\|y | 2.0 KiB |\n"
			"| ``` `a``b` ``` |  | ≥ 1 B |\n"
			"| (untyped) |  | ? |\n",
			markdown_of(page));
}

HI_TEST(markdown, lists_and_code_stand_together)
{
	struct hi_page *page = page_new();

	hi_page_title(page, "t", NULL);
	hi_page_heading(page, "h", "aside");
	hi_page_fact(page, "k", "v");
	hi_page_fact(page, "", "w");
	hi_page_command(page, "a --b 'c'", "why");
	hi_page_command(page, "d", NULL);
	hi_page_text(page, "end");
	HI_ASSERT_STREQ("# t\n\n## h\n\naside\n\n- k: v\n- w\n\n"
			"```sh\na --b 'c'  # why\nd\n```\n\nend\n",
			markdown_of(page));
}

/* ---- tickets ---- */

static struct hi_summary_report *summary_of(struct sample *s)
{
	struct hi_summary_report *report = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_summary_report_create(&s->inputs, &report, &err), &err);
	hi_test_defer(hi_summary_report_destroy, report);
	return report;
}

static struct hi_ticket_report ticket_of(struct sample *s)
{
	return (struct hi_ticket_report){.summary = summary_of(s),
					 .version = "1.0",
					 .system = "Linux 6.1.0 x86_64",
					 .running_ns = 5000000000};
}

static const char *ticket_text(const struct hi_ticket_report *ticket)
{
	struct hi_page *page = page_new();

	hi_ticket_display(ticket, page);
	return markdown_of(page);
}

/* +15.4 MiB in each of ten minutes; 2 GiB, of which 1.4 GiB are used, are full in 39.9. */
static const struct hi_trend drawn_trend = {
	.censuses = 11,
	.first_number = 1,
	.last_number = 11,
	.wall_ns = 600000000000,
	.live = {.name = "",
		 .first = 62333651,
		 .last = 223814331,
		 .rate = {16148068, 15938355, 16252928, 11}},
	.leaked = {.name = "", .last = 12582912, .rate = {1258291, 1258291, 1258291, 11}},
	.leaks_known = true,
	.leaked_since = 3,
	.leaked_since_ns = 120000000000,
	.rows = (struct hi_trend_row[]){{.name = "struct dictEntry",
					 .first = 1 << 20,
					 .last = 64 << 20,
					 .rate = {6606028, 6500000, 6700000, 11}}},
	.n_rows = 1,
	.limit = {HI_LIMIT_CGROUP, 2ull << 30, 1503238553},
};

HI_TEST(ticket, the_drawn_heap_is_a_page)
{
	struct hi_ticket_report ticket = ticket_of(sample_make());

	HI_EXPECT_GOLDEN("ticket", ticket_text(&ticket));
	ticket.trend = &drawn_trend;
	ticket.has_addresses = true;
	HI_EXPECT_GOLDEN("ticket-series", ticket_text(&ticket));
}

HI_TEST(ticket, without_a_recording_the_calls_that_fit_are_named)
{
	const struct hi_alloc_site site = {
		.function = "parse_coupon", .file = "/src/shop.cc", .line = 33};
	struct hi_leaks_row rows[] = {
		{.kind = {.type = "struct coupon"},
		 .made_by = {.count = 1, .named = {&site}}},
		{.kind = {.type = "struct other"}, .made_by = {.count = 700}}};
	const struct hi_leaks_report leaks = {.rows = rows, .n_rows = 2};
	struct hi_ticket_report ticket = ticket_of(sample_make());
	const char *text;

	ticket.leaks = &leaks;
	text = ticket_text(&ticket);
	HI_ASSERT_MSG(strstr(text, "| leaked | can be made by |\n|---|---|\n"
				   "| `struct coupon` | `parse_coupon (shop.cc:33)` |\n"
				   "\n"),
		      "%s", text);
	HI_ASSERT_MSG(!strstr(text, "heapinspect record"), "%s", text);
	HI_ASSERT_MSG(!strstr(text, "struct other"), "%s", text);
}

HI_TEST(ticket, addresses_and_keys_are_left_out)
{
	struct hi_ticket_report ticket = {};
	struct hi_page *page = page_new();

	HI_ASSERT_STREQ("sessions[…]->cart",
			hi_ticket_text(&ticket, "sessions[\"token-1\"]->cart", page));
	HI_ASSERT_STREQ("a[…][…].b", hi_ticket_text(&ticket, "a[b\"x\"]['y'].b", page));
	HI_ASSERT_STREQ("a[…]", hi_ticket_text(&ticket, "a[\"cut off", page));
	HI_ASSERT_STREQ("a[7][*]", hi_ticket_text(&ticket, "a[7][*]", page));
	/* A variable of a module is no key. */
	HI_ASSERT_STREQ("module __main__[\"HUB\"][…]",
			hi_ticket_text(&ticket, "module __main__[\"HUB\"][\"x\"]", page));
	HI_ASSERT_STREQ("struct a 0x…, lib.so+0x1234567, 0x10",
			hi_ticket_text(&ticket,
				       "struct a 0x55d0c8a41410, lib.so+0x1234567, 0x10",
				       page));
	ticket.has_addresses = true;
	ticket.has_contents = true;
	HI_ASSERT_STREQ("a[\"k\"] 0x55d0c8a41410",
			hi_ticket_text(&ticket, "a[\"k\"] 0x55d0c8a41410", page));
}

HI_TEST(ticket, a_heap_that_is_unknown_has_a_ticket)
{
	struct sample *s = sample_make();
	struct hi_ticket_report ticket;
	const char *text;

	s->header.allocator = NULL;
	ticket = ticket_of(s);
	text = ticket_text(&ticket);
	HI_ASSERT_MSG(strstr(text, "What is on the heap is unknown"), "%s", text);
	HI_ASSERT_MSG(!strstr(text, "## Held by what"), "%s", text);
}
