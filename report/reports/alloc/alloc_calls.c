/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that `alloc --manner PATTERN=calls` has counted, in text. */
#include "base/clock.h"
#include "base/text.h"
#include "report/parts/report_links.h"
#include "report/reports/alloc/alloc_report.h"

static uint64_t sum_counted_calls(const struct hi_alloc_report *r)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->n_calls; i++)
		sum += r->calls[i].calls;
	return sum;
}

/* What the target lost by them. */
static void show_cost_of_calls(const struct hi_alloc_report *r, struct hi_page *page)
{
	uint64_t cost_ns = sum_counted_calls(r) * r->call_ns;
	char one[24], all[24], share[16];

	hi_page_note(page,
		     hi_page_printf(page,
				    "a count costs the target about %s: %s in all, %s of "
				    "one processor",
				    hi_text_duration(one, r->call_ns),
				    hi_text_duration(all, cost_ns),
				    hi_percent(share, cost_ns,
					       r->lasted_ns ? r->lasted_ns : 1)));
}

void hi_alloc_calls_display(const struct hi_alloc_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"", HI_COLUMN_TEXT}, {"calls", HI_COLUMN_COUNT}, {"in", HI_COLUMN_WORD}};
	struct hi_report_table *t;

	if (!r->n_calls)
		return;
	hi_page_heading(page, "Calls", "counted at the entries of these functions");
	t = hi_page_table(page, columns, 3);
	for (size_t i = 0; i < r->n_calls; i++) {
		hi_cell_text(t, hi_page_safe(page, r->calls[i].name), 0);
		hi_cell_link(t, hi_address_of_function(page, r->calls[i].name));
		hi_cell_number(t, r->calls[i].calls);
		hi_cell_text(t, hi_page_safe(page, hi_base_name(r->calls[i].module)), 0);
	}
	show_cost_of_calls(r, page);
}
