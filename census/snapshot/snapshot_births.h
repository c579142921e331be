/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording in a snapshot file: frames, contexts with totals, births of the objects.
 * docs/SNAPSHOT_FORMAT.md has the sections. A file without them has no recording.
 */
#ifndef HI_CENSUS_SNAPSHOT_SNAPSHOT_BIRTHS_H
#define HI_CENSUS_SNAPSHOT_SNAPSHOT_BIRTHS_H

#include "base/cleanup.h"
#include "census/events/births.h"
#include "census/events/frames.h"
#include "census/events/pieces.h"
#include "census/snapshot/snapshot_events.h"
#include "census/snapshot/snapshot_marked.h"

/* Times of a recording with samples of time. */
struct hi_recorded_time {
	uint64_t scan_ns; /* CPU time between two samples; 0: there are none */
	/* CPU time during the recording: of the target, and of heapinspect. */
	uint64_t target_ns, tool_ns;
	uint64_t missed; /* threads that were not sampled */
};

/* All that is known of a recording, for reports; borrowed. */
struct hi_recorded {
	const struct hi_births *births;
	struct hi_context_view contexts;
	const struct hi_context_totals *totals; /* of each context */
	struct hi_frames frames;
	struct hi_recording_counts counts;
	struct hi_pieces pieces;
	/* Events that were kept (record --keep-events), and how many. */
	bool has_events;
	struct hi_kept_counts event_counts;
	const struct hi_kept_events *kept; /* of a recorder; NULL: they are in a file, for
					      hi_snapshot_events(), or none */
	/* By context: the cost of its allocations beside their bytes, as far as their
	 * sizes determine it (hi_recording_overheads()); NULL: not known. */
	const uint64_t *overheads;
	/* Marks of record --every and alloc; else none. */
	struct hi_recorded_marks marked;
	const struct hi_recording_pause *pauses;
	uint32_t n_pauses;
	/* By context, the samples of time that found a thread there; NULL: there are
	 * none. */
	const uint64_t *ticks;
	/* By context; NULL: unknown, of files of earlier versions. */
	const struct hi_context_ports *ports;
	struct hi_recorded_time time;
	/* A recording by windows, of which files have the estimates alone
	 * (snapshot_windows.h): then births are of blocks that windows saw, or of others at their addresses (Note [Blocks of windows] in
	 * census/events/window_live.h). NULL: it is none. */
	const struct hi_windows *windows;
	const uint64_t *outstanding; /* by context, blocks that no window saw freed */
	struct hi_window_load window_load;
	struct hi_windows_choice windows_choice;
	uint64_t windows_blind_ns; /* see struct hi_window_result */
	uint64_t late_hits;	   /* traps of the target after windows */
};

/* Writes the sections; births are those of the graph in the file. HI_USAGE: frames and
 * contexts do not belong together. */
enum hi_status hi_snapshot_put_births(struct hi_snapshot_writer *w,
				      const struct hi_recorded *recorded,
				      struct hi_error *err);
/* Reads them, for a graph of so many objects. *ret borrows from s:
 * hi_recorded_destroy() before s is closed. HI_NOT_FOUND: the file has no recording;
 * HI_BAD_DATA. */
enum hi_status hi_snapshot_births(struct hi_snapshot *s, hi_node n_objects,
				  struct hi_recorded **ret, struct hi_error *err);
/* Only for what hi_snapshot_births() returned; NULL is fine. */
void hi_recorded_destroy(struct hi_recorded *recorded);
HI_DEFINE_GUARD(struct hi_recorded *, hi_recorded_destroy)

#endif
