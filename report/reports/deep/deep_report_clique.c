/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports of a deep profile by clique: the root, a clique, and recursion. */
#include <inttypes.h>

#include "base/number.h"
#include "base/table.h"
#include "report/reports/deep/deep_report_internal.h"

enum { MOST_NAMES = 3, TITLE_NAME = 100 };

static const struct hi_deep_costs no_costs;

static uint32_t member_node(const struct hi_deep_maker *m, const struct hi_deep_clique *c,
			    uint32_t i)
{
	return m->graph->members[c->first_member + i];
}

/* What the clique costs with all that it calls. */
static void clique_costs(const struct hi_deep_maker *m, const struct hi_deep_clique *c,
			 struct hi_deep_costs *own, struct hi_deep_costs *desc)
{
	*own = *desc = no_costs;
	for (uint32_t i = 0; i < c->n_members; i++) {
		const struct hi_deep_node *node = &m->graph->nodes[member_node(m, c, i)];

		hi_deep_costs_add(own, &node->own);
		hi_deep_costs_add(desc, &node->desc);
	}
}

static const char *clique_names(struct hi_deep_maker *m, const struct hi_deep_clique *c)
{
	const char *text = "";

	for (uint32_t i = 0; i < c->n_members && i < MOST_NAMES; i++) {
		uint32_t f = m->graph->nodes[member_node(m, c, i)].function;

		text = hi_deep_text(m, "%s%s%.*s", text, i ? ", " : "", TITLE_NAME,
				    hi_deep_function_name(m, f));
	}
	return c->n_members <= MOST_NAMES ? text
					  : hi_deep_text(m, "%s and %u more", text,
							 c->n_members - MOST_NAMES);
}

/* ---- calls ---- */

static void add_call_columns(struct hi_deep_maker *m, struct hi_deep_table *t)
{
	hi_deep_column(m, t, "caller", "caller", HI_COLUMN_TEXT);
	hi_deep_column(m, t, "site", "at", HI_COLUMN_TEXT);
	hi_deep_column(m, t, "callee", "calls", HI_COLUMN_TEXT);
	hi_deep_column(m, t, "kind", "kind", HI_COLUMN_MINOR_FIGURE);
	hi_deep_cost_columns(m, t);
	if (m->query->prefs.developer)
		hi_deep_column(m, t, "dump", "dump", HI_COLUMN_WORD);
}

static void add_call_dump(struct hi_deep_maker *m, struct hi_deep_table *t, uint32_t edge)
{
	if (m->query->prefs.developer)
		hi_deep_cell_dump(m, t, HI_DEEP_DUMP_EDGE, edge);
}

/* up: the link is that of the caller's clique, which is where one comes from. */
static void add_call_row(struct hi_deep_maker *m, struct hi_deep_table *t, uint32_t edge,
			 bool up)
{
	const struct hi_deep_edge *e = &m->graph->edges[edge];
	const struct hi_deep_node *caller = &m->graph->nodes[e->caller],
				  *callee = &m->graph->nodes[e->callee];
	bool inside = caller->clique == callee->clique;
	const char *callee_link =
		inside ? hi_deep_link(m, HI_DEEP_PROC, callee->function)
		       : hi_deep_link(m, HI_DEEP_CLIQUE, callee->clique);

	hi_deep_cell_function(m, t, caller->function, 0,
			      up ? hi_deep_link(m, HI_DEEP_CLIQUE, caller->clique)
				 : NULL);
	hi_deep_cell_text(m, t, hi_deep_site_text(m, e->site), 0, NULL);
	hi_deep_cell_function(m, t, callee->function, 0, up ? NULL : callee_link);
	hi_deep_kind_cell(m, t, e->site);
	hi_deep_cost_cells(m, t, &e->own, &e->desc);
	add_call_dump(m, t, edge);
}

