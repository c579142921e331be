/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports of a deep profile by module, and the top functions. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/reports/deep/deep_report_internal.h"

static void note_hidden(struct hi_deep_maker *m, struct hi_deep_table *t, uint64_t hidden,
			const char *what)
{
	if (hidden)
		t->note = hi_deep_text(m,
				       "%" PRIu64 " without any cost are left out "
				       "(inactive=%s)",
				       hidden, what);
}

static void add_function_columns(struct hi_deep_maker *m, struct hi_deep_table *t)
{
	hi_deep_column(m, t, "function", "function", HI_COLUMN_TEXT);
	hi_deep_cost_columns(m, t);
	if (m->query->prefs.developer)
		hi_deep_column(m, t, "dump", "dump", HI_COLUMN_WORD);
}

static void add_function_cells(struct hi_deep_maker *m, struct hi_deep_table *t,
			       const struct hi_deep_row *row)
{
	hi_deep_cell_function(m, t, row->a, 0, hi_deep_link(m, HI_DEEP_PROC, row->a));
	hi_deep_cost_cells(m, t, &row->own, &row->desc);
	if (m->query->prefs.developer)
		hi_deep_cell_dump(m, t, HI_DEEP_DUMP_FUNCTION, row->a);
}

/* Sorted; returns how many were left out since they have no costs. */
static uint64_t list_functions(struct hi_deep_maker *m, const uint32_t *functions,
			       uint32_t n, struct hi_deep_rows *rows)
{
	uint64_t hidden = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t f = functions[i];
		const struct hi_deep_function_sums *s = &m->index->functions[f];

		if (!m->query->prefs.inactive_procs &&
		    !hi_deep_is_active(&s->own, &s->desc))
			hidden++;
		else
			hi_deep_add_row(
				m, rows,
				(struct hi_deep_row){.own = s->own,
						     .desc = s->desc,
						     .name = hi_deep_function_name(m, f),
						     .a = f});
	}
	hi_deep_sort_rows(m, rows);
	return hidden;
}

/* ---- modules ---- */

enum hi_status hi_deep_make_modules(struct hi_deep_maker *m, struct hi_error *err)
{
	struct hi_deep_table *t = hi_deep_table(m, "modules", "Modules");
	struct hi_deep_rows rows = {};
	uint64_t hidden = 0;

	(void)err;
	m->report->title = "Modules of the program";
	for (uint32_t i = 0; i < m->index->n_modules; i++) {
		const struct hi_deep_module *module = &m->index->modules[i];

		if (!m->query->prefs.inactive_modules &&
		    !hi_deep_is_active(&module->own, &module->desc))
			hidden++;
		else
			hi_deep_add_row(m, &rows,
					(struct hi_deep_row){.own = module->own,
							     .desc = module->desc,
							     .name = hi_deep_module_text(
								     m, module->name),
							     .a = i});
	}
	hi_deep_sort_rows(m, &rows);
	hi_deep_column(m, t, "module", "module", HI_COLUMN_TEXT);
	hi_deep_column(m, t, "functions", "functions", HI_COLUMN_COUNT);
	hi_deep_cost_columns(m, t);
	for (size_t i = 0; i < rows.count; i++) {
		const struct hi_deep_module *module = &m->index->modules[rows.items[i].a];

		hi_deep_cell_text(m, t, rows.items[i].name, 0,
				  hi_deep_module_link(m, module->name));
		hi_deep_cell_number(m, t, module->n_functions);
		hi_deep_cost_cells(m, t, &module->own, &module->desc);
	}
	note_hidden(m, t, hidden, "modules");
	hi_deep_note(m,
		     "totals are sums of functions: what a function of the module calls "
		     "in the module counts for both");
	hi_vector_free(&rows);
	return HI_OK;
}

