/* SPDX-License-Identifier: BSD-2-Clause */
/* Adds bytes of a target to a digest, wherever they are. */
#ifndef HI_DECODE_USAGE_DIGEST_BYTES_H
#define HI_DECODE_USAGE_DIGEST_BYTES_H

#include "attach/image.h"
#include "decode/usage/contents_digest.h"

/* `size` bytes that are in this process, as pieces from number 0. */
void hi_digest_host(struct hi_digest *d, const uint8_t *at, uint64_t size);

/* The buffers belong to one thread. */
struct hi_digest_buffers {
	uint8_t *piece;	  /* HI_DIGEST_PIECE bytes */
	uint8_t *scratch; /* HI_SPAN_SCRATCH bytes */
};
/* The bytes [addr, addr + size) of the image; gives the same digest as hi_digest_host()
 * of a copy. False: some are unreadable, and the digest is of no use. */
bool hi_digest_spans(struct hi_digest *d, const struct hi_image *image,
		     const struct hi_digest_buffers *buffers, uint64_t addr,
		     uint64_t size);

#endif
