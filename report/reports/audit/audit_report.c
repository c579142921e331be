/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/audit/audit_report.h"

#include <inttypes.h>

#include "base/text.h"
#include "report/parts/report_links.h"

static size_t count_shown_audit_rows(const struct hi_audit_report *r, size_t n)
{
	return n < r->top ? n : r->top;
}

/* ---- fields ---- */

enum { EXCESS = 1, SHORT = 2, KNOWN = 4, NAMED = 8 };

/* Rows of all three kinds have a type and an example. */
static struct hi_doc_value audited_type(const struct hi_doc_row *row, uint32_t type)
{
	const struct hi_audit_report *r = row->report;

	return hi_doc_text(r->graph->types[type].name);
}
static struct hi_doc_value audited_example(const struct hi_doc_row *row, hi_node node)
{
	const struct hi_audit_report *r = row->report;

	return hi_doc_number(hi_graph_address(r->graph, node));
}

static struct hi_doc_value type_of_audit_row(const struct hi_doc_row *row)
{
	return audited_type(row, ((const struct hi_audit_row *)row->row)->type);
}
static struct hi_doc_value example_of_audit_row(const struct hi_doc_row *row)
{
	return audited_example(row, ((const struct hi_audit_row *)row->row)->example);
}

static struct hi_doc_value name_of_example(const struct hi_doc_row *row)
{
	const struct hi_audit_report *r = row->report;
	const char *const *names = row->variant & EXCESS  ? r->names
				   : row->variant & SHORT ? r->short_names
							  : NULL;

	return hi_doc_text(names ? names[row->index] : NULL);
}

static const char *loss_word(unsigned loss)
{
	return hi_known_loss_name((enum hi_known_loss)loss);
}

static const struct hi_doc_field audit_row_fields[] = {
	{"type", "type", HI_DOC_TYPE, .value = type_of_audit_row,
	 .text_link = hi_address_of_any_type},
	{"objects", "objects", HI_DOC_COUNT, HI_AT(struct hi_audit_row, objects)},
	{"excess", "excess", HI_DOC_COUNT, HI_AT(struct hi_audit_row, excess),
	 .variants = EXCESS | KNOWN},
	{"missing", "missing", HI_DOC_COUNT, HI_AT(struct hi_audit_row, excess),
	 .variants = SHORT},
	{"bytes", "bytes", HI_DOC_BYTES, HI_AT(struct hi_audit_row, bytes)},
	{"example", "example", HI_DOC_ADDRESS, .value = example_of_audit_row,
	 .address_link = hi_address_of_object},
	{"of", "of", HI_DOC_TEXT, HI_AT(struct hi_audit_row, loss), .word = loss_word,
	 .variants = KNOWN, .place = -1, .schema = "\"type\": \"string\""},
	{"name", "which is", HI_DOC_TEXT, .value = name_of_example, .shown_in = NAMED,
	 .place = 1, .nullable = true, .may_be_missing = true},
	{"counted", "counts", HI_DOC_COUNT, HI_AT(struct hi_audit_row, example_counted),
	 .shown_in = EXCESS | SHORT},
	{"found", "found", HI_DOC_COUNT, HI_AT(struct hi_audit_row, example_found),
	 .shown_in = EXCESS | SHORT},
};
#define AUDIT_ROWS(kind)                                                                 \
	HI_DOC_FIELDS(audit_row_fields, .row_size = sizeof(struct hi_audit_row),         \
		      .form = (kind))
static const struct hi_doc_fields excess_rows = AUDIT_ROWS(EXCESS);
static const struct hi_doc_fields short_rows = AUDIT_ROWS(SHORT);
static const struct hi_doc_fields known_rows = AUDIT_ROWS(KNOWN);

static struct hi_doc_value type_of_cause(const struct hi_doc_row *row)
{
	return audited_type(row, ((const struct hi_audit_cause *)row->row)->type);
}
static struct hi_doc_value example_of_cause(const struct hi_doc_row *row)
{
	return audited_example(row, ((const struct hi_audit_cause *)row->row)->example);
}

static const struct hi_doc_field cause_fields[] = {
	{"type", "through", HI_DOC_TYPE, .value = type_of_cause,
	 .text_link = hi_address_of_any_type},
	{"objects", "objects", HI_DOC_COUNT, HI_AT(struct hi_audit_cause, objects)},
	{"example", "example", HI_DOC_ADDRESS, .value = example_of_cause,
	 .nullable = true, .address_link = hi_address_of_object},
};
static const struct hi_doc_fields causes =
	HI_DOC_FIELDS(cause_fields, .row_size = sizeof(struct hi_audit_cause));

