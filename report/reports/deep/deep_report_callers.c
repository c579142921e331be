/* SPDX-License-Identifier: BSD-2-Clause */
/* What calls a function of a deep profile, or the allocator. */
#include <inttypes.h>

#include "report/reports/deep/deep_report_internal.h"

/* Where a call comes from. */
struct caller {
	uint32_t node, site;
};

/* Out of the contour: up through the calls that entered cliques, at most to the root. */
static struct caller climb_contour(const struct hi_deep_maker *m, struct caller from)
{
	const struct hi_deep_contour *c = m->index->contour;
	const struct hi_deep_graph *g = m->graph;

	while (m->query->contour && c && g->nodes[from.node].function < c->n_functions &&
	       c->excludes[g->nodes[from.node].function]) {
		uint32_t entry = g->cliques[g->nodes[from.node].clique].entry;

		if (entry == HI_DEEP_NONE)
			break;
		from = (struct caller){g->edges[entry].caller, g->edges[entry].site};
	}
	return from;
}

static void add_deep_caller(struct hi_deep_maker *m, struct caller from,
			    const struct hi_deep_costs *own,
			    const struct hi_deep_costs *desc, struct hi_deep_rows *rows)
{
	struct hi_deep_row row = {.own = *own, .desc = *desc, .n = 1};
	uint32_t function;

	from = climb_contour(m, from);
	function = m->graph->nodes[from.node].function;
	row.name = hi_deep_function_name(m, function);
	switch (m->query->group) {
	case HI_DEEP_BY_SITE:
		row.a = function;
		row.b = from.site;
		break;
	case HI_DEEP_BY_PROC:
		row.a = function;
		break;
	case HI_DEEP_BY_MODULE:
		row.a = m->index->functions[function].module;
		row.name =
			row.a == HI_DEEP_NONE
				? row.name
				: hi_deep_module_text(m, m->index->modules[row.a].name);
		break;
	case HI_DEEP_BY_CLIQUE:
		row.a = m->graph->nodes[from.node].clique;
		break;
	}
	hi_deep_add_row(m, rows, row);
}

static void list_deep_callers(struct hi_deep_maker *m, struct hi_deep_rows *rows)
{
	static const struct hi_deep_costs none;
	const struct hi_deep_graph *g = m->graph;
	const struct hi_deep_function_sums *f;

	if (!m->query->id) {
		for (uint32_t i = 0; i < g->n_leaves; i++)
			add_deep_caller(
				m, (struct caller){g->leaves[i].node, g->leaves[i].site},
				&g->leaves[i].costs, &none, rows);
		return;
	}
	f = &m->index->functions[m->query->id - 1];
	for (uint32_t i = 0; i < f->n_callers; i++) {
		const struct hi_deep_edge *e =
			&g->edges[m->index->caller_list[f->first_caller + i]];

		add_deep_caller(m, (struct caller){e->caller, e->site}, &e->own, &e->desc,
				rows);
	}
}

static void add_caller_columns(struct hi_deep_maker *m, struct hi_deep_table *t)
{
	static const char *const keys[] = {"function", "function", "module", "clique"};

	hi_deep_column(m, t, keys[m->query->group], "caller", HI_COLUMN_TEXT);
	if (m->query->group == HI_DEEP_BY_SITE)
		hi_deep_column(m, t, "site", "at", HI_COLUMN_TEXT);
	if (m->query->group == HI_DEEP_BY_SITE)
		hi_deep_column(m, t, "kind", "kind", HI_COLUMN_MINOR_FIGURE);
	hi_deep_column(m, t, "calls", "contexts", HI_COLUMN_MINOR_COUNT);
	hi_deep_cost_columns(m, t);
}

