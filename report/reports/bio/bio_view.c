/* SPDX-License-Identifier: BSD-2-Clause */
/* The page of bio_report.h. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/parts/report_links.h"
#include "report/reports/bio/bio_report.h"

/* Lines of the table over time: more are left out in even steps. */
enum { LINES = 20, COUNTED = 10 };

#define IN_USE (HI_BIO_BIT(HI_BIO_USE) | HI_BIO_BIT(HI_BIO_INHERENT))

static const char *const band_meanings[HI_BIO_BANDS] = {
	[HI_BIO_VOID] = "never used",
	[HI_BIO_LAG] = "not used yet, but later",
	[HI_BIO_USE] = "in use",
	[HI_BIO_INHERENT] = "of types of --inherent",
	[HI_BIO_DRAG] = "not used any more",
	[HI_BIO_UNUSED] = "older, not used since",
};

static const struct hi_bio_census_row *last_line(const struct hi_bio_report *r)
{
	return r->n_lines ? &r->lines[r->n_lines - 1] : NULL;
}

/* As --bio has them. */
static const char *const band_options[HI_BIO_BANDS] = {
	[HI_BIO_VOID] = "void", [HI_BIO_LAG] = "lag",
	[HI_BIO_USE] = "use",	[HI_BIO_INHERENT] = "inherent",
	[HI_BIO_DRAG] = "drag", [HI_BIO_UNUSED] = "unused",
};

static const char *list_bands(uint32_t bands, struct hi_page *page)
{
	const char *text = "";

	for (unsigned band = 0; band < HI_BIO_BANDS; band++)
		if (bands & HI_BIO_BIT(band))
			text = hi_page_printf(page, "%s%s%s", text, *text ? "," : "",
					      band_options[band]);
	return text;
}

/* Objects of a type that are proved to be in one of the bands. */
static const char *address_in_bands(const char *type, uint32_t bands,
				    struct hi_page *page)
{
	return hi_address_with(page, hi_address_of_objects(page, type), "bio",
			       list_bands(bands, page));
}

/* ---- the first lines ---- */

static const char *idle_text(const struct hi_bio_report *r, struct hi_page *page)
{
	const struct hi_bio_idle *idle = &r->idle;
	char bytes[24], share[16], time[24], of_type[24];
	const char *text, *type;

	text = hi_page_printf(
		page, "%s%s (%s) %s not used in the last %s",
		r->sample_bytes ? "about " : "", hi_bytes(bytes, idle->all.bytes),
		hi_percent(share, idle->all.bytes, last_line(r)->row.live.bytes),
		idle->all.objects == 1 ? "was" : "were",
		hi_text_duration(time, idle->for_ns));
	if (!idle->of_type.objects)
		return text;
	type = *idle->type ? hi_page_type(page, idle->type) : "memory without a type";
	text = hi_page_printf(page, "%s; %s of it %s %s", text,
			      hi_bytes(of_type, idle->of_type.bytes),
			      idle->of_type.objects == 1 ? "is" : "are", type);
	if (*idle->retainers && idle->of_retainers.bytes >= idle->of_type.bytes / 2)
		text = hi_page_printf(page, "%s kept by %s", text,
				      hi_page_safe(page, idle->retainers));
	else if (*idle->root && idle->of_root.bytes >= idle->of_type.bytes / 2)
		text = hi_page_printf(page, "%s kept by %s", text,
				      hi_page_safe(page, idle->root));
	if (*idle->site && idle->of_site.bytes >= idle->of_type.bytes / 2)
		text = hi_page_printf(page, "%s, allocated by %s", text,
				      hi_page_safe(page, idle->site));
	return text;
}

static void show_headline(const struct hi_bio_report *r, struct hi_page *page)
{
	const struct hi_bio_census_row *last = last_line(r);
	struct hi_bio_sum unused;
	char bytes[24];

	if (!last) {
		hi_page_text(page, "no period is complete: nothing is known of use yet");
		return;
	}
	if (r->idle.all.objects) {
		hi_page_text(page, idle_text(r, page));
		hi_page_link(page, address_in_bands(r->idle.type, HI_BIO_NOT_USED, page));
		return;
	}
	if (!last->row.live.objects) {
		hi_page_text(page, "nothing is live that counts");
		return;
	}
	unused = hi_bio_row_sum(&last->row, HI_BIO_NOT_USED);
	hi_page_text(page,
		     hi_page_printf(page,
				    "no memory is proved to be unused; up to %s may be",
				    hi_bytes(bytes, unused.bytes.possible)));
}

