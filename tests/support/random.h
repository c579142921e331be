/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers drawn for a test: the same ones from the same state. Any state will do. */
#ifndef HI_TESTS_SUPPORT_RANDOM_H
#define HI_TESTS_SUPPORT_RANDOM_H

#include <stdint.h>

/* splitmix64, https://prng.di.unimi.it/splitmix64.c */
static inline uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* Draws from 0 up to n - 1, as unsigned or in the wider type of n. */
#define random_below(state, n) ((typeof((n) + 0u))(next_random(state) % (uint64_t)(n)))

#endif
