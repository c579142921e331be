/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/allocators/slabs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/search.h"
#include "decode/allocators/window.h"

enum {
	MAX_DAMAGE = 64,
	BATCH = 1024,
	PAGE = 4096,
	/* A region is walked by one thread: about this much of one. */
	REGION_SIZE = 32 << 20,
	/* Free memory and metadata from here on get regions of their own, which need no
	 * table of objects. */
	OWN_REGION = 256 << 10,
};
static const uint64_t MAX_SLOTS = 1ull << 36;

void hi_slabs_init(struct hi_slabs *slabs, struct hi_allocator *allocator,
		   const struct hi_image *image, hi_slab_describe_fn *describe)
{
	slabs->allocator = allocator;
	slabs->memory = image->memory;
	slabs->describe = describe;
	pthread_mutex_init(&slabs->lock, NULL);
}

void hi_slabs_deinit(struct hi_slabs *slabs)
{
	hi_vector_free(&slabs->items);
	hi_vector_free(&slabs->states);
	free(slabs->order);
	free(slabs->regions);
	free(slabs->region_slabs);
	free(slabs->classes);
	free(slabs->sizes);
}

static bool is_sound(const struct hi_slab *s)
{
	return s->start < s->end && s->first >= s->start && s->n && s->size &&
	       s->first < s->end && s->n <= (s->end - s->first) / s->size &&
	       s->usable <= s->end - s->first;
}

/* Room for n states more, which are set to `state`. */
static bool add_states(struct hi_slabs *slabs, uint32_t n, enum hi_block_state state)
{
	struct hi_slab_states *states = &slabs->states;

	if (!hi_vector_reserve(states, states->count + n))
		return false;
	memset(states->items + states->count, (int)state, n);
	states->count += n;
	return true;
}

enum hi_status hi_slabs_add(struct hi_slabs *slabs, const struct hi_slab *slab,
			    enum hi_block_state state, uint32_t *id_ret,
			    struct hi_error *err)
{
	struct hi_slab added = *slab;

	added.states = slabs->states.count;
	if (!is_sound(slab) || slabs->states.count + slab->n > MAX_SLOTS ||
	    slabs->items.count >= UINT32_MAX)
		return hi_fail(err, HI_BAD_DATA, slab->start,
			       "a slab of %u blocks does not fit into its memory",
			       slab->n);
	if (id_ret)
		*id_ret = (uint32_t)slabs->items.count;
	if (!add_states(slabs, slab->n, state) || !hi_vector_push(&slabs->items, added))
		return hi_fail_memory(err, "slabs");
	return HI_OK;
}

/* ---- order ---- */

static int compare_slab_starts(const void *a, const void *b, void *arg)
{
	const struct hi_slab *items = arg;
	uint64_t x = items[*(const uint32_t *)a].start;
	uint64_t y = items[*(const uint32_t *)b].start;

	return x < y ? -1 : x > y;
}

enum hi_status hi_slabs_sort(struct hi_slabs *slabs, struct hi_error *err)
{
	const struct hi_slab *items = slabs->items.items;
	size_t n = slabs->items.count;

	slabs->order = hi_alloc((n + 1) * sizeof(*slabs->order));
	if (!slabs->order)
		return hi_fail_memory(err, "slabs");
	for (size_t i = 0; i < n; i++)
		slabs->order[i] = (uint32_t)i;
	if (n > 1)
		qsort_r(slabs->order, n, sizeof(*slabs->order), compare_slab_starts,
			slabs->items.items);
	for (size_t i = 1; i < n; i++) {
		const struct hi_slab *before = &items[slabs->order[i - 1]];
		const struct hi_slab *s = &items[slabs->order[i]];

		if (before->end > s->start)
			return hi_fail(err, HI_BAD_DATA, s->start,
				       "the slabs at 0x%lx and 0x%lx overlap",
				       before->start, s->start);
	}
	return HI_OK;
}

