/* SPDX-License-Identifier: BSD-2-Clause */
/* Dumps of what a deep profile is made of: each as it is stored. */
#include "report/reports/deep/deep_report_internal.h"

static void dump_number(struct hi_deep_maker *m, const char *key, uint64_t number)
{
	hi_deep_fact_number(m, key, key, HI_COLUMN_COUNT, number);
}

/* Numbers count from 1, as in queries. */
static void dump_link(struct hi_deep_maker *m, const char *key,
		      enum hi_deep_command command, uint32_t n)
{
	hi_deep_fact_text(m, key, key,
			  n == HI_DEEP_NONE ? "none" : hi_deep_text(m, "%u", n + 1),
			  n == HI_DEEP_NONE ? NULL : hi_deep_link(m, command, n));
}

static void dump_text(struct hi_deep_maker *m, const char *key, uint32_t text)
{
	hi_deep_fact_text(m, key, key, hi_deep_profile_text(m->profile, text), NULL);
}

/* All costs, known or not. */
static void dump_costs(struct hi_deep_maker *m, const char *scope,
		       const struct hi_deep_costs *costs)
{
	for (int i = 0; i < HI_DEEP_COSTS; i++) {
		const char *key;

		if (!m->profile->has[i] && !costs->of[i])
			continue;
		key = hi_deep_text(m, "%s_%s", scope, hi_deep_cost_name(i));
		dump_number(m, key, costs->of[i]);
	}
}

static struct hi_deep_table *dump_table(struct hi_deep_maker *m, const char *key,
					const char *column)
{
	struct hi_deep_table *t = hi_deep_table(m, key, key);

	hi_deep_column(m, t, column, column, HI_COLUMN_WORD);
	return t;
}

static void dump_id(struct hi_deep_maker *m, struct hi_deep_table *t,
		    enum hi_deep_command command, uint32_t n)
{
	hi_deep_cell_text(m, t, hi_deep_text(m, "%u", n + 1), 0,
			  hi_deep_link(m, command, n));
}

static void dump_node(struct hi_deep_maker *m, uint32_t id)
{
	const struct hi_deep_node *node = &m->graph->nodes[id];
	struct hi_deep_table *t;

	dump_link(m, "function", HI_DEEP_DUMP_FUNCTION, node->function);
	dump_link(m, "clique", HI_DEEP_DUMP_CLIQUE, node->clique);
	dump_costs(m, "own", &node->own);
	dump_costs(m, "desc", &node->desc);
	t = dump_table(m, "edges", "edge");
	for (uint32_t i = 0; i < node->n_edges; i++)
		dump_id(m, t, HI_DEEP_DUMP_EDGE, node->first_edge + i);
	t = dump_table(m, "leaves", "site");
	hi_deep_column(m, t, "allocs", "allocs", HI_COLUMN_COUNT);
	hi_deep_column(m, t, "bytes", "bytes", HI_COLUMN_COUNT);
	for (uint32_t i = 0; i < node->n_leaves; i++) {
		const struct hi_deep_leaf *leaf = &m->graph->leaves[node->first_leaf + i];

		dump_id(m, t, HI_DEEP_DUMP_SITE, leaf->site);
		hi_deep_cell_number(m, t, leaf->costs.of[HI_DEEP_ALLOCS]);
		hi_deep_cell_number(m, t, leaf->costs.of[HI_DEEP_BYTES]);
	}
}

static void dump_edge(struct hi_deep_maker *m, uint32_t id)
{
	const struct hi_deep_edge *e = &m->graph->edges[id];

	dump_link(m, "caller", HI_DEEP_DUMP_NODE, e->caller);
	dump_link(m, "site", HI_DEEP_DUMP_SITE, e->site);
	dump_link(m, "callee", HI_DEEP_DUMP_NODE, e->callee);
	dump_costs(m, "own", &e->own);
	dump_costs(m, "desc", &e->desc);
}

static void dump_function(struct hi_deep_maker *m, uint32_t id)
{
	const struct hi_deep_procedure *f = &m->profile->functions.items[id];
	const struct hi_deep_function_sums *s = &m->index->functions[id];
	struct hi_deep_table *t;

	dump_text(m, "name", f->name);
	dump_text(m, "module", f->module);
	dump_text(m, "file", f->file);
	dump_number(m, "line", f->line);
	hi_deep_fact_text(m, "exported", "exported", f->is_exported ? "yes" : "no", NULL);
	dump_costs(m, "own", &s->own);
	dump_costs(m, "desc", &s->desc);
	t = dump_table(m, "nodes", "node");
	for (uint32_t i = 0; i < s->n_nodes; i++)
		dump_id(m, t, HI_DEEP_DUMP_NODE, m->index->node_list[s->first_node + i]);
	t = dump_table(m, "sites", "site");
	for (uint32_t i = 0; i < s->n_sites; i++)
		dump_id(m, t, HI_DEEP_DUMP_SITE, m->index->site_list[s->first_site + i]);
}