static const char *text_of_garbage_state(const struct hi_garbage_row *row)
{
	static const char *const states[HI_UNREACHABLE_CLASSES] = {
		[HI_UNREACHABLE_NO_CLASS] = "leaked",
		[HI_UNREACHABLE_GARBAGE] = "not collected yet",
		[HI_UNREACHABLE_UNCOLLECTABLE] = "uncollectable",
		[HI_UNREACHABLE_LOST_REFERENCE] = "held by a lost reference"};

	return row->put_aside ? "uncollectable, put aside"
			      : states[row->unreachable_class];
}

static struct hi_doc_value type_of_garbage(const struct hi_doc_row *row)
{
	return audited_type(row, ((const struct hi_garbage_row *)row->row)->type);
}
static struct hi_doc_value example_of_garbage(const struct hi_doc_row *row)
{
	return audited_example(row, ((const struct hi_garbage_row *)row->row)->example);
}

static const char *fate_word(unsigned fate)
{
	return hi_unreachable_class_key((enum hi_unreachable_class)fate);
}

static struct hi_doc_value state_of_garbage(const struct hi_doc_row *row)
{
	const struct hi_garbage_row *g = row->row;
	struct hi_doc_value value = hi_doc_number(g->unreachable_class);

	value.shown = text_of_garbage_state(g);
	return value;
}

static const struct hi_doc_field garbage_fields[] = {
	{"type", "type", HI_DOC_TYPE, .value = type_of_garbage,
	 .text_link = hi_address_of_any_type},
	{"fate", "state", HI_DOC_WORD, .value = state_of_garbage, .word = fate_word,
	 .n_words = HI_UNREACHABLE_CLASSES},
	{"put_aside", NULL, HI_DOC_FLAG, HI_AT(struct hi_garbage_row, put_aside)},
	{"objects", "objects", HI_DOC_COUNT, HI_AT(struct hi_garbage_row, objects)},
	{"bytes", "bytes", HI_DOC_BYTES, HI_AT(struct hi_garbage_row, bytes)},
	{"example", "example", HI_DOC_ADDRESS, .value = example_of_garbage,
	 .nullable = true, .address_link = hi_address_of_object},
};
static const struct hi_doc_fields garbage_rows =
	HI_DOC_FIELDS(garbage_fields, .row_size = sizeof(struct hi_garbage_row));

/* The first `top` rows of each list. */
static struct hi_doc_value first_rows(const struct hi_doc_row *row, const void *rows,
				      size_t n)
{
	return hi_doc_nested(rows, count_shown_audit_rows(row->report, n));
}
static struct hi_doc_value excess_rows_of(const struct hi_doc_row *row)
{
	const struct hi_audit *a = ((const struct hi_audit_report *)row->report)->audit;

	return first_rows(row, a->rows, a->n_rows);
}
static struct hi_doc_value short_rows_of(const struct hi_doc_row *row)
{
	const struct hi_audit *a = ((const struct hi_audit_report *)row->report)->audit;

	return first_rows(row, a->short_rows, a->n_short_rows);
}
static struct hi_doc_value known_rows_of(const struct hi_doc_row *row)
{
	const struct hi_audit *a = ((const struct hi_audit_report *)row->report)->audit;

	return first_rows(row, a->known_rows, a->n_known_rows);
}
static struct hi_doc_value causes_of(const struct hi_doc_row *row)
{
	const struct hi_audit_report *r = row->report;

	return first_rows(row, r->causes, r->n_causes);
}
static struct hi_doc_value garbage_rows_of(const struct hi_doc_row *row)
{
	const struct hi_audit_report *r = row->report;

	return first_rows(row, r->garbage->rows, r->garbage->n_rows);
}

static const struct hi_doc_field sum_fields[] = {
	{"objects", NULL, HI_DOC_COUNT, HI_AT(struct hi_audit, objects)},
	{"excess_objects", NULL, HI_DOC_COUNT, HI_AT(struct hi_audit, excess_objects)},
	{"excess", NULL, HI_DOC_COUNT, HI_AT(struct hi_audit, excess)},
	{"short_objects", NULL, HI_DOC_COUNT, HI_AT(struct hi_audit, short_objects),
	 .meaning = "count fewer references than lead to them for certain"},
	{"missing", NULL, HI_DOC_COUNT, HI_AT(struct hi_audit, missing)},
	{"known_objects", NULL, HI_DOC_COUNT, HI_AT(struct hi_audit, known_objects),
	 .may_be_missing = true,
	 .meaning = "count more by a known habit of a library; in none of the other "
		    "numbers"},
	{"known", NULL, HI_DOC_COUNT, HI_AT(struct hi_audit, known),
	 .may_be_missing = true},
};
static const struct hi_doc_fields sums = HI_DOC_FIELDS(sum_fields);

