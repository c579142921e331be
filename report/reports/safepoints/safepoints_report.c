/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/safepoints/safepoints_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/parts/report_node.h"

static int by_use(const void *a, const void *b)
{
	const struct hi_safepoint_row *x = a, *y = b;
	uint64_t hits_x = x->hits == UINT64_MAX ? 0 : x->hits;
	uint64_t hits_y = y->hits == UINT64_MAX ? 0 : y->hits;

	if (x->is_gc != y->is_gc)
		return x->is_gc ? -1 : 1;
	if (!*x->runtime != !*y->runtime)
		return *x->runtime ? -1 : 1;
	if (hits_x != hits_y)
		return hits_x > hits_y ? -1 : 1;
	return strcmp(x->at, y->at);
}

void hi_safepoints_sort(struct hi_safepoints_report *report)
{
	if (report->n_rows)
		qsort(report->rows, report->n_rows, sizeof(*report->rows), by_use);
}

/* ---- as a page ---- */

enum { PURPOSES = 6 };

static bool is_firing_safepoint(const struct hi_safepoint_row *row)
{
	return row->hits && row->hits != UINT64_MAX;
}

static size_t count_firing(const struct hi_safepoints_report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_rows; i++)
		n += is_firing_safepoint(&r->rows[i]);
	return n;
}

/* What the few are that belong to a runtime. */
static void show_purposes(const struct hi_safepoints_report *r, struct hi_page *page)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_rows && n < PURPOSES; i++) {
		const struct hi_safepoint_row *row = &r->rows[i];

		if (!*row->runtime || !*row->purpose)
			continue;
		n++;
		hi_page_fact(
			page, row->is_gc ? "gc" : hi_page_safe(page, row->runtime),
			hi_page_printf(page, "%s%s%s (%s)",
				       row->is_gc ? hi_page_safe(page, row->runtime) : "",
				       row->is_gc ? ", " : "",
				       hi_page_safe(page, row->purpose),
				       hi_page_safe(page, row->at)));
	}
}

static void show_safepoint_facts(const struct hi_safepoints_report *r,
				 struct hi_page *page)
{
	size_t runtime = 0, counted = r->n_rows - r->rows_not_counted;
	char time[24];

	for (size_t i = 0; i < r->n_rows; i++)
		runtime += *r->rows[i].runtime != '\0';
	hi_page_fact(page, "safepoints",
		     hi_page_printf(page, "%zu of known runtimes, %zu other USDT probes",
				    runtime, r->n_rows - runtime));
	if (r->counted_ns)
		hi_page_fact(page, "counted",
			     hi_page_printf(page, "for %s%s: %zu of %zu were hit",
					    hi_text_duration(time, r->counted_ns),
					    r->cut_short ? ", which was enough" : "",
					    count_firing(r), counted));
	else if (*r->not_counted)
		hi_page_fact(page, "not counted", hi_page_safe(page, r->not_counted));
	show_purposes(r, page);
}

/* "emulated", "stepped", or both; they may differ from site to site. */
static const char *cost_text(const struct hi_safepoint_row *row)
{
	size_t stepped = 0;

	for (size_t i = 0; i < row->n_places; i++)
		stepped += row->places[i].single_stepped;
	return stepped == 0 ? "low" : stepped == row->n_places ? "high" : "mixed";
}

static const char *where_text(const struct hi_safepoint_row *row, struct hi_page *page)
{
	char place[HI_PROBED_TEXT];
	const char *text;

	if (!row->n_places)
		return "";
	text = hi_page_safe(page, hi_probed_text(place, &row->places[0]));
	if (row->n_places == 1)
		return text;
	return hi_page_printf(page, "%s, %zu more", text, row->n_places - 1);
}

static void show_safepoint_rows(const struct hi_safepoints_report *r,
				struct hi_page *page)
{
	static const struct hi_column columns[] = {{"--at", HI_COLUMN_WORD},
						   {"hits", HI_COLUMN_COUNT},
						   {"cost", HI_COLUMN_WORD},
						   {"where", HI_COLUMN_TEXT}};
	struct hi_report_table *table = hi_page_table(page, columns, 4);

