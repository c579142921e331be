/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/diff_report.h"

#include <inttypes.h>

#include "report/node.h"

bool hi_diff_is_none(const struct hi_diff_report *r)
{
	return !r->c->all.born.count && !r->c->all.died.count && !r->c->all.grown;
}

static int64_t change(uint64_t before, uint64_t after)
{
	return (int64_t)(after - before);
}

static uint64_t size_of(int64_t n)
{
	return n < 0 ? -(uint64_t)n : (uint64_t)n;
}

/* Rows that did not change have nothing to tell. */
static bool is_shown(const struct hi_diff_report *r, const struct hi_compare_row *row)
{
	int64_t bytes = change(row->before.bytes, row->after.bytes);

	if (!row->born.count && !row->died.count && !row->grown)
		return false;
	return size_of(bytes) >= r->min_size;
}

/* "+1.5 MiB" */
static const char *signed_bytes(struct hi_page *page, int64_t n)
{
	char text[24];

	return hi_page_printf(page, "%s%s", n < 0 ? "-" : "+",
			      hi_bytes(text, size_of(n)));
}

/* ---- text ---- */

static void show_fact(struct hi_page *page, const char *key, uint64_t before,
		      uint64_t after)
{
	char a[24], b[24];

	hi_page_fact(page, key,
		     hi_page_printf(page, "%s, before %s (%s)", hi_bytes(b, after),
				    hi_bytes(a, before),
				    signed_bytes(page, change(before, after))));
}

static void show_headline(const struct hi_diff_report *r, struct hi_page *page)
{
	const struct hi_compare_row *all = &r->c->all;
	char born[32], died[32], more[24], less[24];

	hi_page_text(page, hi_page_printf(page, "%s: %s objects born (%s), %s died (%s)",
					  signed_bytes(page, change(all->before.bytes,
								    all->after.bytes)),
					  hi_count(born, all->born.count),
					  hi_bytes(more, all->born.bytes),
					  hi_count(died, all->died.count),
					  hi_bytes(less, all->died.bytes)));
	hi_page_fact(page, "before", hi_head_target(r->before, page));
	show_fact(page, "live", r->live_before, r->live_after);
	show_fact(page, "leaked", r->leak_before, r->leak_after);
	hi_page_fact(page, "matched",
		     r->c->same_process
			     ? "by address and type: one process"
			     : "by type and the way to it: two processes; which of those "
			       "alike are new is not known");
}

static void show_rows(const struct hi_diff_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"", HI_COLUMN_TEXT},	    {"before", HI_COLUMN_COUNT},
		{"after", HI_COLUMN_COUNT}, {"born", HI_COLUMN_COUNT},
		{"died", HI_COLUMN_COUNT},  {"bytes after", HI_COLUMN_BYTES},
		{"change", HI_COLUMN_WORD}};
	struct hi_table *t;
	size_t n = 0, hidden = 0;

	hi_page_heading(page, hi_page_printf(page, "By %s", r->by),
			"live and leaked objects");
	t = hi_page_table(page, columns, 7);
	for (size_t i = 0; i < r->c->n_rows; i++) {
		const struct hi_compare_row *row = &r->c->rows[i];

		if (!is_shown(r, row))
			continue;
		if (n++ >= r->top) {
			hidden++;
			continue;
		}
		hi_cell_text(t, hi_type_label(row->name, page), 0);
		hi_cell_number(t, row->before.count);
		hi_cell_number(t, row->after.count);
		hi_cell_number(t, row->born.count);
		hi_cell_number(t, row->died.count);
		hi_cell_number(t, row->after.bytes);
		hi_cell_text(
			t,
			signed_bytes(page, change(row->before.bytes, row->after.bytes)),
			0);
	}
	if (hidden)
		hi_page_note(page, hi_page_printf(page, "%zu more rows (--all)", hidden));
}

