/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recordings of drawn timelines. The truth is what the drawn program itself knows, and,
 * where events are missing, a replay over an array of addresses.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/events/recording.h"
#include "tests/harness.h"
#include "tests/support/timeline.h"

static struct hi_recording *new_recording(void)
{
	struct hi_recording *r = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_recording_create(&r, &err), &err);
	return r;
}

static void apply(struct hi_recording *r, const struct hi_event *e)
{
	struct hi_error err;

	HI_ASSERT_OK(hi_recording_apply(r, e, &err), &err);
}

static uint64_t stack_of(const struct hi_recording *r, uint32_t context)
{
	struct hi_context_view view;

	hi_contexts_view(hi_recording_contexts(r), &view);
	HI_ASSERT(context < view.n_contexts);
	return view.contexts[context].stack;
}

static void check_block(const struct hi_recording *r, const struct timeline_block *b,
			const struct hi_live_allocation *live)
{
	HI_ASSERT_EQ(b->size, live->size);
	HI_ASSERT_EQ(b->time_ns, live->time_ns);
	HI_ASSERT_EQ(b->tid, live->tid);
	HI_ASSERT_EQ(b->stack, stack_of(r, live->context));
}

/* The live set, by both ways to ask for it, and the totals of what is live. */
static void check_live(const struct hi_recording *r, const struct timeline_block *blocks)
{
	uint64_t n = 0, bytes = 0, listed = 0, at = 0;
	struct hi_context_totals all = hi_recording_totals(r);
	struct hi_live_allocation live;

	for (int i = 0; i < TIMELINE_SLOTS; i++) {
		bool wanted = blocks[i].is_live && !blocks[i].is_held;

		HI_ASSERT_EQ(wanted, hi_recording_find(r, timeline_address(i), &live));
		if (!wanted)
			continue;
		check_block(r, &blocks[i], &live);
		n++;
		bytes += live.size;
	}
	while (hi_recording_next(r, &at, &live)) {
		HI_ASSERT(timeline_slot(live.addr) >= 0);
		check_block(r, &blocks[timeline_slot(live.addr)], &live);
		listed++;
	}
	HI_ASSERT_EQ(n, listed);
	HI_ASSERT_EQ(n, hi_recording_live(r));
	HI_ASSERT_EQ(n, hi_totals_live(&all));
	HI_ASSERT_EQ(bytes, hi_totals_live_bytes(&all));
}

/* By context: what is live, recounted from the blocks; and the largest numbers so far,
 * kept by stack. */
struct peaks {
	uint64_t most_live[TIMELINE_STACKS], most_bytes[TIMELINE_STACKS];
	uint64_t live[TIMELINE_STACKS], bytes[TIMELINE_STACKS];
};

static unsigned number_of_stack(uint64_t hash)
{
	struct hi_event_stack stack;

	for (unsigned i = 0; i < TIMELINE_STACKS; i++) {
		timeline_stack(i, &stack);
		if (stack.stack == hash)
			return i;
	}
	hi_test_fail(__FILE__, __LINE__, "a stack that was not drawn");
}

static void recount(struct peaks *p, const struct timeline_block *blocks)
{
	memset(p->live, 0, sizeof(p->live));
	memset(p->bytes, 0, sizeof(p->bytes));
	for (int i = 0; i < TIMELINE_SLOTS; i++)
		if (blocks[i].is_live && !blocks[i].is_held) {
			unsigned k = number_of_stack(blocks[i].stack);

			p->live[k]++;
			p->bytes[k] += blocks[i].size;
		}
	for (unsigned k = 0; k < TIMELINE_STACKS; k++) {
		if (p->live[k] > p->most_live[k])
			p->most_live[k] = p->live[k];
		if (p->bytes[k] > p->most_bytes[k])
			p->most_bytes[k] = p->bytes[k];
	}
}

