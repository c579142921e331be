/* SPDX-License-Identifier: BSD-2-Clause */
/* Bars of the report `alloc`, in text. */
#include <string.h>

#include "census/space/bars.h"
#include "report/formats/mlworks.h"
#include "report/views/alloc_report.h"

enum { FULL_BAR = 30 }; /* characters of the highest */

static const char *draw_bar(double height, double highest)
{
	static const char full[] = "##############################";
	size_t n = highest > 0 ? (size_t)(height / highest * FULL_BAR + .5) : 0;

	_Static_assert(sizeof(full) == FULL_BAR + 1, "a full bar");
	return full + FULL_BAR - (n < FULL_BAR ? n : (size_t)FULL_BAR);
}

static void fill_bars(const struct hi_alloc_report *r, const struct hi_space_bar *bars,
		      size_t n, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"", HI_COLUMN_TEXT},
						   {"", HI_COLUMN_WORD},
						   {"height", HI_COLUMN_FIGURE},
						   {"alloc", HI_COLUMN_FIGURE}};
	struct hi_report_table *t = hi_page_table(page, columns, 4);
	char bytes[32];

	for (size_t i = 0; i < n; i++) {
		const struct hi_alloc_function *f = &r->functions[bars[i].index];

		hi_cell_text(t, *f->name ? hi_page_safe(page, f->name) : "(no stack)", 0);
		hi_cell_text(t, draw_bar(bars[i].height, bars[0].height), 0);
		hi_cell_text(t, hi_page_printf(page, "%.2f", bars[i].height), 0);
		hi_cell_text(t, hi_mlworks_bytes(bytes, hi_space_at_age(&f->all, 0).size),
			     0);
	}
}

void hi_alloc_bars_display(const struct hi_alloc_report *r, struct hi_page *page)
{
	struct hi_space_cost all = {.alloc = hi_space_at_age(&r->total, 0).size};
	struct hi_space_cost *costs =
		hi_arena_alloc(&page->arena, (r->n_functions + 1) * sizeof(*costs));
	struct hi_space_bar *bars =
		hi_arena_alloc(&page->arena, (r->n_functions + 1) * sizeof(*bars));

	if (!costs || !bars) {
		page->failed = true;
		return;
	}
	for (size_t i = 0; i < r->n_functions; i++)
		costs[i].alloc = hi_space_at_age(&r->functions[i].all, 0).size;
	hi_page_heading(page, "Time and space",
			hi_page_printf(page,
				       "%.0f %% of the height are of space, by alloc",
				       100 * r->weight));
	if (r->weight < 1)
		hi_page_note(page, "no samples of time were taken: the part of time is "
				   "not known, and is missing in the bars");
	fill_bars(r, bars, hi_space_bars(r->weight, costs, r->n_functions, all, bars),
		  page);
}
