/* SPDX-License-Identifier: BSD-2-Clause */
/* The writers that described fields replace, for sets_same_test.c alone. */
#include <inttypes.h>
#include <string.h>

#include "report/parts/decoded_share.h"
#include "report/parts/hidden_rows.h"
#include "report/parts/report_links.h"
#include "report/parts/report_node.h"
#include "report/reports/retainers/retainers_report.h"
#include "report/reports/roots/bins_report.h"
#include "report/reports/up/up_report.h"

static uint64_t old_sum_of_sanity(const struct hi_sanity *s)
{
	return s->exact + s->conservative + s->leak + s->internal;
}

static void old_sanity_json(const struct hi_sanity *s, struct hi_json *json)
{
	uint64_t sum = old_sum_of_sanity(s);

	hi_json_object(json, "sanity");
	hi_json_number(json, "allocated", s->allocated);
	hi_json_number(json, "exact", s->exact);
	hi_json_number(json, "conservative_only", s->conservative);
	hi_json_number(json, "leak", s->leak);
	hi_json_number(json, "allocator", s->internal);
	if (s->allocated != UINT64_MAX)
		hi_json_signed(json, "difference", (int64_t)(s->allocated - sum));
	else
		hi_json_null(json, "difference");
	hi_json_end(json);
}

/* Retainer sets as a page and as JSON. */

enum { MEMBERS_SHOWN = 12 };

static const char *old_retainers_label(const struct hi_set_row *sum,
				       const uint32_t *members, hi_set_name_fn *name,
				       void *arg, struct hi_page *page)
{
	const char *text = "";

	if (sum->set == HI_SET_MANY)
		return "MANY";
	for (uint32_t i = 0; i < sum->size && i < MEMBERS_SHOWN; i++)
		text = hi_page_printf(page, "%s%s%s", text, i ? ", " : "",
				      hi_page_type(page, name(arg, members[i])));
	if (sum->size > MEMBERS_SHOWN)
		text = hi_page_printf(page, "%s and %u more", text,
				      sum->size - MEMBERS_SHOWN);
	return text;
}

static void old_retainers_set_json(const struct hi_set_row *sum, const uint32_t *members,
				   hi_set_name_fn *name, void *arg, struct hi_json *json)
{
	hi_json_number(json, "set", sum->set);
	hi_json_bool(json, "many", sum->set == HI_SET_MANY);
	hi_json_array(json, "members");
	for (uint32_t i = 0; i < sum->size; i++)
		hi_json_text(json, NULL, name(arg, members[i]));
	hi_json_end(json);
}

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

/* The objects of a set, by type or one by one. With the same options it has the same
 * number. */
static const char *address_of_set(const struct hi_retainers_report *r,
				  const struct hi_retainers_row *row, bool by_type,
				  struct hi_page *page)
{
	const char *where = hi_page_printf(
		page, "FROM objects WHERE retainer_set = %" PRIu32, row->sum.set);
	const char *statement = hi_page_printf(
		page,
		by_type ? "SELECT type, count(*) AS objects, sum(shallow) AS bytes %s "
			  "GROUP BY type ORDER BY bytes DESC"
			: "SELECT address, type, shallow, retained %s ORDER BY "
			  "shallow DESC LIMIT 1000",
		where);

	return hi_address_of_query(page, statement, &r->view.options);
}

static void show_retainer_row(const struct hi_retainers_report *r,
			      const struct hi_retainers_row *row,
			      struct hi_report_table *t)
{
	const struct hi_set_row *sum = &row->sum;

	hi_cell_number(t, sum->set);
	hi_cell_text(t,
		     old_retainers_label(sum, row->members, r->view.name, r->view.arg,
					 t->page),
		     0);
	hi_cell_link(t, address_of_set(r, row, true, t->page));
	hi_cell_number(t, r->view.pure ? sum->cost_pure : sum->cost);
	if (r->view.by_count)
		hi_cell_percent(t, sum->objects, r->objects);
	else
		hi_cell_percent(t, r->view.pure ? sum->cost_pure : sum->cost,
				r->view.pure ? r->pure : r->bytes);
	hi_cell_number(t, sum->objects);
	hi_cell_link(t, address_of_set(r, row, false, t->page));
}

