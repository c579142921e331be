/* SPDX-License-Identifier: BSD-2-Clause */
/* The page and the document of windows_report.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "report/parts/decoded_share.h"
#include "report/parts/frame_text.h"
#include "report/parts/hidden_rows.h"
#include "report/parts/windows_report.h"

static uint64_t round_figure(double value)
{
	return value > 0 && value < 0x1p63 ? (uint64_t)llround(value) : 0;
}

/* "0.4", "12", "1,234,567" */
static const char *estimate_number_text(double value, struct hi_page *page)
{
	char n[32];

	if (value > 0 && value < 9.95)
		return hi_page_printf(page, "%.1f", value);
	return hi_page_printf(page, "%s", hi_count(n, round_figure(value)));
}

static const char *bytes_text(double value, struct hi_page *page)
{
	char n[24];

	return hi_page_printf(page, "%s", hi_bytes(n, round_figure(value)));
}

/* "1.2 to 1.6 MiB" */
static const char *bytes_range_text(const struct hi_bounded *b, struct hi_page *page)
{
	char low[24], high[24];
	char *low_unit;
	const char *high_unit;

	hi_bytes(low, round_figure(b->low));
	hi_bytes(high, round_figure(b->high));
	if (isinf(b->high))
		return hi_page_printf(page, "at least %s", low);
	low_unit = strrchr(low, ' ');
	high_unit = strrchr(high, ' ');
	if (low_unit && high_unit && strcmp(low_unit, high_unit) == 0)
		*low_unit = '\0';
	return hi_page_printf(page, "%s to %s", low, high);
}

static const char *number_range_text(const struct hi_bounded *b, struct hi_page *page)
{
	if (isinf(b->high))
		return hi_page_printf(page, "at least %s",
				      estimate_number_text(b->low, page));
	return hi_page_printf(page, "%s to %s", estimate_number_text(b->low, page),
			      estimate_number_text(b->high, page));
}

/* ---- facts ---- */

/* Nothing where windows do not slow it down. */
static void show_speed(const struct hi_windows_report *r, struct hi_page *page)
{
	struct hi_bounded speed = hi_window_speed(&r->result->load);

	if (speed.value >= 0.99)
		return;
	hi_page_fact(page, "slowed",
		     hi_page_printf(page,
				    "in windows the program ran at %.0f %% of its speed "
				    "(%.0f to %.0f), by its CPU time and %llu ns a trap; "
				    "figures are of its full speed",
				    100 * speed.value, 100 * speed.low, 100 * speed.high,
				    (unsigned long long)r->result->load.trap_ns));
}

/* Nothing where they were asked for. */
static void show_windows_choice(const struct hi_windows_report *r, struct hi_page *page)
{
	const struct hi_windows_choice *c = &r->result->choice;
	char share[16], time[24];

	if (c->why == HI_WINDOWS_ASKED)
		return;
	hi_percent(share, c->cost_ppm, 1000000);
	if (c->why == HI_WINDOWS_BECAME_DEAR)
		hi_page_fact(page, "chosen",
			     hi_page_printf(
				     page,
				     "windows, after %s in which every allocation was "
				     "recorded (that is left out): it came to take %s of "
				     "the program's CPU time; --sample all records all "
				     "the time",
				     hi_text_duration(time, c->whole_ns), share));
	else
		hi_page_fact(page, "chosen",
			     hi_page_printf(page,
					    "windows, since a record of every allocation "
					    "would take about %s of the program's CPU "
					    "time; --sample all takes it",
					    share));
}

static void show_windows_fact(const struct hi_windows_report *r, struct hi_page *page)
{
	struct hi_window_totals t = r->result->totals;
	uint64_t length = r->result->duration_ns;
	char time[24], covered[24], n[32], allocs[32], share[16], traps[32];

	hi_page_fact(
		page, "recorded",
		hi_page_printf(
			page,
			"%s, of which %s window%s of at most 20 ms a second %s "
			"seen, %s (%s): %s allocations%s%s, %s traps",
			hi_text_duration(time, length), hi_count(n, t.n),
			t.n == 1 ? "" : "s", t.n == 1 ? "was" : "were",
			hi_text_duration(covered, t.covered_ns),
			hi_percent(share, t.covered_ns, length ? length : 1),
			hi_count(allocs, t.allocs), *r->result->allocator ? " from " : "",
			hi_page_safe(page, r->result->allocator),
			hi_count(traps, r->result->load.hits + r->result->late_hits)));
	show_windows_choice(r, page);
	show_speed(r, page);
	hi_page_fact(
		page, "estimated",
		"all figures with ~, with the range of 95 %: rates by the windows' "
		"own differences (Student, Wilson); live bytes and leaks from the "
		"blocks that windows saw, raked to the sums that the walk of the heap "
		"found for each size and type");
}

