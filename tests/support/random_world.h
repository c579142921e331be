/* SPDX-License-Identifier: BSD-2-Clause */
/* Random heaps under random hints: typed records, pools, words that lead anywhere. */
#ifndef HI_TESTS_SUPPORT_RANDOM_WORLD_H
#define HI_TESTS_SUPPORT_RANDOM_WORLD_H

#include "support/typing_world.h"

/* A world of n blocks; *state becomes that of its random numbers. text has the hints, and
 * lasts as long as the world. */
struct world *random_world(uint64_t *state, uint64_t seed, unsigned n, char *text,
			   size_t size);
/* Something that may be a pointer: to a start, a member, the outside, or none. */
uint64_t random_world_word(const struct world *w, uint64_t *state);

#endif
