/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/allocators/joined.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "decode/allocators/slabs.h"

struct joined_region {
	uint32_t part, region;
};

struct joined {
	struct hi_allocator base;
	struct hi_allocator_ops ops; /* its states are those of all parts */
	struct hi_allocator *parts[HI_ALLOCATORS_MAX];
	struct hi_heap_region *regions;
	struct joined_region *origins; /* of each region */
	struct hi_slab_class *classes;
	struct hi_range *own;
};

/* ---- walking ---- */

struct joined_walk {
	hi_blocks_fn *fn;
	void *arg;
	unsigned region;
	bool stopped;
};

static bool forward_joined_blocks(const struct hi_block *blocks, size_t n,
				  unsigned region, void *arg)
{
	struct joined_walk *w = arg;

	(void)region;
	w->stopped = !w->fn(blocks, n, w->region, w->arg);
	return !w->stopped;
}

static enum hi_status walk_joined_part(struct joined *j, struct joined_walk *w,
				       struct hi_error *err)
{
	const struct joined_region *origin = &j->origins[w->region];
	struct hi_allocator *part = j->parts[origin->part];

	return part->ops->walk_region(part, origin->region, forward_joined_blocks, w,
				      err);
}

static enum hi_status walk_joined_region(struct hi_allocator *allocator, unsigned region,
					 hi_blocks_fn *fn, void *arg,
					 struct hi_error *err)
{
	struct joined *j = (struct joined *)allocator;
	struct joined_walk w = {fn, arg, region, false};

	if (region >= allocator->n_regions)
		return hi_fail(err, HI_NOT_FOUND, 0, "no region %u", region);
	return walk_joined_part(j, &w, err);
}

static void restart_joined(struct hi_allocator *allocator)
{
	for (size_t i = 0; i < allocator->n_parts; i++)
		allocator->parts[i]->ops->restart(allocator->parts[i]);
	hi_allocator_sum_parts(allocator);
}

static enum hi_status walk_joined(struct hi_allocator *allocator, hi_blocks_fn *fn,
				  void *arg, struct hi_error *err)
{
	struct joined *j = (struct joined *)allocator;
	struct joined_walk w = {fn, arg, 0, false};
	enum hi_status status = HI_OK;

	restart_joined(allocator);
	for (; w.region < allocator->n_regions && status == HI_OK && !w.stopped;
	     w.region++)
		status = walk_joined_part(j, &w, err);
	hi_allocator_sum_parts(allocator);
	return status;
}

static void release_joined(struct hi_allocator *allocator)
{
	struct joined *j = (struct joined *)allocator;

	for (size_t i = 0; i < allocator->n_parts; i++)
		hi_allocator_release(j->parts[i]);
	free(allocator->damage);
	free(j->regions);
	free(j->origins);
	free(j->classes);
	free(j->own);
	free(j);
}

static void add_damage_of_part(struct hi_allocator *a, const struct hi_allocator *part)
{
	for (size_t i = 0; i < part->n_damage; i++)
		hi_allocator_note_damage(a, part->damage[i].address, "%s: %.80s",
					 part->name, part->damage[i].text);
	a->n_damage_total += part->n_damage_total - part->n_damage;
}

void hi_allocator_sum_parts(struct hi_allocator *a)
{
	if (!a->n_parts)
		return;
	a->n_damage = a->n_damage_total = 0;
	a->skipped_bytes = a->overhead_bytes = 0;
	memset(a->count, 0, sizeof(a->count));
	memset(a->bytes, 0, sizeof(a->bytes));
	for (size_t i = 0; i < a->n_parts; i++) {
		const struct hi_allocator *part = a->parts[i];

		add_damage_of_part(a, part);
		a->skipped_bytes += part->skipped_bytes;
		a->overhead_bytes += part->overhead_bytes;
		for (int s = 0; s < HI_BLOCK_STATES; s++) {
			a->count[s] += part->count[s];
			a->bytes[s] += part->bytes[s];
		}
	}
}

/* ---- joining ---- */

static void append_name(char *text, size_t size, const char *more)
{
	size_t used = strlen(text);

	if (*more && !strstr(text, more))
		snprintf(text + used, size - used, "%s%s", used ? ", " : "", more);
}

static void describe_part(struct joined *j, const struct hi_allocator *part)
{
	struct hi_allocator *a = &j->base;
	char version[sizeof(part->name) + sizeof(part->version)];

	snprintf(version, sizeof(version), "%s %s", part->name, part->version);
	append_name(a->name, sizeof(a->name), part->name);
	append_name(a->version, sizeof(a->version), version);
	append_name(a->module, sizeof(a->module), part->module);
	append_name(a->found_by, sizeof(a->found_by), part->found_by);
	append_name(a->checks, sizeof(a->checks), part->checks);
	a->n_arenas += part->n_arenas;
	j->ops.states |= part->ops->states;
}

