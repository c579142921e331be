/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/events/pending_events.h"

/* A word beside the hash: number of frames, and whether outer ones are missing. */
enum { CUT_SHIFT = 16 };

void hi_pending_free(struct hi_pending_events *p)
{
	hi_vector_free(&p->events);
	hi_vector_free(&p->stacks);
	p->lost = 0;
}

void hi_pending_add(struct hi_pending_events *p, const struct hi_event *event)
{
	size_t most = p->most ? p->most : HI_PENDING_EVENTS;

	if (p->events.count >= most ||
	    !hi_vector_reserve(&p->events, p->events.count + 1)) {
		p->lost += event->kind == HI_EVENT_LOST ? event->size : 1;
		return;
	}
	p->events.items[p->events.count++] = *event;
}

/* A stack without room is missing, and its context has that. */
void hi_pending_add_stack(struct hi_pending_events *p, const struct hi_event_stack *stack)
{
	unsigned n = stack->n < HI_STACK_FRAMES ? stack->n : HI_STACK_FRAMES;

	if (p->stacks.count + n + 2 > HI_PENDING_FRAMES ||
	    !hi_vector_reserve(&p->stacks, p->stacks.count + n + 2))
		return;
	p->stacks.items[p->stacks.count++] = stack->stack;
	p->stacks.items[p->stacks.count++] = n | (uint64_t)stack->cut << CUT_SHIFT;
	memcpy(&p->stacks.items[p->stacks.count], stack->frames, n * sizeof(uint64_t));
	p->stacks.count += n;
}

void hi_pending_drop_ticks(struct hi_pending_events *p, uint64_t from_ns, uint64_t to_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->events.count; i++) {
		const struct hi_event event = p->events.items[i];

		if (event.kind != HI_EVENT_TICK || event.time_ns <= from_ns ||
		    event.time_ns > to_ns)
			p->events.items[kept++] = event;
	}
	p->events.count = kept;
}

static enum hi_status apply_pending_stacks(const struct hi_pending_events *p,
					   struct hi_recording *recording,
					   struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t at = 0; status == HI_OK && at + 2 <= p->stacks.count;) {
		struct hi_event_stack stack = {.kind = HI_EVENT_STACK,
					       .stack = p->stacks.items[at],
					       .n = (uint16_t)p->stacks.items[at + 1]};

		stack.cut = (uint8_t)(p->stacks.items[at + 1] >> CUT_SHIFT);
		memcpy(stack.frames, &p->stacks.items[at + 2],
		       stack.n * sizeof(uint64_t));
		status = hi_recording_stack(recording, &stack, err);
		at += 2 + stack.n;
	}
	return status;
}

/* Lost events are marked before the next one that has fitted: a mark that is the first
 * event after the time may represent events before it. */
static bool is_event_due(const struct hi_event *event, uint64_t until_ns, bool *is_past)
{
	bool was_past = *is_past;

	if (event->kind == HI_EVENT_LOST)
		return !was_past;
	*is_past |= event->time_ns > until_ns;
	return event->time_ns <= until_ns;
}

static enum hi_status apply_due_events(struct hi_pending_events *p,
				       struct hi_recording *recording, uint64_t until_ns,
				       bool *is_past_ret, struct hi_error *err)
{
	enum hi_status ret = HI_OK;
	struct hi_error unused;
	size_t kept = 0;

	for (size_t i = 0; i < p->events.count; i++) {
		const struct hi_event *event = &p->events.items[i];
		enum hi_status status = HI_OK;

		if (is_event_due(event, until_ns, is_past_ret))
			status = hi_recording_apply(recording, event,
						    ret == HI_OK ? err : &unused);
		else
			p->events.items[kept++] = *event;
		ret = ret == HI_OK ? status : ret;
	}
	p->events.count = kept;
	return ret;
}

enum hi_status hi_pending_apply(struct hi_pending_events *p,
				struct hi_recording *recording, uint64_t until_ns,
				struct hi_error *err)
{
	const struct hi_event lost = {.kind = HI_EVENT_LOST, .size = p->lost};
	bool is_past = false;
	struct hi_error unused;
	enum hi_status stacks = apply_pending_stacks(p, recording, err);
	enum hi_status events = apply_due_events(p, recording, until_ns, &is_past,
						 stacks == HI_OK ? err : &unused);

	p->stacks.count = 0;
	if (p->lost && !is_past) {
		(void)!hi_recording_apply(recording, &lost, &unused);
		p->lost = 0;
	}
	/* The memory stays for the next ones, unless it is much. */
	if (!p->events.count && p->events.capacity > HI_PENDING_EVENTS / 16)
		hi_pending_free(p);
	return stacks == HI_OK ? events : stacks;
}
