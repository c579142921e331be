/* SPDX-License-Identifier: BSD-2-Clause */
/* The writers that described fields replace, for sets_same_test.c alone. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/parts/decoded_share.h"
#include "report/parts/report_links.h"
#include "report/parts/report_node.h"
#include "report/reports/diff/diff_report.h"
#include "report/reports/diff/survived_report.h"

/* ---- as tables ---- */

static const char *way_text(const struct hi_new_row *row, struct hi_page *page)
{
	if (*row->way)
		return hi_page_safe_again(page, row->way);
	if (!hi_new_row_is_held(row))
		return hi_page_printf(page, "%s: 0x%" PRIx64,
				      row->leaked   ? "leaked"
				      : row->likely ? "likely leaked"
						    : "garbage",
				      row->example);
	return hi_page_printf(page, "0x%" PRIx64, row->example);
}

static void show_new_object_row(const struct hi_new_row *row, bool survivors,
				struct hi_report_table *t, struct hi_page *page)
{
	hi_cell_text(t, hi_type_label(row->type, page), 0);
	hi_cell_link(t, hi_address_of_any_type(page, row->type));
	hi_cell_number(t, row->count);
	if (survivors)
		hi_cell_number(t, row->of);
	hi_cell_number(t, row->bytes);
	hi_cell_at_least(t, row->retained);
	hi_cell_text(t, way_text(row, page), 0);
	hi_cell_link(t, hi_address_of_object(page, row->example));
}

static void show_new_object_rows(const struct hi_new_objects *n, bool survivors,
				 struct hi_page *page)
{
	static const struct hi_column born[] = {{"type", HI_COLUMN_TEXT},
						{"born", HI_COLUMN_COUNT},
						{"bytes", HI_COLUMN_BYTES},
						{"retained", HI_COLUMN_BYTES},
						{"a path to one", HI_COLUMN_TEXT}};
	static const struct hi_column survived[] = {
		{"type", HI_COLUMN_TEXT},      {"survived", HI_COLUMN_COUNT},
		{"of born", HI_COLUMN_COUNT},  {"bytes", HI_COLUMN_BYTES},
		{"retained", HI_COLUMN_BYTES}, {"a path to one", HI_COLUMN_TEXT}};
	static const struct hi_hidden none;
	struct hi_report_table *t;

	hi_page_heading(
		page, survivors ? "Survivors" : "New objects",
		"retained: bytes that would be freed with them, older objects too");
	t = survivors ? hi_page_table(page, survived, 6) : hi_page_table(page, born, 5);
	for (size_t i = 0; i < n->n_rows; i++)
		show_new_object_row(&n->rows[i], survivors, t, page);
	hi_hidden_note(page, &n->hidden.by_top, &n->hidden.by_min_size, &none);
}

static void show_holders(const struct hi_new_objects *n, bool survivors,
			 struct hi_page *page)
{
	static const struct hi_column columns[] = {{"held by", HI_COLUMN_TEXT},
						   {"type", HI_COLUMN_TEXT},
						   {"new objects", HI_COLUMN_COUNT},
						   {"new bytes", HI_COLUMN_BYTES}};
	static const char *const unheld[HI_LEAK_KINDS] = {
		[HI_LEAK_CERTAIN] = "nothing: leaked",
		[HI_LEAK_LIKELY] = "nothing: probably leaked",
		[HI_LEAK_GARBAGE] = "nothing: garbage"};
	struct hi_report_table *t;

