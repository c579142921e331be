/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data of `waste` in a snapshot file without the bytes of objects: which of them are
 * equal, which are zeros, how much of them is in use, and the allocator's blocks as
 * totals.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"
#include "decode/usage/contents.h"
#include "decode/usage/heap_use.h"
#include "session/snapshot/snapshot_source.h"

/* How the contents of a group begin, with --with-contents. */
struct text_row {
	uint32_t object;	   /* the first of equal ones */
	uint32_t text, cut, spare; /* offset of strings; 1: there is more of it */
};
enum table { CLASSES, FREE, PAGES, TABLES };
struct blocks_row {
	uint32_t table, row;
	uint64_t n[4];
};
struct slab_row {
	uint32_t allocator, spare; /* offset of strings */
	uint64_t size, slabs, bytes, slots, live, cached, empty, sparse, sparse_bytes,
		slack;
};
_Static_assert(sizeof(struct slab_row) == 88, "waste.slabs");
_Static_assert(sizeof(struct hi_contents_used) == 8, "waste.used");
_Static_assert(sizeof(struct text_row) == 16, "waste.texts");
_Static_assert(sizeof(struct blocks_row) == 40, "waste.blocks");

HI_DEFINE_GUARD(struct hi_waste *, hi_waste_destroy)

/* ---- blocks: one table of rows ---- */

static void give_blocks(struct hi_heap_use *use, const struct blocks_row *row)
{
	struct hi_size_class *c = &use->classes[row->row];
	struct hi_free_blocks *f = &use->free[row->row % HI_FREE_KINDS];
	struct hi_page_class *p = &use->pages[row->row % HI_PAGE_FILLS];
	const uint64_t *n = row->n;

	if (row->table == CLASSES)
		*c = (struct hi_size_class){n[0], n[1], n[2], n[3]};
	else if (row->table == FREE)
		*f = (struct hi_free_blocks){n[0], n[1], n[2]};
	else
		*p = (struct hi_page_class){n[0], n[1], n[2]};
}

static size_t take_blocks(const struct hi_heap_use *use, struct blocks_row *rows)
{
	size_t count = 0;

	for (uint32_t i = 0; i < use->n_classes; i++) {
		const struct hi_size_class *c = &use->classes[i];

		rows[count++] = (struct blocks_row){
			CLASSES, i, {c->largest, c->count, c->bytes, c->header}};
	}
	for (uint32_t i = 0; i < HI_FREE_KINDS; i++) {
		const struct hi_free_blocks *f = &use->free[i];

		/* Earlier versions know the first ones alone. */
		if (HI_BLOCK_FREE_FIRST + i > HI_BLOCK_FREE_TOP && !f->count)
			continue;
		rows[count++] =
			(struct blocks_row){FREE, i, {f->count, f->bytes, f->largest}};
	}
	for (uint32_t i = 0; i < HI_PAGE_FILLS; i++) {
		const struct hi_page_class *p = &use->pages[i];

		rows[count++] =
			(struct blocks_row){PAGES, i, {p->pages, p->bytes, p->allocated}};
	}
	return count;
}

static enum hi_status put_slab_classes(struct hi_snapshot_writer *w,
				       const struct hi_heap_use *use,
				       struct hi_error *err)
{
	HI_GUARD(free)
	struct slab_row *rows = hi_calloc(use->n_slab_classes + 1, sizeof(*rows));
	enum hi_status status = HI_OK;

	if (!rows)
		return hi_fail_memory(err, "slabs");
	if (!use->n_slab_classes)
		return HI_OK;
	for (size_t i = 0; i < use->n_slab_classes && status == HI_OK; i++) {
		const struct hi_slab_class *c = &use->slab_classes[i];

		rows[i] =
			(struct slab_row){0,	    0,	       c->size,		c->slabs,
					  c->bytes, c->slots,  c->live,		c->cached,
					  c->empty, c->sparse, c->sparse_bytes, c->slack};
		status = hi_snapshot_put_string(w, c->allocator, &rows[i].allocator, err);
	}
	return status == HI_OK ? hi_snapshot_put(w, "waste.slabs", rows, sizeof(*rows),
						 use->n_slab_classes, err)
			       : status;
}

