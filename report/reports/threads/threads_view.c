/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields and the page of threads. */
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "report/parts/decoded_share.h"
#include "report/parts/frame_items.h"
#include "report/parts/frame_text.h"
#include "report/parts/report_links.h"
#include "report/reports/threads/threads_report.h"

enum { FUNCTIONS = 4, NAMES = 4, FRAMES = 40, SHARES = 20 };

/* ---- fields ---- */

static struct hi_doc_value is_inlined_row(const struct hi_doc_row *row)
{
	const struct hi_frame_row *frame = row->row;

	return hi_doc_number((frame->flags & HI_FRAME_INLINED) != 0);
}

static const struct hi_doc_field frame_fields[] = {
	{"function", NULL, HI_DOC_TEXT, HI_AT(struct hi_frame_row, function),
	 .nullable = true},
	{"file", NULL, HI_DOC_TEXT, HI_AT(struct hi_frame_row, file), .nullable = true},
	{"line", NULL, HI_DOC_COUNT, HI_AT(struct hi_frame_row, line),
	 .meaning = "0: unknown"},
	{"module", NULL, HI_DOC_TEXT, HI_AT(struct hi_frame_row, module),
	 .nullable = true},
	{"offset", NULL, HI_DOC_ADDRESS, HI_AT(struct hi_frame_row, offset),
	 .meaning = "from where the module begins"},
	{"inlined", NULL, HI_DOC_FLAG, .value = is_inlined_row},
};
static const struct hi_doc_fields frame_rows =
	HI_DOC_FIELDS(frame_fields, .row_size = sizeof(struct hi_frame_row));

