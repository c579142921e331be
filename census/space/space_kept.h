/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A space profile as a file keeps it: all that hi_space_result() needs. Objects are added
 * up by context, type and age, so that it does not grow with their number.
 */
#ifndef HI_CENSUS_SPACE_SPACE_KEPT_H
#define HI_CENSUS_SPACE_SPACE_KEPT_H

#include "census/space/space.h"

/* Amounts of a context and type that ended at just this age, and that are live and have
 * just this age at the last census. */
struct hi_space_kept_step {
	uint32_t context, type, age, unused;
	struct hi_space_amount ended, live;
};
/* Amounts that no census has seen. */
struct hi_space_kept_unseen {
	uint32_t context, unused;
	struct hi_space_amount amount;
};
struct hi_space_kept {
	const struct hi_space_kept_step *steps;
	size_t n_steps;
	const struct hi_space_kept_unseen *unseen;
	size_t n_unseen;
	const struct hi_space_period *periods;
	size_t n_periods;
	/* By period; none where kinds of contexts were not told. */
	const struct hi_space_kind_period *kinds;
	size_t n_kinds;
};

struct hi_arena;
/* Fills *ret out of the arena; periods are those of the space. HI_NO_MEMORY. */
enum hi_status hi_space_keep(const struct hi_space *space, struct hi_arena *arena,
			     struct hi_space_kept *ret, struct hi_error *err);
/* Adds up what is kept by parts of contexts: context_of has the context of each. *ret is
 * of the arena, its periods are those of the parts. HI_NO_MEMORY. */
enum hi_status hi_space_kept_by_context(const struct hi_space_kept *parts,
					const uint32_t *context_of,
					struct hi_arena *arena, struct hi_space_kept *ret,
					struct hi_error *err);
/* A space whose results are those of the one that was kept; it takes no more censuses.
 * Ages are 1 to n_periods. *ret: hi_space_destroy(). HI_NO_MEMORY. */
enum hi_status hi_space_restore(const struct hi_space_kept *kept, struct hi_space **ret,
				struct hi_error *err);

#endif
