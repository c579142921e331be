/* SPDX-License-Identifier: BSD-2-Clause */
/* Marks of contents, and counting again by them. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/usage/contents_internal.h"

void hi_contents_marks_free(struct hi_contents_marks *marks)
{
	free((void *)(uintptr_t)marks->equal);
	free((void *)(uintptr_t)marks->used);
	*marks = (struct hi_contents_marks){};
}

enum hi_status hi_contents_move_marks(struct hi_contents_comparison *c,
				      struct hi_contents_marks *ret, struct hi_error *err)
{
	struct hi_contents_used *used;
	size_t n = 0;

	for (size_t i = 0; i < c->n_chunks; i++)
		n += c->chunks[i].n_used;
	used = hi_alloc((n + 1) * sizeof(*used));
	if (!used)
		return hi_fail_memory(err, "contents");
	n = 0;
	for (size_t i = 0; i < c->n_chunks; i++) {
		if (c->chunks[i].n_used)
			memcpy(used + n, c->chunks[i].used,
			       c->chunks[i].n_used * sizeof(*used));
		n += c->chunks[i].n_used;
	}
	*ret = (struct hi_contents_marks){
		.equal = hi_take(c->equal), .used = used, .n_used = n};
	return HI_OK;
}

/* ---- counting again ---- */

struct recount {
	struct hi_contents_comparison c;
	struct hi_contents_worker worker;
	const struct hi_contents_marks *marks;
	const uint32_t *type_used;
	size_t next_used;
	uint32_t *slot_of; /* by the first object: its slot + 1; 0: none yet */
	struct hi_contents_slots HI_VECTOR(struct hi_contents_slot) slots;
};

static enum hi_status fail_bad_mark(const char *what, struct hi_error *err)
{
	return hi_fail(err, HI_BAD_DATA, 0, "%s", what);
}

static uint64_t bytes_used(uint32_t bytes, uint64_t usable)
{
	return bytes < usable && bytes != UINT32_MAX ? bytes : usable;
}

/* Ascending ids. */
static uint64_t used_of(struct recount *r, hi_node id, uint64_t usable)
{
	const struct hi_contents_marks *m = r->marks;

	while (r->next_used < m->n_used && m->used[r->next_used].object < id)
		r->next_used++;
	if (r->next_used < m->n_used && m->used[r->next_used].object == id)
		return bytes_used(m->used[r->next_used].bytes, usable);
	return r->type_used ? bytes_used(r->type_used[id], usable) : usable;
}

static struct hi_waste_row *marked_row_of(struct recount *r, hi_node id)
{
	const struct hi_contents_options *options = r->c.options;
	uint32_t row =
		options->row_of ? options->row_of[id] : r->c.graph->objects->type[id];

	return &r->worker.rows[row < r->c.n_rows ? row : 0];
}

/* Where rows are not by type, a group may be in several. */
static void count_copy_of_row(struct recount *r, hi_node id, hi_node first)
{
	struct hi_waste_row *row = marked_row_of(r, id);

	if (!r->c.options->row_of || id == first)
		return;
	row->copies++;
	row->copied += hi_objects_cost(r->c.graph->objects, id);
}

static enum hi_status add_to_group(struct recount *r, hi_node id, hi_node first,
				   struct hi_error *err)
{
	const struct hi_objects *o = r->c.graph->objects;

	if (first > id || r->marks->equal[first] != first ||
	    o->type[first] != o->type[id])
		return fail_bad_mark("equal to an object that does not exist", err);
	if (!r->slot_of[first]) {
		if (!hi_vector_push(&r->slots, (struct hi_contents_slot){}))
			return hi_fail_memory(err, "contents");
		r->slot_of[first] = (uint32_t)r->slots.count;
	}
	hi_contents_add(o, &r->slots.items[r->slot_of[first] - 1], id);
	count_copy_of_row(r, id, first);
	return HI_OK;
}

static enum hi_status count_marked_object(struct recount *r, hi_node id,
					  struct hi_error *err)
{
	const struct hi_graph *g = r->c.graph;
	struct hi_contents_worker *w = &r->worker;
	struct hi_contents_object o = {.id = id,
				       .usable = hi_objects_usable(g->objects, id),
				       .cost = hi_objects_cost(g->objects, id),
				       .is_known = true};
	uint32_t mark = r->marks->equal[id];
	struct hi_waste_row *row = marked_row_of(r, id);

