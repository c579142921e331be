/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/waste/waste_report.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "report/parts/hidden_rows.h"

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
			hi_hidden_add(&r->other, hi_waste_worst(&line.n));
		else if (hi_waste_worst(&line.n) < only->min_size)
			hi_hidden_add(&r->below, hi_waste_worst(&line.n));
		else if (r->n_rows >= only->top)
			hi_hidden_add(&r->beyond, hi_waste_worst(&line.n));
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

/* Of all classes; the total has no size of its own. */
uint64_t hi_waste_of_slabs(const struct hi_heap_use *use)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < use->n_slab_classes; i++)
		bytes += hi_slab_class_wasted(&use->slab_classes[i]);
	return bytes;
}

enum hi_status hi_waste_report_create(const struct hi_report_header *header,
				      const struct hi_graph *graph,
				      const struct hi_waste *waste,
				      const struct hi_heap_use *use,
				      const struct hi_restrict *only,
				      struct hi_waste_report **ret, struct hi_error *err)
{
	return hi_waste_report_create_by_site(header, graph, waste, waste, NULL, use,
					      only, ret, err);
}

enum hi_status
hi_waste_report_create_by_site(const struct hi_report_header *header,
			       const struct hi_graph *graph, const struct hi_waste *waste,
			       const struct hi_waste *by_site, const char *const *names,
			       const struct hi_heap_use *use,
			       const struct hi_restrict *only,
			       struct hi_waste_report **ret, struct hi_error *err)
{
	HI_GUARD(hi_waste_report_destroy)
	struct hi_waste_report *r = hi_calloc(1, sizeof(*r));