static int compare_region_starts(const void *a, const void *b, void *arg)
{
	struct joined *j = arg;
	const struct joined_region *x = a, *y = b;
	uint64_t p = j->parts[x->part]->regions[x->region].start;
	uint64_t q = j->parts[y->part]->regions[y->region].start;

	return p < q ? -1 : p > q;
}

static enum hi_status join_regions(struct joined *j, struct hi_error *err)
{
	struct hi_allocator *a = &j->base;
	size_t n = 0;

	for (size_t i = 0; i < a->n_parts; i++)
		n += j->parts[i]->n_regions;
	j->regions = hi_calloc(n + 1, sizeof(*j->regions));
	j->origins = hi_calloc(n + 1, sizeof(*j->origins));
	if (!j->regions || !j->origins)
		return hi_fail_memory(err, "regions");
	n = 0;
	for (uint32_t i = 0; i < a->n_parts; i++)
		for (uint32_t k = 0; k < j->parts[i]->n_regions; k++)
			j->origins[n++] = (struct joined_region){i, k};
	if (n > 1)
		qsort_r(j->origins, n, sizeof(*j->origins), compare_region_starts, j);
	for (size_t i = 0; i < n; i++)
		j->regions[i] =
			j->parts[j->origins[i].part]->regions[j->origins[i].region];
	a->regions = j->regions;
	a->n_regions = n;
	return HI_OK;
}

static enum hi_status join_classes(struct joined *j, struct hi_error *err)
{
	struct hi_allocator *a = &j->base;

	j->classes = hi_calloc(HI_SLAB_CLASSES, sizeof(*j->classes));
	if (!j->classes)
		return hi_fail_memory(err, "slabs");
	for (size_t i = 0; i < a->n_parts; i++)
		for (size_t k = 0; k < j->parts[i]->n_slab_classes &&
				   a->n_slab_classes < HI_SLAB_CLASSES;
		     k++)
			j->classes[a->n_slab_classes++] = j->parts[i]->slab_classes[k];
	a->slab_classes = j->classes;
	return HI_OK;
}

static enum hi_status join_own(struct joined *j, struct hi_error *err)
{
	struct hi_allocator *a = &j->base;
	size_t n = 0;

	for (size_t i = 0; i < a->n_parts; i++)
		n += j->parts[i]->n_own;
	j->own = hi_calloc(n + 1, sizeof(*j->own));
	if (!j->own)
		return hi_fail_memory(err, "ranges");
	for (size_t i = 0; i < a->n_parts; i++)
		for (size_t k = 0; k < j->parts[i]->n_own; k++)
			j->own[a->n_own++] = j->parts[i]->own[k];
	a->own = j->own;
	return HI_OK;
}

/* Both lists are sorted. */
static bool find_overlap(const struct hi_allocator *a, const struct hi_allocator *b,
			 uint64_t *ret)
{
	size_t k = 0;

	for (size_t i = 0; i < a->n_regions; i++) {
		while (k < b->n_regions && b->regions[k].end <= a->regions[i].start)
			k++;
		if (k == b->n_regions || b->regions[k].start >= a->regions[i].end)
			continue;
		*ret = b->regions[k].start;
		return true;
	}
	return false;
}

/* False: list->items[i] was refused and is released. */
static bool keep_part(struct hi_allocator_list *list, size_t i, size_t kept)
{
	struct hi_allocator *a = list->items[i];

	for (size_t k = 0; k < kept; k++) {
		struct hi_error why;
		uint64_t addr;

		if (!find_overlap(list->items[k], a, &addr))
			continue;
		(void)hi_fail(&why, HI_BAD_DATA, addr,
			      "its memory at 0x%lx belongs to %s", addr,
			      list->items[k]->name);
		hi_allocator_list_refuse(list, a->ops->name, a->module, &why);
		hi_allocator_release(a);
		return false;
	}
	return true;
}

static void drop_overlapping(struct hi_allocator_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++)
		if (keep_part(list, i, kept))
			list->items[kept++] = list->items[i];
	list->count = kept;
}

enum hi_status hi_allocator_join(struct hi_allocator_list *list,
				 struct hi_allocator **ret, struct hi_error *err)
{
	struct joined *j = hi_calloc(1, sizeof(*j));
	enum hi_status status;

	if (!j)
		return hi_fail_memory(err, "allocators");
	drop_overlapping(list);
	j->ops = (struct hi_allocator_ops){.name = "several",
					   .walk = walk_joined,
					   .walk_region = walk_joined_region,
					   .restart = restart_joined,
					   .release = release_joined};
	j->base.ops = &j->ops;
	j->base.parts = j->parts;
	for (size_t i = 0; i < list->count; i++) {
		j->parts[j->base.n_parts++] = list->items[i];
		describe_part(j, list->items[i]);
	}
	list->count = 0;
	status = join_regions(j, err);
	if (status == HI_OK)
		status = join_classes(j, err);
	if (status == HI_OK)
		status = join_own(j, err);
	if (status != HI_OK) {
		release_joined(&j->base);
		return status;
	}
	restart_joined(&j->base);
	*ret = &j->base;
	return HI_OK;
}
