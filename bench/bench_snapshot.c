/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copy or fork: how long the target stands by each, beside what cannot be beaten (a
 * bare parallel read into touched memory; the target's own fork()) and beside
 * gcore. All ways take turns, so that a noisy minute is everybody's. The target
 * (fixtures/pause_clock.c) measures its own stops.
 *
 *	bench_snapshot [--gcore] MiB...
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "attach/stop.h"
#include "base/parallel.h"
#include "bench/support.h"

enum { RUNS = 8, GCORE_RUNS = 3, BLOCK = 2 << 20 };

struct bulk {
	pid_t pid;
	uint64_t start, size;
	char *to;
};

struct times {
	uint64_t bare[RUNS], own_fork[RUNS];
	uint64_t copy[RUNS], fork[RUNS];	   /* as we say */
	uint64_t copy_seen[RUNS], fork_seen[RUNS]; /* as the target sees it */
	uint64_t whole_fork[RUNS];		   /* until the child has been read */
	uint64_t gcore[GCORE_RUNS];
};

static void read_block(void *arg, size_t task, unsigned worker)
{
	struct bulk *bulk = arg;
	uint64_t offset = (uint64_t)task * BLOCK, left = bulk->size - offset;
	struct iovec local = {bulk->to + offset, left < BLOCK ? left : BLOCK};
	struct iovec remote = {(void *)(uintptr_t)(bulk->start + offset), local.iov_len};

	(void)worker;
	if (process_vm_readv(bulk->pid, &local, 1, &remote, 1, 0) <= 0)
		exit(2);
}

static struct bulk prepare_bulk(const struct hi_target *target)
{
	struct bulk bulk = {.pid = target->pid};

	for (size_t i = 0; i < target->n_mappings; i++)
		if (target->mappings[i].kind == HI_MAPPING_HEAP) {
			bulk.start = target->mappings[i].start;
			bulk.size = target->mappings[i].end - bulk.start;
		}
	if (!bulk.size)
		exit(2);
	bulk.to = mmap(NULL, bulk.size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bulk.to == MAP_FAILED)
		exit(2);
	madvise(bulk.to, bulk.size, MADV_HUGEPAGE);
	madvise(bulk.to, bulk.size, MADV_DONTFORK);
	memset(bulk.to, 1, bulk.size);
	return bulk;
}

static uint64_t bare_ns(struct bulk *bulk)
{
	uint64_t start = bench_now_ns();

	hi_parallel(hi_parallel_threads(), (bulk->size + BLOCK - 1) / BLOCK, read_block,
		    bulk);
	return bench_now_ns() - start;
}

static uint64_t own_fork_ns(struct bench_target *clock)
{
	char line[64] = "";

	fputs("fork\n", clock->in);
	fflush(clock->in);
	if (!fgets(line, sizeof(line), clock->out))
		exit(2);
	return strtoull(line, NULL, 10);
}

static void snapshot(struct hi_target *target, struct bench_target *clock,
		     enum hi_snapshot_request wish, uint64_t *said, uint64_t *seen,
		     uint64_t *whole)
{
	struct hi_stop_options options = {.snapshot = wish,
					  .best_effort_priority = true,
					  .max_pause_ns = 20000000000u};
	uint64_t start = bench_now_ns();
	struct hi_image *image = NULL;
	struct hi_error err = {};

	(void)bench_target_ask(clock);
	if (hi_stop_and_copy(target, &options, &image, &err) != HI_OK) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
	*whole = bench_now_ns() - start;
	*seen = bench_target_ask(clock);
	*said = image->stats.pause_ns;
	if ((image->mode == HI_SNAPSHOT_FORK) != (wish == HI_REQUEST_FORK))
		fprintf(stderr, "not forked: %s\n", image->stats.not_forked);
	hi_image_destroy(image);
}

static uint64_t gcore_ns(struct bench_target *clock)
{
	char command[128];

	(void)bench_target_ask(clock);
	snprintf(command, sizeof(command),
		 "gcore -o /tmp/heapinspect-bench %d >/dev/null 2>&1; "
		 "rm -f /tmp/heapinspect-bench.%d",
		 clock->pid, clock->pid);
	if (system(command) != 0)
		fprintf(stderr, "gcore failed\n");
	return bench_target_ask(clock);
}

static void measure(struct hi_target *target, struct bench_target *clock, bool with_gcore,
		    struct times *t)
{
	struct bulk bulk = prepare_bulk(target);
	uint64_t ignored;

	for (int i = 0; i < RUNS; i++) {
		t->bare[i] = bare_ns(&bulk);
		snapshot(target, clock, HI_REQUEST_COPY, &t->copy[i], &t->copy_seen[i],
			 &ignored);
		t->own_fork[i] = own_fork_ns(clock);
		snapshot(target, clock, HI_REQUEST_FORK, &t->fork[i], &t->fork_seen[i],
			 &t->whole_fork[i]);
	}
	munmap(bulk.to, bulk.size);
	for (int i = 0; with_gcore && i < GCORE_RUNS; i++)
		t->gcore[i] = gcore_ns(clock);
}

static double ms(uint64_t *times, size_t n)
{
	return (double)bench_median(times, n) / 1e6;
}

static void bench(const char *mib, bool huge, bool with_gcore)
{
	struct bench_target clock;
	struct hi_target *target = NULL;
	struct hi_error err = {};
	struct times t = {};
	double copy, fork, bare, own;

	setenv("GLIBC_TUNABLES", huge ? "glibc.malloc.hugetlb=1" : "", 1);
	clock = bench_target_start("pause_clock", mib, NULL);
	if (hi_target_open(clock.pid, &target, &err) != HI_OK) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
	measure(target, &clock, with_gcore, &t);
	copy = ms(t.copy, RUNS);
	fork = ms(t.fork, RUNS);
	bare = ms(t.bare, RUNS);
	own = ms(t.own_fork, RUNS);
	printf("%5s MiB %4s  %8.2f %8.2f %5.2f | %8.2f %8.2f %5.2f | %6.2f | %8.2f", mib,
	       huge ? "huge" : "4k", bare, copy, copy / bare, own, fork, fork / own,
	       copy / fork, ms(t.whole_fork, RUNS));
	printf(" | %8.2f %8.2f", ms(t.copy_seen, RUNS), ms(t.fork_seen, RUNS));
	if (with_gcore)
		printf(" | %9.2f %6.1f", ms(t.gcore, GCORE_RUNS),
		       ms(t.gcore, GCORE_RUNS) / ms(t.fork_seen, RUNS));
	printf("\n");
	fflush(stdout);
	hi_target_close(target);
	bench_target_end(&clock);
}

int main(int argc, char **argv)
{
	bool with_gcore = argc > 1 && strcmp(argv[1], "--gcore") == 0;

	printf("all in ms, medians; ratios: copy/bare, fork/own fork, copy/fork, "
	       "gcore/fork as seen\n"
	       "target              bare     copy  rat. |      own     fork  rat. | cp/fk"
	       " | to image | seen: copy    fork |     gcore  ratio\n");
	for (int i = 1 + with_gcore; i < argc; i++)
		for (int huge = 0; huge < 2; huge++)
			bench(argv[i], huge, with_gcore);
	return 0;
}
