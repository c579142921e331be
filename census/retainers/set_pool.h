/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets of identities: 32-bit numbers that the caller defines (retainers, named roots).
 * One pool serves all censuses of a series: a set that was once in a result has a number
 * and keeps it, and a number never gets a second meaning. Not thread-safe.
 *
 * The number of a new set depends on what the censuses counted, never on the order of
 * roots, edges or threads (set_table_internal.h).
 */
#ifndef HI_CENSUS_RETAINERS_SET_POOL_H
#define HI_CENSUS_RETAINERS_SET_POOL_H

#include "base/cleanup.h"
#include "base/error.h"

enum {
	HI_SET_NONE = 0,  /* no set */
	HI_SET_MANY = 1,  /* more members than the caller's limit */
	HI_SET_FIRST = 2, /* all other numbers, up to hi_set_pool_end() - 1 */
};

struct hi_set_pool;
/* Makes a pool that has only HI_SET_NONE and HI_SET_MANY. *ret: hi_set_pool_destroy().
 * HI_NO_MEMORY. */
enum hi_status hi_set_pool_create(struct hi_set_pool **ret, struct hi_error *err);
/* Frees the pool with its sets; NULL is fine. */
void hi_set_pool_destroy(struct hi_set_pool *pool);
HI_DEFINE_GUARD(struct hi_set_pool *, hi_set_pool_destroy)
/* Returns one past the largest number of a set. */
uint32_t hi_set_pool_end(const struct hi_set_pool *pool);
/* Returns the memory of the pool in bytes. */
size_t hi_set_pool_bytes(const struct hi_set_pool *pool);

/* Returns the number of members; 0 for HI_SET_NONE, HI_SET_MANY and numbers that are
 * not in use. */
uint32_t hi_set_size(const struct hi_set_pool *pool, uint32_t set);
/* Fills ret with the members in increasing order. ret has room for hi_set_size(). */
void hi_set_members(const struct hi_set_pool *pool, uint32_t set, uint32_t *ret);
/* Returns whether the set has the identity; false for HI_SET_MANY, whose members are
 * not known. */
bool hi_set_has(const struct hi_set_pool *pool, uint32_t set, uint32_t identity);
/* Returns the number of the set with exactly these members, in any order; HI_SET_NONE:
 * no such set has a number. */
uint32_t hi_set_find(const struct hi_set_pool *pool, const uint32_t *identities,
		     size_t n);

/*
 * Joins the names of n members in the given order: "hsc-eps-fc" with "-" as join. Names
 * are copied as they are. Cut to out_size bytes with the final NUL, unless that is 0.
 * Returns the length of the whole label, as snprintf does.
 */
typedef const char *hi_set_name_fn(void *arg, uint32_t identity);
size_t hi_set_label(const uint32_t *members, size_t n, const char *join,
		    hi_set_name_fn *name, void *arg, char *out, size_t out_size);

#endif
