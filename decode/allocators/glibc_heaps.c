/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory that the arenas divide into chunks, as regions whose chunks form
 * one unbroken chain.
 *
 * Main arena: from mp_.sbrk_base to the end of the top chunk. Where other code moved the
 * break, and where the arena went on in mmapped pieces, the chain ends in two or three
 * chunks of 16 bytes (fences) and starts anew elsewhere. Other arenas: heaps of at most
 * heap_max bytes, aligned to it, each with a heap_info that leads to the one before; a
 * heap that is not the last ends in a fence of sizes 0x10 and 0. Source: sysmalloc(),
 * new_heap(), _int_new_arena() of malloc.c and arena.c.
 *
 * Note [Outline] Following the chain once while probing costs one pass over the chunk
 * headers. It finds the end of the chain, and cuts long chains into regions that threads
 * walk at the same time.
 */
#include <string.h>

#include "decode/allocators/glibc.h"

#define SPLIT_BYTES (64u << 20)
#define MAX_PIECES 65536
/* Chunk headers that are read in search of chains, in all: twice what fits into the
 * image, and these. Another user of sbrk() may have taken much, and filled it with what
 * looks like chunks; any page of a mapping may look like the start of a chain. */
#define MAX_GAP_STEPS (1u << 28)

#define FENCE_HEADER (HI_CHUNK_ALIGN | HI_CHUNK_PREV_INUSE)

enum chain_end {
	CHAIN_AT_LIMIT, /* reached exactly */
	CHAIN_AT_FENCE,
	CHAIN_TOO_LONG, /* max_chunks were fine */
	CHAIN_BROKEN,	/* at *end_ret */
	CHAIN_SPLIT,	/* first chunk at or behind split */
};

struct outline {
	struct hi_glibc *g;
	struct hi_window window;
	bool main;
	uint64_t wrong_flags; /* bits that may not be set in a chunk header */
	uint64_t last;	      /* the last chunk that was followed */
	uint64_t left; /* chunk headers that may still be read in search of chains */
	bool is_cut;   /* there were none left */
};

/* Reported once. */
static bool may_search(struct outline *o, uint64_t at)
{
	if (o->left)
		return true;
	if (!o->is_cut)
		hi_glibc_damage(o->g, at,
				"main arena: the search for its pieces was cut: chunks "
				"from here on are not known");
	o->is_cut = true;
	return false;
}

static void count_search(struct outline *o, uint64_t steps)
{
	o->g->n_searched += steps;
	o->left -= steps < o->left ? steps : o->left;
}

static bool is_fence_header(struct outline *o, uint64_t p, bool first)
{
	uint64_t header;

	if (!hi_window_u64(&o->window, p + 8, &header))
		return false;
	return header == FENCE_HEADER || (first && header == HI_CHUNK_ALIGN);
}

/*
 * The end of the fence at p, p if there is none. Main arena: two or three chunks of 16
 * bytes. Others: one, with the limit (a header of size 0) behind. The first one's
 * PREV_INUSE is clear if what is before it is in a bin.
 */
static uint64_t fence_end(struct outline *o, uint64_t p, uint64_t limit)
{
	uint64_t end = p;

	if (!o->main)
		return limit - p == HI_CHUNK_ALIGN && is_fence_header(o, p, true) ? limit
										  : p;
	for (int i = 0; i < 3 && limit - end >= HI_CHUNK_ALIGN; i++) {
		if (!is_fence_header(o, end, i == 0))
			break;
		end += HI_CHUNK_ALIGN;
	}
	return end - p >= 2 * HI_CHUNK_ALIGN ? end : p;
}

