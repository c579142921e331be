/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Marks of a recording: moments that the user named, with what each context had
 * allocated until then. A mark keeps the contexts alone that have allocated since the
 * mark before it.
 */
#ifndef HI_CENSUS_EVENTS_MARKED_TOTALS_H
#define HI_CENSUS_EVENTS_MARKED_TOTALS_H

#include "census/events/recording.h"

enum { HI_MARKED_MOST = 1 << 16, HI_MARKED_ROWS_MOST = 1 << 20 };

/* From the beginning of the recording to the mark. */
struct hi_recorded_mark_row {
	uint32_t context, unused;
	uint64_t allocs, bytes;
	uint64_t overhead; /* as glibc rounds sizes (hi_recording_overheads()) */
};
struct hi_recorded_mark {
	uint64_t time_ns; /* since the recording began; ascending */
	const char *text; /* hostile */
	uint32_t first_row, n_rows;
	uint32_t is_era;
};
/* Borrowed. Rows of one mark by context. */
struct hi_recorded_marks {
	const struct hi_recorded_mark *marks;
	const struct hi_recorded_mark_row *rows;
	uint32_t n_marks, n_rows;
};

/* A time in which allocations were not recorded. */
struct hi_recording_pause {
	uint64_t from_ns, to_ns; /* since the recording began; ascending */
	uint64_t calls, bytes;	 /* that were not recorded, of malloc and its like */
};
enum { HI_RECORDING_PAUSES_MOST = 1 << 16 };

struct hi_marked_totals;
/* *ret: hi_marked_totals_destroy(). HI_NO_MEMORY. */
enum hi_status hi_marked_totals_create(struct hi_marked_totals **ret,
				       struct hi_error *err);
void hi_marked_totals_destroy(struct hi_marked_totals *totals); /* NULL is fine */
/* A mark is now. time_ns: as above, not before the last one. HI_LIMIT: there are too
 * many, or too many rows; nothing was added then. HI_NO_MEMORY. */
enum hi_status hi_marked_totals_add(struct hi_marked_totals *totals,
				    const struct hi_recording *recording,
				    uint64_t time_ns, const char *text, bool is_era,
				    struct hi_error *err);
/* Valid until the next mark. */
struct hi_recorded_marks hi_marked_totals_view(const struct hi_marked_totals *totals);

#endif
