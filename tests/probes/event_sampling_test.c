/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sampled allocation events: how many there are, beside the probabilities, and that what
 * is live by them is live in a program that knows by itself what is.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/events/bpf_source_internal.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/live_blocks.h"

/* Standard deviations that a number may be off: by chance once in a million runs. */
static const double most_z = 5;

/* ---- distances ---- */

static uint64_t draw_distance_of(const struct hi_sampling_table *table, uint64_t *state,
				 uint64_t mean)
{
	__u64 distance = 0;

	for (int i = 0; i < HI_SAMPLING_DRAWS; i++) {
		*state ^= *state << 13;
		*state ^= *state >> 7;
		*state ^= *state << 17;
		if (hi_sampling_add(table, (uint32_t)(*state >> 32), &distance))
			break;
	}
	return hi_sampling_bytes(distance, mean);
}

HI_TEST(event_sampling, distances_are_exponential)
{
	enum { DRAWS = 1 << 21, MEAN = 1 << 16, POINTS = 8 };
	static const uint64_t points[POINTS] = {16,   400,	1 << 12,  1 << 15,
						MEAN, 4 * MEAN, 9 * MEAN, 11 * MEAN};
	static struct hi_sampling_table table;
	uint64_t below[POINTS] = {}, state = 88172645463325252, distance;
	double sum = 0;

	hi_sampling_table_fill(&table);
	for (size_t i = 0; i < DRAWS; i++) {
		distance = draw_distance_of(&table, &state, MEAN);
		HI_ASSERT(distance > 0);
		sum += (double)distance;
		for (size_t k = 0; k < POINTS; k++)
			below[k] += distance <= points[k];
	}
	HI_ASSERT(fabs(sum / DRAWS / MEAN - 1) < most_z / sqrt(DRAWS));
	for (size_t k = 0; k < POINTS; k++) {
		double p = -expm1(-(double)points[k] / MEAN);
		double z = ((double)below[k] - p * DRAWS) / sqrt(DRAWS * p * (1 - p));

		HI_ASSERT_MSG(fabs(z) < most_z, "%g of %g below %lu: z = %g",
			      (double)below[k], p * DRAWS, (unsigned long)points[k], z);
	}
}

/* Against the formula, without chance: the share of all random numbers whose distance is
 * at most so large. */
HI_TEST(event_sampling, small_distances_have_the_right_probability)
{
	enum { MEAN = 512 << 10 };
	static struct hi_sampling_table table;
	__u64 distance;

	hi_sampling_table_fill(&table);
	for (uint64_t size = 16; size <= 4096; size += 240) {
		uint64_t low = 0, high = 1ull << 32;

		while (low < high) { /* the first number that is beyond it */
			uint64_t middle = (low + high) / 2;

			distance = 0;
			(void)hi_sampling_add(&table, (uint32_t)middle, &distance);
			if (hi_sampling_bytes(distance, MEAN) <= size)
				low = middle + 1;
			else
				high = middle;
		}
		HI_ASSERT_MSG(fabs((double)low / 0x1p32 / -expm1(-(double)size / MEAN) -
				   1) < 5e-4,
			      "%lu bytes: %g", (unsigned long)size, (double)low / 0x1p32);
	}
}

/* ---- a program ---- */

struct sampled_run {
	struct hi_fixture *fx;
	struct hi_target *target;
	struct hi_event_functions functions;
	struct hi_event_source *source;
	struct live_blocks *live;
	struct hi_event_sink sink;
	uint64_t mean;
	const char *last_line; /* of what is live */
	/* What the fixture says is live: how many samples that makes. */
	double expected, variance;
	size_t found, wrong_size;
};

static void end_sampled_run(struct sampled_run *r)
{
	hi_event_source_close(r->source);
	hi_target_close(r->target);
	free(r->live);
	free(r);
}

/* As hi_event_source_open(). */
static typeof(hi_event_source_open) *open_sampled_source = hi_event_source_open;

static void open_as_usual(void *unused)
{
	(void)unused;
	open_sampled_source = hi_event_source_open;
}

static void open_as_on_old_kernels(void)
{
	open_sampled_source = hi_event_source_open_as_on_old_kernels;
	hi_test_defer(open_as_usual, NULL);
}

static struct sampled_run *open_sampled_run(const char *fixture, uint64_t mean)
{
	const struct hi_event_source_options options = {};
	struct sampled_run *r = calloc(1, sizeof(*r));
	struct hi_error err;

