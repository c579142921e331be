/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Estimates from samples, beside what drawn programs themselves know. Seeds are fixed: a
 * run gives the same figures each time.
 */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "census/events/in_use.h"
#include "census/events/sampling.h"
#include "tests/census/recordings.h"

enum { PROGRAMS = 3000, BLOCKS = 400, STACKS = 3, OVERHEAD = 8 };
static const uint64_t mean_bytes = 8192, heap_start = 0x10000;

struct program {
	uint64_t random;
	struct hi_recording *recording;
	struct hi_objects *objects;
	struct hi_births *births;
	struct hi_context_view contexts;
	/* The truth, by stack: live objects and their cost, and all allocations. */
	uint64_t live[STACKS], live_cost[STACKS], allocs[STACKS], bytes[STACKS];
	double bytes_variance; /* of an estimate of all bytes */
};

static void end_program(struct program *p)
{
	hi_births_destroy(p->births);
	hi_objects_destroy(p->objects);
	hi_recording_destroy(p->recording);
}

static double draw_share(struct program *p)
{
	return timeline_draw(&p->random, 1 << 30) / 0x1p30;
}

static void apply_to(struct program *p, struct hi_event e)
{
	struct hi_error err;

	HI_ASSERT_OK(hi_recording_apply(p->recording, &e, &err), &err);
}

/* 16 B to 32 KiB, as many in each octave. */
static uint64_t draw_block_size(struct program *p)
{
	return (uint64_t)(16 * exp2(11 * draw_share(p)));
}

static bool draw_sample(struct program *p, uint64_t size)
{
	return draw_share(p) < hi_sample_probability(mean_bytes, size);
}

static void give_sampled(struct program *p, uint16_t kind, uint64_t addr, uint64_t old,
			 uint64_t size, unsigned stack, bool is_sampled)
{
	apply_to(p, (struct hi_event){.kind = kind,
				      .addr = addr,
				      .old = old,
				      .size = size,
				      .stack = stack + 1,
				      .flags = is_sampled ? HI_EVENT_SAMPLED : 0});
}

static void count_given(struct program *p, unsigned stack, uint64_t size)
{
	double q = hi_sample_probability(mean_bytes, size);

	p->allocs[stack]++;
	p->bytes[stack] += size;
	p->bytes_variance += (double)size * (double)size * (1 - q) / q;
}

/* One block: what the source would send of it. Returns its size at the end; 0: freed. */
static uint64_t live_through(struct program *p, uint64_t addr, unsigned stack)
{
	uint64_t size = draw_block_size(p);
	bool is_sampled = draw_sample(p, size);
	uint32_t fate = timeline_draw(&p->random, 10);

	count_given(p, stack, size);
	if (is_sampled)
		give_sampled(p, HI_EVENT_ALLOC, addr, 0, size, stack, true);
	if (fate < 3) {
		if (is_sampled)
			apply_to(p,
				 (struct hi_event){.kind = HI_EVENT_FREE, .addr = addr});
		return 0;
	}
	if (fate < 7)
		return size;
	if (is_sampled)
		apply_to(p, (struct hi_event){.kind = HI_EVENT_REALLOC_BEGIN,
					      .addr = addr,
					      .size = 2 * size});
	if (fate == 7) { /* it fails */
		if (is_sampled)
			give_sampled(p, HI_EVENT_REALLOC_END, 0, addr, 2 * size, stack,
				     false);
		return size;
	}
	count_given(p, stack, 2 * size);
	if (draw_sample(p, 2 * size))
		give_sampled(p, is_sampled ? HI_EVENT_REALLOC_END : HI_EVENT_ALLOC, addr,
			     is_sampled ? addr : 0, 2 * size, stack, true);
	else if (is_sampled)
		give_sampled(p, HI_EVENT_REALLOC_END, addr, addr, 2 * size, 0, false);
	return 2 * size;
}

static void run_program(struct program *p, uint64_t seed)
{
	struct hi_objects_builder *b;
	uint64_t addr = heap_start;
	struct hi_error err;
	unsigned region;

	*p = (struct program){.random = (seed + 1) * 0xd1342543de82ef95};
	HI_ASSERT_OK(hi_recording_create(&p->recording, &err), &err);
	hi_recording_set_sampling(p->recording, mean_bytes);
	HI_ASSERT_OK(hi_objects_builder_create(&b, &err), &err);
	hi_objects_builder_overhead(b, 0, OVERHEAD);
	HI_ASSERT_OK(
		hi_objects_builder_region(b, heap_start, 1ull << 32, 4, &region, &err),
		&err);
	for (unsigned i = 0; i < BLOCKS; i++) {
		unsigned stack = i % STACKS;
		uint64_t size = live_through(p, addr, stack);
		uint64_t usable = (size + 15) / 16 * 16;

		if (!size)
			continue;
		HI_ASSERT_OK(hi_objects_builder_add(b, region, addr, usable, 0, &err),
			     &err);
		p->live[stack]++;
		p->live_cost[stack] += usable + OVERHEAD;
		addr += usable + 16;
	}
	HI_ASSERT_OK(hi_objects_seal(b, &p->objects, &err), &err);
	HI_ASSERT(hi_recording_is_valid(p->recording));
	HI_ASSERT_OK(hi_births_join(p->recording, p->objects, 0, 1, &p->births, &err),
		     &err);
	hi_contexts_view(hi_recording_contexts(p->recording), &p->contexts);
	HI_ASSERT_EQ(0, p->births->without_object + p->births->too_large);
}

