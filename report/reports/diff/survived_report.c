/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/diff/survived_report.h"

#include <inttypes.h>
#include <string.h>

#include "report/parts/report_node.h"
#include "report/reports/diff/diff_report.h"

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

void hi_survived_display(const struct hi_survived_report *r, struct hi_page *page)
{
	hi_report_header_title(r->after, page);
	show_survived_headline(r, page);
	show_side(r->warm, "warm-up", r->live[0], page);
	show_side(r->load, "load", r->live[1], page);
	show_side(r->after, "after", r->live[2], page);
	show_matching(r, page);
	hi_report_header_facts(r->after, page, false);
	hi_new_objects_show(&r->survived, true, page);
	suggest_survived_commands(r, page);
}

/* ---- as JSON ---- */

static const char *survived_matched_word(unsigned by_address)
{
	return by_address ? "address" : "way";
}

static const struct hi_doc_field matched_fields[] = {
	{"load", NULL, HI_DOC_WORD, HI_AT(struct hi_survived_report, load_by_address),
	 .word = survived_matched_word, .n_words = 2},
	{"after", NULL, HI_DOC_WORD, HI_AT(struct hi_survived_report, after_by_address),
	 .word = survived_matched_word, .n_words = 2},
};
static const struct hi_doc_fields matched =
	HI_DOC_FIELDS(matched_fields, .meaning = "each with the one before it");

static void put_survived_heaps(const struct hi_doc_row *row, const struct hi_doc_field *f,
			       struct hi_json *json)
{
	const struct hi_survived_report *r = row->report;
	const struct hi_report_header *headers[] = {r->warm, r->load, r->after};
	unsigned i = strcmp(f->key, "warm_up") == 0 ? 0
		     : strcmp(f->key, "load") == 0  ? 1
						    : 2;

	hi_diff_heap_json(headers[i], f->key, r->live[i], &r->leaks[i], json);
}

static const struct hi_doc_field survived_fields[] = {
	{"matched", NULL, HI_DOC_OBJECT, .nested = &matched},
	{"warm_up", .put = put_survived_heaps, .schema = HI_DIFF_HEAP_SCHEMA},
	{"load", .put = put_survived_heaps, .schema = HI_DIFF_HEAP_SCHEMA},
	{"after", .put = put_survived_heaps, .schema = HI_DIFF_HEAP_SCHEMA},
	{"born", NULL, HI_DOC_OBJECT, HI_AT_PART(struct hi_survived_report, born),
	 .nested = &hi_heap_total_fields,
	 .meaning = "under load, whether it survived or not"},
	{"survived", NULL, HI_DOC_OBJECT,
	 HI_AT_PART(struct hi_survived_report, survived.all),
	 .nested = &hi_heap_total_fields},
	{"rows", NULL, HI_DOC_ROWS,
	 HI_AT_ROWS(struct hi_survived_report, survived.rows, survived.n_rows),
	 .nested = &hi_new_row_fields, .meaning = "survived, by type, most bytes first"},
	{.unit = HI_DOC_MEMBERS,
	 HI_AT_PART(struct hi_survived_report, survived),
	 .nested = &hi_new_objects_fields},
};
const struct hi_doc_fields hi_survived_document = HI_DOC_FIELDS(
	survived_fields, .is_open = true,
	.meaning = "diff --three: what was born between warm-up and load, and is still "
		   "there after it");

void hi_survived_json(const struct hi_survived_report *r, struct hi_json *json)
{
	hi_report_header_json(r->after, "heapinspect/survived/v1", json);
	hi_doc_put_report(&hi_survived_document, r, HI_NEW_SURVIVED, json);
	hi_json_end(json);
}