	hi_page_heading(page, survivors ? "What holds them" : "What holds the growth",
			survivors ? "survivors only" : "born objects only");
	t = hi_page_table(page, columns, 4);
	for (size_t i = 0; i < n->n_holders; i++) {
		const struct hi_new_holder *h = &n->holders[i];

		hi_cell_text(t, hi_page_safe_again(page, h->name), 0);
		hi_cell_link(t, hi_address_of_object(page, h->address));
		hi_cell_text(t, hi_type_label(h->type, page), 0);
		hi_cell_number(t, h->objects);
		hi_cell_number(t, h->bytes);
	}
	for (unsigned i = 0; i < HI_LEAK_KINDS; i++) {
		if (!n->unheld[i].count)
			continue;
		hi_cell_text(t, unheld[i], 0);
		hi_cell_text(t, "", 0);
		hi_cell_number(t, n->unheld[i].count);
		hi_cell_number(t, n->unheld[i].bytes);
	}
}

static void old_new_objects_show(const struct hi_new_objects *n, bool survivors,
				 struct hi_page *page)
{
	if (!n->all.count)
		return;
	show_holders(n, survivors, page);
	show_new_object_rows(n, survivors, page);
}

/* ---- as JSON ---- */

static void old_heap_total_json(struct hi_json *json, const char *key,
				struct hi_heap_total sum)
{
	hi_json_object(json, key);
	hi_json_number(json, "count", sum.count);
	hi_json_number(json, "bytes", sum.bytes);
	hi_json_end(json);
}

static void json_rows(const struct hi_new_objects *n, bool survivors,
		      struct hi_json *json)
{
	hi_json_array(json, survivors ? "rows" : "new");
	for (size_t i = 0; i < n->n_rows; i++) {
		const struct hi_new_row *row = &n->rows[i];

		hi_json_object(json, NULL);
		hi_json_text(json, "type", hi_type_key(row->type));
		hi_json_number(json, "count", row->count);
		if (survivors)
			hi_json_number(json, "born", row->of);
		hi_json_number(json, "bytes", row->bytes);
		hi_json_number(json, "leaked", row->leaked);
		hi_json_number(json, "likely", row->likely);
		hi_json_number(json, "garbage", row->garbage);
		hi_json_number(json, "retained", row->retained);
		hi_json_address(json, "example", row->example);
		hi_json_escaped(json, "path", *row->way ? row->way : NULL);
		hi_json_end(json);
	}
	hi_json_end(json);
}

static void json_holders(const struct hi_new_objects *n, struct hi_json *json)
{
	hi_json_array(json, "growth");
	for (size_t i = 0; i < n->n_holders; i++) {
		const struct hi_new_holder *h = &n->holders[i];

		hi_json_object(json, NULL);
		hi_json_escaped(json, "path", h->name);
		hi_json_text(json, "type", hi_known(h->type));
		hi_json_address(json, "address", h->address);
		hi_json_number(json, "objects", h->objects);
		hi_json_number(json, "bytes", h->bytes);
		hi_json_end(json);
	}
	hi_json_end(json);
}

static void old_new_objects_json(const struct hi_new_objects *n, bool survivors,
				 struct hi_json *json)
{
	json_rows(n, survivors, json);
	json_holders(n, json);
	old_heap_total_json(json, "leaked", n->unheld[HI_LEAK_CERTAIN]);
	old_heap_total_json(json, "likely", n->unheld[HI_LEAK_LIKELY]);
	old_heap_total_json(json, "garbage", n->unheld[HI_LEAK_GARBAGE]);
}

static const char *what_text(const struct hi_lost_row *row, struct hi_page *page)
{
	const char *likely = !row->likely.count			  ? ""
			     : row->likely.count < row->all.count ? " (some likely)"
								  : " (likely)";

	return hi_page_printf(page, "was %s%s%s%s", hi_type_label(row->type, page),
			      *row->under ? " under " : "",
			      hi_page_safe_again(page, row->under), likely);
}

static void old_lost_objects_show(const struct hi_lost_objects *lost,
				  struct hi_page *page)
{
	static const struct hi_column columns[] = {{"leaked", HI_COLUMN_COUNT},
						   {"bytes", HI_COLUMN_BYTES},
						   {"what they were", HI_COLUMN_TEXT},
						   {"example", HI_COLUMN_ADDRESS}};
	static const struct hi_hidden none;
	struct hi_report_table *t;

