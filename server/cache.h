/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers by address. When they are too many bytes, those go that were asked for the
 * longest time ago. */
#ifndef HI_SERVER_CACHE_H
#define HI_SERVER_CACHE_H

#include "server/answer.h"

enum { HI_CACHE_BUCKETS = 1024 };

struct hi_cached;
struct hi_cache {
	size_t most; /* bytes, of answers and addresses */
	size_t size, count;
	struct hi_cached *buckets[HI_CACHE_BUCKETS];
	struct hi_cached *newest, *oldest;
};

/* NULL: it is not there. The answer stays the cache's: keep it. */
struct hi_answer *hi_cache_get(struct hi_cache *cache, const char *address);
/* Keeps the answer; one of the address that is there is replaced. An answer that is
 * larger than the cache, or does not fit into memory, is not kept. */
void hi_cache_put(struct hi_cache *cache, const char *address, struct hi_answer *answer);
/* Releases all. */
void hi_cache_clear(struct hi_cache *cache);

#endif
