/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "base/text.h"
#include "report/parts/decoded_share.h"
#include "report/parts/leak_cycle.h"
#include "report/parts/made_by.h"
#include "report/reports/summary/rss_advice.h"
#include "report/reports/ticket/ticket_report.h"

enum {
	TYPES_SHOWN = 5,
	OWNERS_SHOWN = 5,
	LEAKS_SHOWN = 5,
	GROWTH_SHOWN = 8,
	CLOSING_SHOWN = 3,
};

/* ---- what is private ---- */

/* Returns the end of `["key"]` at text, also of one that is cut; NULL: it is none. */
static const char *end_of_key(const char *text)
{
	const char *quote = text + 1 + (*text && isalpha((unsigned char)text[1]));
	const char *end;

	if (*text != '[' || (*quote != '"' && *quote != '\''))
		return NULL;
	for (end = quote + 1; *end; end++)
		if (*end == *quote && end[1] == ']')
			return end + 2;
	return end;
}

/* The end of an address at text, NULL: it is none. Offsets, "libfoo.so+0x1240", are. */
static const char *end_of_address(const char *all, const char *text)
{
	size_t digits;

	if (text[0] != '0' || text[1] != 'x' || (text > all && text[-1] == '+'))
		return NULL;
	digits = strspn(text + 2, "0123456789abcdef");
	return digits >= 6 ? text + 2 + digits : NULL;
}

const char *hi_ticket_text(const struct hi_ticket_report *r, const char *safe,
			   struct hi_page *page)
{
	/* What is put has 5 bytes, and stands for at least 3. */
	HI_GUARD(free) char *out = hi_alloc(2 * strlen(safe) + 16);
	bool is_variable = strncmp(safe, "module ", 7) == 0;
	size_t n = 0;

	if (!out) {
		page->failed = true;
		return "";
	}
	for (const char *c = safe; *c;) {
		const char *key = r->has_contents ? NULL : end_of_key(c);
		const char *address = r->has_addresses ? NULL : end_of_address(safe, c);

		if (key && is_variable) {
			memcpy(out + n, c, (size_t)(key - c));
			n += (size_t)(key - c);
			is_variable = false;
			c = key;
		} else if (key || address) {
			n += (size_t)sprintf(out + n, "%s", key ? "[…]" : "0x…");
			c = key ? key : address;
		} else {
			out[n++] = *c++;
		}
	}
	out[n] = 0;
	return hi_page_printf(page, "%s", out);
}

static const char *text_without_private(const struct hi_ticket_report *r,
					const char *text, struct hi_page *page)
{
	return text && *text ? hi_ticket_text(r, text, page) : text;
}

/* All of the page at once: no line is forgotten. */
static void leave_out_private(const struct hi_ticket_report *r, struct hi_page *page)
{
	for (size_t i = 0; i < page->items.count; i++) {
		struct hi_item *item = &page->items.items[i];

		item->text = text_without_private(r, item->text, page);
		item->aside = text_without_private(r, item->aside, page);
	}
	for (size_t t = 0; t < page->tables.count; t++) {
		struct hi_report_table *table = page->tables.items[t];

		for (size_t i = 0; i < table->cells.count; i++) {
			enum hi_column_kind kind =
				table->columns[i % table->n_columns].kind;
			struct hi_cell *cell = &table->cells.items[i];

			if (cell->state == HI_CELL_VALUE &&
			    (kind == HI_COLUMN_TEXT || kind == HI_COLUMN_WORD))
				cell->text = text_without_private(r, cell->text, page);
		}
	}
}

/* ---- what, and since when ---- */

static void show_ticket_title(const struct hi_ticket_report *r, struct hi_page *page)
{
	const struct hi_summary_report *s = r->summary;
	const char *exe = hi_text_or_empty(s->header->exe);
	const char *name = *exe ? hi_page_safe(page, hi_base_name(exe)) : "a program";
	char live[24], leaked[24];
	uint64_t certain = s->leak_bytes - s->likely_bytes;

	if (!s->heap_known)
		hi_page_title(page, hi_page_printf(page, "Heap of %s", name), NULL);
	else
		hi_page_title(page,
			      hi_page_printf(page, "Heap of %s: %s%s live%s%s%s", name,
					     hi_heap_at_least(s->header),
					     hi_bytes(live, s->live_bytes),
					     certain ? ", " : "",
					     certain ? hi_bytes(leaked, certain) : "",
					     !certain	   ? ""
					     : s->by_class ? " unreachable"
							   : " leaked"),
			      NULL);
	hi_summary_show_headline(s, page);
}