	if (!lost->all.count)
		return;
	hi_page_heading(page, "Leaked since",
			"live before, at the same address and of the same size");
	t = hi_page_table(page, columns, 4);
	for (size_t i = 0; i < lost->n_rows; i++) {
		hi_cell_number(t, lost->rows[i].all.count);
		hi_cell_number(t, lost->rows[i].all.bytes);
		hi_cell_text(t, what_text(&lost->rows[i], page), 0);
		hi_cell_number(t, lost->rows[i].example);
		hi_cell_link(t, hi_address_of_object(page, lost->rows[i].example));
	}
	hi_hidden_note(page, &lost->hidden.by_top, &lost->hidden.by_min_size, &none);
}

static void old_lost_objects_json(const struct hi_lost_objects *lost,
				  struct hi_json *json)
{
	hi_json_array(json, "was");
	for (size_t i = 0; i < lost->n_rows; i++) {
		const struct hi_lost_row *row = &lost->rows[i];

		hi_json_object(json, NULL);
		hi_json_text(json, "type", row->type);
		hi_json_text(json, "under", *row->under ? row->under : NULL);
		hi_json_number(json, "objects", row->all.count);
		hi_json_number(json, "bytes", row->all.bytes);
		hi_json_number(json, "likely_objects", row->likely.count);
		hi_json_address(json, "example", row->example);
		hi_json_end(json);
	}
	hi_json_end(json);
}

static int64_t signed_change(uint64_t before, uint64_t after)
{
	return (int64_t)(after - before);
}

static uint64_t size_of_change(int64_t n)
{
	return n < 0 ? -(uint64_t)n : (uint64_t)n;
}

/* Rows that did not change are left out. */
static bool is_diff_row_shown(const struct hi_diff_report *r,
			      const struct hi_compare_row *row)
{
	int64_t bytes = signed_change(row->before.bytes, row->after.bytes);

	if (!row->born.count && !row->died.count && !row->grown)
		return false;
	return size_of_change(bytes) >= r->min_size;
}

/* "+1.5 MiB" */
static const char *signed_bytes(struct hi_page *page, int64_t n)
{
	char text[24];

	return hi_page_printf(page, "%s%s", n < 0 ? "-" : "+",
			      hi_bytes(text, size_of_change(n)));
}

/* ---- text ---- */

static void show_fact(struct hi_page *page, const char *key, uint64_t before,
		      uint64_t after)
{
	char a[24], b[24];

	if (before == UINT64_MAX || after == UINT64_MAX) {
		hi_page_fact(page, key,
			     hi_page_printf(page, "%s, before %s (? where unknown)",
					    hi_bytes(b, after), hi_bytes(a, before)));
		return;
	}
	hi_page_fact(page, key,
		     hi_page_printf(page, "%s, before %s (%s)", hi_bytes(b, after),
				    hi_bytes(a, before),
				    signed_bytes(page, signed_change(before, after))));
}

static bool are_both_heaps_known(const struct hi_diff_report *r)
{
	return hi_heap_known(r->before) == HI_HEAP_KNOWN &&
	       hi_heap_known(r->after) == HI_HEAP_KNOWN;
}

/* The header has this for the later heap only. */
static void show_unknown_side(const struct hi_diff_report *r, struct hi_page *page)
{
	const char *why = hi_heap_unknown_text(r->before, page);

	if (*why)
		hi_page_warning(page, hi_page_printf(page,
						     "before: %s: what was born and "
						     "died there is unknown",
						     why));
}