/* By the whole name, or else by its last component, if one module alone has that. */
static const struct hi_deep_module *find_deep_module(const struct hi_deep_maker *m)
{
	const struct hi_deep_module *found = NULL;
	uint32_t n_found = 0;

	for (uint32_t i = 0; i < m->index->n_modules; i++) {
		const struct hi_deep_module *module = &m->index->modules[i];
		const char *name = hi_deep_profile_text(m->profile, module->name);

		if (strcmp(name, m->query->module) == 0)
			return module;
		if (strcmp(hi_base_name(name), m->query->module) != 0)
			continue;
		found = module;
		n_found++;
	}
	return n_found == 1 ? found : NULL;
}

enum hi_status hi_deep_make_module(struct hi_deep_maker *m, struct hi_error *err)
{
	const struct hi_deep_module *module = find_deep_module(m);
	struct hi_deep_rows rows = {};
	struct hi_deep_table *t;
	uint64_t hidden;

	if (!module)
		return hi_fail(err, HI_NOT_FOUND, 0,
			       "module: the profile has none with this name, or several "
			       "(program_modules lists them)");
	m->module = module->name;
	m->report->title =
		hi_deep_text(m, "Module %s", hi_deep_module_text(m, module->name));
	hi_deep_fact_text(m, "module", "module", hi_deep_module_text(m, module->name),
			  NULL);
	hi_deep_fact_number(m, "functions", "functions", HI_COLUMN_COUNT,
			    module->n_functions);
	hi_deep_fact_costs(m, &module->own, &module->desc);
	hidden = list_functions(m, &m->index->function_list[module->first_function],
				module->n_functions, &rows);
	t = hi_deep_table(m, "functions", "Functions");
	add_function_columns(m, t);
	for (size_t i = 0; i < rows.count; i++)
		add_function_cells(m, t, &rows.items[i]);
	note_hidden(m, t, hidden, "procs");
	hi_vector_free(&rows);
	return HI_OK;
}

/* ---- top functions ---- */

static bool is_top(const struct hi_deep_maker *m, const struct hi_deep_row *row,
		   size_t rank)
{
	const struct hi_deep_query *q = m->query;
	int cost = q->cost == HI_DEEP_WORDS ? HI_DEEP_BYTES : q->cost;
	uint64_t value = hi_deep_value(&row->own, &row->desc, cost, q->self);

	if (q->limit == HI_DEEP_RANKS)
		return rank >= q->low && rank <= q->high;
	if (q->limit == HI_DEEP_SHARE)
		return (unsigned __int128)value * 100000 >=
		       (unsigned __int128)m->graph->total.of[cost] * q->low;
	return (q->cost == HI_DEEP_WORDS ? value / 8 : value) >= q->low;
}

static const char *top_title(struct hi_deep_maker *m)
{
	return hi_deep_text(m, "Top functions by %s%s, %s",
			    hi_deep_cost_name(m->query->cost),
			    m->query->per_call ? " per call" : "",
			    m->query->self ? "by themselves" : "with what they call");
}

enum hi_status hi_deep_make_top(struct hi_deep_maker *m, struct hi_error *err)
{
	struct hi_deep_rows rows = {};
	uint64_t hidden, shown = 0;
	struct hi_deep_table *t;

	(void)err;
	m->report->title = top_title(m);
	hidden = list_functions(m, m->index->function_list,
				(uint32_t)m->profile->functions.count - 1, &rows);
	t = hi_deep_table(m, "functions", "Functions");
	hi_deep_column(m, t, "rank", "rank", HI_COLUMN_COUNT);
	add_function_columns(m, t);
	for (size_t i = 0; i < rows.count && shown < HI_DEEP_MOST_ROWS; i++) {
		if (!is_top(m, &rows.items[i], i + 1))
			continue;
		hi_deep_cell_number(m, t, i + 1);
		add_function_cells(m, t, &rows.items[i]);
		shown++;
	}
	hi_deep_fact_number(m, "functions", "functions", HI_COLUMN_COUNT, rows.count);
	note_hidden(m, t, hidden, "procs");
	hi_vector_free(&rows);
	return HI_OK;
}