static void dump_site(struct hi_deep_maker *m, uint32_t id)
{
	const struct hi_deep_call_site *s = &m->profile->sites.items[id];

	dump_link(m, "function", HI_DEEP_DUMP_FUNCTION, s->function);
	hi_deep_fact_text(m, "kind", "kind", hi_deep_site_kind_text(s->kind), NULL);
	dump_link(m, "callee", HI_DEEP_DUMP_FUNCTION, s->callee);
	dump_text(m, "file", s->file);
	dump_number(m, "line", s->line);
	dump_text(m, "place", s->place);
}

static void dump_clique(struct hi_deep_maker *m, uint32_t id)
{
	const struct hi_deep_clique *c = &m->graph->cliques[id];
	struct hi_deep_table *t = dump_table(m, "members", "node");

	dump_link(m, "entry", HI_DEEP_DUMP_EDGE, c->entry);
	for (uint32_t i = 0; i < c->n_members; i++)
		dump_id(m, t, HI_DEEP_DUMP_NODE, m->graph->members[c->first_member + i]);
}

enum hi_status hi_deep_make_dump(struct hi_deep_maker *m, struct hi_error *err)
{
	const struct {
		const char *what;
		uint64_t count;
		void (*dump)(struct hi_deep_maker *m, uint32_t id);
	} kinds[] = {
		{"node", m->graph->n_nodes, dump_node},
		{"edge", m->graph->n_edges, dump_edge},
		{"function", m->profile->functions.count, dump_function},
		{"site", m->profile->sites.count, dump_site},
		{"clique", m->graph->n_cliques, dump_clique},
	};
	int kind = (int)(m->query->command - HI_DEEP_DUMP_NODE);
	uint32_t id = m->query->id;

	if (!id || id > kinds[kind].count)
		return hi_deep_fail_id(kinds[kind].what, id, kinds[kind].count, err);
	m->report->title = hi_deep_text(m, "Dump of %s %u", kinds[kind].what, id);
	kinds[kind].dump(m, id - 1);
	return HI_OK;
}

/* ---- all of it: a table of each kind, in the order of its numbers ---- */

/* The row's own number, and columns of others. */
static struct hi_deep_table *whole_table(struct hi_deep_maker *m, const char *key,
					 const char *const *columns)
{
	struct hi_deep_table *t = hi_deep_table(m, key, key);

	hi_deep_column(m, t, "id", "id", HI_COLUMN_WORD);
	for (; *columns; columns++)
		hi_deep_column(m, t, *columns, *columns, HI_COLUMN_WORD);
	return t;
}

static void dump_cell_link(struct hi_deep_maker *m, struct hi_deep_table *t,
			   enum hi_deep_command command, uint32_t n)
{
	if (n == HI_DEEP_NONE)
		hi_deep_cell_text(m, t, "none", 0, NULL);
	else
		dump_id(m, t, command, n);
}

static void dump_cell_text(struct hi_deep_maker *m, struct hi_deep_table *t,
			   uint32_t text)
{
	hi_deep_cell_text(m, t, hi_deep_profile_text(m->profile, text), 0, NULL);
}

static void add_cost_columns(struct hi_deep_maker *m, struct hi_deep_table *t,
			     const char *scope)
{
	for (int i = 0; i < HI_DEEP_COSTS; i++)
		if (m->profile->has[i]) {
			const char *key =
				hi_deep_text(m, "%s_%s", scope, hi_deep_cost_name(i));

			hi_deep_column(m, t, key, key, HI_COLUMN_COUNT);
		}
}

static void add_cost_cells(struct hi_deep_maker *m, struct hi_deep_table *t,
			   const struct hi_deep_costs *costs)
{
	for (int i = 0; i < HI_DEEP_COSTS; i++)
		if (m->profile->has[i])
			hi_deep_cell_number(m, t, costs->of[i]);
}

static void dump_functions(struct hi_deep_maker *m)
{
	static const char *const columns[] = {"name", "module",	  "file",
					      "line", "exported", NULL};
	struct hi_deep_table *t = whole_table(m, "functions", columns);

	for (uint32_t i = 0; i < m->profile->functions.count; i++) {
		const struct hi_deep_procedure *f = &m->profile->functions.items[i];

		dump_id(m, t, HI_DEEP_DUMP_FUNCTION, i);
		dump_cell_text(m, t, f->name);
		dump_cell_text(m, t, f->module);
		dump_cell_text(m, t, f->file);
		hi_deep_cell_number(m, t, f->line);
		hi_deep_cell_text(m, t, f->is_exported ? "yes" : "no", 0, NULL);
	}
}

