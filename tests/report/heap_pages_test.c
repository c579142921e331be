/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of what is known of one heap. Numbers follow from the heap of
 * tests/report/sample.h: 223,766,118 B live in 1,234,567 objects. */
#include "report/reports/diff/diff_report.h"
#include "report/reports/diff/survived_report.h"
#include "tests/report/heap_pages.h"
#include "tests/support/golden.h"

/* 14 types, each with twice its shallow bytes retained; 96 MiB have none. */
HI_TEST(heap_pages, census)
{
	struct sample *s = sample_make();

	HI_EXPECT_GOLDEN("census-60", page_text(census_page(s, SIZE_MAX), 60));
	HI_EXPECT_GOLDEN("census-80", page_text(census_page(s, SIZE_MAX), 80));
	HI_EXPECT_GOLDEN("census-120-top-3", page_text(census_page(s, 3), 120));
}

/* Variables have 9/10 of the live bytes, and each an eighth of the one before; object i
 * has a part of i + 2. */
HI_TEST(heap_pages, retained)
{
	struct sample *s = sample_make();

	HI_EXPECT_GOLDEN("retained-60", page_text(retained_page(s, 4), 60));
	HI_EXPECT_GOLDEN("retained-100", page_text(retained_page(s, 10), 100));
}

/* Six leak roots with 12 MiB and halves of that, the shapes in turn, and three rows. Two
 * roots are alike, and so one in the table of the largest. */
HI_TEST(heap_pages, leaks)
{
	struct sample *s = sample_make();

	s->leak_roots[2] = s->leak_roots[1];
	s->leaks.n_rows = 3;
	HI_EXPECT_GOLDEN("leaks-60", page_text(leaks_page(s), 60));
	HI_EXPECT_GOLDEN("leaks-100", page_text(leaks_page(s), 100));
}

/* Memory that could not be read, and the heap's damage: why none is certain; shared
 * memory that raises no doubts. */
HI_TEST(heap_pages, leaks_where_memory_was_not_read)
{
	struct sample *s = sample_make();

	s->reach.apart_bytes = 135 << 20;
	HI_EXPECT_GOLDEN("leaks-apart-80", page_text(leaks_page(s), 80));
	s->reach.is_doubtful = true;
	HI_EXPECT_GOLDEN("leaks-damaged-80", page_text(leaks_page(s), 80));
	s->reach.unread_bytes = 8192;
	s->reach.apart_bytes = 0;
	HI_EXPECT_GOLDEN("leaks-unread-80", page_text(leaks_page(s), 80));
}

HI_TEST(heap_pages, leaks_beside_what_integers_hold)
{
	struct sample *s = sample_make();

	s->reach.integer_objects = 1000;
	s->reach.integer_bytes = 64000;
	HI_EXPECT_GOLDEN("leaks-integers-80", page_text(leaks_page(s), 80));
}

/* Object 1: a struct dictEntry of 88 B, with a third of the live bytes, 71.1 MiB. */
HI_TEST(heap_pages, explain)
{
	HI_EXPECT_GOLDEN("explain-100", page_text(explain_page(sample_make()), 100));
}

/* From server by object 0 to object 15, the second of two entries. */
HI_TEST(heap_pages, paths)
{
	struct sample *s = sample_make();

	HI_EXPECT_GOLDEN("paths-80", page_text(paths_page(s, false), 80));
	HI_EXPECT_GOLDEN("paths-steps-80", page_text(paths_page(s, true), 80));
}

/* ---- several heaps ---- */

static const struct hi_new_row new_rows[] = {{.type = "struct order",
					      .count = 400,
					      .bytes = 4 << 20,
					      .leaked = 1,
					      .retained = 5 << 20,
					      .of = 500,
					      .example = SAMPLE_HEAP,
					      .way = "server.orders[17]"},
					     {.type = SAMPLE_HOSTILE,
					      .count = 1,
					      .bytes = 16,
					      .likely = 1,
					      .of = 3,
					      .example = SAMPLE_HEAP + 0x210,
					      .way = ""}};
static const struct hi_new_holder new_holders[] = {{.name = "server.orders",
						    .type = "struct vector",
						    .address = SAMPLE_HEAP + 0x10,
						    .objects = 399,
						    .bytes = (4 << 20) - 10240}};
static const struct hi_new_objects new_objects = {.rows = new_rows,
						  .n_rows = 2,
						  .hidden = {.by_top = {2, 300}},
						  .all = {403, (4 << 20) + 316},
						  .unheld = {[0] = {1, 10240}},
						  .holders = new_holders,
						  .n_holders = 1};

/* 400 struct order of 10 KiB each were born, which is 4 MiB; 5 of 10 char [] died, and
 * one grew by 1,000 B; struct session, which did not change, is left out. */
HI_TEST(heap_pages, diff)
{
	struct hi_compare_row rows[] = {
		{"struct order", {100, 1 << 20}, {500, 5 << 20}, {400, 4 << 20}, {}, 0},
		{SAMPLE_HOSTILE, {}, {3, 316}, {3, 316}, {}, 0},
		{"struct session", {7, 7000}, {7, 7000}, {}, {}, 0},
		{"char []", {10, 100000}, {5, 51000}, {}, {5, 50000}, 1000}};
	const struct hi_comparison c = {.same_process = true,
					.rows = rows,
					.n_rows = 4,
					.all = {"",
						{117, (1 << 20) + 107000},
						{515, (5 << 20) + 58316},
						{400, 4 << 20},
						{5, 50000},
						1000}};
	const struct hi_lost_row lost[] = {{.type = "struct order",
					    .under = "server.orders",
					    .all = {1, 10240},
					    .example = SAMPLE_HEAP + 0x110}};
	struct sample *s = sample_make();
	struct hi_report_header before = s->header;
	struct hi_page *page = page_new();
	struct hi_diff_report r = {
		.before = &before,
		.after = &s->header,
		.c = &c,
		.by = "type",
		.live_before = (1 << 20) + 107000,
		.live_after = (5 << 20) + 58316,
		.leaks_after = {.certain = {1, 10240}},
		.born = new_objects,
		.lost = {.is_known = true, .rows = lost, .n_rows = 1, .all = {1, 10240}},
		.top = 10};

	before.time_ns -= 60000000000;
	hi_diff_display(&r, page);
	HI_EXPECT_GOLDEN("diff-80", page_text(page, 80));
	HI_EXPECT_GOLDEN("diff-120", page_text(page, 120));
}

/* The load brought 500 objects: 400 struct order are still there afterwards. */
HI_TEST(heap_pages, survived)
{
	struct sample *s = sample_make();
	struct hi_report_header warm = s->header, load = s->header;
	struct hi_page *page = page_new();
	const struct hi_survived_report r = {.warm = &warm,
					     .load = &load,
					     .after = &s->header,
					     .live = {1 << 20, 8 << 20, 5 << 20},
					     .leaks[2] = {.certain = {1, 10240}},
					     .born = {500, 5 << 20},
					     .load_by_address = true,
					     .after_by_address = true,
					     .survived = new_objects};

	hi_survived_display(&r, page);
	HI_EXPECT_GOLDEN("survived-80", page_text(page, 80));
}
