/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mimalloc 3 has no segments. Its page map says for each slice of 64 KiB of the address
 * space which page it belongs to: an array of pointers to tables of 8192 pointers each,
 * for 512 MiB. A page says where its blocks begin, and that must be in the slices that
 * the map has for it: so the map proves itself, wherever a module's data leads to it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "decode/allocators/mimalloc.h"

enum {
	TABLE_ENTRIES = 8192,
	MAP_ENTRIES = 1 << 18, /* 47 bits of addresses */
	MAX_MAPS = 64,	       /* words that may lead to a map */
	MAX_DATA_RANGES = 16,
	MAX_ARENAS = 256,
	MEMORY_OF_ARENA = 6, /* MI_MEM_ARENA */
	DETACHED = 8,	     /* thread of pages with mimalloc's own blocks */
	PAGE_MAX = 160,
	LARGE_PAGE = 4 << 20,
};

/* Offsets: of mi_page_t, mi_arena_t, and of submaps in the map. */
struct map_layout {
	struct hi_mimalloc_layout base; /* version */
	uint16_t thread, free, used, used_size, local_free, block_size, offset, capacity,
		reserved, xthread_free, heap, memid, size;
	bool is_relative; /* offset counts from the page's mi_page_t */
	uint16_t submaps;
	uint16_t arena_start, arena_slices, arena_info; /* 0: not known */
};

/* 3.5: include/mimalloc/types.h of 3.5.0 (mold 2.42.1), with and without the pointer to
 * itself at the start of mi_page_t (MI_FREE_IS_CHECKED). */
static const struct map_layout map_layouts[] = {
	{{.version = "3.5"},
	 8,
	 16,
	 24,
	 8,
	 32,
	 40,
	 48,
	 56,
	 58,
	 64,
	 72,
	 104,
	 128,
	 true,
	 80,
	 40,
	 48,
	 56},
	{{.version = "3.5, checked"},
	 0,
	 8,
	 16,
	 8,
	 24,
	 32,
	 40,
	 48,
	 50,
	 56,
	 64,
	 96,
	 120,
	 true,
	 80,
	 40,
	 48,
	 56},
	/* 3.6: as a process on Debian's 3.6.0 has them; every page of it proves them. */
	{{.version = "3.6"},
	 8,
	 16,
	 40,
	 2,
	 24,
	 32,
	 48,
	 56,
	 58,
	 64,
	 72,
	 104,
	 128,
	 true,
	 80,
	 40,
	 48,
	 56},
	/* 3.7: the same on Debian's 3.7.0. */
	{{.version = "3.7"},
	 8,
	 16,
	 40,
	 2,
	 24,
	 32,
	 48,
	 56,
	 58,
	 64,
	 72,
	 104,
	 128,
	 false,
	 72,
	 40,
	 48,
	 56},
	/* 3.0: the same on Debian's 3.0.1. It frees aligned blocks without a look for
	 * their start, so that its lists lead into blocks. */
	{{.version = "3.0", .has_inner_lists = true},
	 0,
	 8,
	 16,
	 2,
	 24,
	 40,
	 48,
	 18,
	 20,
	 32,
	 64,
	 0,
	 112,
	 false,
	 0,
	 0,
	 0,
	 0},
};
enum { MAP_LAYOUTS = sizeof(map_layouts) / sizeof(*map_layouts) };

struct map_root {
	uint64_t map;
	struct hi_module *module;
};

struct map_search {
	const struct hi_image *image;
	struct hi_window window;
	struct map_root roots[MAX_MAPS];
	size_t n_roots;
	uint64_t arenas[MAX_ARENAS];
	size_t n_arenas;
};

/* ---- words of modules that may lead to a map ---- */

static bool is_anonymous(const struct hi_image *image, uint64_t addr)
{
	const struct hi_mapping *m = hi_image_mapping_at(image, addr);

	return m && m->kind == HI_MAPPING_ANONYMOUS && m->prot & HI_PROT_WRITE;
}

static void add_map_root(struct map_search *s, uint64_t word, struct hi_module *module)
{
	if (word == 0 || word % 4096 || word >> 47 || s->n_roots == MAX_MAPS ||
	    !is_anonymous(s->image, word))
		return;
	for (size_t i = 0; i < s->n_roots; i++)
		if (s->roots[i].map == word)
			return;
	s->roots[s->n_roots++] = (struct map_root){word, module};
}

static void find_map_roots(struct map_search *s, struct hi_module *module)
{
	struct hi_section_range ranges[MAX_DATA_RANGES];
	size_t n = hi_module_data(module, ranges, MAX_DATA_RANGES);
	uint64_t start, end, word;

	for (size_t i = 0; i < n; i++)
		for (uint64_t at = ranges[i].start;
		     hi_image_next_held(s->image, at, ranges[i].end, &start, &end);
		     at = end)
			for (at = (start + 7) & ~7ull; at + 8 <= end; at += 8)
				if (hi_window_u64(&s->window, at, &word))
					add_map_root(s, word, module);
}

