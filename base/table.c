/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/search.h"
#include "base/table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define EMPTY UINT64_MAX

static size_t hash_table_key(uint64_t key)
{
	key ^= key >> 32;
	key *= 0x9e3779b97f4a7c15ull;
	return (size_t)(key ^ key >> 29);
}

/* The slot that holds key, or the empty one where it would go. */
static struct hi_table_slot *find_table_slot(const struct hi_table *table, uint64_t key)
{
	size_t n = hi_probe(i, table->capacity, hash_table_key(key),
			    table->slots[i].key == key || table->slots[i].key == EMPTY);

	return &table->slots[n];
}

bool hi_table_get(const struct hi_table *table, uint64_t key, uint64_t *value_ret)
{
	const struct hi_table_slot *slot;

	if (!table->capacity || key == EMPTY)
		return false;
	slot = find_table_slot(table, key);
	if (slot->key == EMPTY)
		return false;
	*value_ret = slot->value;
	return true;
}

void hi_table_expect(const struct hi_table *table, uint64_t key)
{
	if (table->capacity)
		__builtin_prefetch(
			&table->slots[hash_table_key(key) & (table->capacity - 1)]);
}

static bool grow_table(struct hi_table *table)
{
	struct hi_table bigger = {.capacity = table->capacity ? table->capacity * 2 : 64};

	bigger.slots = hi_realloc_array(NULL, bigger.capacity, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	memset(bigger.slots, 0xff, bigger.capacity * sizeof(*bigger.slots));
	for (size_t i = 0; i < table->capacity; i++)
		if (table->slots[i].key != EMPTY)
			*find_table_slot(&bigger, table->slots[i].key) = table->slots[i];
	bigger.count = table->count;
	free(table->slots);
	*table = bigger;
	return true;
}

bool hi_table_put(struct hi_table *table, uint64_t key, uint64_t value)
{
	struct hi_table_slot *slot = NULL;

	assert(key != EMPTY);
	if (table->capacity)
		slot = find_table_slot(table, key);
	if (slot && slot->key == key) {
		slot->value = value;
		return true;
	}
	if (table->count >= table->capacity / 4 * 3) {
		if (!grow_table(table))
			return false;
		slot = find_table_slot(table, key);
	}
	table->count++;
	*slot = (struct hi_table_slot){key, value};
	return true;
}

void hi_table_free(struct hi_table *table)
{
	free(table->slots);
	*table = (struct hi_table){};
}
