/* SPDX-License-Identifier: BSD-2-Clause */
/* Costs of reports of a deep profile: columns, cells, and rows in an order. */
#include <stdlib.h>
#include <string.h>

#include "report/reports/deep/deep_report_internal.h"

enum { WORD = 8 };

static const char *const cost_titles[HI_DEEP_ORDERS] = {
	[HI_DEEP_CALLS] = "calls",	     [HI_DEEP_EXITS] = "exits",
	[HI_DEEP_FAILS] = "fails",	     [HI_DEEP_REDOS] = "redos",
	[HI_DEEP_EXCEPTIONS] = "exceptions", [HI_DEEP_TICKS] = "ticks",
	[HI_DEEP_CALLSEQS] = "callseqs",     [HI_DEEP_ALLOCS] = "objects",
	[HI_DEEP_BYTES] = "bytes",	     [HI_DEEP_LIVE] = "live objects",
	[HI_DEEP_LIVE_BYTES] = "live",	     [HI_DEEP_LEAKED_BYTES] = "leaked",
	[HI_DEEP_USE_BYTES] = "in use",	     [HI_DEEP_DRAG_BYTES] = "drag",
	[HI_DEEP_VOID_BYTES] = "void",	     [HI_DEEP_COPIED_BYTES] = "copies",
	[HI_DEEP_SPARE_BYTES] = "spare",     [HI_DEEP_RETAINED_BYTES] = "retained",
	[HI_DEEP_WORDS] = "words",
};

static bool is_bytes(int cost)
{
	return cost == HI_DEEP_BYTES || cost == HI_DEEP_WORDS ||
	       (cost >= HI_DEEP_LIVE_BYTES && cost < HI_DEEP_COSTS);
}

/* The profile's cost. */
static int real_cost(int cost)
{
	return cost == HI_DEEP_WORDS ? HI_DEEP_BYTES : cost;
}

static bool is_in_words(const struct hi_deep_maker *m, int cost)
{
	return cost == HI_DEEP_WORDS || (is_bytes(cost) && m->query->prefs.words);
}

uint64_t hi_deep_value(const struct hi_deep_costs *own, const struct hi_deep_costs *desc,
		       int cost, bool self)
{
	cost = real_cost(cost);
	return own->of[cost] + (self ? 0 : desc->of[cost]);
}

bool hi_deep_is_active(const struct hi_deep_costs *own, const struct hi_deep_costs *desc)
{
	for (int i = 0; i < HI_DEEP_COSTS; i++)
		if (own->of[i] || desc->of[i])
			return true;
	return false;
}

enum hi_status hi_deep_need_cost(const struct hi_deep_maker *m, int cost,
				 struct hi_error *err)
{
	if (!m->profile->has[real_cost(cost)])
		return hi_fail(err, HI_USAGE, 0,
			       "order by %s: the profile does not have it",
			       hi_deep_cost_name(cost));
	if (cost == HI_DEEP_TICKS && m->graph->total.of[cost] < HI_DEEP_LEAST_TICKS)
		return hi_fail(err, HI_USAGE, 0,
			       "order by ticks: the run has fewer than %d, which say "
			       "nothing",
			       HI_DEEP_LEAST_TICKS);
	return HI_OK;
}

void hi_deep_choose_fields(struct hi_deep_maker *m, int cost)
{
	uint32_t wanted = m->query->prefs.fields;

	if (!wanted)
		wanted = 1u << HI_DEEP_TICKS | 1u << HI_DEEP_ALLOCS |
			 1u << HI_DEEP_BYTES | 1u << HI_DEEP_LIVE_BYTES |
			 1u << HI_DEEP_LEAKED_BYTES | 1u << HI_DEEP_DRAG_BYTES |
			 1u << HI_DEEP_VOID_BYTES | 1u << HI_DEEP_RETAINED_BYTES;
	wanted |= 1u << cost;
	m->n_fields = 0;
	for (int i = 0; i < HI_DEEP_ORDERS; i++)
		if (wanted >> i & 1 && !hi_deep_need_cost(m, i, NULL))
			m->fields[m->n_fields++] = i;
}

