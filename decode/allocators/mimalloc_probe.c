/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which versions of mimalloc are in the process: each layout reads the segments, and
 * that is right by which all pages add up. Every copy has a cookie of its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "decode/allocators/mimalloc.h"

/* A key that stands in a module, and the layout that fits best so far. */
struct mi_candidate {
	uint64_t key;
	struct hi_mimalloc *best; /* NULL: none */
};
/* What is known of the image while layouts are tried. */
struct mi_search {
	const struct hi_image *image;
	struct hi_modules *modules;
	const struct hi_mimalloc_layout *by; /* segments and roots were found by it */
	struct hi_mi_segments segments;
	struct hi_mi_roots roots;
	struct mi_candidates HI_VECTOR(struct mi_candidate) candidates;
};

static void release_mimalloc(struct hi_allocator *allocator)
{
	struct hi_mimalloc *m = (struct hi_mimalloc *)allocator;

	if (!m)
		return;
	hi_slabs_deinit(&m->slabs);
	hi_vector_free(&m->heaps);
	hi_vector_free(&m->unsure);
	hi_vector_free(&m->starts);
	hi_window_free(&m->window);
	hi_window_free(&m->blocks);
	free(m->base.damage);
	free(m);
}

/* Builds with padding keep behind each block how many of its bytes were not requested. */
static void drop_padding(const struct hi_mimalloc *m, struct hi_window *window,
			 const struct hi_slab *slab, struct hi_block *block)
{
	uint32_t delta;

	if (!hi_mimalloc_padding(m, window, slab->context, block->addr, slab->usable,
				 &delta))
		return; /* overwritten */
	block->usable -= delta;
	block->cost = block->usable;
}

/* A block that was allocated with an alignment begins inside of its slot. */
static void move_start(const struct hi_mimalloc *m, uint32_t slot, struct hi_block *block)
{
	const struct hi_mi_unsure *u = hi_mimalloc_unsure(m, block->addr);
	uint32_t start = u ? m->starts.items[u->first + slot] : 0;

	if (!start || start >= block->usable)
		return;
	block->addr += start;
	block->usable -= start;
	block->cost = block->usable;
}

static void describe_mi_block(const struct hi_slabs *slabs, const struct hi_slab *slab,
			      uint32_t slot, struct hi_window *window,
			      struct hi_block *block)
{
	const struct hi_mimalloc *m = (const struct hi_mimalloc *)slabs->allocator;

	if (m->layout->padding)
		drop_padding(m, window, slab, block);
	if (slab->is_start_unknown)
		move_start(m, slot, block);
}

/* The variables of a library that is mimalloc and nothing else: they lead to free blocks
 * and pages, and are not the program's. */
static void own_library(struct hi_mimalloc *m, struct hi_module *module)
{
	struct hi_section_range ranges[HI_MI_OWN];
	size_t n = strncmp(module->name, "libmimalloc", 11) == 0
			   ? hi_module_data(module, ranges, HI_MI_OWN)
			   : 0;

	for (size_t i = 0; i < n; i++)
		m->own[i] = (struct hi_range){ranges[i].start, ranges[i].end};
	m->base.own = m->own;
	m->base.n_own = n;
}

/* 8, 16, 32, 48, 64, then four for each doubling (_mi_bin); large blocks have whole pages
 * of the system. With padding, blocks have what was asked for. */
static void set_mi_sizes(struct hi_mimalloc *m)
{
	size_t n = 0;

	m->base.size_step = 1;
	if (m->layout->padding)
		return;
	m->sizes[n++] = 8;
	for (uint64_t size = 16; size <= 64; size += 16)
		m->sizes[n++] = size;
	for (uint64_t size = 64; size < 128 << 10; size *= 2)
		for (uint64_t k = 1; k <= 4; k++)
			m->sizes[n++] = size + size / 4 * k;
	m->base.sizes = m->sizes;
	m->base.n_sizes = n;
	m->base.size_step = 4096;
}

struct hi_mimalloc *hi_mimalloc_create(const struct hi_image *image,
				       struct hi_module *module,
				       const struct hi_mimalloc_layout *layout)
{
	struct hi_mimalloc *m = hi_calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->base.ops = &hi_allocator_mimalloc;
	m->layout = layout;
	m->image = image;
	m->window.memory = m->blocks.memory = image->memory;
	m->module_start = module->start;
	m->module_end = module->end;
	snprintf(m->base.name, sizeof(m->base.name), "mimalloc");
	snprintf(m->base.module, sizeof(m->base.module), "%s", module->name);
	own_library(m, module);
	set_mi_sizes(m);
	hi_slabs_init(&m->slabs, &m->base, image, describe_mi_block);
	return m;
}