static void add_caller_row(struct hi_deep_maker *m, struct hi_deep_table *t,
			   const struct hi_deep_row *row)
{
	const char *link;

	if (m->query->group == HI_DEEP_BY_MODULE) {
		link = row->a == HI_DEEP_NONE
			       ? NULL
			       : hi_deep_module_link(m, m->index->modules[row->a].name);
		hi_deep_cell_text(m, t, row->name, 0, link);
	} else if (m->query->group == HI_DEEP_BY_CLIQUE) {
		const struct hi_deep_clique *c = &m->graph->cliques[row->a];
		uint32_t node = m->graph->members[c->first_member];

		if (c->entry != HI_DEEP_NONE)
			node = m->graph->edges[c->entry].callee;
		hi_deep_cell_function(m, t, m->graph->nodes[node].function, 0,
				      hi_deep_link(m, HI_DEEP_CLIQUE, row->a));
	} else {
		hi_deep_cell_function(m, t, row->a, 0,
				      hi_deep_link(m, HI_DEEP_PROC, row->a));
	}
	if (m->query->group == HI_DEEP_BY_SITE) {
		hi_deep_cell_text(m, t, hi_deep_site_text(m, row->b), 0, NULL);
		hi_deep_kind_cell(m, t, row->b);
	}
	hi_deep_cell_number(m, t, row->n);
	hi_deep_cost_cells(m, t, &row->own, &row->desc);
}

static void link_page(struct hi_deep_maker *m, const char *key, const char *title,
		      uint32_t page)
{
	struct hi_deep_query query = *m->query;

	query.page = page;
	hi_deep_fact_text(m, key, title, hi_deep_text(m, "%u", page),
			  hi_deep_link_of(m, &query));
}

static void link_other_contour(struct hi_deep_maker *m)
{
	struct hi_deep_query query = *m->query;

	if (!m->index->contour) {
		if (m->query->contour)
			hi_deep_note(m, "there is no contour: all callers are shown");
		return;
	}
	query.contour = !query.contour;
	query.page = 1;
	hi_deep_fact_text(m, "contour", "contour",
			  m->query->contour ? "applied; without it"
					    : "not applied; with it",
			  hi_deep_link_of(m, &query));
}

static enum hi_status show_callers(struct hi_deep_maker *m, struct hi_deep_rows *rows,
				   struct hi_error *err)
{
	uint64_t size = m->query->page_size, first = (m->query->page - 1) * size,
		 n_pages = (rows->count + size - 1) / size;
	struct hi_deep_table *t;

	if (m->query->page > 1 && m->query->page > n_pages)
		return hi_deep_fail_id("page", m->query->page, n_pages, err);
	hi_deep_fact_number(m, "callers", "callers", HI_COLUMN_COUNT, rows->count);
	hi_deep_fact_number(m, "page", "page", HI_COLUMN_COUNT, m->query->page);
	hi_deep_fact_number(m, "pages", "of", HI_COLUMN_COUNT, n_pages);
	if (m->query->page > 1)
		link_page(m, "previous", "previous page", m->query->page - 1);
	if (m->query->page < n_pages)
		link_page(m, "next", "next page", m->query->page + 1);
	link_other_contour(m);
	t = hi_deep_table(m, "callers", "Callers");
	add_caller_columns(m, t);
	for (uint64_t i = first; i < rows->count && i < first + size; i++)
		add_caller_row(m, t, &rows->items[i]);
	return HI_OK;
}

enum hi_status hi_deep_make_callers(struct hi_deep_maker *m, struct hi_error *err)
{
	struct hi_deep_rows rows = {};
	enum hi_status status;

	if (m->query->id > m->profile->functions.count)
		return hi_deep_fail_id("function", m->query->id,
				       m->profile->functions.count, err);
	m->report->title =
		hi_deep_text(m, "Callers of %s",
			     hi_deep_function_name(m, m->query->id ? m->query->id - 1
								   : HI_DEEP_ALLOCATOR));
	list_deep_callers(m, &rows);
	hi_deep_merge_rows(&rows);
	hi_deep_sort_rows(m, &rows);
	status = show_callers(m, &rows, err);
	hi_vector_free(&rows);
	return status;
}