/* ---- columns ---- */

static uint64_t shown_value(const struct hi_deep_maker *m, int cost, uint64_t value)
{
	return is_in_words(m, cost) ? value / WORD + (value % WORD != 0) : value;
}

static const char *words_of(const struct hi_deep_maker *m, int cost, const char *words)
{
	return is_in_words(m, cost) && cost != HI_DEEP_WORDS && cost != HI_DEEP_BYTES
		       ? words
		       : "";
}

static const char *cost_key(struct hi_deep_maker *m, int cost, const char *scope,
			    const char *behind)
{
	if (cost == HI_DEEP_BYTES && m->query->prefs.words)
		cost = HI_DEEP_WORDS;
	return hi_deep_text(m, "%s_%s%s%s", scope, hi_deep_cost_name(cost),
			    words_of(m, cost, "_words"), behind);
}

static const char *cost_title(struct hi_deep_maker *m, int cost, const char *scope,
			      const char *behind)
{
	if (cost == HI_DEEP_BYTES && m->query->prefs.words)
		cost = HI_DEEP_WORDS;
	/* Bytes have their unit in each cell. */
	return hi_deep_text(m, "%s%s%s%s%s", scope, cost == HI_DEEP_BYTES ? "" : " ",
			    cost == HI_DEEP_BYTES ? "" : cost_titles[cost],
			    words_of(m, cost, " words"), behind);
}

/* The cost of the order stays in narrow text. */
static enum hi_column_kind cost_kind(const struct hi_deep_maker *m, int cost)
{
	bool minor = cost != m->cost;

	if (is_bytes(cost) && !is_in_words(m, cost))
		return minor ? HI_COLUMN_MINOR_BYTES : HI_COLUMN_BYTES;
	return minor ? HI_COLUMN_MINOR_COUNT : HI_COLUMN_COUNT;
}

static bool has_per_call(const struct hi_deep_maker *m, int cost)
{
	return (m->query->prefs.per_call || (m->per_call && cost == m->cost)) &&
	       cost != HI_DEEP_CALLS && m->profile->has[HI_DEEP_CALLS];
}

void hi_deep_cost_columns(struct hi_deep_maker *m, struct hi_deep_table *t)
{
	static const char *const scopes[] = {"own", "total"}, *const titles[] = {"self",
										 "total"};

	for (int i = 0; i < m->n_fields; i++)
		for (int k = 0; k < 2; k++) {
			int cost = m->fields[i];

			hi_deep_column(m, t, cost_key(m, cost, scopes[k], ""),
				       cost_title(m, cost, titles[k], ""),
				       cost_kind(m, cost));
			if (has_per_call(m, cost))
				hi_deep_column(
					m, t, cost_key(m, cost, scopes[k], "_per_call"),
					cost_title(m, cost, titles[k], " per call"),
					HI_COLUMN_MINOR_FIGURE);
		}
	hi_deep_column(m, t, "share", "share", HI_COLUMN_PERCENT);
}

void hi_deep_cost_cells(struct hi_deep_maker *m, struct hi_deep_table *t,
			const struct hi_deep_costs *own, const struct hi_deep_costs *desc)
{
	for (int i = 0; i < m->n_fields; i++)
		for (int k = 0; k < 2; k++) {
			int cost = m->fields[i];
			uint64_t value = shown_value(
				m, cost, hi_deep_value(own, desc, cost, k == 0));

			hi_deep_cell_number(m, t, value);
			if (has_per_call(m, cost))
				hi_deep_cell_ratio(
					m, t, value,
					hi_deep_value(own, desc, HI_DEEP_CALLS, k == 0));
		}
	hi_deep_cell_ratio(m, t, hi_deep_value(own, desc, m->cost, m->self),
			   m->graph->total.of[real_cost(m->cost)]);
}

