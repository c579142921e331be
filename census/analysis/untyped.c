/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/untyped.h"

#include <string.h>

#include "base/cleanup.h"
#include "census/analysis/walk_internal.h"

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_field(const struct hi_type_name *x, const struct hi_type_name *y)
{
	int order = compare_text(x->owner, y->owner);

	if (order == 0)
		order = compare_text(x->field, y->field);
	return order ? order : compare_text(x->module, y->module);
}

static int by_field(const void *a, const void *b, void *arg)
{
	const struct hi_type_name *types = arg;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int order = compare_field(&types[i], &types[j]);

	return order ? order : i < j ? -1 : i > j;
}

static int by_count(const void *a, const void *b)
{
	const struct hi_untyped_size *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->size_class < y->size_class ? -1 : x->size_class > y->size_class;
}

static int compare_untyped_rows(const void *a, const void *b)
{
	const struct hi_untyped_row *x = a, *y = b;
	int order;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	order = compare_text(x->owner, y->owner);
	if (order == 0)
		order = compare_text(x->field, y->field);
	return order ? order : compare_text(x->module, y->module);
}

/* Totals by type. */
static void count_untyped_objects(const struct hi_graph *g, const struct hi_reach *reach,
				  const bool *only, struct hi_untyped_size *sums)
{
	for (hi_node i = 0; i < g->n_objects; i++) {
		uint32_t type = hi_type_of(g, i);
		struct hi_untyped_size *sum = &sums[type];
		uint64_t usable;

		if (g->types[type].klass != HI_TYPE_FIELD || !hi_bit(reach->any, i) ||
		    hi_is_internal(g, i) || (only && !only[type]))
			continue;
		usable = hi_objects_usable(g->objects, i);
		if (!sum->count || usable < sum->least)
			sum->least = usable;
		if (usable > sum->most)
			sum->most = usable;
		sum->count++;
		sum->bytes += hi_cost_of(g->objects, i);
	}
}

/* One type more of the last row; types of one field follow each other. */
static void add_untyped_type(struct hi_untyped *u, const struct hi_type_name *type,
			     struct hi_untyped_size sum, struct hi_untyped_size **room)
{
	struct hi_untyped_row *row = &u->rows[u->n_rows - 1];

	row->count += sum.count;
	row->bytes += sum.bytes;
	u->objects += sum.count;
	u->bytes += sum.bytes;
	if (type->indirect)
		return;
	row->direct += sum.count;
	sum.size_class = type->size_class;
	*(*room)++ = sum;
	row->n_sizes++;
}

static void make_untyped_rows(const struct hi_graph *g, const uint32_t *types, uint32_t n,
			      const struct hi_untyped_size *sums, struct hi_untyped *u)
{
	struct hi_untyped_size *room = u->sizes;

	for (uint32_t i = 0; i < n; i++) {
		const struct hi_type_name *type = &g->types[types[i]];

		if (!i || compare_field(&g->types[types[i - 1]], type) != 0)
			u->rows[u->n_rows++] =
				(struct hi_untyped_row){.owner = type->owner,
							.field = type->field,
							.module = type->module,
							.sizes = room};
		add_untyped_type(u, type, sums[types[i]], &room);
	}
	room = u->sizes;
	for (size_t i = 0; i < u->n_rows; room += u->rows[i++].n_sizes)
		if (u->rows[i].n_sizes > 1)
			qsort(room, u->rows[i].n_sizes, sizeof(*room), by_count);
	if (u->n_rows > 1)
		qsort(u->rows, u->n_rows, sizeof(*u->rows), compare_untyped_rows);
}

enum hi_status hi_untyped_find(const struct hi_graph *g, const struct hi_reach *reach,
			       const bool *only, struct hi_untyped **ret,
			       struct hi_error *err)
{
	HI_GUARD(hi_untyped_destroy) struct hi_untyped *u = hi_calloc(1, sizeof(*u));
	HI_GUARD(free) uint32_t *types = hi_calloc(g->n_types, sizeof(*types));
	HI_GUARD(free)
	struct hi_untyped_size *sums = hi_calloc(g->n_types, sizeof(*sums));
	uint32_t n = 0;

	if (!u || !types || !sums)
		return hi_fail_memory(err, "fields without types");
	count_untyped_objects(g, reach, only, sums);
	for (uint32_t i = 0; i < g->n_types; i++)
		if (sums[i].count)
			types[n++] = i;
	u->rows = hi_calloc((size_t)n + 1, sizeof(*u->rows));
	u->sizes = hi_calloc((size_t)n + 1, sizeof(*u->sizes));
	if (!u->rows || !u->sizes)
		return hi_fail_memory(err, "fields without types");
	if (n > 1)
		qsort_r(types, n, sizeof(*types), by_field, (void *)(uintptr_t)g->types);
	make_untyped_rows(g, types, n, sums, u);
	*ret = hi_take(u);
	return HI_OK;
}

void hi_untyped_destroy(struct hi_untyped *untyped)
{
	if (!untyped)
		return;
	free(untyped->rows);
	free(untyped->sizes);
	free(untyped);
}