static void show_ticket_types(const struct hi_summary_report *s, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"type", HI_COLUMN_TEXT},
						   {"count", HI_COLUMN_COUNT},
						   {"bytes", HI_COLUMN_BYTES},
						   {"of live", HI_COLUMN_PERCENT},
						   {"retained", HI_COLUMN_BYTES}};
	struct hi_report_table *t = hi_page_table(page, columns, 5);

	for (size_t i = 0; i < hi_min(s->n_types, TYPES_SHOWN); i++) {
		const struct hi_summary_type *type = &s->types[i];

		hi_cell_text(t, hi_type_label(type->type, page), 0);
		hi_cell_number(t, type->count);
		hi_cell_number(t, type->shallow);
		hi_cell_percent(t, type->shallow, s->live_bytes);
		hi_cell_at_least(t, type->retained);
	}
}

static void show_what(const struct hi_ticket_report *r, struct hi_page *page)
{
	const struct hi_summary_report *s = r->summary;

	hi_page_heading(page, "What", NULL);
	for (size_t i = 0; i < s->n_suspects; i++)
		hi_page_fact(page, "", hi_summary_suspect_text(s, &s->suspects[i], page));
	show_ticket_types(s, page);
}

static void show_leaks_since(const struct hi_trend *g, struct hi_page *page)
{
	char after[24];

	if (!g->leaks_known || !g->leaked.last)
		return;
	hi_page_fact(page, "leaks",
		     g->leaked_since <= g->first_number
			     ? "there are some since the first census"
			     : hi_page_printf(page,
					      "there are some since census %" PRIu64
					      ", %s after the first",
					      g->leaked_since,
					      hi_span_text(after, g->leaked_since_ns)));
}

static void show_since_when(const struct hi_ticket_report *r, struct hi_page *page)
{
	const struct hi_trend *g = r->trend;
	char time[24], text[HI_TREND_TEXT];

	if (r->running_ns == UINT64_MAX && (!g || g->censuses < 2))
		return;
	hi_page_heading(page, "Since when", NULL);
	if (r->running_ns != UINT64_MAX)
		hi_page_fact(
			page, "running for",
			hi_page_printf(page, "%s", hi_span_text(time, r->running_ns)));
	if (!g || g->censuses < 2)
		return;
	hi_page_fact(page, "observed for",
		     hi_page_printf(page, "%s, %zu censuses",
				    hi_span_text(time, g->wall_ns), g->censuses));
	hi_page_fact(page, "live heap",
		     hi_page_printf(page, "%s",
				    hi_trend_text(text, &g->live.rate, &g->limit)));
	show_leaks_since(g, page);
	if (*hi_trend_per_hit_text(g, page))
		hi_page_fact(page, "requests", hi_trend_per_hit_text(g, page));
	hi_trend_show(g, GROWTH_SHOWN, page);
}

/* ---- held by what, made where ---- */

static void show_ticket_owner(const struct hi_summary_report *s,
			      const struct hi_summary_owner *o, struct hi_report_table *t,
			      struct hi_page *page)
{
	hi_cell_text(t, hi_summary_owner_label(o, page), 0);
	hi_cell_text(t, o->n ? hi_root_kind_key(o->variables[0].kind) : "", 0);
	hi_cell_number(t, o->bytes);
	hi_cell_percent(t, o->bytes, s->live_bytes);
	hi_cell_text(
		t, hi_page_type(page, o->n == 1 ? o->variables[0].type : o->largest.type),
		0);
	hi_cell_text(t, o->n == 1 ? hi_where_label(o->variables[0].detail, page) : "", 0);
}

static void show_held_by(const struct hi_ticket_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"variable", HI_COLUMN_TEXT},  {"kind", HI_COLUMN_WORD},
		{"retained", HI_COLUMN_BYTES}, {"of live", HI_COLUMN_PERCENT},
		{"type", HI_COLUMN_TEXT},      {"where", HI_COLUMN_TEXT}};
	const struct hi_summary_report *s = r->summary;
	struct hi_report_table *t;

	if (!s->n_owners)
		return;
	hi_page_heading(page, "Held by what", NULL);
	t = hi_page_table(page, columns, 6);
	for (size_t i = 0; i < hi_min(s->n_owners, OWNERS_SHOWN); i++)
		show_ticket_owner(s, &s->owners[i], t, page);
}

static const char *fate_of_summary_leak(const struct hi_summary_report *s,
					const struct hi_summary_leak *leak)
{
	if (leak->is_likely)
		return "likely leaked";
	return s->by_class ? hi_unreachable_class_key(leak->unreachable_class) : "leaked";
}