static void check_totals(const struct hi_recording *r, const struct peaks *p)
{
	const struct hi_context_totals *by_context = hi_recording_by_context(r);
	struct hi_context_totals all = hi_recording_totals(r), sum = {};
	struct hi_context_view view;

	hi_contexts_view(hi_recording_contexts(r), &view);
	for (uint32_t i = 0; i < view.n_contexts; i++) {
		const struct hi_context_totals *t = &by_context[i];
		unsigned k = number_of_stack(view.contexts[i].stack);

		HI_ASSERT_EQ(p->live[k], hi_totals_live(t));
		HI_ASSERT_EQ(p->bytes[k], hi_totals_live_bytes(t));
		HI_ASSERT_EQ(p->most_live[k], t->most_live);
		HI_ASSERT_EQ(p->most_bytes[k], t->most_bytes);
		sum.allocs += t->allocs;
		sum.bytes += t->bytes;
		sum.frees += t->frees;
		sum.freed_bytes += t->freed_bytes;
	}
	HI_ASSERT_EQ(sum.allocs, all.allocs);
	HI_ASSERT_EQ(sum.bytes, all.bytes);
	HI_ASSERT_EQ(sum.frees, all.frees);
	HI_ASSERT_EQ(sum.freed_bytes, all.freed_bytes);
}

static void add_stacks(struct hi_recording *r, unsigned from, unsigned step)
{
	struct hi_event_stack stack;
	struct hi_error err;

	for (unsigned i = from; i < TIMELINE_STACKS; i += step) {
		timeline_stack(i, &stack);
		HI_ASSERT_OK(hi_recording_stack(r, &stack, &err), &err);
	}
}

/* Nothing is lost: the live set is the program's, at every step. */
HI_TEST(census_recording, live_set_and_totals_are_those_of_the_program_at_every_step)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		HI_GUARD(hi_recording_destroy) struct hi_recording *r = new_recording();
		struct hi_recording_counts counts;
		struct timeline t;
		struct peaks peaks = {};

		timeline_init(&t, seed, 4 + (unsigned)(seed % 5) * 11);
		add_stacks(r, 0, 2);
		for (unsigned i = 0; i < 1000; i++) {
			struct hi_event e = timeline_next(&t);

			apply(r, &e);
			check_live(r, t.blocks);
			recount(&peaks, t.blocks);
			check_totals(r, &peaks);
		}
		add_stacks(r, 1, 2);
		HI_ASSERT(hi_recording_is_valid(r));
		hi_recording_counts(r, &counts);
		HI_ASSERT_EQ(1000, counts.events);
		HI_ASSERT_EQ(0, counts.unknown_frees + counts.lost_frees +
					counts.lost_begins + counts.lost_ends);
		HI_ASSERT(counts.failed_reallocs > 0);
	}
}

/* ---- missing events: a replay over an array ---- */

struct naive_thread {
	bool open, known;
	uint64_t addr;
	struct timeline_block block;
};
struct naive_replay {
	struct timeline_block blocks[TIMELINE_SLOTS];
	struct naive_thread threads[8];
	uint64_t freed[8]; /* by each thread, last */
	struct hi_recording_counts counts;
	uint64_t allocs, frees;
};

static bool naive_remove(struct naive_replay *n, uint64_t addr,
			 struct timeline_block *ret)
{
	struct timeline_block *b = &n->blocks[timeline_slot(addr)];

	*ret = *b;
	if (!b->is_live)
		return false;
	*b = (struct timeline_block){};
	n->frees++;
	return true;
}

static void naive_add(struct naive_replay *n, const struct hi_event *e)
{
	struct timeline_block old;

	n->counts.lost_frees += naive_remove(n, e->addr, &old);
	n->blocks[timeline_slot(e->addr)] = (struct timeline_block){
		true, false, e->size, e->time_ns, e->stack, e->tid};
	n->allocs++;
}

static void naive_end(struct naive_replay *n, struct naive_thread *th,
		      const struct hi_event *e)
{
	bool failed = !e->addr && e->size, matches = th->open && th->addr == e->old;
	struct timeline_block old;

	n->counts.lost_ends += th->open && !matches;
	n->counts.lost_begins += !matches;
	n->counts.failed_reallocs += failed;
	th->open = false;
	if (!matches && e->old && !failed)
		naive_remove(n, e->old, &old);
	if (e->addr) {
		naive_add(n, e);
	} else if (failed && matches && th->known) {
		if (n->blocks[timeline_slot(e->old)].is_live) {
			n->counts.lost_frees++;
			return;
		}
		n->blocks[timeline_slot(e->old)] = th->block;
		n->frees--;
	}
}