	o.end = used_of(r, id, o.usable);
	row->objects++;
	row->bytes += o.cost;
	hi_contents_count_unused(&r->c, row, &o);
	switch (mark) {
	case HI_MARK_ALONE:
		return HI_OK;
	case HI_MARK_ZEROS:
		row->zeros++;
		row->zero_bytes += o.cost;
		return HI_OK;
	case HI_MARK_UNREAD:
		w->unread++;
		w->unread_bytes += o.cost;
		return HI_OK;
	default:
		return add_to_group(r, id, mark, err);
	}
}

static enum hi_status check_used_order(const struct recount *r, struct hi_error *err)
{
	const struct hi_contents_marks *m = r->marks;

	for (size_t i = 0; i < m->n_used; i++)
		if (m->used[i].object >= r->c.graph->n_objects ||
		    (i && m->used[i].object <= m->used[i - 1].object))
			return fail_bad_mark("bytes in use: not in order", err);
	return HI_OK;
}

static enum hi_status count_all(struct recount *r, struct hi_error *err)
{
	const struct hi_objects *o = r->c.graph->objects;
	enum hi_status status = check_used_order(r, err);

	for (hi_node i = 0; i < o->count && status == HI_OK; i++)
		if (hi_bit(r->c.reach->any, i) && !(o->flags[i] & HI_OBJECT_INTERNAL))
			status = count_marked_object(r, i, err);
	for (size_t i = 0; i < r->slots.count && status == HI_OK; i++)
		if (r->slots.items[i].count > 1)
			hi_contents_add_group(&r->worker, &r->slots.items[i]);
	if (status == HI_OK && r->worker.no_memory)
		status = hi_fail_memory(err, "contents");
	return status;
}

static int compare_used_object(const void *key, const void *row)
{
	hi_node id = *(const hi_node *)key;
	hi_node other = ((const struct hi_contents_used *)row)->object;

	return id < other ? -1 : id > other;
}

static void set_sizes(const struct recount *r, struct hi_waste *waste)
{
	for (size_t i = 0; i < waste->n_groups; i++) {
		struct hi_waste_group *g = &waste->groups[i];
		uint64_t usable = hi_objects_usable(r->c.graph->objects, g->first);
		const struct hi_contents_used *row =
			r->marks->n_used
				? bsearch(&g->first, r->marks->used, r->marks->n_used,
					  sizeof(*row), compare_used_object)
				: NULL;

		g->size = row		 ? bytes_used(row->bytes, usable)
			  : r->type_used ? bytes_used(r->type_used[g->first], usable)
					 : usable;
	}
}

enum hi_status hi_contents_recount(const struct hi_contents_marks *marks,
				   const uint32_t *type_used,
				   const struct hi_graph *graph,
				   const struct hi_reach *reach,
				   const struct hi_contents_options *options,
				   struct hi_waste **ret, struct hi_error *err)
{
	struct recount r = {.c = {.graph = graph,
				  .reach = reach,
				  .options = options,
				  .sizes = options->sizes,
				  .n_workers = 1},
			    .marks = marks,
			    .type_used = type_used};
	enum hi_status status = HI_OK;

	r.c.workers = &r.worker;
	r.worker.c = &r.c;
	r.c.n_rows = options->row_of ? options->n_rows : graph->n_types;
	r.worker.rows = hi_calloc((size_t)r.c.n_rows + 1, sizeof(*r.worker.rows));
	r.slot_of = hi_calloc((size_t)graph->n_objects + 1, sizeof(*r.slot_of));
	if (!r.worker.rows || !r.slot_of)
		status = hi_fail_memory(err, "contents");
	if (status == HI_OK)
		status = count_all(&r, err);
	if (status == HI_OK)
		status = hi_contents_result(&r.c, ret, err);
	if (status == HI_OK)
		set_sizes(&r, *ret);
	free(r.slot_of);
	free(r.worker.rows);
	free(r.c.groups);
	hi_vector_free(&r.worker.groups);
	hi_vector_free(&r.slots);
	return status;
}