static void show_leaked(const struct hi_ticket_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"type of the leak root", HI_COLUMN_TEXT},
		{"what", HI_COLUMN_WORD},
		{"shape", HI_COLUMN_WORD},
		{"roots", HI_COLUMN_COUNT},
		{"objects", HI_COLUMN_COUNT},
		{"bytes", HI_COLUMN_BYTES},
		{"example", HI_COLUMN_ADDRESS}};
	const struct hi_summary_report *s = r->summary;
	size_t n = r->has_addresses ? 7 : 6;
	struct hi_report_table *t;

	if (!s->n_leaks)
		return;
	hi_page_heading(page, s->by_class ? "Unreachable" : "Leaked", NULL);
	t = hi_page_table(page, columns, n);
	for (size_t i = 0; i < hi_min(s->n_leaks, LEAKS_SHOWN); i++) {
		const struct hi_summary_leak *leak = &s->leaks[i];

		hi_cell_text(t, hi_leak_name_text(&leak->kind, leak->shape, page), 0);
		hi_cell_text(t, fate_of_summary_leak(s, leak), 0);
		hi_cell_text(t, hi_leak_shape_key(leak->shape), 0);
		hi_cell_number(t, leak->count);
		hi_cell_number(t, leak->objects);
		hi_cell_number(t, leak->bytes);
		if (r->has_addresses)
			hi_cell_address(t, leak->example);
	}
	if (s->n_leaks_total > LEAKS_SHOWN)
		hi_page_note(page, hi_page_printf(page, "and %zu more rows",
						  s->n_leaks_total - LEAKS_SHOWN));
}

static size_t count_made_by(const struct hi_leaks_report *leaks)
{
	size_t n = 0;

	for (size_t i = 0; leaks && i < hi_min(leaks->n_rows, LEAKS_SHOWN); i++)
		n += hi_made_by_is_named(&leaks->rows[i].made_by);
	return n;
}

/* Each site that fits a kind of leak has a row. */
static void show_made_by(const struct hi_leaks_report *leaks, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"leaked", HI_COLUMN_TEXT},
						   {"can be made by", HI_COLUMN_TEXT}};
	struct hi_report_table *t;

	hi_page_heading(page, "Made where: calls that fit what is leaked",
			"by the code of the program, without a recording");
	t = hi_page_table(page, columns, 2);
	for (size_t i = 0; i < hi_min(leaks->n_rows, LEAKS_SHOWN); i++) {
		const struct hi_leaks_row *row = &leaks->rows[i];

		if (!hi_made_by_is_named(&row->made_by))
			continue;
		for (uint32_t k = 0; k < row->made_by.count; k++) {
			const struct hi_alloc_site *site = row->made_by.named[k];

			hi_cell_text(t, hi_leak_name_text(&row->kind, row->shape, page),
				     0);
			hi_cell_text(
				t,
				hi_page_printf(
					page, "%s (%s)", hi_made_by_function(site, page),
					hi_made_by_place(
						site, hi_leak_name_has_type(&row->kind),
						page)),
				0);
		}
	}
}

static void suggest_recording(struct hi_page *page)
{
	hi_page_heading(page, "Made where", NULL);
	hi_page_text(page,
		     "Allocations were not recorded; with a recording the functions "
		     "that allocated stand here:");
	hi_page_command(page, "heapinspect record --pid PID --for 60s -o heap.hirec",
			NULL);
	hi_page_command(page, "heapinspect ticket heap.hirec", NULL);
}

static void show_made_where(const struct hi_ticket_report *r, struct hi_page *page)
{
	bool is_recorded = r->suspect_sites || r->leak_sites;

	if (r->suspect_sites && r->suspect_sites->n_rows)
		hi_births_sites_show(r->suspect_sites, "Made where: what accumulates",
				     "census", page);
	if (r->leak_sites && r->leak_sites->n_rows)
		hi_births_sites_show(r->leak_sites, "Made where: what is leaked", "leaks",
				     page);
	if (!is_recorded && count_made_by(r->leaks))
		show_made_by(r->leaks, page);
	else if (!is_recorded && !r->summary->header->core)
		suggest_recording(page);
}

/* ---- what would free it ---- */

static const char *free_suspect_text(const struct hi_summary_report *s,
				     const struct hi_summary_suspect *suspect,
				     struct hi_page *page)
{
	const char *place = hi_summary_suspect_place(suspect, page);
	char bytes[24], percent[16], n[32];

	if (suspect->children < 2)
		return hi_page_printf(page, "%s (%s): drop what %s refers to",
				      hi_bytes(bytes, suspect->held),
				      hi_percent(percent, suspect->held, s->live_bytes),
				      place);
	return hi_page_printf(page, "up to %s (%s): take the %s × %s out of %s",
			      hi_bytes(bytes, suspect->children_bytes),
			      hi_percent(percent, suspect->children_bytes, s->live_bytes),
			      hi_count(n, suspect->children),
			      hi_type_label(suspect->child_type, page), place);
}