static const struct hi_doc_field garbage_sum_fields[] = {
	{"garbage_objects", NULL, HI_DOC_COUNT,
	 HI_AT(struct hi_garbage, objects[HI_UNREACHABLE_GARBAGE]),
	 .meaning = "nothing leads there, and the next collection takes them"},
	{"garbage", NULL, HI_DOC_BYTES,
	 HI_AT(struct hi_garbage, bytes[HI_UNREACHABLE_GARBAGE])},
	{"uncollectable", NULL, HI_DOC_BYTES,
	 HI_AT(struct hi_garbage, bytes[HI_UNREACHABLE_UNCOLLECTABLE]),
	 .meaning = "bytes that nothing leads to and that the collector cannot take"},
	{"put_aside_objects", NULL, HI_DOC_COUNT, HI_AT(struct hi_garbage, aside_objects),
	 .meaning = "live by the collector's own list of what it cannot take"},
	{"put_aside", NULL, HI_DOC_BYTES, HI_AT(struct hi_garbage, aside_bytes)},
	{"lost", NULL, HI_DOC_BYTES,
	 HI_AT(struct hi_garbage, bytes[HI_UNREACHABLE_LOST_REFERENCE]),
	 .meaning = "bytes of what only a lost reference holds"},
};
static const struct hi_doc_fields garbage_sums = HI_DOC_FIELDS(garbage_sum_fields);

static const struct hi_doc_field audit_fields[] = {
	{.unit = HI_DOC_MEMBERS,
	 HI_AT_POINTER(struct hi_audit_report, audit),
	 .nested = &sums},
	{.unit = HI_DOC_MEMBERS,
	 HI_AT_POINTER(struct hi_audit_report, garbage),
	 .nested = &garbage_sums},
	{"rows", NULL, HI_DOC_ROWS, .value = excess_rows_of, .nested = &excess_rows},
	{"short_rows", NULL, HI_DOC_ROWS, .value = short_rows_of, .nested = &short_rows},
	{"known_rows", NULL, HI_DOC_ROWS, .value = known_rows_of, .nested = &known_rows,
	 .may_be_missing = true},
	{"causes", NULL, HI_DOC_ROWS, .value = causes_of, .nested = &causes,
	 .meaning = "why it is uncollectable: what cycles go through"},
	{"garbage_rows", NULL, HI_DOC_ROWS, .value = garbage_rows_of,
	 .nested = &garbage_rows},
};
const struct hi_doc_fields hi_audit_document = HI_DOC_FIELDS(
	audit_fields, .is_open = true,
	.meaning = "audit: objects that count more references than lead to them, or "
		   "fewer, by type");

/* ---- tables ---- */

static void show_audit_table(const struct hi_audit_report *r,
			     const struct hi_doc_fields *fields, const void *rows,
			     size_t n, const char *const *names, struct hi_page *page)
{
	size_t shown = count_shown_audit_rows(r, n);
	unsigned form = 0;

	for (size_t i = 0; names && i < shown; i++)
		if (names[i] && *names[i])
			form = NAMED;
	hi_doc_show_rows(page, fields, r, form, rows, shown);
	if (n > shown)
		hi_page_note(page,
			     hi_page_printf(page, "%zu more types (--all)", n - shown));
}

static void show_audit_tables(const struct hi_audit_report *r, struct hi_page *page)
{
	const struct hi_audit *a = r->audit;

	if (a->n_short_rows) {
		hi_page_heading(page, "Too few by type",
				"more references exist than are counted: C code released "
				"a reference that it did not own, and the object will be "
				"freed while it is in use");
		show_audit_table(r, &short_rows, a->short_rows, a->n_short_rows,
				 r->short_names, page);
	}
	if (a->n_rows) {
		hi_page_heading(page, "Excess by type",
				"references that are counted but were not found: lost by "
				"C code, or in memory that was not read");
		show_audit_table(r, &excess_rows, a->rows, a->n_rows, r->names, page);
	}
	if (a->n_known_rows) {
		hi_page_heading(page, "Known losses",
				"references that libraries take once, when they are "
				"imported, and never give back: they cost what is here "
				"and do not grow");
		show_audit_table(r, &known_rows, a->known_rows, a->n_known_rows, NULL,
				 page);
	}
	if (r->garbage->n_rows) {
		hi_page_heading(page, "Garbage by type",
				"unreachable, or only in the collector's list of "
				"uncollectable objects (gc.garbage)");
		show_audit_table(r, &garbage_rows, r->garbage->rows, r->garbage->n_rows,
				 NULL, page);
	}
	if (r->n_causes) {
		hi_page_heading(page, "Why it is uncollectable",
				"cycles through objects of types that the collector "
				"cannot look into (no tp_traverse), or that it must not "
				"finalize");
		show_audit_table(r, &causes, r->causes, r->n_causes, NULL, page);
	}
}