/* Names what was found; the module's name is hostile. */
static void describe_mimalloc(struct hi_mimalloc *m, const struct hi_mi_root *root)
{
	struct hi_allocator *a = &m->base;

	snprintf(a->version, sizeof(a->version), "%s%s%s", m->layout->version,
		 m->layout->encoded ? ", encoded lists" : "",
		 m->layout->padding ? ", padding" : "");
	snprintf(a->found_by, sizeof(a->found_by),
		 "cookie of its segments in the data of %.60s", root->module->name);
	snprintf(a->checks, sizeof(a->checks),
		 "%u segments, %u pages with %u free lists, %zu heaps", m->segments,
		 m->pages, m->lists, m->heaps.count);
	a->n_arenas = m->heaps.count;
	if (m->layout->padding) { /* tells what was requested */
		a->n_sizes = 0;
		a->size_step = 1;
	}
}

/* _mi_heap_main leads to thread-local data of its module. */
static bool is_heap_main(const struct mi_search *s, const struct hi_mi_root *root,
			 const struct hi_mimalloc_layout *layout)
{
	uint64_t tld, heap = root->at - layout->heap_cookie;

	return heap >= root->module->start && heap < root->at &&
	       hi_memory_read_u64(s->image->memory, heap, &tld, NULL) == HI_OK &&
	       tld >= root->module->start && tld < root->module->end;
}

static struct mi_candidate *find_candidate(struct mi_search *s, uint64_t key)
{
	for (size_t i = 0; i < s->candidates.count; i++)
		if (s->candidates.items[i].key == key)
			return &s->candidates.items[i];
	return NULL;
}

enum hi_status hi_mimalloc_open(const struct hi_image *image,
				const struct hi_mimalloc_layout *layout,
				const struct hi_mi_segments *segments,
				const struct hi_mi_root *root, struct hi_mimalloc **ret,
				struct hi_error *err)
{
	struct hi_mimalloc *m = hi_mimalloc_create(image, root->module, layout);
	struct hi_error why = {};
	enum hi_status status;

	if (!m)
		return hi_fail_memory(err, "mimalloc");
	m->heap_main = root->at - layout->heap_cookie;
	status = hi_mimalloc_read_pages(m, segments, root->key, &why);
	if (status == HI_BAD_DATA) {
		hi_mimalloc_fault(m, why.address, "%.100s", why.text);
		m->failed = UINT32_MAX;
		status = HI_OK;
	}
	if (status != HI_OK) {
		release_mimalloc(&m->base);
		return hi_fail(err, status, 0, "%s", why.text);
	}
	describe_mimalloc(m, root);
	*ret = m;
	return HI_OK;
}

/* Reads all by this layout, and keeps it where none before fits better. */
static enum hi_status try_layout(struct mi_search *s, const struct hi_mi_root *root,
				 const struct hi_mimalloc_layout *layout,
				 struct hi_error *err)
{
	struct mi_candidate *c = find_candidate(s, root->key);
	struct hi_mimalloc *m = NULL, *worse;
	enum hi_status status;

	if ((c && c->best && !c->best->failed) || !is_heap_main(s, root, layout))
		return HI_OK;
	if (!c) {
		struct mi_candidate added = {root->key, NULL};

		if (!hi_vector_push(&s->candidates, added))
			return hi_fail_memory(err, "copies of mimalloc");
		c = &s->candidates.items[s->candidates.count - 1];
	}
	status = hi_mimalloc_open(s->image, layout, &s->segments, root, &m, err);
	if (status != HI_OK)
		return status;
	worse = m;
	if (!c->best || m->failed < c->best->failed) {
		worse = c->best;
		c->best = m;
	}
	release_mimalloc(worse ? &worse->base : NULL);
	return HI_OK;
}

static bool has_same_segments(const struct hi_mimalloc_layout *a,
			      const struct hi_mimalloc_layout *b)
{
	return a && a->segment_size == b->segment_size && a->slices == b->slices &&
	       a->cookie == b->cookie && a->segment_used == b->segment_used &&
	       a->segment_slices == b->segment_slices && a->kind == b->kind;
}

