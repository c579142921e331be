/* SPDX-License-Identifier: BSD-2-Clause */
/* What is in use by context, beside what the drawn program itself knows. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "census/events/in_use.h"
#include "tests/census/recordings.h"

enum { EVENTS = 400 };

/* Takes away again, block by block, what two of three objects have in use; returns how
 * many of those have no record. */
static uint64_t take_blocks(const struct timeline *t, const struct hi_objects *o,
			    const struct hi_births *b, struct hi_in_use *by_context)
{
	uint64_t unknown = 0;

	for (hi_node i = 0; i < o->count; i++) {
		int slot = timeline_slot(hi_objects_address(o, i));
		const struct timeline_block *block = &t->blocks[slot];

		if (i % 3 == 0)
			continue;
		if (!block->is_live || block->is_held ||
		    block->size > slot_usable(slot)) {
			unknown++;
			continue;
		}
		by_context[b->context[i]].allocations--;
		by_context[b->context[i]].bytes -= block->size;
	}
	return unknown;
}

static void check_drawn(const struct timeline *t, const struct hi_recording *r)
{
	OWN(objects) *o = slot_objects();
	HI_GUARD(hi_births_destroy) struct hi_births *b = NULL;
	struct hi_in_use_sums sums = {};
	struct hi_context_view view;
	uint64_t mask[4] = {};
	struct hi_error err;

	hi_contexts_view(hi_recording_contexts(r), &view);
	HI_ASSERT_OK(hi_births_join(r, o, 0, 1, &b, &err), &err);
	sums.n_contexts = view.n_contexts;
	sums.by_context = hi_calloc(view.n_contexts, sizeof(*sums.by_context));
	for (hi_node i = 0; i < o->count; i++)
		if (i % 3)
			hi_bit_set(mask, i);
	hi_in_use_sum(b, o, mask, &sums);
	HI_ASSERT_EQ(take_blocks(t, o, b, sums.by_context), sums.before.allocations);
	HI_ASSERT_EQ(0, sums.other.allocations);
	for (uint32_t i = 0; i < view.n_contexts; i++)
		HI_ASSERT(!sums.by_context[i].allocations && !sums.by_context[i].bytes);
	free(sums.by_context);
}

HI_TEST(census_in_use, memory_in_use_by_stack_equals_that_of_the_program)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct timeline t;
		HI_GUARD(hi_recording_destroy)
		struct hi_recording *r = drawn_recording(&t, seed, EVENTS);

		check_drawn(&t, r);
	}
}

/* Slot 0 is split into three pieces, of which the last two are in use. */
HI_TEST(census_in_use, counts_a_block_in_pieces_once)
{
	OWN(objects) *whole = slot_objects(), *split = NULL;
	HI_GUARD(hi_recording_destroy) struct hi_recording *r = NULL;
	HI_GUARD(hi_births_destroy) struct hi_births *b = NULL;
	const struct hi_subobject piece = {.addr = timeline_address(0) + 16, .size = 16};
	struct hi_event e = {
		.kind = HI_EVENT_ALLOC, .addr = timeline_address(0), .size = 50};
	struct hi_in_use used[1] = {};
	struct hi_in_use_sums sums = {.by_context = used, .n_contexts = 1};
	struct hi_pools pools = {};
	struct hi_error err;
	uint64_t mask[8] = {6};

	HI_ASSERT_OK(hi_objects_split(whole, &piece, 1, &split, &pools, &err), &err);
	hi_pools_free(&pools);
	HI_ASSERT_OK(hi_recording_create(&r, &err), &err);
	HI_ASSERT_OK(hi_recording_apply(r, &e, &err), &err);
	HI_ASSERT_OK(hi_births_join(r, split, 0, 1, &b, &err), &err);
	hi_in_use_sum(b, split, mask, &sums);
	HI_ASSERT_EQ(1, used[0].allocations);
	HI_ASSERT_EQ(50, used[0].bytes);
	HI_ASSERT_EQ(0, sums.before.allocations);
	mask[0] = 0;
	used[0] = (struct hi_in_use){};
	hi_in_use_sum(b, split, mask, &sums);
	HI_ASSERT_EQ(0, used[0].allocations);
}
