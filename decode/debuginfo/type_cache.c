/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/debuginfo/types_internal.h"

bool hi_type_cache_load(struct hi_type_module *module)
{
	(void)module;
	return false;
}

void hi_type_cache_store(const struct hi_type_module *module)
{
	(void)module;
}
