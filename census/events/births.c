/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/births.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/cleanup.h"
#include "base/table.h"
#include "base/vector.h"

enum { PIECE_CLASS = 3 << HI_OBJECT_OVERHEAD_SHIFT };

/* The columns of hi_births, writable. */
struct births_columns {
	uint32_t *context, *thread;
	uint64_t *time_ns, *size;
	struct HI_VECTOR(uint32_t) threads; /* as they come */
	struct hi_table thread_of;	    /* thread id -> index there */
};

static void free_births_columns(struct births_columns *c)
{
	if (!c)
		return;
	free(c->context);
	free(c->thread);
	free(c->time_ns);
	free(c->size);
	hi_vector_free(&c->threads);
	hi_table_free(&c->thread_of);
	free(c);
}

void hi_births_destroy(struct hi_births *births)
{
	if (!births)
		return;
	free_births_columns(births->owned);
	free(births);
}

static struct births_columns *create_births_columns(uint32_t n)
{
	struct births_columns *c = hi_calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->context = hi_realloc_array(NULL, (size_t)n + 1, sizeof(*c->context));
	c->thread = hi_calloc((size_t)n + 1, sizeof(*c->thread));
	c->time_ns = hi_calloc((size_t)n + 1, sizeof(*c->time_ns));
	c->size = hi_calloc((size_t)n + 1, sizeof(*c->size));
	if (!c->context || !c->thread || !c->time_ns || !c->size) {
		free_births_columns(c);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		c->context[i] = HI_BIRTH_NONE;
	return c;
}

static bool number_birth_thread(struct births_columns *c, uint32_t tid, uint32_t *ret)
{
	uint64_t index = c->threads.count;

	if (!hi_table_get(&c->thread_of, tid, &index) &&
	    (!hi_vector_push(&c->threads, tid) ||
	     !hi_table_put(&c->thread_of, tid, index)))
		return false;
	*ret = (uint32_t)index;
	return true;
}

/* The last piece of the block that begins with an object, and where the block ends. */
static hi_node find_last_piece(const struct hi_objects *o, hi_node first,
			       uint64_t *end_ret)
{
	uint64_t end = hi_objects_address(o, first) + hi_objects_usable(o, first);
	hi_node last = first;

	while (last + 1 < o->count && (o->flags[last + 1] & PIECE_CLASS) == PIECE_CLASS &&
	       hi_objects_address(o, last + 1) == end)
		end += hi_objects_usable(o, ++last);
	*end_ret = end;
	return last;
}

hi_node hi_births_last_piece(const struct hi_objects *objects, hi_node first)
{
	uint64_t end;

	return find_last_piece(objects, first, &end);
}

bool hi_birth_has_own_size(const struct hi_births *births,
			   const struct hi_objects *objects, hi_node object)
{
	return hi_birth_is_known(births, object) &&
	       (objects->flags[object] & PIECE_CLASS) != PIECE_CLASS &&
	       hi_births_last_piece(objects, object) == object;
}

void hi_births_mark_other(struct hi_births *births, const uint64_t *in_blocks)
{
	struct births_columns *c = births->owned;

	for (hi_node i = 0; i < births->n_objects; i++)
		if (c->context[i] == HI_BIRTH_NONE && !hi_bit(in_blocks, i))
			c->context[i] = HI_BIRTH_OTHER;
}

static bool join_live_block(struct hi_births *b, const struct hi_objects *o,
			    const uint64_t *unknown_starts,
			    const struct hi_live_allocation *live)
{
	struct births_columns *c = b->owned;
	uint64_t offset = 0, end;
	hi_node first = hi_objects_find(o, live->addr, &offset), last;
	uint32_t thread;

	if (first == HI_NODE_NONE ||
	    (offset && !(unknown_starts && hi_bit(unknown_starts, first)))) {
		b->without_object++;
		return true;
	}
	last = find_last_piece(o, first, &end);
	if (live->size > end - live->addr) {
		b->too_large++;
		return true;
	}
	if (!number_birth_thread(c, live->tid, &thread))
		return false;
	for (hi_node i = first; i <= last; i++) {
		c->context[i] = live->context;
		c->thread[i] = thread;
		c->size[i] = live->size;
		c->time_ns[i] =
			live->time_ns > b->start_ns ? live->time_ns - b->start_ns : 0;
	}
	b->joined++;
	return true;
}

static int compare_births_threads(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Threads ascending, whatever order the allocations came in. */
static bool sort_births_threads(struct hi_births *b)
{
	struct births_columns *c = b->owned;
	size_t n = c->threads.count;
	HI_GUARD(free) uint32_t *index = hi_realloc_array(NULL, n + 1, sizeof(*index));
	uint64_t old;

	if (!index)
		return false;
	if (n)
		qsort(c->threads.items, n, sizeof(*c->threads.items),
		      compare_births_threads);
	for (size_t i = 0; i < n; i++)
		if (hi_table_get(&c->thread_of, c->threads.items[i], &old))
			index[old] = (uint32_t)i;
	for (uint32_t i = 0; i < b->n_objects; i++)
		if (c->context[i] < HI_BIRTH_OTHER)
			c->thread[i] = index[c->thread[i]];
	return true;
}

enum hi_status hi_births_join(const struct hi_recording *recording,
			      const struct hi_objects *objects, uint64_t start_ns,
			      uint64_t end_ns, struct hi_births **ret,
			      struct hi_error *err)
{
	return hi_births_join_inside(recording, objects, start_ns, end_ns, NULL, ret,
				     err);
}

enum hi_status hi_births_join_inside(const struct hi_recording *recording,
				     const struct hi_objects *objects, uint64_t start_ns,
				     uint64_t end_ns, const uint64_t *unknown_starts,
				     struct hi_births **ret, struct hi_error *err)
{
	HI_GUARD(hi_births_destroy) struct hi_births *b = hi_calloc(1, sizeof(*b));
	struct births_columns *c = b ? create_births_columns(objects->count) : NULL;
	struct hi_live_allocation live;

	if (!c)
		return hi_fail_memory(err, "births of objects");
	*b = (struct hi_births){.n_objects = objects->count,
				.context = c->context,
				.thread = c->thread,
				.time_ns = c->time_ns,
				.size = c->size,
				.start_ns = start_ns,
				.end_ns = end_ns,
				.sample_bytes = hi_recording_sample_bytes(recording),
				.owned = c};
	for (uint64_t at = 0; hi_recording_next(recording, &at, &live);)
		if (!join_live_block(b, objects, unknown_starts, &live))
			return hi_fail_memory(err, "births of objects");
	if (!sort_births_threads(b))
		return hi_fail_memory(err, "births of objects");
	b->threads = c->threads.items;
	b->n_threads = (uint32_t)c->threads.count;
	*ret = hi_take(b);
	return HI_OK;
}