static void show_retainer_rows(const struct hi_retainers_report *r, struct hi_page *page)
{
	static const struct hi_column pure[] = {{"set", HI_COLUMN_COUNT},
						{"retained by", HI_COLUMN_TEXT},
						{"pure bytes", HI_COLUMN_BYTES},
						{"of live", HI_COLUMN_PERCENT},
						{"objects", HI_COLUMN_COUNT}};
	static const struct hi_column plain[] = {{"set", HI_COLUMN_COUNT},
						 {"retained by", HI_COLUMN_TEXT},
						 {"bytes", HI_COLUMN_BYTES},
						 {"of live", HI_COLUMN_PERCENT},
						 {"objects", HI_COLUMN_COUNT}};
	static const struct hi_hidden none;
	struct hi_report_table *t;

	hi_page_heading(page, "Retainer sets",
			"the nearest retainers on all ways from the roots");
	t = hi_page_table(page, r->view.pure ? pure : plain, 5);
	for (size_t i = 0; i < r->n_rows; i++)
		show_retainer_row(r, &r->rows[i], t);
	hi_hidden_note(page, &r->hidden.by_top, &r->hidden.by_min_size, &none);
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

static void old_retainers_display(const struct hi_retainers_report *r,
				  struct hi_page *page)
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

/* ---- as JSON ---- */

static void put_retainer_row_json(const struct hi_retainers_report *r,
				  const struct hi_retainers_row *row,
				  struct hi_json *json)
{
	hi_json_object(json, NULL);
	old_retainers_set_json(&row->sum, row->members, r->view.name, r->view.arg, json);
	hi_json_number(json, "bytes", row->sum.cost);
	hi_json_number(json, "pure", r->view.has_pure ? row->sum.cost_pure : UINT64_MAX);
	hi_json_number(json, "objects", row->sum.objects);
	hi_json_number(json, "exact", row->sum.exact_cost);
	hi_json_end(json);
}

static void auto_json(const struct hi_retainers_report *r, struct hi_json *json)
{
	hi_json_array(json, "auto");
	for (uint32_t i = 0; r->view.auto_types && i < r->graph->n_types; i++)
		if (r->view.auto_types[i])
			hi_json_text(json, NULL, hi_type_key(r->graph->types[i].name));
	hi_json_end(json);
}

static void old_retainers_json(const struct hi_retainers_report *r, struct hi_json *json)
{
	static const struct hi_hidden none;

	hi_report_header_json(r->header, "heapinspect/retainers/v1", json);
	hi_json_text(json, "identity", r->view.identity);
	hi_json_number(json, "max_set", r->view.max_set);
	hi_json_number(json, "retainer_objects", r->view.heap_retainers);
	auto_json(r, json);
	hi_json_object(json, "live");
	hi_json_number(json, "objects", r->objects);
	hi_json_number(json, "bytes", r->bytes);
	hi_json_end(json);
	hi_json_number(json, "sets", r->n_sets);
	hi_json_number(json, "many_bytes", r->many.cost);
	hi_json_number(json, "system_bytes", r->system_bytes);
	hi_json_number(json, "weak_bytes", r->weak_bytes);
	hi_json_number(json, "revisited", r->revisited);
	hi_json_number(json, "work_list", r->waiting);
	old_sanity_json(&r->sanity, json);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < r->n_rows; i++)
		put_retainer_row_json(r, &r->rows[i], json);
	hi_json_end(json);
	hi_hidden_json(json, &r->hidden.by_top, &r->hidden.by_min_size, &none);
	hi_json_end(json);
}

/* ---- as a page ---- */

static const char *types_text(const struct hi_up_report *r, const struct hi_up_step *step,
			      struct hi_page *page)
{
	const char *text = "";

	for (uint32_t i = 0; i < step->n_types && i < HI_UP_TYPES; i++)
		text = hi_page_printf(
			page, "%s%s%s", text, i ? ", " : "",
			hi_type_label(r->graph->types[step->types[i]].name, page));
	if (step->n_types > HI_UP_TYPES)
		text = hi_page_printf(page, "%s and %u more types", text,
				      step->n_types - HI_UP_TYPES);
	return text;
}

/* The climb from a retainer alone; "" for several, and for variables. */
static const char *address_of_climb(const struct hi_up_report *r,
				    const struct hi_retainers_row *row,
				    struct hi_page *page)
{
	const char *name;