static const char *watched_text(const struct hi_bio_report *r, struct hi_page *page)
{
	char bytes[24];

	if (!r->watch.slots)
		return "";
	return hi_page_printf(
		page, "%s were read or written (a watchpoint), ",
		hi_bytes(bytes, last_line(r)->evidence[HI_BIO_WATCH].bytes));
}

static const char *passed_text(const struct hi_bio_report *r, struct hi_page *page)
{
	char bytes[24];

	if (!r->uses.is_asked)
		return "";
	return hi_page_printf(
		page, "%s were passed to a function, ",
		hi_bytes(bytes, last_line(r)->evidence[HI_BIO_PROBE].bytes));
}

static void show_evidence(const struct hi_bio_report *r, struct hi_page *page)
{
	const struct hi_bio_census_row *last = last_line(r);
	char used[24], unused[24], unknown[24];
	size_t without = 0;

	if (!last)
		return;
	hi_page_fact(
		page, "evidence",
		hi_page_printf(page,
			       "of the last period: %s%s%s were written (their contents "
			       "differ), %s not referenced (their pages were not), of %s "
			       "nothing is known",
			       watched_text(r, page), passed_text(r, page),
			       hi_bytes(used, last->evidence[HI_BIO_CONTENT].bytes),
			       hi_bytes(unused, last->evidence[HI_BIO_PAGE].bytes),
			       hi_bytes(unknown, last->evidence[HI_BIO_UNKNOWN].bytes)));
	for (size_t i = 0; i < r->n_lines; i++)
		without += !r->lines[i].has_pages;
	if (r->no_pages)
		hi_page_fact(page, "no pages", hi_page_safe(page, r->no_pages));
	else if (without)
		hi_page_fact(page, "no pages",
			     hi_page_printf(page,
					    "of %zu of %zu periods it is not known which "
					    "pages were referenced",
					    without, r->n_lines));
}

static const char *sampled_interval(const struct hi_bio_report *r, struct hi_page *page)
{
	struct hi_interval live;
	char low[24], high[24];

	if (!last_line(r))
		return "";
	live = hi_bio_live_interval(last_line(r)->row.live.bytes, r->variance);
	return hi_page_printf(page, " (live: %s to %s with 95 %%)",
			      hi_bytes(low, live.low), hi_bytes(high, live.high));
}

static void show_identity(const struct hi_bio_report *r, struct hi_page *page)
{
	char bytes[24], size[24];

	if (r->sample_bytes)
		hi_page_fact(
			page, "sampled",
			hi_page_printf(page,
				       "every %s on average, figures are estimates%s; %s "
				       "of the heap have no record and do not count",
				       hi_bytes(size, r->sample_bytes),
				       sampled_interval(r, page),
				       hi_bytes(bytes, r->left_out.bytes)));
	if (!r->is_recorded)
		hi_page_fact(page, "not recorded",
			     "allocations were not followed: objects are told by address "
			     "and size, so that no use is proved, and VOID, LAG and "
			     "UNUSED-SINCE-ATTACH are not told apart for certain");
	else if (r->uncertain.objects)
		hi_page_fact(page, "not recorded",
			     hi_page_printf(
				     page,
				     "%s are outside of the recorded allocator, or "
				     "events were lost: that they were written proves no "
				     "use, as other objects may have taken their place",
				     hi_bytes(bytes, r->uncertain.bytes)));
}

static void show_watch(const struct hi_bio_report *r, struct hi_page *page)
{
	const struct hi_bio_watch *w = &r->watch;
	char n[32], used[32], hits[32], moved[32];
	const char *text;

	if (w->missing)
		hi_page_fact(page, "no watch", hi_page_safe(page, w->missing));
	if (!w->objects)
		return;
	text = hi_page_printf(
		page, "%s %s, of which %s %s hit (%s in all)", hi_count(n, w->objects),
		w->objects == 1 ? "object" : "objects", hi_count(used, w->used),
		w->used == 1 ? "was" : "were", hi_count(hits, w->all_hits));
	if (w->moved_on)
		text = hi_page_printf(
			page,
			"%s; %s times a watchpoint was ended, as it was hit too often",
			text, hi_count(moved, w->moved_on));
	hi_page_fact(page, "watched", text);
}