	for (size_t i = 0; i < r->shown; i++) {
		const struct hi_safepoint_row *row = &r->rows[i];

		hi_cell_text(table, hi_page_safe(page, row->at), 0);
		hi_cell_number(table, row->hits);
		hi_cell_text(table, cost_text(row), 0);
		hi_cell_text(table, where_text(row, page), 0);
		if (row->is_gc)
			hi_report_table_stress(table);
	}
	if (r->n_rows > r->shown)
		hi_page_note(page, hi_page_printf(page, "%zu more with --all",
						  r->n_rows - r->shown));
}

/* Returns the end of a collection if the target reaches it, else the first place that
 * it reaches. */
static const struct hi_safepoint_row *best_of(const struct hi_safepoints_report *r)
{
	for (size_t i = 0; i < r->n_rows; i++)
		if (is_firing_safepoint(&r->rows[i]))
			return &r->rows[i];
	return r->n_rows && r->rows[0].is_gc ? &r->rows[0] : NULL;
}

static void suggest_safepoint_command(const struct hi_safepoints_report *r,
				      struct hi_page *page)
{
	const struct hi_safepoint_row *best = best_of(r);
	const char *target = hi_report_header_target(r->header, page), *at;
	const char *sudo = r->may_not_probe ? "sudo " : "";

	hi_page_blank(page);
	at = !best ? "FUNCTION" : best->is_gc ? "gc" : hi_page_shell_word(page, best->at);
	hi_page_command(
		page, hi_page_printf(page, "%sheapinspect --at %s %s", sudo, at, target),
		"the heap when this place is reached");
	if (best)
		hi_page_command(
			page,
			hi_page_printf(page, "%sheapinspect census --at %s --for 60s %s",
				       sudo, at, target),
			"a series: each time");
}

void hi_safepoints_display(const struct hi_safepoints_report *r, struct hi_page *page)
{
	hi_report_header_title(r->header, page);
	show_safepoint_facts(r, page);
	hi_page_blank(page);
	if (r->n_rows)
		show_safepoint_rows(r, page);
	else
		hi_page_note(
			page,
			"The target has no known runtime and no USDT probe. --at takes "
			"any function (FUNCTION or MODULE:FUNCTION) and FILE:LINE.");
	suggest_safepoint_command(r, page);
}

/* ---- JSON ---- */

static void put_safepoint_row_json(const struct hi_safepoint_row *row,
				   struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "at", row->at);
	hi_json_bool(json, "gc", row->is_gc);
	hi_json_text(json, "runtime", hi_known(row->runtime));
	hi_json_text(json, "purpose", hi_known(row->purpose));
	hi_json_number(json, "hits", row->hits);
	hi_json_array(json, "places");
	for (size_t i = 0; i < row->n_places; i++) {
		hi_json_object(json, NULL);
		hi_probed_json(&row->places[i], json);
		hi_json_number(json, "hits",
			       row->place_hits ? row->place_hits[i] : UINT64_MAX);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_end(json);
}

void hi_safepoints_json(const struct hi_safepoints_report *r, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "schema", "heapinspect/safepoints/v1");
	hi_json_object(json, "target");
	hi_json_number(json, "pid", (uint64_t)r->header->pid);
	hi_json_text(json, "exe", hi_known(r->header->exe));
	hi_json_end(json);
	hi_json_number(json, "counted_ns", r->counted_ns);
	hi_json_text(json, "not_counted", hi_known(r->not_counted));
	hi_json_array(json, "rows");
	for (size_t i = 0; i < r->shown; i++)
		put_safepoint_row_json(&r->rows[i], json);
	hi_json_end(json);
	hi_json_number(json, "hidden", r->n_rows - r->shown);
	hi_json_end(json);
}
