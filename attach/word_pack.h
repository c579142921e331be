/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compresses memory of programs about as fast as it can be copied: words of 8 bytes are zero,
 * or were there before, or differ from one before in the lower 16 bits only (addresses,
 * sizes). Heaps take a third of their size or less. Internal to attach/.
 */
#ifndef HI_ATTACH_WORD_PACK_H
#define HI_ATTACH_WORD_PACK_H

#include <stdbool.h>
#include <stddef.h>

enum {
	HI_WORD_PACK_MOST = 32 << 10, /* bytes that are packed at once */
	/* Bytes that the result takes at most, of any contents. */
	HI_WORD_PACK_ROOM = HI_WORD_PACK_MOST + HI_WORD_PACK_MOST / 32 + 8,
};

/* Packs size bytes, a multiple of 32, at most HI_WORD_PACK_MOST. `to` has
 * HI_WORD_PACK_ROOM. Returns how many bytes it took. */
size_t hi_word_pack(const void *from, size_t size, unsigned char *to);
/* Unpacks n bytes of hi_word_pack() to `size` again. False: they are not of it. */
bool hi_word_unpack(const unsigned char *from, size_t n, void *to, size_t size);

#endif
