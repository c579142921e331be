/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/waste/waste_report.h"

#include "base/alloc.h"
#include "base/cleanup.h"

HI_DEFINE_GUARD(struct hi_waste_report *, hi_waste_report_destroy)

uint64_t hi_waste_worst(const struct hi_waste_row *row)
{
	uint64_t worst = row->copied > row->savable ? row->copied : row->savable;

	return row->zero_bytes > worst ? row->zero_bytes : worst;
}

static int by_worst(const void *a, const void *b)
{
	const struct hi_waste_row *x = &((const struct hi_waste_line *)a)->n;
	const struct hi_waste_row *y = &((const struct hi_waste_line *)b)->n;
	uint64_t p = hi_waste_worst(x), q = hi_waste_worst(y);

	if (p != q)
		return p < q ? 1 : -1;
	if (x->unused != y->unused)
		return x->unused < y->unused ? 1 : -1;
	return x->type < y->type ? -1 : x->type > y->type;
}

/* All types that waste, sorted, then the selected ones. */
static void add_waste_lines(struct hi_waste_report *r, const struct hi_waste *waste,
			    const struct hi_restrict *only)
{
	size_t n = 0;

	for (size_t i = 0; i < waste->n_rows; i++) {
		const struct hi_waste_row *row = &waste->rows[i];

		if (hi_waste_worst(row) || row->unused)
			r->rows[n++] = (struct hi_waste_line){
				r->row_names ? r->row_names[row->type]
					     : hi_graph_type_name(r->graph, row->type),
				*row};
	}
	if (n > 1)
		qsort(r->rows, n, sizeof(*r->rows), by_worst);
	for (size_t i = 0; i < n; i++) {
		struct hi_waste_line line = r->rows[i];

		if (!r->row_names && !hi_type_set_has(only->types, line.n.type))
			hi_hidden_add(&r->hidden.by_type, hi_waste_worst(&line.n));
		else if (hi_waste_worst(&line.n) < only->min_size)
			hi_hidden_add(&r->hidden.by_min_size, hi_waste_worst(&line.n));
		else if (r->n_rows >= only->top)
			hi_hidden_add(&r->hidden.by_top, hi_waste_worst(&line.n));
		else
			r->rows[r->n_rows++] = line;
	}
}

static int compare_slab_waste(const void *a, const void *b)
{
	const struct hi_slab_class *x = a, *y = b;
	uint64_t p = hi_slab_class_wasted(x), q = hi_slab_class_wasted(y);

	if (p != q)
		return p < q ? 1 : -1;
	return x->size < y->size ? -1 : x->size > y->size;
}

/* Classes without slabs are left out. */
static void add_slab_classes(struct hi_waste_report *r, size_t top)
{
	size_t n = 0;

	for (size_t i = 0; i < r->use->n_slab_classes; i++) {
		if (!r->use->slab_classes[i].slabs)
			continue;
		r->slabs[n++] = r->use->slab_classes[i];
		hi_slab_class_add(&r->all_slabs, &r->use->slab_classes[i]);
	}
	if (n > 1)
		qsort(r->slabs, n, sizeof(*r->slabs), compare_slab_waste);
	r->n_slabs = n < top ? n : top;
	for (size_t i = r->n_slabs; i < n; i++)
		hi_hidden_add(&r->slabs_beyond, hi_slab_class_wasted(&r->slabs[i]));
}

enum hi_status hi_waste_report_create(const struct hi_waste_inputs *in,
				      struct hi_waste_report **ret, struct hi_error *err)
{
	const struct hi_waste *rows = in->by_site ? in->by_site : in->waste;
	HI_GUARD(hi_waste_report_destroy)
	struct hi_waste_report *r = hi_calloc(1, sizeof(*r));

	if (r)
		r->rows = hi_calloc(rows->n_rows + 1, sizeof(*r->rows));
	if (r)
		r->slabs = hi_calloc(in->use->n_slab_classes + 1, sizeof(*r->slabs));
	if (!r || !r->rows || !r->slabs)
		return hi_fail_memory(err, "report of waste");
	r->header = in->header;
	r->waste = in->waste;
	r->use = in->use;
	r->graph = in->graph;
	r->row_names = in->site_names;
	r->restricted = in->only->types || in->only->min_size;
	add_waste_lines(r, rows, in->only);
	add_slab_classes(r, in->only->top);
	*ret = hi_take(r);
	return HI_OK;
}

void hi_waste_report_destroy(struct hi_waste_report *report)
{
	if (!report)
		return;
	free(report->rows);
	free(report->slabs);
	free(report);
}