/* ---- tables ---- */

/* Sites in the order of one figure. */
struct windows_order {
	const struct hi_windows_report *report;
	uint32_t *groups;
	size_t n;
};

static double rate_of_site(const struct hi_window_site *site)
{
	return site->rate.allocs.value;
}

static double live_of_site(const struct hi_window_site *site)
{
	/* One whose share is not known at all comes by what it can have. */
	return site->live_bytes.value > 0 ? site->live_bytes.value
	       : site->seen_live	  ? site->live_bytes.high * 1e-6
					  : 0;
}

static double lost_of_site(const struct hi_window_site *site)
{
	return site->lost_bytes.value > 0 ? site->lost_bytes.value
	       : site->seen_lost	  ? site->lost_bytes.high * 1e-6
					  : 0;
}

typedef double figure_of_site(const struct hi_window_site *site);

struct ordered_site {
	double figure;
	uint32_t row;
};

static int compare_ordered_sites(const void *a, const void *b)
{
	const struct ordered_site *x = a, *y = b;

	if (x->figure < y->figure || x->figure > y->figure)
		return x->figure < y->figure ? 1 : -1;
	return (x->row > y->row) - (x->row < y->row);
}

/* Orders those that have the figure, the largest first; *n_ret of them. */
static const struct ordered_site *order_sites(const struct hi_windows_report *r,
					      figure_of_site *figure,
					      struct hi_arena *arena, size_t *n_ret)
{
	size_t n_rows = r->result->n_rows, n = 0;
	struct ordered_site *sites = hi_arena_alloc(arena, (n_rows + 1) * sizeof(*sites));

	*n_ret = 0;
	for (size_t i = 0; sites && i < n_rows; i++) {
		double value = figure(&r->result->rows[i].figures);

		if (value > 0)
			sites[n++] = (struct ordered_site){value, (uint32_t)i};
	}
	if (n)
		qsort(sites, n, sizeof(*sites), compare_ordered_sites);
	*n_ret = n;
	return sites;
}

/* NULL: no stack. */
static const struct hi_frame_row *row_of_window_site(const struct hi_windows_report *r,
						     uint32_t row)
{
	return r->result->rows[row].has_site ? &r->result->rows[row].site : NULL;
}

static void add_site_name(const struct hi_windows_report *r, uint32_t at,
			  struct hi_report_table *t)
{
	const struct hi_frame_row *row = row_of_window_site(r, at);

	hi_cell_text(t, row ? hi_frame_function(row, t->page) : "(no stack)", 0);
}

static void add_site_place(const struct hi_windows_report *r, uint32_t at,
			   struct hi_report_table *t)
{
	const struct hi_frame_row *row = row_of_window_site(r, at);

	hi_cell_text(t, row ? hi_frame_place(row, t->page) : "", 0);
}

static void show_rates(const struct hi_windows_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"function", HI_COLUMN_TEXT},
						   {"~allocations/s", HI_COLUMN_FIGURE},
						   {"95 %", HI_COLUMN_FIGURE},
						   {"~bytes/s", HI_COLUMN_MINOR_FIGURE},
						   {"where", HI_COLUMN_TEXT}};
	size_t n;
	const struct ordered_site *sites = order_sites(r, rate_of_site, &page->arena, &n);
	struct hi_report_table *t;

	hi_page_heading(page, "How often functions allocate", NULL);
	t = hi_page_table(page, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < n && i < r->top; i++) {
		const struct hi_window_site *site =
			&r->result->rows[sites[i].row].figures;

		add_site_name(r, sites[i].row, t);
		hi_cell_text(t, estimate_number_text(site->rate.allocs.value, page), 0);
		hi_cell_text(t, number_range_text(&site->rate.allocs, page), 0);
		hi_cell_text(t, bytes_text(site->rate.bytes.value, page), 0);
		add_site_place(r, sites[i].row, t);
	}
	if (n == 0)
		hi_page_note(page, "no window saw an allocation");
	if (n > r->top)
		hi_page_note(page,
			     hi_page_printf(page, "%zu more rows (--all)", n - r->top));
}

/* Is so little known of the figure that only its range is shown? */
static bool is_only_a_range(const struct hi_bounded *b)
{
	return b->low <= 0 && b->high > 2 * b->value;
}

static void add_bytes_estimate(const struct hi_bounded *b, struct hi_report_table *t)
{
	if (is_only_a_range(b))
		hi_cell_empty(t);
	else
		hi_cell_text(t, bytes_text(b->value, t->page), 0);
	hi_cell_text(t, bytes_range_text(b, t->page), 0);
}