static void add_leaf_row(struct hi_deep_maker *m, struct hi_deep_table *t,
			 const struct hi_deep_leaf *leaf)
{
	hi_deep_cell_function(m, t, m->graph->nodes[leaf->node].function, 0, NULL);
	hi_deep_cell_text(m, t, hi_deep_site_text(m, leaf->site), 0, NULL);
	hi_deep_cell_function(m, t, HI_DEEP_ALLOCATOR, 0, NULL);
	hi_deep_kind_cell(m, t, leaf->site);
	hi_deep_cost_cells(m, t, &leaf->costs, &no_costs);
	add_call_dump(m, t, HI_DEEP_NONE);
}

/* ---- a clique ---- */

/* Outermost first, as in a stack. */
static void add_ancestors(struct hi_deep_maker *m, const struct hi_deep_clique *c)
{
	struct HI_VECTOR(uint32_t) entries = {};
	struct hi_deep_table *t = hi_deep_table(m, "ancestors", "Called by");
	uint32_t limit = m->query->prefs.ancestors, n = 0;

	for (; c->entry != HI_DEEP_NONE; n++) {
		const struct hi_deep_edge *e = &m->graph->edges[c->entry];

		if (n < limit && !hi_vector_push(&entries, c->entry))
			m->report->failed = true;
		c = &m->graph->cliques[m->graph->nodes[e->caller].clique];
	}
	t->aside = "outermost first";
	add_call_columns(m, t);
	for (size_t i = entries.count; i > 0; i--)
		add_call_row(m, t, entries.items[i - 1], true);
	if (n > entries.count)
		t->note = hi_deep_text(m, "%u more above (ancestors=%u)",
				       n - (uint32_t)entries.count, n);
	hi_vector_free(&entries);
}

static void add_clique_members(struct hi_deep_maker *m, const struct hi_deep_clique *c)
{
	struct hi_deep_table *t = hi_deep_table(m, "members", "Functions of the clique");
	struct hi_deep_rows rows = {};

	for (uint32_t i = 0; i < c->n_members; i++) {
		const struct hi_deep_node *node = &m->graph->nodes[member_node(m, c, i)];

		hi_deep_add_row(m, &rows,
				(struct hi_deep_row){
					.own = node->own,
					.desc = node->desc,
					.name = hi_deep_function_name(m, node->function),
					.a = member_node(m, c, i),
					.b = node->function});
	}
	hi_deep_sort_rows(m, &rows);
	hi_deep_column(m, t, "function", "function", HI_COLUMN_TEXT);
	hi_deep_cost_columns(m, t);
	if (m->query->prefs.developer)
		hi_deep_column(m, t, "dump", "dump", HI_COLUMN_WORD);
	for (size_t i = 0; i < rows.count; i++) {
		const struct hi_deep_row *row = &rows.items[i];

		hi_deep_cell_function(m, t, row->b, 0,
				      hi_deep_link(m, HI_DEEP_PROC, row->b));
		hi_deep_cost_cells(m, t, &row->own, &row->desc);
		if (m->query->prefs.developer)
			hi_deep_cell_dump(m, t, HI_DEEP_DUMP_NODE, row->a);
	}
	hi_vector_free(&rows);
}

/* Edges out of a node, and its calls of the allocator (b = 1). */
static void list_calls(struct hi_deep_maker *m, uint32_t id, struct hi_deep_rows *rows)
{
	const struct hi_deep_node *node = &m->graph->nodes[id];

	for (uint32_t i = 0; i < node->n_edges; i++) {
		uint32_t edge = node->first_edge + i;
		const struct hi_deep_edge *e = &m->graph->edges[edge];
		uint32_t callee = m->graph->nodes[e->callee].function;

		hi_deep_add_row(
			m, rows,
			(struct hi_deep_row){.own = e->own,
					     .desc = e->desc,
					     .name = hi_deep_function_name(m, callee),
					     .a = edge});
	}
	for (uint32_t i = 0; i < node->n_leaves; i++) {
		uint32_t leaf = node->first_leaf + i;

		hi_deep_add_row(m, rows,
				(struct hi_deep_row){.own = m->graph->leaves[leaf].costs,
						     .name = hi_deep_function_name(
							     m, HI_DEEP_ALLOCATOR),
						     .a = leaf,
						     .b = 1});
	}
}

