/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of a recording that are kept as they came (record --keep-events), in a file
 * without a name (the spool), as event_list.h codes them. The list is at most as long as
 * a limit. From the first event that does not fit, or cannot be written, none is kept any
 * more: what is kept is the recording up to a point of time, without gaps.
 */
#ifndef HI_CENSUS_EVENTS_KEPT_EVENTS_H
#define HI_CENSUS_EVENTS_KEPT_EVENTS_H

#include "base/cleanup.h"
#include "census/events/event_list.h"

struct hi_kept_counts {
	uint64_t kept, left_out;
};

struct hi_kept_events;
/* fd: an empty file that can be read and written; it is closed by the destroy, and also
 * if this fails. limit: bytes of the list. *ret: hi_kept_events_destroy(). HI_NO_MEMORY.
 */
enum hi_status hi_kept_events_create(int fd, uint64_t limit, struct hi_kept_events **ret,
				     struct hi_error *err);
void hi_kept_events_destroy(struct hi_kept_events *kept); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_kept_events *, hi_kept_events_destroy)
/* Keeps an event, whose stack has this number; or counts it as left out. Events of
 * unknown kinds are ignored. */
void hi_kept_events_add(struct hi_kept_events *kept, const struct hi_event *event,
			uint32_t context);

void hi_kept_events_counts(const struct hi_kept_events *kept, struct hi_kept_counts *ret);
/* Thread ids by index; borrowed, until the next event. */
const uint32_t *hi_kept_events_threads(const struct hi_kept_events *kept,
				       uint32_t *n_ret);
/* Bytes of the list from `at` on, at most `room` of them; *n_ret 0: that was the end. The
 * offset of the descriptor plays no part, so a process that was forked can read, too.
 * HI_OS. */
enum hi_status hi_kept_events_read(const struct hi_kept_events *kept, uint64_t at,
				   void *to, size_t room, size_t *n_ret,
				   struct hi_error *err);

#endif
