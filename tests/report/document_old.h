/* SPDX-License-Identifier: BSD-2-Clause */
/* The writers that described fields replace, for document_same_test.c alone. */
#include <inttypes.h>

#include "report/parts/report_links.h"
#include "report/reports/paths/paths_report.h"

static void old_node_json(const struct hi_node_info *info, struct hi_json *json)
{
	static const char *const sorts[] = {"object", "root", "kind", "all"};
	bool is_root = info->sort == HI_NODE_ROOT || info->sort == HI_NODE_KIND;

	hi_json_text(json, "node", sorts[info->sort]);
	hi_json_text(json, "kind", is_root ? hi_root_kind_key(info->kind) : NULL);
	hi_json_escaped(json, "name", hi_known(info->name));
	hi_json_text(json, "detail", hi_known(info->detail));
	hi_json_text(json, "type",
		     info->sort == HI_NODE_OBJECT ? hi_type_key(info->type)
						  : hi_known(info->type));
	hi_json_address(json, "address", info->address);
	hi_json_number(json, "shallow", info->shallow);
	hi_json_number(json, "retained", info->retained);
}

static void show_path_steps(const struct hi_paths_way *way, struct hi_page *page)
{
	static const struct hi_column columns[] = {{"by", HI_COLUMN_TEXT},
						   {"to", HI_COLUMN_TEXT},
						   {"address", HI_COLUMN_ADDRESS},
						   {"retained", HI_COLUMN_BYTES}};
	struct hi_report_table *t = hi_page_table(page, columns, 4);

	for (size_t i = 0; i < way->n_steps; i++) {
		const struct hi_paths_step *step = &way->steps[i];

		hi_cell_text(t, hi_page_safe_again(page, step->edge), 0);
		hi_cell_text(t, hi_node_short_label(&step->info, page), 0);
		hi_cell_link(t, hi_address_of_node(page, &step->info));
		hi_cell_address(t, step->info.address);
		hi_cell_link(t, hi_address_of_node(page, &step->info));
		hi_cell_number(t, step->info.retained);
		hi_cell_link(t, hi_address_of_level(page, &step->info));
	}
}

static void show_way_facts(const struct hi_paths_way *way, struct hi_page *page)
{
	const struct hi_node_info *root = &way->steps[0].info;
	const struct hi_node_info *end = &way->steps[way->n_steps - 1].info;
	const char *detail = hi_where_label(root->detail, page);

	hi_page_note(page,
		     hi_page_printf(page, "%s root%s%s; to %s; %s edges, %zu step%s",
				    hi_root_kind_key(root->kind), *detail ? ", " : "",
				    detail, hi_node_label(end, page),
				    hi_grade_key((uint8_t)way->worst), way->n_steps - 1,
				    way->n_steps == 2 ? "" : "s"));
}

/* The same with one more option. */
static const char *address_of_query(const struct hi_paths_report *r, const char *option,
				    struct hi_page *page)
{
	const char *all = hi_address(page, "paths", r->query);

	return hi_address_with(page, all, option, "");
}

/* All ways to the object at its end; "" where the page has these. */
static const char *address_of_end(const struct hi_paths_report *r,
				  const struct hi_paths_way *way, struct hi_page *page)
{
	const struct hi_node_info *end = &way->steps[way->n_steps - 1].info;

	if (end->sort != HI_NODE_OBJECT || r->n_targets == 1)
		return "";
	return hi_address(page, "paths",
			  hi_page_printf(page, "0x%" PRIx64, end->address));
}

static void show_way(const struct hi_paths_report *r, size_t i, struct hi_page *page)
{
	const struct hi_paths_way *way = &r->ways[i];
	char n[32];

	hi_page_heading(page, hi_page_printf(page, "%zu", i + 1),
			way->n_alike > 1
				? hi_page_printf(page, "%s%s ways alike (--each)",
						 way->more_alike ? "≥ " : "",
						 hi_count(n, way->n_alike))
				: NULL);
	if (way->n_alike > 1)
		hi_page_link(page, address_of_query(r, "each", page));
	hi_page_text(page, hi_page_safe_again(page, way->pattern));
	hi_page_link(page, address_of_end(r, way, page));
	if (way->n_alike > 1) {
		hi_page_note(page, hi_page_printf(page, "such as %s",
						  hi_page_safe_again(page, way->text)));
		hi_page_link(page, address_of_end(r, way, page));
	}
	show_way_facts(way, page);
	hi_page_link(page, hi_address_of_node(page, &way->steps[way->n_steps - 1].info));
	show_path_steps(way, page);
	if (!r->steps)
		hi_page_only_with_links(page);
}

static void old_paths_display(const struct hi_paths_report *r, struct hi_page *page)
{
	char n[32];

	hi_report_header_title(r->header, page);
	hi_page_text(page, hi_page_printf(page, "%zu path%s to %s%s", r->n_ways,
					  r->n_ways == 1 ? "" : "s",
					  hi_page_sentence(page, r->target, false),
					  r->more ? "; there are more (-k N)" : ""));
	if (r->more)
		hi_page_link(page, address_of_query(r, "all", page));
	hi_report_header_facts(r->header, page, false);
	if (r->n_ways == 0 && r->n_unreachable)
		hi_page_text(page, "No pointer refers to it: it is a leak.");
	for (size_t i = 0; i < r->n_ways; i++)
		if (r->ways[i].n_steps)
			show_way(r, i, page);
	if (r->n_ways && r->n_unreachable)
		hi_page_note(page, hi_page_printf(page, "%s more of it leaked",
						  hi_count(n, r->n_unreachable)));
}

static void way_json(const struct hi_paths_way *way, struct hi_json *json)
{
	hi_json_object(json, NULL);
	hi_json_escaped(json, "path", way->text);
	hi_json_escaped(json, "pattern", way->pattern);
	hi_json_number(json, "alike", way->n_alike);
	hi_json_text(json, "grade", hi_grade_key((uint8_t)way->worst));
	hi_json_number(json, "length", way->n_steps ? way->n_steps - 1 : 0);
	hi_json_array(json, "steps");
	for (size_t i = 0; i < way->n_steps; i++) {
		hi_json_object(json, NULL);
		hi_json_escaped(json, "edge", hi_known(way->steps[i].edge));
		old_node_json(&way->steps[i].info, json);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_end(json);
}

static void old_paths_json(const struct hi_paths_report *r, struct hi_json *json)
{
	hi_report_header_json(r->header, "heapinspect/paths/v1", json);
	hi_json_text(json, "query", r->query);
	hi_json_number(json, "targets", r->n_targets);
	hi_json_number(json, "unreachable", r->n_unreachable);
	hi_json_bool(json, "more", r->more);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < r->n_ways; i++)
		way_json(&r->ways[i], json);
	hi_json_end(json);
	hi_json_end(json);
}
