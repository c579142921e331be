/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocators: which bytes of the heap belong to which block. Reads only the image.
 *
 * A process may have several, and several copies of one: hi_allocator_probe() looks at
 * each module and joins what it finds into one allocator (allocators/joined.c).
 *
 * To add an allocator: one file (or a few, with its name as prefix) under
 * decode/allocators/ with a `const struct hi_allocator_ops hi_allocator_NAME`;
 * an entry in allocators/registry.c (of two that claim the same memory the earlier one
 * stays); the names of its functions in allocators/malloc_text_signs.c, so that no
 * thread is stopped inside it; a fixture that prints its own truth, and a test that
 * compares each block with it (tests/decode/allocator_truth_test.c where it replaces
 * malloc, else as own_allocator_test.c); a mock and its line in
 * tests/decode/allocator_contract_test.c; a heap in fuzz/allocators.c. Documents and
 * messages that list allocators: docs/guide/types.md, README.md,
 * report/parts/decoded_share.c.
 *
 * Struct layouts are data tables with their source; code never hard-codes an offset.
 * Allocators of slabs (equal blocks side by side) fill a table (allocators/slabs.h)
 * that does the rest; of others oldmalloc*.c is the smallest. All note damage by
 * hi_allocator_note_damage() (slabs.h) and read by allocators/window.h.
 */
#ifndef HI_DECODE_ALLOCATOR_H
#define HI_DECODE_ALLOCATOR_H

#include "attach/image.h"
#include "attach/stop.h"
#include "census/analysis/block_states.h"
#include "census/analysis/waste.h"
#include "census/graph/objects.h"
#include "decode/modules/modules.h"

struct hi_block {
	uint64_t addr;	 /* user pointer */
	uint64_t usable; /* bytes from addr that its user may write */
	/* Bytes consumed, header included: usable + 0, 8 or 16 where the block is in use
	 * and not mmapped. */
	uint64_t cost;
	enum hi_block_state state;
	bool mmapped;
	/* The pointer that the program has may lie anywhere inside (mimalloc, aligned).
	 */
	bool is_start_unknown;
};
/* Blocks come in batches, in increasing address order inside one region.
 * false stops the walk (which then returns HI_OK). */
typedef bool hi_blocks_fn(const struct hi_block *blocks, size_t n, unsigned region,
			  void *arg);

/* A contiguous area that the allocator divides: [heap], a non-main heap, one
 * mmapped chunk, neighbouring extents, … Known after probe, before the walk. */
struct hi_heap_region {
	uint64_t start, end; /* of the divided area, in use or not */
	unsigned arena;	     /* 0: main */
	bool mmapped_chunk;
	bool has_no_objects; /* free pages or metadata alone: no block in use */
	uint8_t align_shift; /* blocks are aligned to 1 << this */
	uint8_t header;	     /* bytes before a block's address that are its own */
};

struct hi_allocator; /* instance; embeds `base` first */

struct hi_allocator_damage { /* where the heap's metadata is inconsistent */
	uint64_t address;
	char text[120]; /* "arena 0: chunk size 0x41 runs past the top" */
};

/* One that is in the image and cannot be walked. */
struct hi_allocator_refusal {
	const char *name;   /* of the allocator; text of this program */
	char module[64];    /* hostile */
	char text[240];	    /* the check that failed, or why there are no blocks */
	bool has_no_blocks; /* it keeps no bounds of them: nothing is wrong */
};
enum { HI_ALLOCATORS_MAX = 16 };
struct hi_allocator_list {
	struct hi_allocator *items[HI_ALLOCATORS_MAX];
	size_t count;
	struct hi_allocator_refusal refused[HI_ALLOCATORS_MAX];
	size_t n_refused;
};
/* Takes allocator. More than HI_ALLOCATORS_MAX are refused. */
void hi_allocator_list_add(struct hi_allocator_list *list,
			   struct hi_allocator *allocator);
/* Notes that the allocator `name` in `module` fails the check that err describes. */
void hi_allocator_list_refuse(struct hi_allocator_list *list, const char *name,
			      const char *module, const struct hi_error *err);

