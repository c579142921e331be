/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash of 128 bits over an object's bytes, that sees zeros on the way. Bytes are
 * taken in pieces from the beginning; pieces of zeros count by their absence, so
 * that memory that was never touched costs nothing.
 */
#ifndef HI_DECODE_USAGE_CONTENTS_DIGEST_H
#define HI_DECODE_USAGE_CONTENTS_DIGEST_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { HI_DIGEST_PIECE = 1 << 16 };

struct hi_digest {
	uint64_t a, b;
	bool nonzero;
};

/* Mixes two words: the halves of their product. */
static inline uint64_t hi_digest_mix(uint64_t x, uint64_t y)
{
	unsigned __int128 product = (unsigned __int128)x * y;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Fractions of square roots, odd and with no pattern. */
#define HI_DIGEST_K0 0x6a09e667f3bcc909ull
#define HI_DIGEST_K1 0xbb67ae8584caa73bull
#define HI_DIGEST_K2 0x3c6ef372fe94f82bull

/* Adds 16 bytes. */
static inline void hi_digest_words(struct hi_digest *d, uint64_t x, uint64_t y)
{
	uint64_t a = d->a, b = d->b;

	d->a = hi_digest_mix(x ^ HI_DIGEST_K0, y ^ a) + b;
	d->b = hi_digest_mix(y ^ HI_DIGEST_K1, x ^ b) ^ a;
}

/* Begins the digest of an object of `size` bytes. kind: any number, which goes into the
 * digest; objects of different kinds do not compare equal. */
static inline struct hi_digest hi_digest_begin(uint64_t kind, uint64_t size)
{
	struct hi_digest d = {.a = kind ^ HI_DIGEST_K1, .b = size ^ HI_DIGEST_K2};

	hi_digest_words(&d, size, kind);
	return d;
}

/* At most HI_DIGEST_PIECE bytes: piece number `index` of the object. */
static inline void hi_digest_piece(struct hi_digest *d, uint64_t index,
				   const uint8_t *bytes, uint64_t size)
{
	struct hi_digest piece = {.a = index ^ HI_DIGEST_K2, .b = d->b};
	uint64_t word[2], any = 0;

	for (; size >= 16; bytes += 16, size -= 16) {
		memcpy(word, bytes, 16);
		any |= word[0] | word[1];
		hi_digest_words(&piece, word[0], word[1]);
	}
	if (size) {
		memset(word, 0, sizeof(word));
		memcpy(word, bytes, size);
		any |= word[0] | word[1];
		hi_digest_words(&piece, word[0], word[1]);
	}
	if (!any)
		return;
	hi_digest_words(d, piece.a, piece.b);
	d->nonzero = true;
}

/* Ends the digest: a and b are its 128 bits. */
static inline void hi_digest_end(struct hi_digest *d)
{
	hi_digest_words(d, d->b, HI_DIGEST_K0);
	hi_digest_words(d, HI_DIGEST_K1, d->a);
}

#endif
