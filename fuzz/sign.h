/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes the magic bytes, the sizes and the checksums of a snapshot file hold, as whoever
 * makes up a file does. The bytes of its sections stay as it is. */
#ifndef HI_FUZZ_SIGN_H
#define HI_FUZZ_SIGN_H

#include <stddef.h>
#include <stdint.h>

void sign_snapshot(uint8_t *file, size_t size);

/* Copies an input into a file in memory, signed by `sign`. Returns its path, until the
 * next call; NULL: the input is smaller than `least`, or there was no memory. */
const char *signed_file(const uint8_t *data, size_t size, size_t least,
			void (*sign)(uint8_t *file, size_t size));

#endif