/* ---- the map ---- */

/* The next entry that is not 0 in a table of n words, from *index on. */
static bool next_entry(struct map_search *s, uint64_t table, uint32_t n, uint32_t *index,
		       uint64_t *ret)
{
	uint64_t start, end, limit = table + (uint64_t)n * 8;

	for (uint64_t at = table + (uint64_t)*index * 8;
	     at < limit && hi_image_next_held(s->image, at, limit, &start, &end);
	     at = end)
		for (at = (start + 7) & ~7ull; at + 8 <= end; at += 8)
			if (hi_window_u64(&s->window, at, ret) && *ret) {
				*index = (uint32_t)((at - table) / 8);
				return true;
			}
	return false;
}

static bool load_map_page(struct map_search *s, const struct map_layout *l, uint64_t addr,
			  struct hi_mi_page *p, uint64_t *thread, uint64_t *arena)
{
	const uint8_t *b = addr % 8 ? NULL : hi_window_at(&s->window, addr, l->size);

	if (!b)
		return false;
	*thread = hi_mi_field(b, l->thread, 8);
	*arena = l->arena_start && hi_mi_field(b, l->memid + 16, 4) == MEMORY_OF_ARENA
			 ? hi_mi_field(b, l->memid, 8)
			 : 0;
	*p = (struct hi_mi_page){
		.addr = addr,
		.first = hi_mi_field(b, l->offset, 8) + (l->is_relative ? addr : 0),
		.block_size = hi_mi_field(b, l->block_size, 8),
		.used = hi_mi_field(b, l->used, l->used_size),
		.free = hi_mi_field(b, l->free, 8),
		.local_free = hi_mi_field(b, l->local_free, 8),
		.xthread_free = hi_mi_field(b, l->xthread_free, 8) & ~3ull,
		.xheap = hi_mi_field(b, l->heap, 8),
		.capacity = (uint32_t)hi_mi_field(b, l->capacity, 2),
		.reserved = (uint32_t)hi_mi_field(b, l->reserved, 2),
		.has_aligned = *thread & 2};
	return p->block_size && p->reserved;
}

/* The page of the first entry lies where the map has it. */
static bool is_page_map(struct map_search *s, const struct map_layout *l, uint64_t map)
{
	uint32_t outer = 1, inner = 0;
	uint64_t table, page, thread, arena, slice;
	struct hi_mi_page p;

	if (!next_entry(s, map + l->submaps, MAP_ENTRIES, &outer, &table) || table % 8 ||
	    !is_anonymous(s->image, table) ||
	    !next_entry(s, table, TABLE_ENTRIES, &inner, &page) ||
	    !load_map_page(s, l, page, &p, &thread, &arena))
		return false;
	slice = ((uint64_t)outer * TABLE_ENTRIES + inner) * HI_MI_SLICE;
	return p.first >= slice && p.first < slice + HI_MI_SLICE;
}

/* Does the map have this page where it begins? Then an entry elsewhere is of the past:
 * 3.0 leaves some. */
static bool is_mapped_elsewhere(struct map_search *s, const struct map_layout *l,
				uint64_t map, uint64_t page, uint64_t first)
{
	uint64_t slice = first / HI_MI_SLICE, table, entry;

	return slice / TABLE_ENTRIES < MAP_ENTRIES &&
	       hi_window_u64(&s->window, map + l->submaps + slice / TABLE_ENTRIES * 8,
			     &table) &&
	       table &&
	       hi_window_u64(&s->window, table + slice % TABLE_ENTRIES * 8, &entry) &&
	       entry == page;
}

static bool note_arena(struct map_search *s, uint64_t arena)
{
	for (size_t i = 0; i < s->n_arenas; i++)
		if (s->arenas[i] == arena)
			return true;
	if (arena && s->n_arenas < MAX_ARENAS)
		s->arenas[s->n_arenas++] = arena;
	return true;
}

static void mark_internal_blocks(struct hi_mimalloc *m, const struct hi_mi_page *p)
{
	for (uint32_t i = 0; i < p->reserved; i++)
		if (hi_slabs_state(&m->slabs, p->slab, i) == HI_BLOCK_LIVE)
			hi_slabs_set_state(&m->slabs, p->slab, i, HI_BLOCK_INTERNAL);
}

/* A page whose entries are n slices from `slice` on. */
static enum hi_status add_mapped_page(struct map_search *s, struct hi_mimalloc *m,
				      uint64_t page, uint64_t slice, uint64_t n,
				      struct hi_error *err)
{
	const struct map_layout *l = (const struct map_layout *)m->layout;
	uint64_t thread, arena, end;
	struct hi_mi_page p;
	enum hi_status status;
	size_t before = m->slabs.items.count;

