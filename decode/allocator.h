/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocators: which bytes of the heap belong to which block. Reads only the image.
 *
 * To add an allocator: one file (or a few, with its name as prefix) under
 * decode/allocators/ with a `const struct hi_allocator_ops hi_allocator_NAME`;
 * an entry in allocators/registry.c; a fixture that prints its own truth; a
 * line in tests/decode/allocator_contract_test.c. Struct layouts are data
 * tables with their source; code never hard-codes an offset.
 */
#ifndef HI_DECODE_ALLOCATOR_H
#define HI_DECODE_ALLOCATOR_H

#include "attach/image.h"
#include "attach/stop.h"
#include "census/graph/objects.h"
#include "decode/modules/modules.h"

enum hi_block_state {
	HI_BLOCK_LIVE,
	HI_BLOCK_INTERNAL, /* live, but the allocator's or libc's own */
	HI_BLOCK_FREE_TCACHE,
	HI_BLOCK_FREE_FASTBIN,
	HI_BLOCK_FREE_BIN, /* small, large, unsorted bins */
	HI_BLOCK_FREE_TOP,
	HI_BLOCK_STATES,
};
struct hi_block {
	uint64_t addr;	 /* user pointer */
	uint64_t usable; /* bytes from addr that its user may write */
	uint64_t cost;	 /* bytes consumed, header included */
	enum hi_block_state state;
	bool mmapped;
};
/* Blocks come in batches, in increasing address order inside one region.
 * false stops the walk (which then returns HI_OK). */
typedef bool hi_blocks_fn(const struct hi_block *blocks, size_t n, unsigned region,
			  void *arg);

/* A contiguous area that the allocator divides: [heap], a non-main heap, one
 * mmapped chunk, … Known after probe, before the walk. */
struct hi_heap_region {
	uint64_t start, end; /* of the divided area, in use or not */
	unsigned arena;	     /* 0: main */
	bool mmapped_chunk;
};

struct hi_allocator; /* instance; embeds `base` first */

struct hi_allocator_damage { /* where the heap's metadata is inconsistent */
	uint64_t address;
	char text[120]; /* "arena 0: chunk size 0x41 runs past the top" */
};

struct hi_allocator_ops {
	const char *name; /* "glibc" */
	/* HI_NOT_FOUND: this allocator is not in the image. HI_BAD_DATA: it is, but the
	 * layout check fails; err names the check. */
	enum hi_status (*probe)(const struct hi_image *image, struct hi_modules *modules,
				struct hi_allocator **ret, struct hi_error *err);
	/* Every block exactly once. Damage is not an error: it is recorded, the
	 * rest of that region is skipped and counted, the walk goes on. */
	enum hi_status (*walk)(struct hi_allocator *allocator, hi_blocks_fn *fn,
			       void *arg, struct hi_error *err);
	/* Optional, both or none. One region alone, what it counts added to the
	 * counters; different regions by several threads at once. restart sets the
	 * counters to what they were before any walk. */
	enum hi_status (*walk_region)(struct hi_allocator *allocator, unsigned region,
				      hi_blocks_fn *fn, void *arg, struct hi_error *err);
	void (*restart)(struct hi_allocator *allocator);
	void (*release)(struct hi_allocator *allocator);
};

struct hi_allocator {
	const struct hi_allocator_ops *ops;
	char version[48];  /* "2.36" */
	char found_by[64]; /* "symbols", "disassembly of mallopt, malloc" */
	const struct hi_heap_region *regions; /* sorted by start */
	size_t n_regions;
	size_t n_arenas;
	/* Filled by the walk: */
	struct hi_allocator_damage *damage; /* at most 64 kept */
	size_t n_damage, n_damage_total;
	uint64_t skipped_bytes; /* not walked because of damage or unreadable pages */
	uint64_t count[HI_BLOCK_STATES], bytes[HI_BLOCK_STATES]; /* cost */
	uint64_t
		overhead_bytes; /* regions minus all blocks: heap headers, pads, fences */
};

extern const struct hi_allocator_ops *const hi_allocators[]; /* NULL ends */

/* Probes the allocators of the registry; *ret is the first one that is in the image. */
enum hi_status hi_allocator_probe(const struct hi_image *image,
				  struct hi_modules *modules, struct hi_allocator **ret,
				  struct hi_error *err);
/* Calls fn for every block, as hi_allocator_ops.walk says. */
enum hi_status hi_allocator_walk(struct hi_allocator *allocator, hi_blocks_fn *fn,
				 void *arg, struct hi_error *err);
/* The same by several threads, each region by one of them, fn called from all;
 * one thread where the allocator has no walk_region. */
enum hi_status hi_allocator_walk_parallel(struct hi_allocator *allocator,
					  unsigned threads, hi_blocks_fn *fn, void *arg,
					  struct hi_error *err);
/* Frees what probe made; allocator may be NULL. */
void hi_allocator_release(struct hi_allocator *allocator);

/*
 * Before the stop: the text of every allocator that the running target maps,
 * as ranges of target addresses, sorted and merged, for
 * hi_stop_options.avoid. Empty (HI_OK) if there is none. Free with free().
 */
enum hi_status hi_allocator_text(const struct hi_target *target, struct hi_range **ret,
				 size_t *n_ret, struct hi_error *err);

struct hi_types;
/*
 * After the pause: which threads of image->threads that may have been stopped inside the
 * allocator really were. A stale word on the stack looks like a caller; an unwound stack
 * without a frame in `text` clears the mark (and the count in image->stats). A stack that
 * cannot be unwound whole keeps it.
 */
enum hi_status hi_allocator_recheck_threads(struct hi_image *image,
					    struct hi_types *types,
					    const struct hi_range *text, size_t n_text,
					    struct hi_error *err);

#endif
