/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/census_cache.h"

#include "attach/sleepers.h"

enum hi_status hi_keep_pool(struct hi_keep *keep, struct hi_error *err)
{
	return keep->pool ? HI_OK : hi_set_pool_create(&keep->pool, err);
}

void hi_keep_free(struct hi_keep *keep)
{
	hi_types_close(keep->types);
	hi_modules_close(keep->modules);
	hi_set_pool_destroy(keep->pool);
	hi_interner_free(&keep->names);
	hi_stop_place_close(keep->place);
	hi_sleepers_destroy(keep->sleepers);
	*keep = (struct hi_keep){};
}