	if (row->sum.size != 1 || row->sum.set == HI_SET_MANY)
		return "";
	name = r->name(r->arg, row->members[0]);
	for (uint32_t i = 1; i < r->graph->n_types; i++)
		if (r->graph->types[i].name && strcmp(r->graph->types[i].name, name) == 0)
			return hi_address_where_type(page, "up", name);
	return "";
}

static void show_step(const struct hi_up_report *r, const struct hi_up_step *step,
		      size_t number, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"retained by", HI_COLUMN_TEXT},
						   {"bytes", HI_COLUMN_BYTES},
						   {"of these", HI_COLUMN_PERCENT},
						   {"objects", HI_COLUMN_COUNT}};
	char bytes[24], objects[32];
	struct hi_report_table *t;

	hi_page_heading(
		page, hi_page_printf(page, "%zu. %s", number, types_text(r, step, page)),
		hi_page_printf(page, "%s in %s object%s", hi_bytes(bytes, step->bytes),
			       hi_count(objects, step->objects),
			       step->objects == 1 ? "" : "s"));
	if (step->n_types == 1)
		hi_page_link(page, hi_address_of_objects(
					   page, r->graph->types[step->types[0]].name));
	t = hi_page_table(page, columns, 4);
	for (size_t i = 0; i < step->n_rows; i++) {
		const struct hi_retainers_row *row = &step->rows[i];

		hi_cell_text(t,
			     old_retainers_label(&row->sum, row->members, r->name, r->arg,
						 page),
			     0);
		hi_cell_link(t, address_of_climb(r, row, page));
		hi_cell_number(t, row->sum.cost);
		hi_cell_percent(t, row->sum.cost, step->bytes);
		hi_cell_number(t, row->sum.objects);
	}
	if (step->hidden.rows)
		hi_page_note(page, hi_page_printf(page, "%s more set%s with %s (--all)",
						  hi_count(objects, step->hidden.rows),
						  step->hidden.rows == 1 ? "" : "s",
						  hi_bytes(bytes, step->hidden.bytes)));
}

static void old_up_display(const struct hi_up_report *r, struct hi_page *page)
{
	hi_report_header_title(r->header, page);
	hi_page_text(page,
		     r->n_steps ? hi_page_printf(page,
						 "From %s up to the roots, in %zu step%s",
						 hi_page_safe(page, r->pattern),
						 r->n_steps, r->n_steps == 1 ? "" : "s")
				: hi_page_printf(page, "No object of %s is alive",
						 hi_page_safe(page, r->pattern)));
	hi_report_header_facts(r->header, page, false);
	for (size_t i = 0; i < r->n_steps; i++)
		show_step(r, &r->steps[i], i + 1, page);
	if (r->cut)
		hi_page_note(page, "there are more steps");
	if (r->many)
		hi_page_note(
			page,
			"MANY: the retainers in these sets are not known (--max-set)");
}

/* ---- as JSON ---- */

static void step_json(const struct hi_up_report *r, const struct hi_up_step *step,
		      size_t number, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_number(json, "step", number);
	hi_json_array(json, "types");
	for (uint32_t i = 0; i < step->n_types && i < HI_UP_TYPES; i++)
		hi_json_text(json, NULL,
			     hi_type_key(r->graph->types[step->types[i]].name));
	hi_json_end(json);
	hi_json_number(json, "types_total", step->n_types);
	hi_json_number(json, "objects", step->objects);
	hi_json_number(json, "bytes", step->bytes);
	hi_json_array(json, "sets");
	for (size_t i = 0; i < step->n_rows; i++) {
		const struct hi_retainers_row *row = &step->rows[i];

		hi_json_object(json, NULL);
		old_retainers_set_json(&row->sum, row->members, r->name, r->arg, json);
		hi_json_number(json, "bytes", row->sum.cost);
		hi_json_number(json, "objects", row->sum.objects);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_number(json, "hidden_sets", step->hidden.rows);
	hi_json_number(json, "hidden_bytes", step->hidden.bytes);
	hi_json_end(json);
}

static void old_up_json(const struct hi_up_report *r, struct hi_json *json)
{
	hi_report_header_json(r->header, "heapinspect/up/v1", json);
	hi_json_text(json, "type", r->pattern);
	hi_json_bool(json, "more_steps", r->cut);
	hi_json_bool(json, "many", r->many);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < r->n_steps; i++)
		step_json(r, &r->steps[i], i + 1, json);
	hi_json_end(json);
	hi_json_end(json);
}