struct hi_allocator_ops {
	const char *name; /* "glibc" */
	uint32_t states;  /* bits of the states that its blocks may have: its rows */
	/* Adds each copy in the image to the list, and refuses one whose checks do not
	 * all hold. HI_OK also where there is none; else HI_NO_MEMORY. */
	enum hi_status (*probe)(const struct hi_image *image, struct hi_modules *modules,
				struct hi_allocator_list *list, struct hi_error *err);
	/* Every block exactly once. Damage is not an error: it is recorded, the
	 * rest of that region is skipped and counted, the walk goes on. */
	enum hi_status (*walk)(struct hi_allocator *allocator, hi_blocks_fn *fn,
			       void *arg, struct hi_error *err);
	/* Several allocators of a process are walked by these: one region alone, what it counts added to the
	 * counters; different regions by several threads at once. restart sets the
	 * counters to what they were before any walk. */
	enum hi_status (*walk_region)(struct hi_allocator *allocator, unsigned region,
				      hi_blocks_fn *fn, void *arg, struct hi_error *err);
	void (*restart)(struct hi_allocator *allocator);
	void (*release)(struct hi_allocator *allocator);
};

struct hi_allocator {
	const struct hi_allocator_ops *ops;
	char name[64];	    /* "glibc"; of several "jemalloc, glibc" */
	char version[64];   /* "2.36", "5.3.0" */
	char module[64];    /* of its variables, "redis-server"; hostile */
	char found_by[128]; /* "symbols", "disassembly of mallopt, malloc" */
	char checks[256];   /* that passed: "ring of arenas, bins, tops"; "" not said */
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
	/* Classes of slabs, after the probe; sorted by size. */
	const struct hi_slab_class *slab_classes;
	size_t n_slab_classes;
	/* Usable sizes that requests are rounded up to, ascending; beyond the last one,
	 * to multiples of size_step. mallocng: NULL, 0, 1: blocks are as requested. All
	 * 0: as glibc rounds. */
	const uint64_t *sizes;
	size_t n_sizes;
	uint64_t size_step;
	/* Memory outside of the regions whose words are no references, after the probe:
	 * they may lead to blocks without being the program's (data and thread-local
	 * blocks of a module that is this allocator and nothing else). In any order. */
	const struct hi_range *own;
	size_t n_own;
	/* The allocators that were found, if there are several, else NULL and 0. */
	struct hi_allocator *const *parts;
	size_t n_parts;
	struct hi_allocator_refusal *refused; /* set by hi_allocator_probe() */
	size_t n_refused;
};

extern const struct hi_allocator_ops *const hi_allocators[]; /* NULL ends */

/*
 * Probes the allocators of the registry. *ret is what is in the image: one, or several
 * joined; its `refused` names those that cannot be walked. HI_NOT_FOUND: there is none.
 * HI_BAD_DATA: each that is there was refused; err names the first and its check.
 */
enum hi_status hi_allocator_probe(const struct hi_image *image,
				  struct hi_modules *modules, struct hi_allocator **ret,
				  struct hi_error *err);
/* The same; refused has room for HI_ALLOCATORS_MAX, and gets those that cannot be walked
 * whatever the status is. */
enum hi_status hi_allocator_probe_each(const struct hi_image *image,
				       struct hi_modules *modules,
				       struct hi_allocator **ret,
				       struct hi_allocator_refusal *refused,
				       size_t *n_refused, struct hi_error *err);
/* Is the allocator `name` among those that are walked? allocator may be NULL. */
bool hi_allocator_has(const struct hi_allocator *allocator, const char *name);
/* Calls fn for every block, see hi_allocator_ops.walk. */
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

/*
 * The same of a core, and marks the threads that may have been inside, which
 * hi_allocator_recheck_threads() unwinds. exe: the executable's file, if it is not at the
 * path in the core; NULL.
 */
enum hi_status hi_allocator_mark_core(struct hi_image *image, struct hi_modules *modules,
				      const char *exe, struct hi_range **ret,
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
