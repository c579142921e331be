/* SPDX-License-Identifier: BSD-2-Clause */
/* Retainer sets as a page and as JSON. */
#include <inttypes.h>

#include "report/parts/decoded_share.h"
#include "report/parts/hidden_rows.h"
#include "report/parts/report_node.h"
#include "report/reports/retainers/retainers_report.h"

enum { MEMBERS_SHOWN = 12 };

/* ---- fields ---- */

struct hi_doc_value hi_retainers_label(const struct hi_doc_row *row)
{
	const struct hi_retainers_row *set = row->row;
	const char *text = "";

	if (set->sum.set == HI_SET_MANY)
		return hi_doc_shown("MANY");
	for (uint32_t i = 0; i < set->sum.size && i < MEMBERS_SHOWN; i++)
		text = hi_page_printf(
			row->page, "%s%s%s", text, i ? ", " : "",
			hi_page_type(row->page, set->name(set->arg, set->members[i])));
	if (set->sum.size > MEMBERS_SHOWN)
		text = hi_page_printf(row->page, "%s and %u more", text,
				      set->sum.size - MEMBERS_SHOWN);
	return hi_doc_shown(text);
}

static struct hi_doc_value is_set_many(const struct hi_doc_row *row)
{
	const struct hi_retainers_row *set = row->row;

	return hi_doc_number(set->sum.set == HI_SET_MANY);
}

static struct hi_doc_value members_of_set(const struct hi_doc_row *row)
{
	const struct hi_retainers_row *set = row->row;

	return hi_doc_nested(set->members, set->sum.size);
}

static struct hi_doc_value name_of_member(const struct hi_doc_row *row)
{
	const struct hi_retainers_row *set = row->parent;

	return hi_doc_text(set->name(set->arg, *(const uint32_t *)row->row));
}

static const struct hi_doc_field set_member_fields[] = {
	{.unit = HI_DOC_TEXT, .value = name_of_member}};
static const struct hi_doc_fields set_members =
	HI_DOC_FIELDS(set_member_fields, .row_size = sizeof(uint32_t));

static const struct hi_doc_field set_fields[] = {
	{"set", NULL, HI_DOC_COUNT, HI_AT(struct hi_retainers_row, sum.set)},
	{"many", NULL, HI_DOC_FLAG, .value = is_set_many},
	{"members", NULL, HI_DOC_LIST, .value = members_of_set, .nested = &set_members},
};
const struct hi_doc_fields hi_retainers_set_fields = HI_DOC_FIELDS(set_fields);

enum { PLAIN = 1 << false, PURE = 1 << true };

static struct hi_doc_value pure_of_set(const struct hi_doc_row *row)
{
	const struct hi_retainers_report *r = row->report;
	const struct hi_retainers_row *set = row->row;

	return hi_doc_number(r->view.has_pure ? set->sum.cost_pure : UINT64_MAX);
}

static struct hi_doc_value share_of_set(const struct hi_doc_row *row)
{
	const struct hi_retainers_report *r = row->report;
	const struct hi_set_row *sum = &((const struct hi_retainers_row *)row->row)->sum;

	return r->view.by_count ? hi_doc_part(sum->objects, r->objects)
	       : r->view.pure	? hi_doc_part(sum->cost_pure, r->pure)
				: hi_doc_part(sum->cost, r->bytes);
}

/* With the options that made the sets, a set has the same number. */
static const char *address_of_set(const struct hi_doc_row *row, const char *select,
				  const char *order)
{
	const struct hi_retainers_report *r = row->report;
	const struct hi_retainers_row *set = row->row;

	return hi_address_of_query(
		row->page,
		hi_page_printf(row->page,
			       "SELECT %s FROM objects WHERE retainer_set = %" PRIu32
			       " %s",
			       select, set->sum.set, order),
		&r->view.options);
}

static const char *link_to_types_of_set(const struct hi_doc_row *row)
{
	return address_of_set(row, "type, count(*) AS objects, sum(shallow) AS bytes",
			      "GROUP BY type ORDER BY bytes DESC");
}

