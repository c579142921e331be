/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/live/blocks.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parallel.h"

/* Overhead classes of the object table: an allocator's header beside the usable bytes. */
enum { CLASS_HEAP, CLASS_MMAPPED, CLASS_PLAIN /* costs nothing beside */ };
enum { HEAP_HEADER = 8, MMAPPED_HEADER = 16 };
enum { NO_REGION = UINT_MAX }; /* in region_of */

struct collecting {
	struct hi_objects_builder *builder;
	unsigned *region_of; /* of the builder, by the allocator's region; NO_REGION */
	size_t n_regions;
	pthread_mutex_t lock; /* the rest: several threads call add_blocks */
	uint64_t refused;     /* blocks that contradict each other */
	struct hi_error refusal;
	enum hi_status status;
	struct hi_error error;
};

/* Remembers a block that the table did not take; false ends the walk. */
static bool note_failure(struct collecting *c, enum hi_status status,
			 const struct hi_error *err)
{
	bool go_on = status == HI_BAD_DATA;

	pthread_mutex_lock(&c->lock);
	if (!go_on) {
		c->status = status;
		c->error = *err;
	} else if (c->refused++ == 0 || err->address < c->refusal.address) {
		c->refusal = *err; /* the lowest: whichever thread was first */
	}
	pthread_mutex_unlock(&c->lock);
	return go_on;
}

static unsigned overhead_class_of(const struct hi_block *b)
{
	if (b->mmapped || b->cost == b->usable + MMAPPED_HEADER)
		return CLASS_MMAPPED;
	return b->cost == b->usable + HEAP_HEADER ? CLASS_HEAP : CLASS_PLAIN;
}

static bool add_blocks(const struct hi_block *blocks, size_t n, unsigned region,
		       void *arg)
{
	struct collecting *c = arg;
	struct hi_error err = {};

	for (size_t i = 0; i < n; i++) {
		const struct hi_block *b = &blocks[i];
		uint8_t flags =
			(uint8_t)(overhead_class_of(b) << HI_OBJECT_OVERHEAD_SHIFT);
		enum hi_status status = HI_BAD_DATA;

		if (b->state != HI_BLOCK_LIVE && b->state != HI_BLOCK_INTERNAL)
			continue;
		if (b->state == HI_BLOCK_INTERNAL)
			flags |= HI_OBJECT_INTERNAL;
		if (region < c->n_regions && c->region_of[region] != NO_REGION)
			status = hi_objects_builder_add(c->builder, c->region_of[region],
							b->addr, b->usable, flags, &err);
		if (status != HI_OK && !note_failure(c, status, &err))
			return false;
	}
	return true;
}

static enum hi_status open_regions(struct collecting *c,
				   const struct hi_allocator *allocator,
				   struct hi_error *err)
{
	c->n_regions = allocator->n_regions;
	c->region_of = hi_calloc(c->n_regions + 1, sizeof(*c->region_of));
	if (!c->region_of)
		return hi_fail_memory(err, "regions");
	for (size_t i = 0; i < c->n_regions; i++) {
		const struct hi_heap_region *r = &allocator->regions[i];
		enum hi_status status = HI_OK;

		c->region_of[i] = NO_REGION;
		if (!r->has_no_objects)
			status = hi_objects_builder_region(c->builder, r->start, r->end,
							   r->align_shift,
							   &c->region_of[i], err);
		if (status != HI_OK)
			return status;
	}
	return HI_OK;
}

/* ---- blocks of a runtime's own areas ---- */

static bool add_runtime_blocks(const struct hi_runtime_block *blocks, size_t n,
			       size_t area, void *arg)
{
	struct collecting *c = arg;
	struct hi_error err = {};

	for (size_t i = 0; i < n; i++) {
		enum hi_status status = HI_BAD_DATA;

		if (area < c->n_regions)
			status = hi_objects_builder_add(
				c->builder, c->region_of[area], blocks[i].addr,
				blocks[i].size, CLASS_PLAIN << HI_OBJECT_OVERHEAD_SHIFT,
				&err);
		if (status != HI_OK && !note_failure(c, status, &err))
			return false;
	}
	return true;
}

static enum hi_status open_areas(struct collecting *c, const struct hi_runtime *runtime,
				 struct hi_error *err)
{
	enum hi_status status = HI_OK;

	c->n_regions = runtime->n_areas;
	c->region_of = hi_calloc(c->n_regions + 1, sizeof(*c->region_of));
	if (!c->region_of)
		return hi_fail_memory(err, "areas of the runtime");
	for (size_t i = 0; i < c->n_regions && status == HI_OK; i++)
		status = hi_objects_builder_region(
			c->builder, runtime->areas[i].start, runtime->areas[i].end,
			runtime->areas[i].align_shift, &c->region_of[i], err);
	return status;
}

