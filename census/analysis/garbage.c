/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/garbage.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "census/analysis/walk_internal.h"

HI_DEFINE_GUARD(struct hi_garbage *, hi_garbage_destroy)

enum { ASIDE = HI_UNREACHABLE_CLASSES, KINDS };

void hi_garbage_destroy(struct hi_garbage *garbage)
{
	if (!garbage)
		return;
	free(garbage->rows);
	free(garbage);
}

static int compare_garbage_rows(const void *a, const void *b)
{
	const struct hi_garbage_row *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return (int)x->unreachable_class - (int)y->unreachable_class;
}

/* HI_UNREACHABLE_NO_CLASS: in no row. */
static unsigned row_kind_of_garbage(const struct hi_graph *g,
				    const struct hi_reach *reach, hi_node i)
{
	if (!g->unreachable_classes[i] || hi_is_internal(g, i))
		return HI_UNREACHABLE_NO_CLASS;
	return hi_bit(reach->any, i) ? (unsigned)ASIDE : g->unreachable_classes[i];
}

static void add_garbage_object(struct hi_garbage *garbage, struct hi_garbage_row *rows,
			       const struct hi_graph *g, unsigned kind, hi_node i)
{
	struct hi_garbage_row *row = &rows[(size_t)hi_type_of(g, i) * KINDS + kind];
	uint64_t cost = hi_cost_of(g->objects, i);

	if (!row->objects || cost > hi_cost_of(g->objects, row->example))
		row->example = i;
	row->type = hi_type_of(g, i);
	row->put_aside = kind == ASIDE;
	row->unreachable_class = row->put_aside ? HI_UNREACHABLE_UNCOLLECTABLE
						: (enum hi_unreachable_class)kind;
	row->objects++;
	row->bytes += cost;
	*(row->put_aside ? &garbage->aside_objects : &garbage->objects[kind]) += 1;
	*(row->put_aside ? &garbage->aside_bytes : &garbage->bytes[kind]) += cost;
}

enum hi_status hi_garbage_compute(const struct hi_graph *g, const struct hi_reach *reach,
				  struct hi_garbage **ret, struct hi_error *err)
{
	HI_GUARD(hi_garbage_destroy)
	struct hi_garbage *garbage = hi_calloc(1, sizeof(*garbage));
	size_t n = g->unreachable_classes ? (size_t)g->n_types * KINDS : 0;

	if (!garbage)
		return hi_fail_memory(err, "garbage");
	garbage->rows = hi_calloc(n + 1, sizeof(*garbage->rows));
	if (!garbage->rows)
		return hi_fail_memory(err, "garbage");
	for (hi_node i = 0; n && i < g->n_objects; i++) {
		unsigned kind = row_kind_of_garbage(g, reach, i);

		if (kind != HI_UNREACHABLE_NO_CLASS)
			add_garbage_object(garbage, garbage->rows, g, kind, i);
	}
	for (size_t i = 0; i < n; i++)
		if (garbage->rows[i].objects)
			garbage->rows[garbage->n_rows++] = garbage->rows[i];
	qsort(garbage->rows, garbage->n_rows, sizeof(*garbage->rows),
	      compare_garbage_rows);
	*ret = hi_take(garbage);
	return HI_OK;
}