static void show_holders(const struct hi_diff_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"held by", HI_COLUMN_TEXT},
						   {"type", HI_COLUMN_TEXT},
						   {"new objects", HI_COLUMN_COUNT},
						   {"new bytes", HI_COLUMN_BYTES}};
	struct hi_table *t;

	if (!r->c->all.born.count)
		return;
	hi_page_heading(page, "What holds the growth", "born objects alone");
	t = hi_page_table(page, columns, 4);
	for (size_t i = 0; i < r->n_holders; i++) {
		const struct hi_diff_holder *h = &r->holders[i];

		hi_cell_text(t, hi_page_safe_again(page, h->name), 0);
		hi_cell_text(t, hi_type_label(h->type, page), 0);
		hi_cell_number(t, h->objects);
		hi_cell_number(t, h->bytes);
	}
	if (!r->leaked.count)
		return;
	hi_cell_text(t, "nothing: leaked", 0);
	hi_cell_text(t, "", 0);
	hi_cell_number(t, r->leaked.count);
	hi_cell_number(t, r->leaked.bytes);
}

void hi_diff_display(const struct hi_diff_report *r, struct hi_page *page)
{
	hi_head_title(r->after, page);
	if (hi_diff_is_none(r)) {
		hi_page_text(page, "No difference");
		return;
	}
	show_headline(r, page);
	hi_head_facts(r->after, page, false);
	show_rows(r, page);
	show_holders(r, page);
}

/* ---- JSON ---- */

static void json_sum(struct hi_json *json, const char *key, struct hi_heap_sum sum)
{
	hi_json_object(json, key);
	hi_json_number(json, "count", sum.count);
	hi_json_number(json, "bytes", sum.bytes);
	hi_json_end(json);
}

/* key: of the sum of all rows; NULL: one of them. */
static void json_row(const struct hi_diff_report *r, const struct hi_compare_row *row,
		     const char *key, struct hi_json *json)
{
	hi_json_object(json, key);
	if (!key)
		hi_json_text(json, r->by, hi_known(row->name));
	json_sum(json, "before", row->before);
	json_sum(json, "after", row->after);
	json_sum(json, "born", row->born);
	json_sum(json, "died", row->died);
	hi_json_signed(json, "grown", row->grown);
	hi_json_end(json);
}

static void json_side(const struct hi_head *head, const char *key, uint64_t live,
		      uint64_t leak, struct hi_json *json)
{
	hi_json_object(json, key);
	hi_json_number(json, "pid", head->pid > 0 ? (uint64_t)head->pid : UINT64_MAX);
	hi_json_text(json, "exe", hi_known(head->exe));
	hi_json_text(json, "build_id", hi_known(head->build_id));
	hi_json_number(json, "time_ns", head->time_ns);
	hi_json_number(json, "live", live);
	hi_json_number(json, "leak", leak);
	hi_json_end(json);
}

static void json_holders(const struct hi_diff_report *r, struct hi_json *json)
{
	hi_json_array(json, "growth");
	for (size_t i = 0; i < r->n_holders; i++) {
		const struct hi_diff_holder *h = &r->holders[i];

		hi_json_object(json, NULL);
		hi_json_escaped(json, "path", h->name);
		hi_json_text(json, "type", hi_known(h->type));
		hi_json_address(json, "address", h->address);
		hi_json_number(json, "objects", h->objects);
		hi_json_number(json, "bytes", h->bytes);
		hi_json_end(json);
	}
	hi_json_end(json);
	json_sum(json, "leaked", r->leaked);
}

void hi_diff_json(const struct hi_diff_report *r, struct hi_json *json)
{
	size_t n = 0;

	hi_head_json(r->after, "heapinspect/diff/v1", json);
	hi_json_text(json, "matched", r->c->same_process ? "address" : "way");
	json_side(r->before, "before", r->live_before, r->leak_before, json);
	json_side(r->after, "after", r->live_after, r->leak_after, json);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < r->c->n_rows && n < r->top; i++) {
		if (!is_shown(r, &r->c->rows[i]))
			continue;
		json_row(r, &r->c->rows[i], NULL, json);
		n++;
	}
	hi_json_end(json);
	json_row(r, &r->c->all, "all", json);
	json_holders(r, json);
	hi_json_end(json);
}
