/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * musl's mallocng (1.2.1 and later): groups of 1 to 32 equal slots, each described by a
 * struct meta out of the heap. A group lies in a mapping of its own, in a slot of a
 * bigger group, or in what the dynamic linker found to be left of a data segment
 * ("donated"). For this folder and its tests.
 */
#ifndef HI_DECODE_ALLOCATORS_MALLOCNG_H
#define HI_DECODE_ALLOCATORS_MALLOCNG_H

#include "decode/allocators/slabs.h"

enum {
	HI_MALLOCNG_CLASSES = 48,
	HI_MALLOCNG_OWN_MAPPING = 63, /* sizeclass of a block that is a mapping */
	HI_MALLOCNG_PAGE = 4096,      /* of maplen and meta areas, on each machine */
};

struct hi_mallocng_bits {
	uint8_t shift, width;
};
/* Offsets in struct malloc_context, meta_area, meta and group. */
struct hi_mallocng_layout {
	const char *versions;
	uint16_t secret, init_done, free_meta_head, avail_meta, avail_meta_count,
		meta_area_head, meta_area_tail, active, usage_by_class, context_size;
	uint16_t area_check, area_next, area_nslots, area_slots;
	uint16_t meta_prev, meta_next, meta_mem, meta_avail, meta_freed, meta_bits,
		meta_size;
	struct hi_mallocng_bits last_idx, freeable, sizeclass, maplen; /* of meta_bits */
	uint16_t group_meta, group_active, group_storage;
	uint16_t unit, in_band; /* UNIT, IB: bytes of a header that overlap the slot */
	uint16_t classes[HI_MALLOCNG_CLASSES]; /* size_classes: in units */
};
extern const struct hi_mallocng_layout hi_mallocng_layout;

struct hi_mallocng_where {
	uint64_t context; /* __malloc_context */
	char module[64], version[64];
};

struct hi_mallocng_group {
	uint64_t meta, mem;
	uint64_t start, end; /* of its mapping, or of the slot that it lies in */
	uint64_t stride;
	uint32_t avail, freed, nested; /* bit i: slot i */
	uint8_t last, sizeclass, active;
	bool is_mapped, is_freeable, has_parent;
};
struct hi_mallocng_groups HI_VECTOR(struct hi_mallocng_group);
struct hi_mallocng_areas HI_VECTOR(uint64_t);

struct hi_mallocng {
	struct hi_allocator base;
	struct hi_slabs slabs;
	const struct hi_image *image;
	struct hi_memory *memory;
	const struct hi_mallocng_layout *layout;
	struct hi_mallocng_where where;
	uint64_t secret;
	struct hi_mallocng_groups groups; /* sorted by mem */
	struct hi_mallocng_areas areas;
	size_t n_metas, n_free; /* in use once; of those without a group now */
	size_t n_wrong;		/* groups that contradict their metas */
	struct hi_slab_class classes[HI_MALLOCNG_CLASSES];
	uint8_t class_at[HI_MALLOCNG_CLASSES]; /* of a size class: index in classes */
};

static inline uint64_t hi_mallocng_storage(const struct hi_mallocng *m,
					   const struct hi_mallocng_group *g)
{
	return g->mem + m->layout->group_storage;
}

/* mallocng_find.c: looks for contexts in the data of modules. */
typedef enum hi_status hi_mallocng_found_fn(const struct hi_mallocng_where *where,
					    void *arg, struct hi_error *err);
enum hi_status hi_mallocng_find(const struct hi_image *image, struct hi_modules *modules,
				const struct hi_mallocng_layout *layout,
				hi_mallocng_found_fn *fn, void *arg,
				struct hi_error *err);
/* Returns whether a context of that layout is at addr: its secret is in the areas that it
 * points at. */
bool hi_mallocng_is_context(struct hi_memory *memory,
			    const struct hi_mallocng_layout *layout, uint64_t addr);

/* mallocng_groups.c: reads and checks all metas. HI_BAD_DATA names the check. */
enum hi_status hi_mallocng_read_groups(struct hi_mallocng *m, struct hi_error *err);
/* mallocng_nesting.c: sorts groups, finds those that lie in slots, checks usage. */
enum hi_status hi_mallocng_nest_groups(struct hi_mallocng *m, struct hi_error *err);
/* mallocng_slots.c: groups as slabs, and one live slot's address and size. */
enum hi_status hi_mallocng_add_slabs(struct hi_mallocng *m, struct hi_error *err);
hi_slab_describe_fn hi_mallocng_describe;

/* mallocng.c: checks `where` on the image and makes the instance. HI_BAD_DATA names the
 * check that failed. */
enum hi_status hi_mallocng_open(const struct hi_image *image,
				const struct hi_mallocng_where *where,
				const struct hi_mallocng_layout *layout,
				struct hi_allocator **ret, struct hi_error *err);
extern const struct hi_allocator_ops hi_allocator_mallocng;

#endif
