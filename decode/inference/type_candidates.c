/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/inference/type_candidates.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/alloc.h"

void hi_type_candidates_init(struct hi_type_candidates *set)
{
	*set = (struct hi_type_candidates){};
	for (unsigned i = 0; i < HI_TYPE_CANDIDATE_SHARDS; i++)
		pthread_mutex_init(&set->shards[i].lock, NULL);
}

void hi_type_candidates_deinit(struct hi_type_candidates *set)
{
	for (unsigned i = 0; i < HI_TYPE_CANDIDATE_SHARDS; i++) {
		free(set->shards[i].keys);
		pthread_mutex_destroy(&set->shards[i].lock);
	}
}

static uint64_t hash_object_layout(uint64_t key)
{
	key *= 0x9e3779b97f4a7c15ull;
	return key ^ key >> 32;
}

static uint64_t *type_slot_of(uint64_t *keys, uint32_t size, uint64_t key)
{
	return &keys[hi_probe(i, size, hash_object_layout(key) / HI_TYPE_CANDIDATE_SHARDS,
			      !keys[i] || keys[i] == key)];
}

static bool grow_type_shard(struct hi_type_candidate_shard *shard)
{
	uint32_t size = shard->size ? shard->size * 2 : 64;
	uint64_t *keys = size > shard->size ? hi_calloc(size, sizeof(*keys)) : NULL;

	if (!keys)
		return false;
	for (uint32_t i = 0; i < shard->size; i++)
		if (shard->keys[i])
			*type_slot_of(keys, size, shard->keys[i]) = shard->keys[i];
	free(shard->keys);
	shard->keys = keys;
	shard->size = size;
	return true;
}

static bool add_object_layout(struct hi_type_candidates *set, uint32_t object,
			      uint32_t layout)
{
	uint64_t key = (uint64_t)object << 32 | layout, *slot;
	struct hi_type_candidate_shard *shard =
		&set->shards[hash_object_layout(key) % HI_TYPE_CANDIDATE_SHARDS];
	bool added = false;

	pthread_mutex_lock(&shard->lock);
	if (shard->used * 2 >= shard->size && !grow_type_shard(shard)) {
		atomic_store(&set->no_memory, true);
	} else {
		slot = type_slot_of(shard->keys, shard->size, key);
		added = *slot == 0;
		*slot = key;
		shard->used += added;
	}
	pthread_mutex_unlock(&shard->lock);
	return added;
}

bool hi_type_candidates_add(struct hi_type_candidates *set, uint32_t object,
			    uint32_t layout)
{
	bool added = add_object_layout(set, object, layout);

	if (added)
		atomic_fetch_add(&set->count, 1);
	return added;
}

bool hi_type_candidates_has(const struct hi_type_candidates *set, uint32_t object,
			    uint32_t layout)
{
	uint64_t key = (uint64_t)object << 32 | layout;
	const struct hi_type_candidate_shard *shard =
		&set->shards[hash_object_layout(key) % HI_TYPE_CANDIDATE_SHARDS];

	return shard->size && *type_slot_of(shard->keys, shard->size, key) == key;
}

void hi_type_candidates_add_first(struct hi_type_candidates *set, uint32_t object,
				  uint32_t layout)
{
	(void)add_object_layout(set, object, layout);
}
