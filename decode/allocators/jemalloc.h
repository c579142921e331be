/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jemalloc 5.2 and 5.3. Every page that it manages leads, through a radix tree of two
 * levels in its data, to the description of its extent (edata_t): a slab of equal
 * regions with a bitmap, a large block, or free pages. Threads cache regions in stacks
 * that each arena lists.
 *
 *	find (per module) -> open: arenas -> extents -> caches -> counters
 */
#ifndef HI_ALLOCATORS_JEMALLOC_H
#define HI_ALLOCATORS_JEMALLOC_H

#include "decode/allocators/slabs.h"
#include "decode/allocators/window.h"

enum {
	HI_JEMALLOC_PAGE = 4096,
	HI_JEMALLOC_MAX_SIZES = 256,
	HI_JEMALLOC_MAX_BINS = 64,
	HI_JEMALLOC_MAX_ARENAS = 4095,
	HI_JEMALLOC_MAX_ROOTS = 16, /* in one module */
};

/* The map of pages: a tree whose levels have equally many bits of the page's number. */
struct hi_jemalloc_tree {
	uint32_t levels, bits;
	uint32_t element; /* bytes of a leaf's */
};
static inline uint64_t hi_jemalloc_node_bytes(const struct hi_jemalloc_tree *tree)
{
	return 8ull << tree->bits;
}
static inline uint64_t hi_jemalloc_leaf_bytes(const struct hi_jemalloc_tree *tree)
{
	return (uint64_t)tree->element << tree->bits;
}

/* Offsets of one release in one configuration; 0: it has no such field, where 0 is no
 * offset. jemalloc_layouts.c has the rows. */
struct hi_jemalloc_layout {
	const char *version;
	uint32_t sizes, bins; /* of classes: all, and those of slabs */
	/* An extent, and a leaf's element: it, and bits below leaf_low. */
	uint32_t leaf_low;
	uint32_t leaf_szind_shift; /* in the second word of a long element */
	uint32_t edata_addr, edata_size, edata_bitmap, edata_bytes;
	uint32_t edata_tctx;	       /* of sampled ones */
	uint32_t edata_ps, ps_address; /* pages of a huge page */
	uint32_t slab_shift, state_shift, state_width, szind_shift;
	uint32_t nfree_shift, nfree_width, shard_shift, pai_shift;
	bool sizes_by_page; /* large blocks have any number of pages */
	/* An arena and its bins. */
	uint32_t arena_bytes, arena_internal, arena_caches, arena_caches_mutex;
	uint32_t arena_large_mutex, arena_base, arena_ind, arena_bins;
	bool bins_are_pointers;
	uint32_t bin_bytes, bin_regions, bin_slabs, info_bytes, info_shards;
	uint32_t mutex_locked;
	/* Its metadata. */
	uint32_t base_ind, base_mutex, base_blocks, base_allocated, block_header;
	/* The cache of a thread: the part that arenas list, and the part with bins. */
	uint32_t slow_link, slow_bins, slow_bins_large, slow_arena, slow_memory;
	uint32_t slow_cache, slow_n_bins;
	uint32_t cache_bins, cache_bins_large, cache_n_bins;
	/* 5.2: of a thread's data, which its cache is part of. */
	uint32_t thread_cache, thread_arena, thread_tickers;
	uint32_t cached_bytes, cached_head, cached_count, cached_full, cached_empty;
	uint32_t cached_max;
	uint64_t junk_after; /* the word after the last stack */
};
extern const struct hi_jemalloc_layout hi_jemalloc_layouts[];
extern const size_t hi_jemalloc_n_layouts;

/* ---- what one module's data has ---- */

struct hi_jemalloc_word {
	uint64_t at, value;
};
struct hi_jemalloc_root {
	uint64_t addr, node; /* node: one that it leads to */
	const struct hi_jemalloc_tree *tree;
	uint32_t votes;
};
struct hi_jemalloc_found {
	const char *module;
	uint64_t bias;
	/* Words that lead to anonymous memory, aligned to 64 bytes. */
	struct hi_jemalloc_words HI_VECTOR(struct hi_jemalloc_word) words;
	struct hi_jemalloc_eights HI_VECTOR(uint64_t) eights; /* where an 8 is */
	struct hi_jemalloc_roots HI_VECTOR(struct hi_jemalloc_root) roots;
	uint64_t tables[2]; /* of sizes */
	uint32_t table_sizes[2];
	size_t n_tables;
};
/* Looks at a module's data; nothing there: no roots. HI_NO_MEMORY. */
enum hi_status hi_jemalloc_find(const struct hi_image *image, struct hi_module *module,
				struct hi_jemalloc_found *ret, struct hi_error *err);
void hi_jemalloc_found_free(struct hi_jemalloc_found *found);
/* May addr be memory that jemalloc has from the kernel? */
bool hi_jemalloc_is_memory(const struct hi_image *image, uint64_t addr);

/* ---- the instance ---- */

struct hi_jemalloc_arena {
	uint64_t addr, base; /* addr 0: there is none of this number */
	uint64_t regions[HI_JEMALLOC_MAX_BINS], slabs[HI_JEMALLOC_MAX_BINS];
	bool is_bin_damaged[HI_JEMALLOC_MAX_BINS];
};

struct hi_jemalloc {
	struct hi_allocator base;
	struct hi_slabs slabs;
	const struct hi_image *image;
	const struct hi_jemalloc_layout *layout;
	struct hi_window nodes, leaves, extents, other;
	const struct hi_jemalloc_tree *tree;
	uint64_t root, arenas_at;
	uint64_t sizes[HI_JEMALLOC_MAX_SIZES];
	struct hi_jemalloc_arenas HI_VECTOR(struct hi_jemalloc_arena) arenas; /* by no */
	struct hi_jemalloc_ranges HI_VECTOR(struct hi_range) damaged; /* the first ones */
	uint32_t shards[HI_JEMALLOC_MAX_BINS];			      /* of each bin */
	uint32_t slab_regions[HI_JEMALLOC_MAX_BINS];
	bool knows_shards;
	uint64_t n_slabs, n_damaged; /* extents that are slabs; extents that are wrong */
	uint64_t n_large, n_sampled, n_caches;
	/* Large extents whose class allows for no page after the block, or for one that
	 * moves its address (cache-oblivious): the build has that or not. */
	struct hi_jemalloc_large HI_VECTOR(uint32_t) large; /* numbers of their slabs */
	uint64_t n_unpadded, n_padded;
	uint64_t internal_known, internal_counted;
	bool has_counters;
};

enum hi_status hi_jemalloc_read_arenas(struct hi_jemalloc *j,
				       const struct hi_jemalloc_found *found,
				       const struct hi_jemalloc_root *root,
				       struct hi_error *err);
enum hi_status hi_jemalloc_read_extents(struct hi_jemalloc *j, struct hi_error *err);
enum hi_status hi_jemalloc_read_caches(struct hi_jemalloc *j, struct hi_error *err);
enum hi_status hi_jemalloc_check_counters(struct hi_jemalloc *j, struct hi_error *err);
/* As the allocator with this layout. HI_BAD_DATA: a check failed; *stage_ret (0 at first)
 * is the number that held. */
enum hi_status hi_jemalloc_open(const struct hi_image *image,
				const struct hi_jemalloc_found *found,
				const struct hi_jemalloc_root *root,
				const struct hi_jemalloc_layout *layout,
				struct hi_allocator **ret, unsigned *stage_ret,
				struct hi_error *err);

extern const struct hi_allocator_ops hi_allocator_jemalloc;

#endif