static void add_clique_calls(struct hi_deep_maker *m, const struct hi_deep_clique *c)
{
	struct hi_deep_table *t = hi_deep_table(m, "calls", "Calls");
	struct hi_deep_rows rows = {};

	for (uint32_t i = 0; i < c->n_members; i++)
		list_calls(m, member_node(m, c, i), &rows);
	hi_deep_sort_rows(m, &rows);
	add_call_columns(m, t);
	for (size_t i = 0; i < rows.count && i < HI_DEEP_MOST_ROWS; i++) {
		if (rows.items[i].b)
			add_leaf_row(m, t, &m->graph->leaves[rows.items[i].a]);
		else
			add_call_row(m, t, rows.items[i].a, false);
	}
	if (rows.count > HI_DEEP_MOST_ROWS)
		t->note = hi_deep_text(m, "%zu more are left out",
				       rows.count - HI_DEEP_MOST_ROWS);
	hi_vector_free(&rows);
}

/* That of the first function. */
static uint32_t clique_module(const struct hi_deep_maker *m,
			      const struct hi_deep_clique *c)
{
	uint32_t function = m->graph->nodes[member_node(m, c, 0)].function;

	return m->profile->functions.items[function].module;
}

static void make_clique_report(struct hi_deep_maker *m, uint32_t id)
{
	const struct hi_deep_clique *c = &m->graph->cliques[id];
	struct hi_deep_costs own, desc;

	clique_costs(m, c, &own, &desc);
	m->module = clique_module(m, c);
	hi_deep_fact_text(m, "clique", "clique", hi_deep_text(m, "%u", id + 1),
			  m->query->prefs.developer
				  ? hi_deep_link(m, HI_DEEP_DUMP_CLIQUE, id)
				  : NULL);
	hi_deep_fact_number(m, "members", "functions", HI_COLUMN_COUNT, c->n_members);
	hi_deep_fact_costs(m, &own, &desc);
	hi_deep_fact_text(m, "recursion", "recursion", "costs of its calls",
			  hi_deep_link(m, HI_DEEP_CLIQUE_RC, id));
	add_ancestors(m, c);
	add_clique_members(m, c);
	add_clique_calls(m, c);
}

static bool is_clique_id(const struct hi_deep_maker *m)
{
	return m->query->id && m->query->id <= m->graph->n_cliques;
}

enum hi_status hi_deep_make_clique(struct hi_deep_maker *m, struct hi_error *err)
{
	uint32_t id = m->query->id - 1;

	if (!is_clique_id(m))
		return hi_deep_fail_id("clique", m->query->id, m->graph->n_cliques, err);
	m->report->title =
		hi_deep_text(m, "Clique of %s", clique_names(m, &m->graph->cliques[id]));
	make_clique_report(m, id);
	return HI_OK;
}

/* ---- the root ---- */

static bool is_large_call(const struct hi_deep_maker *m, const struct hi_deep_edge *e)
{
	int cost = m->cost == HI_DEEP_WORDS ? HI_DEEP_BYTES : m->cost;

	return (unsigned __int128)hi_deep_value(&e->own, &e->desc, cost, false) * 100 >=
		       (unsigned __int128)m->graph->total.of[cost] * m->query->percent &&
	       m->graph->total.of[cost];
}

/* The only clique that is called from this one and has enough; HI_DEEP_NONE: none, or
 * several. */
static uint32_t only_large_child(const struct hi_deep_maker *m, uint32_t clique)
{
	const struct hi_deep_clique *c = &m->graph->cliques[clique];
	uint32_t found = HI_DEEP_NONE;

	for (uint32_t i = 0; i < c->n_members; i++) {
		const struct hi_deep_node *node = &m->graph->nodes[member_node(m, c, i)];

		for (uint32_t k = 0; k < node->n_edges; k++) {
			const struct hi_deep_edge *e =
				&m->graph->edges[node->first_edge + k];
			uint32_t child = m->graph->nodes[e->callee].clique;

			if (child == clique || !is_large_call(m, e))
				continue;
			if (found != HI_DEEP_NONE)
				return HI_DEEP_NONE;
			found = child;
		}
	}
	return found;
}

