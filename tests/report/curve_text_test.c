/* SPDX-License-Identifier: BSD-2-Clause */
/* Curves and stacks of bands as lines of text, and pages as HTML. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/pictures/curve_text.h"
#include "report/render/html_page.h"
#include "report/render/text.h"
#include "tests/harness.h"
#include "tests/support/golden.h"

static struct hi_page *new_page(void)
{
	struct hi_page *page = hi_page_create();

	HI_ASSERT(page);
	hi_test_defer(hi_page_destroy, page);
	return page;
}

static const char *text_of_page(const struct hi_page *page, bool html)
{
	struct hi_text_options options = {.width = 200};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct hi_error err;

	HI_ASSERT(out);
	HI_ASSERT_OK(html ? hi_html_page(page, out, &err)
			  : hi_text_render(page, &options, out, &err),
		     &err);
	fclose(out);
	hi_test_defer(free, text);
	return text;
}

static const char *draw_curve(const struct hi_curve_point *points, size_t n,
			      const size_t *marks, size_t n_marks)
{
	struct hi_page *page = new_page();

	hi_curve_display(points, n, marks, n_marks, 34, page);
	return text_of_page(page, false);
}

#define S 1000000000ull

HI_TEST(curve_text, a_curve_has_its_heights_times_and_marks)
{
	const struct hi_curve_point points[] = {
		{0, 0}, {5 * S, 1000}, {10 * S, 500}, {19 * S, 1}};
	const size_t marks[] = {1, 2};

	HI_ASSERT_STREQ("             |     1\n"
			"      1000 B |     #####\n"
			"             |     #####\n"
			"             |     #####\n"
			"             |     #####\n"
			"             |     #####2\n"
			"       500 B |     ##############\n"
			"             |     ##############\n"
			"             |     ##############\n"
			"             |     ##############\n"
			"             |     ###############\n"
			"         0 B +--------------------\n"
			"              0 s          19.00 s\n",
			draw_curve(points, 4, marks, 2));
}

/* The highest of many points in a column counts: number 777, nearly 16 EiB. */
HI_TEST(curve_text, no_time_no_bytes_and_many_points_in_a_column)
{
	struct hi_golden_pages *pages = hi_golden_pages();
	struct hi_curve_point points[1000] = {};
	const size_t first = 0;

	HI_ASSERT_STREQ("", draw_curve(points, 0, NULL, 0));
	hi_golden_add(pages, "no time, no bytes, a mark",
		      draw_curve(points, 1, &first, 1));
	hi_golden_add(pages, "no time, no bytes", draw_curve(points, 1, NULL, 0));
	for (size_t i = 0; i < 1000; i++)
		points[i] = (struct hi_curve_point){i, i == 777 ? UINT64_MAX - 1 : 1};
	hi_golden_add(pages, "many points", draw_curve(points, 1000, NULL, 0));
	HI_EXPECT_GOLDEN_PAGES("curves", pages);
}

/* 20 B up to 10 s, 10 of them of A, 5 of B and 5 of bands without a letter; then nothing,
 * and 10 without a letter at the end. */
HI_TEST(curve_text, a_stack_has_a_letter_for_each_band)
{
	const uint64_t times[] = {0, 10 * S, 19 * S}, totals[] = {20, 0, 10};
	const size_t starts[] = {0, 3, 3, 4}, letters[] = {1, 0, 2};
	const struct hi_hp_point points[] = {{0, 5}, {1, 10}, {2, 5}, {2, 10}};
	const struct hi_stack stack = {.times_ns = times,
				       .totals = totals,
				       .n_samples = 3,
				       .starts = starts,
				       .points = points,
				       .letters = letters,
				       .n_letters = 2};
	struct hi_page *page = new_page();

	hi_stack_display(&stack, 34, page);
	HI_EXPECT_GOLDEN("stack-of-bands", text_of_page(page, false));
}

/* What the target names is text, not markup. */
HI_TEST(html_page, hostile_names_are_escaped)
{
	static const struct hi_column columns[] = {{"<i>", HI_COLUMN_TEXT},
						   {"n", HI_COLUMN_COUNT}};
	struct hi_page *page = new_page();
	struct hi_report_table *t;
	const char *html;

	hi_page_heading(page, hi_page_safe(page, "</h2><script>\"&\x01"), NULL);
	t = hi_page_table(page, columns, 2);
	hi_cell_text(t, hi_page_safe(page, "</td><img onerror=x>"), 2);
	hi_cell_number(t, UINT64_MAX);
	html = text_of_page(page, true);
	HI_ASSERT_MSG(!strstr(html, "<script") && !strstr(html, "<img") &&
			      !strstr(html, "<i>") && !strchr(html, 1),
		      "%s", html);
	HI_ASSERT_MSG(strstr(html, "&lt;/td&gt;&lt;img"), "%s", html);
	HI_ASSERT_MSG(strstr(html, "<td class=\"n\">?</td>"), "%s", html);
}
