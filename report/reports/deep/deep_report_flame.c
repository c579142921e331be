/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report of a deep profile that shows contexts as a tree: each clique is entered by
 * exactly one call, so cliques are one. A frame is a clique, its value what its members
 * cost with all that they call; most frames are single functions.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/reports/deep/deep_report_internal.h"

enum { FRAMES = 1500, ROWS = 40, MOST_INDENT = 20, NAME = 200 };

/* The cliques that are shown, and the tree that they are. */
struct flame_tree {
	struct hi_deep_maker *m;
	uint64_t *value; /* by clique */
	uint32_t *chosen;
	uint32_t n_chosen;
	uint32_t n_below; /* with a value, at or below the first one */
	int32_t *box;	  /* by clique: its number among the frames; -1: none */
};

static uint32_t parent_clique(const struct hi_deep_graph *g, uint32_t clique)
{
	uint32_t entry = g->cliques[clique].entry;

	return entry == HI_DEEP_NONE ? HI_DEEP_NONE
				     : g->nodes[g->edges[entry].caller].clique;
}

static void sum_cliques(struct flame_tree *t)
{
	const struct hi_deep_graph *g = t->m->graph;

	for (uint32_t i = 0; i < g->n_nodes; i++)
		t->value[g->nodes[i].clique] += hi_deep_value(
			&g->nodes[i].own, &g->nodes[i].desc, t->m->cost, false);
}

/* Largest first; of equal ones the outer one, which has the larger number. */
static int by_flame_value(const void *a, const void *b, void *arg)
{
	const uint64_t *value = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return value[x] != value[y] ? (value[x] < value[y] ? 1 : -1) : (x < y) - (x > y);
}

/* A clique costs no more than what calls it: what is chosen is a tree. */
static void choose_cliques(struct flame_tree *t, uint32_t top)
{
	const struct hi_deep_graph *g = t->m->graph;

	/* From the root down: cliques come bottom-up. box: 0 at or below the top. */
	for (uint32_t i = g->n_cliques; i-- > 0;) {
		uint32_t up = parent_clique(g, i);

		t->box[i] = i == top || (up != HI_DEEP_NONE && t->box[up] == 0) ? 0 : -1;
		if (t->box[i] == 0 && t->value[i])
			t->chosen[t->n_below++] = i;
	}
	qsort_r(t->chosen, t->n_below, sizeof(*t->chosen), by_flame_value, t->value);
	t->n_chosen = t->n_below < FRAMES ? t->n_below : FRAMES;
}

/* "parse"; "expr and 2 more (recursive)". */
static const char *name_of_frame(struct hi_deep_maker *m, uint32_t clique, bool is_short)
{
	const struct hi_deep_clique *c = &m->graph->cliques[clique];
	const char *name;
	uint32_t function;

	if (c->entry == HI_DEEP_NONE)
		return "(all)";
	function = m->graph->nodes[m->graph->edges[c->entry].callee].function;
	name = hi_deep_text(m, "%.*s", NAME,
			    is_short ? hi_deep_function_short(m, function)
				     : hi_deep_function_name(m, function));
	return c->n_members == 1 ? name
				 : hi_deep_text(m, "%s and %u more (recursive)", name,
						c->n_members - 1);
}

/* The module that all members of a clique have. */
static const char *module_of_clique(struct hi_deep_maker *m, uint32_t clique)
{
	const struct hi_deep_clique *c = &m->graph->cliques[clique];
	const struct hi_deep_procedure *functions = m->profile->functions.items;
	uint32_t module = 0;

	for (uint32_t i = 0; c->entry != HI_DEEP_NONE && i < c->n_members; i++) {
		uint32_t node = m->graph->members[c->first_member + i];
		uint32_t of = functions[m->graph->nodes[node].function].module;

		if (i && of != module)
			return "";
		module = of;
	}
	return hi_deep_profile_text(m->profile, module);
}

static void add_frames(struct flame_tree *t)
{
	struct hi_deep_maker *m = t->m;

	for (uint32_t i = 0; i < t->n_chosen; i++)
		t->box[t->chosen[i]] = -1;
	for (uint32_t i = 0; i < t->n_chosen; i++) {
		uint32_t clique = t->chosen[i], up = parent_clique(m->graph, clique);
		int32_t parent = i && up != HI_DEEP_NONE ? t->box[up] : -1;
		struct hi_deep_frame_box frame = {
			.parent = parent,
			.depth = i ? m->report->flame.items[parent].depth + 1 : 0,
			.value = t->value[clique],
			.name = name_of_frame(m, clique, false),
			.shown = name_of_frame(m, clique, true),
			.link = hi_deep_link(m, HI_DEEP_CLIQUE, clique),
			.module = module_of_clique(m, clique)};

		t->box[clique] = (int32_t)i;
		if (!hi_vector_push(&m->report->flame, frame)) {
			m->report->failed = true;
			return;
		}
	}
}

/* ---- other costs ---- */

