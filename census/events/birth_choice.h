/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses objects by how they were allocated: by function, thread, age, time. */
#ifndef HI_CENSUS_EVENTS_BIRTH_CHOICE_H
#define HI_CENSUS_EVENTS_BIRTH_CHOICE_H

#include "census/events/births.h"
#include "census/events/frames.h"

struct hi_birth_range {
	bool is_set;
	uint64_t from_ns, to_ns; /* [from, to) */
};
/* All that is set must hold. Zeros choose everything. */
struct hi_birth_choice {
	/* Choices of the site, and of any function of the stack: names or shell patterns
	 * of functions (hi_frame_matches()), FILE:LINE of the source, or @ and the name
	 * of a module; several with ',' between. NULL: any. */
	const char *site, *site_any;
	struct hi_birth_range age;  /* at the end of the recording */
	struct hi_birth_range born; /* since its start */
	uint32_t thread;	    /* 0: any */
};
static inline bool hi_birth_choice_is_set(const struct hi_birth_choice *c)
{
	return c->site || c->site_any || c->age.is_set || c->born.is_set || c->thread;
}

/*
 * Sets the bits of the objects that are chosen; of objects without a record none is.
 * bits: zeros, hi_bits_size(n_objects). HI_NOT_FOUND: no function of the recording has
 * such a name, or no thread such an id; HI_NO_MEMORY.
 */
enum hi_status hi_births_choose(const struct hi_births *births,
				const struct hi_context_view *contexts,
				const struct hi_frames *frames,
				const struct hi_birth_choice *choice, uint64_t *bits,
				struct hi_error *err);

#endif
