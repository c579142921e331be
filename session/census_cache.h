/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Data that a series keeps from one census to the next: sets and names with their
 * numbers, and modules with their debug information, so that it is read once.
 */
#ifndef HI_SESSION_CENSUS_CACHE_H
#define HI_SESSION_CENSUS_CACHE_H

#include "attach/image_pages.h"
#include "base/interner.h"
#include "base/table.h"
#include "census/retainers/set_pool.h"
#include "decode/inference/kept_typing.h"
#include "decode/types/types.h"

struct hi_stop_site;

/* Zero-initialised is empty. */
struct hi_census_cache {
	struct hi_interner names;   /* of retainers */
	struct hi_set_pool *pool;   /* of their sets, or of roots' */
	struct hi_modules *modules; /* with their types; NULL: none, or in use */
	struct hi_types *types;
	struct hi_rulebook *rulebook;	   /* over types; NULL: none, or in use */
	struct hi_kept_typing kept_typing; /* over types and rulebook; likewise */
	struct hi_stop_site *site; /* of --at; NULL: none yet. The series closes it */
	struct hi_image_kept kept_image; /* pages of the last one; empty while in use */
	uint32_t fork_rest;		 /* of struct hi_stop_options */
	int interrupt_fd;		 /* readable: waiting there is to end; 0: none */
	int pidfd;	  /* of the target, since the series began; borrowed, 0: none */
	bool is_borrowed; /* names and pool: an inspection has them for now */
	/* By number of a name with an address: the census (samples) that had it last, and
	 * in the lower half how many objects with it there were. */
	struct hi_table serials;
	uint64_t samples; /* that were emitted: an object of a name may be gone by now */
};

/* Has a sample been emitted? Then a name on the command line that no object has now is
 * not refused: the object may be gone. */
static inline bool hi_census_cache_has_samples(const struct hi_census_cache *cache)
{
	return cache && cache->samples;
}

/* Is this a census of a series? */
static inline bool hi_census_cache_is_series(const struct hi_census_cache *cache)
{
	return cache != NULL;
}

/* Frees types and modules with all that borrows them. */
void hi_census_cache_free_modules(struct hi_census_cache *cache);
/* Makes the pool unless there is one. HI_NO_MEMORY. */
enum hi_status hi_census_cache_make_pool(struct hi_census_cache *cache,
					 struct hi_error *err);
/* Frees all that the cache owns, but for the site, and empties it. */
void hi_census_cache_free(struct hi_census_cache *cache);

#endif