enum hi_status hi_deep_make_root(struct hi_deep_maker *m, struct hi_error *err)
{
	uint32_t clique = m->graph->nodes[0].clique, next = clique;

	(void)err;
	while (m->query->percent && next != HI_DEEP_NONE) {
		clique = next;
		next = only_large_child(m, clique);
	}
	m->report->title =
		m->query->percent
			? hi_deep_text(m, "Where the action starts: %s",
				       clique_names(m, &m->graph->cliques[clique]))
			: "Root";
	if (m->query->percent)
		m->report->aside =
			hi_deep_text(m, "down while exactly one call has %u %% of %s",
				     m->query->percent, hi_deep_cost_name(m->cost));
	make_clique_report(m, clique);
	return HI_OK;
}

/* ---- recursion ---- */

enum { NOT_RECURSIVE, SINGLE, DIVIDE, MUTUAL }; /* MUTUAL + n: of n functions */

/* How many call sites of the node call it again; each does so once at most. */
static uint32_t count_recursive_sites(const struct hi_deep_maker *m, uint32_t id)
{
	const struct hi_deep_node *node = &m->graph->nodes[id];
	uint32_t n = 0;

	for (uint32_t i = 0; i < node->n_edges; i++)
		n += m->graph->edges[node->first_edge + i].callee == id;
	return n;
}

static uint32_t recursion_type(const struct hi_deep_maker *m,
			       const struct hi_deep_clique *c)
{
	if (c->n_members > 1)
		return MUTUAL + c->n_members;
	return (uint32_t)hi_min(count_recursive_sites(m, member_node(m, c, 0)), DIVIDE);
}

static const char *recursion_text(struct hi_deep_maker *m, uint32_t type)
{
	static const char *const texts[] = {
		[NOT_RECURSIVE] = "none",
		[SINGLE] = "single: it calls itself at one place, as along a list",
		[DIVIDE] = "divide and conquer: it calls itself at several places, as in "
			   "a tree"};

	return type < MUTUAL ? texts[type]
			     : hi_deep_text(m, "mutual, of %u functions", type - MUTUAL);
}

static void add_recursive_calls(struct hi_deep_maker *m, const struct hi_deep_clique *c,
				struct hi_deep_costs *recursive)
{
	struct hi_deep_table *t = hi_deep_table(m, "recursive", "Recursive calls");
	uint32_t shown = 0;

	add_call_columns(m, t);
	for (uint32_t i = 0; i < c->n_members; i++) {
		const struct hi_deep_node *node = &m->graph->nodes[member_node(m, c, i)];

		for (uint32_t k = 0; k < node->n_edges; k++) {
			const struct hi_deep_edge *e =
				&m->graph->edges[node->first_edge + k];

			if (m->graph->nodes[e->callee].clique != node->clique)
				continue;
			hi_deep_costs_add(recursive, &e->own);
			if (shown++ < HI_DEEP_MOST_ROWS)
				add_call_row(m, t, node->first_edge + k, false);
		}
	}
}

static void add_entry_call(struct hi_deep_maker *m, const struct hi_deep_clique *c)
{
	struct hi_deep_table *t = hi_deep_table(m, "entry", "Entry");

	t->aside = "self: what the first call did before it called again, and after";
	add_call_columns(m, t);
	if (c->entry != HI_DEEP_NONE)
		add_call_row(m, t, c->entry, true);
}

