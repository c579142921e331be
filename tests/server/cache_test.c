/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"

static void clear_cache(void *cache)
{
	hi_cache_clear(cache);
	free(cache);
}

static struct hi_cache *make_cache(size_t most)
{
	struct hi_cache *cache = calloc(1, sizeof(*cache));

	HI_ASSERT(cache);
	cache->most = most;
	hi_test_defer(clear_cache, cache);
	return cache;
}

static void put_text(struct hi_cache *cache, const char *address, const char *text,
		     size_t size)
{
	struct hi_answer *answer = hi_answer_create(200, "text/plain", size);

	HI_ASSERT(answer && strlen(text) <= size);
	memcpy(answer->body, text, strlen(text));
	hi_cache_put(cache, address, answer);
	hi_answer_release(answer);
}

HI_TEST(server_cache, returns_the_stored_answer)
{
	struct hi_cache *cache = make_cache(1 << 20);

	HI_ASSERT(!hi_cache_get(cache, "a"));
	put_text(cache, "a", "first", 10);
	put_text(cache, "b", "second", 10);
	HI_ASSERT_STREQ("first", hi_cache_get(cache, "a")->body);
	HI_ASSERT_STREQ("second", hi_cache_get(cache, "b")->body);
	put_text(cache, "a", "third", 10);
	HI_ASSERT_STREQ("third", hi_cache_get(cache, "a")->body);
	HI_ASSERT_EQ(2, cache->count);
	hi_cache_clear(cache);
	HI_ASSERT(!hi_cache_get(cache, "a"));
	HI_ASSERT_EQ(0, cache->size);
	HI_ASSERT_EQ(0, cache->count);
}

HI_TEST(server_cache, forgets_what_was_asked_for_longest_ago)
{
	struct hi_cache *cache = make_cache(10000);

	put_text(cache, "a", "", 3000);
	put_text(cache, "b", "", 3000);
	put_text(cache, "c", "", 3000);
	HI_ASSERT(hi_cache_get(cache, "a"));
	put_text(cache, "d", "", 3000);
	HI_ASSERT(!hi_cache_get(cache, "b"));
	HI_ASSERT(hi_cache_get(cache, "a"));
	HI_ASSERT(hi_cache_get(cache, "c"));
	HI_ASSERT(hi_cache_get(cache, "d"));
}

HI_TEST(server_cache, does_not_keep_what_is_larger_than_itself)
{
	struct hi_cache *cache = make_cache(10000);

	put_text(cache, "a", "", 3000);
	put_text(cache, "b", "", 10000);
	HI_ASSERT(!hi_cache_get(cache, "b"));
	HI_ASSERT(hi_cache_get(cache, "a"));
	/* Nor what was there under that address. */
	put_text(cache, "a", "", 10000);
	HI_ASSERT(!hi_cache_get(cache, "a"));
}

/* Beside a list that is moved by hand. */
HI_TEST(server_cache, agrees_with_a_list)
{
	enum { SIZE = 1000, ADDRESSES = 64 };
	struct hi_cache *cache = make_cache(20 * (SIZE + 80));
	unsigned order[ADDRESSES], n = 0, seed = 1;

	for (unsigned step = 0; step < 20000; step++) {
		unsigned which, at = 0;
		char address[16];
		bool is_there;

		seed = seed * 1103515245 + 12345;
		which = seed >> 16 & (ADDRESSES - 1);
		snprintf(address, sizeof(address), "%u", which);
		while (at < n && order[at] != which)
			at++;
		is_there = hi_cache_get(cache, address) != NULL;
		HI_ASSERT_EQ(at < n && at < cache->count, is_there);
		if (!is_there)
			put_text(cache, address, address, SIZE);
		HI_ASSERT_STREQ(address, hi_cache_get(cache, address)->body);
		HI_ASSERT(cache->size <= cache->most);
		if (at == n)
			n++;
		memmove(order + 1, order, at * sizeof(*order));
		order[0] = which;
	}
	HI_ASSERT(cache->count >= 19);
}