static void show_live_by_windows(const struct hi_windows_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"function", HI_COLUMN_TEXT},
						   {"~bytes", HI_COLUMN_FIGURE},
						   {"bytes, 95 %", HI_COLUMN_FIGURE},
						   {"where", HI_COLUMN_TEXT}};
	size_t n;
	const struct ordered_site *sites = order_sites(r, live_of_site, &page->arena, &n);
	struct hi_report_table *t;

	hi_page_heading(page, "Live bytes of the recording",
			"by the function that allocated them");
	t = hi_page_table(page, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < n && i < r->top; i++) {
		add_site_name(r, sites[i].row, t);
		add_bytes_estimate(&r->result->rows[sites[i].row].figures.live_bytes, t);
		add_site_place(r, sites[i].row, t);
	}
	if (n == 0)
		hi_page_note(page, "nothing that a window saw is live");
	if (n > r->top)
		hi_page_note(page,
			     hi_page_printf(page, "%zu more rows (--all)", n - r->top));
}

static void show_leaks_by_windows(const struct hi_windows_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"function", HI_COLUMN_TEXT},
		{"~blocks", HI_COLUMN_FIGURE},
		{"blocks, 95 %", HI_COLUMN_FIGURE},
		{"~bytes", HI_COLUMN_FIGURE},
		{"bytes, 95 %", HI_COLUMN_MINOR_FIGURE},
		{"where", HI_COLUMN_TEXT}};
	size_t n;
	const struct ordered_site *sites = order_sites(r, lost_of_site, &page->arena, &n);
	struct hi_report_table *t;
	char bytes[24], blocks[32];

	if (!r->result->lost)
		return;
	hi_page_heading(page, "New leaks",
			hi_page_printf(page,
				       "of %s in %s leaked blocks, by the function "
				       "that allocated them",
				       hi_bytes(bytes, r->result->lost_bytes),
				       hi_count(blocks, r->result->lost)));
	t = hi_page_table(page, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < n && i < r->top; i++) {
		const struct hi_window_site *site =
			&r->result->rows[sites[i].row].figures;

		add_site_name(r, sites[i].row, t);
		if (is_only_a_range(&site->lost))
			hi_cell_empty(t);
		else
			hi_cell_text(t, estimate_number_text(site->lost.value, page), 0);
		hi_cell_text(t, number_range_text(&site->lost, page), 0);
		add_bytes_estimate(&site->lost_bytes, t);
		add_site_place(r, sites[i].row, t);
	}
	if (n == 0)
		hi_page_note(page, "none of them was seen by a window: they are from "
				   "before the recording, or few");
	if (n > r->top)
		hi_page_note(page,
			     hi_page_printf(page, "%zu more rows (--all)", n - r->top));
}

static size_t count_only_ranges(const struct hi_windows_report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->result->n_rows; i++) {
		const struct hi_window_site *site = &r->result->rows[i].figures;

		n += (site->seen_live && is_only_a_range(&site->live_bytes)) ||
		     (site->seen_lost && is_only_a_range(&site->lost));
	}
	return n;
}

static void warn_of_blind_windows(const struct hi_windows_report *r, struct hi_page *page)
{
	uint64_t blind = r->result->blind_ns, all = r->result->duration_ns;
	char since[24];

	if (blind < HI_NS_PER_S || blind > all)
		return;
	hi_page_warning(
		page, hi_page_printf(
			      page,
			      "the first thread of the program ended %s after the begin: "
			      "probes of windows need it, so that they saw nothing since "
			      "then, and figures are of the time before (--sample all "
			      "or SIZE sees all of it)",
			      hi_text_duration(since, all - blind)));
}

void hi_windows_display(const struct hi_windows_report *r, struct hi_page *page)
{
	char n[32];

	hi_report_header_title(r->header, page);
	hi_page_text(page, hi_heap_live_text(r->header, r->result->bytes,
					     r->result->objects, page));
	show_windows_fact(r, page);
	hi_report_header_facts(r->header, page, false);
	if (r->result->lost_events)
		hi_page_warning(page,
				hi_page_printf(page,
					       "%s events were lost: figures are too "
					       "small by as much",
					       hi_count(n, r->result->lost_events)));
	warn_of_blind_windows(r, page);
	show_rates(r, page);
	show_live_by_windows(r, page);
	show_leaks_by_windows(r, page);
	hi_recorded_children_display(&r->children, page);
	if (count_only_ranges(r))
		hi_page_note(page,
			     "a range alone: blocks of this function are freed between "
			     "windows, and other functions allocate blocks of the same "
			     "size, so that it is not known whose a block is "
			     "(--sample SIZE or all knows)");
}