/* Sharing bins as a page and as JSON. */

/* ---- as a page ---- */

/* What is under one root alone. */
static const char *address_under(const struct hi_bins_report *r, const char *name,
				 struct hi_page *page)
{
	const char *census = hi_address_where(page, "census", "under", name);

	return hi_address_with_options(page, census, &r->options);
}

/* The text as SQL has it, with its quotes. */
static const char *quote_for_sql(const char *text, struct hi_page *page)
{
	char *quoted = hi_arena_alloc(&page->arena, 2 * strlen(text) + 3), *out = quoted;

	if (!quoted) {
		page->failed = true;
		return "''";
	}
	for (*out++ = '\''; *text; text++) {
		if (*text == '\'')
			*out++ = '\'';
		*out++ = *text;
	}
	*out++ = '\'';
	*out = '\0';
	return quoted;
}

/* Its objects by type. What is leaked has a page of its own. */
static const char *address_of_bin(const struct hi_bins_report *r,
				  const struct hi_bins_row *row, struct hi_page *page)
{
	const char *address;

	if (!row->members)
		return strcmp(row->label, "LEAK") == 0 ? hi_address(page, "leaks", NULL)
						       : "";
	address = hi_address_of_query(
		page,
		hi_page_printf(
			page,
			"SELECT type, count(*) AS objects, sum(shallow) AS bytes "
			"FROM objects WHERE bin = (SELECT id FROM bins WHERE bin = "
			"%s) GROUP BY type ORDER BY bytes DESC",
			quote_for_sql(row->label, page)),
		&r->options);
	return r->join ? hi_address_with(page, address, "join", r->join) : address;
}

static void show_named_roots(const struct hi_bins_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"root", HI_COLUMN_TEXT},
						   {"expression", HI_COLUMN_TEXT},
						   {"type", HI_COLUMN_TEXT},
						   {"reaches", HI_COLUMN_BYTES},
						   {"alone", HI_COLUMN_BYTES}};
	struct hi_report_table *t;

	hi_page_heading(page, "Roots",
			"reaches: bytes that the root reaches; alone: bytes that no "
			"other root reaches");
	t = hi_page_table(page, columns, 5);
	for (size_t i = 0; i < r->n_roots; i++) {
		const struct hi_bins_root *root = &r->roots[i];

		hi_cell_text(t, hi_page_safe(page, root->name), 0);
		hi_cell_link(t, address_under(r, root->name, page));
		hi_cell_text(t, hi_page_safe(page, root->expression), 0);
		hi_cell_text(t, hi_page_type(page, root->type), 0);
		hi_cell_link(t, hi_address_of_object(page, root->address));
		hi_cell_number(t, root->reached);
		hi_cell_number(t, root->alone);
	}
	for (size_t i = 0; i < r->n_roots; i++) {
		const struct hi_bins_root *root = &r->roots[i];
		const char *name = hi_page_safe(page, root->name);

		if (root->inside)
			hi_page_note(page,
				     hi_page_printf(page,
						    root->each_other
							    ? "%s and %s reach each other"
							    : "%s is inside %s",
						    name,
						    hi_page_safe(page, root->inside)));
	}
}

static void show_bin_row(const struct hi_bins_report *r, const char *label,
			 const char *address, const struct hi_set_row *sum,
			 struct hi_report_table *t)
{
	static const struct hi_set_row unknown = {
		.cost = UINT64_MAX, .cost_pure = UINT64_MAX, .objects = UINT64_MAX};

	sum = sum ? sum : &unknown;
	hi_cell_text(t, label, 0);
	hi_cell_link(t, address);
	hi_cell_number(t, r->pure ? sum->cost_pure : sum->cost);
	hi_cell_percent(t, r->pure ? sum->cost_pure : sum->cost,
			r->pure ? r->pure_bytes : r->bytes);
	hi_cell_number(t, sum->objects);
}

