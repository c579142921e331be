/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/subset_totals.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "census/analysis/walk_internal.h"

void hi_marked_destroy(struct hi_marked *m)
{
	if (!m)
		return;
	free(m->rows);
	free(m);
}

static void count_marked_by_type(const struct hi_heap_side *side, const uint64_t *marked,
				 struct hi_marked_row *rows)
{
	const struct hi_graph *g = side->graph;

	for (hi_node i = 0; i < g->n_objects; i++) {
		struct hi_marked_row *row = &rows[hi_type_of(g, i)];
		uint64_t cost;

		if (!hi_bit(marked, i))
			continue;
		cost = hi_cost_of(g->objects, i);
		if (row->all.count == 0)
			row->example = i;
		hi_heap_total_add(&row->all, cost);
		if (hi_bit(side->reach->any, i))
			continue;
		hi_heap_total_add(&row->unheld[hi_leak_kind_of(g, side->reach, i)], cost);
		row->retained += cost;
	}
}

/* As the census does it: in the order of the tree, until[type] is where the subtree of
 * the last topmost object ends. */
static void add_marked_retained(const struct hi_heap_side *side, const uint64_t *marked,
				struct hi_marked_row *rows, hi_node *until)
{
	const struct hi_dominators *d = side->dominators;
	const struct hi_graph *g = side->graph;

	for (hi_node i = 0; i < d->n_order; i++) {
		hi_node node = d->order[i], best;
		struct hi_marked_row *row;
		uint32_t type;

		if (node >= g->n_objects || !hi_bit(marked, node))
			continue;
		type = hi_type_of(g, node);
		row = &rows[type];
		best = row->example;
		if (!hi_bit(side->reach->any, best) ||
		    d->retained[node] > d->retained[best] ||
		    (d->retained[node] == d->retained[best] && node < best))
			row->example = node;
		if (i < until[type])
			continue;
		until[type] = i + d->span[i];
		row->retained += d->retained[node];
	}
}

static int compare_marked_rows(const void *a, const void *b)
{
	const struct hi_marked_row *x = a, *y = b;

	if (x->all.bytes != y->all.bytes)
		return x->all.bytes > y->all.bytes ? -1 : 1;
	return x->type < y->type ? -1 : x->type > y->type;
}

/* Types that have one, sorted, and the totals. */
static void keep_marked_rows(const struct hi_graph *g, struct hi_marked *m)
{
	for (uint32_t type = 0; type < g->n_types; type++) {
		struct hi_marked_row row = m->rows[type];

		if (!row.all.count)
			continue;
		row.type = type;
		m->all.count += row.all.count;
		m->all.bytes += row.all.bytes;
		for (unsigned kind = 0; kind < HI_LEAK_KINDS; kind++) {
			m->unheld[kind].count += row.unheld[kind].count;
			m->unheld[kind].bytes += row.unheld[kind].bytes;
		}
		m->rows[m->n_rows++] = row;
	}
	if (m->n_rows)
		qsort(m->rows, m->n_rows, sizeof(*m->rows), compare_marked_rows);
}

enum hi_status hi_marked_by_type(const struct hi_heap_side *side, const uint64_t *marked,
				 struct hi_marked **ret, struct hi_error *err)
{
	const struct hi_graph *g = side->graph;
	HI_GUARD(hi_marked_destroy) struct hi_marked *m = hi_calloc(1, sizeof(*m));
	HI_GUARD(free) hi_node *until = hi_calloc(g->n_types + 1u, sizeof(*until));

	if (!m || !until)
		return hi_fail_memory(err, "comparison");
	m->rows = hi_calloc(g->n_types + 1u, sizeof(*m->rows));
	if (!m->rows)
		return hi_fail_memory(err, "comparison");
	count_marked_by_type(side, marked, m->rows);
	add_marked_retained(side, marked, m->rows, until);
	keep_marked_rows(g, m);
	*ret = hi_take(m);
	return HI_OK;
}