/* What neither heap has is left out, but for leaks. */
static void show_leak_changes(const struct hi_diff_report *r, struct hi_page *page)
{
	const struct hi_leak_totals *a = &r->leaks_before, *b = &r->leaks_after;
	const struct {
		const char *key;
		uint64_t before, after;
	} rows[] = {{"likely leaked", a->likely.bytes, b->likely.bytes},
		    {"garbage", a->garbage.bytes, b->garbage.bytes},
		    {"uncollectable", a->uncollectable.bytes, b->uncollectable.bytes},
		    {"lost references", a->lost.bytes, b->lost.bytes}};

	show_fact(page, "leaked", a->certain.bytes, b->certain.bytes);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if ((rows[i].before && rows[i].before != UINT64_MAX) ||
		    (rows[i].after && rows[i].after != UINT64_MAX))
			show_fact(page, rows[i].key, rows[i].before, rows[i].after);
}

static void show_diff_headline(const struct hi_diff_report *r, struct hi_page *page)
{
	const struct hi_compare_row *all = &r->c->all;
	char born[32], died[32], more[24], less[24];

	hi_page_text(page,
		     hi_page_printf(page, "%s: %s objects born (%s), %s died (%s)",
				    signed_bytes(page, signed_change(all->before.bytes,
								     all->after.bytes)),
				    hi_count(born, all->born.count),
				    hi_bytes(more, all->born.bytes),
				    hi_count(died, all->died.count),
				    hi_bytes(less, all->died.bytes)));
	hi_page_fact(page, "before", hi_report_header_target(r->before, page));
	show_fact(page, "live", r->live_before, r->live_after);
	show_leak_changes(r, page);
	show_unknown_side(r, page);
	hi_page_fact(page, "matched",
		     hi_diff_matched_text(r->c->same_process, r->c->knows_births));
}

static const char *text_of_diff_key(const char *by)
{
	return strcmp(by, "retainers") == 0 ? "retainer set" : by;
}

/* What the later heap has of it: what keeps it, or (of its figure) the objects. */
static const char *address_of_diff_row(const struct hi_diff_report *r,
				       const struct hi_compare_row *row, bool is_figure,
				       struct hi_page *page)
{
	if (!row->after.count)
		return "";
	if (strcmp(r->by, "site") == 0)
		return hi_address_of_site(page, "census", row->name);
	if (strcmp(r->by, "type") != 0)
		return "";
	return is_figure ? hi_address_of_objects(page, row->name)
			 : hi_address_of_any_type(page, row->name);
}

static void show_diff_rows(const struct hi_diff_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"", HI_COLUMN_TEXT},
						   {"before", HI_COLUMN_COUNT},
						   {"after", HI_COLUMN_COUNT},
						   {"born", HI_COLUMN_COUNT},
						   {"died", HI_COLUMN_COUNT},
						   {"grown", HI_COLUMN_MINOR_BYTES},
						   {"bytes after", HI_COLUMN_BYTES},
						   {"change", HI_COLUMN_WORD}};
	struct hi_report_table *t;
	size_t n = 0, hidden = 0;

	hi_page_heading(page, hi_page_printf(page, "By %s", text_of_diff_key(r->by)),
			"live and leaked objects");
	t = hi_page_table(page, columns, 8);
	for (size_t i = 0; i < r->c->n_rows; i++) {
		const struct hi_compare_row *row = &r->c->rows[i];

		if (!is_diff_row_shown(r, row))
			continue;
		if (n++ >= r->top) {
			hidden++;
			continue;
		}
		hi_cell_text(t, hi_type_label(row->name, page), 0);
		hi_cell_link(t, address_of_diff_row(r, row, false, page));
		hi_cell_number(t, row->before.count);
		hi_cell_number(t, row->after.count);
		hi_cell_link(t, address_of_diff_row(r, row, true, page));
		hi_cell_number(t, row->born.count);
		hi_cell_number(t, row->died.count);
		hi_cell_signed(t, row->grown);
		hi_cell_number(t, row->after.bytes);
		hi_cell_text(t,
			     signed_bytes(page, signed_change(row->before.bytes,
							      row->after.bytes)),
			     0);
	}
	if (hidden)
		hi_page_note(page, hi_page_printf(page, "%zu more rows (--all)", hidden));
	if (!n) {
		char least[24];

		hi_page_note(page, hi_page_printf(page,
						  "no %s changed by %s or more "
						  "(--min-size): exit status 0",
						  text_of_diff_key(r->by),
						  hi_bytes(least, r->min_size)));
	}
}

