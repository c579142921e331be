/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording of 10 million live allocations: bytes for each, and nanoseconds of CPU time
 * for an event while it fills, while it stays that large (free and allocate in turns, at
 * random), and while it empties.
 *
 *	bench_recording [millions of allocations]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/support.h"
#include "census/events/recording.h"

enum { ROUNDS = 6, STACKS = 5000, DEPTH = 24 }; /* the first round is dropped */

static struct hi_error err;

static void must(enum hi_status status)
{
	if (status == HI_OK)
		return;
	fprintf(stderr, "bench_recording: %s\n", err.text);
	exit(1);
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t noise(uint64_t x)
{
	x = (x + 1) * 0x9e3779b97f4a7c15;
	x = (x ^ x >> 32) * 0xd1342543de82ef95;
	return x ^ x >> 29;
}

/* Blocks of 48 bytes, as neighbours in a heap. */
static uint64_t address_of(uint64_t block)
{
	return 0x555555560010 + block * 48;
}

static void add_stacks(struct hi_recording *r)
{
	struct hi_event_stack stack = {.kind = HI_EVENT_STACK, .n = DEPTH};

	for (uint64_t i = 0; i < STACKS; i++) {
		stack.stack = noise(i);
		for (unsigned k = 0; k < DEPTH; k++)
			stack.frames[k] =
				0x401000 + noise(k * 100 + (i >> k / 2)) % 99999;
		must(hi_recording_stack(r, &stack, &err));
	}
}

static void send(struct hi_recording *r, uint16_t kind, uint64_t block, uint64_t i)
{
	struct hi_event e = {.time_ns = i,
			     .addr = address_of(block),
			     .size = 40,
			     .stack = noise(i % STACKS),
			     .tid = 100 + (uint32_t)(i % 8),
			     .kind = kind};

	must(hi_recording_apply(r, &e, &err));
}

/* Nanoseconds an event. */
static uint64_t fill(struct hi_recording *r, uint64_t n)
{
	uint64_t start = cpu_ns();

	for (uint64_t i = 0; i < n; i++)
		send(r, HI_EVENT_ALLOC, i, i);
	return (cpu_ns() - start) / n;
}

static uint64_t exchange(struct hi_recording *r, uint64_t n)
{
	uint64_t start = cpu_ns();

	for (uint64_t i = 0; i < n; i++) {
		uint64_t block = noise(i) % n;

		send(r, HI_EVENT_FREE, block, i);
		send(r, HI_EVENT_ALLOC, block, i);
	}
	return (cpu_ns() - start) / (2 * n);
}

static uint64_t empty(struct hi_recording *r, uint64_t n)
{
	uint64_t start = cpu_ns();

	for (uint64_t i = 0; i < n; i++)
		send(r, HI_EVENT_FREE, i, i);
	return (cpu_ns() - start) / n;
}

int main(int argc, char **argv)
{
	uint64_t n = 1000000 * (argc > 1 ? strtoul(argv[1], NULL, 10) : 10);
	uint64_t filled[ROUNDS], exchanged[ROUNDS], emptied[ROUNDS], size = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct hi_recording *r;

		must(hi_recording_create(&r, &err));
		add_stacks(r);
		filled[i] = fill(r, n);
		size = hi_recording_size(r);
		exchanged[i] = exchange(r, n);
		emptied[i] = empty(r, n);
		hi_recording_destroy(r);
	}
	printf("%lu live allocations: %.1f B each in the table, peak of all %.1f B\n",
	       (unsigned long)n, (double)size / (double)n,
	       (double)bench_peak_rss() / (double)n);
	printf("CPU time of an event, median of %u: %lu ns filling, %lu ns at random, "
	       "%lu ns emptying\n",
	       ROUNDS - 1, (unsigned long)bench_median(filled, ROUNDS),
	       (unsigned long)bench_median(exchanged, ROUNDS),
	       (unsigned long)bench_median(emptied, ROUNDS));
	return 0;
}