	HI_ASSERT(r);
	hi_test_defer(end_sampled_run, r);
	r->live = live_blocks_new();
	r->live->is_sampled = true;
	r->sink = live_blocks_sink(r->live);
	r->mean = mean;
	r->last_line = strcmp(fixture, "alloc_events") ? "done" : "that is all";
	r->fx = hi_fixture_start(fixture, NULL);
	hi_fixture_read_until(r->fx, "ready", NULL, NULL);
	HI_ASSERT_OK(hi_target_open(r->fx->pid, &r->target, &err), &err);
	HI_ASSERT_OK(hi_event_functions_find(r->target, &r->functions, &err), &err);
	HI_ASSERT_OK(
		open_sampled_source(r->target, &r->functions, &options, &r->source, &err),
		&err);
	return r;
}

static struct sampled_run *start_sampled_run(const char *fixture, uint64_t mean)
{
	struct sampled_run *r = open_sampled_run(fixture, mean);
	struct hi_error err;

	hi_event_source_set_sampling(r->source, mean);
	HI_ASSERT_OK(hi_event_source_start(r->source, &err), &err);
	return r;
}

static void tell_and_drain(struct sampled_run *r, const char *what)
{
	struct hi_error err;

	hi_fixture_tell(r->fx, what);
	HI_ASSERT_OK(hi_event_source_poll(r->source, 1, &r->sink, &err), &err);
	hi_fixture_read_until(r->fx, "done", NULL, NULL);
	HI_ASSERT_OK(hi_event_source_drain(r->source, &r->sink, &err), &err);
}

static double probability_of(const struct sampled_run *r, uint64_t size)
{
	return -expm1(-(double)(size ? size : 1) / (double)r->mean);
}

static void weigh_live_line(const char *line, void *arg)
{
	struct sampled_run *r = arg;
	const struct live_block *block;
	unsigned long addr, size;
	double p;

	if (sscanf(line, "live %lx %lx", &addr, &size) != 2)
		return;
	p = probability_of(r, size);
	r->expected += p;
	r->variance += p * (1 - p);
	block = live_blocks_find(r->live, addr);
	r->found += block != NULL;
	r->wrong_size += block && block->size != size;
}

/* Whatever is live by the events is live, and about as many blocks are as it should. */
static void expect_samples_are_live(struct sampled_run *r)
{
	double z;

	r->expected = r->variance = 0;
	r->found = r->wrong_size = 0;
	hi_fixture_tell(r->fx, "live");
	hi_fixture_read_until(r->fx, r->last_line, weigh_live_line, r);
	z = ((double)r->found - r->expected) / sqrt(r->variance);
	hi_test_note("%zu samples are live, %.1f expected, z = %.2f", r->found,
		     r->expected, z);
	HI_ASSERT_EQ(0, r->wrong_size);
	HI_ASSERT_EQ(r->live->live, r->found);
	HI_ASSERT_EQ(0, r->live->twice);
	HI_ASSERT(fabs(z) < most_z);
}

/* Samples of each size, by all the blocks that the fixture makes. */
struct size_counts {
	struct sampled_run *run;
	uint64_t sizes[6], samples[6], allocs, frees;
	struct hi_event_sink inner;
};

static void count_sample_of_size(void *arg, const struct hi_event *event)
{
	struct size_counts *c = arg;

	c->frees += event->kind == HI_EVENT_FREE;
	if (event->kind == HI_EVENT_ALLOC) {
		HI_ASSERT(event->flags & HI_EVENT_SAMPLED);
		c->allocs++;
		for (int i = 0; i < 6; i++)
			c->samples[i] += event->size == c->sizes[i];
	}
	c->inner.event(c->inner.arg, event);
}

static void pass_stack(void *arg, const struct hi_event_stack *stack)
{
	struct size_counts *c = arg;

	c->inner.stack(c->inner.arg, stack);
}

