/* SPDX-License-Identifier: BSD-2-Clause */
/* The live objects by type. Internal blocks are left out. */
#include <string.h>

#include "base/cleanup.h"
#include "census/analysis/analysis.h"
#include "census/analysis/walk_internal.h"

static unsigned evidence_of_object(const struct hi_graph *g, hi_node i)
{
	unsigned evidence = g->objects->flags[i] & HI_OBJECT_EVIDENCE_MASK;

	return evidence <= HI_EVIDENCE_RUNTIME ? evidence : HI_EVIDENCE_NONE;
}

/* Which row an object is in. of_object NULL: that of its type. */
struct census_rows {
	const uint32_t *of_object;
	uint32_t n;
};

HI_INLINE uint32_t census_row_of(const struct hi_graph *g, const struct census_rows *by,
				 hi_node i)
{
	if (!by->of_object)
		return hi_type_of(g, i);
	return by->of_object[i] < by->n ? by->of_object[i] : 0;
}

static void count_live_objects_by_type(const struct hi_graph *g,
				       const struct hi_reach *reach,
				       const struct census_rows *by,
				       struct hi_census_row *rows)
{
	for (hi_node i = 0; i < g->n_objects; i++) {
		struct hi_census_row *row = &rows[census_row_of(g, by, i)];
		uint64_t cost;

		if (!hi_bit(reach->any, i) || hi_is_internal(g, i))
			continue;
		cost = hi_cost_of(g->objects, i);
		row->count++;
		row->shallow += cost;
		row->by_evidence[evidence_of_object(g, i)] += cost;
		if (cost > row->largest)
			row->largest = cost;
	}
}

/*
 * Retained size of a type: what its topmost objects in the dominator tree
 * retain. In a sweep over the tree in preorder, until[type] is where the
 * subtree of the last topmost object ends; one that comes before is inside it.
 */
static void add_retained_in_order(const struct hi_graph *g, const struct hi_reach *reach,
				  const struct hi_dominators *d,
				  const struct census_rows *by,
				  struct hi_census_row *rows, hi_node *until)
{
	enum { AHEAD = 24 };

	for (hi_node i = 0; i < d->n_order; i++) {
		hi_node node = d->order[i];
		uint32_t type;

		if (i + AHEAD < d->n_order && d->order[i + AHEAD] < g->n_objects) {
			__builtin_prefetch(&g->objects->type[d->order[i + AHEAD]]);
			__builtin_prefetch(&g->objects->flags[d->order[i + AHEAD]]);
		}
		if (!hi_graph_is_object(g, node) || hi_is_internal(g, node) ||
		    !hi_bit(reach->any, node))
			continue;
		type = census_row_of(g, by, node);
		if (i < until[type])
			continue;
		until[type] = i + d->span[i];
		rows[type].retained += d->retained[node];
	}
}

static bool add_retained_by_type(const struct hi_graph *g, const struct hi_reach *reach,
				 const struct hi_dominators *d,
				 const struct census_rows *by, struct hi_census_row *rows)
{
	HI_GUARD(free) hi_node *until = hi_calloc(by->n, sizeof(*until));

	if (until)
		add_retained_in_order(g, reach, d, by, rows, until);
	return until;
}

static int compare_census_rows(const void *a, const void *b)
{
	const struct hi_census_row *x = a, *y = b;

	if (x->shallow != y->shallow)
		return x->shallow > y->shallow ? -1 : 1;
	return x->type < y->type ? -1 : x->type > y->type;
}

/* Rows of types that occur, sorted, and their totals. */
static void keep_census_rows(const struct census_rows *by, struct hi_census *census)
{
	for (uint32_t type = 0; type < by->n; type++) {
		struct hi_census_row row = census->rows[type];

		if (!row.count)
			continue;
		row.type = type;
		census->rows[census->n_rows++] = row;
		census->objects += row.count;
		census->bytes += row.shallow;
		census->untyped_bytes += row.by_evidence[HI_EVIDENCE_NONE];
		for (int e = HI_EVIDENCE_SHAPE; e <= HI_EVIDENCE_RUNTIME; e++)
			*(e >= HI_EVIDENCE_POINTER ? &census->exact_bytes
						   : &census->inferred_bytes) +=
				row.by_evidence[e];
	}
	qsort(census->rows, census->n_rows, sizeof(*census->rows), compare_census_rows);
}

