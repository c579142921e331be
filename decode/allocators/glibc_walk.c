/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every chunk of every region, once. A chunk is free if the next one's PREV_INUSE bit is
 * clear, or if a tcache or fastbin lists it: those keep the bit. Where a header fails its
 * check, the walk records damage and goes on at the next chunk of a free list, else at
 * the region's end.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/search.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/allocators/glibc.h"

enum { BATCH = 512, MAX_REGION_DAMAGE = 1000 };

struct walk {
	struct hi_glibc *g;
	const struct hi_glibc_part *part;
	unsigned region;
	struct hi_window window;
	const uint64_t *listed, *listed_end; /* the next listed chunk of this region */
	hi_blocks_fn *fn;
	void *arg;
	bool stopped;
	uint64_t n_damage;
	uint64_t skipped;
	uint64_t count[HI_BLOCK_STATES], bytes[HI_BLOCK_STATES];
	size_t n;
	struct hi_block batch[BATCH];
};

static void flush_block_batch(struct walk *w)
{
	if (w->n && !w->stopped && !w->fn(w->batch, w->n, w->region, w->arg))
		w->stopped = true;
	w->n = 0;
}

static inline void emit_block(struct walk *w, uint64_t addr, uint64_t usable,
			      uint64_t cost, enum hi_block_state state)
{
	w->count[state]++;
	w->bytes[state] += cost;
	w->batch[w->n++] = (struct hi_block){
		.addr = addr,
		.usable = usable,
		.cost = cost,
		.state = state,
		.mmapped = w->part->kind == HI_GLIBC_MMAPPED,
	};
	if (w->n == BATCH)
		flush_block_batch(w);
}