	if (load_map_page(s, l, page, &p, &thread, &arena) &&
	    (p.first < slice || p.first - slice >= n * HI_MI_SLICE) &&
	    is_mapped_elsewhere(s, l, m->heap_main, page, p.first))
		return HI_OK;
	if (!load_map_page(s, l, page, &p, &thread, &arena) || p.first < slice) {
		m->pages++;
		hi_mimalloc_fault(m, page, "page 0x%lx: no page of the slice 0x%lx", page,
				  slice);
		return HI_OK;
	}
	note_arena(s, arena);
	p.start = slice;
	p.end = slice + n * HI_MI_SLICE;
	/* Of large blocks and pages the map has the first slices only. */
	end = p.first + p.reserved * p.block_size + HI_MI_SLICE - 1;
	end &= ~(HI_MI_SLICE - 1);
	if (end > p.end && (p.reserved == 1 || end - p.start <= LARGE_PAGE) &&
	    p.block_size < 1ull << 46)
		p.end = end;
	status = hi_mimalloc_count_page(m, p.xheap, err);
	if (status == HI_OK)
		status = hi_mimalloc_add_page(m, &p, err);
	if (status == HI_OK && l->arena_start && (thread & ~3ull) == DETACHED &&
	    m->slabs.items.count > before)
		mark_internal_blocks(m, &p);
	return status;
}

struct map_run { /* slices of one page */
	uint64_t page, slice, n;
};

static enum hi_status add_entry(struct map_search *s, struct hi_mimalloc *m,
				struct map_run *run, uint64_t page, uint64_t slice,
				struct hi_error *err)
{
	struct map_run before = *run;

	if (page && page == run->page && slice == run->slice + run->n * HI_MI_SLICE) {
		run->n++;
		return HI_OK;
	}
	*run = (struct map_run){page, slice, 1};
	return before.page
		       ? add_mapped_page(s, m, before.page, before.slice, before.n, err)
		       : HI_OK;
}

static enum hi_status read_map(struct map_search *s, struct hi_mimalloc *m,
			       const struct map_layout *l, struct hi_error *err)
{
	enum hi_status status = HI_OK;
	struct map_run run = {};
	uint64_t table, page;

	for (uint32_t i = 1;
	     status == HI_OK && !hi_mimalloc_is_hopeless(m) &&
	     next_entry(s, m->heap_main + l->submaps, MAP_ENTRIES, &i, &table);
	     i++)
		for (uint32_t k = 0; status == HI_OK && !hi_mimalloc_is_hopeless(m) &&
				     next_entry(s, table, TABLE_ENTRIES, &k, &page);
		     k++)
			status = add_entry(
				s, m, &run, page,
				((uint64_t)i * TABLE_ENTRIES + k) * HI_MI_SLICE, err);
	return status == HI_OK ? add_entry(s, m, &run, 0, 0, err) : status;
}

/* ---- arenas: what is in no page ---- */

struct map_gap {
	uint64_t start, end;
	enum hi_block_state state;
};
struct map_gaps HI_VECTOR(struct map_gap);

/* Parts of [start, end) that are in no slab so far. */
static bool collect_gaps(const struct hi_slabs *slabs, struct map_gaps *gaps,
			 uint64_t start, uint64_t end, enum hi_block_state state)
{
	for (size_t i = 0; i <= slabs->items.count && start < end; i++) {
		const struct hi_slab *slab =
			i < slabs->items.count ? &slabs->items.items[slabs->order[i]]
					       : NULL;
		struct map_gap gap = {start, end, state};

		if (slab && slab->end <= start)
			continue;
		if (slab && slab->start < end)
			gap.end = slab->start;
		if (gap.start < gap.end && !hi_vector_push(gaps, gap))
			return false;
		start = slab ? slab->end : end;
	}
	return true;
}

static bool collect_arena_gaps(struct map_search *s, struct hi_mimalloc *m,
			       const struct map_layout *l, uint64_t arena,
			       struct map_gaps *gaps)
{
	const uint8_t *b = hi_window_at(&s->window, arena, PAGE_MAX);
	uint64_t start, slices, info, size;

	if (!b)
		return true;
	start = hi_mi_field(b, l->arena_start, 8);
	slices = hi_mi_field(b, l->arena_slices, 8);
	info = hi_mi_field(b, l->arena_info, 8);
	size = slices * HI_MI_SLICE;
	if (start % HI_MI_SLICE || !slices || slices >> 26 || info >= slices ||
	    arena < start || arena - start >= size ||
	    !hi_image_mapping_at(s->image, start + size - 1))
		return true;
	return collect_gaps(&m->slabs, gaps, start, start + info * HI_MI_SLICE,
			    HI_BLOCK_METADATA) &&
	       collect_gaps(&m->slabs, gaps, start + info * HI_MI_SLICE, start + size,
			    HI_BLOCK_FREE_SPAN);
}

