/* SPDX-License-Identifier: BSD-2-Clause */
/* The events that a recording kept, and the block of them that was asked for last. */
#include <stdlib.h>

#include "base/alloc.h"
#include "query/query_internal.h"

void hi_event_reading_destroy(struct hi_event_reading *reading)
{
	free(reading);
}

enum hi_status hi_query_events(struct hi_query *q, uint64_t *n_ret, struct hi_error *err)
{
	const struct hi_recorded *r = NULL;
	const struct hi_stored_events *stored = NULL;
	enum hi_status status = hi_query_recorded(q, &r, err);

	*n_ret = q->events ? q->events->stored->list.count : 0;
	if (status != HI_OK || q->events || !r->has_events)
		return status;
	status = q->source.events ? q->source.events(q->source.arg, &stored, err)
				  : hi_fail(err, HI_UNSUPPORTED, 0,
					    "the events of the recording are not known");
	if (status != HI_OK)
		return status;
	q->events = hi_calloc(1, sizeof(*q->events));
	if (!q->events)
		return hi_fail_memory(err, "events");
	q->events->stored = stored;
	*n_ret = stored->list.count;
	return HI_OK;
}

enum hi_status hi_query_event(struct hi_query *q, uint64_t row,
			      const struct hi_kept_event **ret, struct hi_error *err)
{
	struct hi_event_reading *reading = q->events;
	uint64_t block = row / HI_EVENT_BLOCK;
	enum hi_status status = HI_OK;

	if (!reading->n || reading->block != block) {
		reading->n = 0;
		status = hi_stored_events_read(reading->stored, block, reading->events,
					       &reading->n, err);
	}
	reading->block = block;
	*ret = &reading->events[row % HI_EVENT_BLOCK];
	return status;
}