/* Follows chunks from p until limit; *n_ret: how many. */
static enum chain_end follow_chunk_chain(struct outline *o, uint64_t p, uint64_t limit,
					 uint64_t split, uint64_t max_chunks,
					 uint64_t *end_ret, uint64_t *n_ret)
{
	enum chain_end end = CHAIN_AT_LIMIT;

	*n_ret = 0;

	for (uint64_t n = 0; p != limit; n++) {
		uint64_t header, size;

		if (n == max_chunks)
			end = CHAIN_TOO_LONG;
		else if (p >= split)
			end = CHAIN_SPLIT;
		else if (limit - p < HI_CHUNK_ALIGN ||
			 !hi_window_u64(&o->window, p + 8, &header))
			end = CHAIN_BROKEN;
		else if (header & o->wrong_flags)
			end = CHAIN_BROKEN;
		else if ((header & ~(uint64_t)HI_CHUNK_FLAGS) <= HI_CHUNK_ALIGN)
			end = fence_end(o, p, limit) != p ? CHAIN_AT_FENCE : CHAIN_BROKEN;
		else if ((header & ~(uint64_t)HI_CHUNK_FLAGS) > limit - p)
			end = CHAIN_BROKEN;
		if (end != CHAIN_AT_LIMIT)
			break;
		size = header & ~(uint64_t)HI_CHUNK_FLAGS;
		o->last = p;
		p += size;
		*n_ret = n + 1;
	}
	*end_ret = p;
	return end;
}

static enum hi_status add_part(struct outline *o, struct hi_glibc_part part,
			       struct hi_error *err)
{
	if (part.end <= part.start || part.stop < part.first || part.stop > part.end)
		return HI_OK;
	if (!hi_vector_push(&o->g->parts, part))
		return hi_fail_memory(err, "regions");
	return HI_OK;
}

/*
 * The chain from part.first as one or more parts, up to limit (exclusive; the
 * top chunk if part.has_top). *end_ret: where it ended, fence included.
 */
static enum hi_status add_chain(struct outline *o, struct hi_glibc_part part,
				uint64_t limit, enum chain_end *how_ret,
				uint64_t *end_ret, struct hi_error *err)
{
	bool has_top = part.has_top;
	uint64_t end = part.end, at, n;
	enum chain_end how;
	enum hi_status status = HI_OK;

	for (;;) {
		uint64_t split = part.first + SPLIT_BYTES;

		if (split < part.first || limit - part.first < 2 * (uint64_t)SPLIT_BYTES)
			split = UINT64_MAX;
		how = follow_chunk_chain(o, part.first, limit, split, UINT64_MAX, &at,
					 &n);
		if (o->window.out_of_memory)
			return hi_fail_memory(err, "window");
		if (how != CHAIN_SPLIT || at >= limit)
			break;
		/* The last block includes the first word of the next header. */
		part.stop = at;
		part.end = at + HI_CHUNK_HEADER;
		part.has_top = false;
		status = add_part(o, part, err);
		if (status != HI_OK)
			return status;
		part.start = part.end;
		part.first = at;
		part.state_area = 0;
	}
	/* The walk reports a broken chain; the region goes to its limit. */
	part.stop = how == CHAIN_AT_FENCE ? at : limit;
	part.has_top = has_top && how != CHAIN_AT_FENCE && end > limit;
	if (how == CHAIN_AT_FENCE && o->main)
		part.end = fence_end(o, at, limit);
	else if (o->main && !part.has_top)
		part.end = part.stop;
	else
		part.end = end;
	*how_ret = how;
	*end_ret = part.stop;
	return add_part(o, part, err);
}

/* Programs protect pages of what malloc gave them, which divides a mapping into several.
 * Memory that is only reserved has no pages. */
static bool may_be_divided(const struct hi_mapping *m)
{
	if (m->shared || m->kind == HI_MAPPING_FILE)
		return false;
	return m->kind == HI_MAPPING_HEAP || m->held || (m->prot & HI_PROT_WRITE);
}

/* End of the mappings that may be of one heap and follow each other without a gap from
 * addr; addr if there is none. */
static uint64_t run_end(const struct hi_glibc *g, uint64_t addr)
{
	const struct hi_mapping *m = hi_image_mapping_at(g->image, addr);
	uint64_t end = addr;

	for (; m && m < g->image->mappings + g->image->n_mappings; m++) {
		if ((end != addr && m->start != end) || !may_be_divided(m))
			break;
		end = m->end;
	}
	return end;
}

/* ---- main arena ---- */

/* Whether a chain of the main arena may start at p: it reaches the top or a
 * fence, or goes on long enough. *count_ret: bytes to its end. */