/* ---- the document ---- */

static void put_bounded_json(const struct hi_bounded *b, const char *key,
			     struct hi_json *json)
{
	hi_json_object(json, key);
	hi_json_real(json, "value", b->value);
	hi_json_real(json, "low", b->low);
	hi_json_real(json, "high", b->high);
	hi_json_end(json);
}

static void put_window_site_json(const struct hi_windows_report *r, uint32_t at,
				 struct hi_json *json)
{
	const struct hi_window_site *site = &r->result->rows[at].figures;
	const struct hi_frame_row *row = row_of_window_site(r, at);

	hi_json_object(json, NULL);
	if (row)
		hi_frame_json(row, "site", json);
	else
		hi_json_null(json, "site");
	hi_json_number(json, "seen", site->rate.seen);
	put_bounded_json(&site->rate.allocs, "allocations_per_s", json);
	put_bounded_json(&site->rate.bytes, "bytes_per_s", json);
	hi_json_number(json, "seen_live", site->seen_live);
	hi_json_number(json, "seen_leaked", site->seen_lost);
	hi_json_number(json, "unseen_frees", site->unseen_frees);
	put_bounded_json(&site->live_bytes, "live_bytes", json);
	put_bounded_json(&site->lost, "leaked", json);
	put_bounded_json(&site->lost_bytes, "leaked_bytes", json);
	hi_json_end(json);
}

static void put_windows_choice_json(const struct hi_windows_choice *choice,
				    struct hi_json *json)
{
	static const char *const names[] = {"asked for", "dear", "became dear"};

	hi_json_object(json, "chosen");
	hi_json_text(json, "why",
		     names[choice->why <= HI_WINDOWS_BECAME_DEAR ? choice->why
								 : HI_WINDOWS_ASKED]);
	if (choice->why != HI_WINDOWS_ASKED) {
		hi_json_real(json, "cost", (double)choice->cost_ppm * 1e-6);
		hi_json_number(json, "whole_ns", choice->whole_ns);
	}
	hi_json_end(json);
}

static void put_windows_json(const struct hi_windows_report *r, struct hi_json *json)
{
	struct hi_window_totals t = r->result->totals;
	const struct hi_window_load *load = &r->result->load;
	const struct hi_bounded speed = hi_window_speed(load);

	hi_json_object(json, "recording");
	hi_json_number(json, "duration_ns", r->result->duration_ns);
	hi_json_number(json, "blind_ns", r->result->blind_ns);
	hi_json_number(json, "windows", t.n);
	hi_json_number(json, "covered_ns", t.covered_ns);
	hi_json_number(json, "shortest_ns", t.shortest_ns);
	hi_json_number(json, "longest_ns", t.longest_ns);
	hi_json_number(json, "events", r->result->events);
	hi_json_number(json, "lost", r->result->lost_events);
	hi_json_number(json, "allocations", t.allocs);
	hi_json_number(json, "hits", r->result->load.hits);
	hi_json_number(json, "late_hits", r->result->late_hits);
	hi_json_number(json, "trap_ns", load->trap_ns);
	hi_json_number(json, "program_ns", load->program_ns);
	hi_json_number(json, "cpu_ns", load->cpu_ns);
	hi_json_number(json, "cpu_of_ns", load->cpu_of_ns);
	hi_json_number(json, "gap_cpu_ns", load->gap_cpu_ns);
	hi_json_number(json, "gap_ns", load->gap_ns);
	put_bounded_json(&speed, "speed", json);
	put_windows_choice_json(&r->result->choice, json);
	hi_json_text(json, "rates", "mean of windows; Student, Wilson; 95 %");
	hi_json_text(json, "blocks", "seen by windows, raked to the walk; 95 %");
	hi_json_end(json);
}

void hi_windows_json(const struct hi_windows_report *r, struct hi_json *json)
{
	struct hi_arena arena = {};
	size_t n;
	const struct ordered_site *sites = order_sites(r, rate_of_site, &arena, &n);

	hi_report_header_json(r->header, "heapinspect/windows/v1", json);
	put_windows_json(r, json);
	hi_json_object(json, "live");
	hi_json_number(json, "objects", r->result->objects);
	hi_json_number(json, "bytes", r->result->bytes);
	hi_json_end(json);
	hi_json_object(json, "leaked");
	hi_json_number(json, "blocks", r->result->lost);
	hi_json_number(json, "bytes", r->result->lost_bytes);
	hi_json_end(json);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < n; i++)
		put_window_site_json(r, sites[i].row, json);
	hi_json_end(json);
	hi_recorded_children_json(&r->children, json);
	hi_json_end(json);
	json->failed |= !sites;
	hi_arena_free(&arena);
}
