/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Areas: memory from brk or mmap, whole pages. The first chunk's psize is 1, the last has
 * size 0. Chunks that are mappings of their own have no such tags: their psize is how far
 * they lie from the start of the mapping, and both sizes are even. Mappings of one kind
 * side by side are one in maps, so each page may be the start of one.
 */
#include <stdlib.h>

#include "decode/allocators/oldmalloc.h"
#include "decode/allocators/slabs.h"
#include "decode/allocators/window.h"

enum { IN_USE = 1, MAX_RANGES = 16, MAX_ALIGN_SHIFT = 40 };

struct area_search {
	struct hi_oldmalloc *o;
	struct hi_window window;
	uint64_t limit; /* of the mappings side by side that are looked at */
};

static bool read_tags(struct area_search *s, uint64_t chunk, uint64_t *psize,
		      uint64_t *csize)
{
	const struct hi_oldmalloc_layout *l = s->o->layout;

	return chunk < s->limit && s->limit - chunk >= l->overhead &&
	       hi_window_u64(&s->window, chunk + l->chunk_psize, psize) &&
	       hi_window_u64(&s->window, chunk + l->chunk_csize, csize);
}

static enum hi_status add_old_part(struct hi_oldmalloc *o, struct hi_oldmalloc_part part,
				   struct hi_error *err)
{
	if (!hi_vector_push(&o->parts, part))
		return hi_fail_memory(err, "areas");
	return HI_OK;
}

/* ---- areas ---- */

/* Follows the tags from first; *stop_ret is where they end. True: in a chunk of size 0.
 * *n_ret: chunks before that. */
static bool follow_tags(struct area_search *s, uint64_t first, uint64_t *stop_ret,
			size_t *n_ret)
{
	uint64_t at = first, before = 0 | IN_USE, psize, csize, size;

	*n_ret = 0;
	for (;;) {
		*stop_ret = at;
		if (!read_tags(s, at, &psize, &csize) || psize != before)
			return false;
		size = csize & ~(uint64_t)IN_USE;
		if (!size)
			return csize == IN_USE;
		if (size % s->o->layout->align || size > s->limit - at)
			return false;
		before = csize;
		at += size;
		++*n_ret;
	}
}

/* Of a heap that fills its mapping: the last chunk, whose own tag agrees. */
static bool ends_in_sentinel(struct area_search *s, uint64_t first, uint64_t *stop_ret)
{
	uint64_t at = s->limit - s->o->layout->overhead, psize, csize, before, size;

	if (!read_tags(s, at, &psize, &csize) || csize != IN_USE)
		return false;
	size = psize & ~(uint64_t)IN_USE;
	if (!size || size % s->o->layout->align || size > at - first ||
	    !read_tags(s, at - size, &before, &csize) || csize != psize)
		return false;
	*stop_ret = at;
	return true;
}

static bool begins_area(struct area_search *s, uint64_t first)
{
	uint64_t psize, csize;

	return read_tags(s, first, &psize, &csize) && psize == (0 | IN_USE) &&
	       csize > IN_USE && (csize & ~(uint64_t)IN_USE) % s->o->layout->align == 0 &&
	       csize <= s->limit - first;
}

/* At a page: *end_ret is where the area ends; HI_NOT_FOUND: there is none. */
static enum hi_status try_area(struct area_search *s, uint64_t at, bool is_heap,
			       uint64_t *end_ret, struct hi_error *err)
{
	const struct hi_oldmalloc_layout *l = s->o->layout;
	struct hi_oldmalloc_part part = {.start = at, .first = at + l->overhead};
	size_t n = 0;

	if (!begins_area(s, part.first))
		return HI_NOT_FOUND;
	if (!(is_heap && ends_in_sentinel(s, part.first, &part.stop)) &&
	    !follow_tags(s, part.first, &part.stop, &n)) {
		/* A chain of a few chunks may be anything. */
		if (!is_heap && n < 16)
			return HI_NOT_FOUND;
		part.is_broken = true;
	}
	part.end = part.is_broken ? s->limit : part.stop + l->overhead;
	*end_ret = part.end;
	return add_old_part(s->o, part, err);
}

/* ---- chunks that are mappings ---- */

/* A chunk at `chunk` whose tags say that its mapping begins at base. */
static bool is_mmapped_chunk(struct area_search *s, uint64_t base, uint64_t chunk,
			     uint64_t *end_ret)
{
	uint64_t psize, csize;

	if (!read_tags(s, chunk, &psize, &csize) || psize != chunk - base ||
	    psize % s->o->layout->overhead || csize & IN_USE || !csize ||
	    csize > s->limit - chunk || (psize + csize) % HI_OLDMALLOC_PAGE)
		return false;
	*end_ret = chunk + csize;
	return true;
}

/* aligned_alloc() leaves the first header and writes another one: at the first address
 * that has the alignment, which is not known. */
static uint64_t find_aligned_chunk(struct area_search *s, uint64_t base,
				   uint64_t *end_ret)
{
	const struct hi_oldmalloc_layout *l = s->o->layout;
	uint64_t user = base + l->align, before = user;

	for (unsigned shift = 6; shift < MAX_ALIGN_SHIFT; shift++) {
		uint64_t mask = (1ull << shift) - 1, at = (user + mask) & ~mask;

		if (at >= s->limit)
			return 0;
		if (at != before && is_mmapped_chunk(s, base, at - l->overhead, end_ret))
			return at - l->overhead;
		before = at;
	}
	return 0;
}