static const struct hi_doc_field share_fields[] = {
	{"variables", NULL, HI_DOC_LIST,
	 HI_AT_ROWS(struct hi_thread_share, variables, n_variables),
	 .nested = &hi_doc_texts, .meaning = "that all of it is reached from"},
	{"bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_thread_share, bytes)},
	{"largest", NULL, HI_DOC_OBJECT, HI_AT_PART(struct hi_thread_share, largest),
	 .nested = &hi_node_fields,
	 .meaning = "the variable or the object of it that retains most"},
};
static const struct hi_doc_fields share_rows =
	HI_DOC_FIELDS(share_fields, .row_size = sizeof(struct hi_thread_share));

static struct hi_doc_value stack_of_thread(const struct hi_doc_row *row)
{
	const struct hi_thread_held *t = row->row;

	return t->n_frames ? (struct hi_doc_value){.kind = HI_DOC_NESTED,
						   .rows = t->frames,
						   .n_rows = t->n_frames}
			   : hi_doc_none();
}

static const struct hi_doc_field thread_fields[] = {
	{"thread", NULL, HI_DOC_COUNT, HI_AT(struct hi_thread_held, id),
	 .meaning = "number of the thread"},
	{"name", NULL, HI_DOC_TEXT, HI_AT(struct hi_thread_held, name), .nullable = true},
	{"bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_thread_held, bytes),
	 .meaning = "that its variables hold, and no variable of anybody else"},
	{"held", NULL, HI_DOC_ROWS, HI_AT_ROWS(struct hi_thread_held, shares, n_shares),
	 .nested = &share_rows, .meaning = "by the variables that share it"},
	{"stack", NULL, HI_DOC_ROWS, .value = stack_of_thread, .nested = &frame_rows,
	 .optional = true, .may_be_missing = true,
	 .meaning =
		 "the innermost function first; absent of files, which have no stacks"},
};
const struct hi_doc_fields hi_thread_fields =
	HI_DOC_FIELDS(thread_fields, .row_size = sizeof(struct hi_thread_held));

/* ---- texts ---- */

/* "worker(): buf" of "thread 7 worker(): buf". */
static const char *variable_of_thread(const char *name)
{
	static const char word[] = "thread ";
	size_t digits;

	if (strncmp(name, word, sizeof(word) - 1) != 0)
		return name;
	digits = strspn(name + sizeof(word) - 1, "0123456789");
	return name[sizeof(word) - 1 + digits] == ' ' ? name + sizeof(word) + digits
						      : name;
}

static const char *variables_text(const struct hi_thread_share *share,
				  struct hi_page *page)
{
	const char *text = "";

	for (size_t i = 0; i < share->n_variables && i < NAMES; i++)
		text = hi_page_printf(
			page, "%s%s%s", text, i ? ", " : "",
			hi_page_safe(page, variable_of_thread(share->variables[i])));
	if (share->n_variables > NAMES)
		text = hi_page_printf(page, "%s and %zu more", text,
				      share->n_variables - NAMES);
	return text;
}

struct function_part {
	const char *name;
	size_t length;
};

/* Adds "worker()" of "worker(): buf", once. */
static size_t add_holding_function(struct function_part *parts, size_t n,
				   const char *variable)
{
	const char *end = strstr(variable, "()");
	size_t length = end ? (size_t)(end - variable) + 2 : 0;

	for (size_t i = 0; i < n; i++)
		if (parts[i].length == length &&
		    strncmp(parts[i].name, variable, length) == 0)
			return n;
	if (!length || n == FUNCTIONS)
		return n;
	parts[n] = (struct function_part){variable, length};
	return n + 1;
}

/* "worker(), run()": functions with such variables, those that hold most first. */
static const char *holding_functions_text(const struct hi_thread_held *t,
					  struct hi_page *page)
{
	struct function_part parts[FUNCTIONS];
	const char *text = "";
	size_t n = 0;

	for (size_t i = 0; i < t->n_shares; i++)
		for (size_t k = 0; k < t->shares[i].n_variables; k++)
			n = add_holding_function(
				parts, n, variable_of_thread(t->shares[i].variables[k]));
	for (size_t i = 0; i < n; i++) {
		char name[200];

		snprintf(name, sizeof(name), "%.*s", (int)hi_min(parts[i].length, 190),
			 parts[i].name);
		text = hi_page_printf(page, "%s%s%s", text, i ? ", " : "",
				      hi_page_safe(page, name));
	}
	return text;
}

/* Without the thread, which the row has. */
static const char *held_label(const struct hi_node_info *largest, struct hi_page *page)
{
	return largest->sort == HI_NODE_ROOT
		       ? hi_page_safe(page, variable_of_thread(largest->name))
		       : hi_node_short_label(largest, page);
}

/* ---- the table of threads ---- */

static void show_thread_row(const struct hi_threads_report *r,
			    const struct hi_thread_held *t, struct hi_report_table *table)
{
	struct hi_page *page = table->page;

	hi_cell_text(table, hi_page_printf(page, "%" PRIu64, t->id), 0);
	hi_cell_text(table, hi_page_safe(page, t->name), 0);
	hi_cell_number(table, t->bytes);
	hi_cell_percent(table, t->bytes, r->live_bytes);
	if (t->n_shares) {
		hi_cell_text(table, held_label(&t->shares->largest, page), 0);
		hi_cell_link(table, hi_address_of_level(page, &t->shares->largest));
	} else {
		hi_cell_empty(table);
	}
	hi_cell_text(table, holding_functions_text(t, page), 0);
}

static void show_threads(const struct hi_threads_report *r, size_t n, bool is_linked,
			 struct hi_page *page)
{
	static const struct hi_column columns[] = {
		{"thread", HI_COLUMN_WORD},	 {"name", HI_COLUMN_TEXT},
		{"hold alone", HI_COLUMN_BYTES}, {"of live", HI_COLUMN_PERCENT},
		{"largest", HI_COLUMN_TEXT},	 {"functions", HI_COLUMN_TEXT}};
	struct hi_report_table *t = hi_page_table(page, columns, 6);

	if (is_linked)
		hi_page_only_with_links(page);
	for (size_t i = 0; i < n; i++)
		show_thread_row(r, &r->threads[i], t);
}

void hi_threads_overview(const struct hi_threads_report *r, size_t most, bool is_linked,
			 struct hi_page *page)
{
	size_t holding = 0, n;

	while (holding < r->n_threads && r->threads[holding].bytes)
		holding++;
	if (!holding)
		return;
	n = hi_min(holding, most);
	hi_page_heading(page, "Threads",
			holding > n ? hi_page_printf(page,
						     "the first %zu of %zu whose "
						     "variables hold something alone",
						     n, holding)
				    : "whose variables hold something alone");
	if (is_linked)
		hi_page_only_with_links(page);
	hi_page_link(page, hi_address_with(page, hi_address(page, "retained", NULL), "by",
					   "thread"));
	show_threads(r, n, is_linked, page);
}

/* ---- one thread ---- */

/* The same function and line again: it calls itself. */
static bool is_same_item(const struct hi_frame_item *a, const struct hi_frame_item *b)
{
	return !a->n_folded && !b->n_folded && a->row->line == b->row->line &&
	       *a->row->function && strcmp(a->row->function, b->row->function) == 0;
}

static void show_stack_item(const struct hi_frame_item *item, size_t times,
			    struct hi_report_table *t)
{
	bool is_fold = item->n_folded > 1;
	const char *text = hi_frame_item_text(item, t->page);

	if (is_fold)
		text = hi_page_printf(t->page, "… %s", text);
	else if (times > 1)
		text = hi_page_printf(t->page, "%s, %zu times", text, times);
	hi_cell_text(t, text, 0);
	hi_cell_text(t, is_fold ? "" : hi_frame_place(item->row, t->page), 0);
}

static void show_thread_stack(const struct hi_thread_held *thread, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"stack", HI_COLUMN_TEXT},
						   {"", HI_COLUMN_TEXT}};
	HI_GUARD(hi_frame_items_free)
	struct hi_frame_items *items =
		&(struct hi_frame_items){.folds = !page->type_names.keep_full};
	struct hi_report_table *t = hi_page_table(page, columns, 2);
	size_t shown = 0, i = 0;

	for (size_t k = 0; k < thread->n_frames; k++)
		hi_frame_items_add(items, &thread->frames[k], 0, false);
	page->failed |= items->failed;
	while (i < items->of.count && shown < FRAMES) {
		const struct hi_frame_item *item = &items->of.items[i];
		size_t times = 1;

		while (i + times < items->of.count &&
		       is_same_item(item, &items->of.items[i + times]))
			times++;
		show_stack_item(item, times, t);
		i += times;
		shown++;
	}
	if (i < items->of.count || items->left_out)
		hi_page_note(page, hi_page_printf(page, "%zu more frames",
						  items->of.count - i + items->left_out));
	else if (thread->is_cut)
		hi_page_note(page, "outer frames are not known");
}

