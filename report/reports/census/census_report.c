/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/census/census_report.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/analysis/type_namespace.h"
#include "report/node_order.h"
#include "report/parts/decoded_share.h"
#include "report/parts/hidden_rows.h"
#include "report/parts/legend.h"
#include "report/parts/report_links.h"

HI_DEFINE_GUARD(struct hi_census_report *, hi_census_report_destroy)

/* Rows are ordered by size. */
static void add_census_line(struct hi_census_report *r, const struct hi_census_row *row,
			    const char *name, const struct hi_by_row *key,
			    const struct hi_restrict *only)
{
	if (row->shallow < only->min_size) {
		hi_hidden_add(&r->hidden.by_min_size, row->shallow);
		return;
	}
	if (r->n_rows >= only->top) {
		hi_hidden_add(&r->hidden.by_top, row->shallow);
		return;
	}
	r->rows[r->n_rows++] = (struct hi_census_line){
		.name = name,
		.type = r->by == HI_BY_TYPE2 ? hi_graph_type_name(r->graph, row->type)
					     : name,
		.row = key,
		.count = row->count,
		.shallow = row->shallow,
		.retained = row->retained,
		.largest = row->largest,
		.average = row->count ? row->shallow / row->count : 0,
		.by_evidence = row->by_evidence,
		.evidence = hi_main_evidence(row),
	};
}

static struct hi_census_report *report_alloc(const struct hi_report_header *header,
					     const struct hi_graph *graph, size_t n_rows)
{
	HI_GUARD(hi_census_report_destroy)
	struct hi_census_report *r = hi_calloc(1, sizeof(*r));

	if (!r || !(r->rows = hi_calloc(n_rows + 1, sizeof(*r->rows))))
		return NULL;
	r->header = header;
	r->graph = graph;
	return hi_take(r);
}

enum hi_status hi_census_report_create(const struct hi_report_header *header,
				       const struct hi_graph *graph,
				       const struct hi_census *census,
				       const struct hi_restrict *only,
				       struct hi_census_report **ret,
				       struct hi_error *err)
{
	struct hi_census_report *r = report_alloc(header, graph, census->n_rows);

	if (!r)
		return hi_fail_memory(err, "census report");
	r->objects = census->objects;
	r->bytes = census->bytes;
	for (size_t i = 0; i < census->n_rows; i++) {
		const struct hi_census_row *row = &census->rows[i];

		if (hi_type_set_has(only->types, row->type))
			add_census_line(r, row, hi_graph_type_name(graph, row->type),
					NULL, only);
		else
			hi_hidden_add(&r->hidden.by_type, row->shallow);
	}
	*ret = r;
	return HI_OK;
}

enum hi_status hi_census_by_report_create(const struct hi_report_header *header,
					  const struct hi_graph *graph,
					  const struct hi_by_census *census,
					  const struct hi_restrict *only,
					  struct hi_census_report **ret,
					  struct hi_error *err)
{
	struct hi_census_report *r = report_alloc(header, graph, census->n_rows);

	if (!r)
		return hi_fail_memory(err, "census report");
	r->by = census->by;
	r->objects = census->objects;
	r->bytes = census->bytes;
	r->hidden.by_type = (struct hi_hidden){census->other_types, census->other_bytes};
	for (size_t i = 0; i < census->n_rows; i++) {
		const struct hi_by_row *row = &census->rows[i];

		add_census_line(r, &row->sum, row->name, row, only);
	}
	*ret = r;
	return HI_OK;
}

void hi_census_report_destroy(struct hi_census_report *report)
{
	if (!report)
		return;
	free(report->rows);
	free(report);
}

/* ---- fields ---- */

enum {
	TYPE = 1 << HI_BY_TYPE,
	TYPE2 = 1 << HI_BY_TYPE2,
	MODULE = 1 << HI_BY_MODULE,
	CLASS = 1 << HI_BY_CLASS,
	SIZE = 1 << HI_BY_SIZE,
	OWNER = 1 << HI_BY_OWNER,
	NAMESPACE = 1 << HI_BY_NAMESPACE,
};