static const char *link_to_objects_of_set(const struct hi_doc_row *row)
{
	return address_of_set(row, "address, type, shallow, retained",
			      "ORDER BY shallow DESC LIMIT 1000");
}

static const struct hi_doc_field row_fields[] = {
	{.unit = HI_DOC_MEMBERS, .nested = &hi_retainers_set_fields},
	{NULL, "set", HI_DOC_COUNT, HI_AT(struct hi_retainers_row, sum.set)},
	{NULL, "retained by", HI_DOC_TEXT, .value = hi_retainers_label,
	 .link = link_to_types_of_set},
	{"bytes", "bytes", HI_DOC_BYTES, HI_AT(struct hi_retainers_row, sum.cost),
	 .shown_in = PLAIN},
	{"pure", "pure bytes", HI_DOC_BYTES, .value = pure_of_set, .shown_in = PURE,
	 .nullable = true,
	 .meaning = "bytes that the program requested; null: not computed"},
	{NULL, "of live", HI_DOC_SHARE, .value = share_of_set},
	{"objects", "objects", HI_DOC_COUNT, HI_AT(struct hi_retainers_row, sum.objects),
	 .link = link_to_objects_of_set},
	{"exact", NULL, HI_DOC_BYTES, HI_AT(struct hi_retainers_row, sum.exact_cost),
	 .meaning = "bytes that precise edges reach"},
};
static const struct hi_doc_fields rows =
	HI_DOC_FIELDS(row_fields, .row_size = sizeof(struct hi_retainers_row));

static void put_auto_types(const struct hi_doc_row *row, const struct hi_doc_field *field,
			   struct hi_json *json)
{
	const struct hi_retainers_report *r = row->report;

	hi_json_array(json, field->key);
	for (uint32_t i = 0; r->view.auto_types && i < r->graph->n_types; i++)
		if (r->view.auto_types[i])
			hi_json_text(json, NULL, hi_type_key(r->graph->types[i].name));
	hi_json_end(json);
}