/* ---- live objects ---- */

/* How often the truth is in the interval, and how far off the estimates are. */
struct coverage {
	unsigned intervals, covered, below, above;
	double off, variance;
};

static void look_at_sum(struct coverage *c, const struct hi_birth_sum *sum,
			uint64_t truth)
{
	struct hi_interval interval = hi_birth_sum_interval(sum);

	c->intervals++;
	c->below += truth < interval.low;
	c->above += truth > interval.high;
	c->covered += truth >= interval.low && truth <= interval.high;
	c->off += sum->bytes_estimate.sum - (double)truth;
	c->variance += sum->bytes_estimate.variance;
	HI_ASSERT(interval.low <= sum->bytes && sum->bytes <= interval.high);
	HI_ASSERT(interval.low >= sum->seen_bytes);
}

static void look_at_program(struct program *p, struct coverage *by_stack,
			    struct coverage *all)
{
	HI_GUARD(hi_birth_groups_destroy) struct hi_birth_groups *g = NULL;
	struct hi_birth_sum sums[HI_GROUPS_FIXED + STACKS] = {}, known = {}, rest;
	uint64_t truth = 0, live = 0;
	struct hi_error err;

	HI_ASSERT_OK(hi_birth_groups_make(p->births, &p->contexts, NULL,
					  HI_BORN_BY_CONTEXT, &g, &err),
		     &err);
	HI_ASSERT(g->n_groups <= HI_GROUPS_FIXED + STACKS);
	hi_birth_groups_sum(g, p->births, p->objects, NULL, sums);
	for (uint32_t i = HI_GROUPS_FIXED; i < g->n_groups; i++) {
		uint32_t context = g->groups[i].key;
		uint64_t stack = p->contexts.contexts[context].stack - 1;

		look_at_sum(by_stack, &sums[i], p->live_cost[stack]);
		hi_birth_sum_add(&known, &sums[i]);
	}
	for (int i = 0; i < STACKS; i++) {
		truth += p->live_cost[i];
		live += p->live[i];
	}
	look_at_sum(all, &known, truth);
	/* All objects are of the recording: few are left for the time before it. */
	HI_ASSERT_EQ(live, known.seen_objects + sums[HI_GROUP_BEFORE].seen_objects);
	rest = hi_birth_sum_rest(&sums[HI_GROUP_BEFORE], &known);
	HI_ASSERT(rest.bytes == 0 || rest.bytes + known.bytes - truth <= 1);
}

static void expect_coverage(const char *what, const struct coverage *c)
{
	double share = (double)c->covered / c->intervals;

	hi_test_note("%s: %u intervals, %.2f %% have the truth (%.2f %% lie above it, "
		     "%.2f %% below), estimates %.2f standard deviations off",
		     what, c->intervals, 100 * share, 100.0 * c->above / c->intervals,
		     100.0 * c->below / c->intervals, c->off / sqrt(c->variance));
	HI_ASSERT(share > 0.93 && share < 0.97);
	HI_ASSERT(fabs(c->off) < 4 * sqrt(c->variance));
}

HI_TEST(census_sampling, intervals_have_the_truth_in_95_of_100_programs)
{
	struct coverage by_stack = {}, all = {};

	for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
		struct program p;

		run_program(&p, seed);
		look_at_program(&p, &by_stack, &all);
		end_program(&p);
	}
	expect_coverage("by stack", &by_stack);
	expect_coverage("all", &all);
}

/* Poisson samples, few of them: those that are drawn at all. */
HI_TEST(census_sampling, intervals_of_few_samples_are_not_too_short)
{
	enum { RUNS = 4000, SMALL = 64 };
	uint64_t random = 0x9e3779b97f4a7c15;
	double p = hi_sample_probability(mean_bytes, SMALL);

	for (unsigned n = 500; n <= 8000; n *= 2) {
		unsigned covered = 0;

		for (unsigned run = 0; run < RUNS; run++) {
			struct hi_estimate e = {};
			struct hi_interval interval;

			for (unsigned i = 0; i < n; i++)
				if (timeline_draw(&random, 1 << 30) < p * 0x1p30)
					hi_estimate_add(&e, SMALL, p);
			interval = hi_estimate_interval(&e, 0);
			covered +=
				interval.low <= n * SMALL && n * SMALL <= interval.high;
		}
		hi_test_note("%.1f samples expected: %.2f %%", n * p,
			     100.0 * covered / RUNS);
		HI_ASSERT(covered > 0.92 * RUNS);
	}
}

/* ---- totals ---- */

