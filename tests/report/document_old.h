/* SPDX-License-Identifier: BSD-2-Clause */
/* The writers that described fields replace, for document_same_test.c alone. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/parts/decoded_share.h"
#include "report/parts/hidden_rows.h"
#include "report/parts/report_links.h"
#include "report/reports/census/census_report.h"
#include "report/reports/safepoints/safepoints_report.h"

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

static void old_census_display(const struct hi_census_report *r, struct hi_page *page)
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
		hi_hidden_note(page, &r->hidden.by_top, &r->hidden.by_min_size,
			       &r->hidden.by_type);
	else
		hi_hidden_types_note(page, &r->hidden.by_top, &r->hidden.by_min_size,
				     &r->hidden.by_type);
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

static void old_census_json(const struct hi_census_report *r, struct hi_json *json)
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
	hi_hidden_json(json, &r->hidden.by_top, &r->hidden.by_min_size,
		       &r->hidden.by_type);
	if (r->by == HI_BY_TYPE)
		conflicts_json(r, json);
	hi_json_end(json);
}
static void old_probed_json(const struct hi_probed *p, struct hi_json *json)
{
	bool named = hi_known(p->function) != NULL;

	hi_json_text(json, "module", hi_known(p->module));
	hi_json_text(json, "function", hi_known(p->function));
	hi_json_number(json, "into_function", named ? p->into_function : UINT64_MAX);
	hi_json_number(json, "offset", p->offset);
	hi_json_address(json, "address", p->address);
	hi_json_text(json, "instruction", hi_known(p->instruction));
	hi_json_bool(json, "single_stepped", p->single_stepped);
}

/* ---- as a page ---- */

enum { PURPOSES = 6 };

static bool is_firing_safepoint(const struct hi_safepoint_row *row)
{
	return row->hits && row->hits != UINT64_MAX;
}

static size_t count_firing(const struct hi_safepoints_report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_rows; i++)
		n += is_firing_safepoint(&r->rows[i]);
	return n;
}

/* What the few are that belong to a runtime. */
static void show_purposes(const struct hi_safepoints_report *r, struct hi_page *page)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_rows && n < PURPOSES; i++) {
		const struct hi_safepoint_row *row = &r->rows[i];

		if (!*row->runtime || !*row->purpose)
			continue;
		n++;
		hi_page_fact(
			page, row->is_gc ? "gc" : hi_page_safe(page, row->runtime),
			hi_page_printf(page, "%s%s%s (%s)",
				       row->is_gc ? hi_page_safe(page, row->runtime) : "",
				       row->is_gc ? ", " : "",
				       hi_page_safe(page, row->purpose),
				       hi_page_safe(page, row->at)));
	}
}

static void show_safepoint_facts(const struct hi_safepoints_report *r,
				 struct hi_page *page)
{
	size_t runtime = 0, counted = r->n_rows - r->rows_not_counted;
	char time[24];

	for (size_t i = 0; i < r->n_rows; i++)
		runtime += *r->rows[i].runtime != '\0';
	hi_page_fact(page, "safepoints",
		     hi_page_printf(page, "%zu of known runtimes, %zu other USDT probes",
				    runtime, r->n_rows - runtime));
	if (r->counted_ns)
		hi_page_fact(page, "counted",
			     hi_page_printf(page, "for %s%s: %zu of %zu were hit",
					    hi_text_duration(time, r->counted_ns),
					    r->cut_short ? ", which was enough" : "",
					    count_firing(r), counted));
	else if (*r->not_counted)
		hi_page_fact(page, "not counted", hi_page_safe(page, r->not_counted));
	show_purposes(r, page);
}

/* "emulated", "stepped", or both; they may differ from site to site. */
static const char *cost_text(const struct hi_safepoint_row *row)
{
	size_t stepped = 0;

	for (size_t i = 0; i < row->n_places; i++)
		stepped += row->places[i].single_stepped;
	return stepped == 0 ? "low" : stepped == row->n_places ? "high" : "mixed";
}

static const char *where_text(const struct hi_safepoint_row *row, struct hi_page *page)
{
	char place[HI_PROBED_TEXT];
	const char *text;

	if (!row->n_places)
		return "";
	text = hi_page_safe(page, hi_probed_text(place, &row->places[0]));
	if (row->n_places == 1)
		return text;
	return hi_page_printf(page, "%s, %zu more", text, row->n_places - 1);
}