static const char *by_word(unsigned by)
{
	return hi_by_words[by];
}
static const char *class_word(unsigned klass)
{
	return hi_type_class_name((enum hi_type_class)klass);
}
static const char *evidence_word(unsigned evidence)
{
	return hi_evidence_key((enum hi_evidence)evidence);
}

/* Totals alone have no objects to show. */
static const char *link_to_line_type(const struct hi_doc_row *row)
{
	const struct hi_census_report *r = row->report;
	const struct hi_census_line *line = row->row;

	return r->header->has_totals_alone
		       ? ""
		       : hi_address_of_any_type(row->page, line->type);
}

static const char *link_to_line_objects(const struct hi_doc_row *row)
{
	const struct hi_census_report *r = row->report;
	const struct hi_census_line *line = row->row;

	return r->header->has_totals_alone || !(row->variant & (TYPE | TYPE2 | OWNER))
		       ? ""
		       : hi_address_of_objects(row->page, line->type);
}

static struct hi_doc_value module_of_census_line(const struct hi_doc_row *row)
{
	const struct hi_census_line *line = row->row;
	struct hi_doc_value value = hi_doc_text(line->name);

	if (!*line->name)
		value.shown = row->variant == NAMESPACE ? "(none)" : "(unknown)";
	return value;
}

static struct hi_doc_value size_of_line(const struct hi_doc_row *row)
{
	const struct hi_census_line *line = row->row;
	struct hi_doc_value value = hi_doc_number(line->row->size);

	value.shown = line->name;
	return value;
}

static struct hi_doc_value pointers_of_line(const struct hi_doc_row *row)
{
	const struct hi_census_line *line = row->row;
	struct hi_doc_value value = hi_doc_number(line->row->edges);

	if (row->page)
		value.shown =
			hi_page_printf(row->page, "%.1f",
				       (double)line->row->edges /
					       (double)(line->count ? line->count : 1));
	return value;
}

static const char *lead_text(const struct hi_census_report *r, uint64_t key,
			     struct hi_page *page)
{
	uint64_t size = key & ~HI_BY_SIZE_KEY;
	char bytes[24];

	if (!(key & HI_BY_SIZE_KEY))
		return hi_type_label(hi_graph_type_name(r->graph, (uint32_t)key), page);
	return hi_page_printf(page, "%s%s", size > HI_BY_SIZE_EXACT ? "to " : "",
			      hi_bytes(bytes, size));
}

/* The most frequent targets: "64 B, struct session". */
static struct hi_doc_value leads_of_line(const struct hi_doc_row *row)
{
	enum { SHOWN = 2 };
	const struct hi_by_lead *leads =
		((const struct hi_census_line *)row->row)->row->leads;
	const char *text = "";
	size_t n = 0;

	if (row->page) {
		for (unsigned i = 0; i < SHOWN && leads[i].edges; i++)
			text = hi_page_printf(
				row->page, "%s%s%s", text, i ? ", " : "",
				lead_text(row->report, leads[i].key, row->page));
		return hi_doc_shown(text);
	}
	while (n < HI_BY_LEADS && leads[n].edges)
		n++;
	return hi_doc_nested(leads, n);
}

static struct hi_doc_value type_of_lead(const struct hi_doc_row *row)
{
	const struct hi_census_report *r = row->report;
	uint64_t key = ((const struct hi_by_lead *)row->row)->key;

	return key & HI_BY_SIZE_KEY ? hi_doc_none()
				    : hi_doc_text(hi_type_key(hi_graph_type_name(
					      r->graph, (uint32_t)key)));
}

static struct hi_doc_value size_of_lead(const struct hi_doc_row *row)
{
	uint64_t key = ((const struct hi_by_lead *)row->row)->key;

	return hi_doc_number(key & HI_BY_SIZE_KEY ? key & ~HI_BY_SIZE_KEY : UINT64_MAX);
}

static struct hi_doc_value children_of_line(const struct hi_doc_row *row)
{
	const struct hi_by_row *key = ((const struct hi_census_line *)row->row)->row;

	return hi_doc_nested(key->children, key->n_children);
}