static enum hi_status try_roots(struct mi_search *s,
				const struct hi_mimalloc_layout *layout,
				struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (!has_same_segments(s->by, layout)) {
		s->by = layout;
		status = hi_mimalloc_find_segments(s->image, layout, &s->segments, err);
		if (status == HI_OK)
			status = hi_mimalloc_find_roots(s->image, s->modules,
							&s->segments, &s->roots, err);
	}
	for (size_t i = 0; i < s->roots.count && status == HI_OK; i++)
		status = try_layout(s, &s->roots.items[i], layout, err);
	return status;
}

/* Some damage is the program's; with more of it, it is another version. */
static bool is_accepted(const struct hi_mimalloc *m)
{
	return m->failed == 0 ||
	       (m->failed <= m->proved / 8 && m->wrong_heaps <= m->heaps.count / 2);
}

enum hi_status hi_mimalloc_accept(struct hi_mimalloc *m, struct hi_error *err)
{
	enum hi_status status;

	if (!is_accepted(m))
		return hi_fail(err, HI_BAD_DATA, 0,
			       "no layout fits; by that of %s, which fits best: %s",
			       m->base.version, m->first_fault);
	status = hi_mimalloc_find_starts(m, err);
	hi_window_free(&m->window);
	hi_window_free(&m->blocks);
	return status == HI_OK ? hi_slabs_seal(&m->slabs, err) : status;
}

enum hi_status hi_mimalloc_give(struct hi_mimalloc *m, struct hi_allocator_list *list,
				struct hi_error *err)
{
	struct hi_error why;
	enum hi_status status = hi_mimalloc_accept(m, &why);

	if (status == HI_OK) {
		hi_allocator_list_add(list, &m->base);
		return HI_OK;
	}
	if (status == HI_BAD_DATA)
		hi_allocator_list_refuse(list, "mimalloc", m->base.module, &why);
	release_mimalloc(&m->base);
	return status == HI_BAD_DATA ? HI_OK : hi_fail(err, status, 0, "%s", why.text);
}

static enum hi_status probe_mimalloc(const struct hi_image *image,
				     struct hi_modules *modules,
				     struct hi_allocator_list *list, struct hi_error *err)
{
	struct mi_search s = {.image = image, .modules = modules};
	enum hi_status status = HI_OK;

	for (size_t i = 0; hi_mimalloc_layouts[i].version && status == HI_OK; i++)
		status = try_roots(&s, &hi_mimalloc_layouts[i], err);
	for (size_t i = 0; i < s.candidates.count; i++) {
		struct hi_mimalloc *best = s.candidates.items[i].best;

		if (status == HI_OK && best)
			status = hi_mimalloc_give(best, list, err);
		else if (best)
			release_mimalloc(&best->base);
	}
	hi_vector_free(&s.candidates);
	hi_vector_free(&s.segments);
	hi_vector_free(&s.roots);
	return status == HI_OK ? hi_mimalloc_probe_maps(image, modules, list, err)
			       : status;
}

static enum hi_status walk_mimalloc(struct hi_allocator *allocator, hi_blocks_fn *fn,
				    void *arg, struct hi_error *err)
{
	return hi_slabs_walk(&((struct hi_mimalloc *)allocator)->slabs, fn, arg, err);
}

static enum hi_status walk_mimalloc_region(struct hi_allocator *allocator,
					   unsigned region, hi_blocks_fn *fn, void *arg,
					   struct hi_error *err)
{
	return hi_slabs_walk_region(&((struct hi_mimalloc *)allocator)->slabs, region, fn,
				    arg, err);
}

static void restart_mimalloc(struct hi_allocator *allocator)
{
	hi_slabs_restart(&((struct hi_mimalloc *)allocator)->slabs);
}

const struct hi_allocator_ops hi_allocator_mimalloc = {
	.name = "mimalloc",
	.states = 1u << HI_BLOCK_LIVE | 1u << HI_BLOCK_INTERNAL |
		  1u << HI_BLOCK_FREE_SLOT | 1u << HI_BLOCK_FREE_DEFERRED |
		  1u << HI_BLOCK_FREE_UNUSED | 1u << HI_BLOCK_FREE_SPAN |
		  1u << HI_BLOCK_FREE_RETAINED | 1u << HI_BLOCK_METADATA,
	.probe = probe_mimalloc,
	.walk = walk_mimalloc,
	.walk_region = walk_mimalloc_region,
	.restart = restart_mimalloc,
	.release = release_mimalloc,
};