static void show_safepoint_rows(const struct hi_safepoints_report *r,
				struct hi_page *page)
{
	static const struct hi_column columns[] = {{"--at", HI_COLUMN_WORD},
						   {"hits", HI_COLUMN_COUNT},
						   {"cost", HI_COLUMN_WORD},
						   {"where", HI_COLUMN_TEXT}};
	struct hi_report_table *table = hi_page_table(page, columns, 4);

	for (size_t i = 0; i < r->shown; i++) {
		const struct hi_safepoint_row *row = &r->rows[i];

		hi_cell_text(table, hi_page_safe(page, row->at), 0);
		hi_cell_number(table, row->hits);
		hi_cell_text(table, cost_text(row), 0);
		hi_cell_text(table, where_text(row, page), 0);
		if (row->is_gc)
			hi_report_table_stress(table);
	}
	if (r->n_rows > r->shown)
		hi_page_note(page, hi_page_printf(page, "%zu more with --all",
						  r->n_rows - r->shown));
}

/* Returns the end of a collection if the target reaches it, else the first place that
 * it reaches. */
static const struct hi_safepoint_row *best_of(const struct hi_safepoints_report *r)
{
	for (size_t i = 0; i < r->n_rows; i++)
		if (is_firing_safepoint(&r->rows[i]))
			return &r->rows[i];
	return r->n_rows && r->rows[0].is_gc ? &r->rows[0] : NULL;
}

static void suggest_safepoint_command(const struct hi_safepoints_report *r,
				      struct hi_page *page)
{
	const struct hi_safepoint_row *best = best_of(r);
	const char *target = hi_report_header_target(r->header, page), *at;
	const char *sudo = r->may_not_probe ? "sudo " : "";

	hi_page_blank(page);
	at = !best ? "FUNCTION" : best->is_gc ? "gc" : hi_page_shell_word(page, best->at);
	hi_page_command(
		page, hi_page_printf(page, "%sheapinspect --at %s %s", sudo, at, target),
		"the heap when this place is reached");
	if (best)
		hi_page_command(
			page,
			hi_page_printf(page, "%sheapinspect census --at %s --for 60s %s",
				       sudo, at, target),
			"a series: each time");
}

static void old_safepoints_display(const struct hi_safepoints_report *r,
				   struct hi_page *page)
{
	hi_report_header_title(r->header, page);
	show_safepoint_facts(r, page);
	hi_page_blank(page);
	if (r->n_rows)
		show_safepoint_rows(r, page);
	else
		hi_page_note(
			page,
			"The target has no known runtime and no USDT probe. --at takes "
			"any function (FUNCTION or MODULE:FUNCTION) and FILE:LINE.");
	suggest_safepoint_command(r, page);
}

/* ---- JSON ---- */

static void put_safepoint_row_json(const struct hi_safepoint_row *row,
				   struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "at", row->at);
	hi_json_bool(json, "gc", row->is_gc);
	hi_json_text(json, "runtime", hi_known(row->runtime));
	hi_json_text(json, "purpose", hi_known(row->purpose));
	hi_json_number(json, "hits", row->hits);
	hi_json_array(json, "places");
	for (size_t i = 0; i < row->n_places; i++) {
		hi_json_object(json, NULL);
		old_probed_json(&row->places[i], json);
		hi_json_number(json, "hits",
			       row->place_hits ? row->place_hits[i] : UINT64_MAX);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_end(json);
}

static void old_safepoints_json(const struct hi_safepoints_report *r,
				struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "schema", "heapinspect/safepoints/v1");
	hi_json_object(json, "target");
	hi_json_number(json, "pid", (uint64_t)r->header->pid);
	hi_json_text(json, "exe", hi_known(r->header->exe));
	hi_json_end(json);
	hi_json_number(json, "counted_ns", r->counted_ns);
	hi_json_text(json, "not_counted", hi_known(r->not_counted));
	hi_json_array(json, "rows");
	for (size_t i = 0; i < r->shown; i++)
		put_safepoint_row_json(&r->rows[i], json);
	hi_json_end(json);
	hi_json_number(json, "hidden", r->n_rows - r->shown);
	hi_json_end(json);
}
