/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/allocators/oldmalloc.h"
#include "decode/allocators/slabs.h"
#include "decode/allocators/window.h"

enum { IN_USE = 1, BATCH = 1024 };

struct tag_walk {
	struct hi_oldmalloc *o;
	hi_blocks_fn *fn;
	void *arg;
	struct hi_window window;
	unsigned region;
	size_t n;
	bool stopped;
	uint64_t count[HI_BLOCK_STATES], bytes[HI_BLOCK_STATES];
	struct hi_block batch[BATCH];
};

static void flush_chunks(struct tag_walk *w)
{
	if (w->n && !w->stopped && !w->fn(w->batch, w->n, w->region, w->arg))
		w->stopped = true;
	w->n = 0;
}

static void emit_old_chunk(struct tag_walk *w, uint64_t chunk, uint64_t size,
			   enum hi_block_state state, bool is_mmapped)
{
	uint16_t overhead = w->o->layout->overhead;

	w->batch[w->n++] = (struct hi_block){.addr = chunk + overhead,
					     .usable = size - overhead,
					     .cost = size,
					     .state = state,
					     .mmapped = is_mmapped};
	w->count[state]++;
	w->bytes[state] += size;
	if (w->n == BATCH)
		flush_chunks(w);
}

static void note_chunk(struct tag_walk *w, uint64_t at, const char *what,
		       uint64_t skipped)
{
	struct hi_allocator *a = &w->o->base;

	pthread_mutex_lock(&w->o->lock);
	hi_allocator_note_damage(a, at, "oldmalloc: chunk at 0x%lx: %s", at, what);
	a->skipped_bytes += skipped;
	pthread_mutex_unlock(&w->o->lock);
}

/* A free chunk is in a bin: both neighbours in the list point at it. */
static bool is_linked(const struct tag_walk *w, uint64_t chunk)
{
	const struct hi_oldmalloc_layout *l = w->o->layout;
	struct hi_memory *memory = w->o->memory;
	uint64_t next, prev, back, forth;

	return hi_memory_read_u64(memory, chunk + l->chunk_next, &next, NULL) == HI_OK &&
	       hi_memory_read_u64(memory, chunk + l->chunk_prev, &prev, NULL) == HI_OK &&
	       hi_memory_read_u64(memory, next + l->chunk_prev, &back, NULL) == HI_OK &&
	       hi_memory_read_u64(memory, prev + l->chunk_next, &forth, NULL) == HI_OK &&
	       back == chunk && forth == chunk;
}

/* One chunk of an area; *before is the tag that its psize must repeat. 0: no chunk can be
 * here. */
static uint64_t walk_chunk(struct tag_walk *w, const struct hi_oldmalloc_part *p,
			   uint64_t at, uint64_t *before)
{
	const struct hi_oldmalloc_layout *l = w->o->layout;
	uint64_t psize, csize, size;

	if (!hi_window_u64(&w->window, at + l->chunk_psize, &psize) ||
	    !hi_window_u64(&w->window, at + l->chunk_csize, &csize)) {
		note_chunk(w, at, "it is not readable", p->end - at);
		return 0;
	}
	size = csize & ~(uint64_t)IN_USE;
	if (psize != *before)
		note_chunk(w, at, "the chunk before it has another size", 0);
	if (!size || size % l->align || size > p->end - l->overhead - at) {
		note_chunk(w, at, "its size cannot be", p->end - at);
		return 0;
	}
	if (!(csize & IN_USE) && !is_linked(w, at))
		note_chunk(w, at, "it is free, and in no bin", 0);
	*before = csize;
	emit_old_chunk(w, at, size, csize & IN_USE ? HI_BLOCK_LIVE : HI_BLOCK_FREE_BIN,
		       false);
	return size;
}

static void walk_area(struct tag_walk *w, const struct hi_oldmalloc_part *p)
{
	uint64_t stop = p->is_broken ? p->end - w->o->layout->overhead : p->stop;
	uint64_t at = p->first, before = 0 | IN_USE, size = 1;

	while (at < stop && size && !w->stopped) {
		size = walk_chunk(w, p, at, &before);
		at += size;
	}
}

static void add_chunk_counts(struct tag_walk *w, const struct hi_oldmalloc_part *p)
{
	struct hi_allocator *a = &w->o->base;
	uint64_t blocks = 0;

	pthread_mutex_lock(&w->o->lock);
	for (int i = 0; i < HI_BLOCK_STATES; i++) {
		a->count[i] += w->count[i];
		a->bytes[i] += w->bytes[i];
		blocks += w->bytes[i];
	}
	if (!w->stopped)
		a->overhead_bytes += p->end - p->start - blocks;
	pthread_mutex_unlock(&w->o->lock);
}

static void walk_old_part(struct tag_walk *w, unsigned region)
{
	const struct hi_oldmalloc_part *p = &w->o->parts.items[region];

	w->region = region;
	memset(w->count, 0, sizeof(w->count));
	memset(w->bytes, 0, sizeof(w->bytes));
	if (p->is_mmapped)
		emit_old_chunk(w, p->first, p->end - p->first, HI_BLOCK_LIVE, true);
	else
		walk_area(w, p);
	flush_chunks(w);
	add_chunk_counts(w, p);
}

static enum hi_status walk_parts(struct hi_oldmalloc *o, unsigned first, unsigned end,
				 hi_blocks_fn *fn, void *arg, struct hi_error *err)
{
	HI_GUARD(free) struct tag_walk *w = hi_alloc(sizeof(*w));
	bool out_of_memory;

	if (!w)
		return hi_fail_memory(err, "walk");
	memset(w, 0, offsetof(struct tag_walk, batch));
	w->o = o;
	w->window.memory = o->memory;
	w->fn = fn;
	w->arg = arg;
	for (unsigned i = first; i < end && !w->stopped; i++)
		walk_old_part(w, i);
	out_of_memory = w->window.out_of_memory;
	hi_window_free(&w->window);
	return out_of_memory ? hi_fail_memory(err, "window") : HI_OK;
}

enum hi_status hi_oldmalloc_walk(struct hi_allocator *allocator, hi_blocks_fn *fn,
				 void *arg, struct hi_error *err)
{
	hi_oldmalloc_restart(allocator);
	return walk_parts((struct hi_oldmalloc *)allocator, 0,
			  (unsigned)allocator->n_regions, fn, arg, err);
}

enum hi_status hi_oldmalloc_walk_region(struct hi_allocator *allocator, unsigned region,
					hi_blocks_fn *fn, void *arg, struct hi_error *err)
{
	if (region >= allocator->n_regions)
		return hi_fail(err, HI_NOT_FOUND, 0, "no region %u", region);
	return walk_parts((struct hi_oldmalloc *)allocator, region, region + 1, fn, arg,
			  err);
}

void hi_oldmalloc_restart(struct hi_allocator *a)
{
	const struct hi_oldmalloc *o = (const struct hi_oldmalloc *)a;

	a->n_damage = o->n_probe_damage;
	a->n_damage_total = o->n_probe_damage_total;
	a->skipped_bytes = a->overhead_bytes = 0;
	memset(a->count, 0, sizeof(a->count));
	memset(a->bytes, 0, sizeof(a->bytes));
}
