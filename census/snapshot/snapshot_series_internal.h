/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the writer and the reader of a series. */
#ifndef HI_CENSUS_SNAPSHOT_SNAPSHOT_SERIES_INTERNAL_H
#define HI_CENSUS_SNAPSHOT_SNAPSHOT_SERIES_INTERNAL_H

#include "base/number.h"
#include "census/snapshot/snapshot_series.h"
#include "census/snapshot/snapshot_format.h"

/* Returns the offset in the file of the record after a part of `size` bytes that begins
 * at `offset`. */
static inline uint64_t hi_snapshots_record_at(uint64_t offset, uint64_t size)
{
	return hi_round_up(offset + size, HI_SNAPSHOT_ALIGN);
}

/* Appends a copy of the mark with this text. HI_NO_MEMORY. */
enum hi_status hi_snapshots_copy_mark(struct hi_snapshots_marks *marks,
				      const struct hi_snapshots_mark *mark,
				      const char *text, struct hi_error *err);
/* Writes marks as a part at offset `at`; the caller writes the record after it. HI_OS. */
enum hi_status hi_snapshots_write_marks(int fd, uint64_t at,
					const struct hi_snapshots_mark *marks, size_t n,
					struct hi_error *err);

#endif
