/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of a function of a deep profile: its call sites and its nodes. */
#include <inttypes.h>

#include "report/reports/deep/deep_report_internal.h"

enum { MOST_NODES = 100 };

static void add_caller_links(struct hi_deep_maker *m, uint32_t id)
{
	static const char *const groups[] = {"by call site", "by function", "by module",
					     "by clique"};
	struct hi_deep_table *t = hi_deep_table(m, "callers", "Callers");
	struct hi_deep_query query;

	hi_deep_column(m, t, "group", "", HI_COLUMN_TEXT);
	hi_deep_link_init(m, &query);
	query.command = HI_DEEP_PROC_CALLERS;
	query.id = id;
	for (int i = 0; i < 4; i++) {
		query.group = (enum hi_deep_group)i;
		hi_deep_cell_text(m, t, groups[i], 0, hi_deep_link_of(m, &query));
	}
}

/* ---- call sites: a: site, b: callee ---- */

static void list_node_calls(struct hi_deep_maker *m, uint32_t id,
			    struct hi_deep_rows *rows)
{
	const struct hi_deep_node *node = &m->graph->nodes[id];

	for (uint32_t i = 0; i < node->n_edges; i++) {
		const struct hi_deep_edge *e = &m->graph->edges[node->first_edge + i];

		hi_deep_add_row(
			m, rows,
			(struct hi_deep_row){.own = e->own,
					     .desc = e->desc,
					     .a = e->site,
					     .b = m->graph->nodes[e->callee].function});
	}
	for (uint32_t i = 0; i < node->n_leaves; i++) {
		const struct hi_deep_leaf *leaf = &m->graph->leaves[node->first_leaf + i];

		hi_deep_add_row(m, rows,
				(struct hi_deep_row){.own = leaf->costs,
						     .a = leaf->site,
						     .b = HI_DEEP_ALLOCATOR});
	}
}

/* Call sites of which nothing is known: a with no callee. */
static uint64_t add_inactive_sites(struct hi_deep_maker *m,
				   const struct hi_deep_function_sums *f,
				   const struct hi_deep_rows *calls,
				   struct hi_deep_rows *sites)
{
	uint64_t hidden = 0;
	size_t at = 0;

	for (uint32_t i = 0; i < f->n_sites; i++) {
		uint32_t site = m->index->site_list[f->first_site + i];

		while (at < calls->count && calls->items[at].a < site)
			at++;
		if (at < calls->count && calls->items[at].a == site)
			continue;
		if (!m->query->prefs.inactive_sites)
			hidden++;
		else
			hi_deep_add_row(m, sites,
					(struct hi_deep_row){.a = site, .name = ""});
	}
	return hidden;
}

/* A row for each call site, with its calls [first, first + n) of the sorted ones. */
static void group_sites(struct hi_deep_maker *m, const struct hi_deep_rows *calls,
			struct hi_deep_rows *sites)
{
	for (size_t i = 0, end; i < calls->count; i = end) {
		struct hi_deep_row row = {.a = calls->items[i].a, .first = (uint32_t)i};

		for (end = i; end < calls->count && calls->items[end].a == row.a; end++) {
			hi_deep_costs_add(&row.own, &calls->items[end].own);
			hi_deep_costs_add(&row.desc, &calls->items[end].desc);
			row.n++;
		}
		row.name = hi_deep_function_name(m, calls->items[i].b);
		hi_deep_add_row(m, sites, row);
	}
}

static const char *callee_link(struct hi_deep_maker *m, uint32_t callee)
{
	struct hi_deep_query query;

	if (callee != HI_DEEP_ALLOCATOR)
		return hi_deep_link(m, HI_DEEP_PROC, callee);
	hi_deep_link_init(m, &query);
	query.command = HI_DEEP_PROC;
	return hi_deep_link_of(m, &query);
}

static void add_callee_cell(struct hi_deep_maker *m, struct hi_deep_table *t,
			    uint32_t callee, unsigned indent)
{
	hi_deep_cell_function(m, t, callee, indent, callee_link(m, callee));
}