static enum hi_status put_heap_use(struct hi_snapshot_writer *w,
				   const struct hi_heap_use *use, struct hi_error *err)
{
	struct blocks_row rows[HI_SIZE_CLASSES + HI_FREE_KINDS + HI_PAGE_FILLS];
	enum hi_status status = hi_snapshot_put(w, "waste.blocks", rows, sizeof(*rows),
						take_blocks(use, rows), err);

	if (status == HI_OK)
		status = hi_snapshot_put_number(w, "waste.residency",
						use->residency_known, err);
	if (status == HI_OK)
		status = hi_snapshot_put_number(w, "waste.free_kinds",
						use->states >> HI_BLOCK_FREE_FIRST &
							((1u << HI_FREE_KINDS) - 1),
						err);
	return status == HI_OK ? put_slab_classes(w, use, err) : status;
}

static enum hi_status put_blocks(struct hi_inspection *in, struct hi_snapshot_writer *w,
				 struct hi_error *err)
{
	struct hi_heap_use use = {};
	enum hi_status status = hi_heap_use_measure(in->image, in->decoders.allocator,
						    hi_inspection_threads(in), &use, err);

	if (status == HI_OK)
		status = put_heap_use(w, &use, err);
	hi_heap_use_free(&use);
	return status;
}

static enum hi_status report_bad_waste(const struct hi_inspection *in,
				       const char *section, const char *what,
				       struct hi_error *err)
{
	return hi_fail(err, HI_BAD_DATA, 0, "%.120s: section %s: %.80s",
		       in->options->target.file, section, what);
}

static void sum_up(struct hi_heap_use *use)
{
	for (size_t i = 0; i < use->n_classes; i++) {
		use->allocated += use->classes[i].count;
		use->allocated_bytes += use->classes[i].bytes;
		use->header += use->classes[i].header;
	}
}

/* Nothing where the file has none: no slabs, or written by an earlier version. */
static enum hi_status give_slab_classes(struct hi_inspection *in, struct hi_heap_use *ret,
					struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;
	const struct slab_row *rows;
	const void *items = NULL;
	uint64_t n = 0;
	enum hi_status status =
		hi_snapshot_get(s, "waste.slabs", sizeof(*rows), &items, &n, err);

	if (status != HI_OK)
		return status == HI_NOT_FOUND ? HI_OK : status;
	if (n > HI_SLAB_CLASSES)
		return report_bad_waste(in, "waste.slabs", "too many rows", err);
	rows = items;
	ret->slab_classes = hi_calloc(n + 1, sizeof(*ret->slab_classes));
	if (!ret->slab_classes)
		return hi_fail_memory(err, "slabs");
	for (uint64_t i = 0; i < n; i++) {
		const struct slab_row *r = &rows[i];
		const char *allocator = hi_snapshot_string(s, r->allocator);

		if (!allocator)
			return report_bad_waste(in, "waste.slabs",
						"a text that does not exist", err);
		ret->slab_classes[ret->n_slab_classes++] = (struct hi_slab_class){
			allocator, r->size,	    r->slabs,  r->bytes,
			r->slots,  r->live,	    r->cached, r->empty,
			r->sparse, r->sparse_bytes, r->slack};
	}
	return HI_OK;
}

static enum hi_status give_block_tables(struct hi_inspection *in,
					const struct blocks_row *rows, uint64_t n,
					struct hi_heap_use *ret, struct hi_error *err)
{
	static const uint32_t most[TABLES] = {HI_SIZE_CLASSES, HI_FREE_KINDS,
					      HI_PAGE_FILLS};

	for (uint64_t i = 0; i < n; i++) {
		if (rows[i].table >= TABLES || rows[i].row >= most[rows[i].table])
			return report_bad_waste(in, "waste.blocks", "an impossible row",
						err);
		give_blocks(ret, &rows[i]);
		if (rows[i].table == CLASSES && rows[i].row >= ret->n_classes)
			ret->n_classes = rows[i].row + 1;
	}
	sum_up(ret);
	return HI_OK;
}

enum hi_status hi_snapshot_source_heap_use(struct hi_inspection *in,
					   struct hi_heap_use *ret, struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;
	const void *items = NULL;
	uint64_t n = 0, kinds = hi_snapshot_number(s, "waste.free_kinds", 0);
	enum hi_status status = hi_snapshot_get(
		s, "waste.blocks", sizeof(struct blocks_row), &items, &n, err);

	*ret = (struct hi_heap_use){
		.states = (uint32_t)(kinds & ((1u << HI_FREE_KINDS) - 1))
			  << HI_BLOCK_FREE_FIRST,
		.residency_known = hi_snapshot_number(s, "waste.residency", 0) != 0};
	if (status != HI_OK)
		return status == HI_NOT_FOUND
			       ? report_bad_waste(in, "waste.blocks", "is missing", err)
			       : status;
	status = give_block_tables(in, items, n, ret, err);
	if (status == HI_OK)
		status = give_slab_classes(in, ret, err);
	if (status != HI_OK)
		hi_heap_use_free(ret);
	return status;
}

