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

/* They may differ from site to site. */
static struct hi_doc_value cost_of_safepoint(const struct hi_doc_row *row)
{
	const struct hi_safepoint_row *s = row->row;
	size_t stepped = 0;

	for (size_t i = 0; i < s->n_places; i++)
		stepped += s->places[i].single_stepped;
	return hi_doc_shown(stepped == 0	     ? "low"
			    : stepped == s->n_places ? "high"
						     : "mixed");
}

static struct hi_doc_value where_of_safepoint(const struct hi_doc_row *row)
{
	const struct hi_safepoint_row *s = row->row;
	char place[HI_PROBED_TEXT];
	const char *text;

	if (!s->n_places)
		return hi_doc_none();
	text = hi_page_safe(row->page, hi_probed_text(place, &s->places[0]));
	return hi_doc_shown(s->n_places == 1 ? text
					     : hi_page_printf(row->page, "%s, %zu more",
							      text, s->n_places - 1));
}

static struct hi_doc_value hits_of_place(const struct hi_doc_row *row)
{
	const struct hi_safepoint_row *s = row->parent;

	return hi_doc_number(s->place_hits ? s->place_hits[row->index] : UINT64_MAX);
}

static bool is_gc_safepoint(const struct hi_doc_row *row)
{
	return ((const struct hi_safepoint_row *)row->row)->is_gc;
}

static const struct hi_doc_field place_fields[] = {
	{.unit = HI_DOC_MEMBERS, .nested = &hi_probed_fields},
	{"hits", NULL, HI_DOC_COUNT, .value = hits_of_place, .nullable = true},
};
static const struct hi_doc_fields places =
	HI_DOC_FIELDS(place_fields, .row_size = sizeof(struct hi_probed),
		      .meaning = "an instruction that a probe is on");

static const struct hi_doc_field safepoint_fields[] = {
	{"at", "--at", HI_DOC_WORD, HI_AT(struct hi_safepoint_row, at),
	 .meaning = "the argument of --at"},
	{"gc", NULL, HI_DOC_FLAG, HI_AT(struct hi_safepoint_row, is_gc),
	 .meaning = "this is the place of --at gc"},
	{"runtime", NULL, HI_DOC_TEXT, HI_AT(struct hi_safepoint_row, runtime),
	 .nullable = true},
	{"purpose", NULL, HI_DOC_TEXT, HI_AT(struct hi_safepoint_row, purpose),
	 .nullable = true},
	{"hits", "hits", HI_DOC_COUNT, HI_AT(struct hi_safepoint_row, hits),
	 .nullable = true, .meaning = "null: not counted"},
	{NULL, "cost", HI_DOC_WORD, .value = cost_of_safepoint},
	{NULL, "where", HI_DOC_TEXT, .value = where_of_safepoint},
	{"places", NULL, HI_DOC_ROWS,
	 HI_AT_ROWS(struct hi_safepoint_row, places, n_places), .nested = &places},
};
static const struct hi_doc_fields safepoints =
	HI_DOC_FIELDS(safepoint_fields, .row_size = sizeof(struct hi_safepoint_row),
		      .is_strong = is_gc_safepoint);

static const struct hi_doc_field safepoint_target_fields[] = {
	{"pid", NULL, HI_DOC_COUNT, HI_AT(struct hi_report_header, pid), .least = 1},
	{"exe", NULL, HI_DOC_TEXT, HI_AT(struct hi_report_header, exe), .nullable = true},
};
static const struct hi_doc_fields safepoint_target =
	HI_DOC_FIELDS(safepoint_target_fields);

static struct hi_doc_value count_hidden_safepoints(const struct hi_doc_row *row)
{
	const struct hi_safepoints_report *r = row->report;

	return hi_doc_number(r->n_rows - r->shown);
}

static const struct hi_doc_field document_fields[] = {
	{"target", NULL, HI_DOC_OBJECT,
	 HI_AT_POINTER(struct hi_safepoints_report, header), .nested = &safepoint_target},
	{"counted_ns", NULL, HI_DOC_COUNT, HI_AT(struct hi_safepoints_report, counted_ns),
	 .meaning = "0: not at all"},
	{"not_counted", NULL, HI_DOC_TEXT,
	 HI_AT(struct hi_safepoints_report, not_counted), .nullable = true,
	 .meaning = "why"},
	{"rows", NULL, HI_DOC_ROWS, HI_AT_ROWS(struct hi_safepoints_report, rows, shown),
	 .nested = &safepoints,
	 .meaning = "the end of a collection first, then those of runtimes, then by "
		    "hits"},
	{"hidden", NULL, HI_DOC_COUNT, .value = count_hidden_safepoints,
	 .meaning = "rows; --all"},
};
const struct hi_doc_fields hi_safepoints_document = HI_DOC_FIELDS(
	document_fields, .meaning = "The argument of --at that can stop a process, and "
				    "how often it came by. Members may be added within "
				    "v1.");

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
	if (r->n_rows) {
		hi_doc_show_rows(page, &safepoints, r, 0, r->rows, r->shown);
		if (r->n_rows > r->shown)
			hi_page_note(page, hi_page_printf(page, "%zu more with --all",
							  r->n_rows - r->shown));
	} else {
		hi_page_note(
			page,
			"The target has no known runtime and no USDT probe. --at takes "
			"any function (FUNCTION or MODULE:FUNCTION) and FILE:LINE.");
	}
	suggest_safepoint_command(r, page);
}

void hi_safepoints_json(const struct hi_safepoints_report *r, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "schema", "heapinspect/safepoints/v1");
	hi_doc_put_report(&hi_safepoints_document, r, 0, json);
	hi_json_end(json);
}
