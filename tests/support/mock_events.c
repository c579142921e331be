/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/support/mock_events.h"

#include <stdlib.h>

#include "base/alloc.h"

_Static_assert(TIMELINE_STACKS <= 64, "a bit for each stack");

static struct mock_events *mock_of(struct hi_event_source *source)
{
	return (struct mock_events *)source;
}

static void count_mock(struct hi_event_source *source)
{
	(void)source;
}

static void drop_no_mock_probes(struct hi_event_source *source)
{
	(void)source;
}

static void set_mock_sampling(struct hi_event_source *source, uint64_t bytes)
{
	mock_of(source)->sample_bytes = bytes;
}

static enum hi_status start_mock(struct hi_event_source *source, struct hi_error *err)
{
	(void)err;
	mock_of(source)->is_started = true;
	return HI_OK;
}

static enum hi_status set_mock_unwind(struct hi_event_source *source,
				      const struct hi_unwind_tables *tables,
				      struct hi_error *err)
{
	mock_of(source)->unwind_words = tables->n_words;
	(void)err;
	return HI_OK;
}

/* Before the first event that names it, as the programs in the kernel do it. */
static void send_stack(struct mock_events *m, uint64_t hash,
		       const struct hi_event_sink *sink)
{
	struct hi_event_stack stack;

	for (unsigned i = 1; hash && i < TIMELINE_STACKS; i++) {
		timeline_stack(i, &stack);
		if (stack.stack != hash || m->sent_stacks >> i & 1)
			continue;
		m->sent_stacks |= 1ull << i;
		m->stats.stacks++;
		m->stats.stacks_cut += stack.cut;
		sink->stack(sink->arg, &stack);
	}
}

static enum hi_status poll_mock(struct hi_event_source *source, unsigned timeout_ms,
				const struct hi_event_sink *sink, struct hi_error *err)
{
	struct mock_events *m = mock_of(source);
	struct hi_event lost = {.kind = HI_EVENT_LOST, .size = m->lost_a_poll};

	(void)timeout_ms;
	(void)err;
	if (!m->is_started || m->is_stopped)
		return HI_OK;
	for (unsigned i = 0; i < m->events_a_poll; i++) {
		struct hi_event e = timeline_next(&m->timeline);

		if (i < m->lost_a_poll)
			continue;
		send_stack(m, e.stack, sink);
		sink->event(sink->arg, &e);
		m->stats.events++;
	}
	m->stats.lost += lost.size;
	lost.time_ns = m->timeline.time_ns;
	if (lost.size)
		sink->event(sink->arg, &lost);
	return HI_OK;
}

/* All that happened was sent by the polls. */
static enum hi_status drain_mock(struct hi_event_source *source,
				 const struct hi_event_sink *sink, struct hi_error *err)
{
	(void)source;
	(void)sink;
	(void)err;
	return HI_OK;
}

static void read_mock_stats(struct hi_event_source *source, struct hi_event_stats *ret)
{
	*ret = mock_of(source)->stats;
}

static void pause_mock(struct hi_event_source *source, bool is_paused)
{
	(void)source, (void)is_paused;
}

static void stop_mock(struct hi_event_source *source)
{
	mock_of(source)->is_stopped = true;
}

static void close_mock(struct hi_event_source *source)
{
	free(mock_of(source));
}

enum hi_status mock_events_open(uint64_t seed, struct mock_events **ret,
				struct hi_error *err)
{
	static const struct hi_event_source_ops ops = {
		.name = "mock",
		.count = count_mock,
		.drop_optional = drop_no_mock_probes,
		.set_sampling = set_mock_sampling,
		.start = start_mock,
		.pause = pause_mock,
		.set_unwind = set_mock_unwind,
		.poll = poll_mock,
		.drain = drain_mock,
		.stats = read_mock_stats,
		.stop = stop_mock,
		.close = close_mock,
	};
	struct mock_events *m = hi_calloc(1, sizeof(*m));

	if (!m)
		return hi_fail_memory(err, "mock source of events");
	m->base.ops = &ops;
	m->events_a_poll = 20;
	timeline_init(&m->timeline, seed, TIMELINE_SLOTS);
	*ret = m;
	return HI_OK;
}
