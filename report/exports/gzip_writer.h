/* SPDX-License-Identifier: BSD-2-Clause */
/* A stream of bytes, compressed as gzip (RFC 1952) into a FILE. Errors of the FILE are
 * sticky in it; check ferror() at the end. */
#ifndef HI_REPORT_EXPORTS_GZIP_WRITER_H
#define HI_REPORT_EXPORTS_GZIP_WRITER_H

#include <stdio.h>

#include "base/error.h"

struct hi_gzip;

/* `out` stays the caller's. Nothing is written before the first bytes come. */
enum hi_status hi_gzip_create(FILE *out, struct hi_gzip **ret, struct hi_error *err);
/* Compresses and writes the bytes; an error is reported when the stream ends. */
void hi_gzip_write(struct hi_gzip *gzip, const void *data, size_t size);
/* Returns the bytes that were written so far, before compression. */
uint64_t hi_gzip_given(const struct hi_gzip *gzip);
/* Ends the stream; no bytes may follow. */
void hi_gzip_finish(struct hi_gzip *gzip);
void hi_gzip_destroy(struct hi_gzip *gzip); /* NULL is fine */

#endif