static void naive_apply(struct naive_replay *n, const struct hi_event *e)
{
	struct naive_thread *th = &n->threads[e->tid % 8];
	struct timeline_block old;

	if (e->kind == HI_EVENT_REALLOC_END) {
		naive_end(n, th, e);
		return;
	}
	n->counts.lost_ends += th->open;
	th->open = false;
	if (e->kind == HI_EVENT_ALLOC)
		naive_add(n, e);
	if (e->kind == HI_EVENT_FREE) {
		/* By two functions, one of which calls the other. */
		bool again = n->freed[e->tid % 8] == e->addr;

		n->counts.unknown_frees += !naive_remove(n, e->addr, &old) && !again;
		n->freed[e->tid % 8] = e->addr;
	}
	if (e->kind == HI_EVENT_REALLOC_BEGIN) {
		*th = (struct naive_thread){.open = true, .addr = e->addr};
		th->known = e->addr && naive_remove(n, e->addr, &th->block);
		n->counts.unknown_frees += e->addr && !th->known;
	}
}

static void check_counts(const struct hi_recording *r, const struct naive_replay *n)
{
	struct hi_context_totals all = hi_recording_totals(r);
	struct hi_recording_counts c;

	hi_recording_counts(r, &c);
	HI_ASSERT_EQ(n->counts.lost_frees, c.lost_frees);
	HI_ASSERT_EQ(n->counts.unknown_frees, c.unknown_frees);
	HI_ASSERT_EQ(n->counts.lost_begins, c.lost_begins);
	HI_ASSERT_EQ(n->counts.lost_ends, c.lost_ends);
	HI_ASSERT_EQ(n->counts.failed_reallocs, c.failed_reallocs);
	HI_ASSERT_EQ(n->allocs, all.allocs);
	HI_ASSERT_EQ(n->frees, all.frees);
}

/* lost: of 100 events, of the kinds that are in the mask. */
static void check_lossy(uint64_t seed, unsigned lost, unsigned kinds)
{
	HI_GUARD(hi_recording_destroy) struct hi_recording *r = new_recording();
	struct naive_replay naive = {};
	uint64_t random = seed * 77 + 5;
	struct timeline t;

	timeline_init(&t, seed, 4 + (unsigned)(seed % 5) * 11);
	for (unsigned i = 0; i < 600; i++) {
		struct hi_event e = timeline_next(&t);

		if ((kinds >> e.kind & 1) && timeline_draw(&random, 100) < lost)
			continue;
		apply(r, &e);
		naive_apply(&naive, &e);
		check_live(r, naive.blocks);
		check_counts(r, &naive);
	}
	HI_ASSERT(hi_recording_is_valid(r));
}

HI_TEST(census_recording, missing_events_of_any_kind_give_what_a_replay_gives)
{
	for (uint64_t seed = 0; seed < 10; seed++)
		for (unsigned kind = HI_EVENT_ALLOC; kind <= HI_EVENT_REALLOC_END; kind++)
			check_lossy(seed, 20, 1u << kind);
	for (uint64_t seed = 0; seed < 20; seed++)
		check_lossy(seed, 5 + 3 * (unsigned)seed, UINT32_MAX);
}

/* Frees that were not seen: the block seems live until its address is used again, and
 * nothing that is live is ever missing. */
HI_TEST(census_recording, lost_frees_never_hide_live_blocks)
{
	for (uint64_t seed = 0; seed < 30; seed++) {
		HI_GUARD(hi_recording_destroy) struct hi_recording *r = new_recording();
		uint64_t random = seed + 9, lost = 0;
		struct hi_recording_counts counts;
		struct hi_live_allocation live;
		struct timeline t;

		timeline_init(&t, seed, 12);
		for (unsigned i = 0; i < 1500; i++) {
			struct hi_event e = timeline_next(&t);

			if (e.kind == HI_EVENT_FREE && timeline_draw(&random, 3) == 0) {
				lost++;
				continue;
			}
			apply(r, &e);
			for (int k = 0; k < 12; k++)
				if (t.blocks[k].is_live && !t.blocks[k].is_held) {
					HI_ASSERT(hi_recording_find(
						r, timeline_address(k), &live));
					check_block(r, &t.blocks[k], &live);
				}
		}
		hi_recording_counts(r, &counts);
		HI_ASSERT_EQ(0, counts.unknown_frees);
		HI_ASSERT(counts.lost_frees <= lost && counts.lost_frees + 12 >= lost);
	}
}

static bool is_reallocating(const struct timeline *t)
{
	for (unsigned i = 0; i < TIMELINE_THREADS; i++)
		if (t->threads[i].reallocates)
			return true;
	return false;
}

/* What was allocated before the start is freed, reallocated, or its reallocation fails.
 */