static void expect_probabilities(void)
{
	static const double made[6] = {200000, 40000, 4000, 300, 40, 10};
	struct sampled_run *r = start_sampled_run("sampled_sizes", 64 << 10);
	struct size_counts c = {.run = r,
				.sizes = {16, 256, 4096, 65536, 1 << 20, 4 << 20},
				.inner = r->sink};
	struct hi_event_stats stats;

	r->sink = (struct hi_event_sink){
		.event = count_sample_of_size, .stack = pass_stack, .arg = &c};
	tell_and_drain(r, "go");
	for (int i = 0; i < 6; i++) {
		double p = probability_of(r, c.sizes[i]), mean = made[i] * p;
		double off = fabs((double)c.samples[i] - mean);

		hi_test_note("%lu bytes: %lu samples, %.1f expected",
			     (unsigned long)c.sizes[i], (unsigned long)c.samples[i],
			     mean);
		HI_ASSERT(off <= most_z * sqrt(mean * (1 - p)) + 1e-3);
	}
	expect_samples_are_live(r);
	/* Frees come of samples alone. */
	HI_ASSERT_EQ(c.allocs, c.frees + r->live->live);
	HI_ASSERT_EQ(0, r->live->unknown_frees);
	hi_event_source_stats(r->source, &stats);
	HI_ASSERT_EQ(c.allocs + c.frees, stats.events);
	HI_ASSERT_EQ(0, stats.lost);
}

HI_TEST_ROOT(event_sampling, samples_each_size_with_its_probability)
{
	expect_probabilities();
}

HI_TEST_ROOT(event_sampling, samples_each_size_with_its_probability_on_old_kernels)
{
	open_as_on_old_kernels();
	expect_probabilities();
}

/* An address that was sampled once is not sent for ever after. */
HI_TEST_ROOT(event_sampling, sends_no_frees_of_blocks_that_were_not_sampled)
{
	struct sampled_run *r = start_sampled_run("sampled_sizes", 64 << 10);
	struct hi_event_stats stats;

	for (int i = 0; i < 4; i++)
		tell_and_drain(r, "churn");
	hi_event_source_stats(r->source, &stats);
	hi_test_note("%lu events of 2400000 calls", (unsigned long)stats.events);
	HI_ASSERT(r->live->allocs > 1500 && r->live->allocs < 3500);
	HI_ASSERT_EQ(r->live->allocs, r->live->frees);
	HI_ASSERT_EQ(0, r->live->live + r->live->unknown_frees);
}

/* To choose a distance: no event is made, and calls and bytes are the program's. */
HI_TEST_ROOT(event_sampling, counts_what_is_allocated_before_the_start)
{
	enum { CALLS = 200000 + 40000 + 4000 + 300 + 40 + 10 };
	struct sampled_run *r = open_sampled_run("sampled_sizes", 64 << 10);
	uint64_t calls = 0, bytes = 0;
	struct hi_event_stats stats;
	struct hi_error err;

	hi_event_source_count(r->source);
	tell_and_drain(r, "go");
	hi_event_source_stats(r->source, &stats);
	for (size_t i = 0; i < stats.n_functions; i++) {
		calls += stats.functions[i].counted;
		bytes += stats.functions[i].counted_bytes;
	}
	HI_ASSERT_EQ(CALLS, calls);
	HI_ASSERT_EQ(200000 * 16 + 40000 * 256 + 4000 * 4096 + 300 * 65536 +
			     (40ull << 20) + (40ull << 20),
		     bytes);
	HI_ASSERT_EQ(0, stats.events);
	hi_event_source_set_sampling(r->source, r->mean);
	HI_ASSERT_OK(hi_event_source_start(r->source, &err), &err);
	tell_and_drain(r, "churn");
	HI_ASSERT(r->live->allocs > 300);
	hi_event_source_stats(r->source, &stats);
	for (size_t i = 0; i < stats.n_functions; i++)
		calls -= stats.functions[i].counted;
	HI_ASSERT_EQ(0, calls);
}

static void expect_all_functions(uint64_t mean)
{
	struct sampled_run *r = start_sampled_run("alloc_events", mean);

	for (int round = 0; round < 10; round++) {
		tell_and_drain(r, "go 2000");
		expect_samples_are_live(r);
	}
	hi_test_note("%zu allocs, %zu frees, %zu of unknown blocks, %zu resized",
		     r->live->allocs, r->live->frees, r->live->unknown_frees,
		     r->live->begun);
	HI_ASSERT(r->live->begun > 0 && r->live->begun == r->live->ended);
}

HI_TEST_ROOT(event_sampling, follows_samples_through_every_function)
{
	expect_all_functions(4096);
}

HI_TEST_ROOT(event_sampling, follows_samples_through_every_function_on_old_kernels)
{
	open_as_on_old_kernels();
	expect_all_functions(4096);
}

/* With sets that have more addresses than there is room for. */
HI_TEST_ROOT(event_sampling, follows_samples_that_are_near_each_other)
{
	expect_all_functions(100);
}
