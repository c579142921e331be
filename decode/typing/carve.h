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
 * silently; else the better opinion (hi_plan_compare; then the lower address)
 * wins and the conflict is counted. Then the table of objects is made again:
 * a block with carved objects becomes a pool: its carved objects, and what is
 * left between them, its rest. Gaps under HI_CARVE_GAP bytes belong to the piece
 * before them. In the graph every carved object refers to the first piece of
 * the rest, and that one to the others: a pool lives as long as anything in it.
 * In memory without blocks there is no rest: it stays what it was, untyped words.
 */
#ifndef HI_TYPING_CARVE_H
#define HI_TYPING_CARVE_H

#include "decode/allocator.h"
#include "decode/typing/plan.h"

enum { HI_CARVE_MIN_POOL = 512 }; /* usable bytes; HI_CARVE_GAP: census/objects.h */

struct hi_carving;

struct hi_carving_stats {
	uint64_t claims, carved, carved_bytes, conflicts, pools, rest_bytes;
	uint64_t outside; /* carved in memory that no allocator walks */
};

/* Borrows all. allocator may be NULL. */
enum hi_status hi_carving_create(const struct hi_image *image,
				 const struct hi_allocator *allocator,
				 const struct hi_objects *objects,
				 struct hi_carving **ret, struct hi_error *err);
void hi_carving_destroy(struct hi_carving *c);

/* Memory without blocks where objects may be: private writable anonymous
 * mappings (and [heap]) that are no stack, no thread's static data and no region of
 * the allocator. The range that addr is in; false: none. No locks. */
bool hi_carving_range(const struct hi_carving *c, uint64_t addr, uint64_t *start_ret,
		      uint64_t *end_ret);
/* True: nobody has said that there is this plan at addr yet (follow it). size:
 * bytes of the object, >= 8, addr is 8-aligned. key: as in the type column
 * (plan, array, evidence; typing_internal.h). Thread-safe. False also when out of memory
 * or at a limit: hi_carving_failed(). */
bool hi_carving_add(struct hi_carving *c, uint64_t addr, uint64_t size, uint32_t key);
bool hi_carving_failed(const struct hi_carving *c);
size_t hi_carving_count(const struct hi_carving *c); /* claims */

/*
 * Resolves, and makes the new table out of `old` and its type column: blocks
 * keep their keys, also the piece of the rest that starts where the block did
 * (the other pieces get 0). extent(arg, id): bytes from the start of an old
 * block that its own type takes: carved objects below are dropped (they are
 * members). *ret is NULL if nothing was carved. Deterministic.
 */
enum hi_status hi_carving_finish(struct hi_carving *c, struct hi_plans *plans,
				 const struct hi_objects *old,
				 uint64_t (*extent)(void *arg, hi_node id), void *arg,
				 struct hi_objects **ret, struct hi_pools *pools_ret,
				 struct hi_carving_stats *stats_ret,
				 struct hi_error *err);

/* Sorted, disjoint ranges outside of the allocator's regions that carved
 * objects take: no roots are looked for in them. Borrowed. After finish. */
size_t hi_carving_outside(const struct hi_carving *c, const struct hi_range **ret);

#endif
