/* SPDX-License-Identifier: BSD-2-Clause */
/* State that following (space.c) and adding up (space_amounts.c) share. */
#ifndef HI_CENSUS_SPACE_SPACE_INTERNAL_H
#define HI_CENSUS_SPACE_SPACE_INTERNAL_H

#include "base/table.h"
#include "base/vector.h"
#include "census/space/space.h"

/* By age, ascending; `all` is what has ended at just this age. */
struct hi_space_steps HI_VECTOR(struct hi_space_step);
/* The step of an age, which is made if there is none. NULL: out of memory. */
struct hi_space_step *hi_space_need_step(struct hi_space_steps *steps, uint32_t age);

/* Amounts of one context and type. */
struct hi_space_group {
	uint32_t context, type;
	struct hi_space_steps ended;
};

struct hi_space_context {
	struct hi_space_amount born, seen; /* in the open period; seen as assumed */
	struct hi_space_amount unseen;	   /* before it: no census has seen them */
};

struct hi_space {
	uint32_t periods;
	struct HI_VECTOR(struct hi_space_context) contexts;
	struct HI_VECTOR(struct hi_space_group) groups;
	struct hi_table group_of; /* context and type -> index of groups */
	/* Objects of the last census, and of the one that is taken; sorted by address. */
	struct hi_space_objects HI_VECTOR(struct hi_space_object) before, now;
	struct HI_VECTOR(struct hi_space_period) history;
	/* The same by kind of context; none without kind_of. */
	hi_space_kind_fn *kind_of;
	const void *kind_arg;
	struct HI_VECTOR(struct hi_space_kind_period) kinds;
	struct hi_table kind_row; /* period and kind -> index of kinds */
};

/* The age at the last census. */
static inline uint32_t hi_space_age(const struct hi_space *s,
				    const struct hi_space_object *o)
{
	return s->periods - o->born + 1;
}

#endif