static enum hi_status try_mmapped(struct area_search *s, uint64_t at, uint64_t *end_ret,
				  struct hi_error *err)
{
	const struct hi_oldmalloc_layout *l = s->o->layout;
	struct hi_oldmalloc_part part = {.start = at, .is_mmapped = true};
	uint64_t zero, psize, csize;

	/* Nothing is written before the first header, which mremap leaves behind. */
	if (!hi_window_u64(&s->window, at, &zero) || zero ||
	    !read_tags(s, at + l->overhead, &psize, &csize) || psize != l->overhead ||
	    csize & IN_USE || (csize + psize) % HI_OLDMALLOC_PAGE)
		return HI_NOT_FOUND;
	part.first = find_aligned_chunk(s, at, &part.end);
	if (!part.first && is_mmapped_chunk(s, at, at + l->overhead, &part.end))
		part.first = at + l->overhead;
	if (!part.first)
		return HI_NOT_FOUND;
	part.stop = *end_ret = part.end;
	return add_old_part(s->o, part, err);
}

/* ---- the search ---- */

static bool may_hold_areas(const struct hi_mapping *m)
{
	uint8_t prot = HI_PROT_READ | HI_PROT_WRITE;

	return (m->kind == HI_MAPPING_ANONYMOUS || m->kind == HI_MAPPING_HEAP) &&
	       !m->shared && (m->prot & prot) == prot;
}

/* Pages of [start, s->limit). */
static enum hi_status search_pages(struct area_search *s, uint64_t start, bool is_heap,
				   struct hi_error *err)
{
	enum hi_status status = HI_OK;
	uint64_t at = start, held, end;

	while (at < s->limit &&
	       hi_image_next_held(s->o->image, at, s->limit, &held, &end)) {
		at = held & ~(HI_OLDMALLOC_PAGE - 1ull);
		status = try_area(s, at, is_heap && at == start, &end, err);
		if (status == HI_NOT_FOUND)
			status = try_mmapped(s, at, &end, err);
		if (status == HI_NOT_FOUND)
			end = at + HI_OLDMALLOC_PAGE;
		else if (status != HI_OK)
			return status;
		at = end;
	}
	return HI_OK;
}

static enum hi_status search_mappings(struct area_search *s, struct hi_error *err)
{
	const struct hi_image *image = s->o->image;
	enum hi_status status = HI_OK;
	size_t i = 0;

	while (i < image->n_mappings && status == HI_OK) {
		const struct hi_mapping *m = &image->mappings[i++];

		if (!may_hold_areas(m))
			continue;
		s->limit = m->end;
		while (i < image->n_mappings && image->mappings[i].start == s->limit &&
		       image->mappings[i].kind == m->kind &&
		       may_hold_areas(&image->mappings[i]))
			s->limit = image->mappings[i++].end;
		status = search_pages(s, m->start, m->kind == HI_MAPPING_HEAP, err);
	}
	return status;
}

/* What the dynamic linker gave to malloc: from start to end, less than a page. */
static enum hi_status try_rest(struct area_search *s, uint64_t start, uint64_t end,
			       struct hi_error *err)
{
	const struct hi_oldmalloc_layout *l = s->o->layout;
	uint64_t first = start + ((l->overhead - start) & (l->align - 1u));
	struct hi_oldmalloc_part part = {.start = first, .first = first};
	size_t n;

	s->limit = end;
	if (first >= end || !begins_area(s, first) ||
	    !follow_tags(s, first, &part.stop, &n))
		return HI_OK;
	part.end = part.stop + l->overhead;
	return add_old_part(s->o, part, err);
}

static enum hi_status search_rests(struct area_search *s, struct hi_modules *modules,
				   struct hi_error *err)
{
	uint64_t mask = HI_OLDMALLOC_PAGE - 1;
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < hi_modules_count(modules); i++) {
		struct hi_section_range ranges[MAX_RANGES];
		size_t n = hi_module_data(hi_modules_get(modules, i), ranges, MAX_RANGES);

		for (size_t k = 0; k < n && status == HI_OK; k++) {
			uint64_t start = ranges[k].start, end = ranges[k].end;

			status = try_rest(s, start & ~mask, start, err);
			if (status == HI_OK)
				status = try_rest(s, end, (end + mask) & ~mask, err);
		}
	}
	return status;
}

static int compare_parts_by_start(const void *a, const void *b)
{
	const struct hi_oldmalloc_part *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

enum hi_status hi_oldmalloc_add_areas(struct hi_oldmalloc *o, struct hi_modules *modules,
				      struct hi_error *err)
{
	struct area_search s = {.o = o, .window.memory = o->memory};
	enum hi_status status = search_mappings(&s, err);

	if (status == HI_OK && modules)
		status = search_rests(&s, modules, err);
	if (status == HI_OK && s.window.out_of_memory)
		status = hi_fail_memory(err, "window");
	hi_window_free(&s.window);
	if (o->parts.count)
		qsort(o->parts.items, o->parts.count, sizeof(*o->parts.items),
		      compare_parts_by_start);
	return status;
}
