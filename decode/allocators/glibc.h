/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * glibc malloc, for this folder and its tests only. The steps of a probe:
 *
 *   find (glibc_find.c)    where main_arena, mp_ and the thread's tcache pointer
 *                          are: symbols, else disassembly; which version
 *   search (glibc_search.c)   the same in a static program without symbols
 *   open (glibc_probe.c)   checks the layout on the image, lists the arenas
 *   areas (glibc_heaps.c, glibc_mmapped.c)   what malloc divides: regions
 *   lists (glibc_free.c)   chunks that are free though marked in use
 *   walk (glibc_walk.c)    every chunk of every region
 *
 * A chunk is an address p: previous size at +0 (only if PREV_INUSE is clear),
 * size and flags at +8, user bytes from +16. Source: glibc malloc/malloc.c.
 */
#ifndef HI_ALLOCATORS_GLIBC_H
#define HI_ALLOCATORS_GLIBC_H

#include <pthread.h>

#include "base/vector.h"
#include "decode/allocator.h"
#include "decode/allocators/slabs.h"
#include "decode/allocators/window.h"

enum {
	HI_CHUNK_PREV_INUSE = 1,
	HI_CHUNK_MMAPPED = 2,
	HI_CHUNK_NON_MAIN = 4,
	HI_CHUNK_FLAGS = 7,
	HI_CHUNK_HEADER = 16,
	HI_CHUNK_MIN = 32,
	HI_CHUNK_ALIGN = 16,
	HI_GLIBC_PAGE = 4096,
	HI_GLIBC_BINS = 127,	/* bins 1..127, 1 is the unsorted one */
	HI_GLIBC_FASTBINS = 10, /* at most */
};

/* Byte offsets and sizes of one range of releases. Compiled from each
 * release's own sources; x86-64. */
struct hi_glibc_layout {
	uint8_t minor_first, minor_last; /* 2.first … 2.last */
	/* struct malloc_state */
	uint16_t state_size, fastbins, n_fastbins, top, bins, next, system_mem;
	/* struct malloc_par; hp_pagesize 0: it has none */
	uint16_t par_size, hp_pagesize, n_mmaps, no_dyn_threshold, mmapped_mem, sbrk_base;
	uint16_t tcache_bins, tcache_max_bytes, tcache_count;
	/* struct _heap_info: ar_ptr at 0, prev at 8, size at 16 */
	uint16_t heap_info_size;
	/* struct tcache_perthread_struct: counts at 0 */
	uint16_t tcache_size, tcache_entries, tcache_lists;
	uint8_t count_width;	/* bytes of one counter */
	bool counts_free_slots; /* counters say how many more fit, not how many are in */
	bool mangled;		/* links of free chunks are xor-ed (PROTECT_PTR) */
	/* A chunk that is a mapping: bytes of it that its size does not count, and bytes
	 * after the user's. If the former, mmapped_mem grows by them with each mremap(),
	 * and it does not begin with a header of whole pages if it is aligned. */
	uint8_t mmapped_uncounted, mmapped_tail;
};
extern const struct hi_glibc_layout hi_glibc_layouts[];
extern const size_t hi_glibc_n_layouts;
/* NULL: older than the first row. Newer than the last row: the last one, if it passes the
 * layout check. */
const struct hi_glibc_layout *hi_glibc_layout_of(unsigned minor);

/* Results of hi_glibc_find(). */
struct hi_glibc_where {
	uint64_t main_arena, mp;
	uint64_t main_arena_size, mp_size; /* of the symbols; 0 unknown */
	bool has_tcache;
	int64_t tcache_offset[2]; /* from fs_base; the likelier one first */
	unsigned n_tcache_offsets;
	unsigned minor; /* 2.minor; 0 unknown */
	char version[48];
	char found_by[64];
	char module[64];
	/* Set for the other copies in the process: the owner of a chunk that is a mapping
	 * of its own is unknown, so that one copy has them all. */
	bool has_mmapped_elsewhere;
	int32_t other_n_mmaps;
	uint64_t other_mmapped_mem;
};
struct hi_glibc_options {
	bool without_symbols; /* as for a stripped libc */
};
/* May the malloc of this module be glibc's? A libc, or the program. */
bool hi_glibc_may_have(const struct hi_module *module);
/* Finds the variables of malloc in a module. HI_NOT_FOUND: it has no glibc malloc. */
enum hi_status hi_glibc_find(const struct hi_image *image, struct hi_modules *modules,
			     struct hi_module *module,
			     const struct hi_glibc_options *options,
			     struct hi_glibc_where *ret, struct hi_error *err);
/* glibc_search.c: main_arena and mp_ by what they contain, in the data of a module.
 * HI_NOT_FOUND. */
enum hi_status hi_glibc_search(const struct hi_image *image, struct hi_module *module,
			       struct hi_glibc_where *ret, struct hi_error *err);
/* glibc_probe.c: do the two say the same of the largest chunk of a thread's cache? par:
 * the bytes of mp_. */
bool hi_glibc_limits_agree(const struct hi_glibc_layout *l, const uint8_t *par);