static void suggest_diff_commands(const struct hi_diff_report *r, struct hi_page *page)
{
	const struct hi_new_row *first = r->born.n_rows ? &r->born.rows[0] : NULL;

	if (!first || !hi_new_row_is_held(first))
		return;
	hi_page_blank(page);
	hi_page_command(page,
			hi_page_printf(page, "heapinspect paths 0x%" PRIx64 " %s",
				       first->example,
				       hi_report_header_target(r->after, page)),
			"all that keeps it alive");
}

static void old_diff_display(const struct hi_diff_report *r, struct hi_page *page)
{
	hi_report_header_title(r->after, page);
	if (hi_diff_is_none(r)) {
		hi_page_text(page, are_both_heaps_known(r)
					   ? "No difference"
					   : "No difference in the known part");
		show_unknown_side(r, page);
		/* No difference does not mean that nothing was allocated in between. */
		hi_page_fact(
			page, "matched",
			hi_diff_matched_text(r->c->same_process, r->c->knows_births));
		if (!are_both_heaps_known(r))
			hi_report_header_facts(r->after, page, false);
		return;
	}
	show_diff_headline(r, page);
	hi_report_header_facts(r->after, page, false);
	show_diff_rows(r, page);
	old_lost_objects_show(&r->lost, page);
	old_new_objects_show(&r->born, false, page);
	suggest_diff_commands(r, page);
}

/* ---- JSON ---- */

/* key: of the total of all rows; NULL: a row. */
static void put_diff_row_json(const struct hi_diff_report *r,
			      const struct hi_compare_row *row, const char *key,
			      struct hi_json *json)
{
	hi_json_object(json, key);
	if (!key)
		hi_json_text(json, r->by, hi_known(row->name));
	old_heap_total_json(json, "before", row->before);
	old_heap_total_json(json, "after", row->after);
	old_heap_total_json(json, "born", row->born);
	old_heap_total_json(json, "died", row->died);
	hi_json_signed(json, "grown", row->grown);
	hi_json_end(json);
}

static void old_diff_heap_json(const struct hi_report_header *header, const char *key,
			       uint64_t live, const struct hi_leak_totals *leaks,
			       struct hi_json *json)
{
	hi_json_object(json, key);
	hi_json_number(json, "pid", header->pid > 0 ? (uint64_t)header->pid : UINT64_MAX);
	hi_json_text(json, "exe", hi_known(header->exe));
	hi_json_text(json, "build_id", hi_known(header->build_id));
	hi_json_number(json, "time_ns", header->time_ns);
	hi_json_number(json, "live", live);
	hi_leak_totals_json(json, "leak", leaks);
	hi_json_end(json);
}

static void old_diff_json(const struct hi_diff_report *r, struct hi_json *json)
{
	size_t n = 0;

	hi_report_header_json(r->after, "heapinspect/diff/v1", json);
	hi_json_text(json, "matched", r->c->same_process ? "address" : "way");
	hi_json_text(json, "not_told",
		     hi_diff_matched_text(r->c->same_process, r->c->knows_births));
	old_diff_heap_json(r->before, "before", r->live_before, &r->leaks_before, json);
	old_diff_heap_json(r->after, "after", r->live_after, &r->leaks_after, json);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < r->c->n_rows && n < r->top; i++) {
		if (!is_diff_row_shown(r, &r->c->rows[i]))
			continue;
		put_diff_row_json(r, &r->c->rows[i], NULL, json);
		n++;
	}
	hi_json_end(json);
	put_diff_row_json(r, &r->c->all, "all", json);
	old_new_objects_json(&r->born, false, json);
	old_lost_objects_json(&r->lost, json);
	hi_json_end(json);
}

/* ---- as text ---- */

