/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects by the name of their type: GROUP BY type needs no sorting then. Names are
 * sorted, and objects are counted into their places: linear in the objects.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "query/query_internal.h"

HI_DEFINE_GUARD(struct hi_type_order *, hi_type_order_destroy)

struct named {
	const char *name; /* NULL: none, which SQLite has first */
	uint32_t type;
};

static int by_name(const void *a, const void *b)
{
	const char *x = ((const struct named *)a)->name;
	const char *y = ((const struct named *)b)->name;

	return x && y ? strcmp(x, y) : (x != NULL) - (y != NULL);
}

/* Several types may have one name. */
static enum hi_status rank_names(const struct hi_query *q, struct hi_type_order *order,
				 struct hi_error *err)
{
	const struct hi_graph *g = q->source.graph;
	HI_GUARD(free)
	struct named *names = hi_calloc((size_t)g->n_types + 1, sizeof(*names));

	if (!names)
		return hi_fail_memory(err, "types");
	for (uint32_t i = 0; i < g->n_types; i++)
		names[i] = (struct named){q->type_length[i] ? g->types[i].name : NULL, i};
	qsort(names, g->n_types, sizeof(*names), by_name);
	for (uint32_t i = 0; i < g->n_types; i++) {
		if (i == 0 || by_name(&names[i - 1], &names[i]) != 0)
			order->name[order->n_names++] = names[i].name;
		order->rank[names[i].type] = order->n_names - 1;
	}
	return HI_OK;
}

static uint32_t rank_of(const struct hi_type_order *order, const struct hi_graph *g,
			hi_node object)
{
	uint32_t type = g->objects->type[object];

	return order->rank[type < g->n_types ? type : 0];
}

/* first[r + 1] counts the objects of rank r; then it is where the next one of r goes,
 * and in the end where r + 1 begins. */
static void place(struct hi_type_order *order, const struct hi_graph *g)
{
	hi_node sum = 0;

	for (hi_node i = 0; i < g->n_objects; i++)
		order->first[rank_of(order, g, i) + 1]++;
	for (uint32_t r = 0; r < order->n_names; r++) {
		hi_node n = order->first[r + 1];

		order->first[r + 1] = sum;
		sum += n;
	}
	for (hi_node i = 0; i < g->n_objects; i++)
		order->objects[order->first[rank_of(order, g, i) + 1]++] = i;
}

static enum hi_status make(const struct hi_query *q, struct hi_type_order **ret,
			   struct hi_error *err)
{
	const struct hi_graph *g = q->source.graph;
	size_t n_types = (size_t)g->n_types + 2;
	HI_GUARD(hi_type_order_destroy)
	struct hi_type_order *order = hi_calloc(1, sizeof(*order));
	enum hi_status status;

	if (!order)
		return hi_fail_memory(err, "objects by type");
	order->objects = hi_alloc(((size_t)g->n_objects + 1) * sizeof(*order->objects));
	order->first = hi_calloc(n_types, sizeof(*order->first));
	order->rank = hi_calloc(n_types, sizeof(*order->rank));
	order->name = hi_calloc(n_types, sizeof(*order->name));
	if (!order->objects || !order->first || !order->rank || !order->name)
		return hi_fail_memory(err, "objects by type");
	status = rank_names(q, order, err);
	if (status != HI_OK)
		return status;
	place(order, g);
	*ret = hi_take(order);
	return HI_OK;
}

enum hi_status hi_query_by_type(struct hi_query *q, const struct hi_type_order **ret,
				struct hi_error *err)
{
	enum hi_status status = q->by_type ? HI_OK : make(q, &q->by_type, err);

	*ret = q->by_type;
	return status;
}

void hi_type_order_destroy(struct hi_type_order *order)
{
	if (!order)
		return;
	free(order->objects);
	free(order->first);
	free(order->rank);
	free(order->name);
	free(order);
}