HI_TEST(census_recording, a_start_in_the_middle_misses_only_older_blocks)
{
	for (uint64_t seed = 0; seed < 30; seed++) {
		HI_GUARD(hi_recording_destroy) struct hi_recording *r = new_recording();
		struct hi_live_allocation live;
		struct timeline t;
		uint64_t start;

		timeline_init(&t, seed, 40);
		/* A source reports no call that is under way when it starts. */
		for (unsigned i = 0; i < 300 || is_reallocating(&t); i++)
			(void)timeline_next(&t);
		start = t.time_ns;
		for (unsigned i = 0; i < 1000; i++) {
			struct hi_event e = timeline_next(&t);

			apply(r, &e);
			for (int k = 0; k < 40; k++) {
				const struct timeline_block *b = &t.blocks[k];
				bool wanted =
					b->is_live && !b->is_held && b->time_ns > start;

				HI_ASSERT_EQ(
					wanted,
					hi_recording_find(r, timeline_address(k), &live));
				if (wanted)
					check_block(r, b, &live);
			}
		}
	}
}

/* All that was before is forgotten, and what comes later counts as if it began then. */
HI_TEST(census_recording, a_restart_is_as_a_start_in_the_middle)
{
	for (uint64_t seed = 0; seed < 30; seed++) {
		HI_GUARD(hi_recording_destroy)
		struct hi_recording *r = new_recording(), *other = new_recording();
		struct hi_context_totals totals, others;
		struct hi_recording_counts counts, of_other;
		struct timeline t;

		timeline_init(&t, seed, 40);
		for (unsigned i = 0; i < 300 || is_reallocating(&t); i++) {
			struct hi_event e = timeline_next(&t);

			apply(r, &e);
		}
		hi_recording_restart(r);
		HI_ASSERT_EQ(0, hi_recording_live(r));
		for (unsigned i = 0; i < 1000; i++) {
			struct hi_event e = timeline_next(&t);

			apply(r, &e);
			apply(other, &e);
			HI_ASSERT_EQ(hi_recording_live(other), hi_recording_live(r));
		}
		totals = hi_recording_totals(r);
		others = hi_recording_totals(other);
		HI_ASSERT(memcmp(&totals, &others, sizeof(totals)) == 0);
		hi_recording_counts(r, &counts);
		hi_recording_counts(other, &of_other);
		HI_ASSERT(memcmp(&counts, &of_other, sizeof(counts)) == 0);
		HI_ASSERT(hi_recording_is_valid(r));
	}
}

/* It is no event of blocks: of a thread that is in a reallocation neither. */
HI_TEST(census_recording, samples_of_time_are_counted_by_context_and_change_nothing_else)
{
	HI_GUARD(hi_recording_destroy) struct hi_recording *r = new_recording();
	const struct hi_event begin = {.kind = HI_EVENT_REALLOC_BEGIN,
				       .addr = 16,
				       .size = 4,
				       .tid = 7,
				       .time_ns = 3};
	const struct hi_event end = {.kind = HI_EVENT_REALLOC_END,
				     .addr = 32,
				     .old = 16,
				     .size = 4,
				     .stack = 5,
				     .tid = 7,
				     .time_ns = 6};
	struct hi_event tick = {.kind = HI_EVENT_TICK, .tid = 7, .time_ns = 1};
	struct hi_recording_counts c;

	apply(r, &tick);
	apply(r, &begin);
	tick.stack = 9;
	tick.flags = HI_EVENT_IN_PROBE;
	tick.time_ns = 4;
	apply(r, &tick);
	apply(r, &tick);
	apply(r, &end);
	tick.flags = HI_EVENT_STACK_CUT;
	tick.time_ns = 99;
	apply(r, &tick);
	hi_recording_counts(r, &c);
	HI_ASSERT_EQ(4, c.ticks);
	HI_ASSERT_EQ(2, c.ticks_in_probes);
	HI_ASSERT_EQ(1, hi_recording_ticks(r)[0]);
	HI_ASSERT_EQ(3, hi_recording_ticks(r)[1]); /* of stack 9 */
	HI_ASSERT_EQ(0, hi_recording_ticks(r)[2]);
	HI_ASSERT_EQ(2, c.events);
	HI_ASSERT_EQ(3, c.first_ns);
	HI_ASSERT_EQ(6, c.last_ns);
	HI_ASSERT_EQ(0, c.lost_begins + c.lost_ends + c.other_kinds);
	HI_ASSERT_EQ(1, hi_recording_live(r));
	HI_ASSERT(hi_recording_is_valid(r));
}