static struct hi_doc_value type_of_child(const struct hi_doc_row *row)
{
	const struct hi_census_report *r = row->report;

	return hi_doc_text(hi_graph_type_name(r->graph, *(const uint32_t *)row->row));
}

static struct hi_doc_value has_more_children(const struct hi_doc_row *row)
{
	return hi_doc_number(((const struct hi_census_line *)row->row)->row->more);
}

static struct hi_doc_value untyped_of_line(const struct hi_doc_row *row)
{
	const struct hi_census_line *line = row->row;

	return hi_doc_part(line->by_evidence[HI_EVIDENCE_NONE], line->shallow);
}

static struct hi_doc_value evidence_of_line(const struct hi_doc_row *row)
{
	const struct hi_census_line *line = row->row;
	struct hi_doc_value value = hi_doc_number(line->evidence);

	value.shown = line->evidence ? hi_evidence_text(line->evidence) : "";
	return value;
}

static void put_line_evidence(const struct hi_doc_row *row,
			      const struct hi_doc_field *field, struct hi_json *json)
{
	const struct hi_census_line *line = row->row;

	hi_json_object(json, field->key);
	for (unsigned e = 0; e <= HI_EVIDENCE_RUNTIME; e++)
		if (line->by_evidence[e])
			hi_json_number(json, evidence_word(e), line->by_evidence[e]);
	hi_json_end(json);
}

static const struct hi_doc_field child_fields[] = {
	{.unit = HI_DOC_TYPE, .value = type_of_child}};
static const struct hi_doc_fields children =
	HI_DOC_FIELDS(child_fields, .row_size = sizeof(uint32_t));

static const struct hi_doc_field lead_fields[] = {
	{"type", NULL, HI_DOC_TYPE, .value = type_of_lead, .nullable = true},
	{"size", NULL, HI_DOC_BYTES, .value = size_of_lead, .nullable = true},
};
static const struct hi_doc_fields leads =
	HI_DOC_FIELDS(lead_fields, .row_size = sizeof(struct hi_by_lead));

