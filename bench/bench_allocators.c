/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finding and walking the heap of each allocator, beside glibc's and beside one memcpy
 * of the same bytes.
 *
 *	bench_allocators [blocks, in millions]
 * Blocks of allocator_churn, two threads. Processor time, median of five runs after a
 * dropped one: the machine may be busy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attach/stop.h"
#include "base/alloc.h"
#include "bench/support.h"
#include "decode/allocator.h"

enum { RUNS = 6 };

struct kind {
	const char *name, *program, *preload; /* preload NULL: nothing */
	const char *found;		      /* how the name of the allocator begins */
};

struct figures {
	uint64_t find[RUNS], walk[RUNS]; /* ns */
	uint64_t blocks, bytes;
};

static const struct kind kinds[] = {
	{"glibc", "allocator_churn", NULL, "glibc"},
	{"jemalloc", "allocator_churn", "libjemalloc.so.2", "jemalloc"},
	{"tcmalloc", "allocator_churn", "libtcmalloc_minimal.so.4", "tcmalloc"},
	{"mimalloc", "allocator_churn", "libmimalloc.so.2.0", "mimalloc"},
	{"musl", "allocator_churn_musl_static", NULL, "musl"},
};

static uint64_t used_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void require(enum hi_status status, const struct hi_error *err, const char *what)
{
	if (status == HI_OK)
		return;
	fprintf(stderr, "bench_allocators: %s: %s\n", what, err->text);
	exit(1);
}

static bool count_walked(const struct hi_block *blocks, size_t n, unsigned region,
			 void *arg)
{
	struct figures *f = arg;

	(void)region;
	for (size_t i = 0; i < n; i++) {
		f->blocks += blocks[i].state == HI_BLOCK_LIVE;
		f->bytes += blocks[i].state == HI_BLOCK_LIVE ? blocks[i].cost : 0;
	}
	return true;
}

static void walk_once(const struct hi_image *image, const struct kind *kind, int run,
		      struct figures *f)
{
	struct hi_modules_options options = {.cache_dir = ""};
	struct hi_modules *modules;
	struct hi_allocator *a;
	struct hi_error err;
	uint64_t start, found;

	require(hi_modules_open(image, &options, &modules, &err), &err, "modules");
	start = used_ns();
	require(hi_allocator_probe(image, modules, &a, &err), &err, kind->name);
	found = used_ns();
	f->blocks = f->bytes = 0;
	require(hi_allocator_walk(a, count_walked, f, &err), &err, kind->name);
	f->walk[run] = used_ns() - found;
	f->find[run] = found - start;
	if (run == 0 && strncmp(a->name, kind->found, strlen(kind->found)) != 0)
		fprintf(stderr, "bench_allocators: found %s for %s\n", a->name,
			kind->name);
	hi_allocator_release(a);
	hi_modules_close(modules);
}

static struct hi_image *freeze_target(pid_t pid)
{
	struct hi_stop_options stop = {.max_pause_ns = 60000000000ull};
	struct hi_target *target;
	struct hi_range *text = NULL;
	struct hi_image *image;
	struct hi_error err;

	require(hi_target_open(pid, &target, &err), &err, "target");
	require(hi_allocator_text(target, &text, &stop.n_avoid, &err), &err, "text");
	stop.avoid = text;
	require(hi_stop_and_copy(target, &stop, &image, &err), &err, "stop");
	hi_target_close(target);
	free(text);
	return image;
}

static void measure_kind(const struct kind *kind, const char *blocks,
			 double *glibc_ns_per_block)
{
	struct bench_target target;
	struct figures f = {};
	struct hi_image *image;
	double find, walk, copy;

	if (kind->preload)
		setenv("LD_PRELOAD", kind->preload, 1);
	target = bench_target_start(kind->program, "2", blocks);
	unsetenv("LD_PRELOAD");
	image = freeze_target(target.pid);
	for (int i = 0; i < RUNS; i++)
		walk_once(image, kind, i, &f);
	find = (double)bench_median(f.find, RUNS) / 1e6;
	walk = (double)bench_median(f.walk, RUNS) / (double)f.blocks;
	copy = (double)bench_memcpy_ns(f.bytes) / (double)f.blocks;
	*glibc_ns_per_block = *glibc_ns_per_block ? *glibc_ns_per_block : walk;
	printf("%-9s %9llu blocks %7.1f MB: find %6.1f ms, walk %6.1f ms/million, %.2f x "
	       "glibc, %.2f x memcpy\n",
	       kind->name, (unsigned long long)f.blocks, (double)f.bytes / 1e6, find,
	       walk, walk / *glibc_ns_per_block, walk / copy);
	hi_image_destroy(image);
	bench_target_end(&target);
}

int main(int argc, char **argv)
{
	double millions = argc > 1 ? atof(argv[1]) : 1, glibc = 0;
	char blocks[32];

	snprintf(blocks, sizeof(blocks), "%.0f", millions * 1e6);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		measure_kind(&kinds[i], blocks, &glibc);
	printf("peak of this process: %.1f MB\n", (double)bench_peak_rss() / 1e6);
	return 0;
}