HI_TEST(census_sampling, totals_are_unbiased)
{
	double allocs_off = 0, bytes_off = 0, variance = 0;
	uint64_t allocs = 0;

	for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
		struct hi_context_totals t;
		struct program p;

		run_program(&p, seed);
		t = hi_recording_totals(p.recording);
		for (int i = 0; i < STACKS; i++) {
			allocs += p.allocs[i];
			allocs_off -= (double)p.allocs[i];
			bytes_off -= (double)p.bytes[i];
		}
		allocs_off += (double)t.allocs;
		bytes_off += (double)t.bytes;
		variance += p.bytes_variance;
		HI_ASSERT(t.most_live >= hi_totals_live(&t));
		end_program(&p);
	}
	hi_test_note("bytes %.2f standard deviations off, allocations %.2f %%",
		     bytes_off / sqrt(variance), 100 * allocs_off / (double)allocs);
	HI_ASSERT(fabs(bytes_off) < 4 * sqrt(variance));
	/* Those of 16 bytes count for 500: the deviation is about 0.4 %. */
	HI_ASSERT(fabs(allocs_off) < 0.02 * (double)allocs);
}

/* 1/p is 1.58: rounded, the sum would be 26 % off, or 37. */
HI_TEST(census_sampling, remainders_are_carried)
{
	enum { SAMPLES = 100000 };
	HI_GUARD(hi_recording_destroy) struct hi_recording *r = NULL;
	double p = hi_sample_probability(mean_bytes, mean_bytes);
	struct hi_context_totals t;
	struct hi_error err;

	HI_ASSERT_OK(hi_recording_create(&r, &err), &err);
	hi_recording_set_sampling(r, mean_bytes);
	for (uint64_t i = 0; i < SAMPLES; i++) {
		struct hi_event e = {.kind = HI_EVENT_ALLOC,
				     .addr = 16 + 16 * i,
				     .size = mean_bytes,
				     .stack = 1 + i % 7,
				     .flags = HI_EVENT_SAMPLED};

		HI_ASSERT_OK(hi_recording_apply(r, &e, &err), &err);
	}
	t = hi_recording_totals(r);
	HI_ASSERT(fabs((double)t.allocs - SAMPLES / p) < 1.5);
	HI_ASSERT(fabs((double)t.bytes - SAMPLES * (double)mean_bytes / p) < 1.5);
	HI_ASSERT(hi_recording_is_valid(r));
	for (uint64_t i = 0; i < SAMPLES; i++) {
		struct hi_event e = {.kind = HI_EVENT_FREE, .addr = 16 + 16 * i};

		HI_ASSERT_OK(hi_recording_apply(r, &e, &err), &err);
	}
	t = hi_recording_totals(r);
	HI_ASSERT_EQ(0, hi_totals_live(&t) + hi_totals_live_bytes(&t));
	HI_ASSERT_EQ(t.allocs, t.most_live);
}

HI_TEST(census_sampling, frees_of_others_and_what_was_not_sampled_do_not_count)
{
	HI_GUARD(hi_recording_destroy) struct hi_recording *r = NULL;
	struct hi_event e = {.kind = HI_EVENT_FREE, .addr = 4096, .tid = 3};
	struct hi_recording_counts counts;
	struct hi_live_allocation live;
	struct hi_error err;

	HI_ASSERT_OK(hi_recording_create(&r, &err), &err);
	hi_recording_set_sampling(r, mean_bytes);
	HI_ASSERT_OK(hi_recording_apply(r, &e, &err), &err);
	e.kind = HI_EVENT_REALLOC_BEGIN;
	e.size = 10;
	HI_ASSERT_OK(hi_recording_apply(r, &e, &err), &err);
	e.kind = HI_EVENT_REALLOC_END;
	e.old = 4096;
	HI_ASSERT_OK(hi_recording_apply(r, &e, &err), &err);
	HI_ASSERT_EQ(0, hi_recording_live(r));
	HI_ASSERT(!hi_recording_find(r, 4096, &live));
	hi_recording_counts(r, &counts);
	HI_ASSERT_EQ(0, counts.unknown_frees + counts.lost_begins + counts.lost_ends +
				counts.lost_frees);
}

/* ---- profiles ---- */

HI_TEST(census_sampling, estimate_of_memory_in_use_is_unbiased)
{
	double off = 0, variance = 0;

	for (uint64_t seed = 0; seed < 300; seed++) {
		struct hi_in_use by_context[STACKS + 1] = {};
		uint64_t mask[BLOCKS / 64 + 1];
		struct hi_in_use_sums sums = {.by_context = by_context};
		struct hi_context_totals t;
		struct program p;

		run_program(&p, seed);
		memset(mask, 0xff, sizeof(mask));
		sums.n_contexts = p.contexts.n_contexts;
		hi_in_use_sum(p.births, p.objects, mask, &sums);
		t = hi_recording_totals(p.recording);
		for (int i = 0; i <= STACKS; i++)
			off += (double)by_context[i].bytes;
		off -= (double)hi_totals_live_bytes(&t);
		variance += STACKS;
		end_program(&p);
	}
	/* The same samples: only what is carried differs. */
	HI_ASSERT(fabs(off) <= variance);
}
