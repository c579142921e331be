/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "decode/allocators/glibc.h"
#include "decode/allocators/jemalloc.h"
#include "decode/allocators/joined.h"
#include "decode/allocators/mallocng.h"
#include "decode/allocators/mimalloc.h"
#include "decode/allocators/musl_lite.h"
#include "decode/allocators/oldmalloc.h"
#include "decode/allocators/tcmalloc.h"

const struct hi_allocator_ops *const hi_allocators[] = {
	&hi_allocator_glibc,
	&hi_allocator_mallocng,
	&hi_allocator_oldmalloc,
	&hi_allocator_jemalloc,
	&hi_allocator_tcmalloc,
	&hi_allocator_mimalloc,
	NULL,
};

void hi_allocator_list_refuse(struct hi_allocator_list *list, const char *name,
			      const char *module, const struct hi_error *err)
{
	struct hi_allocator_refusal *r;

	if (list->n_refused == HI_ALLOCATORS_MAX)
		return;
	r = &list->refused[list->n_refused++];
	r->name = name;
	snprintf(r->module, sizeof(r->module), "%s", module);
	snprintf(r->text, sizeof(r->text), "%s", err->text);
}

void hi_allocator_list_add(struct hi_allocator_list *list, struct hi_allocator *allocator)
{
	struct hi_error why;

	if (list->count < HI_ALLOCATORS_MAX) {
		list->items[list->count++] = allocator;
		return;
	}
	(void)hi_fail(&why, HI_LIMIT, 0, "the process has more than %d allocators",
		      HI_ALLOCATORS_MAX);
	hi_allocator_list_refuse(list, allocator->ops->name, allocator->module, &why);
	hi_allocator_release(allocator);
}

static enum hi_status probe_all(const struct hi_image *image, struct hi_modules *modules,
				struct hi_allocator_list *list, struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; hi_allocators[i] && status == HI_OK; i++)
		status = hi_allocators[i]->probe(image, modules, list, err);
	if (status == HI_OK && !list->count && !list->n_refused)
		status = hi_musl_lite_refuse(image, modules, list, err);
	return status;
}

/* What was found, as one; *ret stays NULL where nothing was. */
static enum hi_status join_found(struct hi_allocator_list *list,
				 struct hi_allocator **ret, struct hi_error *err)
{
	if (list->count == 0)
		return HI_OK;
	if (list->count > 1)
		return hi_allocator_join(list, ret, err);
	*ret = list->items[0];
	list->count = 0;
	return HI_OK;
}

static enum hi_status keep_refusals(const struct hi_allocator_list *list,
				    struct hi_allocator *allocator, struct hi_error *err)
{
	if (!list->n_refused)
		return HI_OK;
	allocator->refused = hi_calloc(list->n_refused, sizeof(*allocator->refused));
	if (!allocator->refused)
		return hi_fail_memory(err, "allocators");
	memcpy(allocator->refused, list->refused,
	       list->n_refused * sizeof(*allocator->refused));
	allocator->n_refused = list->n_refused;
	return HI_OK;
}

enum hi_status hi_allocator_probe_each(const struct hi_image *image,
				       struct hi_modules *modules,
				       struct hi_allocator **ret,
				       struct hi_allocator_refusal *refused,
				       size_t *n_refused, struct hi_error *err)
{
	struct hi_allocator_list list = {};
	struct hi_allocator *found = NULL;
	enum hi_status status = probe_all(image, modules, &list, err);

	if (status == HI_OK)
		status = join_found(&list, &found, err);
	if (status == HI_OK && found)
		status = keep_refusals(&list, found, err);
	for (size_t i = 0; i < list.count; i++)
		hi_allocator_release(list.items[i]);
	*n_refused = list.n_refused;
	memcpy(refused, list.refused, list.n_refused * sizeof(*refused));
	if (status != HI_OK) {
		hi_allocator_release(found);
		return status;
	}
	*ret = found;
	if (found)
		return HI_OK;
	if (list.n_refused)
		return hi_fail(err, HI_BAD_DATA, 0, "%s: %s", list.refused[0].name,
			       list.refused[0].text);
	return hi_fail(err, HI_NOT_FOUND, 0, "no known allocator in this process");
}

enum hi_status hi_allocator_probe(const struct hi_image *image,
				  struct hi_modules *modules, struct hi_allocator **ret,
				  struct hi_error *err)
{
	struct hi_allocator_refusal refused[HI_ALLOCATORS_MAX];
	size_t n;

	return hi_allocator_probe_each(image, modules, ret, refused, &n, err);
}

bool hi_allocator_has(const struct hi_allocator *allocator, const char *name)
{
	if (!allocator)
		return false;
	for (size_t i = 0; i < allocator->n_parts; i++)
		if (strcmp(allocator->parts[i]->ops->name, name) == 0)
			return true;
	return strcmp(allocator->ops->name, name) == 0;
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
	hi_allocator_sum_parts(allocator);
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
	if (!allocator)
		return;
	free(allocator->refused);
	allocator->ops->release(allocator);
}
