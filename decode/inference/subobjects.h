/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects that the allocator does not know: parts of its blocks (pools, slabs), and
 * objects in memory that no allocator walks. They are found because a typed pointer
 * leads to them.
 *
 * Note [Subobjects]
 *
 * While types are propagated, a pointer to where no known object starts adds a candidate
 * there (hi_subobjects_add; from several threads). When no new candidates come, they are
 * sorted by address and overlaps are resolved:
 *
 *   - a candidate that another one explains (the same type is a member or an element of
 *     it there) is dropped and not counted as a conflict;
 *   - of two others the better one stays (hi_layout_compare; then the lower address),
 *     and the conflict is counted.
 *
 * Then the table of objects is made again. A block with subobjects is a pool: it is split
 * into its subobjects and what lies between them, its remainder. Gaps below
 * HI_SUBOBJECT_GAP bytes belong to the piece before them. In the graph every subobject
 * refers to the first piece of the remainder, and that piece to the others: a pool lives
 * as long as anything in it. Memory without blocks has no remainder: it stays untyped
 * words.
 */
#ifndef HI_DECODE_INFERENCE_SUBOBJECTS_H
#define HI_DECODE_INFERENCE_SUBOBJECTS_H

#include "base/cleanup.h"
#include "decode/allocator.h"
#include "decode/layouts/layout.h"

/* Usable bytes of a pool, at least; of a small one, which has room for so many objects
 * (GLib's slabs of 8 slots). HI_SUBOBJECT_GAP: census/graph/objects.h. */
enum {
	HI_SUBOBJECT_MIN_POOL = 512,
	HI_SUBOBJECT_SMALL_POOL = 192,
	HI_SUBOBJECT_SMALL_SLOTS = 8,
};

/* May a block of `usable` bytes be a pool with objects of `size` bytes in it? */
static inline bool hi_subobjects_may_be_pool(uint64_t usable, uint64_t size)
{
	return usable >= HI_SUBOBJECT_MIN_POOL ||
	       (usable >= HI_SUBOBJECT_SMALL_POOL &&
		size <= usable / HI_SUBOBJECT_SMALL_SLOTS);
}

struct hi_subobjects;

struct hi_subobject_stats {
	uint64_t candidates;
	uint64_t count, bytes; /* of subobjects */
	uint64_t conflicts, pools, remainder_bytes;
	uint64_t outside;   /* subobjects in memory that no allocator walks */
	uint64_t explained; /* candidates that another one explains */
	uint64_t misplaced; /* candidates where no subobject may be */
	bool at_limit;	    /* too many candidates: nothing was split */
};

/* Borrows all. modules and allocator may be NULL. *ret: hi_subobjects_destroy(). */
enum hi_status hi_subobjects_create(const struct hi_image *image,
				    struct hi_modules *modules,
				    const struct hi_allocator *allocator,
				    const struct hi_objects *objects,
				    struct hi_subobjects **ret, struct hi_error *err);
void hi_subobjects_destroy(struct hi_subobjects *c); /* NULL is allowed */
HI_DEFINE_GUARD(struct hi_subobjects *, hi_subobjects_destroy)

/*
 * Memory without blocks where objects may be: private writable anonymous mappings (and
 * [heap]) that are no stack, no thread's static data, no module's data and no region of
 * the allocator. *start_ret, *end_ret: the range that contains addr; false: none does.
 * Takes no locks.
 */
bool hi_subobjects_range(const struct hi_subobjects *c, uint64_t addr,
			 uint64_t *start_ret, uint64_t *end_ret);
/* Bounds of all these ranges; low == high: there are none. */
void hi_subobjects_bounds(const struct hi_subobjects *c, uint64_t *low_ret,
			  uint64_t *high_ret);
/* Bytes of all ranges, resident or not. */
uint64_t hi_subobjects_bytes(const struct hi_subobjects *c);
/* Takes [start, end) out of the ranges: a module's data, for example, of which
 * hi_subobjects_create has only the mappings. To be called before the first
 * hi_subobjects_add(). */
enum hi_status hi_subobjects_exclude(struct hi_subobjects *c, uint64_t start,
				     uint64_t end, struct hi_error *err);

/* Adds [start, end), static storage, to the ranges (Note [Pools in static storage]). To
 * be called before the first hi_subobjects_add(). */
enum hi_status hi_subobjects_include(struct hi_subobjects *c, uint64_t start,
				     uint64_t end, struct hi_error *err);
/* All that was added so: in order of address; borrowed. */
size_t hi_subobjects_static(const struct hi_subobjects *c, const struct hi_range **ret);

/*
 * Adds a candidate: an object of `size` bytes at addr. addr is a multiple of 8; size is
 * in [8, 2^43). key: as in the type column (layout, array, evidence; typing_state.h);
 * of several evidences the best one stays.
 *
 * True if the candidate is new, or was only inferred before: its pointers are then to be
 * followed. False also when
 * out of memory or beyond the limit (hi_subobjects_failed). The limit is for all
 * candidates together: whether it is reached does not depend on their order, but the
 * candidates followed until then do. Thread-safe.
 */
bool hi_subobjects_add(struct hi_subobjects *c, uint64_t addr, uint64_t size,
		       uint32_t key);
/* Has memory run out, or is a limit reached? */
bool hi_subobjects_failed(const struct hi_subobjects *c);
bool hi_subobjects_at_limit(const struct hi_subobjects *c); /* failed, not for memory */
size_t hi_subobjects_count(const struct hi_subobjects *c);  /* of candidates */

/* Places of subobjects in old blocks. */
struct hi_subobject_places {
	/* Called first, for each candidate in a block; NULL: not. key: as
	 * hi_subobjects_add. */
	void (*look)(void *arg, uint64_t addr, hi_node id, uint32_t key);
	/* Bytes from the start of a block that its own type takes. */
	uint64_t (*extent)(void *arg, hi_node id);
	/* May such an object, of `size` bytes, be split off the block? NULL:
	 * hi_subobjects_may_be_pool(). */
	bool (*may_be)(void *arg, uint64_t addr, hi_node id, uint32_t layout,
		       uint64_t size);
	void *arg;
};

/*
 * Resolves the candidates and makes the new table from `old` and its type column. To be
 * called once. Deterministic. *ret is NULL if there are no subobjects.
 *
 * Blocks keep their keys, also the piece of the remainder that starts where the block
 * did; the other pieces get key 0. A candidate is split off
 *
 *   - inside a block that may be a pool of such objects and is not internal, after the
 * bytes that the block's own type takes. One candidate is accepted before: at the block's
 * start, with at least that length; it is the first slot of a pool;
 *   - inside a hi_subobjects_range.
 *
 * An object for whose place two candidates conflicted has HI_OBJECT_CONFLICT.
 */
enum hi_status hi_subobjects_split(struct hi_subobjects *c, struct hi_layouts *layouts,
				   const struct hi_objects *old,
				   const struct hi_subobject_places *places,
				   struct hi_objects **ret, struct hi_pools *pools_ret,
				   struct hi_subobject_stats *stats_ret,
				   struct hi_error *err);

/* After hi_subobjects_split: the ranges outside of the allocator's regions that
 * subobjects take, sorted and disjoint; borrowed. They are not searched for roots. */
size_t hi_subobjects_outside(const struct hi_subobjects *c, const struct hi_range **ret);

#endif