/* What a call site without calls would call, if that is known. */
static void add_no_callee(struct hi_deep_maker *m, struct hi_deep_table *t, uint32_t site)
{
	uint32_t callee = m->profile->sites.items[site].callee;

	if (callee != HI_DEEP_NONE)
		add_callee_cell(m, t, callee, 0);
	else
		hi_deep_cell_text(m, t, "(not called)", 0, NULL);
}

static void add_site_cells(struct hi_deep_maker *m, struct hi_deep_table *t,
			   uint32_t site)
{
	hi_deep_cell_text(m, t, hi_deep_site_text(m, site), 0, NULL);
	hi_deep_cell_text(m, t,
			  hi_deep_site_kind_text(m->profile->sites.items[site].kind), 0,
			  NULL);
}

static void add_site_dump(struct hi_deep_maker *m, struct hi_deep_table *t, uint32_t site)
{
	if (m->query->prefs.developer)
		hi_deep_cell_dump(m, t, HI_DEEP_DUMP_SITE, site);
}

static void add_site_rows(struct hi_deep_maker *m, struct hi_deep_table *t,
			  const struct hi_deep_row *site,
			  const struct hi_deep_rows *calls)
{
	const struct hi_deep_row *call = calls->items + site->first;

	add_site_cells(m, t, site->a);
	if (!site->n)
		add_no_callee(m, t, site->a);
	else if (site->n == 1)
		add_callee_cell(m, t, call->b, 0);
	else
		hi_deep_cell_text(m, t, hi_deep_text(m, "%u functions", site->n), 0,
				  NULL);
	hi_deep_cost_cells(m, t, &site->own, &site->desc);
	add_site_dump(m, t, site->a);
	if (site->n < 2 || m->query->prefs.sum_indirect)
		return;
	for (uint32_t i = 0; i < site->n; i++, call++) {
		add_site_cells(m, t, site->a);
		add_callee_cell(m, t, call->b, 1);
		hi_deep_cost_cells(m, t, &call->own, &call->desc);
		add_site_dump(m, t, site->a);
	}
}

static void add_sites(struct hi_deep_maker *m, const struct hi_deep_function_sums *f)
{
	struct hi_deep_table *t = hi_deep_table(m, "sites", "Call sites");
	struct hi_deep_rows calls = {}, sites = {};
	uint64_t hidden;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		list_node_calls(m, m->index->node_list[f->first_node + i], &calls);
	hi_deep_merge_rows(&calls);
	group_sites(m, &calls, &sites);
	hidden = add_inactive_sites(m, f, &calls, &sites);
	hi_deep_sort_rows(m, &sites);
	hi_deep_column(m, t, "site", "at", HI_COLUMN_TEXT);
	hi_deep_column(m, t, "kind", "kind", HI_COLUMN_WORD);
	hi_deep_column(m, t, "callee", "calls", HI_COLUMN_TEXT);
	hi_deep_cost_columns(m, t);
	if (m->query->prefs.developer)
		hi_deep_column(m, t, "dump", "dump", HI_COLUMN_WORD);
	for (size_t i = 0; i < sites.count; i++)
		add_site_rows(m, t, &sites.items[i], &calls);
	if (hidden)
		t->note = hi_deep_text(m,
				       "%" PRIu64 " that did not call are left out "
				       "(inactive=sites)",
				       hidden);
	hi_vector_free(&calls);
	hi_vector_free(&sites);
}

/* ---- nodes ---- */

