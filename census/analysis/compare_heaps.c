/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/analysis/compare_internal.h"
#include "census/analysis/walk_internal.h"

void hi_comparison_destroy(struct hi_comparison *c)
{
	if (!c)
		return;
	free(c->born);
	free(c->died);
	free(c->before_of);
	free(c->rows);
	hi_arena_free(&c->strings);
	free(c);
}

/* ---- names of both sides as one range of numbers ---- */

static int compare_name_texts(const void *a, const void *b)
{
	return strcmp(((const struct hi_compare_name *)a)->text,
		      ((const struct hi_compare_name *)b)->text);
}

static const char *name_of_compared_type(const struct hi_graph *g, uint32_t i,
					 enum hi_compare_by by)
{
	const char *text =
		by == HI_COMPARE_BY_MODULE ? g->types[i].module : g->types[i].name;

	return text ? text : "";
}

uint32_t hi_compare_number_names(struct hi_compare_name *names, size_t n)
{
	uint32_t count = 0;

	if (n)
		qsort(names, n, sizeof(*names), compare_name_texts);
	for (size_t i = 0; i < n; i++) {
		count += !i || strcmp(names[i].text, names[i - 1].text) != 0;
		*names[i].number = count - 1;
	}
	return count;
}

enum hi_status hi_compare_merge_types(const struct hi_graph *a, const struct hi_graph *b,
				      enum hi_compare_by by, uint32_t *of_a,
				      uint32_t *of_b, const char ***texts_ret,
				      uint32_t *n_ret, struct hi_error *err)
{
	size_t n = (size_t)a->n_types + b->n_types;
	HI_GUARD(free)
	struct hi_compare_name *names = hi_alloc(n * sizeof(*names));
	HI_GUARD(free) const char **texts = hi_alloc(n * sizeof(*texts));

	if (!names || !texts)
		return hi_fail_memory(err, "comparison");
	for (uint32_t i = 0; i < a->n_types; i++)
		names[i] = (struct hi_compare_name){name_of_compared_type(a, i, by),
						    &of_a[i]};
	for (uint32_t i = 0; i < b->n_types; i++)
		names[a->n_types + i] = (struct hi_compare_name){
			name_of_compared_type(b, i, by), &of_b[i]};
	*n_ret = hi_compare_number_names(names, n);
	for (size_t i = 0; i < n; i++)
		texts[*names[i].number] = names[i].text;
	*texts_ret = hi_take(texts);
	return HI_OK;
}

/* ---- rows ---- */

/* Is it in a row? */
static bool is_compared_object(const struct hi_heap_side *side, hi_node i)
{
	return !hi_is_internal(side->graph, i) && (!side->only || hi_bit(side->only, i));
}

static void add_side(const struct hi_heap_side *side, const struct hi_compare_keys *keys,
		     bool is_after, const uint64_t *unmatched,
		     struct hi_compare_row *rows)
{
	const struct hi_graph *g = side->graph;

	for (hi_node i = 0; i < g->n_objects; i++) {
		struct hi_compare_row *row = &rows[hi_compare_key(keys, is_after, g, i)];
		uint64_t cost;

		if (!is_compared_object(side, i))
			continue;
		cost = hi_objects_cost(g->objects, i);
		hi_heap_total_add(is_after ? &row->after : &row->before, cost);
		if (hi_bit(unmatched, i))
			hi_heap_total_add(is_after ? &row->born : &row->died, cost);
	}
}

static int64_t growth_of(const struct hi_compare_row *row)
{
	return (int64_t)(row->after.bytes - row->before.bytes);
}