HI_TEST(census_recording, lost_and_unknown_events_are_counted)
{
	HI_GUARD(hi_recording_destroy) struct hi_recording *r = new_recording();
	struct hi_event lost = {.kind = HI_EVENT_LOST, .size = 17, .time_ns = 5};
	struct hi_event other = {.kind = 99, .time_ns = 6};
	struct hi_event sampled = {.kind = HI_EVENT_ALLOC,
				   .addr = 16,
				   .size = 1,
				   .time_ns = 7,
				   .flags = HI_EVENT_SAMPLED};
	struct hi_recording_counts c;

	apply(r, &lost);
	apply(r, &lost);
	apply(r, &other);
	apply(r, &sampled);
	hi_recording_counts(r, &c);
	HI_ASSERT_EQ(34, c.lost);
	HI_ASSERT_EQ(1, c.other_kinds);
	HI_ASSERT_EQ(1, c.sampled);
	HI_ASSERT_EQ(2, c.events);
	HI_ASSERT_EQ(6, c.first_ns);
	HI_ASSERT_EQ(7, c.last_ns);
	HI_ASSERT_EQ(1, hi_recording_live(r));
}

/* ---- contexts ---- */

static void check_frames(const struct hi_recording *r, unsigned number)
{
	const struct hi_contexts *contexts = hi_recording_contexts(r);
	const uint64_t *addresses = hi_contexts_addresses(contexts);
	uint32_t frames[HI_STACK_FRAMES], i;
	struct hi_context_view view;
	struct hi_event_stack stack;

	hi_contexts_view(contexts, &view);
	HI_ASSERT(hi_contexts_are_valid(&view));
	timeline_stack(number, &stack);
	for (i = 0; i < view.n_contexts && view.contexts[i].stack != stack.stack; i++)
		;
	HI_ASSERT(i < view.n_contexts);
	HI_ASSERT_EQ(stack.cut ? HI_CONTEXT_CUT : 0, view.contexts[i].flags);
	HI_ASSERT_EQ(stack.n, hi_context_frames(&view, i, frames));
	for (unsigned k = 0; k < stack.n; k++)
		HI_ASSERT_EQ(stack.frames[k], addresses[frames[k]]);
}

HI_TEST(census_recording, stacks_may_come_before_or_after_their_events)
{
	HI_GUARD(hi_recording_destroy) struct hi_recording *r = new_recording();
	struct hi_event_stack stack;
	struct hi_context_view view;
	struct hi_error err;
	struct timeline t;

	timeline_init(&t, 1, 30);
	add_stacks(r, 0, 3);
	for (unsigned i = 0; i < 1000; i++) {
		struct hi_event e = timeline_next(&t);

		apply(r, &e);
	}
	hi_contexts_view(hi_recording_contexts(r), &view);
	HI_ASSERT_EQ(TIMELINE_STACKS, view.n_contexts);
	for (uint32_t i = 1; i < view.n_contexts; i++)
		HI_ASSERT_EQ(number_of_stack(view.contexts[i].stack) % 3 != 0,
			     view.contexts[i].flags == HI_CONTEXT_MISSING);
	add_stacks(r, 0, 1);
	for (unsigned i = 1; i < TIMELINE_STACKS; i++)
		check_frames(r, i);
	/* A second stack of the same hash changes nothing. */
	timeline_stack(5, &stack);
	stack.n = 1;
	HI_ASSERT_OK(hi_recording_stack(r, &stack, &err), &err);
	check_frames(r, 5);
}

HI_TEST(census_recording, the_deepest_stack_and_extreme_values_fit)
{
	HI_GUARD(hi_recording_destroy) struct hi_recording *r = new_recording();
	struct hi_event_stack stack = {.stack = UINT64_MAX, .n = UINT16_MAX};
	uint32_t frames[HI_STACK_FRAMES];
	struct hi_context_view view;
	struct hi_error err;

	for (uint64_t i = 0; i < HI_STACK_FRAMES; i++)
		stack.frames[i] = UINT64_MAX - i * i;
	HI_ASSERT_OK(hi_recording_stack(r, &stack, &err), &err);
	hi_contexts_view(hi_recording_contexts(r), &view);
	HI_ASSERT(hi_contexts_are_valid(&view));
	HI_ASSERT_EQ(HI_STACK_FRAMES, hi_context_frames(&view, 1, frames));
	HI_ASSERT_EQ(0, hi_context_frames(&view, 2, frames));
	for (uint32_t i = 1; i < HI_STACK_FRAMES; i++)
		HI_ASSERT_EQ(stack.frames[i],
			     hi_contexts_addresses(hi_recording_contexts(r))[frames[i]]);
}

