/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events that a recording kept, in a snapshot file: sections "events" and
 * "events.threads", numbers "events.kept" and "events.left_out". A file without them has
 * a recording whose events were not kept, or none.
 */
#ifndef HI_CENSUS_SNAPSHOT_SNAPSHOT_EVENTS_H
#define HI_CENSUS_SNAPSHOT_SNAPSHOT_EVENTS_H

#include "census/events/kept_events.h"
#include "census/snapshot/snapshot_file.h"

/* Copies them piece by piece: their size may be that of the disk. HI_OS. */
enum hi_status hi_snapshot_put_events(struct hi_snapshot_writer *w,
				      const struct hi_kept_events *kept,
				      struct hi_error *err);
/* Does the file have them, and how many? Without reading them. */
bool hi_snapshot_event_counts(const struct hi_snapshot *s, struct hi_kept_counts *ret);

struct hi_stored_events {
	const struct hi_snapshot *snapshot; /* for errors */
	struct hi_event_list list;
	const uint32_t *threads; /* thread ids by index */
};
/* Reads them, whole; what they name are contexts of that many. *ret borrows from s:
 * hi_stored_events_free() before s is closed, also of an error. HI_NOT_FOUND: the file
 * has none; HI_BAD_DATA. */
enum hi_status hi_snapshot_events(struct hi_snapshot *s, uint32_t n_contexts,
				  struct hi_stored_events *ret, struct hi_error *err);
/* The events of a block, as of hi_event_list_read(). HI_BAD_DATA. */
enum hi_status hi_stored_events_read(const struct hi_stored_events *events,
				     uint64_t block,
				     struct hi_kept_event ret[HI_EVENT_BLOCK],
				     uint32_t *n_ret, struct hi_error *err);
void hi_stored_events_free(struct hi_stored_events *events);

#endif