static bool starts_chain(struct outline *o, uint64_t p, uint64_t limit, uint64_t top)
{
	uint64_t header, at, n;
	enum chain_end how;

	if (limit - p < HI_CHUNK_MIN || !hi_window_u64(&o->window, p + 8, &header) ||
	    (header & 15) != HI_CHUNK_PREV_INUSE || header < HI_CHUNK_MIN)
		return false;
	if (p == top)
		return true;
	how = follow_chunk_chain(o, p, top > p && top < limit ? top : limit, UINT64_MAX,
				 256, &at, &n);
	count_search(o, n);
	if (how == CHAIN_AT_FENCE)
		return at > p;
	return how == CHAIN_TOO_LONG || (how == CHAIN_AT_LIMIT && at == top);
}

/* The next chain of the main arena in [p, stop); stop if there is none. Only in memory
 * that the image holds. */
static uint64_t find_arena_chain(struct outline *o, uint64_t p, uint64_t stop,
				 uint64_t limit)
{
	const uint64_t align = HI_CHUNK_ALIGN - 1;
	uint64_t top = o->g->arenas.items[0].top, from, to;

	while (p < stop && hi_image_next_held(o->g->image, p, stop, &from, &to)) {
		for (p = from > p ? (from + align) & ~align : p; p < to;
		     p += HI_CHUNK_ALIGN) {
			if (starts_chain(o, p, limit, top))
				return p;
			count_search(o, 1);
			if (!may_search(o, p))
				return stop;
		}
	}
	return stop;
}

/* Pieces of one contiguous run [p, limit) of the main arena; false in
 * *top_ret as long as none holds the top. */
static enum hi_status add_run(struct outline *o, uint64_t p, uint64_t limit,
			      bool *top_ret, struct hi_error *err)
{
	const struct hi_glibc_arena *a = &o->g->arenas.items[0];
	bool top_here = a->top >= p && a->top < limit && a->top_size <= limit - a->top;
	uint64_t stop = top_here ? a->top : limit;

	for (unsigned n = 0; n < MAX_PIECES && p <= stop; n++) {
		struct hi_glibc_part part = {.start = p, .first = p, .has_top = top_here};
		enum chain_end how;
		uint64_t end;
		enum hi_status status;

		part.end = top_here ? a->top + a->top_size : limit;
		status = add_chain(o, part, stop, &how, &end, err);
		if (status != HI_OK)
			return status;
		if (how != CHAIN_AT_FENCE) {
			*top_ret |= top_here;
			return HI_OK;
		}
		p = find_arena_chain(o, fence_end(o, end, limit), stop, limit);
		if (p >= stop && !top_here)
			return HI_OK;
	}
	return HI_OK;
}

/*
 * The end of a whole piece of the main arena that starts at p, fence or top
 * included; p if there is none. Pieces are pages, and end in a fence unless
 * they hold the top.
 */
static uint64_t piece_end(struct outline *o, uint64_t p, uint64_t limit)
{
	const struct hi_glibc_arena *a = &o->g->arenas.items[0];
	bool top_may_be_here = a->top >= p && a->top < limit;
	uint64_t at, end, header, before, n;
	enum chain_end how;

	if (!hi_window_u64(&o->window, p, &before) || before ||
	    !hi_window_u64(&o->window, p + 8, &header) ||
	    (header & 15) != HI_CHUNK_PREV_INUSE || header < HI_CHUNK_MIN)
		return p;
	if (!may_search(o, p))
		return p;
	how = follow_chunk_chain(o, p, top_may_be_here ? a->top : limit, UINT64_MAX,
				 o->left, &at, &n);
	count_search(o, n);
	if (how == CHAIN_AT_LIMIT && top_may_be_here)
		end = a->top + a->top_size;
	else if (how == CHAIN_AT_FENCE)
		end = fence_end(o, at, limit);
	else
		return p;
	return end % HI_GLIBC_PAGE == 0 && end <= limit ? end : p;
}