/* ---- writing ---- */

static int by_object(const void *a, const void *b)
{
	const struct text_row *x = a, *y = b;

	return x->object < y->object ? -1 : x->object > y->object;
}

static enum hi_status put_texts(struct hi_snapshot_writer *w,
				const struct hi_waste *waste, struct hi_error *err)
{
	HI_GUARD(free)
	struct text_row *rows = hi_alloc((waste->n_groups + 1) * sizeof(*rows));
	enum hi_status status = HI_OK;
	size_t n = 0;

	if (!rows)
		return hi_fail_memory(err, "contents");
	for (size_t i = 0; i < waste->n_groups && status == HI_OK; i++) {
		const struct hi_waste_group *g = &waste->groups[i];

		if (!g->is_text)
			continue;
		rows[n] = (struct text_row){.object = g->first, .cut = g->cut};
		status = hi_snapshot_put_string(w, g->text, &rows[n++].text, err);
	}
	if (n > 1)
		qsort(rows, n, sizeof(*rows), by_object);
	return status == HI_OK
		       ? hi_snapshot_put(w, "waste.texts", rows, sizeof(*rows), n, err)
		       : status;
}

static enum hi_status put_contents_marks(const struct hi_inspection *in,
					 struct hi_snapshot_writer *w,
					 const struct hi_contents_marks *marks,
					 struct hi_error *err)
{
	enum hi_status status =
		hi_snapshot_put(w, "waste.equal", marks->equal, sizeof(*marks->equal),
				in->graph->n_objects, err);

	return status == HI_OK ? hi_snapshot_put(w, "waste.used", marks->used,
						 sizeof(*marks->used), marks->n_used, err)
			       : status;
}

/* Of the main allocator; nothing of glibc, whose rule needs no table. */
static enum hi_status put_sizes(struct hi_snapshot_writer *w,
				const struct hi_block_sizes *sizes, struct hi_error *err)
{
	const struct hi_size_rule *rule = &sizes->rules[0];
	enum hi_status status;

	if (!sizes->n || (!rule->n && !rule->step))
		return HI_OK;
	status = hi_snapshot_put_number(w, "waste.size_step", rule->step, err);
	return status == HI_OK ? hi_snapshot_put(w, "waste.sizes", rule->sizes,
						 sizeof(*rule->sizes), rule->n, err)
			       : status;
}

enum hi_status hi_snapshot_save_waste(struct hi_inspection *in,
				      struct hi_snapshot_writer *w, struct hi_error *err)
{
	struct hi_contents_marks marks = {};
	bool texts = in->options->snap.with_contents;
	struct hi_contents_options options = {.threads = hi_inspection_threads(in),
					      .marks = &marks,
					      .top = texts ? SIZE_MAX : 0};
	HI_GUARD(hi_waste_destroy) struct hi_waste *waste = NULL;
	enum hi_status status;

	hi_inspect_phase(in, "comparing contents");
	status = hi_contents_compare(in->image, in->decoders.typing, in->graph,
				     in->results.reach, &options, &waste, err);
	if (status == HI_OK)
		status = put_contents_marks(in, w, &marks, err);
	if (status == HI_OK && texts)
		status = put_texts(w, waste, err);
	hi_contents_marks_free(&marks);
	if (status == HI_OK)
		status = put_blocks(in, w, err);
	if (status == HI_OK)
		status = put_sizes(w, hi_typing_sizes(in->decoders.typing), err);
	hi_inspect_phase(in, "writing the snapshot");
	return status;
}

/* ---- reading ---- */

static enum hi_status take_waste_section(struct hi_inspection *in, const char *name,
					 size_t item, const void **items, uint64_t *n,
					 struct hi_error *err)
{
	enum hi_status status = hi_snapshot_get(in->snapshot->snapshot, name,
						(uint32_t)item, items, n, err);

	return status == HI_NOT_FOUND ? report_bad_waste(in, name, "is missing", err)
				      : status;
}

