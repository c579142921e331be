/* SPDX-License-Identifier: BSD-2-Clause */
/* The report `alloc` as one HTML file: totals, bars, and behind each bar its function. */
#include <stdio.h>

#include "base/cleanup.h"
#include "report/render/html_page.h"
#include "report/reports/alloc/alloc_bars.h"
#include "report/reports/alloc/alloc_report.h"

static struct hi_page *create_html_page(bool full_names)
{
	struct hi_page *page = hi_page_create();

	if (page)
		page->type_names.keep_full = full_names;
	return page;
}

static enum hi_status put_function_section(const struct hi_alloc_report *r, size_t i,
					   bool full_names, FILE *out,
					   struct hi_error *err)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = create_html_page(full_names);
	enum hi_status status;

	if (!page)
		return hi_fail_memory(err, "page");
	hi_alloc_function_display(r, &r->functions[i], page);
	fprintf(out, "<section id=\"function-%zu\">\n", i + 1);
	status = hi_html_page(page, out, err);
	fputs("<p><a href=\"#bars\">to the bars</a></p>\n</section>\n", out);
	return status;
}

enum hi_status hi_alloc_html(const struct hi_alloc_report *r, bool full_names, FILE *out,
			     struct hi_error *err)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = create_html_page(full_names);
	enum hi_status status;

	if (!page)
		return hi_fail_memory(err, "page");
	hi_alloc_display_facts(r, page);
	hi_html_begin(r->exe, out);
	fputs("<div id=\"totals\">\n", out);
	status = hi_html_page(page, out, err);
	fputs("</div>\n<div id=\"bars\">\n", out);
	if (status == HI_OK && r->n_functions)
		status = hi_alloc_bars_svg_linked(r, out, err);
	fputs("</div>\n", out);
	for (size_t i = 0; status == HI_OK && i < r->n_functions; i++)
		status = put_function_section(r, i, full_names, out, err);
	hi_html_end(out);
	return status;
}
