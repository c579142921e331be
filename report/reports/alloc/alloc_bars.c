/* SPDX-License-Identifier: BSD-2-Clause */
/* Bars of the report `alloc`: which there are, and how text shows them. */
#include "report/reports/alloc/alloc_bars.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/parts/report_links.h"
#include "report/reports/alloc/alloc_sort.h"
#include "report/reports/alloc/mlworks.h"

/* Of the page's width, a bar has so many eighths; it has 10 to FULL_BAR characters. */
enum { EIGHTHS = 3, LEAST_BAR = 10, FULL_BAR = 120 };

/* ---- which bars there are ---- */

static struct hi_space_cost cost_of_bar(const struct hi_alloc_function *f)
{
	return (struct hi_space_cost){f->time.top, hi_space_at_age(&f->all, 0).size};
}

static struct hi_space_cost cost_of_all(const struct hi_alloc_report *r)
{
	return (struct hi_space_cost){r->time.scans, hi_space_at_age(&r->total, 0).size};
}

static struct hi_alloc_bar make_bar(const struct hi_alloc_report *r,
				    const struct hi_alloc_function *f)
{
	struct hi_space_cost all = cost_of_all(r), of = cost_of_bar(f);

	return (struct hi_alloc_bar){
		f,
		hi_space_bar_height(r->weight, (struct hi_space_cost){.top = of.top},
				    all),
		hi_space_bar_height(r->weight, (struct hi_space_cost){.alloc = of.alloc},
				    all)};
}

/* For qsort_r. */
static int compare_alloc_bars(const void *a, const void *b, void *order)
{
	const struct hi_alloc_bar *x = a, *y = b;

	return hi_alloc_compare(*(const enum hi_alloc_order *)order, x->function,
				y->function);
}

bool hi_alloc_bars_choose(const struct hi_alloc_report *r, struct hi_arena *arena,
			  struct hi_alloc_bars *ret)
{
	size_t n = r->n_functions, filled;
	struct hi_space_cost *costs = hi_arena_alloc(arena, (n + 1) * sizeof(*costs));
	struct hi_space_bar *bars = hi_arena_alloc(arena, (n + 1) * sizeof(*bars));
	enum hi_alloc_order order = r->order;

	*ret = (struct hi_alloc_bars){
		.items = hi_arena_alloc(arena, (n + 1) * sizeof(*ret->items))};
	if (!costs || !bars || !ret->items)
		return false;
	for (size_t i = 0; i < n; i++)
		costs[i] = cost_of_bar(&r->functions[i]);
	filled = hi_space_bars(r->weight, costs, n, cost_of_all(r), bars);
	ret->n = filled < r->most_bars ? filled : r->most_bars;
	ret->n_left_out = filled - ret->n;
	ret->highest = ret->n ? bars[0].height : 0;
	for (size_t i = 0; i < ret->n; i++)
		ret->items[i] = make_bar(r, &r->functions[bars[i].index]);
	if (order != HI_ALLOC_BY_WEIGHT)
		qsort_r(ret->items, ret->n, sizeof(*ret->items), compare_alloc_bars,
			&order);
	return true;
}

const char *hi_alloc_bars_note(const struct hi_alloc_report *r)
{
	return r->weight < 1 && !r->time.scans
		       ? "no samples of time were taken: the part of time is not "
			 "known, and is missing in the bars"
		       : "";
}

/* ---- as text ---- */

static size_t length_of_bars(const struct hi_alloc_report *r)
{
	size_t n = r->width * EIGHTHS / 8;

	return n < LEAST_BAR ? (size_t)LEAST_BAR : n > FULL_BAR ? (size_t)FULL_BAR : n;
}

static const char *draw_bar(struct hi_page *page, double height, double highest,
			    size_t full)
{
	char text[FULL_BAR + 1];
	size_t n = highest > 0 ? (size_t)(height / highest * (double)full + .5) : 0;

	n = n < full ? n : full;
	memset(text, '#', n);
	text[n] = '\0';
	return hi_page_printf(page, "%s", text);
}

static void fill_bars(const struct hi_alloc_report *r, const struct hi_alloc_bars *bars,
		      struct hi_page *page)
{
	static const struct hi_column columns[] = {{"", HI_COLUMN_TEXT},
						   {"", HI_COLUMN_WORD},
						   {"height", HI_COLUMN_FIGURE},
						   {"alloc", HI_COLUMN_FIGURE}};
	struct hi_report_table *t = hi_page_table(page, columns, 4);
	char bytes[32];

	for (size_t i = 0; i < bars->n; i++) {
		const struct hi_alloc_function *f = bars->items[i].function;
		double height = hi_alloc_bar_height(&bars->items[i]);

		hi_cell_text(t, *f->name ? hi_page_safe(page, f->name) : "(no stack)", 0);
		if (r->by == HI_ALLOC_BY_FUNCTION)
			hi_cell_link(t, hi_address_of_function(page, f->name));
		hi_cell_text(t, draw_bar(page, height, bars->highest, length_of_bars(r)),
			     0);
		hi_cell_text(t, hi_page_printf(page, "%.2f", height), 0);
		hi_cell_text(t, hi_mlworks_bytes(bytes, hi_space_at_age(&f->all, 0).size),
			     0);
	}
}

void hi_alloc_bars_display(const struct hi_alloc_report *r, struct hi_page *page)
{
	const char *note = hi_alloc_bars_note(r);
	struct hi_alloc_bars bars;
	char count[32];

	if (!hi_alloc_bars_choose(r, &page->arena, &bars)) {
		page->failed = true;
		return;
	}
	hi_page_heading(page, "Time and space",
			hi_page_printf(page,
				       "%.0f %% of the height are of space, by alloc",
				       100 * r->weight));
	if (*note)
		hi_page_note(page, note);
	fill_bars(r, &bars, page);
	if (bars.n_left_out)
		hi_page_note(page,
			     hi_page_printf(page, "%s more, with less height (--all)",
					    hi_count(count, bars.n_left_out)));
}