bool hi_slabs_find(const struct hi_slabs *slabs, uint64_t addr, uint32_t *id_ret,
		   uint32_t *slot_ret, uint64_t *offset_ret)
{
	const struct hi_slab *items = slabs->items.items;
	size_t i = hi_search(k, slabs->items.count, items[slabs->order[k]].end <= addr);
	const struct hi_slab *s;

	if (i >= slabs->items.count || items[slabs->order[i]].start > addr)
		return false;
	*id_ret = slabs->order[i];
	s = &items[*id_ret];
	*slot_ret = UINT32_MAX;
	*offset_ret = 0;
	if (addr >= s->first && addr - s->first < s->n * s->size) {
		*slot_ret = (uint32_t)((addr - s->first) / s->size);
		*offset_ret = (addr - s->first) % s->size;
	}
	return true;
}

/* ---- regions ---- */

static bool may_hold_blocks(const struct hi_slabs *slabs, const struct hi_slab *s)
{
	enum hi_block_state state = slabs->states.items[s->states];

	return s->n > 1 || s->is_small || state == HI_BLOCK_LIVE ||
	       state == HI_BLOCK_INTERNAL;
}

static bool needs_own_region(const struct hi_slabs *slabs, const struct hi_slab *s)
{
	return !may_hold_blocks(slabs, s) && s->end - s->start >= OWN_REGION;
}

/* Whether s goes on with region r, whose slabs before it are [first, …). */
static bool continues_region(const struct hi_slabs *slabs, const struct hi_heap_region *r,
			     const struct hi_slab *s)
{
	return r->end == s->start && r->arena == s->arena &&
	       r->end - r->start < REGION_SIZE &&
	       r->has_no_objects == needs_own_region(slabs, s);
}

static void add_to_region(struct hi_slabs *slabs, const struct hi_slab *s, size_t *n,
			  uint32_t position)
{
	struct hi_heap_region *r = *n ? &slabs->regions[*n - 1] : NULL;

	if (!r || !continues_region(slabs, r, s)) {
		r = &slabs->regions[*n];
		*r = (struct hi_heap_region){.start = s->start,
					     .arena = s->arena,
					     .has_no_objects = needs_own_region(slabs, s),
					     .align_shift = 12};
		slabs->region_slabs[*n] = (struct hi_slab_region){position, 0};
		++*n;
	}
	r->end = s->end;
	if ((may_hold_blocks(slabs, s) || s->start % PAGE) &&
	    s->align_shift < r->align_shift)
		r->align_shift = s->align_shift;
	slabs->region_slabs[*n - 1].n++;
}

static enum hi_status make_slab_regions(struct hi_slabs *slabs, struct hi_error *err)
{
	size_t n = slabs->items.count, n_regions = 0;

	slabs->regions = hi_calloc(n + 1, sizeof(*slabs->regions));
	slabs->region_slabs = hi_calloc(n + 1, sizeof(*slabs->region_slabs));
	if (!slabs->regions || !slabs->region_slabs)
		return hi_fail_memory(err, "regions");
	for (size_t i = 0; i < n; i++)
		add_to_region(slabs, &slabs->items.items[slabs->order[i]], &n_regions,
			      (uint32_t)i);
	slabs->allocator->regions = slabs->regions;
	slabs->allocator->n_regions = n_regions;
	return HI_OK;
}

/* ---- classes ---- */

static struct hi_slab_class count_slots(const struct hi_slabs *slabs,
					const struct hi_slab *s)
{
	struct hi_slab_class c = {.slabs = 1, .bytes = s->end - s->start, .slots = s->n};

	for (uint32_t i = 0; i < s->n; i++) {
		uint8_t state = slabs->states.items[s->states + i];

		c.live += state == HI_BLOCK_LIVE || state == HI_BLOCK_INTERNAL;
		c.cached +=
			state == HI_BLOCK_FREE_TCACHE || state == HI_BLOCK_FREE_TRANSFER;
	}
	c.empty = c.live == 0;
	c.sparse = c.live && c.live * 4 < c.slots;
	c.sparse_bytes = c.sparse ? c.bytes : 0;
	return c;
}

