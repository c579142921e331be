/* SPDX-License-Identifier: BSD-2-Clause */
/* Adds the blocks of an allocator to the object table. */
#ifndef HI_SESSION_LIVE_BLOCKS_H
#define HI_SESSION_LIVE_BLOCKS_H

#include "session/inspection.h"

/* Live blocks and the allocator's own, sealed; empty without an allocator.
 * Damage that the walk found becomes warnings. */
enum hi_status hi_blocks_collect(struct hi_inspection *in, struct hi_objects **ret,
				 struct hi_error *err);
/* Finds the block of any state that covers addr, by a walk over all blocks. */
enum hi_status hi_blocks_find(struct hi_inspection *in, uint64_t addr,
			      struct hi_block *ret, struct hi_error *err);

#endif
