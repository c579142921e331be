/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pause against what it cannot beat and what people use today: a bare
 * parallel bulk read of the same memory into touched memory, and gcore's stop.
 * The target (fixtures/pause_clock.c) measures its own stops.
 *
 *	bench_pause [MiB]
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "attach/stop.h"
#include "base/parallel.h"
#include "bench/support.h"

enum { RUNS = 8, BLOCK = 2 << 20 };

struct bulk {
	pid_t pid;
	const struct hi_mapping *heap;
	char *to;
};

static void read_block(void *arg, size_t task, unsigned worker)
{
	struct bulk *bulk = arg;
	uint64_t offset = (uint64_t)task * BLOCK;
	uint64_t size = bulk->heap->end - bulk->heap->start - offset;
	struct iovec local = {bulk->to + offset, size < BLOCK ? size : BLOCK};
	struct iovec remote = {(void *)(uintptr_t)(bulk->heap->start + offset),
			       local.iov_len};

	(void)worker;
	if (process_vm_readv(bulk->pid, &local, 1, &remote, 1, 0) <= 0)
		exit(2);
}

static uint64_t bare_read_ns(const struct hi_target *target)
{
	struct bulk bulk = {.pid = target->pid};
	uint64_t times[RUNS], size;

	for (size_t i = 0; i < target->n_mappings; i++)
		if (target->mappings[i].kind == HI_MAPPING_HEAP)
			bulk.heap = &target->mappings[i];
	if (!bulk.heap)
		exit(2);
	size = bulk.heap->end - bulk.heap->start;
	bulk.to = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	madvise(bulk.to, size, MADV_HUGEPAGE);
	memset(bulk.to, 1, size);
	for (int i = 0; i < RUNS; i++) {
		uint64_t start = bench_now_ns();

		hi_parallel(hi_parallel_threads(), (size + BLOCK - 1) / BLOCK, read_block,
			    &bulk);
		times[i] = bench_now_ns() - start;
	}
	munmap(bulk.to, size);
	return bench_median(times, RUNS);
}

static void our_pause(struct hi_target *target, struct bench_target *clock,
		      uint64_t *said_ns, uint64_t *seen_ns, uint64_t *copied)
{
	struct hi_stop_options options = {.best_effort_priority = true,
					  .max_pause_ns = 10000000000u};
	uint64_t said[RUNS], seen[RUNS];

	for (int i = 0; i < RUNS; i++) {
		struct hi_image *image = NULL;
		struct hi_error err = {};

		(void)bench_target_ask(clock);
		if (hi_stop_and_copy(target, &options, &image, &err) != HI_OK) {
			fprintf(stderr, "%s\n", err.text);
			exit(2);
		}
		seen[i] = bench_target_ask(clock);
		said[i] = image->stats.pause_ns;
		*copied = image->stats.bytes_copied;
		hi_image_destroy(image);
	}
	*said_ns = bench_median(said, RUNS);
	*seen_ns = bench_median(seen, RUNS);
}

static uint64_t gcore_pause_ns(struct bench_target *clock)
{
	uint64_t seen[3];
	char command[128];

	for (int i = 0; i < 3; i++) {
		(void)bench_target_ask(clock);
		snprintf(command, sizeof(command),
			 "gcore -o /tmp/heapinspect-bench %d >/dev/null 2>&1; "
			 "rm -f /tmp/heapinspect-bench.%d",
			 clock->pid, clock->pid);
		if (system(command) != 0)
			fprintf(stderr, "gcore failed\n");
		seen[i] = bench_target_ask(clock);
	}
	return bench_median(seen, 3);
}

int main(int argc, char **argv)
{
	const char *mib = argc > 1 ? argv[1] : "512";
	struct bench_target clock = bench_target_start("pause_clock", mib, NULL);
	struct hi_target *target = NULL;
	struct hi_error err = {};
	uint64_t bare, said, seen, copied = 0, gcore;

	if (hi_target_open(clock.pid, &target, &err) != HI_OK) {
		fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	bare = bare_read_ns(target);
	our_pause(target, &clock, &said, &seen, &copied);
	gcore = gcore_pause_ns(&clock);
	printf("heap %s MiB, copied %.1f MiB, %u threads\n", mib,
	       (double)copied / 1048576, hi_parallel_threads());
	printf("bare parallel read %8.2f ms\n", (double)bare / 1e6);
	printf("pause, as we say   %8.2f ms  %.2f x bare read\n", (double)said / 1e6,
	       (double)said / (double)bare);
	printf("pause, as it sees  %8.2f ms  %.2f x bare read\n", (double)seen / 1e6,
	       (double)seen / (double)bare);
	printf("gcore, as it sees  %8.2f ms  ours is 1/%.1f of it\n", (double)gcore / 1e6,
	       (double)gcore / (double)seen);
	hi_target_close(target);
	bench_target_end(&clock);
	return 0;
}
