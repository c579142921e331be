/* SPDX-License-Identifier: BSD-2-Clause */
/* Marks of a recording, with the totals of its contexts, in a snapshot file. */
#ifndef HI_CENSUS_SNAPSHOT_SNAPSHOT_MARKED_H
#define HI_CENSUS_SNAPSHOT_SNAPSHOT_MARKED_H

#include "census/events/marked_totals.h"
#include "census/snapshot/snapshot_file.h"

/* Writes the sections; none without marks. */
enum hi_status hi_snapshot_put_marked(struct hi_snapshot_writer *w,
				      const struct hi_recorded_marks *marked,
				      struct hi_error *err);
/* Reads them, for contexts with these totals. *ret borrows from s, but for *marks_ret,
 * which is the caller's to free. A file without them has none. HI_BAD_DATA. */
enum hi_status hi_snapshot_marked(struct hi_snapshot *s,
				  const struct hi_context_totals *totals,
				  struct hi_recorded_marks *ret,
				  struct hi_recorded_mark **marks_ret,
				  struct hi_error *err);

#endif