/* Where the first region behind p starts; limit if there is none. */
static uint64_t next_part(const struct hi_glibc *g, size_t n_parts, uint64_t p,
			  uint64_t limit, uint64_t *end_ret)
{
	for (size_t i = 0; i < n_parts; i++) {
		const struct hi_glibc_part *part = &g->parts.items[i];

		if (part->end > p && part->start < limit) {
			limit = part->start > p ? part->start : p;
			*end_ret = part->end;
		}
	}
	return limit;
}

/* Pieces that start in [p, end); no region covers [p, limit). */
static enum hi_status add_pieces_in(struct outline *o, uint64_t *p, uint64_t end,
				    uint64_t limit, bool *top_ret, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	while (*p < end && status == HI_OK) {
		uint64_t piece = piece_end(o, *p, limit);

		if (piece != *p)
			status = add_run(o, *p, piece, top_ret, err);
		*p = piece != *p ? piece : *p + HI_GLIBC_PAGE;
	}
	return status;
}

/* The same in [p, limit), where the image holds bytes: reservations may be
 * terabytes. */
static enum hi_status add_held_pieces(struct outline *o, uint64_t p, uint64_t limit,
				      bool *top_ret, struct hi_error *err)
{
	enum hi_status status = HI_OK;
	uint64_t from, to;

	while (status == HI_OK && p < limit &&
	       hi_image_next_held(o->g->image, p, limit, &from, &to)) {
		p = from & ~(uint64_t)(HI_GLIBC_PAGE - 1);
		status = add_pieces_in(o, &p, to, limit, top_ret, err);
	}
	return status;
}

/* A main arena that goes on in mmapped pieces, or in a break that grew again:
 * anywhere in writable private memory that has not been taken yet. */
static enum hi_status add_mmapped_pieces(struct outline *o, bool *top_ret,
					 struct hi_error *err)
{
	const struct hi_image *image = o->g->image;
	size_t n_parts = o->g->parts.count;
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < image->n_mappings && status == HI_OK; i++) {
		const struct hi_mapping *m = &image->mappings[i];
		uint64_t p = m->start;

		if ((m->kind != HI_MAPPING_ANONYMOUS && m->kind != HI_MAPPING_HEAP) ||
		    m->shared || !(m->prot & HI_PROT_WRITE))
			continue;
		while (p < m->end && status == HI_OK) {
			uint64_t after = m->end;
			uint64_t limit = next_part(o->g, n_parts, p, m->end, &after);

			status = add_held_pieces(o, p, limit, top_ret, err);
			p = (after + HI_GLIBC_PAGE - 1) & ~(uint64_t)(HI_GLIBC_PAGE - 1);
		}
	}
	return status;
}

static enum hi_status add_main(struct outline *o, struct hi_error *err)
{
	const struct hi_glibc *g = o->g;
	const struct hi_glibc_arena *a = &g->arenas.items[0];
	uint64_t base = (g->sbrk_base + 15) & ~(uint64_t)15;
	bool top_found = false;
	enum hi_status status = HI_OK;

	o->main = true;
	o->wrong_flags = 8 | HI_CHUNK_MMAPPED | HI_CHUNK_NON_MAIN;
	if (!a->top)
		return HI_OK;
	if (base)
		status = add_run(o, base, run_end(g, base), &top_found, err);
	if (status == HI_OK && (!top_found || a->flags & 2 /* NONCONTIGUOUS_BIT */))
		status = add_mmapped_pieces(o, &top_found, err);
	if (status == HI_OK && !top_found)
		hi_glibc_damage(o->g, a->top,
				"arena 0: no memory region contains its top chunk");
	return status;
}

/* ---- other arenas ---- */

struct heap_info {
	uint64_t arena, prev, size;
};

/* Why this heap cannot be; NULL if it can. */
static const char *heap_fault(const struct hi_glibc *g, const struct hi_glibc_arena *a,
			      uint64_t heap, const struct heap_info *info)
{
	if (info->arena != a->addr)
		return "heap belongs to another arena";
	if (info->size % HI_GLIBC_PAGE || info->size > g->heap_max || !info->size)
		return "heap has a wrong size";
	if (info->prev % g->heap_max)
		return "heap before it is not aligned";
	if (!info->prev && a->addr != heap + g->layout->heap_info_size)
		return "its first heap does not contain it";
	return NULL;
}

