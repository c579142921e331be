/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

struct hi_cached {
	struct hi_cached *next; /* in the bucket */
	struct hi_cached *newer, *older;
	struct hi_answer *answer;
	size_t size;
	char address[];
};

static struct hi_cached **find_bucket(struct hi_cache *cache, const char *address)
{
	return &cache->buckets[hi_hash_name(address) % HI_CACHE_BUCKETS];
}

/* Returns the place of the pointer to it; *that is NULL if there is none. */
static struct hi_cached **find_cached(struct hi_cache *cache, const char *address)
{
	struct hi_cached **at = find_bucket(cache, address);

	while (*at && strcmp((*at)->address, address) != 0)
		at = &(*at)->next;
	return at;
}

static void unlink_by_age(struct hi_cache *cache, struct hi_cached *c)
{
	*(c->newer ? &c->newer->older : &cache->newest) = c->older;
	*(c->older ? &c->older->newer : &cache->oldest) = c->newer;
}

static void link_as_newest(struct hi_cache *cache, struct hi_cached *c)
{
	c->newer = NULL;
	c->older = cache->newest;
	*(c->older ? &c->older->newer : &cache->oldest) = c;
	cache->newest = c;
}

static void remove_cached(struct hi_cache *cache, struct hi_cached **at)
{
	struct hi_cached *c = *at;

	*at = c->next;
	unlink_by_age(cache, c);
	cache->size -= c->size;
	cache->count--;
	hi_answer_release(c->answer);
	free(c);
}

struct hi_answer *hi_cache_get(struct hi_cache *cache, const char *address)
{
	struct hi_cached *c = *find_cached(cache, address);

	if (!c)
		return NULL;
	unlink_by_age(cache, c);
	link_as_newest(cache, c);
	return c->answer;
}

void hi_cache_put(struct hi_cache *cache, const char *address, struct hi_answer *answer)
{
	size_t n = strlen(address) + 1,
	       size = sizeof(struct hi_cached) + n + answer->size;
	struct hi_cached **at = find_cached(cache, address), *c;

	if (*at)
		remove_cached(cache, at);
	c = size <= cache->most ? hi_calloc(1, sizeof(*c) + n) : NULL;
	if (!c)
		return;
	while (cache->oldest && cache->size + size > cache->most)
		remove_cached(cache, find_cached(cache, cache->oldest->address));
	memcpy(c->address, address, n);
	c->answer = hi_answer_keep(answer);
	c->size = size;
	at = find_bucket(cache, address);
	c->next = *at;
	*at = c;
	link_as_newest(cache, c);
	cache->size += size;
	cache->count++;
}

void hi_cache_clear(struct hi_cache *cache)
{
	while (cache->oldest)
		remove_cached(cache, find_cached(cache, cache->oldest->address));
}
