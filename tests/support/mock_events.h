/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A source of allocation events without a process: a drawn timeline (timeline.h). Time
 * goes on by some events with each poll; a drain adds none.
 */
#ifndef HI_TESTS_SUPPORT_MOCK_EVENTS_H
#define HI_TESTS_SUPPORT_MOCK_EVENTS_H

#include "probes/events/event_source.h"
#include "tests/support/timeline.h"

struct mock_events {
	struct hi_event_source base;
	struct timeline timeline; /* the truth, at any time */
	unsigned events_a_poll;	  /* may be changed; 20 at first */
	unsigned lost_a_poll;	  /* may be changed: of those, so many are lost; 0 */
	bool is_started, is_stopped;
	uint64_t sent_stacks;  /* a bit for each stack */
	size_t unwind_words;   /* of the tables that were set last */
	uint64_t sample_bytes; /* that were set; all events are sent */
	struct hi_event_stats stats;
};

/* *ret: hi_event_source_close(&mock->base). HI_NO_MEMORY. */
enum hi_status mock_events_open(uint64_t seed, struct mock_events **ret,
				struct hi_error *err);

#endif
