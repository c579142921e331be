/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/allocators/tcmalloc.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"

enum { MAX_RANGES = 16 };

static struct hi_tcmalloc *tcmalloc_of(struct hi_allocator *a)
{
	return (struct hi_tcmalloc *)a;
}

static void free_tcmalloc_parts(struct hi_tcmalloc *t)
{
	for (size_t i = 0; i < t->leaves.count; i++)
		free(t->leaves.items[i].ids);
	hi_vector_free(&t->leaves);
	hi_vector_free(&t->metadata);
	hi_vector_free(&t->where.caches);
	hi_window_free(&t->map);
	hi_window_free(&t->spans);
	hi_window_free(&t->blocks);
}

static void release_tcmalloc(struct hi_allocator *a)
{
	struct hi_tcmalloc *t = tcmalloc_of(a);

	free_tcmalloc_parts(t);
	hi_slabs_deinit(&t->slabs);
	free(t->base.damage);
	free(t);
}

static enum hi_status walk_tcmalloc(struct hi_allocator *a, hi_blocks_fn *fn, void *arg,
				    struct hi_error *err)
{
	return hi_slabs_walk(&tcmalloc_of(a)->slabs, fn, arg, err);
}

static enum hi_status walk_tcmalloc_region(struct hi_allocator *a, unsigned region,
					   hi_blocks_fn *fn, void *arg,
					   struct hi_error *err)
{
	return hi_slabs_walk_region(&tcmalloc_of(a)->slabs, region, fn, arg, err);
}

static void restart_tcmalloc(struct hi_allocator *a)
{
	hi_slabs_restart(&tcmalloc_of(a)->slabs);
}

/* ---- probe ---- */

/* Takes out the slabs of damaged classes. */
static void drop_damaged_classes(struct hi_tcmalloc *t)
{
	struct hi_slab_items *items = &t->slabs.items;
	size_t kept = 0;

	for (size_t i = 0; i < items->count; i++) {
		const struct hi_slab *s = &items->items[i];

		if (s->is_small && t->classes[s->context].damaged)
			t->base.skipped_bytes += s->end - s->start;
		else
			items->items[kept++] = *s;
	}
	items->count = kept;
}

