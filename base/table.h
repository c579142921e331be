/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table from a 64-bit key (an address, an offset, an id) to a 64-bit value.
 * Zero-initialised is empty. Open addressing, 16 bytes per slot, at most three quarters
 * full. Not thread-safe. Key UINT64_MAX cannot be stored.
 */
#ifndef HI_BASE_TABLE_H
#define HI_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hi_table_slot {
	uint64_t key, value;
};

struct hi_table {
	struct hi_table_slot *slots;
	size_t capacity; /* 0 or a power of two */
	size_t count;
};

/* Looks up key. False (and *value_ret untouched): it is not there. */
bool hi_table_get(const struct hi_table *table, uint64_t key, uint64_t *value_ret);
/* Adds or replaces; false (and unchanged) when out of memory. A key that is there is
 * replaced without memory. */
bool hi_table_put(struct hi_table *table, uint64_t key, uint64_t value);
/* The key will be looked up, or put, in a while: fetches its slot into the cache. */
void hi_table_expect(const struct hi_table *table, uint64_t key);
/* Frees the slots; the table is empty again. */
void hi_table_free(struct hi_table *table);

#endif
