/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/census/census_report.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "report/node_order.h"
#include "report/parts/decoded_share.h"
#include "report/parts/hidden_rows.h"
#include "report/parts/report_links.h"

HI_DEFINE_GUARD(struct hi_census_report *, hi_census_report_destroy)

/* Rows are ordered by size. */
static void add_census_line(struct hi_census_report *r, const struct hi_census_row *row,
			    const char *name, const struct hi_by_row *key,
			    const struct hi_restrict *only)
{
	if (row->shallow < only->min_size) {
		hi_hidden_add(&r->below, row->shallow);
		return;
	}
	if (r->n_rows >= only->top) {
		hi_hidden_add(&r->beyond, row->shallow);
		return;
	}
	r->rows[r->n_rows++] = (struct hi_census_line){
		.name = name,
		.row = key,
		.count = row->count,
		.shallow = row->shallow,
		.retained = row->retained,
		.largest = row->largest,
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
			hi_hidden_add(&r->other, row->shallow);
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
	r->other = (struct hi_hidden){census->other_types, census->other_bytes};
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

/* ---- as a page ---- */

static bool has_retained(const struct hi_census_report *r)
{
	return r->by != HI_BY_TYPE2;
}
/* A module's or a class's rows are of many kinds. */
static bool has_evidence(const struct hi_census_report *r)
{
	return r->by == HI_BY_TYPE || r->by == HI_BY_TYPE2;
}

static const struct hi_column *columns_of(const struct hi_census_report *r, size_t *n_ret)
{
	static const struct hi_column columns[][8] = {
		[HI_BY_TYPE] = {{"type", HI_COLUMN_TEXT},
				{"count", HI_COLUMN_COUNT},
				{"shallow", HI_COLUMN_BYTES},
				{"of live", HI_COLUMN_PERCENT},
				{"retained", HI_COLUMN_BYTES},
				{"average", HI_COLUMN_MINOR_BYTES},
				{"largest", HI_COLUMN_MINOR_BYTES},
				{"evidence", HI_COLUMN_WORD}},
		[HI_BY_TYPE2] = {{"type {leads to}", HI_COLUMN_TEXT},
				 {"count", HI_COLUMN_COUNT},
				 {"shallow", HI_COLUMN_BYTES},
				 {"of live", HI_COLUMN_PERCENT},
				 {"average", HI_COLUMN_MINOR_BYTES},
				 {"largest", HI_COLUMN_MINOR_BYTES},
				 {"evidence", HI_COLUMN_WORD}},
		[HI_BY_MODULE] = {{"module", HI_COLUMN_TEXT},
				  {"count", HI_COLUMN_COUNT},
				  {"shallow", HI_COLUMN_BYTES},
				  {"of live", HI_COLUMN_PERCENT},
				  {"retained", HI_COLUMN_BYTES},
				  {"average", HI_COLUMN_MINOR_BYTES},
				  {"largest", HI_COLUMN_MINOR_BYTES}},
		[HI_BY_CLASS] = {{"class", HI_COLUMN_TEXT},
				 {"count", HI_COLUMN_COUNT},
				 {"shallow", HI_COLUMN_BYTES},
				 {"of live", HI_COLUMN_PERCENT},
				 {"retained", HI_COLUMN_BYTES},
				 {"average", HI_COLUMN_MINOR_BYTES},
				 {"largest", HI_COLUMN_MINOR_BYTES}},
		[HI_BY_SIZE] = {{"size", HI_COLUMN_FIGURE},
				{"count", HI_COLUMN_COUNT},
				{"shallow", HI_COLUMN_BYTES},
				{"of live", HI_COLUMN_PERCENT},
				{"retained", HI_COLUMN_MINOR_BYTES},
				{"untyped", HI_COLUMN_PERCENT},
				{"pointers", HI_COLUMN_FIGURE},
				{"lead to", HI_COLUMN_TEXT}},
		[HI_BY_OWNER] = {{"type", HI_COLUMN_TEXT},
				 {"count", HI_COLUMN_COUNT},
				 {"with parts", HI_COLUMN_BYTES},
				 {"of live", HI_COLUMN_PERCENT},
				 {"retained", HI_COLUMN_BYTES},
				 {"average", HI_COLUMN_MINOR_BYTES},
				 {"largest", HI_COLUMN_MINOR_BYTES}},
	};

	*n_ret = r->by == HI_BY_SIZE ? 8u : 6u + has_retained(r) + has_evidence(r);
	return columns[r->by];
}

static const char *label_of_census_line(const struct hi_census_report *r,
					const struct hi_census_line *row,
					struct hi_page *page)
{
	if (r->by == HI_BY_MODULE)
		return *row->name ? hi_page_safe(page, row->name) : "(unknown)";
	return hi_type_label(row->name, page);
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
static const char *leads_text(const struct hi_census_report *r,
			      const struct hi_census_line *row, struct hi_page *page)
{
	enum { SHOWN = 2 };
	const char *text = "";

	for (unsigned i = 0; i < SHOWN && row->row->leads[i].edges; i++)
		text = hi_page_printf(page, "%s%s%s", text, i ? ", " : "",
				      lead_text(r, row->row->leads[i].key, page));
	return text;
}

static void show_size_line(const struct hi_census_report *r,
			   const struct hi_census_line *row, struct hi_report_table *t)
{
	uint64_t n = row->count ? row->count : 1;

	hi_cell_text(t, row->name, 0);
	hi_cell_number(t, row->count);
	hi_cell_number(t, row->shallow);
	hi_cell_percent(t, row->shallow, r->bytes);
	hi_cell_at_least(t, row->retained);
	hi_cell_percent(t, row->by_evidence[HI_EVIDENCE_NONE], row->shallow);
	hi_cell_text(t,
		     hi_page_printf(t->page, "%.1f", (double)row->row->edges / (double)n),
		     0);
	hi_cell_text(t, leads_text(r, row, t->page), 0);
}

static uint64_t average_size_of_line(const struct hi_census_line *row)
{
	return row->count ? row->shallow / row->count : 0;
}

/* Of totals alone there are no objects to show. */
static bool is_row_a_type(const struct hi_census_report *r)
{
	return !r->header->has_totals_alone &&
	       (r->by == HI_BY_TYPE || r->by == HI_BY_TYPE2 || r->by == HI_BY_OWNER);
}

/* The name of its type, raw. */
static const char *type_of_census_line(const struct hi_census_report *r,
				       const struct hi_census_line *row)
{
	return r->by == HI_BY_TYPE2 ? hi_graph_type_name(r->graph, row->row->sum.type)
				    : row->name;
}

static const char *address_of_line_type(const struct hi_census_report *r,
					const struct hi_census_line *row,
					struct hi_page *page)
{
	return is_row_a_type(r)
		       ? hi_address_of_any_type(page, type_of_census_line(r, row))
		       : "";
}

static const char *address_of_line_objects(const struct hi_census_report *r,
					   const struct hi_census_line *row,
					   struct hi_page *page)
{
	return is_row_a_type(r) ? hi_address_of_objects(page, type_of_census_line(r, row))
				: "";
}

static void show_census_line(const struct hi_census_report *r,
			     const struct hi_census_line *row, struct hi_report_table *t)
{
	hi_cell_text(t, label_of_census_line(r, row, t->page), 0);
	hi_cell_link(t, address_of_line_type(r, row, t->page));
	hi_cell_number(t, row->count);
	hi_cell_link(t, address_of_line_objects(r, row, t->page));
	hi_cell_number(t, row->shallow);
	hi_cell_percent(t, row->shallow, r->bytes);
	if (has_retained(r)) {
		hi_cell_at_least(t, row->retained);
		hi_cell_link(t, address_of_line_objects(r, row, t->page));
	}
	hi_cell_number(t, average_size_of_line(row));
	hi_cell_number(t, row->largest);
	if (has_evidence(r))
		hi_cell_text(t, row->evidence ? hi_evidence_text(row->evidence) : "", 0);
}

static void show_conflicts(const struct hi_census_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"inferred type", HI_COLUMN_TEXT},
						   {"other candidate", HI_COLUMN_TEXT},
						   {"objects", HI_COLUMN_COUNT},
						   {"example", HI_COLUMN_ADDRESS}};
	char objects[32];
	struct hi_report_table *t;

	if (!r->n_conflicts)
		return;
	hi_page_heading(page, "Contradicting types",
			hi_page_printf(page,
				       "%s objects; the larger type that fits is used",
				       hi_count(objects, r->objects_in_conflict)));
	t = hi_page_table(page, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < r->n_conflicts && i < r->conflicts_shown; i++) {
		const struct hi_census_conflict *c = &r->conflicts[i];

		hi_cell_text(t, hi_page_type(page, c->type), 0);
		hi_cell_link(t, hi_address_of_type(page, c->type));
		hi_cell_text(t, hi_page_type(page, c->other), 0);
		hi_cell_number(t, c->objects);
		hi_cell_address(t, c->example);
		hi_cell_link(t, hi_address_of_object(page, c->example));
	}
	if (r->n_conflicts > r->conflicts_shown)
		hi_page_text(page, hi_page_printf(page, "%zu more pairs of types (--all)",
						  r->n_conflicts - r->conflicts_shown));
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
	};
	const struct hi_column *columns;
	struct hi_report_table *t;
	size_t n;

	hi_report_header_title(r->header, page);
	hi_page_text(page, hi_heap_live_text(r->header, r->bytes, r->objects, page));
	hi_report_header_facts(r->header, page, false);
	hi_page_heading(page, headings[r->by],
			r->by == HI_BY_SIZE    ? "pointers: to other objects, per object"
			: r->by == HI_BY_OWNER ? "parts: tables, items and buffers that "
						 "one object alone refers to"
					       : NULL);
	columns = columns_of(r, &n);
	t = hi_page_table(page, columns, n);
	for (size_t i = 0; i < r->n_rows; i++)
		(r->by == HI_BY_SIZE ? show_size_line : show_census_line)(r, &r->rows[i],
									  t);
	if (r->by == HI_BY_TYPE)
		hi_hidden_note(page, &r->beyond, &r->below, &r->other);
	else
		hi_hidden_types_note(page, &r->beyond, &r->below, &r->other);
	show_conflicts(r, page);
	if (r->by != HI_BY_SIZE && hi_report_header_is_untyped(r->header)) {
		hi_page_blank(page);
		hi_page_command(page,
				hi_page_printf(page, "heapinspect census --by size %s",
					       hi_report_header_target(r->header, page)),
				"memory without types, by size and pointers");
	}
}