static int compare_pages(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static enum hi_status add_metadata_slab(struct hi_tcmalloc *t, uint64_t start,
					uint64_t end, struct hi_error *err)
{
	const struct hi_slab slab = {.start = start,
				     .end = end,
				     .first = start,
				     .size = end - start,
				     .usable = end - start,
				     .n = 1,
				     .align_shift = 12};

	return hi_slabs_add(&t->slabs, &slab, HI_BLOCK_METADATA, NULL, err);
}

/* Of all that was read of it: leaves, Spans and caches, in runs of pages. */
static enum hi_status add_metadata(struct hi_tcmalloc *t, struct hi_error *err)
{
	const uint64_t *pages;
	enum hi_status status = HI_OK;
	size_t first = 0, n;

	for (size_t i = 0; i < t->where.caches.count; i++)
		if (!hi_tcmalloc_note_metadata(t, t->where.caches.items[i],
					       t->layout->cache_bytes))
			return hi_fail_memory(err, "thread caches");
	pages = t->metadata.items;
	n = t->metadata.count;
	if (n > 1)
		qsort(t->metadata.items, n, sizeof(*pages), compare_pages);
	for (size_t i = 1; i <= n && status == HI_OK; i++) {
		if (i < n && pages[i] - pages[i - 1] <= 4096)
			continue;
		status = add_metadata_slab(t, pages[first], pages[i - 1] + 4096, err);
		first = i;
	}
	return status;
}

static enum hi_status read_tcmalloc_heap(struct hi_tcmalloc *t,
					 const struct hi_tcmalloc_data *data,
					 struct hi_error *err)
{
	enum hi_status status = hi_tcmalloc_find(t, data, err);

	if (status == HI_OK)
		status = hi_tcmalloc_add_spans(t, err);
	if (status == HI_OK)
		status = hi_tcmalloc_mark_cached(t, err);
	if (status != HI_OK)
		return status;
	drop_damaged_classes(t);
	status = add_metadata(t, err);
	if (status == HI_OK)
		status = hi_slabs_seal(&t->slabs, err);
	if (t->map.out_of_memory || t->spans.out_of_memory || t->blocks.out_of_memory)
		return hi_fail_memory(err, "window");
	return status;
}

static void describe_tcmalloc(struct hi_tcmalloc *t, const struct hi_tcmalloc_data *data)
{
	struct hi_allocator *a = &t->base;

	snprintf(a->name, sizeof(a->name), "tcmalloc");
	snprintf(a->version, sizeof(a->version), "%s, pages of %u KiB",
		 t->layout->version, 1u << (t->where.page_shift - 10));
	snprintf(a->module, sizeof(a->module), "%s", data->module);
	snprintf(a->found_by, sizeof(a->found_by),
		 "size map, central lists, page map, thread caches");
	snprintf(a->checks, sizeof(a->checks),
		 "blocks of each span, pages and counters of %u classes, transfer "
		 "caches, %zu thread caches",
		 t->n_classes - 1, t->where.caches.count);
	a->n_arenas = t->where.caches.count;
	for (uint32_t i = 1; i < t->n_classes; i++)
		t->sizes[i - 1] = t->classes[i].size;
	a->sizes = t->sizes;
	a->n_sizes = t->n_classes - 1;
	a->size_step = 1ull << t->where.page_shift;
}

static struct hi_tcmalloc *create_tcmalloc(const struct hi_image *image,
					   const struct hi_tcmalloc_layout *layout)
{
	struct hi_tcmalloc *t = hi_calloc(1, sizeof(*t));
	uint64_t swapped = image->stats.pages_swapped * 4096;

	if (!t)
		return NULL;
	t->base.ops = &hi_allocator_tcmalloc;
	t->image = image;
	t->layout = layout;
	t->map.memory = t->spans.memory = t->blocks.memory = image->memory;
	/* A block was written to when its span was made. */
	t->max_slots = (hi_image_held_bytes(image) + swapped) / 8 + HI_TCMALLOC_CLASSES;
	hi_slabs_init(&t->slabs, &t->base, image, NULL);
	return t;
}

static enum hi_status open_at(const struct hi_image *image,
			      const struct hi_tcmalloc_data *data, uint64_t sizes,
			      const struct hi_tcmalloc_layout *layout,
			      struct hi_allocator **ret, struct hi_error *err)
{
	struct hi_tcmalloc *t = create_tcmalloc(image, layout);
	enum hi_status status;

	if (!t)
		return hi_fail_memory(err, "tcmalloc");
	t->where.layout = layout;
	t->where.sizes = sizes;
	status = read_tcmalloc_heap(t, data, err);
	if (status != HI_OK) {
		release_tcmalloc(&t->base);
		return status;
	}
	describe_tcmalloc(t, data);
	free_tcmalloc_parts(t);
	memset(&t->leaves, 0, sizeof(t->leaves));
	*ret = &t->base;
	return HI_OK;
}

enum hi_status hi_tcmalloc_open(const struct hi_image *image,
				const struct hi_tcmalloc_data *data,
				const struct hi_tcmalloc_layout *layout,
				struct hi_allocator **ret, struct hi_error *err)
{
	uint64_t sizes = hi_tcmalloc_find_sizes(image, data);

	if (!sizes)
		return hi_fail(err, HI_NOT_FOUND, 0, "no size map");
	return open_at(image, data, sizes, layout, ret, err);
}

/* A check that fails late says more than one that fails at once. */
static unsigned rank_of_failure(const struct hi_error *err)
{
	static const char *const stages[] = {"size map", "central lists: none",
					     "page map", "thread caches: no", "spans"};

	for (unsigned i = 0; i < sizeof(stages) / sizeof(*stages); i++)
		if (strncmp(err->text, stages[i], strlen(stages[i])) == 0)
			return i;
	return sizeof(stages) / sizeof(*stages);
}

/* One whose size map and central lists are there is tcmalloc; less may be chance. */
static bool is_worth_naming(const struct hi_tcmalloc_data *data,
			    const struct hi_error *why)
{
	return strncmp(data->module, "libtcmalloc", 11) == 0 || rank_of_failure(why) > 1;
}

static enum hi_status probe_module(const struct hi_image *image,
				   const struct hi_tcmalloc_data *data, uint64_t sizes,
				   struct hi_allocator_list *list, struct hi_error *err)
{
	struct hi_error why = {}, best = {};
	struct hi_allocator *found = NULL;

	for (size_t i = 0; i < hi_tcmalloc_n_layouts; i++) {
		enum hi_status status = open_at(image, data, sizes,
						&hi_tcmalloc_layouts[i], &found, &why);

		if (status == HI_OK) {
			hi_allocator_list_add(list, found);
			return HI_OK;
		}
		if (status == HI_NO_MEMORY)
			return hi_fail_memory(err, "tcmalloc");
		if (!i || rank_of_failure(&why) > rank_of_failure(&best))
			best = why;
	}
	if (is_worth_naming(data, &best))
		hi_allocator_list_refuse(list, "tcmalloc", data->module, &best);
	return HI_OK;
}

/* Each of its blocks begins with a header of its own, and freed ones wait in a queue. */
static bool is_debug_build(const struct hi_tcmalloc_data *data)
{
	return strncmp(data->module, "libtcmalloc", 11) == 0 &&
	       strstr(data->module, "_debug");
}

static enum hi_status probe_tcmalloc(const struct hi_image *image,
				     struct hi_modules *modules,
				     struct hi_allocator_list *list, struct hi_error *err)
{
	enum hi_status status = HI_OK;
	struct hi_error why;

	for (size_t i = 0; i < hi_modules_count(modules) && status == HI_OK; i++) {
		struct hi_module *module = hi_modules_get(modules, i);
		struct hi_tcmalloc_data data = {.module = module->name,
						.start = module->start,
						.end = module->end};
		uint64_t sizes;

		data.n_ranges = hi_module_data(module, data.ranges, MAX_RANGES);
		sizes = hi_tcmalloc_find_sizes(image, &data);
		if (sizes && is_debug_build(&data)) {
			(void)hi_fail(&why, HI_BAD_DATA, sizes,
				      "the debug build puts headers into its blocks");
			hi_allocator_list_refuse(list, "tcmalloc", data.module, &why);
		} else if (sizes) {
			status = probe_module(image, &data, sizes, list, err);
		}
	}
	return status;
}

const struct hi_allocator_ops hi_allocator_tcmalloc = {
	.name = "tcmalloc",
	.states = 1u << HI_BLOCK_LIVE | 1u << HI_BLOCK_FREE_TCACHE |
		  1u << HI_BLOCK_FREE_SLOT | 1u << HI_BLOCK_FREE_TRANSFER |
		  1u << HI_BLOCK_FREE_SPAN | 1u << HI_BLOCK_FREE_RETAINED |
		  1u << HI_BLOCK_METADATA,
	.probe = probe_tcmalloc,
	.walk = walk_tcmalloc,
	.walk_region = walk_tcmalloc_region,
	.restart = restart_tcmalloc,
	.release = release_tcmalloc,
};