static int by_growth(const void *a, const void *b)
{
	const struct hi_compare_row *x = a, *y = b;
	int64_t p = growth_of(x), q = growth_of(y);

	if (p != q)
		return p > q ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void add_heap_total(struct hi_heap_total *all, struct hi_heap_total part)
{
	all->count += part.count;
	all->bytes += part.bytes;
}

/* Rows with an object on either side, in their order; and the totals. */
static enum hi_status keep_compared_rows(struct hi_comparison *c,
					 struct hi_compare_row *rows,
					 const struct hi_compare_keys *keys,
					 struct hi_error *err)
{
	for (uint32_t i = 0; i < keys->n; i++) {
		struct hi_compare_row *row = &rows[i];

		if (!row->before.count && !row->after.count)
			continue;
		row->name = hi_arena_strdup(&c->strings, keys->texts[i]);
		if (!row->name)
			return hi_fail_memory(err, "comparison");
		row->grown =
			growth_of(row) - (int64_t)(row->born.bytes - row->died.bytes);
		add_heap_total(&c->all.before, row->before);
		add_heap_total(&c->all.after, row->after);
		add_heap_total(&c->all.born, row->born);
		add_heap_total(&c->all.died, row->died);
		c->all.grown += row->grown;
		rows[c->n_rows++] = *row;
	}
	if (c->n_rows)
		qsort(rows, c->n_rows, sizeof(*rows), by_growth);
	c->all.name = "";
	return HI_OK;
}

/* ---- what has no match ---- */

static void mark_unmatched(const struct hi_heap_side *before,
			   const struct hi_heap_side *after, struct hi_comparison *c)
{
	for (hi_node i = 0; i < before->graph->n_objects; i++)
		if (is_compared_object(before, i))
			hi_bit_set(c->died, i);
	for (hi_node i = 0; i < after->graph->n_objects; i++) {
		hi_node was = c->before_of[i];

		if (was != HI_NODE_NONE)
			c->died[was >> 6] &= ~(1ull << (was & 63));
		else if (is_compared_object(after, i))
			hi_bit_set(c->born, i);
	}
}

static enum hi_status match_heaps(const struct hi_heap_side *before,
				  const struct hi_heap_side *after,
				  struct hi_comparison *c, struct hi_error *err)
{
	size_t n = after->graph->n_objects;
	enum hi_status status;

	c->died = hi_calloc(1, hi_bits_size(before->graph->n_objects) + 8);
	c->born = hi_calloc(1, hi_bits_size(after->graph->n_objects) + 8);
	c->before_of = hi_alloc((n + 1) * sizeof(*c->before_of));
	if (!c->died || !c->born || !c->before_of)
		return hi_fail_memory(err, "comparison");
	for (size_t i = 0; i < n; i++)
		c->before_of[i] = HI_NODE_NONE;
	status = hi_compare_match(before, after, c->same_process, c->before_of, err);
	if (status == HI_OK)
		mark_unmatched(before, after, c);
	return status;
}

enum hi_status hi_compare_survivors(const struct hi_comparison *first,
				    const struct hi_comparison *second,
				    const struct hi_heap_side *third, uint64_t **ret,
				    struct hi_error *err)
{
	hi_node n = third->graph->n_objects;
	uint64_t *bits = hi_calloc(1, hi_bits_size(n) + 8);

	if (!bits)
		return hi_fail_memory(err, "comparison");
	for (hi_node i = 0; i < n; i++) {
		hi_node was = second->before_of[i];

		if (was != HI_NODE_NONE && hi_bit(first->born, was) &&
		    is_compared_object(third, i))
			hi_bit_set(bits, i);
	}
	*ret = bits;
	return HI_OK;
}

enum hi_status hi_compare(const struct hi_heap_side *before,
			  const struct hi_heap_side *after, bool same_process,
			  enum hi_compare_by by, struct hi_comparison **ret,
			  struct hi_error *err)
{
	HI_GUARD(hi_comparison_destroy)
	struct hi_comparison *c = hi_calloc(1, sizeof(*c));
	struct hi_compare_keys keys = {};
	enum hi_status status;

	if (!c)
		return hi_fail_memory(err, "comparison");
	c->same_process = same_process;
	c->knows_births = same_process && hi_compare_knows_births(before, after);
	status = match_heaps(before, after, c, err);
	if (status == HI_OK)
		status = hi_compare_keys_of(before, after, same_process, by, &keys, err);
	if (status == HI_OK) {
		c->rows = hi_calloc(keys.n + 1u, sizeof(*c->rows));
		if (!c->rows)
			status = hi_fail_memory(err, "comparison");
	}
	if (status == HI_OK) {
		add_side(before, &keys, false, c->died, c->rows);
		add_side(after, &keys, true, c->born, c->rows);
		status = keep_compared_rows(c, c->rows, &keys, err);
	}
	hi_compare_keys_free(&keys);
	if (status == HI_OK)
		*ret = hi_take(c);
	return status;
}
