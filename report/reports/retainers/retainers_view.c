/* SPDX-License-Identifier: BSD-2-Clause */
/* Retainer sets as a page and as JSON. */
#include <inttypes.h>

#include "report/parts/decoded_share.h"
#include "report/parts/hidden_rows.h"
#include "report/parts/report_node.h"
#include "report/reports/retainers/retainers_report.h"

enum { MEMBERS_SHOWN = 12 };

const char *hi_retainers_label(const struct hi_set_row *sum, const uint32_t *members,
			       hi_set_name_fn *name, void *arg, struct hi_page *page)
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

void hi_retainers_set_json(const struct hi_set_row *sum, const uint32_t *members,
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
	hi_cell_text(
		t,
		hi_retainers_label(sum, row->members, r->view.name, r->view.arg, t->page),
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
	hi_hidden_note(page, &r->beyond, &r->below, &none);
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

/* ---- as JSON ---- */

static void put_retainer_row_json(const struct hi_retainers_report *r,
				  const struct hi_retainers_row *row,
				  struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_retainers_set_json(&row->sum, row->members, r->view.name, r->view.arg, json);
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

void hi_retainers_json(const struct hi_retainers_report *r, struct hi_json *json)
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
	hi_sanity_json(&r->sanity, json);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < r->n_rows; i++)
		put_retainer_row_json(r, &r->rows[i], json);
	hi_json_end(json);
	hi_hidden_json(json, &r->beyond, &r->below, &none);
	hi_json_end(json);
}