static void show_bins(const struct hi_bins_report *r, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"bin", HI_COLUMN_TEXT},
						   {"bytes", HI_COLUMN_BYTES},
						   {"of all", HI_COLUMN_PERCENT},
						   {"objects", HI_COLUMN_COUNT}};
	static const struct hi_column pure[] = {{"bin", HI_COLUMN_TEXT},
						{"pure bytes", HI_COLUMN_BYTES},
						{"of all", HI_COLUMN_PERCENT},
						{"objects", HI_COLUMN_COUNT}};
	struct hi_set_row all = {
		.objects = r->objects, .cost = r->bytes, .cost_pure = r->pure_bytes};
	static const struct hi_hidden none;
	struct hi_report_table *t;
	uint64_t leaked = 0;
	char bytes[24];

	for (size_t i = 0; i < r->n_rows; i++)
		leaked += r->rows[i].members ? r->rows[i].sum.leak_cost : 0;
	hi_page_heading(page, "Sharing bins",
			"bytes that exactly these roots reach; NOROOT: live, reached by "
			"none of them");
	t = hi_page_table(page, r->pure ? pure : columns, 4);
	for (size_t i = 0; i < r->n_rows; i++)
		show_bin_row(r, hi_page_safe(page, r->rows[i].label),
			     address_of_bin(r, &r->rows[i], page),
			     (r->rows[i].sum.cost == UINT64_MAX) ? NULL : &r->rows[i].sum,
			     t);
	show_bin_row(r, "all", "", &all, t);
	hi_report_table_stress(t);
	hi_hidden_note(page, &r->hidden.by_top, &r->hidden.by_min_size, &none);
	if (leaked)
		hi_page_note(page, hi_page_printf(page,
						  "of the bins, %s are leaked: no root "
						  "of the program reaches them",
						  hi_bytes(bytes, leaked)));
}

static void old_bins_display(const struct hi_bins_report *r, struct hi_page *page)
{
	char bytes[24], objects[32];

	hi_report_header_title(r->header, page);
	hi_page_text(page, hi_page_printf(page, "%s in %s objects under %zu root%s",
					  hi_bytes(bytes, r->bytes),
					  hi_count(objects, r->objects), r->n_roots,
					  r->n_roots == 1 ? "" : "s"));
	hi_report_header_facts(r->header, page, false);
	hi_sanity_show(&r->sanity, page);
	show_named_roots(r, page);
	show_bins(r, page);
}

/* ---- as JSON ---- */

static void root_json(const struct hi_bins_root *root, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_text(json, "name", root->name);
	hi_json_text(json, "expression", root->expression);
	hi_json_text(json, "type", hi_known(root->type));
	hi_json_address(json, "address", root->address);
	hi_json_number(json, "starts", root->n_starts);
	hi_json_number(json, "reached", root->reached);
	hi_json_number(json, "alone", root->alone);
	hi_json_text(json, "inside", root->inside);
	hi_json_bool(json, "each_other", root->each_other);
	hi_json_text(json, "warning", root->warning);
	hi_json_end(json);
}

static void put_bin_row_json(const struct hi_bins_report *r,
			     const struct hi_bins_row *row, struct hi_json *json)
{
	const uint64_t unknown = row->sum.cost == UINT64_MAX ? UINT64_MAX : 0;

	hi_json_object(json, NULL);
	hi_json_text(json, "bin", row->label);
	hi_json_array(json, "roots");
	for (uint32_t i = 0; row->members && i < row->sum.size; i++)
		hi_json_text(json, NULL, r->roots[row->members[i] - 1].name);
	hi_json_end(json);
	hi_json_number(json, "bytes", row->sum.cost | unknown);
	hi_json_number(json, "pure", row->sum.cost_pure | unknown);
	hi_json_number(json, "objects", row->sum.objects | unknown);
	hi_json_number(json, "exact", row->sum.exact_cost | unknown);
	hi_json_number(json, "leaked", row->sum.leak_cost | unknown);
	hi_json_end(json);
}

static void old_bins_json(const struct hi_bins_report *r, struct hi_json *json)
{
	static const struct hi_hidden none;

	hi_report_header_json(r->header, "heapinspect/roots/v1", json);
	hi_json_object(json, "allocated");
	hi_json_number(json, "objects", r->objects);
	hi_json_number(json, "bytes", r->bytes);
	hi_json_end(json);
	old_sanity_json(&r->sanity, json);
	hi_json_array(json, "roots");
	for (size_t i = 0; i < r->n_roots; i++)
		root_json(&r->roots[i], json);
	hi_json_end(json);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < r->n_rows; i++)
		put_bin_row_json(r, &r->rows[i], json);
	hi_json_end(json);
	hi_hidden_json(json, &r->hidden.by_top, &r->hidden.by_min_size, &none);
	hi_json_end(json);
}
