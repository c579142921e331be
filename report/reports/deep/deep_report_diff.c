/* SPDX-License-Identifier: BSD-2-Clause */
/* The difference of two deep profiles. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "report/function_name.h"
#include "report/parts/frame_items.h"
#include "report/reports/deep/deep_report_internal.h"

enum { MOST_FRAMES = 16, FRAME_NAME = 200 };

struct diff_row {
	uint64_t before, after;
	const char *name; /* breaks ties */
	uint32_t id;
};
struct diff_rows HI_VECTOR(struct diff_row);

/* ---- rows ---- */

static int64_t delta_of(const struct diff_row *row)
{
	return (int64_t)(row->after - row->before);
}

static uint64_t size_of_delta(const struct diff_row *row)
{
	return row->after > row->before ? row->after - row->before
					: row->before - row->after;
}

static int compare_diff_rows(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	uint64_t d = size_of_delta(x), e = size_of_delta(y);
	int order = (d < e) - (d > e);

	if (!order)
		order = (x->after < y->after) - (x->after > y->after);
	if (!order)
		order = strcmp(x->name, y->name);
	return order ? order : (x->id > y->id) - (x->id < y->id);
}

/* What neither of them has is left out. */
static void add_diff_row(struct hi_deep_maker *m, struct diff_rows *rows,
			 struct diff_row row)
{
	if ((row.before || row.after) && !hi_vector_push(rows, row))
		m->report->failed = true;
}

static uint64_t diff_cost(const struct hi_deep_maker *m, const struct hi_deep_costs *c)
{
	return c->of[m->cost == HI_DEEP_WORDS ? HI_DEEP_BYTES : m->cost];
}

static void list_diff_functions(struct hi_deep_maker *m, const struct hi_deep_diff *d,
				struct diff_rows *rows)
{
	size_t n = d->merged.functions.count;
	HI_GUARD(free) struct diff_row *sums = hi_calloc(n + 1, sizeof(*sums));

	if (!sums) {
		m->report->failed = true;
		return;
	}
	for (uint32_t i = 0; i < d->merged.graph.n_nodes; i++) {
		struct diff_row *row = &sums[d->merged.graph.nodes[i].function];

		row->before += diff_cost(m, &d->before.nodes[i].own);
		row->after += diff_cost(m, &d->after.nodes[i].own);
	}
	for (uint32_t i = 0; i < n; i++) {
		sums[i].id = i;
		sums[i].name = hi_deep_function_name(m, i);
		add_diff_row(m, rows, sums[i]);
	}
}

static void list_diff_places(struct hi_deep_maker *m, const struct hi_deep_diff *d,
			     struct diff_rows *rows)
{
	for (uint32_t i = 0; i < d->merged.graph.n_leaves; i++)
		add_diff_row(m, rows,
			     (struct diff_row){
				     .before = diff_cost(m, &d->before.leaves[i].costs),
				     .after = diff_cost(m, &d->after.leaves[i].costs),
				     .name = "",
				     .id = i});
}

/* ---- paths ---- */

/* "main a > load m3": functions from the outermost, each with the call site in it. Within
 * a clique it goes from where that was entered to the function itself. */
static const char *path_of_leaf(struct hi_deep_maker *m, const struct hi_deep_leaf *leaf)
{
	const struct hi_deep_graph *g = m->graph;
	uint32_t node = leaf->node, site = leaf->site, n = 0;
	const char *text = "";

	for (; node && n < MOST_FRAMES; n++) {
		uint32_t entry = g->cliques[g->nodes[node].clique].entry;
		const char *at = hi_deep_site_text(m, site), *first = "";

		if (entry != HI_DEEP_NONE && g->edges[entry].callee != node)
			first = hi_deep_text(
				m, "%.*s … ", FRAME_NAME,
				hi_deep_function_name(
					m, g->nodes[g->edges[entry].callee].function));
		text = hi_deep_text(m, "%s%.*s%s%.*s%s%.4000s", first, FRAME_NAME,
				    hi_deep_function_name(m, g->nodes[node].function),
				    *at ? " " : "", FRAME_NAME, at, *text ? " > " : "",
				    text);
		if (entry == HI_DEEP_NONE)
			break;
		node = g->edges[entry].caller;
		site = g->edges[entry].site;
	}
	return node && n == MOST_FRAMES ? hi_deep_text(m, "… > %s", text) : text;
}

/* Adds a function to the items of a path; the line of the row is its call site. */
static void add_path_item(struct hi_deep_maker *m, struct hi_frame_items *items,
			  struct hi_frame_row *row, uint32_t function, uint32_t site)
{
	const struct hi_deep_procedure *f = &m->profile->functions.items[function];

	*row = (struct hi_frame_row){.function = hi_deep_function_name(m, function),
				     .module =
					     hi_deep_profile_text(m->profile, f->module),
				     .file = hi_deep_profile_text(m->profile, f->file),
				     .line = site};
	hi_frame_items_add(items, row, 0, false);
}

/* "load m3 < … 3 frames of libstdc++ < main a": the innermost function first, with
 * frames of libraries folded. */
static const char *text_of_items(struct hi_deep_maker *m,
				 const struct hi_frame_items *items)
{
	const char *text = "";

	for (size_t i = 0; i < items->of.count; i++) {
		const struct hi_frame_item *item = &items->of.items[i];
		uint32_t site = item->row->line;
		const char *at = site == HI_DEEP_NONE ? "" : hi_deep_site_text(m, site);
		char name[HI_FUNCTION_SHORT_SIZE];

		text = item->n_folded > 1
			       ? hi_deep_text(m, "%.6000s%s… %zu frames of %s", text,
					      i ? " < " : "", item->n_folded,
					      item->libraries)
			       : hi_deep_text(m, "%.6000s%s%.*s%s%.*s", text,
					      i ? " < " : "", FRAME_NAME,
					      hi_function_short(item->row->function, name,
								sizeof(name)),
					      *at ? " " : "", FRAME_NAME, at);
	}
	return text;
}

