/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of live allocations, by address.
 *
 * Note [Index and records]
 *
 * A record has 32 bytes. Records are in chunks that never move, and those of freed
 * allocations are in a list and used again first. The index is open addressing over slots
 * of 8 bytes: the number of a record and 32 bits of the hash of its address, so that a
 * search reads few records that it does not want, and a removal, which moves later slots
 * backward, and a growth read none at all. The index is at most three quarters full and
 * doubles: 11 to 21 bytes an allocation. While it doubles there are both, which is still
 * less than a table of whole records would take.
 */
#ifndef HI_CENSUS_EVENTS_LIVE_TABLE_INTERNAL_H
#define HI_CENSUS_EVENTS_LIVE_TABLE_INTERNAL_H

#include "base/vector.h"
#include "census/events/live.h"

enum { HI_LIVE_SHIFT = 16, HI_LIVE_CHUNK = 1 << HI_LIVE_SHIFT };

struct hi_live_slot {
	uint32_t record; /* number + 1; 0: empty */
	uint32_t hash;
};

struct hi_live_table {
	struct hi_live_slot *slots; /* hi_pages_alloc */
	uint64_t n_slots;	    /* 0 or a power of two */
	uint64_t count;
	struct HI_VECTOR(struct hi_live_allocation *) chunks;
	uint32_t n_records;  /* that were ever used */
	uint32_t first_free; /* number + 1; 0: none. Its addr is the next one */
};

/* The record of an address, NULL if it has none; valid until it is removed. */
struct hi_live_allocation *hi_live_find(const struct hi_live_table *table, uint64_t addr);
/* Adds one whose address the table does not have. False: no memory, and unchanged. */
bool hi_live_add(struct hi_live_table *table, const struct hi_live_allocation *live);
/* Removes the record of an address. False: there is none. */
bool hi_live_remove(struct hi_live_table *table, uint64_t addr,
		    struct hi_live_allocation *ret);
/* From slot *at on. */
bool hi_live_next(const struct hi_live_table *table, uint64_t *at,
		  struct hi_live_allocation *ret);
uint64_t hi_live_size(const struct hi_live_table *table);
bool hi_live_is_valid(const struct hi_live_table *table);
void hi_live_free(struct hi_live_table *table);

#endif
