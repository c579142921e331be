/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/census_cache.h"

#include "attach/image_kept.h"
#include "base/cleanup.h"
#include "decode/rules/rulebook.h"

enum hi_status hi_census_cache_make_pool(struct hi_census_cache *cache,
					 struct hi_error *err)
{
	return cache->pool ? HI_OK : hi_set_pool_create(&cache->pool, err);
}

void hi_census_cache_free_modules(struct hi_census_cache *cache)
{
	hi_kept_typing_free(&cache->kept_typing);
	hi_rulebook_destroy(hi_take(cache->rulebook));
	hi_types_close(hi_take(cache->types));
	hi_modules_close(hi_take(cache->modules));
}

void hi_census_cache_free(struct hi_census_cache *cache)
{
	hi_census_cache_free_modules(cache);
	hi_set_pool_destroy(cache->pool);
	hi_image_kept_free(&cache->kept_image);
	hi_interner_free(&cache->names);
	hi_table_free(&cache->serials);
	*cache = (struct hi_census_cache){};
}