static void add_depths(struct hi_deep_maker *m, uint32_t clique)
{
	size_t n;
	const struct hi_deep_depth *rows =
		hi_deep_depths_of(&m->profile->depths, clique, &n);
	struct hi_deep_table *t;

	if (!n) {
		hi_deep_note(m, "how deep calls were is not known: calls of all depths "
				"are one node, and this profile has no count beside that "
				"(data of Mercury, or a sum of profiles in which several "
				"cliques have become this one)");
		return;
	}
	t = hi_deep_table(m, "depths", "How deep");
	t->aside = "calls of the clique on the stack of an allocation in it, or further "
		   "down";
	hi_deep_column(m, t, "depth", "depth", HI_COLUMN_COUNT);
	hi_deep_column(m, t, "allocs", "objects", HI_COLUMN_COUNT);
	hi_deep_column(m, t, "bytes", "bytes", HI_COLUMN_BYTES);
	hi_deep_column(m, t, "share", "share", HI_COLUMN_PERCENT);
	for (size_t i = 0; i < n; i++) {
		hi_deep_cell_number(m, t, rows[i].depth);
		hi_deep_cell_number(m, t, rows[i].allocs);
		hi_deep_cell_number(m, t, rows[i].bytes);
		hi_deep_cell_ratio(m, t, rows[i].bytes,
				   m->graph->total.of[HI_DEEP_BYTES]);
	}
}

enum hi_status hi_deep_make_clique_rc(struct hi_deep_maker *m, struct hi_error *err)
{
	struct hi_deep_costs recursive = {}, base = {};
	const struct hi_deep_clique *c;
	uint32_t id = m->query->id - 1;

	if (!is_clique_id(m))
		return hi_deep_fail_id("clique", m->query->id, m->graph->n_cliques, err);
	c = &m->graph->cliques[id];
	m->module = clique_module(m, c);
	m->report->title = hi_deep_text(m, "Recursion of %s", clique_names(m, c));
	hi_deep_fact_text(m, "clique", "clique", hi_deep_text(m, "%u", id + 1),
			  hi_deep_link(m, HI_DEEP_CLIQUE, id));
	hi_deep_fact_text(m, "type", "recursion", recursion_text(m, recursion_type(m, c)),
			  NULL);
	add_entry_call(m, c);
	add_recursive_calls(m, c, &recursive);
	if (c->entry != HI_DEEP_NONE)
		base = m->graph->edges[c->entry].own;
	hi_deep_fact_number(m, "base", "in the first call", HI_COLUMN_BYTES,
			    base.of[HI_DEEP_BYTES]);
	hi_deep_fact_number(m, "recursive", "in recursive calls", HI_COLUMN_BYTES,
			    recursive.of[HI_DEEP_BYTES]);
	if (recursion_type(m, c) != NOT_RECURSIVE)
		add_depths(m, id);
	return HI_OK;
}

/* A row for each type (a) and function (b) that enters cliques of it (n), in that order.
 */
static void list_recursion(struct hi_deep_maker *m, struct hi_deep_rows *rows)
{
	struct hi_table row_of = {};

	for (uint32_t i = 0; i < m->graph->n_cliques && !m->report->failed; i++) {
		const struct hi_deep_clique *c = &m->graph->cliques[i];
		struct hi_deep_row row = {.a = recursion_type(m, c), .n = 1};
		uint64_t key, at = 0;

		if (c->entry == HI_DEEP_NONE)
			continue;
		row.b = m->graph->nodes[m->graph->edges[c->entry].callee].function;
		clique_costs(m, c, &row.own, &row.desc);
		key = (uint64_t)row.a << 32 | row.b;
		if (hi_table_get(&row_of, key, &at)) {
			hi_deep_costs_add(&rows->items[at].own, &row.own);
			hi_deep_costs_add(&rows->items[at].desc, &row.desc);
			rows->items[at].n++;
			continue;
		}
		row.name = hi_deep_function_name(m, row.b);
		if (!hi_table_put(&row_of, key, rows->count))
			m->report->failed = true;
		hi_deep_add_row(m, rows, row);
	}
	hi_table_free(&row_of);
	hi_deep_merge_rows(rows);
}