/* Where the chunks of a heap start. */
static uint64_t first_chunk(const struct hi_glibc *g, const struct hi_glibc_arena *a,
			    uint64_t heap)
{
	uint64_t p = heap + g->layout->heap_info_size;

	if (p == a->addr)
		p += g->layout->state_size;
	return (p + HI_CHUNK_ALIGN - 1) & ~(uint64_t)(HI_CHUNK_ALIGN - 1);
}

/* The last chunk before the end fence is a remnant of the old top, when that
 * was too small to be freed: 16 or 32 bytes, never handed out. */
static enum hi_status add_heap(struct outline *o, unsigned arena, uint64_t heap,
			       const struct heap_info *info, struct hi_error *err)
{
	const struct hi_glibc_arena *a = &o->g->arenas.items[arena];
	struct hi_glibc_part part = {.start = heap,
				     .end = heap + info->size,
				     .arena = arena,
				     .first = first_chunk(o->g, a, heap)};
	uint64_t stop = part.end - HI_CHUNK_ALIGN, end;
	enum hi_status status;
	enum chain_end how;

	if (part.first > part.end - HI_CHUNK_ALIGN)
		return HI_OK;
	if (a->addr > heap && a->addr < part.first)
		part.state_area = a->addr;
	if (a->top >= part.first && a->top < part.end) {
		part.has_top = a->top_size == part.end - a->top;
		stop = a->top;
		if (a->top_size && !part.has_top)
			hi_glibc_damage(o->g, a->top,
					"arena %u: its top does not end with its heap",
					arena);
	}
	status = add_chain(o, part, stop, &how, &end, err);
	if (status == HI_OK && how == CHAIN_AT_LIMIT && !part.has_top &&
	    o->last + 2 * HI_CHUNK_ALIGN == stop)
		o->g->parts.items[o->g->parts.count - 1].stop = o->last;
	return status;
}

static enum hi_status add_arena(struct outline *o, unsigned arena, struct hi_error *err)
{
	struct hi_glibc *g = o->g;
	const struct hi_glibc_arena *a = &g->arenas.items[arena];
	uint64_t heap = a->top & ~(g->heap_max - 1), sum = 0, mark = 0, n = 0;
	enum hi_status status = HI_OK;

	/* Heaps lie apart, as far as they are aligned: only a cycle has no end. Brent's
	 * second pointer, at powers of two, finds it. */
	while (heap && status == HI_OK) {
		struct heap_info info;
		const char *why = hi_memory_read(g->memory, heap, &info, sizeof(info),
						 NULL) == HI_OK
					  ? heap_fault(g, a, heap, &info)
					  : "heap is not readable";

		if (!why && info.size > a->system_mem - sum)
			why = "its heaps are larger than its system_mem";
		else if (!why && heap == mark)
			why = "its heaps form a cycle";
		if (why) {
			hi_glibc_damage(g, heap, "arena %u: %s", arena, why);
			return HI_OK;
		}
		sum += info.size;
		status = add_heap(o, arena, heap, &info, err);
		if ((n & (n + 1)) == 0)
			mark = heap;
		n++;
		heap = info.prev;
	}
	if (status == HI_OK && sum != a->system_mem)
		hi_glibc_damage(g, a->addr,
				"arena %u: its heaps have 0x%llx bytes, system_mem says "
				"0x%llx",
				arena, (unsigned long long)sum,
				(unsigned long long)a->system_mem);
	return status;
}

enum hi_status hi_glibc_add_heaps(struct hi_glibc *g, struct hi_error *err)
{
	struct outline o = {.g = g,
			    .window.memory = g->memory,
			    .left = 2 * (g->held / HI_CHUNK_ALIGN) + MAX_GAP_STEPS};
	enum hi_status status = add_main(&o, err);

	o.main = false;
	o.wrong_flags = 8 | HI_CHUNK_MMAPPED;
	for (unsigned i = 1; i < g->arenas.count && status == HI_OK; i++)
		if (g->arenas.items[i].top)
			status = add_arena(&o, i, err);
	hi_window_free(&o.window);
	return status;
}
