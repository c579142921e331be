/* SPDX-License-Identifier: BSD-2-Clause */
/* Bit sets: an array of 64-bit words with one bit per index. The caller owns the array
 * and keeps indices below the number of bits that it has room for. */
#ifndef HI_BASE_BITS_H
#define HI_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the size in bytes of a set of n bits. */
static inline size_t hi_bits_size(uint32_t n)
{
	return ((size_t)n + 63) / 64 * sizeof(uint64_t);
}
/* Returns bit i; i is below the size of the set in bits. */
static inline bool hi_bit(const uint64_t *bits, uint32_t i)
{
	return bits[i >> 6] >> (i & 63) & 1;
}
/* Sets bit i, as above; not atomic. */
static inline void hi_bit_set(uint64_t *bits, uint32_t i)
{
	bits[i >> 6] |= 1ull << (i & 63);
}
/* Sets the bit. Returns whether it was clear before. */
static inline __attribute__((always_inline)) bool hi_bit_take(uint64_t *bits, uint32_t i)
{
	uint64_t mask = 1ull << (i & 63), word = bits[i >> 6];

	if (word & mask)
		return false;
	bits[i >> 6] = word | mask;
	return true;
}

#endif
