/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes every report of a deep profile, and says what went wrong. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/render/text.h"
#include "report/reports/deep/deep_report_internal.h"

enum { MOST_ERRORS = 1000, WIDTH = 80 };

struct checking {
	struct hi_deep_maker *m; /* of the report about it */
	struct hi_deep_table *errors;
	uint64_t pages, links, failed, left_out;
	uint32_t most; /* of each kind */
};

static void add_check_error(struct checking *c, const char *query, const char *error)
{
	if (c->failed++ >= MOST_ERRORS)
		return;
	hi_deep_cell_text(c->m, c->errors, query, 0, NULL);
	hi_deep_cell_text(c->m, c->errors, error, 0, NULL);
}

/* A link is a query that can be parsed, and has the same text then. */
static void check_link(struct checking *c, const char *query, const char *link)
{
	struct hi_arena arena = {};
	struct hi_deep_query parsed;
	struct hi_error error = {};
	const char *text;

	if (!link)
		return;
	c->links++;
	if (hi_deep_query_parse(link, &parsed, &error) != HI_OK) {
		add_check_error(c, query, error.text);
	} else {
		text = hi_deep_query_text(&parsed, &arena);
		if (!text || strcmp(text, link) != 0)
			add_check_error(c, query, "a link changes when it is read");
	}
	hi_arena_free(&arena);
}

static void check_links(struct checking *c, const struct hi_deep_report *r)
{
	for (size_t i = 0; i < r->facts.count; i++)
		check_link(c, r->query, r->facts.items[i].cell.link);
	for (size_t i = 0; i < r->tables.count; i++) {
		const struct hi_deep_table *t = r->tables.items[i];

		if (t->columns.count && t->cells.count % t->columns.count)
			add_check_error(c, r->query, "a row of a table is not complete");
		for (size_t k = 0; k < t->cells.count; k++)
			check_link(c, r->query, t->cells.items[k].link);
	}
}

static void check_texts(struct checking *c, const struct hi_deep_report *r,
			struct hi_page *page, FILE *out)
{
	const struct hi_text_options options = {.width = WIDTH, .utf8 = true};
	struct hi_error error = {};
	struct hi_json json;

	hi_deep_display(r, page);
	if (hi_text_render(page, &options, out, &error) != HI_OK)
		add_check_error(c, r->query, error.text);
	hi_json_init(&json, out);
	hi_deep_json(r, &json);
	if (!hi_json_finish(&json))
		add_check_error(c, r->query, "JSON: out of memory");
}

static void check_rendering(struct checking *c, const struct hi_deep_report *r)
{
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	HI_GUARD(free) char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (page && out)
		check_texts(c, r, page, out);
	else
		add_check_error(c, r->query, "out of memory");
	if (out && fclose(out) != 0)
		add_check_error(c, r->query, "out of memory");
}

static void check_query(struct checking *c, const struct hi_deep_query *query)
{
	struct hi_deep_report *report = NULL;
	struct hi_error error = {};
	struct hi_arena arena = {};
	enum hi_status status =
		hi_deep_report_create(c->m->index, query, &report, &error);
	const char *text = hi_deep_query_text(query, &arena);

	c->pages++;
	if (status != HI_OK) {
		add_check_error(c, text ? text : "", error.text);
	} else {
		check_links(c, report);
		check_rendering(c, report);
	}
	hi_arena_free(&arena);
	hi_deep_report_destroy(report);
}

/* ---- all queries ---- */

/* Queries of a command with N from 1. */
static void check_numbered(struct checking *c, enum hi_deep_command command, uint64_t n)
{
	struct hi_deep_query query;

	hi_deep_link_init(c->m, &query);
	query.command = command;
	c->left_out += n > c->most ? n - c->most : 0;
	for (uint32_t i = 1; i <= n && i <= c->most; i++) {
		query.id = i;
		check_query(c, &query);
	}
}

static void check_callers(struct checking *c, uint64_t n)
{
	struct hi_deep_query query;

	hi_deep_link_init(c->m, &query);
	query.command = HI_DEEP_PROC_CALLERS;
	query.page = 1;
	query.page_size = 20;
	c->left_out += n > c->most ? 4 * (n - c->most) : 0;
	for (uint32_t i = 1; i <= n && i <= c->most; i++)
		for (int group = HI_DEEP_BY_SITE; group <= HI_DEEP_BY_CLIQUE; group++) {
			query.id = i;
			query.group = (enum hi_deep_group)group;
			check_query(c, &query);
		}
}

static void check_module_pages(struct checking *c)
{
	struct hi_deep_query query;

	for (uint32_t i = 0; i < c->m->index->n_modules; i++) {
		const char *link =
			hi_deep_module_link(c->m, c->m->index->modules[i].name);

		if (i >= c->most)
			c->left_out++;
		else if (link && hi_deep_query_parse(link, &query, NULL) == HI_OK)
			check_query(c, &query);
	}
}

