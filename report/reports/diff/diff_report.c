/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/diff/diff_report.h"

#include <inttypes.h>
#include <string.h>

#include "report/parts/decoded_share.h"
#include "report/parts/report_links.h"
#include "report/parts/report_node.h"

bool hi_diff_is_none(const struct hi_diff_report *r)
{
	return !r->c->all.born.count && !r->c->all.died.count && !r->c->all.grown &&
	       !r->lost.all.count;
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

bool hi_diff_has_finding(const struct hi_diff_report *r)
{
	if (!r->min_size)
		return !hi_diff_is_none(r);
	for (size_t i = 0; i < r->c->n_rows; i++)
		if (is_diff_row_shown(r, &r->c->rows[i]))
			return true;
	return false;
}

/* "+1.5 MiB" */
static const char *signed_bytes(struct hi_page *page, int64_t n)
{
	char text[24];

	return hi_page_printf(page, "%s%s", n < 0 ? "-" : "+",
			      hi_bytes(text, size_of_change(n)));
}

/* ---- fields ---- */

const char *hi_diff_matched_text(bool by_address, bool knows_births)
{
	if (by_address && knows_births)
		return "by address and type (one process); the recording has what was "
		       "allocated anew at the same address";
	return by_address ? "by address and type (one process); an object that was freed "
			    "and allocated again at the same address with the same type "
			    "counts as unchanged: without allocation events the two "
			    "cannot be distinguished"
			  : "by type and the path to it (two processes); which of "
			    "several alike are new is not known";
}

void hi_diff_heap_json(const struct hi_report_header *header, const char *key,
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

/* Break-downs, a form each. */
static const char *const groups[] = {"type", "module", "root", "retainers", "site"};
enum { N_GROUPS = sizeof(groups) / sizeof(groups[0]) };

static unsigned form_of_diff(const struct hi_diff_report *r)
{
	unsigned i = 0;

	while (i + 1 < N_GROUPS && strcmp(r->by, groups[i]) != 0)
		i++;
	return 1u << i;
}

/* To what the later heap has of it: what keeps it, or (of its figure) the objects. */
static const char *address_of_diff_row(const struct hi_doc_row *row, bool is_figure)
{
	const struct hi_diff_report *r = row->report;
	const struct hi_compare_row *c = row->row;

	if (!c->after.count)
		return "";
	if (strcmp(r->by, "site") == 0)
		return hi_address_of_site(row->page, "census", c->name);
	if (strcmp(r->by, "type") != 0)
		return "";
	return is_figure ? hi_address_of_objects(row->page, c->name)
			 : hi_address_of_any_type(row->page, c->name);
}

static const char *link_to_diff_row(const struct hi_doc_row *row)
{
	return address_of_diff_row(row, false);
}

static const char *link_to_diff_objects(const struct hi_doc_row *row)
{
	return address_of_diff_row(row, true);
}

static struct hi_doc_value change_of_diff_row(const struct hi_doc_row *row)
{
	const struct hi_compare_row *c = row->row;

	return hi_doc_shown(
		signed_bytes(row->page, signed_change(c->before.bytes, c->after.bytes)));
}

#define CHANGE(member)                                                                   \
	{                                                                                \
#member, NULL, HI_DOC_OBJECT, HI_AT_PART(struct hi_compare_row, member), \
			.nested = &hi_heap_total_fields                                  \
	}
static const struct hi_doc_field change_fields[] = {
	CHANGE(before),
	CHANGE(after),
	CHANGE(born),
	CHANGE(died),
	{"grown", NULL, HI_DOC_BYTES, HI_AT(struct hi_compare_row, grown),
	 .is_signed = true},
};
static const struct hi_doc_fields changes = HI_DOC_FIELDS(change_fields);

#define GROUP(i, key)                                                                    \
	{                                                                                \
		key, NULL, HI_DOC_TEXT, HI_AT(struct hi_compare_row, name),              \
			.variants = 1u << i, .nullable = true                            \
	}
static const struct hi_doc_field diff_row_fields[] = {
	GROUP(0, "type"),
	GROUP(1, "module"),
	GROUP(2, "root"),
	GROUP(3, "retainers"),
	GROUP(4, "site"),
	{.unit = HI_DOC_MEMBERS, .nested = &changes},
	{NULL, "", HI_DOC_TYPE, HI_AT(struct hi_compare_row, name),
	 .link = link_to_diff_row},
	{NULL, "before", HI_DOC_COUNT, HI_AT(struct hi_compare_row, before.count)},
	{NULL, "after", HI_DOC_COUNT, HI_AT(struct hi_compare_row, after.count),
	 .link = link_to_diff_objects},
	{NULL, "born", HI_DOC_COUNT, HI_AT(struct hi_compare_row, born.count)},
	{NULL, "died", HI_DOC_COUNT, HI_AT(struct hi_compare_row, died.count)},
	{NULL, "grown", HI_DOC_BYTES, HI_AT(struct hi_compare_row, grown), .minor = true},
	{NULL, "bytes after", HI_DOC_BYTES, HI_AT(struct hi_compare_row, after.bytes)},
	{NULL, "change", HI_DOC_WORD, .value = change_of_diff_row},
};
static const struct hi_doc_fields diff_rows =
	HI_DOC_FIELDS(diff_row_fields, .row_size = sizeof(struct hi_compare_row));

static struct hi_doc_value is_diff_by_address(const struct hi_doc_row *row)
{
	const struct hi_diff_report *r = row->report;

	return hi_doc_number(!r->c->same_process);
}

static const char *matched_word(unsigned matched)
{
	return matched ? "way" : "address";
}

static struct hi_doc_value not_told_by_diff(const struct hi_doc_row *row)
{
	const struct hi_diff_report *r = row->report;

	return hi_doc_text(hi_diff_matched_text(r->c->same_process, r->c->knows_births));
}

static void put_earlier_heap(const struct hi_doc_row *row,
			     const struct hi_doc_field *field, struct hi_json *json)
{
	const struct hi_diff_report *r = row->report;

	hi_diff_heap_json(r->before, field->key, r->live_before, &r->leaks_before, json);
}

static void put_later_heap(const struct hi_doc_row *row, const struct hi_doc_field *field,
			   struct hi_json *json)
{
	const struct hi_diff_report *r = row->report;

	hi_diff_heap_json(r->after, field->key, r->live_after, &r->leaks_after, json);
}

/* Rows that are shown. */
static void put_diff_rows(const struct hi_doc_row *row, const struct hi_doc_field *field,
			  struct hi_json *json)
{
	const struct hi_diff_report *r = row->report;
	struct hi_doc_row one = *row;
	size_t n = 0;

	hi_json_array(json, field->key);
	for (size_t i = 0; i < r->c->n_rows && n < r->top; i++) {
		if (!is_diff_row_shown(r, &r->c->rows[i]))
			continue;
		one.row = &r->c->rows[i];
		hi_json_object(json, NULL);
		hi_doc_put(field->nested, &one, json);
		hi_json_end(json);
		n++;
	}
	hi_json_end(json);
}

static struct hi_doc_value all_of_diff(const struct hi_doc_row *row)
{
	const struct hi_diff_report *r = row->report;

	return hi_doc_nested(&r->c->all, 1);
}

static const struct hi_doc_field diff_fields[] = {
	{"matched", NULL, HI_DOC_WORD, .value = is_diff_by_address, .word = matched_word,
	 .n_words = 2},
	{"not_told", NULL, HI_DOC_TEXT, .value = not_told_by_diff,
	 .meaning = "how objects were matched, and what that cannot show"},
	{"before", .put = put_earlier_heap, .schema = HI_DIFF_HEAP_SCHEMA},
	{"after", .put = put_later_heap, .schema = HI_DIFF_HEAP_SCHEMA},
	{"rows", NULL, HI_DOC_ROWS, .put = put_diff_rows, .nested = &diff_rows},
	{"all", NULL, HI_DOC_OBJECT, .value = all_of_diff, .nested = &changes},
	{"new", NULL, HI_DOC_ROWS,
	 HI_AT_ROWS(struct hi_diff_report, born.rows, born.n_rows),
	 .nested = &hi_new_row_fields, .meaning = "born, by type, most bytes first"},
	{.unit = HI_DOC_MEMBERS,
	 HI_AT_PART(struct hi_diff_report, born),
	 .nested = &hi_new_objects_fields},
	{"was", NULL, HI_DOC_ROWS,
	 HI_AT_ROWS(struct hi_diff_report, lost.rows, lost.n_rows),
	 .nested = &hi_lost_row_fields,
	 .meaning = "leaks that were live in the earlier heap, at the same address and "
		    "of the same size, by their type and by what held them; empty if "
		    "the heaps are of two processes"},
};
const struct hi_doc_fields hi_diff_document = HI_DOC_FIELDS(
	diff_fields, .is_open = true,
	.meaning = "objects that were born, that died, and that match with another size");

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

static void show_diff_rows(const struct hi_diff_report *r, struct hi_page *page)
{
	struct hi_doc_row one = {.report = r, .variant = form_of_diff(r), .page = page};
	struct hi_report_table *t;
	size_t n = 0, hidden = 0;

	hi_page_heading(page, hi_page_printf(page, "By %s", text_of_diff_key(r->by)),
			"live and leaked objects");
	t = hi_doc_show_table(page, &diff_rows, one.variant);
	for (size_t i = 0; i < r->c->n_rows; i++) {
		const struct hi_compare_row *row = &r->c->rows[i];

		if (!is_diff_row_shown(r, row))
			continue;
		if (n++ >= r->top) {
			hidden++;
			continue;
		}
		one.row = row;
		hi_doc_show_row(t, &diff_rows, &one);
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

void hi_diff_display(const struct hi_diff_report *r, struct hi_page *page)
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
	hi_lost_objects_show(&r->lost, page);
	hi_new_objects_show(&r->born, false, page);
	suggest_diff_commands(r, page);
}

void hi_diff_json(const struct hi_diff_report *r, struct hi_json *json)
{
	hi_report_header_json(r->after, "heapinspect/diff/v1", json);
	hi_doc_put_report(&hi_diff_document, r, form_of_diff(r) | HI_NEW_BORN, json);
	hi_json_end(json);
}