/* Garbage goes by itself. */
static const char *free_leak_text(const struct hi_summary_leak *leak,
				  struct hi_page *page)
{
	const char *name = hi_leak_name_text(&leak->kind, leak->shape, page);
	char bytes[24], n[32];

	hi_bytes(bytes, leak->bytes);
	hi_count(n, leak->count);
	if (leak->unreachable_class == HI_UNREACHABLE_GARBAGE)
		return hi_page_printf(page, "%s: the next collection takes %s", bytes,
				      name);
	if (leak->unreachable_class == HI_UNREACHABLE_LOST_REFERENCE)
		return hi_page_printf(page,
				      "%s: give back the references that were lost to "
				      "the %s × %s",
				      bytes, n, name);
	if (leak->shape == HI_LEAK_CYCLE)
		return hi_page_printf(page,
				      "%s: a weak reference in each of the %s × %s, or "
				      "take them apart before they are dropped",
				      bytes, n, name);
	return hi_page_printf(page,
			      "%s: free the %s × %s where the last pointer to them is "
			      "lost",
			      bytes, n, name);
}

/* What closes it is named instead. */
static bool is_closed_cycle(const struct hi_summary_report *s,
			    const struct hi_summary_leak *leak)
{
	return leak->shape == HI_LEAK_CYCLE && s->cycles && s->cycles->n_rows &&
	       !s->cycles->unclosed;
}

static void show_what_frees_it(const struct hi_ticket_report *r, struct hi_page *page)
{
	const struct hi_summary_report *s = r->summary;

	if (!s->n_suspects && !s->n_leaks)
		return;
	hi_page_heading(page, "What would free it", NULL);
	for (size_t i = 0; i < s->n_suspects; i++)
		hi_page_fact(page, "", free_suspect_text(s, &s->suspects[i], page));
	for (size_t i = 0; i < hi_min(s->n_leaks, LEAKS_SHOWN); i++)
		if (!is_closed_cycle(s, &s->leaks[i]))
			hi_page_fact(page, "", free_leak_text(&s->leaks[i], page));
	for (size_t i = 0; s->cycles && i < hi_min(s->cycles->n_rows, CLOSING_SHOWN); i++)
		hi_page_fact(page, "", hi_leak_cycle_text(&s->cycles->rows[i], page));
}

/* ---- how it was measured ---- */

static const char *time_of_ticket(uint64_t time_ns, struct hi_page *page)
{
	time_t seconds = (time_t)(time_ns / 1000000000);
	struct tm tm;
	char text[64] = "";

	if (time_ns == 0 || time_ns == UINT64_MAX || !gmtime_r(&seconds, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		return "";
	return hi_page_printf(page, "%s", text);
}

static void show_how_measured(const struct hi_ticket_report *r, struct hi_page *page)
{
	const struct hi_report_header *h = r->summary->header;
	const char *target = hi_report_header_target(h, page);
	const char *time = time_of_ticket(h->time_ns, page);

	hi_page_heading(page, "How it was measured", NULL);
	hi_page_fact(page, "heapinspect",
		     hi_page_printf(page, "%s, from outside the process", r->version));
	if (*r->system)
		hi_page_fact(page, "system", hi_page_safe(page, r->system));
	if (*time)
		hi_page_fact(page, "taken", time);
	if (*h->build_id)
		hi_page_fact(page, "build-id of the program",
			     hi_page_safe(page, h->build_id));
	hi_report_header_facts(h, page, true);
	hi_page_command(page, hi_page_printf(page, "heapinspect ticket %s", target),
			"this text");
	hi_page_command(page, hi_page_printf(page, "heapinspect retained %s", target),
			"retained sizes, as a tree");
	if (r->summary->n_leaks)
		hi_page_command(page,
				hi_page_printf(page, "heapinspect leaks %s", target),
				"all leaks");
	if (r->has_addresses && r->summary->n_leaks)
		hi_page_command(page,
				hi_page_printf(page,
					       "heapinspect explain 0x%" PRIx64 " %s",
					       r->summary->leaks[0].example, target),
				"what is leaked there");
}

void hi_ticket_display(const struct hi_ticket_report *r, struct hi_page *page)
{
	show_ticket_title(r, page);
	if (r->summary->heap_known) {
		show_what(r, page);
		show_since_when(r, page);
		show_held_by(r, page);
		show_leaked(r, page);
		show_made_where(r, page);
		show_what_frees_it(r, page);
		if (r->summary->ledger)
			hi_rss_advice_show(r->summary->ledger, r->summary->header, page);
	}
	show_how_measured(r, page);
	leave_out_private(r, page);
}