static void show_survived_headline(const struct hi_survived_report *r,
				   struct hi_page *page)
{
	struct hi_heap_total all = r->survived.all;
	char bytes[24], n[32], born[24], of[32], percent[16];

	if (!all.count) {
		hi_page_text(page, hi_page_printf(page,
						  "Nothing survived: all %s objects (%s) "
						  "that were born under load were freed",
						  hi_count(of, r->born.count),
						  hi_bytes(born, r->born.bytes)));
		return;
	}
	hi_page_text(page,
		     hi_page_printf(page,
				    "%s in %s object%s survived: born under load, still "
				    "there after it (%s of the %s that were born)",
				    hi_bytes(bytes, all.bytes), hi_count(n, all.count),
				    all.count == 1 ? "" : "s",
				    hi_percent(percent, all.bytes, r->born.bytes),
				    hi_bytes(born, r->born.bytes)));
}

static void show_side(const struct hi_report_header *header, const char *key,
		      uint64_t live, struct hi_page *page)
{
	char bytes[24];

	hi_page_fact(page, key,
		     hi_page_printf(page, "%s live, %s", hi_bytes(bytes, live),
				    hi_report_header_target(header, page)));
}

static void show_matching(const struct hi_survived_report *r, struct hi_page *page)
{
	if (r->load_by_address == r->after_by_address)
		hi_page_fact(page, "matched",
			     hi_diff_matched_text(r->after_by_address, r->knows_births));
	else
		hi_page_fact(page, "matched",
			     hi_page_printf(page, "%s with warm-up %s; the other two %s",
					    "load",
					    r->load_by_address ? "by address and type"
							       : "by type and path",
					    r->after_by_address ? "by address and type"
								: "by type and path"));
}

static void suggest_survived_commands(const struct hi_survived_report *r,
				      struct hi_page *page)
{
	const struct hi_new_objects *n = &r->survived;
	const char *target = hi_report_header_target(r->after, page);

	if (!n->n_rows)
		return;
	hi_page_blank(page);
	if (hi_new_row_is_held(&n->rows[0]))
		hi_page_command(page,
				hi_page_printf(page, "heapinspect paths 0x%" PRIx64 " %s",
					       n->rows[0].example, target),
				"all that keeps it alive");
	else
		hi_page_command(page,
				hi_page_printf(page,
					       "heapinspect explain 0x%" PRIx64 " %s",
					       n->rows[0].example, target),
				"what is leaked there");
}

static void old_survived_display(const struct hi_survived_report *r, struct hi_page *page)
{
	hi_report_header_title(r->after, page);
	show_survived_headline(r, page);
	show_side(r->warm, "warm-up", r->live[0], page);
	show_side(r->load, "load", r->live[1], page);
	show_side(r->after, "after", r->live[2], page);
	show_matching(r, page);
	hi_report_header_facts(r->after, page, false);
	old_new_objects_show(&r->survived, true, page);
	suggest_survived_commands(r, page);
}

/* ---- as JSON ---- */

static const char *matched_key(bool by_address)
{
	return by_address ? "address" : "way";
}

static void old_survived_json(const struct hi_survived_report *r, struct hi_json *json)
{
	hi_report_header_json(r->after, "heapinspect/survived/v1", json);
	hi_json_object(json, "matched");
	hi_json_text(json, "load", matched_key(r->load_by_address));
	hi_json_text(json, "after", matched_key(r->after_by_address));
	hi_json_end(json);
	old_diff_heap_json(r->warm, "warm_up", r->live[0], &r->leaks[0], json);
	old_diff_heap_json(r->load, "load", r->live[1], &r->leaks[1], json);
	old_diff_heap_json(r->after, "after", r->live[2], &r->leaks[2], json);
	old_heap_total_json(json, "born", r->born);
	old_heap_total_json(json, "survived", r->survived.all);
	old_new_objects_json(&r->survived, true, json);
	hi_json_end(json);
}
