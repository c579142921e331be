/* SPDX-License-Identifier: BSD-2-Clause */
/* The HTML file of peaks_report.h. */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/search.h"
#include "report/pictures/curve_text.h"
#include "report/pictures/graph_svg.h"
#include "report/render/html_page.h"
#include "report/reports/peaks/peaks_report.h"
#include "report/svg.h"

enum { HREF = 32 };

/* The height of all bands together: the graph has leaks, too. */
static double height_at(const struct hi_bands *bands, double time)
{
	const double *times = bands->series->times + bands->first;
	size_t low = hi_search(i, bands->n_samples, times[i] < time);
	double ret = 0;

	for (size_t i = 0; low < bands->n_samples && i < bands->count; i++)
		ret += bands->items[i].values[low];
	return ret;
}

static enum hi_status put_peaks_curve(const struct hi_peaks_report *r,
				      const struct hi_bands *bands, struct hi_page *page,
				      FILE *out, struct hi_error *err)
{
	HI_GUARD(free)
	struct hi_graph_link *links = hi_calloc(r->n_peaks + 1, sizeof(*links));
	HI_GUARD(free) char *hrefs = hi_calloc(r->n_peaks + 1, HREF);

	if (!links || !hrefs)
		return hi_fail_memory(err, "peaks");
	for (size_t i = 0; i < r->n_peaks; i++) {
		double time = (double)r->peaks[i].point.wall_ns / 1e9;
		char *href = hrefs + i * HREF;

		snprintf(href, HREF, "#peak-%zu", i + 1);
		links[i] = (struct hi_graph_link){
			.time = time,
			.value = height_at(bands, time),
			.href = href,
			.label = hi_page_printf(page, "%c", hi_curve_label(i)),
			.title = hi_peak_title(r, i, page)};
	}
	fputs("<div id=\"curve\">\n", out);
	if (hi_graph_svg_embed(bands, links, r->n_peaks, out, err) != HI_OK)
		return HI_NO_MEMORY;
	fputs("</div>\n", out);
	return HI_OK;
}

static enum hi_status put_peak_section(const struct hi_peaks_report *r, size_t i,
				       bool full_names, FILE *out, struct hi_error *err)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	const struct hi_peak *p = &r->peaks[i];
	enum hi_status status;
	char bytes[24];

	if (!page)
		return hi_fail_memory(err, "page");
	page->type_names.keep_full = full_names;
	hi_page_heading(page, hi_peak_title(r, i, page),
			hi_page_printf(page, "%s live%s", hi_bytes(bytes, p->point.bytes),
				       p->is_top ? ", the maximum" : ""));
	hi_peak_display(p, page);
	fprintf(out, "<section id=\"peak-%zu\">\n", i + 1);
	status = hi_html_page(page, out, err);
	fputs("<p><a href=\"#curve\">to the curve</a></p>\n</section>\n", out);
	return status;
}

enum hi_status hi_peaks_html(const struct hi_peaks_report *r,
			     const struct hi_bands *bands, bool full_names, FILE *out,
			     struct hi_error *err)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	enum hi_status status = HI_OK;

	if (!page)
		return hi_fail_memory(err, "page");
	hi_page_title(page, "Peaks of live memory", hi_page_safe(page, r->file));
	hi_peaks_display_facts(r, page);
	hi_html_begin(r->file, out);
	status = hi_html_page(page, out, err);
	if (status == HI_OK)
		status = put_peaks_curve(r, bands, page, out, err);
	for (size_t i = 0; status == HI_OK && i < r->n_peaks; i++)
		status = put_peak_section(r, i, full_names, out, err);
	hi_html_end(out);
	return status;
}
