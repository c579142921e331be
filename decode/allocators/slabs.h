/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table of slabs, for allocators that put equal blocks side by side: jemalloc's
 * slabs, tcmalloc's spans, mimalloc's pages, mallocng's groups. A large block, a free
 * extent and a piece of metadata are slabs of one slot. The allocator fills the table
 * while it is probed; the rest of hi_allocator_ops is done here.
 *
 *	init, add ..., set_state ..., seal (probe) -> walk, walk_region, restart
 *
 * A slab takes 72 bytes and each of its slots a byte.
 */
#ifndef HI_ALLOCATORS_SLABS_H
#define HI_ALLOCATORS_SLABS_H

#include <pthread.h>

#include "base/vector.h"
#include "decode/allocator.h"

struct hi_slab {
	uint64_t start, end; /* [start, end): all of its memory, mostly whole pages */
	uint64_t first;	     /* address of slot 0; start + metadata, mostly */
	uint64_t size;	     /* from slot to slot; it costs that much */
	uint64_t usable;     /* of a slot; size, where there is no header */
	uint64_t states;     /* index of slot 0's state: hi_slabs_set_state */
	uint64_t context;    /* for describe */
	uint32_t n;	     /* slots, at least 1; first + n * size <= end */
	uint32_t arena;
	uint8_t align_shift;   /* the slots' alignment: 1 << this; 3 at least */
	bool is_start_unknown; /* hi_block.is_start_unknown */
	bool is_small;	       /* counted in slab_classes */
};

struct hi_slabs;
/* Corrects one live block before it is given out: an address within its slot, bytes that
 * were requested. Several threads call it at once, each with a window of its own. */
struct hi_window;
typedef void hi_slab_describe_fn(const struct hi_slabs *slabs, const struct hi_slab *slab,
				 uint32_t slot, struct hi_window *window,
				 struct hi_block *block);

struct hi_slab_region {
	uint32_t first, n; /* of order */
};

struct hi_slabs {
	struct hi_allocator *allocator;
	struct hi_memory *memory;
	hi_slab_describe_fn *describe; /* NULL: blocks are those of the table */
	struct hi_slab_items HI_VECTOR(struct hi_slab) items; /* as they were added */
	struct hi_slab_states HI_VECTOR(uint8_t) states;
	uint32_t *order; /* by address */
	struct hi_heap_region *regions;
	struct hi_slab_region *region_slabs; /* of each region */
	struct hi_slab_class *classes;
	uint64_t *sizes;			     /* usable ones of the classes */
	size_t n_probe_damage, n_probe_damage_total; /* stay when a walk starts anew */
	uint64_t probe_skipped;
	pthread_mutex_t lock; /* the counters of the allocator */
};

/* slabs is all zero; allocator and image are borrowed. */
void hi_slabs_init(struct hi_slabs *slabs, struct hi_allocator *allocator,
		   const struct hi_image *image, hi_slab_describe_fn *describe);
void hi_slabs_deinit(struct hi_slabs *slabs);
/*
 * Adds a copy of slab, all of its slots in this state; *id_ret (may be NULL) is its
 * index in items. HI_BAD_DATA: it contradicts itself, or has more slots than a heap may
 * have. HI_NO_MEMORY.
 */
enum hi_status hi_slabs_add(struct hi_slabs *slabs, const struct hi_slab *slab,
			    enum hi_block_state state, uint32_t *id_ret,
			    struct hi_error *err);
static inline void hi_slabs_set_state(struct hi_slabs *slabs, uint32_t id, uint32_t slot,
				      enum hi_block_state state)
{
	slabs->states.items[slabs->items.items[id].states + slot] = (uint8_t)state;
}
static inline enum hi_block_state hi_slabs_state(const struct hi_slabs *slabs,
						 uint32_t id, uint32_t slot)
{
	return (enum hi_block_state)
		slabs->states.items[slabs->items.items[id].states + slot];
}
/* Sorts; after this nothing is added, and hi_slabs_find() works. HI_BAD_DATA: two slabs
 * overlap; err->address is where. */
enum hi_status hi_slabs_sort(struct hi_slabs *slabs, struct hi_error *err);
/* The slab that holds addr; false: none. *slot_ret: its slot, and *offset_ret how far
 * addr lies inside of that; UINT32_MAX where addr is before or after all slots. */
bool hi_slabs_find(const struct hi_slabs *slabs, uint64_t addr, uint32_t *id_ret,
		   uint32_t *slot_ret, uint64_t *offset_ret);
/* Makes regions and slab_classes of the allocator, and its sizes if it has none, by the
 * states as they are now; sorts before, where that was not done. */
enum hi_status hi_slabs_seal(struct hi_slabs *slabs, struct hi_error *err);

/* Records damage at addr, up to the limit of hi_allocator.damage. */
void hi_allocator_note_damage(struct hi_allocator *allocator, uint64_t addr,
			      const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The operations; slabs is that of the allocator. */
enum hi_status hi_slabs_walk(struct hi_slabs *slabs, hi_blocks_fn *fn, void *arg,
			     struct hi_error *err);
enum hi_status hi_slabs_walk_region(struct hi_slabs *slabs, unsigned region,
				    hi_blocks_fn *fn, void *arg, struct hi_error *err);
void hi_slabs_restart(struct hi_slabs *slabs);

#endif