static void add_flame_costs(struct hi_deep_maker *m)
{
	static const int costs[] = {HI_DEEP_BYTES, HI_DEEP_LIVE_BYTES,
				    HI_DEEP_LEAKED_BYTES, HI_DEEP_DRAG_BYTES,
				    HI_DEEP_RETAINED_BYTES};
	struct hi_deep_query query;

	for (size_t i = 0; i < sizeof(costs) / sizeof(*costs); i++) {
		const char *name = hi_deep_cost_name(costs[i]);

		if (hi_deep_need_cost(m, costs[i], NULL))
			continue;
		hi_deep_fact_number(m, name, name, HI_COLUMN_BYTES,
				    m->graph->total.of[costs[i]]);
		hi_deep_link_init(m, &query);
		query.command = HI_DEEP_FLAME;
		query.cost = costs[i];
		if (m->report->facts.count && costs[i] != m->cost)
			m->report->facts.items[m->report->facts.count - 1].cell.link =
				hi_deep_link_of(m, &query);
	}
}

/* ---- the largest ones as a table, depth first ---- */

static const char *zoom_link(struct hi_deep_maker *m, uint32_t clique)
{
	struct hi_deep_query query;

	hi_deep_link_init(m, &query);
	query.command = HI_DEEP_FLAME;
	query.cost = m->cost;
	query.id = clique + 1;
	return hi_deep_link_of(m, &query);
}

static void add_flame_row(struct flame_tree *t, struct hi_deep_table *table, uint32_t i)
{
	struct hi_deep_maker *m = t->m;
	const struct hi_deep_frame_box *frame = &m->report->flame.items[i];
	const struct hi_deep_clique *c = &m->graph->cliques[t->chosen[i]];
	uint64_t own = 0;

	for (uint32_t k = 0; k < c->n_members; k++) {
		const struct hi_deep_node *node =
			&m->graph->nodes[m->graph->members[c->first_member + k]];

		own += hi_deep_value(&node->own, &node->desc, m->cost, true);
	}
	hi_deep_cell_shown(m, table, frame->name, frame->shown,
			   frame->depth < MOST_INDENT ? frame->depth : MOST_INDENT,
			   i ? zoom_link(m, t->chosen[i]) : NULL);
	hi_deep_cell_number(m, table, frame->value);
	hi_deep_cell_ratio(m, table, frame->value, m->report->flame.items[0].value);
	hi_deep_cell_number(m, table, own);
	hi_deep_cell_number(m, table, frame->depth);
	hi_deep_cell_dump(m, table, HI_DEEP_CLIQUE, t->chosen[i]);
}

/* The first frames are the largest; of these each has its children behind it, largest
 * first. */
static void add_flame_rows(struct flame_tree *t, struct hi_deep_table *table)
{
	const struct hi_deep_frame_box *frames = t->m->report->flame.items;
	int32_t n = (int32_t)(t->n_chosen < ROWS ? t->n_chosen : ROWS);
	int32_t stack[ROWS], depth = 0;

	if (t->m->report->failed || !n)
		return;
	stack[depth++] = 0;
	while (depth) {
		int32_t at = stack[--depth];

		add_flame_row(t, table, (uint32_t)at);
		for (int32_t i = n - 1; i > at; i--)
			if (frames[i].parent == at)
				stack[depth++] = i;
	}
}

static void add_flame_table(struct flame_tree *t)
{
	struct hi_deep_maker *m = t->m;
	struct hi_deep_table *table = hi_deep_table(m, "contexts", "Largest contexts");
	enum hi_column_kind kind = m->report->flame_kind;

	hi_deep_column(m, table, "function", "function", HI_COLUMN_TEXT);
	hi_deep_column(m, table, "total", hi_deep_cost_name(m->cost), kind);
	hi_deep_column(m, table, "share", "share", HI_COLUMN_PERCENT);
	hi_deep_column(m, table, "own", "by itself", kind);
	hi_deep_column(m, table, "depth", "depth", HI_COLUMN_MINOR_COUNT);
	hi_deep_column(m, table, "clique", "clique", HI_COLUMN_WORD);
	add_flame_rows(t, table);
	if (t->n_below > ROWS)
		table->note = hi_deep_text(m, "%u smaller contexts are left out",
					   t->n_below - ROWS);
}

static bool is_of_bytes(int cost)
{
	return cost == HI_DEEP_BYTES || cost == HI_DEEP_LIVE_BYTES ||
	       cost == HI_DEEP_LEAKED_BYTES || cost == HI_DEEP_DRAG_BYTES ||
	       cost == HI_DEEP_RETAINED_BYTES || cost == HI_DEEP_WORDS;
}

enum hi_status hi_deep_make_flame(struct hi_deep_maker *m, struct hi_error *err)
{
	uint32_t n = m->graph->n_cliques, id = m->query->id;
	struct flame_tree t = {.m = m};

	if (id > n)
		return hi_deep_fail_id("clique", id, n, err);
	t.value = hi_calloc((size_t)n + 1, sizeof(*t.value));
	t.chosen = hi_calloc((size_t)n + 1, sizeof(*t.chosen));
	t.box = hi_calloc((size_t)n + 1, sizeof(*t.box));
	m->report->flame_kind = is_of_bytes(m->cost) ? HI_COLUMN_BYTES : HI_COLUMN_COUNT;
	m->report->title = hi_deep_text(m, "Contexts by %s", hi_deep_cost_name(m->cost));
	add_flame_costs(m);
	if (t.value && t.chosen && t.box && n) {
		sum_cliques(&t);
		/* The root's clique is the last one. */
		choose_cliques(&t, id ? id - 1 : n - 1);
		add_frames(&t);
		add_flame_table(&t);
	} else if (n) {
		m->report->failed = true;
	}
	free(t.value);
	free(t.chosen);
	free(t.box);
	return HI_OK;
}