/* ---- glibc_disassemble.c ---- */
/* main_arena and mp_ out of mallopt's code (size bytes at addr). HI_NOT_FOUND.
 * *distance_ret: no_dyn_threshold - mp_, 0 unknown. */
enum hi_status hi_glibc_read_mallopt(const void *code, size_t size, uint64_t addr,
				     uint64_t *main_arena_ret, uint64_t *mp_ret,
				     unsigned *distance_ret, struct hi_error *err);
/* The first thread-local accesses of malloc's code: each a GOT slot with the
 * offset, or the offset itself. */
struct hi_glibc_tls_use {
	bool is_slot;
	uint64_t slot;
	int64_t offset;
};
enum hi_status hi_glibc_read_malloc(const void *code, size_t size, uint64_t addr,
				    struct hi_glibc_tls_use uses[2], unsigned *n_ret,
				    struct hi_error *err);
/* The address that `lea D(%rip),%rax` of a getter yields; 0: none. */
uint64_t hi_glibc_read_getter(const void *code, size_t size, uint64_t addr);

/* ---- the instance ---- */
struct hi_glibc_arena {
	uint64_t addr, top, top_size, system_mem;
	uint32_t flags;
	bool main;
};
enum hi_glibc_part_kind { HI_GLIBC_CHAIN, HI_GLIBC_MMAPPED };
/* One region: a chain of chunks from first to stop, exactly; at stop is the top or a
 * fence (the region ends after them) or the next part's first chunk, whose header still
 * belongs to this region. */
struct hi_glibc_part {
	uint64_t start, end; /* the region */
	uint64_t first, stop;
	unsigned arena;
	enum hi_glibc_part_kind kind;
	bool has_top;
	uint64_t state_area;   /* malloc_state before first; 0 none */
	uint64_t user, usable; /* only MMAPPED */
};
struct hi_glibc_parts HI_VECTOR(struct hi_glibc_part);
struct hi_glibc_arenas HI_VECTOR(struct hi_glibc_arena);
/* Chunk address | enum hi_block_state. */
struct hi_glibc_listed HI_VECTOR(uint64_t);

struct hi_glibc {
	struct hi_allocator base;
	const struct hi_image *image;
	struct hi_memory *memory;
	const struct hi_glibc_layout *layout;
	struct hi_glibc_where where;
	struct hi_glibc_arenas arenas;
	struct hi_glibc_parts parts;   /* sorted as base.regions */
	struct hi_glibc_listed listed; /* sorted, unique */
	uint64_t max_listed;	       /* entries that the free lists may have */
	uint64_t held;		       /* bytes that the image has */
	uint64_t n_searched; /* chunk headers that were read in search of chains */
	bool is_listed_cut;  /* they had more */
	uint64_t sbrk_base, mmapped_mem, hp_pagesize, heap_max;
	uint64_t tcache_count;
	int32_t n_mmaps;
	size_t n_probe_damage; /* found while probing: stays when a walk starts anew */
	size_t n_probe_damage_total;
	pthread_mutex_t lock; /* counters and damage while regions are walked */
};

/* Checks `where` on the image and makes the instance. HI_BAD_DATA names the check that
 * failed; HI_NOT_FOUND: malloc is there, but was never used. */
enum hi_status hi_glibc_open(const struct hi_image *image,
			     const struct hi_glibc_where *where,
			     struct hi_allocator **ret, struct hi_error *err);
/* Finds and opens the first copy, with options (NULL: none). */
enum hi_status hi_glibc_probe_with(const struct hi_image *image,
				   struct hi_modules *modules,
				   const struct hi_glibc_options *options,
				   struct hi_allocator **ret, struct hi_error *err);
extern const struct hi_allocator_ops hi_allocator_glibc;

/* Records damage at addr, up to the limit of hi_allocator.damage. */
void hi_glibc_damage(struct hi_glibc *g, uint64_t addr, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The part that holds addr; NULL none. O(log n); after the parts are sorted. */
const struct hi_glibc_part *hi_glibc_part_at(const struct hi_glibc *g, uint64_t addr);

/* glibc_heaps.c: regions of all arenas. */
enum hi_status hi_glibc_add_heaps(struct hi_glibc *g, struct hi_error *err);
/* glibc_mmapped.c: regions of the chunks that are mappings of their own. */
enum hi_status hi_glibc_add_mmapped(struct hi_glibc *g, struct hi_error *err);
/* glibc_free.c: tcaches and fastbins. */
enum hi_status hi_glibc_list_free(struct hi_glibc *g, struct hi_error *err);
/* glibc_walk.c: the operations of hi_allocator_ops. */
enum hi_status hi_glibc_walk(struct hi_allocator *allocator, hi_blocks_fn *fn, void *arg,
			     struct hi_error *err);
/* The same for one region. */
enum hi_status hi_glibc_walk_region(struct hi_allocator *allocator, unsigned region,
				    hi_blocks_fn *fn, void *arg, struct hi_error *err);
/* Resets damage and counts before another walk. */
void hi_glibc_restart(struct hi_allocator *allocator);

#endif
