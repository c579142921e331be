/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The result of retainers.h and bins.h: a set for each object, and what the objects of
 * each set cost.
 */
#ifndef HI_CENSUS_RETAINERS_SET_TABLE_H
#define HI_CENSUS_RETAINERS_SET_TABLE_H

#include "census/analysis/analysis.h"
#include "census/retainers/set_pool.h"

struct hi_set_row {
	uint32_t set;  /* HI_SET_MANY, or a number of the pool */
	uint32_t size; /* its members; 0 for HI_SET_MANY */
	uint64_t objects;
	uint64_t cost;	     /* bytes that the allocator consumed */
	uint64_t cost_pure;  /* bytes that the program requested (hi_pure_fn) */
	uint64_t exact_cost; /* of cost: precise edges lead there from a root */
	uint64_t leak_cost;  /* of cost: no root holds it (hi_reach) */
};

/* For qsort: by cost, the largest first, then by set. */
static inline int hi_set_row_compare(const void *a, const void *b)
{
	const struct hi_set_row *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost > y->cost ? -1 : 1;
	return x->set < y->set ? -1 : x->set > y->set;
}

/* The allocator's own blocks (HI_OBJECT_INTERNAL) pass sets on, but have no set here
 * and are in no row. */
struct hi_set_table {
	uint32_t *set; /* per object: a number of the pool, HI_SET_MANY or HI_SET_NONE */
	hi_node n_objects;
	struct hi_set_row *rows; /* sets that an object has; by cost, the largest first;
				  * then by size, then in an order of their members */
	size_t n_rows;
	uint64_t objects, cost, cost_pure; /* totals of the rows */
};

/* Returns the bytes that the program requested for this object. A NULL callback means:
 * its usable bytes. */
typedef uint64_t hi_pure_fn(void *arg, hi_node object);

/* Which sets are chosen: those with one of the given members, with all of them (and
 * maybe others), or with no other ones. HI_SET_MANY is in none of them, because its
 * members are not known. */
enum hi_set_choice { HI_SETS_ANY, HI_SETS_ALL, HI_SETS_ONLY };
struct hi_set_total {
	uint64_t objects, cost, cost_pure;
};
/* Adds up the rows that are chosen. *many_ret (may be NULL) gets the total of
 * HI_SET_MANY. HI_NO_MEMORY. */
enum hi_status hi_set_table_total(const struct hi_set_table *table,
				  const struct hi_set_pool *pool,
				  enum hi_set_choice choice, const uint32_t *identities,
				  size_t n, struct hi_set_total *ret,
				  struct hi_set_total *many_ret, struct hi_error *err);
/* Sets the bits of the objects whose sets are chosen, as a restriction for other
 * analyses. HI_NO_MEMORY. */
enum hi_status hi_set_table_mark(const struct hi_set_table *table,
				 const struct hi_set_pool *pool,
				 enum hi_set_choice choice, const uint32_t *identities,
				 size_t n, uint64_t *bits, struct hi_error *err);
void hi_set_table_free(struct hi_set_table *table);

#endif