static enum hi_status walk_runtime(struct hi_inspection *in, struct collecting *c,
				   struct hi_error *err)
{
	enum hi_status status = open_areas(c, in->decoders.runtime, err);

	if (status == HI_OK)
		status =
			hi_runtime_walk(in->decoders.runtime, add_runtime_blocks, c, err);
	if (status == HI_OK && c->status != HI_OK) {
		status = c->status;
		if (err)
			*err = c->error;
	}
	if (status == HI_OK && in->decoders.runtime->n_damage)
		hi_inspect_warn(in, "%zu places of the runtime's heap are damaged: %s",
				in->decoders.runtime->n_damage,
				in->decoders.runtime->damage);
	if (status == HI_OK && c->refused)
		hi_inspect_warn(in,
				"%" PRIu64 " blocks of the runtime contradict others and "
				"are left out",
				c->refused);
	free(c->region_of);
	return status;
}

static void say_damage(struct hi_inspection *in, const struct collecting *c)
{
	const struct hi_allocator *a = in->decoders.allocator;

	for (size_t i = 0; i < a->n_damage; i++)
		hi_inspect_warn(in, "the heap is damaged at 0x%" PRIx64 ": %s",
				a->damage[i].address, a->damage[i].text);
	if (a->n_damage_total > a->n_damage)
		hi_inspect_warn(in, "the heap is damaged in %zu more places",
				a->n_damage_total - a->n_damage);
	if (c->refused)
		hi_inspect_warn(in,
				"%" PRIu64 " blocks contradict others and are left "
				"out, the first at 0x%" PRIx64 ": %s",
				c->refused, c->refusal.address, c->refusal.text);
}

static unsigned threads_of(const struct hi_inspection *in)
{
	return hi_inspection_threads(in) ? hi_inspection_threads(in)
					 : hi_parallel_threads();
}

static enum hi_status walk_blocks(struct hi_inspection *in, struct collecting *c,
				  struct hi_error *err)
{
	enum hi_status status = open_regions(c, in->decoders.allocator, err);

	if (status == HI_OK)
		status = hi_allocator_walk_parallel(in->decoders.allocator,
						    threads_of(in), add_blocks, c, err);
	if (status == HI_OK && c->status != HI_OK) {
		status = c->status;
		if (err)
			*err = c->error;
	}
	if (status == HI_OK)
		say_damage(in, c);
	free(c->region_of);
	return status;
}

enum hi_status hi_blocks_collect(struct hi_inspection *in, struct hi_objects **ret,
				 struct hi_error *err)
{
	HI_GUARD(hi_objects_builder_destroy) struct hi_objects_builder *builder = NULL;
	struct collecting c = {.lock = PTHREAD_MUTEX_INITIALIZER};
	enum hi_status status = hi_objects_builder_create(&builder, err);

	if (status != HI_OK)
		return status;
	hi_objects_builder_overhead(builder, CLASS_HEAP, HEAP_HEADER);
	hi_objects_builder_overhead(builder, CLASS_MMAPPED, MMAPPED_HEADER);
	c.builder = builder;
	if (in->decoders.allocator)
		status = walk_blocks(in, &c, err);
	c.refused = 0;
	if (status == HI_OK && in->decoders.runtime)
		status = walk_runtime(in, &c, err);
	if (status == HI_OK)
		status = hi_objects_seal(hi_take(builder), ret, err);
	return status;
}

struct finding {
	uint64_t addr;
	struct hi_block block;
	bool found;
};

static bool find_block(const struct hi_block *blocks, size_t n, unsigned region,
		       void *arg)
{
	struct finding *f = arg;

	(void)region;
	for (size_t i = 0; i < n; i++) {
		if (f->addr - blocks[i].addr >= blocks[i].usable ||
		    f->addr < blocks[i].addr)
			continue;
		f->block = blocks[i];
		f->found = true;
		return false;
	}
	return true;
}

enum hi_status hi_blocks_find(struct hi_inspection *in, uint64_t addr,
			      struct hi_block *ret, struct hi_error *err)
{
	struct finding f = {.addr = addr};
	enum hi_status status;

	if (!in->decoders.allocator)
		return hi_fail(err, HI_NOT_FOUND, addr, "no allocator is known");
	status = hi_allocator_walk(in->decoders.allocator, find_block, &f, err);
	if (status != HI_OK)
		return status;
	if (!f.found)
		return hi_fail(err, HI_NOT_FOUND, addr, "no block at this address");
	*ret = f.block;
	return HI_OK;
}
