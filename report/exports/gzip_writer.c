/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/exports/gzip_writer.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/alloc.h"

enum {
	GZIP_WINDOW = 15 + 16, /* zlib.h, deflateInit2: 16 more means gzip's header */
	MEMORY_LEVEL = 8,
};

struct hi_gzip {
	FILE *out;
	z_stream stream;
	uint64_t given;
	unsigned char buffer[1 << 15];
};

enum hi_status hi_gzip_create(FILE *out, struct hi_gzip **ret, struct hi_error *err)
{
	struct hi_gzip *gzip = hi_calloc(1, sizeof(*gzip));

	if (!gzip)
		return hi_fail_memory(err, "gzip");
	gzip->out = out;
	if (deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
			 MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(gzip);
		return hi_fail_memory(err, "gzip");
	}
	*ret = gzip;
	return HI_OK;
}

/* Until all that was given is taken and, at the end, written. */
static void deflate_to_file(struct hi_gzip *gzip, int flush)
{
	z_stream *z = &gzip->stream;

	do {
		z->next_out = gzip->buffer;
		z->avail_out = sizeof(gzip->buffer);
		(void)deflate(z, flush);
		fwrite(gzip->buffer, 1, sizeof(gzip->buffer) - z->avail_out, gzip->out);
	} while (z->avail_out == 0);
}

void hi_gzip_write(struct hi_gzip *gzip, const void *data, size_t size)
{
	const unsigned char *at = data;

	gzip->given += size;
	while (size) {
		unsigned n = size < UINT_MAX ? (unsigned)size : UINT_MAX;

		gzip->stream.next_in = (unsigned char *)(uintptr_t)at;
		gzip->stream.avail_in = n;
		deflate_to_file(gzip, Z_NO_FLUSH);
		at += n;
		size -= n;
	}
}

uint64_t hi_gzip_given(const struct hi_gzip *gzip)
{
	return gzip->given;
}

void hi_gzip_finish(struct hi_gzip *gzip)
{
	gzip->stream.avail_in = 0;
	deflate_to_file(gzip, Z_FINISH);
}

void hi_gzip_destroy(struct hi_gzip *gzip)
{
	if (!gzip)
		return;
	deflateEnd(&gzip->stream);
	free(gzip);
}
