/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of any words, as a ring has them, into a recording, at once and after they
 * waited: what the recording counts agrees with itself. The first byte has the options;
 * an event is six bytes: kind and flags, address, size, old address, stack, thread. Small
 * numbers, so that blocks meet; the top bit of a byte makes a large one of it.
 */
#include <stdlib.h>
#include <string.h>

#include "census/events/pending_events.h"
#include "census/events/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORD = 6, SAMPLED = 1, WAITING = 2, MOST = 4096 };

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static uint64_t widen(uint8_t byte, unsigned shift)
{
	if (byte >= 0xfe)
		return UINT64_MAX - (byte & 1) * 15;
	return byte & 0x80 ? (uint64_t)(byte & 0x7f) << 40 : (uint64_t)byte << shift;
}

static void make_stack(const uint8_t *at, struct hi_event_stack *ret)
{
	*ret = (struct hi_event_stack){
		.stack = at[4], .kind = HI_EVENT_STACK, .n = at[1], .cut = at[2] & 1};
	for (unsigned i = 0; i < HI_STACK_WORDS; i++)
		ret->frames[i] = widen(at[3], 4) + i;
	if (ret->n > HI_STACK_WORDS)
		ret->n = HI_STACK_WORDS;
}

static void add_event(struct hi_recording *r, struct hi_pending_events *pending,
		      const uint8_t *at, uint64_t now)
{
	struct hi_event_stack stack;
	struct hi_event event = {.time_ns = at[0] & 0x80 ? now : widen(at[5], 0),
				 .addr = widen(at[1], 4),
				 .size = widen(at[2], 3),
				 .old = widen(at[3], 4),
				 .stack = at[4],
				 .tid = at[5],
				 .kind = at[0] & 15,
				 .source = (uint8_t)(at[5] & 3),
				 .flags = at[0] >> 4};

	if (event.kind == HI_EVENT_STACK) {
		make_stack(at, &stack);
		if (pending)
			hi_pending_add_stack(pending, &stack);
		else
			(void)!hi_recording_stack(r, &stack, NULL);
	} else if (pending) {
		hi_pending_add(pending, &event);
	} else {
		(void)!hi_recording_apply(r, &event, NULL);
	}
}

static void check_live(const struct hi_recording *r)
{
	struct hi_live_allocation found;
	uint64_t at = 0, n = 0;

	while (hi_recording_next(r, &at, &found))
		n++;
	expect(n == hi_recording_live(r));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct hi_event_source_name sources[] = {
		{"malloc", HI_FAMILY_MALLOC, 0},
		{"pool_get", HI_FAMILY_CALLS, 0},
		{"mmap", HI_FAMILY_MAPPINGS, 1},
		{"je_malloc", HI_FAMILY_MALLOC, 0}};
	struct hi_pending_events pending = {.most = 256};
	struct hi_recording *r = NULL;
	unsigned how = size ? data[0] : 0, n = 0;

	if (!size || hi_recording_create(&r, NULL) != HI_OK)
		return 0;
	hi_recording_set_sources(r, sources, 4);
	if (how & SAMPLED)
		hi_recording_set_sampling(r, 1 << 16);
	for (size_t at = 1; at + RECORD <= size && n < MOST; at += RECORD, n++)
		add_event(r, how & WAITING ? &pending : NULL, data + at, n);
	hi_pending_drop_ticks(&pending, n / 4, n / 2);
	(void)!hi_pending_apply(&pending, r, n / 2, NULL);
	(void)!hi_pending_apply(&pending, r, UINT64_MAX, NULL);
	expect(hi_recording_is_valid(r));
	check_live(r);
	hi_pending_free(&pending);
	hi_recording_destroy(r);
	return 0;
}
