/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/vector.h"

#include "base/alloc.h"

bool hi_vector_grow(void **items, size_t *capacity, size_t need, size_t item_size)
{
	size_t wanted = *capacity ? *capacity + *capacity / 2 : 16;
	void *grown;

	if (wanted < need)
		wanted = need;
	grown = hi_realloc_array(*items, wanted, item_size);
	if (!grown)
		return false;
	*items = grown;
	*capacity = wanted;
	return true;
}
