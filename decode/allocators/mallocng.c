/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/allocators/mallocng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static struct hi_mallocng *mallocng_of(struct hi_allocator *allocator)
{
	return (struct hi_mallocng *)allocator;
}

static void release_mallocng(struct hi_allocator *allocator)
{
	struct hi_mallocng *m = mallocng_of(allocator);

	hi_slabs_deinit(&m->slabs);
	hi_vector_free(&m->groups);
	hi_vector_free(&m->areas);
	free(m->base.damage);
	free(m);
}

/* ---- classes ---- */

static unsigned count_bits(uint32_t mask)
{
	return (unsigned)__builtin_popcount(mask);
}

/* Without groups of one slot in a mapping of its own: such a block is a large one. */
static void add_group_to_class(struct hi_mallocng *m, const struct hi_mallocng_group *g)
{
	struct hi_slab_class *c;
	unsigned slots, live;

	if (g->sizeclass >= HI_MALLOCNG_CLASSES || (g->is_mapped && g->last == 0))
		return;
	c = &m->classes[g->sizeclass];
	slots = g->last + 1u - count_bits(g->nested);
	live = slots - count_bits(g->avail) - count_bits(g->freed);
	c->slabs++;
	c->size = g->stride;
	c->bytes += g->end - g->start - count_bits(g->nested) * g->stride;
	c->slots += slots;
	c->live += live;
	c->empty += live == 0 && !g->nested;
	if (live && live * 4 < slots) {
		c->sparse++;
		c->sparse_bytes += g->end - g->start - count_bits(g->nested) * g->stride;
	}
}

static void make_group_classes(struct hi_mallocng *m)
{
	size_t n = 0;

	memset(m->class_at, UINT8_MAX, sizeof(m->class_at));
	for (size_t i = 0; i < m->groups.count; i++)
		add_group_to_class(m, &m->groups.items[i]);
	for (unsigned c = 0; c < HI_MALLOCNG_CLASSES; c++) {
		if (!m->classes[c].slabs)
			continue;
		m->class_at[c] = (uint8_t)n;
		m->classes[n] = m->classes[c];
		m->classes[n++].allocator = hi_allocator_mallocng.name;
	}
	m->base.slab_classes = m->classes;
	m->base.n_slab_classes = n;
}

/* ---- the probe ---- */

static enum hi_status read_mallocng(struct hi_mallocng *m, struct hi_error *err)
{
	enum hi_status status = hi_mallocng_read_groups(m, err);

	if (status == HI_OK)
		status = hi_mallocng_nest_groups(m, err);
	if (status == HI_OK)
		status = hi_mallocng_add_slabs(m, err);
	if (status == HI_OK)
		status = hi_slabs_seal(&m->slabs, err);
	if (status == HI_OK)
		make_group_classes(m);
	return status;
}

static void name_mallocng(struct hi_allocator *a, const struct hi_mallocng_where *where)
{
	snprintf(a->name, sizeof(a->name), "%s", hi_allocator_mallocng.name);
	snprintf(a->version, sizeof(a->version), "mallocng %.40s", where->version);
	snprintf(a->module, sizeof(a->module), "%s", where->module);
	snprintf(a->found_by, sizeof(a->found_by), "secret bits in data and areas");
	snprintf(a->checks, sizeof(a->checks),
		 "secret of each area, rings of metas, masks, headers of groups, groups "
		 "in slots, usage_by_class; headers of live slots in the walk");
}

enum hi_status hi_mallocng_open(const struct hi_image *image,
				const struct hi_mallocng_where *where,
				const struct hi_mallocng_layout *layout,
				struct hi_allocator **ret, struct hi_error *err)
{
	struct hi_mallocng *m = hi_calloc(1, sizeof(*m));
	enum hi_status status;

	if (!m)
		return hi_fail_memory(err, "allocator");
	m->base.ops = &hi_allocator_mallocng;
	m->base.n_arenas = 1;
	m->base.size_step = 1; /* usable is what was requested */
	m->image = image;
	m->memory = image->memory;
	m->layout = layout;
	m->where = *where;
	name_mallocng(&m->base, where);
	hi_slabs_init(&m->slabs, &m->base, image, hi_mallocng_describe);
	status = read_mallocng(m, err);
	if (status != HI_OK)
		release_mallocng(&m->base);
	else
		*ret = &m->base;
	return status;
}

struct mallocng_probe {
	const struct hi_image *image;
	struct hi_allocator_list *list;
};

static enum hi_status add_mallocng(const struct hi_mallocng_where *where, void *arg,
				   struct hi_error *err)
{
	struct mallocng_probe *p = arg;
	struct hi_allocator *a;
	struct hi_error why;
	enum hi_status status =
		hi_mallocng_open(p->image, where, &hi_mallocng_layout, &a, &why);

	if (status == HI_OK)
		hi_allocator_list_add(p->list, a);
	else if (status == HI_NO_MEMORY)
		return hi_fail_memory(err, "allocator");
	else
		hi_allocator_list_refuse(p->list, hi_allocator_mallocng.name,
					 where->module, &why);
	return HI_OK;
}

static enum hi_status probe_mallocng(const struct hi_image *image,
				     struct hi_modules *modules,
				     struct hi_allocator_list *list, struct hi_error *err)
{
	struct mallocng_probe p = {image, list};

	return hi_mallocng_find(image, modules, &hi_mallocng_layout, add_mallocng, &p,
				err);
}

/* ---- the walk ---- */

static void restart_mallocng(struct hi_allocator *allocator)
{
	struct hi_mallocng *m = mallocng_of(allocator);

	for (size_t i = 0; i < allocator->n_slab_classes; i++)
		m->classes[i].slack = 0;
	hi_slabs_restart(&m->slabs);
}

static enum hi_status walk_mallocng(struct hi_allocator *allocator, hi_blocks_fn *fn,
				    void *arg, struct hi_error *err)
{
	restart_mallocng(allocator);
	return hi_slabs_walk(&mallocng_of(allocator)->slabs, fn, arg, err);
}

static enum hi_status walk_mallocng_region(struct hi_allocator *allocator,
					   unsigned region, hi_blocks_fn *fn, void *arg,
					   struct hi_error *err)
{
	return hi_slabs_walk_region(&mallocng_of(allocator)->slabs, region, fn, arg, err);
}

const struct hi_allocator_ops hi_allocator_mallocng = {
	.name = "musl",
	.states = 1u << HI_BLOCK_LIVE | 1u << HI_BLOCK_FREE_SLOT |
		  1u << HI_BLOCK_FREE_UNUSED | 1u << HI_BLOCK_METADATA,
	.probe = probe_mallocng,
	.walk = walk_mallocng,
	.walk_region = walk_mallocng_region,
	.restart = restart_mallocng,
	.release = release_mallocng,
};
