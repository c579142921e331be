/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/identities.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/table.h"

struct hi_identity_index {
	struct hi_table numbers;
};

/* Where the name is in the table, or would be: names of one hash are next to each
 * other. */
static uint64_t key_of(const struct hi_identities *ids, const char *name,
		       uint64_t *number_ret)
{
	static const struct hi_identity_index empty;
	const struct hi_identity_index *index = ids->index ? ids->index : &empty;
	uint64_t key = hi_hash_name(name);

	for (;; key++) {
		if (key == UINT64_MAX) /* the one that cannot be stored */
			key = 0;
		*number_ret = 0;
		if (!hi_table_get(&index->numbers, key, number_ret) ||
		    strcmp(ids->names.items[*number_ret - 1], name) == 0)
			return key;
	}
}

uint32_t hi_identities_add(struct hi_identities *ids, const char *name)
{
	uint64_t number, key = key_of(ids, name, &number);
	const char *copy;

	if (number)
		return (uint32_t)number;
	if (!ids->index)
		ids->index = hi_calloc(1, sizeof(*ids->index));
	copy = ids->index ? hi_arena_strdup(&ids->arena, name) : NULL;
	if (!copy || ids->names.count >= UINT32_MAX - 1 ||
	    !hi_vector_push(&ids->names, copy))
		return 0;
	if (!hi_table_put(&ids->index->numbers, key, ids->names.count)) {
		ids->names.count--;
		return 0;
	}
	return (uint32_t)ids->names.count;
}

uint32_t hi_identities_find(const struct hi_identities *ids, const char *name)
{
	uint64_t number;

	key_of(ids, name, &number);
	return (uint32_t)number;
}

const char *hi_identities_name(const struct hi_identities *ids, uint32_t number)
{
	return number && number <= ids->names.count ? ids->names.items[number - 1] : "";
}

void hi_identities_free(struct hi_identities *ids)
{
	hi_vector_free(&ids->names);
	if (ids->index)
		hi_table_free(&ids->index->numbers);
	free(ids->index);
	hi_arena_free(&ids->arena);
}