static enum hi_status add_arenas(struct map_search *s, struct hi_mimalloc *m,
				 const struct map_layout *l, struct hi_error *err)
{
	HI_GUARD(free) struct map_gap *items = NULL;
	struct map_gaps gaps = {};
	enum hi_status status = hi_slabs_sort(&m->slabs, err);
	bool fits = true;

	for (size_t i = 0; i < s->n_arenas && status == HI_OK && fits; i++)
		fits = collect_arena_gaps(s, m, l, s->arenas[i], &gaps);
	items = gaps.items;
	if (status == HI_OK && !fits)
		status = hi_fail_memory(err, "arenas");
	for (size_t i = 0; i < gaps.count && status == HI_OK; i++)
		status = gaps.items[i].state == HI_BLOCK_METADATA
				 ? hi_mimalloc_add_area(m, gaps.items[i].start,
							gaps.items[i].end,
							HI_BLOCK_METADATA, err)
				 : hi_mimalloc_add_free(m, gaps.items[i].start,
							gaps.items[i].end, err);
	free(m->slabs.order);
	m->slabs.order = NULL;
	return status == HI_OK ? hi_slabs_sort(&m->slabs, err) : status;
}

/* ---- the choice ---- */

static void describe_map(struct hi_mimalloc *m, const struct map_search *s)
{
	struct hi_allocator *a = &m->base;

	snprintf(a->version, sizeof(a->version), "%s", m->layout->version);
	snprintf(a->found_by, sizeof(a->found_by), "page map that the data of %.60s has",
		 a->module);
	snprintf(a->checks, sizeof(a->checks),
		 "page map, %u pages with %u free lists, %zu heaps, %zu arenas", m->pages,
		 m->lists, m->heaps.count, s->n_arenas);
	a->n_arenas = m->heaps.count;
}

static enum hi_status open_map(struct map_search *s, const struct map_layout *l,
			       const struct map_root *root, struct hi_mimalloc **ret,
			       struct hi_error *err)
{
	struct hi_mimalloc *m = hi_mimalloc_create(s->image, root->module, &l->base);
	struct hi_error why = {};
	enum hi_status status;

	if (!m)
		return hi_fail_memory(err, "mimalloc");
	m->heap_main = root->map;
	s->n_arenas = 0;
	status = read_map(s, m, l, &why);
	if (status == HI_OK)
		status = add_arenas(s, m, l, &why);
	if (status == HI_BAD_DATA) {
		hi_mimalloc_fault(m, why.address, "%.100s", why.text);
		m->failed = UINT32_MAX;
		status = HI_OK;
	}
	describe_map(m, s);
	*ret = m;
	return status == HI_OK ? HI_OK : hi_fail(err, status, 0, "%s", why.text);
}

static void release_map(struct hi_mimalloc *m)
{
	if (m)
		m->base.ops->release(&m->base);
}

static enum hi_status probe_map(struct map_search *s, const struct map_root *root,
				struct hi_allocator_list *list, struct hi_error *err)
{
	struct hi_mimalloc *best = NULL;
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < MAP_LAYOUTS && status == HI_OK; i++) {
		struct hi_mimalloc *m = NULL, *worse;

		if (!is_page_map(s, &map_layouts[i], root->map))
			continue;
		status = open_map(s, &map_layouts[i], root, &m, err);
		worse = m;
		if (m && (!best || m->failed < best->failed)) {
			worse = best;
			best = m;
		}
		release_map(worse);
	}
	if (status == HI_OK && best)
		return hi_mimalloc_give(best, list, err);
	release_map(best);
	return status;
}

enum hi_status hi_mimalloc_probe_map(const struct hi_image *image,
				     struct hi_module *module, uint64_t map,
				     struct hi_allocator_list *list, struct hi_error *err)
{
	struct map_search s = {.image = image, .window.memory = image->memory};
	struct map_root root = {map, module};
	enum hi_status status = probe_map(&s, &root, list, err);

	hi_window_free(&s.window);
	return status;
}

enum hi_status hi_mimalloc_probe_maps(const struct hi_image *image,
				      struct hi_modules *modules,
				      struct hi_allocator_list *list,
				      struct hi_error *err)
{
	struct map_search s = {.image = image, .window.memory = image->memory};
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < hi_modules_count(modules); i++)
		find_map_roots(&s, hi_modules_get(modules, i));
	for (size_t i = 0; i < s.n_roots && status == HI_OK; i++)
		status = probe_map(&s, &s.roots[i], list, err);
	hi_window_free(&s.window);
	return status;
}
