/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects that no allocator tells: carved out of bigger blocks (pools, slabs)
 * and out of memory that nobody walks, where a typed pointer leads to them.
 *
 * Note [Carving]
 *
 * While types spread, pointers to where no known object is claim one there
 * (hi_carving_add; several threads). When nothing new comes, the claims are
 * sorted by address and overlaps are resolved: a claim that another one
 * explains (the same type lies there as a member or an element) is dropped
 * silently; else the better candidate (hi_layout_compare; then the lower address)
 * wins and the conflict is counted. Then the table of objects is made again:
 * a block with carved objects becomes a pool: its carved objects, and what is
 * left between them, its rest. Gaps under HI_CARVE_GAP bytes belong to the piece
 * before them. In the graph every carved object refers to the first piece of
 * the rest, and that one to the others: a pool lives as long as anything in it.
 * In memory without blocks there is no rest: it stays what it was, untyped words.
 */
#ifndef HI_DECODE_INFERENCE_CARVE_H
#define HI_DECODE_INFERENCE_CARVE_H

#include "decode/allocator.h"
#include "decode/layouts/layout.h"

enum { HI_CARVE_MIN_POOL = 512 }; /* usable bytes; HI_CARVE_GAP: census/graph/objects.h */

struct hi_carving;

struct hi_carving_stats {
	uint64_t claims, carved, carved_bytes, conflicts, pools, rest_bytes;
	uint64_t outside;   /* carved in memory that no allocator walks */
	uint64_t explained; /* claims that another one explains */
	uint64_t misplaced; /* claims where nothing may be carved */
	bool at_limit;	    /* too many claims: nothing was carved */
};

/* Borrows all. allocator may be NULL. */
enum hi_status hi_carving_create(const struct hi_image *image,
				 const struct hi_allocator *allocator,
				 const struct hi_objects *objects,
				 struct hi_carving **ret, struct hi_error *err);
void hi_carving_destroy(struct hi_carving *c);

/* Memory without blocks where objects may be: private writable anonymous
 * mappings (and [heap]) that are no stack, no thread's static data, no module's and
 * no region of the allocator. The range that addr is in; false: none. No locks. */
bool hi_carving_range(const struct hi_carving *c, uint64_t addr, uint64_t *start_ret,
		      uint64_t *end_ret);
/* What all those ranges are in; low == high: there are none. */
void hi_carving_bounds(const struct hi_carving *c, uint64_t *low_ret, uint64_t *high_ret);
/* Bytes of all ranges, touched or not. */
uint64_t hi_carving_bytes(const struct hi_carving *c);
/* Nothing is carved in [start, end): a module's data, say, which hi_carving_create
 * only knows by the mappings around it. Before anything is claimed. */
enum hi_status hi_carving_exclude(struct hi_carving *c, uint64_t start, uint64_t end,
				  struct hi_error *err);
/*
 * True: nobody has said yet that there is this layout with this size at addr (follow
 * it). size: bytes of the object, >= 8 and < 2^43, addr is 8-aligned. key: as in
 * the type column (layout, array, evidence; typing_state.h); of several evidences
 * the best one stays. Thread-safe. False also when out of memory or beyond the limit
 * (hi_carving_failed), which is for all claims together: whether it is reached does
 * not depend on their order, but what was followed until then does.
 */
bool hi_carving_add(struct hi_carving *c, uint64_t addr, uint64_t size, uint32_t key);
bool hi_carving_failed(const struct hi_carving *c);
bool hi_carving_at_limit(const struct hi_carving *c); /* failed, but not for memory */
size_t hi_carving_count(const struct hi_carving *c);  /* claims */

/*
 * Resolves, and makes the new table out of `old` and its type column: blocks
 * keep their keys, also the piece of the rest that starts where the block did
 * (the other pieces get 0). Carved are claims that lie inside a block of at least
 * HI_CARVE_MIN_POOL usable bytes which is not the allocator's own, beyond what
 * its own type takes, or inside a hi_carving_range. extent(arg, id): bytes from
 * the start of an old block that its type takes: claims below are members, but for
 * one at the start that is as long: the first slot of a pool. An
 * object about whose place two claims disagreed has HI_OBJECT_CONFLICT.
 * *ret is NULL if nothing was carved. Deterministic. Once.
 */
enum hi_status hi_carving_finish(struct hi_carving *c, struct hi_layouts *layouts,
				 const struct hi_objects *old,
				 uint64_t (*extent)(void *arg, hi_node id), void *arg,
				 struct hi_objects **ret, struct hi_pools *pools_ret,
				 struct hi_carving_stats *stats_ret,
				 struct hi_error *err);

/* Sorted, disjoint ranges outside of the allocator's regions that carved
 * objects take: no roots are looked for in them. Borrowed. After finish. */
size_t hi_carving_outside(const struct hi_carving *c, const struct hi_range **ret);

/* Does a value of layout's type hold one of other's type at this offset: as a
 * member, an element, a member of those, or itself? Through unions too. Types are
 * hostile: the answer is no after so many looks. */
bool hi_layout_has_at(struct hi_layouts *layouts, const struct hi_layout *layout,
		      uint64_t offset, const struct hi_layout *other);

#endif
