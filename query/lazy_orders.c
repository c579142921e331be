/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects by a column of few values, so that GROUP BY needs no sorting: the names are
 * sorted, and objects are placed by counting. Linear in the objects.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "query/query_internal.h"
#include "report/parts/report_node.h"

HI_DEFINE_GUARD(struct hi_object_order *, hi_object_order_destroy)

enum hi_object_state hi_query_state(const struct hi_query *q, hi_node object)
{
	if (q->source.graph->objects->flags[object] & HI_OBJECT_INTERNAL)
		return HI_STATE_INTERNAL;
	return hi_bit(q->source.reach->any, object) ? HI_STATE_LIVE : HI_STATE_LEAK;
}

const char *hi_query_state_name(enum hi_object_state state)
{
	static const char *const names[HI_STATES] = {"internal", "leak", "live"};

	return names[state];
}

/* ---- keys: types, evidence or states; each has a name ---- */

static uint32_t count_order_keys(const struct hi_query *q, enum hi_order_by by)
{
	return by == HI_ORDER_EVIDENCE ? HI_OBJECT_EVIDENCE_MASK + 1
	       : by == HI_ORDER_STATE  ? (uint32_t)HI_STATES
				       : q->source.graph->n_types;
}

static const char *name_of_order_key(const struct hi_query *q, enum hi_order_by by,
				     uint32_t key)
{
	const struct hi_type_name *types = q->source.graph->types;

	switch (by) {
	case HI_ORDER_MODULE:
		return hi_known(types[key].module);
	case HI_ORDER_CLASS:
		return key ? hi_type_class_name(types[key].klass) : NULL;
	case HI_ORDER_EVIDENCE:
		return hi_evidence_key((enum hi_evidence)key);
	case HI_ORDER_STATE:
		return hi_query_state_name((enum hi_object_state)key);
	case HI_ORDER_TYPE:
	case HI_ORDERS:
	default:
		return hi_known(types[key].name);
	}
}

static uint32_t order_key_of_object(const struct hi_query *q, enum hi_order_by by,
				    hi_node object)
{
	const struct hi_graph *g = q->source.graph;
	uint32_t type;

	if (by == HI_ORDER_EVIDENCE)
		return g->objects->flags[object] & HI_OBJECT_EVIDENCE_MASK;
	if (by == HI_ORDER_STATE)
		return hi_query_state(q, object);
	type = g->objects->type[object];
	return type < g->n_types ? type : 0;
}

/* ---- the order ---- */

struct named {
	const char *name; /* NULL: none, which SQLite has first */
	uint32_t key;
};

static int compare_named_keys(const void *a, const void *b)
{
	const char *x = ((const struct named *)a)->name;
	const char *y = ((const struct named *)b)->name;

	return x && y ? strcmp(x, y) : (x != NULL) - (y != NULL);
}

/* Several keys may have one name. */
static enum hi_status rank_names(const struct hi_query *q, enum hi_order_by by,
				 struct hi_object_order *order, struct hi_error *err)
{
	uint32_t n = count_order_keys(q, by);
	HI_GUARD(free) struct named *names = hi_calloc((size_t)n + 1, sizeof(*names));

	if (!names)
		return hi_fail_memory(err, "names");
	for (uint32_t i = 0; i < n; i++)
		names[i] = (struct named){name_of_order_key(q, by, i), i};
	qsort(names, n, sizeof(*names), compare_named_keys);
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || compare_named_keys(&names[i - 1], &names[i]) != 0)
			order->name[order->n_names++] = names[i].name;
		order->rank[names[i].key] = order->n_names - 1;
	}
	return HI_OK;
}

/* first[r + 1] counts the objects of rank r; then it is where the next one of r goes,
 * and in the end where r + 1 begins. */
static void place_ordered_objects(const struct hi_query *q, enum hi_order_by by,
				  struct hi_object_order *order)
{
	hi_node n_objects = q->source.graph->n_objects, sum = 0;

	for (hi_node i = 0; i < n_objects; i++)
		order->first[order->rank[order_key_of_object(q, by, i)] + 1]++;
	for (uint32_t r = 0; r < order->n_names; r++) {
		hi_node n = order->first[r + 1];

		order->first[r + 1] = sum;
		sum += n;
	}
	for (hi_node i = 0; i < n_objects; i++)
		order->objects[order->first[order->rank[order_key_of_object(q, by, i)] +
					    1]++] = i;
}

static enum hi_status make_object_order(const struct hi_query *q, enum hi_order_by by,
					struct hi_object_order **ret,
					struct hi_error *err)
{
	size_t n = (size_t)count_order_keys(q, by) + 2;
	HI_GUARD(hi_object_order_destroy)
	struct hi_object_order *order = hi_calloc(1, sizeof(*order));
	enum hi_status status;

	if (!order)
		return hi_fail_memory(err, "an order of objects");
	order->objects = hi_alloc(((size_t)q->source.graph->n_objects + 1) *
				  sizeof(*order->objects));
	order->first = hi_calloc(n, sizeof(*order->first));
	order->rank = hi_calloc(n, sizeof(*order->rank));
	order->name = hi_calloc(n, sizeof(*order->name));
	if (!order->objects || !order->first || !order->rank || !order->name)
		return hi_fail_memory(err, "an order of objects");
	status = rank_names(q, by, order, err);
	if (status != HI_OK)
		return status;
	place_ordered_objects(q, by, order);
	*ret = hi_take(order);
	return HI_OK;
}

enum hi_status hi_query_in_order(struct hi_query *q, enum hi_order_by by,
				 const struct hi_object_order **ret, struct hi_error *err)
{
	enum hi_status status =
		q->orders[by] ? HI_OK : make_object_order(q, by, &q->orders[by], err);

	*ret = q->orders[by];
	return status;
}

void hi_object_order_destroy(struct hi_object_order *order)
{
	if (!order)
		return;
	free(order->objects);
	free(order->first);
	free(order->rank);
	free(order->name);
	free(order);
}