static const struct hi_doc_field line_fields[] = {
	{"type", "type", HI_DOC_TYPE, HI_AT(struct hi_census_line, name),
	 .variants = TYPE | OWNER, .link = link_to_line_type,
	 .meaning = "by type, type2 and owner"},
	{"type", NULL, HI_DOC_TYPE, HI_AT(struct hi_census_line, type),
	 .variants = TYPE2},
	{NULL, "type {leads to}", HI_DOC_TYPE, HI_AT(struct hi_census_line, name),
	 .variants = TYPE2, .link = link_to_line_type},
	{"children", NULL, HI_DOC_LIST, .value = children_of_line, .nested = &children,
	 .variants = TYPE2, .may_be_missing = true,
	 .meaning = "by type2: types that precise edges lead to, at most 4"},
	{"more_children", NULL, HI_DOC_FLAG, .value = has_more_children,
	 .variants = TYPE2, .may_be_missing = true},
	{"module", "module", HI_DOC_TEXT, .value = module_of_census_line,
	 .variants = MODULE, .nullable = true,
	 .meaning = "by module: what defines the type; null: unknown"},
	{"namespace", "namespace", HI_DOC_TEXT, .value = module_of_census_line,
	 .variants = NAMESPACE, .nullable = true,
	 .meaning = "by namespace: of the type's name; package of Go, module of Python "
		    "and Rust; null: it has none"},
	{"class", "class", HI_DOC_TYPE, HI_AT(struct hi_census_line, name),
	 .variants = CLASS, .word = class_word, .n_words = HI_TYPE_CLASSES},
	{"size", "size", HI_DOC_FIGURE, .value = size_of_line, .variants = SIZE,
	 .meaning = "by size: usable bytes; above 1024 the largest of a range, whose "
		    "next is twice as large"},
	{"pointers", "pointers", HI_DOC_FIGURE, .value = pointers_of_line,
	 .variants = SIZE, .place = 1,
	 .meaning = "by size: edges of all its objects to others"},
	{"leads_to", "lead to", HI_DOC_ROWS, .value = leads_of_line, .nested = &leads,
	 .variants = SIZE, .place = 1, .most = HI_BY_LEADS,
	 .meaning = "by size: what they lead to, the most frequent first: a type, or "
		    "the size of objects without one"},
	{"count", "count", HI_DOC_COUNT, HI_AT(struct hi_census_line, count),
	 .link = link_to_line_objects, .meaning = "objects"},
	{"shallow", "shallow", HI_DOC_BYTES, HI_AT(struct hi_census_line, shallow),
	 .shown_in = ~OWNER, .meaning = HI_MEANING_SHALLOW},
	{NULL, "with parts", HI_DOC_BYTES, HI_AT(struct hi_census_line, shallow),
	 .variants = OWNER},
	{NULL, "of live", HI_DOC_SHARE, HI_AT(struct hi_census_line, shallow),
	 HI_SHARE_OF(struct hi_census_report, bytes)},
	{"retained", "retained", HI_DOC_BYTES, HI_AT(struct hi_census_line, retained),
	 .link = link_to_line_objects, .shown_in = ~(TYPE2 | SIZE), .nullable = true,
	 .at_least = true, .meaning = HI_MEANING_RETAINED},
	{NULL, "retained", HI_DOC_BYTES, HI_AT(struct hi_census_line, retained),
	 .variants = SIZE, .minor = true, .at_least = true},
	{NULL, "untyped", HI_DOC_SHARE, .value = untyped_of_line, .variants = SIZE},
	{"average", "average", HI_DOC_BYTES, HI_AT(struct hi_census_line, average),
	 .shown_in = ~SIZE, .minor = true, .meaning = "shallow / count, rounded down"},
	{"largest", "largest", HI_DOC_BYTES, HI_AT(struct hi_census_line, largest),
	 .shown_in = ~SIZE, .minor = true},
	{"evidence", "evidence", HI_DOC_WORD, .value = evidence_of_line,
	 .shown_in = TYPE | TYPE2, .minor = true, .word = evidence_word,
	 .n_words = HI_EVIDENCE_RUNTIME + 1},
	{"by_evidence", .put = put_line_evidence,
	 .schema = "\"type\": \"object\", \"additionalProperties\": {\"type\": "
		   "\"integer\", \"minimum\": 0}",
	 .meaning = "bytes"},
};
static const struct hi_doc_fields lines =
	HI_DOC_FIELDS(line_fields, .row_size = sizeof(struct hi_census_line));

static const struct hi_doc_field conflict_fields[] = {
	{"type", "inferred type", HI_DOC_TYPE, HI_AT(struct hi_census_conflict, type),
	 .text_link = hi_address_of_type},
	{"other", "other candidate", HI_DOC_TYPE,
	 HI_AT(struct hi_census_conflict, other)},
	{"objects", "objects", HI_DOC_COUNT, HI_AT(struct hi_census_conflict, objects),
	 .least = 1},
	{"example", "example", HI_DOC_ADDRESS, HI_AT(struct hi_census_conflict, example),
	 .address_link = hi_address_of_object},
};
static const struct hi_doc_fields conflicts =
	HI_DOC_FIELDS(conflict_fields, .row_size = sizeof(struct hi_census_conflict));

static const struct hi_doc_field live_fields[] = {
	{"objects", NULL, HI_DOC_COUNT, HI_AT(struct hi_census_report, objects)},
	{"bytes", NULL, HI_DOC_BYTES, HI_AT(struct hi_census_report, bytes)},
};
static const struct hi_doc_fields live = HI_DOC_FIELDS(live_fields, .is_open = true);

