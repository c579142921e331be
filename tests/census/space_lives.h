/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Drawn lives for the space profile, and what follows from them by the definition alone:
 * sums over all objects and all censuses, one by one.
 */
#ifndef HI_TESTS_CENSUS_SPACE_LIVES_H
#define HI_TESTS_CENSUS_SPACE_LIVES_H

#include "base/cleanup.h"
#include "census/space/space.h"
#include "tests/harness.h"

enum { SPACE_LIVES = 64, SPACE_CONTEXTS = 8, SPACE_TYPES = 4 };

/* number: blocks, that live and die together. It is live at the censuses from `born` to
 * `dies` - 1; dies 0: at all from `born` on. Its type is known
 * at the censuses from typed_from to untyped_from - 1 (0: to the last one). */
struct space_life {
	uint64_t address;
	uint32_t context, type, born, dies, typed_from, untyped_from;
	struct hi_space_amount amount;
	uint64_t assumed_overhead;
};

struct space_lives {
	struct space_life of[SPACE_LIVES];
	unsigned n, censuses;
	uint32_t site[SPACE_CONTEXTS], function[SPACE_CONTEXTS]; /* function: of site */
};

static inline struct hi_space_sites sites_of_lives(const struct space_lives *l)
{
	return (struct hi_space_sites){l->site, SPACE_CONTEXTS, l->function,
				       SPACE_CONTEXTS, NULL};
}

static inline bool life_is_live(const struct space_life *life, unsigned t)
{
	return life->born <= t && (!life->dies || t < life->dies);
}

static inline bool is_type_known(const struct space_life *life, unsigned t)
{
	return life->typed_from <= t && (!life->untyped_from || t < life->untyped_from);
}

static inline void tell_life(struct hi_space *space, const struct space_life *life,
			     unsigned t, uint64_t serial)
{
	struct hi_error err;
	struct hi_space_amount assumed = life->amount;
	struct hi_space_object o = {.address = life->address,
				    .serial = serial,
				    .context = life->context,
				    .type = is_type_known(life, t) ? life->type : 0,
				    .born = life->born,
				    .amount = life->amount,
				    .assumed_overhead = life->assumed_overhead};

	assumed.size += life->assumed_overhead - assumed.overhead;
	assumed.overhead = life->assumed_overhead;
	if (life->born == t)
		HI_ASSERT_OK(hi_space_allocated(space, life->context, &assumed, &err),
			     &err);
	if (life_is_live(life, t))
		HI_ASSERT_OK(hi_space_see(space, &o, &err), &err);
}

/* hi_space_destroy(). */
static inline struct hi_space *play_space_lives(const struct space_lives *l)
{
	struct hi_space *space;
	struct hi_error err;

	HI_ASSERT_OK(hi_space_create(&space, &err), &err);
	for (unsigned t = 1; t <= l->censuses; t++) {
		for (unsigned i = 0; i < l->n; i++)
			tell_life(space, &l->of[i], t, i);
		HI_ASSERT_OK(hi_space_end_period(space, &err), &err);
	}
	HI_ASSERT_EQ(l->censuses, hi_space_periods(space));
	return space;
}

/* The row of a function and a type; NULL: there is none. */
static inline const struct hi_space_row *find_space_row(const struct hi_space_result *r,
							uint32_t function, uint32_t type)
{
	for (size_t i = 0; i < r->n_rows; i++)
		if (r->rows[i].function == function && r->rows[i].type == type)
			return &r->rows[i];
	return NULL;
}

#endif
