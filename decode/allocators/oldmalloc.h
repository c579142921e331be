/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * musl's oldmalloc (up to 1.2.0, and later with --with-malloc=oldmalloc): chunks with
 * boundary tags, side by side in areas; 64 bins of free chunks; large chunks are mappings
 * of their own. There is no list of areas: they are known by their first chunk and by the
 * chain of tags that ends in a chunk of size 0. For this folder and its tests.
 */
#ifndef HI_DECODE_ALLOCATORS_OLDMALLOC_H
#define HI_DECODE_ALLOCATORS_OLDMALLOC_H

#include <pthread.h>

#include "base/vector.h"
#include "decode/allocator.h"

enum { HI_OLDMALLOC_BINS = 64, HI_OLDMALLOC_PAGE = 4096 };

/* Offsets in mal, its struct bin, and struct chunk. */
struct hi_oldmalloc_layout {
	const char *versions;
	uint16_t binmap, bins, bin_size, bin_lock, bin_head, bin_tail;
	uint16_t chunk_psize, chunk_csize, chunk_next, chunk_prev;
	uint16_t align, overhead; /* SIZE_ALIGN, OVERHEAD */
};
extern const struct hi_oldmalloc_layout hi_oldmalloc_layout;

struct hi_oldmalloc_where {
	uint64_t mal;
	char module[64], version[64];
};

struct hi_oldmalloc_part { /* one region */
	uint64_t start, end;
	uint64_t first; /* chunk */
	uint64_t stop;	/* where the chunk of size 0 is, or where the chain broke */
	bool is_mmapped, is_broken;
};
struct hi_oldmalloc_parts HI_VECTOR(struct hi_oldmalloc_part);

struct hi_oldmalloc {
	struct hi_allocator base;
	const struct hi_image *image;
	struct hi_memory *memory;
	const struct hi_oldmalloc_layout *layout;
	struct hi_oldmalloc_where where;
	struct hi_oldmalloc_parts parts; /* sorted, as base.regions */
	struct hi_heap_region *regions;
	size_t n_probe_damage, n_probe_damage_total;
	pthread_mutex_t lock; /* counters and damage */
};

/* oldmalloc_find.c: looks for mal in the data of modules. */
typedef enum hi_status hi_oldmalloc_found_fn(const struct hi_oldmalloc_where *where,
					     void *arg, struct hi_error *err);
enum hi_status hi_oldmalloc_find(const struct hi_image *image, struct hi_modules *modules,
				 const struct hi_oldmalloc_layout *layout,
				 hi_oldmalloc_found_fn *fn, void *arg,
				 struct hi_error *err);
/* Returns whether 64 bins with their locks head to themselves or to chunks that point
 * back, in agreement with binmap. */
bool hi_oldmalloc_is_mal(struct hi_memory *memory,
			 const struct hi_oldmalloc_layout *layout, uint64_t mal);

/* oldmalloc_areas.c: all parts. modules (may be NULL): what is left of their data
 * segments is looked at, too. */
enum hi_status hi_oldmalloc_add_areas(struct hi_oldmalloc *o, struct hi_modules *modules,
				      struct hi_error *err);
/* oldmalloc_walk.c */
enum hi_status hi_oldmalloc_walk(struct hi_allocator *allocator, hi_blocks_fn *fn,
				 void *arg, struct hi_error *err);
enum hi_status hi_oldmalloc_walk_region(struct hi_allocator *allocator, unsigned region,
					hi_blocks_fn *fn, void *arg,
					struct hi_error *err);
void hi_oldmalloc_restart(struct hi_allocator *allocator);

/* oldmalloc.c: checks `where` on the image and makes the instance. HI_BAD_DATA names the
 * check that failed; HI_NOT_FOUND: there are no chunks. */
enum hi_status hi_oldmalloc_open(const struct hi_image *image, struct hi_modules *modules,
				 const struct hi_oldmalloc_where *where,
				 const struct hi_oldmalloc_layout *layout,
				 struct hi_allocator **ret, struct hi_error *err);
extern const struct hi_allocator_ops hi_allocator_oldmalloc;

#endif
