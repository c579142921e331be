/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/interner.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/table.h"

struct hi_interner_index {
	struct hi_table numbers;
};

/* Returns the key of the name in the table, or the key that it would get: names with the
 * same hash have consecutive keys. */
static uint64_t find_interned_key(const struct hi_interner *interner, const char *name,
				  uint64_t *number_ret)
{
	static const struct hi_interner_index empty;
	const struct hi_interner_index *index =
		interner->index ? interner->index : &empty;
	uint64_t key = hi_hash_name(name);

	for (;; key++) {
		if (key == UINT64_MAX) /* the one that cannot be stored */
			key = 0;
		*number_ret = 0;
		if (!hi_table_get(&index->numbers, key, number_ret) ||
		    strcmp(interner->names.items[*number_ret - 1], name) == 0)
			return key;
	}
}

uint32_t hi_interner_add(struct hi_interner *interner, const char *name)
{
	uint64_t number, key = find_interned_key(interner, name, &number);
	const char *copy;

	if (number)
		return (uint32_t)number;
	if (!interner->index)
		interner->index = hi_calloc(1, sizeof(*interner->index));
	copy = interner->index ? hi_arena_strdup(&interner->arena, name) : NULL;
	if (!copy || interner->names.count >= UINT32_MAX - 1 ||
	    !hi_vector_push(&interner->names, copy))
		return 0;
	if (!hi_table_put(&interner->index->numbers, key, interner->names.count)) {
		interner->names.count--;
		return 0;
	}
	return (uint32_t)interner->names.count;
}

uint32_t hi_interner_find(const struct hi_interner *interner, const char *name)
{
	uint64_t number;

	find_interned_key(interner, name, &number);
	return (uint32_t)number;
}

const char *hi_interner_name(const struct hi_interner *interner, uint32_t number)
{
	return number && number <= interner->names.count
		       ? interner->names.items[number - 1]
		       : "";
}

const char *hi_interner_name_of(void *interner, uint32_t number)
{
	return hi_interner_name(interner, number);
}

void hi_interner_free(struct hi_interner *interner)
{
	hi_vector_free(&interner->names);
	if (interner->index)
		hi_table_free(&interner->index->numbers);
	free(interner->index);
	hi_arena_free(&interner->arena);
}