static void show_thread_shares(const struct hi_threads_report *r,
			       const struct hi_thread_held *thread, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"variables", HI_COLUMN_TEXT},
						   {"hold alone", HI_COLUMN_BYTES},
						   {"of live", HI_COLUMN_PERCENT},
						   {"largest", HI_COLUMN_TEXT},
						   {"address", HI_COLUMN_ADDRESS}};
	struct hi_report_table *t = hi_page_table(page, columns, 5);
	uint64_t rest = 0;
	char bytes[24];

	for (size_t i = 0; i < thread->n_shares; i++) {
		const struct hi_thread_share *share = &thread->shares[i];

		if (i >= SHARES) {
			rest += share->bytes;
			continue;
		}
		hi_cell_text(t, variables_text(share, page), 0);
		hi_cell_number(t, share->bytes);
		hi_cell_percent(t, share->bytes, r->live_bytes);
		hi_cell_text(t, hi_node_type_label(&share->largest, page), 0);
		hi_cell_link(t, hi_address_of_level(page, &share->largest));
		hi_cell_address(t, share->largest.address);
		hi_cell_link(t, hi_address_of_node(page, &share->largest));
	}
	if (thread->n_shares > SHARES)
		hi_page_note(page, hi_page_printf(page, "%zu more rows with %s",
						  thread->n_shares - SHARES,
						  hi_bytes(bytes, rest)));
}

static void show_thread(const struct hi_threads_report *r, const struct hi_thread_held *t,
			struct hi_page *page)
{
	char bytes[24], percent[16];
	const char *name =
		hi_page_printf(page, "Thread %" PRIu64 "%s%s", t->id, *t->name ? " " : "",
			       hi_page_safe(page, t->name));

	if (!t->n_frames && !t->n_shares)
		return;
	hi_page_heading(
		page, name,
		t->bytes ? hi_page_printf(page, "its variables alone hold %s (%s)",
					  hi_bytes(bytes, t->bytes),
					  hi_percent(percent, t->bytes, r->live_bytes))
			 : "its variables alone hold nothing");
	if (t->n_frames)
		show_thread_stack(t, page);
	if (t->n_frames && t->n_shares)
		hi_page_blank(page);
	if (t->n_shares)
		show_thread_shares(r, t, page);
}

/* ---- the page ---- */

void hi_threads_display(const struct hi_threads_report *r,
			const struct hi_report_header *header, struct hi_page *page)
{
	char n[32], bytes[24], live[24], percent[16];

	hi_report_header_title(header, page);
	hi_page_text(page, hi_page_printf(page,
					  "%s thread%s; %s (%s) of %s%s live are held by "
					  "one thread alone",
					  hi_count(n, r->n_threads),
					  r->n_threads == 1 ? "" : "s",
					  hi_bytes(bytes, r->bytes),
					  hi_percent(percent, r->bytes, r->live_bytes),
					  hi_heap_at_least(header),
					  hi_bytes(live, r->live_bytes)));
	hi_report_header_facts(header, page, false);
	if (!r->n_threads) {
		hi_page_note(page, "no variable of a thread leads to an object");
		return;
	}
	hi_page_heading(page, "Threads", "what the variables of each alone hold");
	show_threads(r, r->shown, false, page);
	if (r->shown < r->n_threads)
		hi_page_note(page,
			     hi_page_printf(page, "%zu more thread%s (--all)",
					    r->n_threads - r->shown,
					    r->n_threads - r->shown == 1 ? "" : "s"));
	if (!r->has_stacks)
		hi_page_note(page, header->file
					   ? "stacks are not in a file; functions are "
					     "those with such variables. Of a process, "
					     "--pid N shows stacks"
					   : "no stack could be read");
	for (size_t i = 0; i < r->shown; i++)
		show_thread(r, &r->threads[i], page);
}
