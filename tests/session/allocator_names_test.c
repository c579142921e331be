/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports know no allocator; what they say is known is what decode/ can walk. */
#include <string.h>

#include "decode/allocator.h"
#include "report/parts/decoded_share.h"
#include "tests/harness.h"

HI_TEST(allocator_names, message_names_each_allocator_of_the_registry)
{
	HI_ASSERT(hi_allocators[0]);
	for (size_t i = 0; hi_allocators[i]; i++)
		HI_ASSERT_MSG(strstr(hi_heap_no_allocator_text, hi_allocators[i]->name),
			      "%s is not named", hi_allocators[i]->name);
}