	if (r)
		r->rows = hi_calloc(by_site->n_rows + 1, sizeof(*r->rows));
	if (r)
		r->slabs = hi_calloc(use->n_slab_classes + 1, sizeof(*r->slabs));
	if (!r || !r->rows || !r->slabs)
		return hi_fail_memory(err, "report of waste");
	r->header = header;
	r->waste = waste;
	r->use = use;
	r->graph = graph;
	r->row_names = names;
	r->restricted = only->types || only->min_size;
	add_waste_lines(r, by_site, only);
	add_slab_classes(r, only->top);
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

const char *hi_free_kind_key(unsigned kind)
{
	/* Without "free_", which all of them begin with. */
	return hi_block_state_key((enum hi_block_state)(HI_BLOCK_FREE_FIRST + kind)) + 5;
}

bool hi_free_kind_shows(const struct hi_heap_use *use, unsigned kind)
{
	return use->free[kind].count ||
	       (use->states ? use->states >> (HI_BLOCK_FREE_FIRST + kind) & 1
			    : HI_BLOCK_FREE_FIRST + kind <= HI_BLOCK_FREE_TOP);
}

const char *hi_page_fill_key(enum hi_page_fill fill)
{
	static const char *const keys[HI_PAGE_FILLS] = {
		[HI_PAGE_EMPTY] = "empty",
		[HI_PAGE_UNDER_QUARTER] = "under_quarter",
		[HI_PAGE_UNDER_HALF] = "under_half",
		[HI_PAGE_OVER_HALF] = "over_half",
	};

	return keys[fill];
}

/* ---- JSON ---- */

/* The members of an object that the caller opened. */
static void counts_json(const struct hi_waste_row *row, struct hi_json *json)
{
	hi_json_number(json, "objects", row->objects);
	hi_json_number(json, "bytes", row->bytes);
	hi_json_object(json, "identical");
	hi_json_number(json, "groups", row->groups);
	hi_json_number(json, "copies", row->copies);
	hi_json_number(json, "bytes", row->copied);
	hi_json_end(json);
	hi_json_object(json, "unused");
	hi_json_number(json, "objects", row->loose);
	hi_json_number(json, "bytes", row->unused);
	hi_json_number(json, "savable", row->savable);
	hi_json_end(json);
	hi_json_object(json, "zero_filled");
	hi_json_number(json, "objects", row->zeros);
	hi_json_number(json, "bytes", row->zero_bytes);
	hi_json_end(json);
}

static void groups_json(const struct hi_waste_report *r, struct hi_json *json)
{

	hi_json_array(json, "groups");
	for (size_t i = 0; i < r->waste->n_groups; i++) {
		const struct hi_waste_group *g = &r->waste->groups[i];

		hi_json_object(json, NULL);
		hi_json_text(json, "type",
			     hi_type_key(hi_graph_type_name(r->graph, g->type)));
		hi_json_address(json, "example", hi_graph_address(r->graph, g->first));
		hi_json_number(json, "objects", g->objects);
		hi_json_number(json, "size", g->size);
		hi_json_number(json, "bytes", g->copied);
		hi_json_text(json, "text", g->is_text ? g->text : NULL);
		hi_json_bool(json, "cut", g->cut);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_object(json, "groups_hidden");
	hi_json_number(json, "by_top", r->waste->beyond.groups);
	hi_json_number(json, "by_min_size", r->waste->below.groups);
	hi_json_number(json, "by_type", r->waste->other.groups);
	hi_json_end(json);
}

static void classes_json(const struct hi_heap_use *use, struct hi_json *json)
{
	hi_json_array(json, "size_classes");
	for (size_t i = 0; i < use->n_classes; i++) {
		const struct hi_size_class *c = &use->classes[i];

		hi_json_object(json, NULL);
		hi_json_number(json, "largest", c->largest);
		hi_json_number(json, "blocks", c->count);
		hi_json_number(json, "bytes", c->bytes);
		hi_json_number(json, "headers", c->header);
		hi_json_end(json);
	}
	hi_json_end(json);
}

static void slab_counts_json(const struct hi_slab_class *c, uint64_t wasted,
			     struct hi_json *json)
{
	hi_json_number(json, "slabs", c->slabs);
	hi_json_number(json, "bytes", c->bytes);
	hi_json_number(json, "slots", c->slots);
	hi_json_number(json, "live", c->live);
	hi_json_number(json, "cached", c->cached);
	hi_json_number(json, "free", hi_slab_class_free(c));
	hi_json_number(json, "empty_slabs", c->empty);
	hi_json_number(json, "sparse_slabs", c->sparse);
	hi_json_number(json, "sparse_bytes", c->sparse_bytes);
	hi_json_number(json, "rounding", c->slack);
	hi_json_number(json, "wasted", wasted);
}

/* Absent where no allocator has slabs. */
static void slabs_json(const struct hi_waste_report *r, struct hi_json *json)
{
	if (!r->n_slabs && !r->slabs_beyond.rows)
		return;
	hi_json_object(json, "slabs");
	slab_counts_json(&r->all_slabs, hi_waste_of_slabs(r->use), json);
	hi_json_end(json);
	hi_json_array(json, "slab_classes");
	for (size_t i = 0; i < r->n_slabs; i++) {
		hi_json_object(json, NULL);
		hi_json_text(json, "allocator", r->slabs[i].allocator);
		hi_json_number(json, "size", r->slabs[i].size);
		slab_counts_json(&r->slabs[i], hi_slab_class_wasted(&r->slabs[i]), json);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_object(json, "slab_classes_hidden");
	hi_json_number(json, "by_top", r->slabs_beyond.rows);
	hi_json_number(json, "wasted", r->slabs_beyond.bytes);
	hi_json_end(json);
}

static void allocator_json(const struct hi_heap_use *use, struct hi_json *json)
{
	classes_json(use, json);
	hi_json_array(json, "free");
	for (unsigned i = 0; i < HI_FREE_KINDS; i++) {
		const struct hi_free_blocks *f = &use->free[i];

		if (!hi_free_kind_shows(use, i))
			continue;
		hi_json_object(json, NULL);
		hi_json_text(json, "kind", hi_free_kind_key(i));
		hi_json_number(json, "blocks", f->count);
		hi_json_number(json, "bytes", f->bytes);
		hi_json_number(json, "largest", f->largest);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_array(json, "pages");
	for (unsigned i = 0; i < HI_PAGE_FILLS; i++) {
		const struct hi_page_class *p = &use->pages[i];

		hi_json_object(json, NULL);
		hi_json_text(json, "fill", hi_page_fill_key((enum hi_page_fill)i));
		hi_json_number(json, "pages", p->pages);
		hi_json_number(json, "bytes", p->bytes);
		hi_json_number(json, "allocated", p->allocated);
		hi_json_end(json);
	}
	hi_json_end(json);
	hi_json_bool(json, "residency_known", use->residency_known);
}

void hi_waste_json(const struct hi_waste_report *r, struct hi_json *json)
{
	hi_report_header_json(r->header, "heapinspect/waste/v1", json);
	hi_json_object(json, "live");
	counts_json(&r->waste->all, json);
	hi_json_end(json);
	hi_json_object(json, "unread");
	hi_json_number(json, "objects", r->waste->unread);
	hi_json_number(json, "bytes", r->waste->unread_bytes);
	hi_json_end(json);
	hi_json_array(json, "rows");
	for (size_t i = 0; i < r->n_rows; i++) {
		hi_json_object(json, NULL);
		if (r->row_names)
			hi_json_text(json, "site", r->rows[i].name);
		else
			hi_json_text(json, "type", hi_type_key(r->rows[i].name));
		counts_json(&r->rows[i].n, json);
		hi_json_end(json);
	}
	hi_json_end(json);
	groups_json(r, json);
	if (r->header->allocator) {
		allocator_json(r->use, json);
		slabs_json(r, json);
	}
	hi_hidden_json(json, &r->beyond, &r->below, &r->other);
	hi_json_end(json);
}
