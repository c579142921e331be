/* SPDX-License-Identifier: BSD-2-Clause */
/* Several allocators of one process, as one. */
#ifndef HI_ALLOCATORS_JOINED_H
#define HI_ALLOCATORS_JOINED_H

#include "decode/allocator.h"

/*
 * Takes the allocators of list; *ret has all of their regions, and its name, version and
 * module are theirs, in the order of the list. One whose regions overlap those of one
 * before it is refused. HI_NO_MEMORY.
 */
enum hi_status hi_allocator_join(struct hi_allocator_list *list,
				 struct hi_allocator **ret, struct hi_error *err);
/* After a walk of a joined allocator: its counters are the sums of its parts'. Nothing
 * for another one. */
void hi_allocator_sum_parts(struct hi_allocator *allocator);

#endif
