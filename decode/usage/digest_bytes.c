/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/usage/digest_bytes.h"

#include "decode/inference/memory_windows.h"

void hi_digest_host(struct hi_digest *d, const uint8_t *at, uint64_t size)
{
	for (uint64_t i = 0; size; i++) {
		uint64_t n = size < HI_DIGEST_PIECE ? size : HI_DIGEST_PIECE;

		hi_digest_piece(d, i, at, n);
		at += n;
		size -= n;
	}
}

/* A piece whose bytes come from several spans. */
struct gathered {
	struct hi_digest *digest;
	uint8_t *piece;
	uint64_t index; /* UINT64_MAX: none yet */
};

/* Ends the piece before and begins this one. */
static void begin_piece(struct gathered *g, uint64_t index)
{
	if (g->index != UINT64_MAX)
		hi_digest_piece(g->digest, g->index, g->piece, HI_DIGEST_PIECE);
	memset(g->piece, 0, HI_DIGEST_PIECE);
	g->index = index;
}

static void gather_span(struct gathered *g, uint64_t offset, const uint8_t *host,
			uint64_t size)
{
	while (size) {
		uint64_t at = offset % HI_DIGEST_PIECE, n = HI_DIGEST_PIECE - at;

		n = n < size ? n : size;
		if (offset / HI_DIGEST_PIECE != g->index)
			begin_piece(g, offset / HI_DIGEST_PIECE);
		memcpy(g->piece + at, host, n);
		host += n;
		offset += n;
		size -= n;
	}
}

bool hi_digest_spans(struct hi_digest *d, const struct hi_image *image,
		     const struct hi_digest_buffers *buffers, uint64_t addr,
		     uint64_t size)
{
	struct hi_spans spans = {.image = image,
				 .addr = addr,
				 .end = addr + size,
				 .scratch = buffers->scratch};
	struct gathered g = {d, buffers->piece, UINT64_MAX};
	const uint8_t *host;
	uint64_t at, n;

	while (hi_spans_next(&spans, &host, &at, &n))
		gather_span(&g, at - addr, host, n);
	if (g.index != UINT64_MAX) {
		uint64_t left = size - g.index * HI_DIGEST_PIECE;

		hi_digest_piece(d, g.index, g.piece,
				left < HI_DIGEST_PIECE ? left : HI_DIGEST_PIECE);
	}
	return spans.unreadable == 0;
}