/* Nothing where the file has none. */
static enum hi_status give_texts(struct hi_inspection *in, const uint32_t *equal,
				 struct hi_waste *waste, struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;
	const void *items = NULL;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_get(s, "waste.texts", sizeof(struct text_row),
						&items, &n, err);

	waste->texts_missing = status == HI_NOT_FOUND;
	if (status != HI_OK)
		return status == HI_NOT_FOUND ? HI_OK : status;
	for (size_t i = 0; i < waste->n_groups && n; i++) {
		struct hi_waste_group *g = &waste->groups[i];
		struct text_row key = {.object = equal[g->first]};
		const struct text_row *row =
			bsearch(&key, items, n, sizeof(*row), by_object);
		const char *text = row ? hi_snapshot_string(s, row->text) : NULL;

		if (row && !text)
			return report_bad_waste(in, "waste.texts",
						"a text that does not exist", err);
		if (!row)
			continue;
		g->is_text = true;
		g->cut = row->cut != 0;
		snprintf(g->text, sizeof(g->text), "%s", text);
	}
	return HI_OK;
}

/* Checks that ids are in range; hi_contents_recount checks their meaning. */
enum hi_status hi_snapshot_source_equal(struct hi_inspection *in, const uint32_t **ret,
					struct hi_error *err)
{
	hi_node objects = in->graph->n_objects;
	const void *items = NULL;
	const uint32_t *equal;
	uint64_t n = 0;
	enum hi_status status;

	*ret = NULL;
	if (!hi_snapshot_has(in->snapshot->snapshot, "waste.equal"))
		return HI_OK;
	status = take_waste_section(in, "waste.equal", sizeof(*equal), &items, &n, err);
	if (status != HI_OK)
		return status;
	if (n != objects)
		return report_bad_waste(in, "waste.equal",
					"their number is not that of the objects", err);
	equal = items;
	for (hi_node i = 0; i < objects; i++)
		if (equal[i] < HI_MARK_UNREAD && equal[i] >= objects)
			return report_bad_waste(in, "waste.equal",
						"an object that does not exist", err);
	*ret = equal;
	return HI_OK;
}

static enum hi_status take_contents_marks(struct hi_inspection *in,
					  struct hi_contents_marks *marks,
					  struct hi_error *err)
{
	const uint32_t *equal;
	const void *used = NULL;
	uint64_t n_used = 0;
	enum hi_status status = hi_snapshot_source_equal(in, &equal, err);

	if (status != HI_OK)
		return status;
	if (!equal)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "waste: %.120s was written by an earlier version, which "
			       "did not compare contents: take a new snapshot",
			       in->options->target.file);
	status = take_waste_section(in, "waste.used", sizeof(*marks->used), &used,
				    &n_used, err);
	if (status == HI_OK && !in->snapshot->used)
		status = hi_snapshot_used(in->snapshot->snapshot, in->graph,
					  &in->snapshot->used, err);
	*marks = (struct hi_contents_marks){equal, used, n_used};
	return status;
}

/* Hostile: sizes that do not ascend find a wrong one, never one outside of them. */
static enum hi_status take_sizes(struct hi_inspection *in, struct hi_block_sizes *ret,
				 struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;
	struct hi_size_rule rule = {.step = hi_snapshot_number(s, "waste.size_step", 0)};
	const void *items = NULL;
	uint64_t n = 0;
	enum hi_status status =
		hi_snapshot_get(s, "waste.sizes", sizeof(*rule.sizes), &items, &n, err);

	*ret = (struct hi_block_sizes){};
	if (status != HI_OK)
		return status == HI_NOT_FOUND ? HI_OK : status;
	rule.sizes = items;
	rule.n = n;
	ret->rules[ret->n++] = rule;
	return HI_OK;
}

enum hi_status hi_snapshot_source_waste(struct hi_inspection *in,
					const struct hi_contents_options *options,
					struct hi_waste **ret, struct hi_error *err)
{
	HI_GUARD(hi_waste_destroy) struct hi_waste *waste = NULL;
	struct hi_contents_options by_sizes = *options;
	struct hi_block_sizes sizes;
	struct hi_contents_marks marks;
	struct hi_error why = {};
	enum hi_status status = take_contents_marks(in, &marks, err);

	if (status == HI_OK)
		status = take_sizes(in, &sizes, err);
	if (status != HI_OK)
		return status;
	by_sizes.sizes = &sizes;
	status = hi_contents_recount(&marks, in->snapshot->used, in->graph,
				     in->shown.reach, &by_sizes, &waste, &why);
	if (status == HI_BAD_DATA)
		return report_bad_waste(in, "waste.equal", why.text, err);
	if (status == HI_OK)
		status = give_texts(in, marks.equal, waste, &why);
	if (status == HI_OK)
		*ret = hi_take(waste);
	else if (err)
		*err = why;
	return status;
}