static const struct hi_doc_field census_fields[] = {
	{"by", NULL, HI_DOC_WORD, HI_AT(struct hi_census_report, by), .word = by_word,
	 .n_words = HI_BY_COUNT},
	{"live", NULL, HI_DOC_OBJECT, .nested = &live},
	{"rows", NULL, HI_DOC_ROWS, HI_AT_ROWS(struct hi_census_report, rows, n_rows),
	 .nested = &lines},
	{"hidden", NULL, HI_DOC_OBJECT, HI_AT_PART(struct hi_census_report, hidden),
	 .nested = &hi_hidden_fields},
	{"conflicts", NULL, HI_DOC_ROWS,
	 HI_AT_ROWS(struct hi_census_report, conflicts, n_conflicts),
	 .nested = &conflicts, .variants = TYPE,
	 .meaning = "by type: objects with another type candidate that contradicts"},
};
const struct hi_doc_fields hi_census_document =
	HI_DOC_FIELDS(census_fields, .is_open = true);

/* ---- as a page and as JSON ---- */

static void show_conflicts(const struct hi_census_report *r, struct hi_page *page)
{
	size_t shown =
		r->n_conflicts < r->conflicts_shown ? r->n_conflicts : r->conflicts_shown;
	char objects[32];

	if (!r->n_conflicts)
		return;
	hi_page_heading(page, "Contradicting types",
			hi_page_printf(page,
				       "%s objects; the larger type that fits is used",
				       hi_count(objects, r->objects_in_conflict)));
	hi_doc_show_rows(page, &conflicts, r, TYPE, r->conflicts, shown);
	if (r->n_conflicts > shown)
		hi_page_text(page, hi_page_printf(page, "%zu more pairs of types (--all)",
						  r->n_conflicts - shown));
}

/* Beside that of the C++ library. */
static bool has_namespaces(const struct hi_census_report *r)
{
	for (size_t i = 0; i < r->n_rows; i++) {
		size_t n;
		const char *at = hi_type_namespace(r->rows[i].name, &n);

		if (n && !(n == 3 && strncmp(at, "std", 3) == 0))
			return true;
	}
	return false;
}

static void suggest_namespaces(const struct hi_census_report *r, struct hi_page *page)
{
	if (r->by != HI_BY_TYPE || !has_namespaces(r))
		return;
	hi_page_blank(page);
	hi_page_command(page,
			hi_page_printf(page, "heapinspect census --by namespace %s",
				       hi_report_header_target(r->header, page)),
			"the same by namespace, package or module");
}

void hi_census_display(const struct hi_census_report *r, struct hi_page *page)
{
	static const char *const headings[] = {
		[HI_BY_TYPE] = "Live bytes by type",
		[HI_BY_TYPE2] = "Live bytes by type and the types that it leads to",
		[HI_BY_MODULE] = "Live bytes by the module that defines the type",
		[HI_BY_CLASS] = "Live bytes by class of type",
		[HI_BY_SIZE] = "Live bytes by size of the objects",
		[HI_BY_OWNER] = "Live bytes by type, with the parts of objects",
		[HI_BY_NAMESPACE] = "Live bytes by the namespace of the type",
	};

	hi_report_header_title(r->header, page);
	hi_page_text(page, hi_heap_live_text(r->header, r->bytes, r->objects, page));
	hi_report_header_facts(r->header, page, false);
	hi_page_heading(page, headings[r->by],
			r->by == HI_BY_SIZE    ? "pointers: to other objects, per object"
			: r->by == HI_BY_OWNER ? "parts: tables, items and buffers that "
						 "one object alone refers to"
					       : NULL);
	hi_doc_show_rows(page, &lines, r, 1u << r->by, r->rows, r->n_rows);
	(r->by == HI_BY_TYPE ? hi_hidden_note : hi_hidden_types_note)(
		page, &r->hidden.by_top, &r->hidden.by_min_size, &r->hidden.by_type);
	show_conflicts(r, page);
	suggest_namespaces(r, page);
	if (r->by != HI_BY_SIZE && hi_report_header_is_untyped(r->header)) {
		hi_page_blank(page);
		hi_page_command(page,
				hi_page_printf(page, "heapinspect census --by size %s",
					       hi_report_header_target(r->header, page)),
				"memory without types, by size and pointers");
	}
}

void hi_census_json(const struct hi_census_report *r, struct hi_json *json)
{
	hi_report_header_json(r->header, "heapinspect/census/v1", json);
	hi_doc_put_report(&hi_census_document, r, 1u << r->by, json);
	hi_json_end(json);
}