void hi_deep_fact_costs(struct hi_deep_maker *m, const struct hi_deep_costs *own,
			const struct hi_deep_costs *desc)
{
	for (int i = 0; i < m->n_fields; i++) {
		int cost = m->fields[i];
		enum hi_column_kind kind = is_bytes(cost) && !is_in_words(m, cost)
						   ? HI_COLUMN_BYTES
						   : HI_COLUMN_COUNT;

		hi_deep_fact_number(
			m, cost_key(m, cost, "own", ""), cost_title(m, cost, "self", ""),
			kind, shown_value(m, cost, hi_deep_value(own, desc, cost, true)));
		hi_deep_fact_number(
			m, cost_key(m, cost, "total", ""),
			cost_title(m, cost, "total", ""), kind,
			shown_value(m, cost, hi_deep_value(own, desc, cost, false)));
	}
}

/* ---- rows ---- */

void hi_deep_add_row(struct hi_deep_maker *m, struct hi_deep_rows *rows,
		     struct hi_deep_row row)
{
	if (!hi_vector_push(rows, row))
		m->report->failed = true;
}

static int compare_cost_values(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_ids(const struct hi_deep_row *x, const struct hi_deep_row *y)
{
	int order = compare_cost_values(x->a, y->a);

	return order ? order : compare_cost_values(x->b, y->b);
}

/* Of costs by call; what was not called comes last. */
static int compare_per_call(uint64_t a, uint64_t a_calls, uint64_t b, uint64_t b_calls)
{
	unsigned __int128 x = (unsigned __int128)a * b_calls,
			  y = (unsigned __int128)b * a_calls;

	if (!a_calls || !b_calls)
		return (a_calls == 0) - (b_calls == 0);
	return (x < y) - (x > y);
}

static int compare_costs(const struct hi_deep_maker *m, const struct hi_deep_row *x,
			 const struct hi_deep_row *y)
{
	uint64_t a = hi_deep_value(&x->own, &x->desc, m->cost, m->self);
	uint64_t b = hi_deep_value(&y->own, &y->desc, m->cost, m->self);
	int order = 0;

	if (m->per_call)
		order = compare_per_call(
			a, hi_deep_value(&x->own, &x->desc, HI_DEEP_CALLS, m->self), b,
			hi_deep_value(&y->own, &y->desc, HI_DEEP_CALLS, m->self));
	if (!order)
		order = compare_cost_values(b, a);
	if (!order)
		order = compare_cost_values(
			hi_deep_value(&y->own, &y->desc, HI_DEEP_BYTES, m->self),
			hi_deep_value(&x->own, &x->desc, HI_DEEP_BYTES, m->self));
	return order;
}

static int compare_deep_rows(const void *a, const void *b, void *context)
{
	const struct hi_deep_row *x = a, *y = b;
	const struct hi_deep_maker *m = context;
	int order = 0;

	if (m->arrange == HI_DEEP_BY_COST)
		order = compare_costs(m, x, y);
	if (!order && m->arrange != HI_DEEP_BY_CONTEXT)
		order = strcmp(x->name, y->name);
	return order ? order : compare_ids(x, y);
}

void hi_deep_sort_rows(struct hi_deep_maker *m, struct hi_deep_rows *rows)
{
	if (rows->count)
		qsort_r(rows->items, rows->count, sizeof(*rows->items), compare_deep_rows,
			m);
}

static int compare_row_ids(const void *a, const void *b)
{
	return compare_ids(a, b);
}

void hi_deep_merge_rows(struct hi_deep_rows *rows)
{
	size_t n = 0;

	if (rows->count)
		qsort(rows->items, rows->count, sizeof(*rows->items), compare_row_ids);
	for (size_t i = 0; i < rows->count; i++) {
		struct hi_deep_row *last = n ? &rows->items[n - 1] : NULL;

		if (last && compare_ids(last, &rows->items[i]) == 0) {
			hi_deep_costs_add(&last->own, &rows->items[i].own);
			hi_deep_costs_add(&last->desc, &rows->items[i].desc);
			last->n += rows->items[i].n;
		} else {
			rows->items[n++] = rows->items[i];
		}
	}
	rows->count = n;
}