/* Printed if it is not the default. */
static void show_ends(const struct hi_bio_report *r, struct hi_page *page)
{
	if (r->birth_is_seen)
		hi_page_fact(page, "births",
			     "uses in the period of an object's birth count where a call "
			     "was seen");
	else if (!r->birth_is_idle)
		hi_page_fact(page, "births",
			     "an object may be used in the period of its birth");
	if (!r->death_is_idle)
		hi_page_fact(page, "deaths",
			     "an object may be used in the period of its death");
}

static void show_era(const struct hi_bio_report *r, struct hi_page *page)
{
	char bytes[24];

	if (r->era)
		hi_page_fact(
			page, "era",
			hi_page_printf(page,
				       "only what was born in era %s%s; %s more are "
				       "live",
				       hi_page_safe(page, r->era),
				       r->era_is_open ? " (whose end has not begun)" : "",
				       hi_bytes(bytes, r->hidden_by_era.bytes)));
}

static void show_restricted(const struct hi_bio_report *r, struct hi_page *page)
{
	char bytes[24];

	if (r->restricted.objects)
		hi_page_fact(
			page, "only",
			hi_page_printf(page,
				       "what --type, --under and --retained-by "
				       "select; %s more are live, which the evidence "
				       "above is of, too",
				       hi_bytes(bytes, r->restricted.bytes)));
}

static void show_uses(const struct hi_bio_report *r, struct hi_page *page)
{
	const struct hi_bio_calls *u = &r->uses;
	char n[32], of[32], hits[32];
	const char *text;

	if (u->missing)
		hi_page_fact(page, "no probes", hi_page_safe(page, u->missing));
	if (!u->wanted)
		return;
	text = hi_page_printf(page,
			      "%s of %s functions that take objects of these types; %s "
			      "calls were seen",
			      hi_count(n, u->probed), hi_count(of, u->wanted),
			      hi_count(hits, u->hits));
	if (u->dropped)
		text = hi_page_printf(page,
				      "%s; %s dropped, as they are called so often that "
				      "it would cost too much",
				      text, hi_count(n, u->dropped));
	if (u->left_out)
		text = hi_page_printf(page, "%s; %s left out, as they are too many", text,
				      hi_count(n, u->left_out));
	if (u->not_stored)
		text = hi_page_printf(page, "%s; of %s calls the object was not kept",
				      text, hi_count(n, u->not_stored));
	hi_page_fact(page, "probed", text);
}

/* ---- tables ---- */

static void add_bounds_cells(struct hi_report_table *t, struct hi_bio_bounds bounds,
			     uint64_t whole)
{
	hi_cell_number(t, bounds.proved);
	hi_cell_number(t, bounds.possible);
	hi_cell_percent(t, bounds.proved, whole);
}

static void show_bands(const struct hi_bio_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"band", HI_COLUMN_WORD},
						   {"proved", HI_COLUMN_BYTES},
						   {"possible", HI_COLUMN_BYTES},
						   {"share", HI_COLUMN_PERCENT},
						   {"meaning", HI_COLUMN_TEXT}};
	const struct hi_bio_row *row = &last_line(r)->row;
	struct hi_report_table *t;
	char bytes[24];

	hi_page_heading(
		page, "At the last census",
		hi_page_printf(page, "%s live", hi_bytes(bytes, row->live.bytes)));
	t = hi_page_table(page, columns, 5);
	for (unsigned band = 0; band < HI_BIO_BANDS; band++) {
		if (!row->bytes[band].possible)
			continue;
		hi_cell_text(t, hi_bio_band_name((enum hi_bio_band)band), 0);
		hi_cell_link(t, hi_address_where(page, "bio", "bio", band_options[band]));
		add_bounds_cells(t, row->bytes[band], row->live.bytes);
		hi_cell_text(t, band_meanings[band], 0);
	}
}

/* May the band have something, and does the sample say more than that it may have all?
 */
static bool is_estimated(const struct hi_bio_watch *w, unsigned band)
{
	const struct hi_interval *i = &w->estimates.bytes[band].interval;

	return i->high > 0 && (i->low > 0 || i->high < w->population.bytes);
}

