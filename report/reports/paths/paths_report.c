/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/paths/paths_report.h"

#include <inttypes.h>

#include "report/parts/report_links.h"

/* ---- fields ---- */

static const char *link_to_step(const struct hi_doc_row *row)
{
	return hi_address_of_node(row->page,
				  &((const struct hi_paths_step *)row->row)->info);
}
static const char *link_to_step_level(const struct hi_doc_row *row)
{
	return hi_address_of_level(row->page,
				   &((const struct hi_paths_step *)row->row)->info);
}
static struct hi_doc_value node_of_step(const struct hi_doc_row *row)
{
	const struct hi_paths_step *step = row->row;

	return hi_doc_shown(hi_node_short_label(&step->info, row->page));
}

static const struct hi_doc_field step_fields[] = {
	{"edge", "by", HI_DOC_TEXT, HI_AT(struct hi_paths_step, edge), .nullable = true,
	 .is_escaped = true},
	{.unit = HI_DOC_MEMBERS,
	 HI_AT_PART(struct hi_paths_step, info),
	 .nested = &hi_node_fields},
	{NULL, "to", HI_DOC_TEXT, .value = node_of_step, .link = link_to_step},
	{NULL, "address", HI_DOC_ADDRESS, HI_AT(struct hi_paths_step, info.address),
	 .link = link_to_step},
	{NULL, "retained", HI_DOC_BYTES, HI_AT(struct hi_paths_step, info.retained),
	 .link = link_to_step_level},
};
static const struct hi_doc_fields steps = HI_DOC_FIELDS(
	step_fields, .row_size = sizeof(struct hi_paths_step), .is_open = true);

static const char *grade_word(unsigned grade)
{
	return hi_grade_key((uint8_t)grade);
}
static struct hi_doc_value length_of_way(const struct hi_doc_row *row)
{
	const struct hi_paths_way *way = row->row;

	return hi_doc_number(way->n_steps ? way->n_steps - 1 : 0);
}

static const struct hi_doc_field way_fields[] = {
	{"path", NULL, HI_DOC_TEXT, HI_AT(struct hi_paths_way, text), .is_escaped = true},
	{"pattern", NULL, HI_DOC_TEXT, HI_AT(struct hi_paths_way, pattern),
	 .is_escaped = true, .meaning = "of paths that are alike; else the path"},
	{"alike", NULL, HI_DOC_COUNT, HI_AT(struct hi_paths_way, n_alike),
	 .meaning = "paths with this pattern, this one included"},
	{"grade", NULL, HI_DOC_WORD, HI_AT(struct hi_paths_way, worst),
	 .word = grade_word, .n_words = HI_GRADE_WEAK + 1,
	 .meaning = "of the least certain step"},
	{"length", NULL, HI_DOC_COUNT, .value = length_of_way, .meaning = "steps"},
	{"steps", NULL, HI_DOC_ROWS, HI_AT_ROWS(struct hi_paths_way, steps, n_steps),
	 .nested = &steps},
};
static const struct hi_doc_fields ways =
	HI_DOC_FIELDS(way_fields, .row_size = sizeof(struct hi_paths_way));

static const struct hi_doc_field paths_fields[] = {
	{"query", NULL, HI_DOC_TEXT, HI_AT(struct hi_paths_report, query)},
	{"targets", NULL, HI_DOC_COUNT, HI_AT(struct hi_paths_report, n_targets)},
	{"unreachable", NULL, HI_DOC_COUNT, HI_AT(struct hi_paths_report, n_unreachable)},
	{"more", NULL, HI_DOC_FLAG, HI_AT(struct hi_paths_report, more)},
	{"doubtful", NULL, HI_DOC_COUNT, HI_AT(struct hi_paths_report, n_doubtful),
	 .meaning = "long ways along conservative edges that are left out"},
	{"rows", NULL, HI_DOC_ROWS, HI_AT_ROWS(struct hi_paths_report, ways, n_ways),
	 .nested = &ways},
};
const struct hi_doc_fields hi_paths_document =
	HI_DOC_FIELDS(paths_fields, .is_open = true);

void hi_paths_json(const struct hi_paths_report *r, struct hi_json *json)
{
	hi_report_header_json(r->header, "heapinspect/paths/v1", json);
	hi_doc_put_report(&hi_paths_document, r, 0, json);
	hi_json_end(json);
}

/* ---- as a page ---- */

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
	hi_doc_show_rows(page, &steps, r, 0, way->steps, way->n_steps);
	if (!r->steps)
		hi_page_only_with_links(page);
}

void hi_paths_display(const struct hi_paths_report *r, struct hi_page *page)
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
	if (r->n_doubtful)
		hi_page_note(page,
			     hi_page_printf(
				     page,
				     "%s more of over %u steps %s out: words that may be "
				     "no pointers lead there (--all)",
				     hi_count(n, r->n_doubtful), r->doubtful_steps,
				     r->n_doubtful == 1 ? "is left" : "are left"));
	if (r->n_ways && r->n_unreachable)
		hi_page_note(page, hi_page_printf(page, "%s more of it leaked",
						  hi_count(n, r->n_unreachable)));
}
