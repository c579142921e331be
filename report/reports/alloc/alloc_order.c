/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/alloc/alloc_order.h"

#include <string.h>

bool hi_alloc_order_parse(const char *word, enum hi_alloc_order *ret)
{
	static const char *const words[] = {
		[HI_ALLOC_BY_WEIGHT] = "weight",     [HI_ALLOC_BY_ALLOC] = "alloc",
		[HI_ALLOC_BY_SURVIVED] = "survived", [HI_ALLOC_BY_LIVE] = "live",
		[HI_ALLOC_BY_NAME] = "name",
	};

	for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(word, words[i]) == 0) {
			*ret = (enum hi_alloc_order)i;
			return true;
		}
	return false;
}