static enum hi_status make_slab_classes(struct hi_slabs *slabs, struct hi_error *err)
{
	struct hi_slab_class *classes =
		hi_calloc(HI_SLAB_CLASSES, sizeof(*slabs->classes));
	size_t n = 0;

	if (!classes)
		return hi_fail_memory(err, "slabs");
	slabs->classes = classes;
	for (size_t i = 0; i < slabs->items.count; i++) {
		const struct hi_slab *s = &slabs->items.items[i];
		struct hi_slab_class c;
		size_t at;

		if (!s->is_small)
			continue;
		c = count_slots(slabs, s);
		at = hi_search(k, n, classes[k].size < s->size);
		if (at == n || classes[at].size != s->size) {
			if (n == HI_SLAB_CLASSES)
				continue;
			memmove(&classes[at + 1], &classes[at],
				(n++ - at) * sizeof(*classes));
			classes[at] = (struct hi_slab_class){
				.allocator = slabs->allocator->ops->name,
				.size = s->size};
		}
		hi_slab_class_add(&classes[at], &c);
	}
	slabs->allocator->slab_classes = classes;
	slabs->allocator->n_slab_classes = n;
	return HI_OK;
}

/* Where the allocator does not say: of the classes that have slabs. */
static enum hi_status make_slab_sizes(struct hi_slabs *slabs, struct hi_error *err)
{
	struct hi_allocator *a = slabs->allocator;
	size_t n = 0;

	if (a->n_sizes || a->size_step || !a->n_slab_classes)
		return HI_OK;
	slabs->sizes = hi_calloc(a->n_slab_classes, sizeof(*slabs->sizes));
	if (!slabs->sizes)
		return hi_fail_memory(err, "sizes");
	for (size_t i = 0; i < a->n_slab_classes; i++)
		slabs->sizes[n++] = a->slab_classes[i].size;
	a->sizes = slabs->sizes;
	a->n_sizes = n;
	a->size_step = PAGE;
	return HI_OK;
}

enum hi_status hi_slabs_seal(struct hi_slabs *slabs, struct hi_error *err)
{
	enum hi_status status = slabs->order ? HI_OK : hi_slabs_sort(slabs, err);

	if (status == HI_OK)
		status = make_slab_regions(slabs, err);
	if (status == HI_OK)
		status = make_slab_classes(slabs, err);
	if (status == HI_OK)
		status = make_slab_sizes(slabs, err);
	slabs->n_probe_damage = slabs->allocator->n_damage;
	slabs->n_probe_damage_total = slabs->allocator->n_damage_total;
	slabs->probe_skipped = slabs->allocator->skipped_bytes;
	return status;
}

/* ---- damage ---- */

void hi_allocator_note_damage(struct hi_allocator *allocator, uint64_t addr,
			      const char *fmt, ...)
{
	struct hi_allocator_damage *d;
	va_list args;

	if (!allocator->damage)
		allocator->damage = hi_calloc(MAX_DAMAGE, sizeof(*allocator->damage));
	allocator->n_damage_total++;
	if (!allocator->damage || allocator->n_damage >= MAX_DAMAGE)
		return;
	d = &allocator->damage[allocator->n_damage++];
	d->address = addr;
	va_start(args, fmt);
	vsnprintf(d->text, sizeof(d->text), fmt, args);
	va_end(args);
}

/* ---- the walk ---- */

struct slab_walk {
	struct hi_slabs *slabs;
	hi_blocks_fn *fn;
	void *arg;
	struct hi_window window;
	unsigned region;
	size_t n;
	bool stopped;
	uint64_t count[HI_BLOCK_STATES], bytes[HI_BLOCK_STATES];
	struct hi_block batch[BATCH];
};

static void flush_slab_batch(struct slab_walk *w)
{
	if (w->n && !w->stopped && !w->fn(w->batch, w->n, w->region, w->arg))
		w->stopped = true;
	w->n = 0;
}

