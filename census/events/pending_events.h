/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events that wait while a recording is read, in their order, and the stacks that they
 * name. Bounded: what does not fit is counted, and becomes an event of lost events.
 */
#ifndef HI_CENSUS_EVENTS_PENDING_EVENTS_H
#define HI_CENSUS_EVENTS_PENDING_EVENTS_H

#include "base/vector.h"
#include "census/events/recording.h"

/* At most so many events wait (224 MiB), and stacks of so many frames together. */
enum { HI_PENDING_EVENTS = 4 << 20, HI_PENDING_FRAMES = 8 << 20 };

struct hi_pending_events {
	struct HI_VECTOR(struct hi_event) events;
	struct HI_VECTOR(uint64_t) stacks; /* of each: hash, n and cut, frames */
	size_t most;			   /* events; 0: HI_PENDING_EVENTS */
	uint64_t lost;			   /* since the last event that has fitted */
};
void hi_pending_free(struct hi_pending_events *pending);
void hi_pending_add(struct hi_pending_events *pending, const struct hi_event *event);
void hi_pending_add_stack(struct hi_pending_events *pending,
			  const struct hi_event_stack *stack);
/* Drops the samples of time between two times: after `from`, up to `to`. */
void hi_pending_drop_ticks(struct hi_pending_events *pending, uint64_t from_ns,
			   uint64_t to_ns);
/*
 * Applies the events up to a time (CLOCK_MONOTONIC) to the recording, and all stacks; the
 * others go on waiting. UINT64_MAX: all. Lost events count at the time of the event
 * before them. HI_NO_MEMORY, as of the recording: those up to the time are gone.
 */
enum hi_status hi_pending_apply(struct hi_pending_events *pending,
				struct hi_recording *recording, uint64_t until_ns,
				struct hi_error *err);

#endif
