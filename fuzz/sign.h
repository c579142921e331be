/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes the magic bytes, the sizes and the checksums of a snapshot file hold, as whoever
 * makes up a file does. The bytes of its sections stay as it is. */
#ifndef HI_FUZZ_SIGN_H
#define HI_FUZZ_SIGN_H

#include <stddef.h>
#include <stdint.h>

void sign_snapshot(uint8_t *file, size_t size);

#endif