/* ---- as JSON ---- */

static void size_key_json(const struct hi_census_report *r,
			  const struct hi_census_line *row, struct hi_json *json)
{
	hi_json_number(json, "size", row->row->size);
	hi_json_number(json, "pointers", row->row->edges);
	hi_json_array(json, "leads_to");
	for (unsigned i = 0; i < HI_BY_LEADS && row->row->leads[i].edges; i++) {
		uint64_t key = row->row->leads[i].key;
		bool is_size = key & HI_BY_SIZE_KEY;

		hi_json_object(json, NULL);
		hi_json_text(json, "type",
			     is_size ? NULL
				     : hi_type_key(hi_graph_type_name(r->graph,
								      (uint32_t)key)));
		hi_json_number(json, "size",
			       is_size ? key & ~HI_BY_SIZE_KEY : UINT64_MAX);
		hi_json_end(json);
	}
	hi_json_end(json);
}

static void key_json(const struct hi_census_report *r, const struct hi_census_line *row,
		     struct hi_json *json)
{
	if (r->by == HI_BY_MODULE) {
		hi_json_text(json, "module", hi_known(row->name));
	} else if (r->by == HI_BY_CLASS) {
		hi_json_text(json, "class", row->name);
	} else if (r->by == HI_BY_SIZE) {
		size_key_json(r, row, json);
	} else if (r->by == HI_BY_TYPE || r->by == HI_BY_OWNER) {
		hi_json_text(json, "type", hi_type_key(row->name));
	} else {
		hi_json_text(
			json, "type",
			hi_type_key(hi_graph_type_name(r->graph, row->row->sum.type)));
		hi_json_array(json, "children");
		for (uint32_t i = 0; i < row->row->n_children; i++)
			hi_json_text(json, NULL,
				     hi_type_key(hi_graph_type_name(
					     r->graph, row->row->children[i])));
		hi_json_end(json);
		hi_json_bool(json, "more_children", row->row->more);
	}
}

