/* SPDX-License-Identifier: BSD-2-Clause */
/* What samples of time say, in the report `alloc`. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/parts/report_links.h"
#include "report/reports/alloc/alloc_report.h"

enum { CALLERS = 5, NS_PER_MS = 1000000, FEW_SAMPLES = 100 };

#define MOST_OF_TIME .8

/* ---- JSON ---- */

void hi_space_time_json(const struct hi_space_time *time, bool is_of_caller,
			struct hi_json *json)
{
	hi_json_object(json, "time");
	hi_json_number(json, "top", time->top);
	hi_json_number(json, "scans", time->scans);
	hi_json_number(json, "found", time->found);
	if (!is_of_caller) {
		hi_json_number(json, "depth", time->depth);
		hi_json_number(json, "self", time->self);
	}
	hi_json_end(json);
}

void hi_alloc_time_json(const struct hi_alloc_report *r, struct hi_json *json)
{
	const struct hi_alloc_time *t = &r->time;

	if (!t->scan_ns) {
		hi_json_null(json, "time");
		return;
	}
	hi_json_object(json, "time");
	hi_json_number(json, "scan_ns", t->scan_ns);
	hi_json_number(json, "scans", t->scans);
	hi_json_number(json, "frames", t->frames);
	hi_json_number(json, "most_frames", t->most_frames);
	hi_json_number(json, "in_allocator", t->in_allocator);
	hi_json_number(json, "in_probes", t->in_probes);
	hi_json_number(json, "no_stack", t->no_stack);
	hi_json_number(json, "missed_threads", t->missed);
	hi_json_number(json, "target_ns", t->target_ns);
	hi_json_number(json, "tool_ns", t->tool_ns);
	hi_json_number(json, "sum_ns", t->target_ns + t->tool_ns);
	hi_json_end(json);
}

/* ---- facts ---- */

static const char *seconds_text(struct hi_page *page, uint64_t ms)
{
	return hi_page_printf(page, "%lu.%03lu s", (unsigned long)(ms / 1000),
			      (unsigned long)(ms % 1000));
}

/* As they are printed, the last one is the sum of the others. */
static void show_cpu_times(const struct hi_alloc_time *t, struct hi_page *page)
{
	uint64_t target = t->target_ns / NS_PER_MS, tool = t->tool_ns / NS_PER_MS;

	hi_page_fact(
		page, "CPU time",
		hi_page_printf(page, "%s of the process", seconds_text(page, target)));
	hi_page_fact(page, "",
		     hi_page_printf(page, "%s of heapinspect", seconds_text(page, tool)));
	hi_page_fact(
		page, "",
		hi_page_printf(page, "%s of both", seconds_text(page, target + tool)));
}

/* What ends soon has few samples, or none. Few are off by chance. */
static void warn_of_few_samples(const struct hi_alloc_time *t, struct hi_page *page)
{
	double sampled = (double)t->scans * (double)t->scan_ns;

	if (t->target_ns / FEW_SAMPLES < t->scan_ns ||
	    sampled > MOST_OF_TIME * (double)t->target_ns)
		return;
	hi_page_warning(page,
			hi_page_printf(page,
				       "the samples stand for %.0f %% of the CPU time: "
				       "threads that end soon have none",
				       100 * sampled / (double)t->target_ns));
}

void hi_alloc_time_facts(const struct hi_alloc_report *r, struct hi_page *page)
{
	const struct hi_alloc_time *t = &r->time;
	char number[32], distance[24], share[16], probes[16];

	if (!t->scan_ns)
		return;
	show_cpu_times(t, page);
	hi_page_fact(page, "samples",
		     hi_page_printf(page, "%s of time, one for each %s of CPU time%s",
				    hi_text_count(number, t->scans),
				    hi_text_duration(distance, t->scan_ns),
				    t->no_stack ? ", some without a stack" : ""));
	if (t->scans)
		hi_page_fact(
			page, "allocator",
			hi_page_printf(page,
				       "%s of the samples are inside of it; in %s the "
				       "kernel works for heapinspect's probes",
				       hi_percent(share, t->in_allocator, t->scans),
				       hi_percent(probes, t->in_probes, t->scans)));
	warn_of_few_samples(t, page);
	if (t->missed)
		hi_page_warning(page, hi_page_printf(page, "%s threads were not sampled",
						     hi_text_count(number, t->missed)));
}

/* ---- the table ---- */

static int compare_times(const void *a, const void *b)
{
	const struct hi_alloc_function *x = *(const struct hi_alloc_function *const *)a,
				       *y = *(const struct hi_alloc_function *const *)b;

	if (x->time.top != y->time.top)
		return x->time.top > y->time.top ? -1 : 1;
	if (x->time.scans != y->time.scans)
		return x->time.scans > y->time.scans ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void add_time_row(struct hi_report_table *t, const char *name, const char *address,
			 unsigned indent, const struct hi_space_time *time,
			 uint64_t scans)
{
	hi_cell_text(t, name, indent);
	hi_cell_link(t, address);
	hi_cell_number(t, time->top);
	hi_cell_percent(t, time->top, scans);
	hi_cell_number(t, time->scans);
	hi_cell_number(t, time->found);
}

static void add_callers_of_time(const struct hi_alloc_report *r,
				const struct hi_alloc_function *f,
				struct hi_report_table *t, struct hi_page *page)
{
	for (size_t i = 0, shown = 0; i < f->n_callers && (r->all || shown < CALLERS);
	     i++) {
		const struct hi_alloc_caller *c = &f->callers[i];

		if (!c->time.found)
			continue;
		add_time_row(t,
			     *c->name ? hi_page_printf(page, "called by %s",
						       hi_page_safe(page, c->name))
				      : "called by an unknown function",
			     hi_alloc_centre_address(c->name, page), c->level, &c->time,
			     r->time.scans);
		hi_cell_empty(t);
		hi_cell_empty(t);
		shown++;
	}
}

void hi_alloc_time_display(const struct hi_alloc_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"", HI_COLUMN_TEXT},		{"top", HI_COLUMN_COUNT},
		{"share", HI_COLUMN_PERCENT},	{"scans", HI_COLUMN_COUNT},
		{"found", HI_COLUMN_COUNT},	{"depth", HI_COLUMN_MINOR_COUNT},
		{"self", HI_COLUMN_MINOR_COUNT}};
	const struct hi_alloc_function **by_time =
		hi_arena_alloc(&page->arena, (r->n_functions + 1) * sizeof(*by_time));
	struct hi_report_table *t;
	size_t n = 0;

	for (size_t i = 0; by_time && i < r->n_functions; i++)
		if (r->functions[i].time.scans)
			by_time[n++] = &r->functions[i];
	page->failed |= !by_time;
	if (!n)
		return;
	qsort(by_time, n, sizeof(*by_time), compare_times);
	hi_page_heading(page, "Time by function",
			"top: samples in it; scans: in it or what it called");
	t = hi_page_table(page, columns, 7);
	for (size_t i = 0; i < n; i++) {
		const struct hi_alloc_function *f = by_time[i];

		add_time_row(t, *f->name ? hi_page_safe(page, f->name) : "(no stack)",
			     r->by == HI_ALLOC_BY_FUNCTION
				     ? hi_address_of_function(page, f->name)
				     : "",
			     0, &f->time, r->time.scans);
		hi_cell_number(t, f->time.depth);
		hi_cell_number(t, f->time.self);
		add_callers_of_time(r, f, t, page);
	}
}