/* A row for each type: its rows [first, first + n) of those; b: cliques. */
static void list_recursion_types(struct hi_deep_maker *m, const struct hi_deep_rows *rows,
				 struct hi_deep_rows *types)
{
	for (size_t i = 0, end; i < rows->count; i = end) {
		struct hi_deep_row type = {.a = rows->items[i].a, .first = (uint32_t)i};

		/* No sum of `desc`: cliques are within each other. */
		for (end = i; end < rows->count && rows->items[end].a == type.a; end++) {
			hi_deep_costs_add(&type.own, &rows->items[end].own);
			type.b += rows->items[end].n;
			type.n++;
		}
		hi_deep_add_row(m, types, type);
	}
}

static void add_recursion_functions(struct hi_deep_maker *m,
				    const struct hi_deep_row *type,
				    const struct hi_deep_rows *all)
{
	struct hi_deep_rows rows = {};
	struct hi_deep_table *t = hi_deep_table(
		m, hi_deep_text(m, "type_%u", type->a),
		hi_deep_text(m, "Recursion: %s", recursion_text(m, type->a)));
	uint32_t limit = m->query->prefs.per_type;

	for (uint32_t i = 0; i < type->n; i++)
		hi_deep_add_row(m, &rows, all->items[type->first + i]);
	hi_deep_sort_rows(m, &rows);
	hi_deep_column(m, t, "function", "entered by", HI_COLUMN_TEXT);
	hi_deep_column(m, t, "cliques", "cliques", HI_COLUMN_COUNT);
	hi_deep_cost_columns(m, t);
	for (size_t i = 0; i < rows.count && i < limit; i++) {
		const struct hi_deep_row *row = &rows.items[i];

		hi_deep_cell_function(m, t, row->b, 0,
				      hi_deep_link(m, HI_DEEP_PROC, row->b));
		hi_deep_cell_number(m, t, row->n);
		hi_deep_cost_cells(m, t, &row->own, &row->desc);
	}
	if (rows.count > limit)
		t->note = hi_deep_text(m, "%zu more (per_type=%zu)", rows.count - limit,
				       rows.count);
	hi_vector_free(&rows);
}

static void add_recursion_types(struct hi_deep_maker *m, const struct hi_deep_rows *types)
{
	struct hi_deep_table *t = hi_deep_table(m, "types", "Kinds of recursion");

	hi_deep_column(m, t, "type", "recursion", HI_COLUMN_TEXT);
	hi_deep_column(m, t, "cliques", "cliques", HI_COLUMN_COUNT);
	hi_deep_column(m, t, "cliques_share", "of all", HI_COLUMN_PERCENT);
	hi_deep_column(m, t, "own_bytes", "self bytes", HI_COLUMN_BYTES);
	for (size_t i = 0; i < types->count; i++) {
		const struct hi_deep_row *type = &types->items[i];

		hi_deep_cell_text(m, t, recursion_text(m, type->a), 0, NULL);
		hi_deep_cell_number(m, t, type->b);
		hi_deep_cell_ratio(m, t, type->b, m->graph->n_cliques - 1);
		hi_deep_cell_number(m, t, type->own.of[HI_DEEP_BYTES]);
	}
}

enum hi_status hi_deep_make_recursion(struct hi_deep_maker *m, struct hi_error *err)
{
	enum { MOST_TYPES = 20 };
	struct hi_deep_rows rows = {}, types = {};

	(void)err;
	m->report->title = "Recursion";
	list_recursion(m, &rows);
	list_recursion_types(m, &rows, &types);
	add_recursion_types(m, &types);
	for (size_t i = 0; i < types.count && i < MOST_TYPES; i++)
		add_recursion_functions(m, &types.items[i], &rows);
	if (types.count > MOST_TYPES)
		hi_deep_note(m,
			     hi_deep_text(m, "functions of %zu more kinds are left out",
					  types.count - MOST_TYPES));
	hi_vector_free(&rows);
	hi_vector_free(&types);
	return HI_OK;
}
