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
#include "census/snapshot/snapshot_format.h"
#include "census/snapshot/snapshot_sections.h"
#include "decode/usage/contents.h"
#include "decode/usage/heap_use.h"
#include "session/snapshot/prepared.h"
#include "session/snapshot/snapshot_source.h"

_Static_assert(sizeof(struct hi_contents_used) == sizeof(struct hi_snapshot_used_row),
	       "waste.used");
_Static_assert(HI_MARK_UNREAD == HI_SNAPSHOT_EQUAL_SPECIAL, "waste.equal");

static const struct hi_row_member slab_members[] = {
#define SLAB_MEMBER(name)                                                                \
	HI_ROW_MEMBER(struct hi_snapshot_slab_row, name, struct hi_slab_class, name)
	SLAB_MEMBER(allocator),	   SLAB_MEMBER(size),  SLAB_MEMBER(slabs),
	SLAB_MEMBER(bytes),	   SLAB_MEMBER(slots), SLAB_MEMBER(live),
	SLAB_MEMBER(cached),	   SLAB_MEMBER(empty), SLAB_MEMBER(sparse),
	SLAB_MEMBER(sparse_bytes), SLAB_MEMBER(slack),
#undef SLAB_MEMBER
};
static const struct hi_row_map slab_map =
	HI_ROW_MAP("waste.slabs", struct hi_slab_class, slab_members);

/* ---- blocks: one table of rows ---- */

static void give_blocks(struct hi_heap_use *use, const struct hi_snapshot_blocks_row *row)
{
	struct hi_size_class *c = &use->classes[row->row];
	struct hi_free_blocks *f = &use->free[row->row % HI_FREE_KINDS];
	struct hi_page_class *p = &use->pages[row->row % HI_PAGE_FILLS];
	const uint64_t *n = row->n;

	if (row->table == HI_SNAPSHOT_BLOCKS_CLASSES)
		*c = (struct hi_size_class){n[0], n[1], n[2], n[3]};
	else if (row->table == HI_SNAPSHOT_BLOCKS_FREE)
		*f = (struct hi_free_blocks){n[0], n[1], n[2]};
	else
		*p = (struct hi_page_class){n[0], n[1], n[2]};
}

static size_t take_blocks(const struct hi_heap_use *use,
			  struct hi_snapshot_blocks_row *rows)
{
	size_t count = 0;

	for (uint32_t i = 0; i < use->n_classes; i++) {
		const struct hi_size_class *c = &use->classes[i];

		rows[count++] = (struct hi_snapshot_blocks_row){
			HI_SNAPSHOT_BLOCKS_CLASSES,
			i,
			{c->largest, c->count, c->bytes, c->header}};
	}
	for (uint32_t i = 0; i < HI_FREE_KINDS; i++) {
		const struct hi_free_blocks *f = &use->free[i];

		/* Earlier versions know the first ones alone. */
		if (HI_BLOCK_FREE_FIRST + i > HI_BLOCK_FREE_TOP && !f->count)
			continue;
		rows[count++] = (struct hi_snapshot_blocks_row){
			HI_SNAPSHOT_BLOCKS_FREE, i, {f->count, f->bytes, f->largest}};
	}
	for (uint32_t i = 0; i < HI_PAGE_FILLS; i++) {
		const struct hi_page_class *p = &use->pages[i];

		rows[count++] = (struct hi_snapshot_blocks_row){
			HI_SNAPSHOT_BLOCKS_PAGES, i, {p->pages, p->bytes, p->allocated}};
	}
	return count;
}

