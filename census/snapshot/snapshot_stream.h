/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of sections on their way to the file: hashed, compressed if that is asked for,
 * and written. With several threads one of them does that while the caller makes what comes
 * next; the file is the same. Used by one thread. Internal to census/snapshot.
 */
#ifndef HI_CENSUS_SNAPSHOT_SNAPSHOT_STREAM_H
#define HI_CENSUS_SNAPSHOT_SNAPSHOT_STREAM_H

#include "base/cleanup.h"
#include "census/snapshot/snapshot_file.h"
#include "census/snapshot/snapshot_format.h"

struct hi_snapshot_stream;

/* HI_SNAPSHOT_GATHERED: bytes of smaller pieces that are put together. */
enum { HI_SNAPSHOT_GATHERED = 8 << 20 };

/* Writes to fd, which is borrowed; as hi_snapshot_create(). *ret:
 * hi_snapshot_stream_destroy(). HI_NO_MEMORY. */
enum hi_status hi_snapshot_stream_create(int fd,
					 const struct hi_snapshot_options *options,
					 struct hi_snapshot_stream **ret,
					 struct hi_error *err);
/* Drops what is not written yet. NULL is fine. */
void hi_snapshot_stream_destroy(struct hi_snapshot_stream *s);
HI_DEFINE_GUARD(struct hi_snapshot_stream *, hi_snapshot_stream_destroy)

/* Sections come one after the other. Offset, stored bytes and hash are filled in until the
 * stream is settled. */
void hi_snapshot_stream_begin(struct hi_snapshot_stream *s,
			      struct hi_snapshot_section *section);
void hi_snapshot_stream_end(struct hi_snapshot_stream *s);

/* The bytes are the caller's again at the return. */
void hi_snapshot_stream_put(struct hi_snapshot_stream *s, const void *bytes, size_t size);
/* The bytes stay as they are until the stream is settled or destroyed. */
void hi_snapshot_stream_put_lasting(struct hi_snapshot_stream *s, const void *bytes,
				    size_t size);
/* Takes the bytes (from hi_alloc). */
void hi_snapshot_stream_put_owned(struct hi_snapshot_stream *s, void *bytes, size_t size);

/* The first failure so far, which may be of earlier bytes. */
enum hi_status hi_snapshot_stream_check(struct hi_snapshot_stream *s,
					struct hi_error *err);
/* Waits until all is written. The first failure since the beginning; HI_OS, HI_NO_MEMORY. */
enum hi_status hi_snapshot_stream_settle(struct hi_snapshot_stream *s,
					 struct hi_error *err);
/* The end of what was written, from the beginning of the snapshot; settled. */
uint64_t hi_snapshot_stream_size(const struct hi_snapshot_stream *s);
/* Writes bytes at an offset at once; settled. */
enum hi_status hi_snapshot_stream_write_at(const struct hi_snapshot_stream *s,
					   const void *bytes, size_t size, uint64_t at,
					   struct hi_error *err);

#endif