/* Without an object that was watched there are bounds alone. */
static void show_estimates(const struct hi_bio_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"band", HI_COLUMN_WORD},      {"estimate", HI_COLUMN_BYTES},
		{"from", HI_COLUMN_BYTES},     {"to", HI_COLUMN_BYTES},
		{"at least", HI_COLUMN_BYTES}, {"at most", HI_COLUMN_BYTES}};
	const struct hi_bio_watch *w = &r->watch;
	struct hi_report_table *t;
	char n[32], bytes[24];

	if (!w->estimates.sampled)
		return;
	hi_page_heading(page, "Estimates from the sample",
			hi_page_printf(page, "%s objects of %s; with 95 %%",
				       hi_count(n, w->estimates.sampled),
				       hi_bytes(bytes, w->population.bytes)));
	t = hi_page_table(page, columns, 6);
	for (unsigned band = 0; band < HI_BIO_BANDS; band++) {
		const struct hi_bio_estimate *e = &w->estimates.bytes[band];

		if (!is_estimated(w, band) && !(e->estimate > 0))
			continue;
		hi_cell_text(t, hi_bio_band_name((enum hi_bio_band)band), 0);
		hi_cell_number(t, hi_estimate_round(e->estimate));
		hi_cell_number(t, e->range.low);
		hi_cell_number(t,
			       w->estimates.watched ? e->range.high : e->interval.high);
		hi_cell_number(t, e->interval.low);
		hi_cell_number(t, e->interval.high);
	}
	hi_page_note(
		page,
		hi_page_printf(
			page,
			"the estimate is of %s objects by the words that were "
			"watched, when they were for the last time; from other words "
			"it may be anything from at least to at most",
			hi_count(n, w->estimates.watched)));
}

/* The objects that were hit most. */
static void show_counted(const struct hi_bio_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"hits", HI_COLUMN_FIGURE},
						   {"periods", HI_COLUMN_FIGURE},
						   {"bytes", HI_COLUMN_BYTES},
						   {"address", HI_COLUMN_WORD},
						   {"type", HI_COLUMN_TEXT}};
	struct hi_report_table *t;
	char n[32];

	if (!r->n_counted)
		return;
	hi_page_heading(page, "Watched objects", "one word of them in each period");
	t = hi_page_table(page, columns, 5);
	for (size_t i = 0; i < r->n_counted && i < COUNTED; i++) {
		const struct hi_bio_counted *c = &r->counted[i];

		hi_cell_text(t, hi_count(n, c->hits), 0);
		hi_cell_text(t, hi_count(n, c->periods), 0);
		hi_cell_number(t, c->bytes);
		hi_cell_text(
			t, hi_page_printf(page, "0x%llx", (unsigned long long)c->address),
			0);
		hi_cell_text(t, *c->type ? hi_page_type(page, c->type) : "(unknown)", 0);
	}
	if (r->n_counted > COUNTED)
		hi_page_note(page, hi_page_printf(page, "%s more (--json has all)",
						  hi_count(n, r->n_counted - COUNTED)));
}

static const char *names_of_bands(const struct hi_bio_report *r, struct hi_page *page)
{
	const char *text = "";

	if (!r->has_bands)
		return "Not used any more, or never";
	for (unsigned band = 0; band < HI_BIO_BANDS; band++)
		if (r->bands & HI_BIO_BIT(band))
			text = hi_page_printf(page, "%s%s%s", text, *text ? ", " : "",
					      hi_bio_band_name((enum hi_bio_band)band));
	return text;
}

/* Its objects. */
static const char *address_of_bio_group(const struct hi_bio_report *r,
					const struct hi_bio_group *g,
					struct hi_page *page)
{
	const char *address;

	if (!*g->name)
		return "";
	if (strcmp(r->by, "type") == 0)
		return address_in_bands(g->name, r->bands, page);
	if (strcmp(r->by, "site") != 0)
		return "";
	address = hi_address_of_site(page, "census", g->name);
	return hi_address_with(page, address, "bio", list_bands(r->bands, page));
}

static void show_bio_groups(const struct hi_bio_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"", HI_COLUMN_TEXT},
						   {"proved", HI_COLUMN_BYTES},
						   {"possible", HI_COLUMN_BYTES},
						   {"live", HI_COLUMN_BYTES},
						   {"share", HI_COLUMN_PERCENT}};
	bool by_type = strcmp(r->by, "type") == 0;
	struct hi_report_table *t;

	hi_page_heading(page,
			hi_page_printf(page, "%s, by %s", names_of_bands(r, page), r->by),
			"at the last census");
	t = hi_page_table(page, columns, 5);
	for (size_t i = 0; i < r->n_groups; i++) {
		const struct hi_bio_group *g = &r->groups[i];
		struct hi_bio_sum sum = hi_bio_row_sum(&g->row, r->bands);

		hi_cell_text(t,
			     !*g->name ? "(unknown)"
			     : by_type ? hi_page_type(page, g->name)
				       : hi_page_safe(page, g->name),
			     0);
		hi_cell_link(t, address_of_bio_group(r, g, page));
		hi_cell_number(t, sum.bytes.proved);
		hi_cell_number(t, sum.bytes.possible);
		hi_cell_number(t, g->row.live.bytes);
		hi_cell_percent(t, sum.bytes.proved, g->row.live.bytes);
	}
	if (r->hidden.rows) {
		char n[32], bytes[24];

		hi_page_note(page,
			     hi_page_printf(page, "%s more (%s live; --all shows them)",
					    hi_count(n, r->hidden.rows),
					    hi_bytes(bytes, r->hidden.bytes)));
	}
}