static enum hi_status make_census(const struct hi_graph *g, const struct hi_reach *reach,
				  const struct hi_dominators *dominators,
				  const struct census_rows *by, struct hi_census **ret,
				  struct hi_error *err)
{
	HI_GUARD(hi_census_destroy) struct hi_census *c = hi_calloc(1, sizeof(*c));

	if (!c || !(c->rows = hi_calloc((size_t)by->n, sizeof(*c->rows))))
		return hi_fail_memory(err, "census");
	count_live_objects_by_type(g, reach, by, c->rows);
	if (dominators && !add_retained_by_type(g, reach, dominators, by, c->rows))
		return hi_fail_memory(err, "census");
	keep_census_rows(by, c);
	*ret = hi_take(c);
	return HI_OK;
}

enum hi_status hi_census_by_type(const struct hi_graph *g, const struct hi_reach *reach,
				 const struct hi_dominators *dominators,
				 struct hi_census **ret, struct hi_error *err)
{
	const struct census_rows by = {.n = g->n_types};

	return make_census(g, reach, dominators, &by, ret, err);
}

enum hi_status hi_census_by_number(const struct hi_graph *g, const struct hi_reach *reach,
				   const struct hi_dominators *dominators,
				   const uint32_t *of_object, uint32_t n,
				   struct hi_census **ret, struct hi_error *err)
{
	const struct census_rows by = {.of_object = of_object, .n = n};

	return make_census(g, reach, dominators, &by, ret, err);
}

void hi_census_destroy(struct hi_census *census)
{
	if (!census)
		return;
	free(census->rows);
	free(census);
}

/* ---- one type, exactly ---- */

struct without {
	const struct hi_graph *graph;
	const uint64_t *exact;
	uint64_t *marked;
	uint32_t type;
};

HI_INLINE bool take_other_type(void *arg, hi_node from, hi_node to, uint8_t grade)
{
	struct without *w = arg;

	if (!hi_is_flow(w->exact, hi_bit(w->exact, from), to, grade))
		return false;
	if (hi_graph_is_object(w->graph, to) && hi_type_of(w->graph, to) == w->type)
		return false;
	return hi_bit_take(w->marked, to);
}

/* Returns the bytes that are no longer marked. */
static uint64_t lost_bytes(const struct without *w, const struct hi_reach *reach)
{
	uint64_t bytes = 0;

	for (hi_node i = 0; i < w->graph->n_objects; i++)
		if (hi_bit(reach->any, i) && !hi_bit(w->marked, i) &&
		    !hi_is_internal(w->graph, i))
			bytes += hi_cost_of(w->graph->objects, i);
	return bytes;
}

enum hi_status hi_census_retained_by_type(const struct hi_graph *g,
					  const struct hi_reach *reach, uint32_t type,
					  uint64_t *bytes_ret, struct hi_error *err)
{
	HI_GUARD(free) uint64_t *marked = hi_calloc(1, hi_bits_size(g->n_nodes));
	struct without w = {g, reach->exact, marked, type};
	struct hi_walk walk;

	if (!hi_walk_init(&walk, g) || !marked) {
		hi_walk_deinit(&walk);
		return hi_fail_memory(err, "retained size of a type");
	}
	walk.stack[walk.depth++] = g->super_root;
	hi_bit_take(marked, g->super_root);
	for (size_t i = 0; i < reach->n_internal_roots; i++) {
		hi_node node = reach->internal_roots[i];

		if (hi_type_of(g, node) != type && hi_bit_take(marked, node))
			walk.stack[walk.depth++] = node;
	}
	hi_walk_run(&walk, take_other_type, &w);
	hi_walk_deinit(&walk);
	*bytes_ret = lost_bytes(&w, reach);
	return HI_OK;
}