__attribute__((format(printf, 3, 4))) static void damage(struct walk *w, uint64_t addr,
							 const char *fmt, ...)
{
	char text[sizeof(((struct hi_allocator_damage *)NULL)->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	hi_glibc_damage(w->g, addr, "arena %u: %s", w->part->arena, text);
	w->n_damage++;
}

/* A chunk includes the first word of the next one, unless there is none (the end of a
 * broken region). */
static inline void emit_chunk(struct walk *w, uint64_t p, uint64_t size,
			      enum hi_block_state state)
{
	uint64_t usable = size - 8;

	if (__builtin_expect(p + size + 8 > w->part->end, 0))
		usable = size - HI_CHUNK_HEADER;
	emit_block(w, p + HI_CHUNK_HEADER, usable, size, state);
}

/* The next listed chunk; UINT64_MAX when there is none. */
static inline uint64_t next_listed(const struct walk *w)
{
	return w->listed < w->listed_end ? *w->listed & ~(uint64_t)15 : UINT64_MAX;
}

static const uint64_t *lower_bound(const struct hi_glibc_listed *v, uint64_t addr)
{
	size_t low = hi_search(i, v->count, v->items[i] < addr);

	return v->count ? v->items + low : NULL;
}

/* Entries that no chunk starts at: the list points into the middle of one. */
static void drop_listed_below(struct walk *w, uint64_t p, bool is_damage)
{
	while (next_listed(w) < p) {
		if (is_damage)
			damage(w, next_listed(w), "a free list points inside a chunk");
		w->listed++;
	}
}

/* The header at p failed its check: where the chain goes on. */
static uint64_t skip_damaged_chunks(struct walk *w, uint64_t p)
{
	uint64_t resume;

	drop_listed_below(w, p + 1, false);
	resume = next_listed(w);
	if (resume > w->part->stop)
		resume = w->part->stop;
	if (w->n_damage >= MAX_REGION_DAMAGE)
		resume = w->part->stop;
	w->skipped += resume - p;
	return resume;
}

static void describe_bad_header(struct walk *w, uint64_t p, uint64_t header)
{
	uint64_t size = header & ~(uint64_t)HI_CHUNK_FLAGS;

	if (size % HI_CHUNK_ALIGN || size < HI_CHUNK_MIN)
		damage(w, p, "invalid chunk size 0x%llx", (unsigned long long)size);
	else if (size > w->part->stop - p)
		damage(w, p, "chunk size 0x%llx runs past the %s",
		       (unsigned long long)size, w->part->has_top ? "top" : "end");
	else
		damage(w, p, "invalid chunk flags 0x%llx",
		       (unsigned long long)(header & HI_CHUNK_FLAGS));
}

/* Whether a chunk whose successor cannot be read is in a bin: both of its
 * neighbours in the ring point back. */
static bool in_a_bin(struct walk *w, uint64_t p)
{
	uint64_t links[2], back;

	return hi_memory_read(w->g->memory, p + 16, links, sizeof(links), NULL) ==
		       HI_OK &&
	       hi_memory_read_u64(w->g->memory, links[0] + 24, &back, NULL) == HI_OK &&
	       back == p &&
	       hi_memory_read_u64(w->g->memory, links[1] + 16, &back, NULL) == HI_OK &&
	       back == p;
}

/* A chunk of known extent without a successor that has its state. */
static void emit_last_readable(struct walk *w, uint64_t p, uint64_t size)
{
	enum hi_block_state state = HI_BLOCK_LIVE;

	drop_listed_below(w, p, true);
	if (next_listed(w) == p)
		state = (enum hi_block_state)(*w->listed++ & 15);
	else if (in_a_bin(w, p))
		state = HI_BLOCK_FREE_BIN;
	emit_chunk(w, p, size, state);
}

/* Drops what lies before p. True: a list has a chunk inside [p, p + size). Then the size
 * is wrong, as listed chunks passed their check. */
static bool has_listed_inside(struct walk *w, uint64_t p, uint64_t size)
{
	const uint64_t *next;

	drop_listed_below(w, p, true);
	next = w->listed + (next_listed(w) == p);
	return next < w->listed_end && (*next & ~(uint64_t)15) < p + size;
}

static inline enum hi_block_state state_of_chunk(struct walk *w, uint64_t p,
						 uint64_t size, uint64_t next_header)
{
	enum hi_block_state state = HI_BLOCK_LIVE;
	uint64_t prev_size;

	if (__builtin_expect(next_listed(w) <= p, 0))
		state = (enum hi_block_state)(*w->listed++ & 15);
	if (next_header & HI_CHUNK_PREV_INUSE)
		return state;
	if (state != HI_BLOCK_LIVE)
		damage(w, p, "a chunk is in a cache and in a bin");
	else
		state = HI_BLOCK_FREE_BIN;
	if (!hi_window_u64(&w->window, p + size, &prev_size) || prev_size != size)
		damage(w, p, "the size of a free chunk is not repeated at its end");
	return state;
}

static void walk_chain(struct walk *w)
{
	const struct hi_glibc_part *part = w->part;
	uint64_t wrong = part->arena ? 8 | HI_CHUNK_MMAPPED
				     : 8 | HI_CHUNK_MMAPPED | HI_CHUNK_NON_MAIN;
	uint64_t p = part->first, stop = part->stop, header = 0;
	bool readable = hi_window_u64(&w->window, p + 8, &header);

	while (p < stop && !w->stopped) {
		uint64_t size = header & ~(uint64_t)HI_CHUNK_FLAGS, next_header = 0;

		if (!readable || (header & wrong) || size < HI_CHUNK_MIN ||
		    size > stop - p) {
			if (readable)
				describe_bad_header(w, p, header);
			else
				damage(w, p, "a chunk header is not readable");
			p = skip_damaged_chunks(w, p);
			readable = hi_window_u64(&w->window, p + 8, &header);
			continue;
		}
		if (__builtin_expect(next_listed(w) < p + size, 0) &&
		    has_listed_inside(w, p, size)) {
			damage(w, p, "a free list contains a chunk inside this one");
			p = skip_damaged_chunks(w, p);
			readable = hi_window_u64(&w->window, p + 8, &header);
			continue;
		}
		readable = hi_window_u64(&w->window, p + size + 8, &next_header);
		if (readable)
			emit_chunk(w, p, size, state_of_chunk(w, p, size, next_header));
		else
			emit_last_readable(w, p, size);
		p += size;
		header = next_header;
	}
	drop_listed_below(w, stop, !w->stopped);
}

/* No list has chunks that are mappings, unless one of them is a tcache. */
static enum hi_block_state state_of_mapped(const struct walk *w, uint64_t user)
{
	const struct hi_glibc_listed *listed = &w->g->listed;
	const uint64_t *at = lower_bound(listed, user - HI_CHUNK_HEADER);

	return at && at < listed->items + listed->count &&
			       *at == ((user - HI_CHUNK_HEADER) | HI_BLOCK_INTERNAL)
		       ? HI_BLOCK_INTERNAL
		       : HI_BLOCK_LIVE;
}

static void walk_part(struct walk *w)
{
	const struct hi_glibc_part *part = w->part;

	if (part->kind == HI_GLIBC_MMAPPED) {
		emit_block(w, part->user, part->usable, part->end - part->start,
			   state_of_mapped(w, part->user));
		flush_block_batch(w);
		return;
	}
	if (part->state_area)
		emit_block(w, part->state_area, w->g->layout->state_size,
			   part->first - part->state_area, HI_BLOCK_INTERNAL);
	w->listed = lower_bound(&w->g->listed, part->first);
	w->listed_end = lower_bound(&w->g->listed, part->stop);
	walk_chain(w);
	if (part->has_top && !w->stopped)
		emit_block(w, part->stop + HI_CHUNK_HEADER,
			   part->end - part->stop - HI_CHUNK_HEADER,
			   part->end - part->stop, HI_BLOCK_FREE_TOP);
	flush_block_batch(w);
}

static void add_counts(struct walk *w)
{
	struct hi_glibc *g = w->g;
	uint64_t size = w->part->end - w->part->start, blocks = w->skipped;

	for (int i = 0; i < HI_BLOCK_STATES; i++)
		blocks += w->bytes[i];
	pthread_mutex_lock(&g->lock);
	for (int i = 0; i < HI_BLOCK_STATES; i++) {
		g->base.count[i] += w->count[i];
		g->base.bytes[i] += w->bytes[i];
	}
	g->base.skipped_bytes += w->skipped;
	if (!w->stopped)
		g->base.overhead_bytes += size - blocks;
	pthread_mutex_unlock(&g->lock);
}

static enum hi_status walk_one(struct walk *w, unsigned region, bool *stopped_ret,
			       struct hi_error *err)
{
	struct hi_glibc *g = w->g;

	w->part = &g->parts.items[region];
	w->region = region;
	w->n_damage = w->skipped = 0;
	memset(w->count, 0, sizeof(w->count));
	memset(w->bytes, 0, sizeof(w->bytes));
	walk_part(w);
	*stopped_ret = w->stopped;
	if (w->window.out_of_memory)
		return hi_fail_memory(err, "window");
	add_counts(w);
	return HI_OK;
}

void hi_glibc_restart(struct hi_allocator *allocator)
{
	struct hi_glibc *g = (struct hi_glibc *)allocator;

	g->base.n_damage = g->n_probe_damage;
	g->base.n_damage_total = g->n_probe_damage_total;
	g->base.skipped_bytes = g->base.overhead_bytes = 0;
	memset(g->base.count, 0, sizeof(g->base.count));
	memset(g->base.bytes, 0, sizeof(g->base.bytes));
}

static enum hi_status walk_regions(struct hi_glibc *g, unsigned first, unsigned end,
				   hi_blocks_fn *fn, void *arg, struct hi_error *err)
{
	HI_GUARD(free) struct walk *w = hi_alloc(sizeof(*w));
	enum hi_status status = HI_OK;
	bool stopped = false;

	if (!w)
		return hi_fail_memory(err, "walk");
	memset(w, 0, offsetof(struct walk, batch));
	w->g = g;
	w->window.memory = g->memory;
	w->fn = fn;
	w->arg = arg;
	for (unsigned i = first; i < end && !stopped && status == HI_OK; i++)
		status = walk_one(w, i, &stopped, err);
	hi_window_free(&w->window);
	return status;
}

enum hi_status hi_glibc_walk(struct hi_allocator *allocator, hi_blocks_fn *fn, void *arg,
			     struct hi_error *err)
{
	struct hi_glibc *g = (struct hi_glibc *)allocator;

	hi_glibc_restart(allocator);
	return walk_regions(g, 0, (unsigned)g->parts.count, fn, arg, err);
}

enum hi_status hi_glibc_walk_region(struct hi_allocator *allocator, unsigned region,
				    hi_blocks_fn *fn, void *arg, struct hi_error *err)
{
	struct hi_glibc *g = (struct hi_glibc *)allocator;

	if (region >= g->parts.count)
		return hi_fail(err, HI_NOT_FOUND, 0, "no region %u", region);
	return walk_regions(g, region, region + 1, fn, arg, err);
}
