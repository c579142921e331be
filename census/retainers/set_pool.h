/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets of identities: 32-bit numbers whose meaning only the caller knows
 * (retainers, named roots). One pool serves all censuses of a series: a set
 * that was ever in a result has a number, and keeps it; a number never gets a
 * second meaning. Not thread-safe.
 *
 * Which number a new set gets depends on what the censuses counted, never on
 * the order of roots, edges or threads (set_rows.h).
 */
#ifndef HI_CENSUS_RETAINERS_SET_POOL_H
#define HI_CENSUS_RETAINERS_SET_POOL_H

#include "base/error.h"

enum {
	HI_SET_NONE = 0,  /* no set */
	HI_SET_MANY = 1,  /* more members than the caller wanted to know */
	HI_SET_FIRST = 2, /* all other numbers, up to hi_set_pool_end() - 1 */
};

struct hi_set_pool;
enum hi_status hi_set_pool_create(struct hi_set_pool **ret, struct hi_error *err);
void hi_set_pool_destroy(struct hi_set_pool *pool);
uint32_t hi_set_pool_end(const struct hi_set_pool *pool);
/* Memory that it takes, in bytes. */
size_t hi_set_pool_bytes(const struct hi_set_pool *pool);

/* Members of the set; 0 for HI_SET_NONE, HI_SET_MANY and numbers not given yet. */
uint32_t hi_set_size(const struct hi_set_pool *pool, uint32_t set);
/* Increasing; ret has room for hi_set_size(). */
void hi_set_members(const struct hi_set_pool *pool, uint32_t set, uint32_t *ret);
/* False for HI_SET_MANY: it may have it, nobody knows. */
bool hi_set_has(const struct hi_set_pool *pool, uint32_t set, uint32_t identity);
/* The number of the set of exactly these, in any order; HI_SET_NONE if it has none. */
uint32_t hi_set_find(const struct hi_set_pool *pool, const uint32_t *identities,
		     size_t n);

/*
 * "hsc-eps-fc": the names of the n members in the order given, `join` between
 * them. Cut to out_size, always a string when that is not 0. Returns the length of
 * the whole, as snprintf does. Names come as they are.
 */
typedef const char *hi_set_name_fn(void *arg, uint32_t identity);
size_t hi_set_label(const uint32_t *members, size_t n, const char *join,
		    hi_set_name_fn *name, void *arg, char *out, size_t out_size);

#endif