static void dump_sites(struct hi_deep_maker *m)
{
	static const char *const columns[] = {"function", "kind",  "callee", "file",
					      "line",	  "place", NULL};
	struct hi_deep_table *t = whole_table(m, "sites", columns);

	for (uint32_t i = 0; i < m->profile->sites.count; i++) {
		const struct hi_deep_call_site *s = &m->profile->sites.items[i];

		dump_id(m, t, HI_DEEP_DUMP_SITE, i);
		dump_cell_link(m, t, HI_DEEP_DUMP_FUNCTION, s->function);
		hi_deep_cell_text(m, t, hi_deep_site_kind_text(s->kind), 0, NULL);
		dump_cell_link(m, t, HI_DEEP_DUMP_FUNCTION, s->callee);
		dump_cell_text(m, t, s->file);
		hi_deep_cell_number(m, t, s->line);
		dump_cell_text(m, t, s->place);
	}
}

static void dump_nodes(struct hi_deep_maker *m)
{
	static const char *const columns[] = {"function", "clique", NULL};
	struct hi_deep_table *t = whole_table(m, "nodes", columns);

	add_cost_columns(m, t, "own");
	add_cost_columns(m, t, "desc");
	for (uint32_t i = 0; i < m->graph->n_nodes; i++) {
		const struct hi_deep_node *node = &m->graph->nodes[i];

		dump_id(m, t, HI_DEEP_DUMP_NODE, i);
		dump_cell_link(m, t, HI_DEEP_DUMP_FUNCTION, node->function);
		dump_cell_link(m, t, HI_DEEP_DUMP_CLIQUE, node->clique);
		add_cost_cells(m, t, &node->own);
		add_cost_cells(m, t, &node->desc);
	}
}

static void dump_edges(struct hi_deep_maker *m)
{
	static const char *const columns[] = {"caller", "site", "callee", NULL};
	struct hi_deep_table *t = whole_table(m, "edges", columns);

	add_cost_columns(m, t, "own");
	add_cost_columns(m, t, "desc");
	for (uint32_t i = 0; i < m->graph->n_edges; i++) {
		const struct hi_deep_edge *e = &m->graph->edges[i];

		dump_id(m, t, HI_DEEP_DUMP_EDGE, i);
		dump_cell_link(m, t, HI_DEEP_DUMP_NODE, e->caller);
		dump_cell_link(m, t, HI_DEEP_DUMP_SITE, e->site);
		dump_cell_link(m, t, HI_DEEP_DUMP_NODE, e->callee);
		add_cost_cells(m, t, &e->own);
		add_cost_cells(m, t, &e->desc);
	}
}

/* The bytes that nodes allocate themselves, by call site. */
static void dump_leaves(struct hi_deep_maker *m)
{
	static const char *const columns[] = {"node", "site", NULL};
	struct hi_deep_table *t = whole_table(m, "leaves", columns);

	add_cost_columns(m, t, "own");
	for (uint32_t i = 0; i < m->graph->n_nodes; i++)
		for (uint32_t k = 0; k < m->graph->nodes[i].n_leaves; k++) {
			uint32_t n = m->graph->nodes[i].first_leaf + k;

			hi_deep_cell_text(m, t, hi_deep_text(m, "%u", n + 1), 0, NULL);
			dump_cell_link(m, t, HI_DEEP_DUMP_NODE, i);
			dump_cell_link(m, t, HI_DEEP_DUMP_SITE, m->graph->leaves[n].site);
			add_cost_cells(m, t, &m->graph->leaves[n].costs);
		}
}

static void dump_cliques(struct hi_deep_maker *m)
{
	static const char *const columns[] = {"entry", "members", NULL};
	struct hi_deep_table *t = whole_table(m, "cliques", columns);

	for (uint32_t i = 0; i < m->graph->n_cliques; i++) {
		const struct hi_deep_clique *c = &m->graph->cliques[i];

		dump_id(m, t, HI_DEEP_DUMP_CLIQUE, i);
		dump_cell_link(m, t, HI_DEEP_DUMP_EDGE, c->entry);
		hi_deep_cell_number(m, t, c->n_members);
	}
}

enum hi_status hi_deep_make_whole_dump(struct hi_deep_maker *m, struct hi_error *err)
{
	(void)err;
	m->report->title = "Dump";
	dump_functions(m);
	dump_sites(m);
	dump_nodes(m);
	dump_edges(m);
	dump_leaves(m);
	dump_cliques(m);
	return HI_OK;
}