static const char *shown_path_of_leaf(struct hi_deep_maker *m,
				      const struct hi_deep_leaf *leaf)
{
	const struct hi_deep_graph *g = m->graph;
	struct hi_frame_row rows[2 * MOST_FRAMES];
	struct hi_frame_items items = {.folds = true};
	uint32_t node = leaf->node, site = leaf->site, n = 0;
	const char *text;

	while (node && n + 1 < 2 * MOST_FRAMES) {
		uint32_t entry = g->cliques[g->nodes[node].clique].entry;

		add_path_item(m, &items, &rows[n++], g->nodes[node].function, site);
		if (entry == HI_DEEP_NONE)
			break;
		if (g->edges[entry].callee != node)
			add_path_item(m, &items, &rows[n++],
				      g->nodes[g->edges[entry].callee].function,
				      HI_DEEP_NONE);
		node = g->edges[entry].caller;
		site = g->edges[entry].site;
	}
	text = text_of_items(m, &items);
	m->report->failed |= items.failed;
	hi_frame_items_free(&items);
	return text;
}

/* ---- tables ---- */

static void add_diff_columns(struct hi_deep_maker *m, struct hi_deep_table *t)
{
	enum hi_column_kind kind =
		m->cost == HI_DEEP_BYTES ||
				(m->cost >= HI_DEEP_LIVE_BYTES && m->cost < HI_DEEP_COSTS)
			? HI_COLUMN_BYTES
			: HI_COLUMN_COUNT;

	hi_deep_column(m, t, "before", "before", kind);
	hi_deep_column(m, t, "after", "after", kind);
	hi_deep_column(m, t, "delta", "difference", kind);
}

static void add_diff_cells(struct hi_deep_maker *m, struct hi_deep_table *t,
			   const struct diff_row *row)
{
	hi_deep_cell_number(m, t, row->before);
	hi_deep_cell_number(m, t, row->after);
	hi_deep_cell_signed(m, t, delta_of(row));
}

static void note_left_out(struct hi_deep_maker *m, struct hi_deep_table *t,
			  const struct diff_rows *rows, uint32_t shown)
{
	int64_t rest = 0;

	if (rows->count <= shown)
		return;
	for (size_t i = shown; i < rows->count; i++)
		rest = (int64_t)((uint64_t)rest + (uint64_t)delta_of(&rows->items[i]));
	t->note = hi_deep_text(m, "%zu more, with a difference of %" PRId64 " in all",
			       rows->count - shown, rest);
}

static void add_diff_table(struct hi_deep_maker *m, const struct hi_deep_diff *d,
			   bool places, uint32_t limit)
{
	struct hi_deep_table *t =
		places ? hi_deep_table(m, "places", "By place in context")
		       : hi_deep_table(m, "functions", "By function");
	struct diff_rows rows = {};

	if (places)
		list_diff_places(m, d, &rows);
	else
		list_diff_functions(m, d, &rows);
	if (rows.count)
		qsort(rows.items, rows.count, sizeof(*rows.items), compare_diff_rows);
	hi_deep_column(m, t, places ? "path" : "function", places ? "path" : "function",
		       HI_COLUMN_TEXT);
	add_diff_columns(m, t);
	for (size_t i = 0; i < rows.count && i < limit; i++) {
		const struct diff_row *row = &rows.items[i];

		if (places)
			hi_deep_cell_shown(
				m, t, path_of_leaf(m, &m->graph->leaves[row->id]),
				shown_path_of_leaf(m, &m->graph->leaves[row->id]), 0,
				NULL);
		else
			hi_deep_cell_function(m, t, row->id, 0, NULL);
		add_diff_cells(m, t, row);
	}
	note_left_out(m, t, &rows, limit);
	hi_vector_free(&rows);
}

static void add_diff_total(struct hi_deep_maker *m, const struct hi_deep_diff *d)
{
	struct hi_deep_table *t = hi_deep_table(m, "total", "Total");
	struct diff_row total = {.before = diff_cost(m, &d->before.total),
				 .after = diff_cost(m, &d->after.total)};

	hi_deep_column(m, t, "cost", "", HI_COLUMN_WORD);
	add_diff_columns(m, t);
	hi_deep_cell_text(m, t, hi_deep_cost_name(m->cost), 0, NULL);
	add_diff_cells(m, t, &total);
}

enum hi_status hi_deep_diff_report(const struct hi_deep_diff *diff,
				   const struct hi_deep_query *query, uint32_t rows,
				   struct hi_deep_report **ret, struct hi_error *err)
{
	struct hi_deep_maker m = {.query = query,
				  .profile = &diff->merged,
				  .graph = &diff->merged.graph,
				  .cost = query->prefs.cost,
				  .module = HI_DEEP_NONE};
	struct hi_deep_report *report;
	enum hi_status status = hi_deep_need_cost(&m, m.cost, err);

	if (status)
		return status;
	if (m.cost == HI_DEEP_WORDS)
		m.cost = HI_DEEP_BYTES;
	m.report = report = hi_calloc(1, sizeof(*report));
	if (!report)
		return hi_fail_memory(err, "difference of deep profiles");
	report->query = "diff";
	report->title = "Difference of deep profiles";
	add_diff_total(&m, diff);
	add_diff_table(&m, diff, false, rows);
	add_diff_table(&m, diff, true, rows);
	if (report->failed) {
		hi_deep_report_destroy(report);
		return hi_fail_memory(err, "difference of deep profiles");
	}
	*ret = report;
	return HI_OK;
}