static void add_node_row(struct hi_deep_maker *m, struct hi_deep_table *t, uint32_t id)
{
	const struct hi_deep_node *node = &m->graph->nodes[id];
	uint32_t entry = m->graph->cliques[node->clique].entry;
	const char *from = "(root)";

	if (entry != HI_DEEP_NONE) {
		const struct hi_deep_edge *e = &m->graph->edges[entry];
		uint32_t caller = m->graph->nodes[e->caller].function;

		from = hi_deep_text(m, "%.3000s %.3000s",
				    hi_deep_function_text(m, caller),
				    hi_deep_site_text(m, e->site));
	}
	hi_deep_cell_text(m, t, from, 0, hi_deep_link(m, HI_DEEP_CLIQUE, node->clique));
	hi_deep_cost_cells(m, t, &node->own, &node->desc);
	if (m->query->prefs.developer)
		hi_deep_cell_dump(m, t, HI_DEEP_DUMP_NODE, id);
}

static void add_nodes(struct hi_deep_maker *m, const struct hi_deep_function_sums *f)
{
	struct hi_deep_table *t = hi_deep_table(m, "nodes", "In context");
	struct hi_deep_rows rows = {};

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint32_t id = m->index->node_list[f->first_node + i];

		hi_deep_add_row(m, &rows,
				(struct hi_deep_row){.own = m->graph->nodes[id].own,
						     .desc = m->graph->nodes[id].desc,
						     .name = "",
						     .a = id});
	}
	hi_deep_sort_rows(m, &rows);
	t->aside = "the call that entered the clique";
	hi_deep_column(m, t, "entry", "from", HI_COLUMN_TEXT);
	hi_deep_cost_columns(m, t);
	if (m->query->prefs.developer)
		hi_deep_column(m, t, "dump", "dump", HI_COLUMN_WORD);
	for (size_t i = 0; i < rows.count && i < MOST_NODES; i++)
		add_node_row(m, t, rows.items[i].a);
	if (rows.count > MOST_NODES)
		t->note = hi_deep_text(m, "%zu more (dump_function has all)",
				       rows.count - MOST_NODES);
	hi_vector_free(&rows);
}

/* ---- the report ---- */

static void add_proc_facts(struct hi_deep_maker *m, uint32_t id)
{
	const struct hi_deep_procedure *f = &m->profile->functions.items[id];
	const char *file = hi_deep_profile_text(m->profile, f->file);

	hi_deep_fact_text(m, "function", "function", hi_deep_function_name(m, id),
			  m->query->prefs.developer
				  ? hi_deep_link(m, HI_DEEP_DUMP_FUNCTION, id)
				  : NULL);
	if (id)
		hi_deep_fact_text(m, "module", "module",
				  hi_deep_module_text(m, f->module),
				  hi_deep_module_link(m, f->module));
	if (*file)
		hi_deep_fact_text(m, "source", "source",
				  f->line ? hi_deep_text(m, "%.4000s:%u", file, f->line)
					  : file,
				  NULL);
	hi_deep_fact_number(m, "nodes", "contexts", HI_COLUMN_COUNT,
			    m->index->functions[id].n_nodes);
	hi_deep_fact_costs(m, &m->index->functions[id].own,
			   &m->index->functions[id].desc);
}

static enum hi_status make_allocator(struct hi_deep_maker *m)
{
	static const struct hi_deep_costs none;

	m->report->title = "The allocator";
	hi_deep_fact_text(m, "function", "function",
			  hi_deep_function_name(m, HI_DEEP_ALLOCATOR), NULL);
	hi_deep_fact_costs(m, &m->graph->total, &none);
	add_caller_links(m, 0);
	return HI_OK;
}

enum hi_status hi_deep_make_proc(struct hi_deep_maker *m, struct hi_error *err)
{
	uint32_t id = m->query->id - 1;

	if (!m->query->id)
		return make_allocator(m);
	if (m->query->id > m->profile->functions.count)
		return hi_deep_fail_id("function", m->query->id,
				       m->profile->functions.count, err);
	m->module = m->profile->functions.items[id].module;
	m->report->title = hi_deep_text(m, "Function %s", hi_deep_function_name(m, id));
	add_proc_facts(m, id);
	add_caller_links(m, id + 1);
	add_sites(m, &m->index->functions[id]);
	add_nodes(m, &m->index->functions[id]);
	return HI_OK;
}