static enum hi_status put_heap_use(struct hi_snapshot_writer *w,
				   const struct hi_heap_use *use, struct hi_error *err)
{
	struct hi_snapshot_blocks_row
		rows[HI_SIZE_CLASSES + HI_FREE_KINDS + HI_PAGE_FILLS];
	enum hi_status status = hi_snapshot_put_section(w, "waste.blocks", rows,
							take_blocks(use, rows), err);

	if (status == HI_OK)
		status = hi_snapshot_put_number(w, "waste.residency",
						use->residency_known, err);
	if (status == HI_OK)
		status = hi_snapshot_put_number(w, "waste.free_kinds",
						use->states >> HI_BLOCK_FREE_FIRST &
							((1u << HI_FREE_KINDS) - 1),
						err);
	return status == HI_OK && use->n_slab_classes
		       ? hi_snapshot_put_rows(w, &slab_map, use->slab_classes,
					      use->n_slab_classes, err)
		       : status;
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

static void sum_up(struct hi_heap_use *use)
{
	for (size_t i = 0; i < use->n_classes; i++) {
		use->allocated += use->classes[i].count;
		use->allocated_bytes += use->classes[i].bytes;
		use->header += use->classes[i].header;
	}
}

enum hi_status hi_snapshot_source_heap_use(struct hi_inspection *in,
					   struct hi_heap_use *ret, struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;
	const struct hi_snapshot_blocks_row *rows = NULL;
	uint64_t n = 0, kinds = hi_snapshot_number(s, "waste.free_kinds", 0);
	enum hi_status status = hi_snapshot_rows(s, "waste.blocks", &rows, &n, err);

	*ret = (struct hi_heap_use){
		.states = (uint32_t)(kinds & ((1u << HI_FREE_KINDS) - 1))
			  << HI_BLOCK_FREE_FIRST,
		.residency_known = hi_snapshot_number(s, "waste.residency", 0) != 0};
	for (uint64_t i = 0; i < n; i++) {
		give_blocks(ret, &rows[i]);
		if (rows[i].table == HI_SNAPSHOT_BLOCKS_CLASSES &&
		    rows[i].row >= ret->n_classes)
			ret->n_classes = rows[i].row + 1;
	}
	sum_up(ret);
	if (status == HI_OK)
		status = hi_snapshot_take_rows(s, &slab_map, NULL, &ret->slab_classes,
					       &ret->n_slab_classes, err);
	if (status != HI_OK)
		hi_heap_use_free(ret);
	return status;
}

/* ---- writing ---- */

static int by_object(const void *a, const void *b)
{
	const struct hi_snapshot_text_row *x = a, *y = b;

	return x->object < y->object ? -1 : x->object > y->object;
}

static enum hi_status put_texts(struct hi_snapshot_writer *w,
				const struct hi_waste *waste, struct hi_error *err)
{
	HI_GUARD(free)
	struct hi_snapshot_text_row *rows =
		hi_alloc((waste->n_groups + 1) * sizeof(*rows));
	enum hi_status status = HI_OK;
	size_t n = 0;

	if (!rows)
		return hi_fail_memory(err, "contents");
	for (size_t i = 0; i < waste->n_groups && status == HI_OK; i++) {
		const struct hi_waste_group *g = &waste->groups[i];

		if (!g->is_text)
			continue;
		rows[n] =
			(struct hi_snapshot_text_row){.object = g->first, .cut = g->cut};
		status = hi_snapshot_put_string(w, g->text, &rows[n++].text, err);
	}
	if (n > 1)
		qsort(rows, n, sizeof(*rows), by_object);
	return status == HI_OK ? hi_snapshot_put_section(w, "waste.texts", rows, n, err)
			       : status;
}

static enum hi_status put_contents_marks(const struct hi_inspection *in,
					 struct hi_snapshot_writer *w,
					 const struct hi_contents_marks *marks,
					 struct hi_error *err)
{
	enum hi_status status = hi_snapshot_put_section(w, "waste.equal", marks->equal,
							in->graph->n_objects, err);

	return status == HI_OK ? hi_snapshot_put_section(w, "waste.used", marks->used,
							 marks->n_used, err)
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
	return status == HI_OK ? hi_snapshot_put_section(w, "waste.sizes", rule->sizes,
							 rule->n, err)
			       : status;
}

struct hi_snapshot_contents {
	struct hi_contents_marks marks;
	struct hi_waste *waste;
};

void hi_snapshot_contents_destroy(struct hi_snapshot_contents *contents)
{
	if (!contents)
		return;
	hi_contents_marks_free(&contents->marks);
	hi_waste_destroy(contents->waste);
	free(contents);
}

enum hi_status hi_snapshot_prepare_contents(struct hi_inspection *in, unsigned threads,
					    struct hi_error *err)
{
	bool texts = in->options->snap.with_contents;
	struct hi_contents_options options = {.threads = threads,
					      .top = texts ? SIZE_MAX : 0};

	in->contents = hi_calloc(1, sizeof(*in->contents));
	if (!in->contents)
		return hi_fail_memory(err, "contents");
	options.marks = &in->contents->marks;
	return hi_contents_compare(in->image, in->decoders.typing, in->graph,
				   in->results.reach, &options, &in->contents->waste,
				   err);
}

enum hi_status hi_snapshot_save_waste(struct hi_inspection *in,
				      struct hi_snapshot_writer *w, struct hi_error *err)
{
	bool texts = in->options->snap.with_contents;
	enum hi_status status = HI_OK;

	if (!in->contents) {
		hi_inspect_phase(in, "comparing contents");
		status = hi_snapshot_prepare_contents(in, hi_inspection_threads(in), err);
	}
	if (status == HI_OK)
		status = put_contents_marks(in, w, &in->contents->marks, err);
	if (status == HI_OK && texts)
		status = put_texts(w, in->contents->waste, err);
	hi_snapshot_contents_destroy(hi_take(in->contents));
	if (status == HI_OK)
		status = put_blocks(in, w, err);
	if (status == HI_OK)
		status = put_sizes(w, hi_typing_sizes(in->decoders.typing), err);
	hi_inspect_phase(in, "writing the snapshot");
	return status;
}

/* ---- reading ---- */

/* Nothing where the file has none. */
static enum hi_status give_texts(struct hi_inspection *in, const uint32_t *equal,
				 struct hi_waste *waste, struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;
	const struct hi_snapshot_text_row *rows = NULL;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_rows(s, "waste.texts", &rows, &n, err);

	waste->texts_missing = !rows;
	for (size_t i = 0; i < waste->n_groups && n; i++) {
		struct hi_waste_group *g = &waste->groups[i];
		struct hi_snapshot_text_row key = {.object = equal[g->first]};
		const struct hi_snapshot_text_row *row =
			bsearch(&key, rows, n, sizeof(*row), by_object);

		if (!row)
			continue;
		g->is_text = true;
		g->cut = row->cut != 0;
		snprintf(g->text, sizeof(g->text), "%s",
			 hi_snapshot_string(s, row->text));
	}
	return status;
}

/* Checks that ids are in range; hi_contents_recount checks their meaning. */
enum hi_status hi_snapshot_source_equal(struct hi_inspection *in,
					struct hi_contents_marks *own,
					const uint32_t **ret, struct hi_error *err)
{
	uint64_t n = 0;

	(void)own;
	return hi_snapshot_rows(in->snapshot->snapshot, "waste.equal", ret, &n, err);
}

static enum hi_status take_contents_marks(struct hi_inspection *in,
					  struct hi_contents_marks *marks,
					  struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;
	enum hi_status status = hi_snapshot_source_equal(in, NULL, &marks->equal, err);

	if (status != HI_OK)
		return status;
	if (!marks->equal)
		return hi_fail(err, HI_UNSUPPORTED, 0,
			       "waste: %.120s was written by an earlier version, which "
			       "did not compare contents: take a new snapshot",
			       in->options->target.file);
	status = hi_snapshot_rows(s, "waste.used", &marks->used, &marks->n_used, err);
	if (status == HI_OK && !in->snapshot->used)
		status = hi_snapshot_used(s, &in->snapshot->used, err);
	return status;
}

/* Hostile: sizes that do not ascend find a wrong one, never one outside of them. */
static enum hi_status take_sizes(struct hi_inspection *in, struct hi_block_sizes *ret,
				 struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;
	struct hi_size_rule rule = {.step = hi_snapshot_number(s, "waste.size_step", 0)};
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_rows(s, "waste.sizes", &rule.sizes, &n, err);

	*ret = (struct hi_block_sizes){};
	rule.n = n;
	if (status == HI_OK && rule.sizes)
		ret->rules[ret->n++] = rule;
	return status;
}

enum hi_status hi_snapshot_source_waste(struct hi_inspection *in,
					const struct hi_contents_options *options,
					struct hi_waste **ret, struct hi_error *err)
{
	HI_GUARD(hi_waste_destroy) struct hi_waste *waste = NULL;
	struct hi_contents_options by_sizes = *options;
	struct hi_block_sizes sizes;
	struct hi_contents_marks marks = {};
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
		return hi_fail(err, HI_BAD_DATA, 0, "%.120s: section waste.equal: %.80s",
			       in->options->target.file, why.text);
	if (status == HI_OK)
		status = give_texts(in, marks.equal, waste, &why);
	if (status == HI_OK)
		*ret = hi_take(waste);
	else if (err)
		*err = why;
	return status;
}