/* Live bytes in parts that add up. That an object is in one of some bands may be proved
 * where its band is not. */
struct parts {
	uint64_t not_used, used_later, in_use, not_known;
};

static struct parts divide_row(const struct hi_bio_row *row)
{
	struct parts p = {
		.not_used = hi_bio_row_sum(row, HI_BIO_NOT_USED).bytes.proved,
		.used_later = row->bytes[HI_BIO_LAG].proved,
		.in_use = hi_bio_row_sum(row, IN_USE).bytes.proved,
	};
	uint64_t known = p.not_used + p.used_later + p.in_use;

	p.not_known = known < row->live.bytes ? row->live.bytes - known : 0;
	return p;
}

static void add_line_of_time(const struct hi_bio_census_row *line,
			     struct hi_report_table *t)
{
	struct parts p = divide_row(&line->row);
	char time[24];

	hi_cell_text(t, hi_text_duration(time, line->at_ns), 0);
	hi_cell_number(t, line->row.live.bytes);
	hi_cell_number(t, p.not_used);
	hi_cell_number(t, p.used_later);
	hi_cell_number(t, p.in_use);
	hi_cell_number(t, p.not_known);
	hi_cell_number(t, line->unseen.bytes);
}

static void show_lines(const struct hi_bio_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"after", HI_COLUMN_FIGURE},
		{"live", HI_COLUMN_BYTES},
		{"not used", HI_COLUMN_BYTES},
		{"used later", HI_COLUMN_BYTES},
		{"in use", HI_COLUMN_BYTES},
		{"not known", HI_COLUMN_BYTES},
		{"came and went", HI_COLUMN_MINOR_BYTES}};
	size_t step = (r->n_lines + LINES - 1) / LINES;
	struct hi_report_table *t;

	hi_page_heading(page, "Over time", "what is proved; the parts add up to live");
	t = hi_page_table(page, columns, 7);
	for (size_t i = (r->n_lines - 1) % step; i < r->n_lines; i += step)
		add_line_of_time(&r->lines[i], t);
	if (step > 1)
		hi_page_note(page, hi_page_printf(page,
						  "every %zu. of %zu censuses (--json "
						  "has all)",
						  step, r->n_lines));
}

void hi_bio_display(const struct hi_bio_report *r, struct hi_page *page)
{
	const char *slash = strrchr(r->exe, '/');
	char time[24];

	hi_page_title(page,
		      hi_page_printf(page, "%s, pid %d",
				     hi_page_safe(page, slash ? slash + 1 : r->exe),
				     r->pid),
		      hi_page_printf(page, "%zu period%s in %s", r->n_lines,
				     r->n_lines == 1 ? "" : "s",
				     hi_text_duration(time, r->lasted_ns)));
	show_headline(r, page);
	show_evidence(r, page);
	show_watch(r, page);
	show_uses(r, page);
	show_identity(r, page);
	show_ends(r, page);
	show_era(r, page);
	show_restricted(r, page);
	if (hi_bio_checks_failed(&r->checks))
		hi_page_warning(page, "the bands do not add up: this is an error of "
				      "heapinspect; --json has the checks");
	if (!r->n_lines)
		return;
	show_bands(r, page);
	show_estimates(r, page);
	show_counted(r, page);
	if (r->n_groups)
		show_bio_groups(r, page);
	show_lines(r, page);
}

char *hi_bio_line_text(const struct hi_bio_census_row *line, char out[256])
{
	struct parts p = divide_row(&line->row);
	char time[24], live[24], unused[24], use[24], open[24];

	snprintf(out, 256,
		 "%s: %s live; not used %s, in use %s, not known %s (provisional)",
		 hi_text_duration(time, line->at_ns),
		 hi_bytes(live, line->row.live.bytes), hi_bytes(unused, p.not_used),
		 hi_bytes(use, p.in_use), hi_bytes(open, p.not_known));
	return out;
}
