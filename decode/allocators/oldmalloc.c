/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/allocators/oldmalloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"

static void release_oldmalloc(struct hi_allocator *allocator)
{
	struct hi_oldmalloc *o = (struct hi_oldmalloc *)allocator;

	hi_vector_free(&o->parts);
	free(o->regions);
	free(o->base.damage);
	free(o);
}

static enum hi_status make_old_regions(struct hi_oldmalloc *o, struct hi_error *err)
{
	size_t n = o->parts.count;

	o->regions = hi_calloc(n + 1, sizeof(*o->regions));
	if (!o->regions)
		return hi_fail_memory(err, "regions");
	for (size_t i = 0; i < n; i++) {
		const struct hi_oldmalloc_part *p = &o->parts.items[i];

		o->regions[i] = (struct hi_heap_region){
			.start = p->start,
			.end = p->end,
			.mmapped_chunk = p->is_mmapped,
			.align_shift = 4,
			.header = (uint8_t)o->layout->overhead,
		};
		o->base.n_arenas = 1;
	}
	o->base.regions = o->regions;
	o->base.n_regions = n;
	return HI_OK;
}

static bool is_in_area(const struct hi_oldmalloc *o, uint64_t addr)
{
	size_t i = hi_search(k, o->parts.count, o->parts.items[k].end <= addr);

	return i < o->parts.count && o->parts.items[i].start <= addr &&
	       !o->parts.items[i].is_mmapped;
}

/* The chunks at both ends of each bin lie in areas that were found. */
static enum hi_status check_bins(const struct hi_oldmalloc *o, struct hi_error *err)
{
	const struct hi_oldmalloc_layout *l = o->layout;

	if (!hi_oldmalloc_is_mal(o->memory, l, o->where.mal))
		return hi_fail(err, HI_BAD_DATA, o->where.mal,
			       "oldmalloc: bins and binmap do not agree");
	for (unsigned i = 0; i < HI_OLDMALLOC_BINS; i++) {
		uint64_t bin = o->where.mal + l->bins + (uint64_t)i * l->bin_size;
		uint64_t self = bin + l->bin_head - l->chunk_next, head, tail;

		if (hi_memory_read_u64(o->memory, bin + l->bin_head, &head, NULL) !=
			    HI_OK ||
		    hi_memory_read_u64(o->memory, bin + l->bin_tail, &tail, NULL) !=
			    HI_OK ||
		    !head || head == self)
			continue;
		if (!is_in_area(o, head) || !is_in_area(o, tail))
			return hi_fail(err, HI_BAD_DATA, bin,
				       "oldmalloc: a chunk of bin %u lies in no area "
				       "of memory",
				       i);
	}
	return HI_OK;
}

/* Without chunks, bins that head to themselves may be the lists of another allocator. */
static enum hi_status check_chunks(const struct hi_oldmalloc *o, struct hi_error *err)
{
	for (size_t i = 0; i < o->parts.count; i++)
		if (!o->parts.items[i].is_mmapped)
			return HI_OK;
	return hi_fail(err, HI_NOT_FOUND, o->where.mal,
		       "oldmalloc: no area of memory has its chunks");
}

static void name_oldmalloc(struct hi_allocator *a, const struct hi_oldmalloc_where *where)
{
	snprintf(a->name, sizeof(a->name), "%s", hi_allocator_oldmalloc.name);
	snprintf(a->version, sizeof(a->version), "oldmalloc %.40s", where->version);
	snprintf(a->module, sizeof(a->module), "%s", where->module);
	snprintf(a->found_by, sizeof(a->found_by), "bins that head to themselves");
	snprintf(a->checks, sizeof(a->checks),
		 "bins and binmap, areas of bins; tags and lists of chunks in the walk");
}

enum hi_status hi_oldmalloc_open(const struct hi_image *image, struct hi_modules *modules,
				 const struct hi_oldmalloc_where *where,
				 const struct hi_oldmalloc_layout *layout,
				 struct hi_allocator **ret, struct hi_error *err)
{
	struct hi_oldmalloc *o = hi_calloc(1, sizeof(*o));
	enum hi_status status;

	if (!o)
		return hi_fail_memory(err, "allocator");
	o->base.ops = &hi_allocator_oldmalloc;
	o->image = image;
	o->memory = image->memory;
	o->layout = layout;
	o->where = *where;
	pthread_mutex_init(&o->lock, NULL);
	name_oldmalloc(&o->base, where);
	status = hi_oldmalloc_add_areas(o, modules, err);
	if (status == HI_OK)
		status = check_chunks(o, err);
	if (status == HI_OK)
		status = check_bins(o, err);
	if (status == HI_OK)
		status = make_old_regions(o, err);
	o->n_probe_damage = o->base.n_damage;
	o->n_probe_damage_total = o->base.n_damage_total;
	if (status != HI_OK)
		release_oldmalloc(&o->base);
	else
		*ret = &o->base;
	return status;
}

struct oldmalloc_probe {
	const struct hi_image *image;
	struct hi_modules *modules;
	struct hi_allocator_list *list;
};

static enum hi_status add_oldmalloc(const struct hi_oldmalloc_where *where, void *arg,
				    struct hi_error *err)
{
	struct oldmalloc_probe *p = arg;
	struct hi_allocator *a;
	struct hi_error why;
	enum hi_status status = hi_oldmalloc_open(p->image, p->modules, where,
						  &hi_oldmalloc_layout, &a, &why);

	if (status == HI_OK)
		hi_allocator_list_add(p->list, a);
	else if (status == HI_NO_MEMORY)
		return hi_fail_memory(err, "allocator");
	else if (status != HI_NOT_FOUND)
		hi_allocator_list_refuse(p->list, hi_allocator_oldmalloc.name,
					 where->module, &why);
	return HI_OK;
}

static enum hi_status probe_oldmalloc(const struct hi_image *image,
				      struct hi_modules *modules,
				      struct hi_allocator_list *list,
				      struct hi_error *err)
{
	struct oldmalloc_probe p = {image, modules, list};

	return hi_oldmalloc_find(image, modules, &hi_oldmalloc_layout, add_oldmalloc, &p,
				 err);
}

const struct hi_allocator_ops hi_allocator_oldmalloc = {
	.name = "musl",
	.states = 1u << HI_BLOCK_LIVE | 1u << HI_BLOCK_FREE_BIN,
	.probe = probe_oldmalloc,
	.walk = hi_oldmalloc_walk,
	.walk_region = hi_oldmalloc_walk_region,
	.restart = hi_oldmalloc_restart,
	.release = release_oldmalloc,
};
