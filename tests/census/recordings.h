/* SPDX-License-Identifier: BSD-2-Clause */
/* Recordings of drawn timelines, objects at the timeline's addresses, and rows for its
 * frames, for the tests of births and of their sections in snapshots. */
#ifndef HI_TESTS_CENSUS_RECORDINGS_H
#define HI_TESTS_CENSUS_RECORDINGS_H

#include <inttypes.h>
#include <stdio.h>

#include "census/events/birth_groups.h"
#include "tests/census/graphs.h"
#include "tests/support/timeline.h"

/* n events; *t has the truth at the end. All stacks are known but those of odd number
 * above 30. */
static inline struct hi_recording *drawn_recording(struct timeline *t, uint64_t seed,
						   unsigned n)
{
	struct hi_recording *r = NULL;
	struct hi_event_stack stack;
	struct hi_error err;

	HI_ASSERT_OK(hi_recording_create(&r, &err), &err);
	timeline_init(t, seed, TIMELINE_SLOTS);
	for (unsigned i = 0; i < n; i++) {
		struct hi_event e = timeline_next(t);

		HI_ASSERT_OK(hi_recording_apply(r, &e, &err), &err);
	}
	for (unsigned i = 0; i < TIMELINE_STACKS; i++) {
		timeline_stack(i, &stack);
		if (i < 30 || i % 2 == 0)
			HI_ASSERT_OK(hi_recording_stack(r, &stack, &err), &err);
	}
	return r;
}

/* Usable bytes of the block at a slot: most have room for what is requested, some are
 * other blocks that are smaller; 0: no block is there. */
static inline uint64_t slot_usable(int slot)
{
	return slot % 7 == 3 ? 0 : slot % 5 == 4 ? 16 : 56;
}

static inline struct hi_objects *slot_objects(void)
{
	struct hi_objects_builder *b;
	struct hi_objects *o;
	struct hi_error err;
	uint64_t start = timeline_address(0);
	unsigned region;

	HI_ASSERT_OK(hi_objects_builder_create(&b, &err), &err);
	hi_objects_builder_overhead(b, 0, 8);
	HI_ASSERT_OK(hi_objects_builder_region(b, start - 16,
					       timeline_address(TIMELINE_SLOTS - 1) + 64,
					       4, &region, &err),
		     &err);
	for (int i = 0; i < TIMELINE_SLOTS; i++)
		if (slot_usable(i))
			HI_ASSERT_OK(hi_objects_builder_add(b, region,
							    timeline_address(i),
							    slot_usable(i), 0, &err),
				     &err);
	HI_ASSERT_OK(hi_objects_seal(b, &o, &err), &err);
	return o;
}

/* What stands in the rows of a return address, innermost first: at most two. */
static inline unsigned address_rows(uint64_t address, struct hi_frame_row rows[2],
				    char text[2][32])
{
	unsigned n = 1 + (unsigned)(address % 3 == 0);

	for (unsigned i = 0; i < n; i++) {
		bool allocates = i == 0 && address % 4 < 2;

		snprintf(text[i], 32, "%s%" PRIx64, allocates ? "zmalloc_" : "f",
			 address / 64);
		rows[i] = (struct hi_frame_row){
			.module = address % 2 ? "/bin/app" : "",
			.function = text[i],
			.file = address % 5 ? "app.c" : "",
			.offset = address - 0x400000,
			.line = (uint32_t)(address % 2 * (address % 5))};
	}
	return n;
}

static inline struct hi_frames_builder *drawn_frames(const struct hi_recording *r)
{
	const uint64_t *addresses = hi_contexts_addresses(hi_recording_contexts(r));
	struct hi_frames_builder *b = NULL;
	struct hi_context_view view;
	struct hi_frame_row rows[2];
	struct hi_error err;
	char text[2][32];

	hi_contexts_view(hi_recording_contexts(r), &view);
	HI_ASSERT_OK(hi_frames_builder_create(&b, &err), &err);
	for (uint32_t i = 0; i < view.n_frames; i++) {
		unsigned n = address_rows(addresses[i], rows, text);

		HI_ASSERT_OK(hi_frames_builder_add(b, rows, n, &err), &err);
	}
	return b;
}

#endif