/* ---- size, and no memory ---- */

HI_TEST(census_recording, many_blocks_stay_small_and_can_be_removed_in_any_order)
{
	enum { N = 100000 };
	HI_GUARD(hi_recording_destroy) struct hi_recording *r = new_recording();
	struct hi_event e = {.kind = HI_EVENT_ALLOC, .size = 40};
	struct hi_live_allocation live;

	for (uint64_t i = 0; i < N; i++) {
		e.addr = 0x7f0000000010 + i * 48;
		apply(r, &e);
	}
	HI_ASSERT_EQ(N, hi_recording_live(r));
	HI_ASSERT_MSG(hi_recording_size(r) <= 100 * N, "%lu bytes",
		      (unsigned long)hi_recording_size(r));
	HI_ASSERT(hi_recording_is_valid(r));
	e.kind = HI_EVENT_FREE;
	for (uint64_t i = 0; i < N; i++) {
		e.addr = 0x7f0000000010 + i * 7919 % N * 48;
		apply(r, &e);
		HI_ASSERT(!hi_recording_find(r, e.addr, &live));
		if (i % 50000 == 0)
			HI_ASSERT(hi_recording_is_valid(r));
	}
	HI_ASSERT_EQ(0, hi_recording_live(r));
}

/* Whichever allocation fails: it is said, and the rest stays in order. */
HI_TEST(census_recording, out_of_memory_refuses_the_event_only)
{
	for (uint64_t nth = 1; nth < 60; nth++) {
		struct hi_recording *r = NULL;
		unsigned refused = 0;
		struct hi_event_stack stack;
		struct hi_error err;
		struct timeline t;

		timeline_init(&t, nth, 40);
		hi_alloc_fail_once(nth);
		if (hi_recording_create(&r, &err) != HI_OK) {
			hi_alloc_fail_at(0);
			HI_ASSERT_EQ(HI_NO_MEMORY, err.status);
			continue;
		}
		for (unsigned i = 0; i < 400; i++) {
			struct hi_event e = timeline_next(&t);

			timeline_stack(i % TIMELINE_STACKS, &stack);
			refused += hi_recording_stack(r, &stack, &err) != HI_OK;
			refused += hi_recording_apply(r, &e, &err) != HI_OK;
		}
		if (hi_alloc_count() >= nth)
			HI_ASSERT_MSG(refused == 1, "%lu: %u", (unsigned long)nth,
				      refused);
		hi_alloc_fail_at(0);
		HI_ASSERT(hi_recording_is_valid(r));
		hi_recording_destroy(r);
	}
}

/* Calls that give nothing count by context, and change nothing else. */
HI_TEST(census_recording, failed_calls_and_moves_count_by_context)
{
	HI_GUARD(hi_recording_destroy) struct hi_recording *r = new_recording();
	struct hi_event failed = {.kind = HI_EVENT_FAILED, .size = 99, .stack = 5};
	struct hi_event got = {.kind = HI_EVENT_ALLOC, .addr = 16, .size = 4, .stack = 6};
	struct hi_event begin = {.kind = HI_EVENT_REALLOC_BEGIN, .addr = 16, .size = 50};
	struct hi_event end = {
		.kind = HI_EVENT_REALLOC_END, .old = 16, .size = 50, .stack = 5};
	const struct hi_context_ports *ports;
	struct hi_recording_counts c;

	apply(r, &failed);
	apply(r, &failed);
	apply(r, &got);
	apply(r, &begin);
	apply(r, &end); /* it fails */
	end.addr = 16;
	apply(r, &begin);
	apply(r, &end); /* in its place */
	end.addr = 32;
	apply(r, &begin);
	apply(r, &end);
	ports = hi_recording_ports(r);
	HI_ASSERT_EQ(3, ports[1].fails); /* of stack 5 */
	HI_ASSERT_EQ(1, ports[1].moves);
	HI_ASSERT_EQ(0, ports[2].fails + ports[2].moves);
	hi_recording_counts(r, &c);
	HI_ASSERT_EQ(2, c.failed_allocs);
	HI_ASSERT_EQ(1, c.failed_reallocs);
	HI_ASSERT_EQ(9, c.events);
	HI_ASSERT_EQ(1, hi_recording_live(r));
	HI_ASSERT(hi_recording_is_valid(r));
}
