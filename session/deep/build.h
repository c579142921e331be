/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The deep profile of a recording.
 *
 * A stack begins at the function that the allocation counts for (birth_groups.h: the
 * innermost one that does not only allocate for its caller) and ends at the outermost
 * one. Inlined functions are functions of their own. A call site is a line of a function
 * with the offset of the call in its module. Stacks whose outer frames are missing begin
 * with a function of their own, and so do allocations without a stack.
 *
 * Bytes are those that were requested, of what was allocated and of what is live or
 * leaked. Retained bytes are what would be freed with an object, as the allocator counts
 * it: they count for the object only that no other recorded one retains.
 */
#ifndef HI_SESSION_DEEP_BUILD_H
#define HI_SESSION_DEEP_BUILD_H

#include "census/deep/deep_profile.h"
#include "session/inspection.h"

/* Makes the profile of an inspection with dominators. *ret: hi_deep_profile_free().
 * HI_NOT_FOUND: it has no recording. HI_NO_MEMORY, HI_LIMIT. */
enum hi_status hi_deep_build(struct hi_inspection *in, struct hi_deep_profile *ret,
			     struct hi_error *err);

#endif