static void emit_slab_slot(struct slab_walk *w, const struct hi_slab *s, uint32_t slot)
{
	enum hi_block_state state = w->slabs->states.items[s->states + slot];
	struct hi_block *b = &w->batch[w->n++];

	*b = (struct hi_block){.addr = s->first + slot * s->size,
			       .usable = s->usable,
			       .cost = s->size,
			       .state = state,
			       .is_start_unknown = s->is_start_unknown};
	if (w->slabs->describe && state == HI_BLOCK_LIVE)
		w->slabs->describe(w->slabs, s, slot, &w->window, b);
	w->count[state]++;
	w->bytes[state] += b->cost;
	if (w->n == BATCH)
		flush_slab_batch(w);
}

/* Adjacent free slots stay blocks of their own: explain finds the slot. */
static void walk_slab(struct slab_walk *w, const struct hi_slab *s)
{
	for (uint32_t i = 0; i < s->n && !w->stopped; i++)
		emit_slab_slot(w, s, i);
}

static void add_slab_counts(struct slab_walk *w)
{
	const struct hi_heap_region *r = &w->slabs->regions[w->region];
	struct hi_allocator *a = w->slabs->allocator;
	uint64_t blocks = 0, size = r->end - r->start;

	pthread_mutex_lock(&w->slabs->lock);
	for (int i = 0; i < HI_BLOCK_STATES; i++) {
		a->count[i] += w->count[i];
		a->bytes[i] += w->bytes[i];
		blocks += w->bytes[i];
	}
	if (!w->stopped)
		a->overhead_bytes += size > blocks ? size - blocks : 0;
	pthread_mutex_unlock(&w->slabs->lock);
}

static void walk_slab_region(struct slab_walk *w, unsigned region)
{
	const struct hi_slab_region *r = &w->slabs->region_slabs[region];

	w->region = region;
	memset(w->count, 0, sizeof(w->count));
	memset(w->bytes, 0, sizeof(w->bytes));
	for (uint32_t i = 0; i < r->n && !w->stopped; i++)
		walk_slab(w, &w->slabs->items.items[w->slabs->order[r->first + i]]);
	flush_slab_batch(w);
	add_slab_counts(w);
}

static enum hi_status walk_slab_regions(struct hi_slabs *slabs, unsigned first,
					unsigned end, hi_blocks_fn *fn, void *arg,
					struct hi_error *err)
{
	HI_GUARD(free) struct slab_walk *w = hi_alloc(sizeof(*w));
	bool out_of_memory;

	if (!w)
		return hi_fail_memory(err, "walk");
	memset(w, 0, offsetof(struct slab_walk, batch));
	w->slabs = slabs;
	w->window.memory = slabs->memory;
	w->fn = fn;
	w->arg = arg;
	for (unsigned i = first; i < end && !w->stopped; i++)
		walk_slab_region(w, i);
	out_of_memory = w->window.out_of_memory;
	hi_window_free(&w->window);
	return out_of_memory ? hi_fail_memory(err, "window") : HI_OK;
}

enum hi_status hi_slabs_walk(struct hi_slabs *slabs, hi_blocks_fn *fn, void *arg,
			     struct hi_error *err)
{
	hi_slabs_restart(slabs);
	return walk_slab_regions(slabs, 0, (unsigned)slabs->allocator->n_regions, fn, arg,
				 err);
}

enum hi_status hi_slabs_walk_region(struct hi_slabs *slabs, unsigned region,
				    hi_blocks_fn *fn, void *arg, struct hi_error *err)
{
	if (region >= slabs->allocator->n_regions)
		return hi_fail(err, HI_NOT_FOUND, 0, "no region %u", region);
	return walk_slab_regions(slabs, region, region + 1, fn, arg, err);
}

void hi_slabs_restart(struct hi_slabs *slabs)
{
	struct hi_allocator *a = slabs->allocator;

	a->n_damage = slabs->n_probe_damage;
	a->n_damage_total = slabs->n_probe_damage_total;
	a->skipped_bytes = slabs->probe_skipped;
	a->overhead_bytes = 0;
	memset(a->count, 0, sizeof(a->count));
	memset(a->bytes, 0, sizeof(a->bytes));
}