static const struct hi_doc_field live_fields[] = {
	{"objects", NULL, HI_DOC_COUNT, HI_AT(struct hi_retainers_report, objects)},
	{"bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_retainers_report, bytes)},
};
static const struct hi_doc_fields live = HI_DOC_FIELDS(live_fields);

static const struct hi_doc_field fields[] = {
	{"identity", NULL, HI_DOC_WORD, HI_AT(struct hi_retainers_report, view.identity),
	 .schema = "\"enum\": [\"type\", \"var\", \"site\", \"module\", \"addr\"]"},
	{"max_set", NULL, HI_DOC_COUNT, HI_AT(struct hi_retainers_report, view.max_set)},
	{"retainer_objects", NULL, HI_DOC_COUNT,
	 HI_AT(struct hi_retainers_report, view.heap_retainers),
	 .meaning = "live objects that are retainers, beside all variables"},
	{"auto", .put = put_auto_types,
	 .schema = "\"type\": \"array\", \"items\": {\"type\": \"string\"}",
	 .meaning = "types that --retainer auto took"},
	{"live", NULL, HI_DOC_OBJECT, .nested = &live},
	{"sets", NULL, HI_DOC_COUNT, HI_AT(struct hi_retainers_report, n_sets)},
	{"many_bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_retainers_report, many.cost)},
	{"system_bytes", NULL, HI_DOC_BYTES,
	 HI_AT(struct hi_retainers_report, system_bytes),
	 .meaning = "of sets with SYSTEM: registers and words that no variable covers"},
	{"weak_bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_retainers_report, weak_bytes)},
	{"revisited", NULL, HI_DOC_COUNT, HI_AT(struct hi_retainers_report, revisited),
	 .meaning = "objects that had to be looked at twice"},
	{"work_list", NULL, HI_DOC_COUNT, HI_AT(struct hi_retainers_report, waiting),
	 .meaning = "the most objects that waited to be looked at, at one time"},
	{"sanity", NULL, HI_DOC_OBJECT, HI_AT_PART(struct hi_retainers_report, sanity),
	 .nested = &hi_sanity_fields},
	{"rows", NULL, HI_DOC_ROWS, HI_AT_ROWS(struct hi_retainers_report, rows, n_rows),
	 .nested = &rows},
	{"hidden", NULL, HI_DOC_OBJECT, HI_AT_PART(struct hi_retainers_report, hidden),
	 .nested = &hi_hidden_fields},
};
const struct hi_doc_fields hi_retainers_document = HI_DOC_FIELDS(fields, .is_open = true);

/* ---- as a page ---- */

static void show_retainers_headline(const struct hi_retainers_report *r,
				    struct hi_page *page)
{
	char heap[32], sets[32];

	hi_page_text(page,
		     hi_page_printf(
			     page,
			     "%s, held by %s retainer set%s; "
			     "retainers: variables%s%s%s, by %s",
			     hi_heap_live_text(r->header, r->bytes, r->objects, page),
			     hi_count(sets, r->n_sets), r->n_sets == 1 ? "" : "s",
			     r->view.heap_retainers ? " and " : "",
			     r->view.heap_retainers
				     ? hi_count(heap, r->view.heap_retainers)
				     : "",
			     r->view.heap_retainers ? " objects" : "", r->view.identity));
}

static void show_auto(const struct hi_retainers_report *r, struct hi_page *page)
{
	const char *text = "";
	unsigned n = 0;

	for (uint32_t i = 0; r->view.auto_types && i < r->graph->n_types; i++)
		if (r->view.auto_types[i] && n++ < MEMBERS_SHOWN)
			text = hi_page_printf(
				page, "%s%s%s", text, n > 1 ? ", " : "",
				hi_type_label(r->graph->types[i].name, page));
	if (!r->view.auto_types)
		return;
	if (!n)
		text = "no type retains much more than itself";
	else
		text = hi_page_printf(page, "%s%s: %s", text,
				      n > MEMBERS_SHOWN ? ", …" : "",
				      r->view.auto_by_hints ? "hints call them retainers"
							    : "they retain 5 % or more");
	hi_page_fact(page, "auto", text);
}

static void show_retainer_rows(const struct hi_retainers_report *r, struct hi_page *page)
{
	hi_page_heading(page, "Retainer sets",
			"the nearest retainers on all ways from the roots");
	hi_doc_show_rows(page, &rows, r, 1u << r->view.pure, r->rows, r->n_rows);
	hi_hidden_note(page, &r->hidden.by_top, &r->hidden.by_min_size,
		       &r->hidden.by_type);
	if (r->many.objects)
		hi_page_note(page,
			     hi_page_printf(page,
					    "MANY: more than %u retainers (--max-set)",
					    r->view.max_set));
	if (r->system_bytes)
		hi_page_note(page, "SYSTEM: registers and words that no variable covers");
	if (r->view.heap_retainers || r->view.auto_types)
		return;
	hi_page_blank(page);
	hi_page_command(page,
			hi_page_printf(page, "heapinspect retainers --retainer auto %s",
				       hi_report_header_target(r->header, page)),
			"with objects that hold a lot");
}

void hi_retainers_display(const struct hi_retainers_report *r, struct hi_page *page)
{
	char bytes[24];

	hi_report_header_title(r->header, page);
	show_retainers_headline(r, page);
	hi_report_header_facts(r->header, page, false);
	show_auto(r, page);
	if (r->weak_objects)
		hi_page_fact(page, "weak",
			     hi_page_printf(page, "%s by weak fields alone",
					    hi_bytes(bytes, r->weak_bytes)));
	hi_sanity_show(&r->sanity, page);
	show_retainer_rows(r, page);
}

void hi_retainers_json(const struct hi_retainers_report *r, struct hi_json *json)
{
	hi_report_header_json(r->header, "heapinspect/retainers/v1", json);
	hi_doc_put_report(&hi_retainers_document, r, 1u << r->view.pure, json);
	hi_json_end(json);
}