/* ---- the page ---- */

/* The most urgent problem is named first. */
static const char *short_text(const struct hi_audit_report *r, struct hi_page *page)
{
	const struct hi_audit *a = r->audit;
	bool one = a->short_objects == 1;
	char objects[32];

	if (!a->missing)
		return "";
	return hi_page_printf(page,
			      "%s object%s count%s fewer references than exist to %s, "
			      "and will be freed while in use; ",
			      hi_text_count(objects, a->short_objects), one ? "" : "s",
			      one ? "s" : "", one ? "it" : "them");
}

/* "", or how many more there are that libraries are known to lose. */
static const char *known_text(const struct hi_audit_report *r, struct hi_page *page)
{
	char refs[32];

	return r->audit->known ? hi_page_printf(page,
						" (and %s that libraries are known "
						"to lose)",
						hi_text_count(refs, r->audit->known))
			       : "";
}

static const char *excess_text(const struct hi_audit_report *r, struct hi_page *page)
{
	const struct hi_audit *a = r->audit;
	const char *known = known_text(r, page);
	char objects[32], excess[32], refs[32];

	if (!a->excess && a->missing)
		return hi_page_printf(page, "no reference is lost%s", known);
	if (!a->excess && a->known)
		return hi_page_printf(page, "No reference is lost%s", known);
	if (!a->excess)
		return hi_page_printf(page,
				      "No reference is lost: all that %s objects count "
				      "were found",
				      hi_text_count(objects, a->objects));
	return hi_page_printf(page,
			      "%s reference%s lost: %s of %s objects count%s more "
			      "references than exist to %s%s",
			      hi_text_count(refs, a->excess), a->excess == 1 ? "" : "s",
			      hi_text_count(excess, a->excess_objects),
			      hi_text_count(objects, a->objects),
			      a->excess_objects == 1 ? "s" : "",
			      a->excess_objects == 1 ? "it" : "them", known);
}

static const char *garbage_text(const struct hi_audit_report *r, struct hi_page *page)
{
	const struct hi_garbage *g = r->garbage;
	uint64_t bad = g->bytes[HI_UNREACHABLE_UNCOLLECTABLE] + g->aside_bytes;
	char waits[24], never[24], objects[32];
	const char *text;

	hi_text_bytes(never, bad);
	if (!g->objects[HI_UNREACHABLE_GARBAGE])
		return bad ? hi_page_printf(page,
					    "garbage: %s that the collector cannot free",
					    never)
			   : "no garbage";
	text = hi_page_printf(
		page, "garbage: %s in %s objects that the collector has not freed yet",
		hi_text_bytes(waits, g->bytes[HI_UNREACHABLE_GARBAGE]),
		hi_text_count(objects, g->objects[HI_UNREACHABLE_GARBAGE]));
	return bad ? hi_page_printf(page, "%s, %s that it cannot free", text, never)
		   : text;
}

static void suggest_audit_commands(const struct hi_audit_report *r, struct hi_page *page)
{
	const struct hi_audit_row *row =
		r->audit->n_short_rows ? r->audit->short_rows : r->audit->rows;

	if (!r->audit->n_rows && !r->audit->n_short_rows)
		return;
	hi_page_blank(page);
	hi_page_command(page,
			hi_page_printf(page, "heapinspect explain 0x%" PRIx64 " %s",
				       hi_graph_address(r->graph, row->example),
				       hi_report_header_target(r->header, page)),
			"the references that were found");
}

void hi_audit_display(const struct hi_audit_report *r, struct hi_page *page)
{
	hi_report_header_title(r->header, page);
	hi_page_text(page, hi_page_printf(page, "%s%s; %s", short_text(r, page),
					  excess_text(r, page), garbage_text(r, page)));
	hi_report_header_facts(r->header, page, false);
	hi_report_header_collector(r->header, page);
	show_audit_tables(r, page);
	suggest_audit_commands(r, page);
}

void hi_audit_json(const struct hi_audit_report *r, struct hi_json *json)
{
	hi_report_header_json(r->header, "heapinspect/audit/v1", json);
	hi_doc_put_report(&hi_audit_document, r, 0, json);
	hi_json_end(json);
}