static void check_tops(struct checking *c)
{
	struct hi_deep_query query;

	hi_deep_link_init(c->m, &query);
	query.command = HI_DEEP_TOP_PROCS;
	query.low = 1;
	query.high = 100;
	for (int cost = 0; cost < HI_DEEP_ORDERS; cost++)
		for (int way = 0; way < 4; way++) {
			query.cost = cost;
			query.self = way & 1;
			query.per_call = way & 2;
			if (hi_deep_need_cost(c->m, cost, NULL) == HI_OK &&
			    (!query.per_call || c->m->profile->has[HI_DEEP_CALLS]))
				check_query(c, &query);
		}
}

static void check_single(struct checking *c)
{
	static const char *const queries[] = {
		"menu",	 "root/no", "root/90", "program_modules", "recursion_type_freq",
		"proc/0"};
	struct hi_deep_query query;

	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++)
		if (hi_deep_query_parse(queries[i], &query, NULL) == HI_OK) {
			query.prefs = c->m->query->prefs;
			check_query(c, &query);
		}
}

static void check_all_queries(struct checking *c)
{
	const struct hi_deep_profile *p = c->m->profile;
	const struct hi_deep_graph *g = c->m->graph;

	check_single(c);
	check_numbered(c, HI_DEEP_CLIQUE, g->n_cliques);
	check_numbered(c, HI_DEEP_CLIQUE_RC, g->n_cliques);
	check_numbered(c, HI_DEEP_PROC, p->functions.count);
	check_callers(c, p->functions.count);
	check_module_pages(c);
	check_tops(c);
	check_numbered(c, HI_DEEP_DUMP_NODE, g->n_nodes);
	check_numbered(c, HI_DEEP_DUMP_EDGE, g->n_edges);
	check_numbered(c, HI_DEEP_DUMP_FUNCTION, p->functions.count);
	check_numbered(c, HI_DEEP_DUMP_SITE, p->sites.count);
	check_numbered(c, HI_DEEP_DUMP_CLIQUE, g->n_cliques);
}

/* Own costs of functions and of modules are the total. */
static void check_sums(struct checking *c)
{
	struct hi_deep_costs functions = {}, modules = {};

	for (size_t i = 0; i < c->m->profile->functions.count; i++)
		hi_deep_costs_add(&functions, &c->m->index->functions[i].own);
	for (uint32_t i = 0; i < c->m->index->n_modules; i++)
		hi_deep_costs_add(&modules, &c->m->index->modules[i].own);
	if (memcmp(&functions, &c->m->graph->total, sizeof(functions)) != 0)
		add_check_error(c, "top_procs", "functions do not add up to the total");
	if (memcmp(&modules, &c->m->graph->total, sizeof(modules)) != 0)
		add_check_error(c, "program_modules",
				"modules do not add up to the total");
}

static void fill_check(struct checking *c)
{
	c->errors = hi_deep_table(c->m, "errors", "Errors");
	hi_deep_column(c->m, c->errors, "asked", "asked", HI_COLUMN_TEXT);
	hi_deep_column(c->m, c->errors, "error", "error", HI_COLUMN_TEXT);
	check_all_queries(c);
	check_sums(c);
	hi_deep_fact_number(c->m, "pages", "pages", HI_COLUMN_COUNT, c->pages);
	hi_deep_fact_number(c->m, "links", "links of them", HI_COLUMN_COUNT, c->links);
	hi_deep_fact_number(c->m, "failed", "errors", HI_COLUMN_COUNT, c->failed);
	hi_deep_fact_number(c->m, "left_out", "pages left out", HI_COLUMN_COUNT,
			    c->left_out);
	if (c->left_out)
		hi_deep_note(c->m, hi_deep_text(c->m,
						"the first %u of each kind were made "
						"(--top N)",
						c->most));
}

enum hi_status hi_deep_check_report(const struct hi_deep_index *index,
				    const struct hi_deep_query *query, uint32_t most,
				    struct hi_deep_report **ret, struct hi_error *err)
{
	struct hi_deep_maker m = {.index = index,
				  .query = query,
				  .profile = index->profile,
				  .graph = &index->profile->graph,
				  .module = HI_DEEP_NONE};
	struct checking c = {.m = &m, .most = most};

	m.report = hi_calloc(1, sizeof(*m.report));
	if (!m.report)
		return hi_fail_memory(err, "check of a deep profile");
	m.report->query = "check";
	m.report->title = "All pages";
	fill_check(&c);
	if (m.report->failed) {
		hi_deep_report_destroy(m.report);
		return hi_fail_memory(err, "check of a deep profile");
	}
	m.report->n_failed = c.failed;
	*ret = m.report;
	return HI_OK;
}