static void put_census_line_json(const struct hi_census_report *r,
				 const struct hi_census_line *row, struct hi_json *json)
{
	hi_json_object(json, NULL);
	key_json(r, row, json);
	hi_json_number(json, "count", row->count);
	hi_json_number(json, "shallow", row->shallow);
	hi_json_number(json, "retained", row->retained);
	hi_json_number(json, "average", average_size_of_line(row));
	hi_json_number(json, "largest", row->largest);
	hi_json_text(json, "evidence", hi_evidence_key(row->evidence));
	hi_json_object(json, "by_evidence");
	for (unsigned e = 0; e <= HI_EVIDENCE_RUNTIME; e++)
		if (row->by_evidence[e])
			hi_json_number(json, hi_evidence_key((enum hi_evidence)e),
				       row->by_evidence[e]);
	hi_json_end(json);
	hi_json_end(json);
}

static void conflicts_json(const struct hi_census_report *r, struct hi_json *json)
{
	hi_json_array(json, "conflicts");
	for (size_t i = 0; i < r->n_conflicts; i++) {
		const struct hi_census_conflict *c = &r->conflicts[i];

		hi_json_object(json, NULL);
		hi_json_text(json, "type", hi_type_key(c->type));
		hi_json_text(json, "other", hi_type_key(c->other));
		hi_json_number(json, "objects", c->objects);
		hi_json_address(json, "example", c->example);
		hi_json_end(json);
	}
	hi_json_end(json);
}

void hi_census_json(const struct hi_census_report *r, struct hi_json *json)
{
	static const char *const keys[] = {"type",  "type2", "module",
					   "class", "size",  "owner"};

	hi_report_header_json(r->header, "heapinspect/census/v1", json);
	hi_json_text(json, "by", keys[r->by]);
	hi_json_object(json, "live");
	hi_json_number(json, "objects", r->objects);
	hi_json_number(json, "bytes", r->bytes);
	hi_json_end(json);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < r->n_rows; i++)
		put_census_line_json(r, &r->rows[i], json);
	hi_json_end(json);
	hi_hidden_json(json, &r->beyond, &r->below, &r->other);
	if (r->by == HI_BY_TYPE)
		conflicts_json(r, json);
	hi_json_end(json);
}
