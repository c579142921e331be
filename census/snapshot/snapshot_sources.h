/* SPDX-License-Identifier: BSD-2-Clause */
/* The sources of a recording and their pieces in a snapshot file. */
#ifndef HI_CENSUS_SNAPSHOT_SNAPSHOT_SOURCES_H
#define HI_CENSUS_SNAPSHOT_SNAPSHOT_SOURCES_H

#include "census/events/pieces.h"
#include "census/snapshot/snapshot_file.h"

enum hi_status hi_snapshot_put_sources(struct hi_snapshot_writer *w,
				       const struct hi_pieces *pieces,
				       struct hi_error *err);
/* Fills *ret, and *sources, which it borrows and the caller frees. None in older files.
 * HI_BAD_DATA: a piece is of no such source or context. */
enum hi_status hi_snapshot_sources(struct hi_snapshot *s,
				   struct hi_recorded_source **sources,
				   struct hi_pieces *ret, struct hi_error *err);

#endif
