/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/parallel.h"
#include "decode/allocators/glibc.h"

const struct hi_allocator_ops *const hi_allocators[] = {&hi_allocator_glibc, NULL};

enum hi_status hi_allocator_probe(const struct hi_image *image,
				  struct hi_modules *modules, struct hi_allocator **ret,
				  struct hi_error *err)
{
	enum hi_status status =
		hi_fail(err, HI_NOT_FOUND, 0, "no known allocator in this process");

	for (size_t i = 0; hi_allocators[i]; i++) {
		status = hi_allocators[i]->probe(image, modules, ret, err);
		if (status != HI_NOT_FOUND)
			break;
	}
	return status;
}

enum hi_status hi_allocator_walk(struct hi_allocator *allocator, hi_blocks_fn *fn,
				 void *arg, struct hi_error *err)
{
	return allocator->ops->walk(allocator, fn, arg, err);
}

struct parallel_walk {
	struct hi_allocator *allocator;
	hi_blocks_fn *fn;
	void *arg;
	_Atomic bool stopped;
	_Atomic int status;
};

static bool forward_blocks(const struct hi_block *blocks, size_t n, unsigned region,
			   void *arg)
{
	struct parallel_walk *w = arg;

	if (!w->stopped && !w->fn(blocks, n, region, w->arg))
		w->stopped = true;
	return !w->stopped;
}

static void walk_task(void *arg, size_t task, unsigned worker)
{
	struct parallel_walk *w = arg;
	enum hi_status status = HI_OK;

	(void)worker;
	if (!w->stopped && w->status == HI_OK)
		status = w->allocator->ops->walk_region(w->allocator, (unsigned)task,
							forward_blocks, w, NULL);
	if (status != HI_OK)
		w->status = (int)status;
}

static int compare_damage_addresses(const void *a, const void *b)
{
	const struct hi_allocator_damage *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

enum hi_status hi_allocator_walk_parallel(struct hi_allocator *allocator,
					  unsigned threads, hi_blocks_fn *fn, void *arg,
					  struct hi_error *err)
{
	struct parallel_walk w = {.allocator = allocator, .fn = fn, .arg = arg};

	if (!allocator->ops->walk_region || threads <= 1)
		return hi_allocator_walk(allocator, fn, arg, err);
	allocator->ops->restart(allocator);
	hi_parallel(threads, allocator->n_regions, walk_task, &w);
	if (allocator->n_damage)
		qsort(allocator->damage, allocator->n_damage, sizeof(*allocator->damage),
		      compare_damage_addresses);
	if (w.status != HI_OK)
		return hi_fail(err, (enum hi_status)w.status, 0,
			       "walking the heap of %s: %s", allocator->ops->name,
			       hi_status_text((enum hi_status)w.status));
	return HI_OK;
}

void hi_allocator_release(struct hi_allocator *allocator)
{
	if (allocator)
		allocator->ops->release(allocator);
}
