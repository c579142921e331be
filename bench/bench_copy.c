/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of the pause that reads: hi_copy_run against a bare parallel bulk
 * read of the same memory into memory already touched, for targets of 64 MiB,
 * 512 MiB and 2 GiB of 4 KiB pages. By process_vm_readv and by /proc/PID/mem.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/copy.h"
#include "attach/maps.h"
#include "attach/pagemap.h"
#include "attach/procfs.h"
#include "base/alloc.h"
#include "base/parallel.h"

#define ROUNDS 8 /* the first is dropped */
#define BLOCK (2ull << 20)

struct bare {
	pid_t pid;
	int mem_fd; /* -1: process_vm_readv */
	uint64_t addr, size;
	unsigned char *buffer;
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void die(const char *what, const struct hi_error *err)
{
	fprintf(stderr, "bench_copy: %s: %s\n", what, err ? err->text : "failed");
	exit(1);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of all rounds but the first. */
static double median(double *times)
{
	qsort(times + 1, ROUNDS - 1, sizeof(*times), compare_doubles);
	return times[1 + (ROUNDS - 1) / 2];
}

/* A child with `size` bytes of touched memory; says its address, then waits. */
static pid_t start_target(uint64_t size, uint64_t *addr_ret)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends) != 0)
		die("pipe", NULL);
	pid = fork();
	if (pid == 0) {
		unsigned char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		uint64_t addr = (uintptr_t)p;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)madvise(p, size, MADV_NOHUGEPAGE);
		for (uint64_t i = 0; i < size; i += 64)
			p[i] = (unsigned char)i;
		if (write(ends[1], &addr, sizeof(addr)) != sizeof(addr))
			_exit(1);
		pause();
		_exit(0);
	}
	if (pid < 0 || read(ends[0], addr_ret, sizeof(*addr_ret)) != sizeof(*addr_ret))
		die("target", NULL);
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static void read_bare(void *arg, size_t task, unsigned worker)
{
	const struct bare *bare = arg;
	uint64_t at = task * BLOCK;
	uint64_t n = bare->size - at < BLOCK ? bare->size - at : BLOCK;
	struct iovec local = {bare->buffer + at, n};
	struct iovec remote = {(void *)(uintptr_t)(bare->addr + at), n};
	ssize_t got;

	(void)worker;
	if (bare->mem_fd >= 0)
		got = pread(bare->mem_fd, local.iov_base, n, (off_t)(bare->addr + at));
	else
		got = process_vm_readv(bare->pid, &local, 1, &remote, 1, 0);
	if (got != (ssize_t)n)
		die("bare read", NULL);
}

static double time_bare(struct bare *bare)
{
	double start = now_ms();

	hi_parallel(hi_parallel_threads(), (bare->size + BLOCK - 1) / BLOCK, read_bare,
		    bare);
	return now_ms() - start;
}

/* What the run does beside reading: maps again, and pagemap. */
static double time_look(pid_t pid)
{
	int maps = hi_proc_open(pid, "maps"), pages = hi_proc_open(pid, "pagemap");
	struct hi_mapping *mappings = NULL;
	struct hi_page_runs runs = {};
	struct hi_pagemap pagemap;
	size_t capacity = 0, size, n;
	struct hi_error err = {};
	char *text = NULL;
	double start;

	hi_pagemap_init(&pagemap, pages, pid);
	start = now_ms();
	if (hi_proc_read(maps, &text, &capacity, &size, &err) != HI_OK ||
	    hi_maps_parse(text, size, &mappings, &n, &err) != HI_OK ||
	    hi_pagemap_collect_all(&pagemap, mappings, n, &runs, &err) != HI_OK)
		die("look", &err);
	start = now_ms() - start;
	hi_mappings_free(mappings, n);
	hi_vector_free(&runs);
	hi_pagemap_free(&pagemap);
	free(text);
	close(maps);
	close(pages);
	return start;
}

static void time_copy(struct hi_target *target, double *run, double *prepare,
		      double *finish)
{
	struct hi_stop_options options = {};
	struct hi_thread thread = {.tid = target->pid};
	struct hi_image *image = NULL;
	struct hi_copy *copy = NULL;
	struct hi_error err = {};
	double start = now_ms();

	if (hi_copy_prepare(target, &options, &copy, &err) != HI_OK)
		die("prepare", &err);
	*prepare = now_ms() - start;
	start = now_ms();
	if (hi_copy_run(copy, &err) != HI_OK)
		die("run", &err);
	*run = now_ms() - start;
	start = now_ms();
	if (hi_copy_finish(copy, &thread, 1, &image, &err) != HI_OK)
		die("finish", &err);
	*finish = now_ms() - start;
	hi_image_destroy(image);
}

static void measure(uint64_t size)
{
	double readv[ROUNDS], mem[ROUNDS], run[ROUNDS], prepare[ROUNDS], finish[ROUNDS],
		look[ROUNDS];
	struct hi_target *target = NULL;
	struct hi_error err = {};
	struct bare bare = {.mem_fd = -1, .size = size};

	bare.pid = start_target(size, &bare.addr);
	if (hi_target_open(bare.pid, &target, &err) != HI_OK)
		die("target", &err);
	for (int i = 0; i < ROUNDS; i++) {
		bare.buffer = hi_pages_alloc(size);
		if (!bare.buffer)
			die("memory", NULL);
		memset(bare.buffer, 1, size);
		bare.mem_fd = -1;
		readv[i] = time_bare(&bare);
		bare.mem_fd = hi_proc_open(bare.pid, "mem");
		mem[i] = time_bare(&bare);
		close(bare.mem_fd);
		hi_pages_free(bare.buffer, size);
		time_copy(target, &run[i], &prepare[i], &finish[i]);
		look[i] = time_look(bare.pid);
	}
	hi_target_close(target);
	kill(bare.pid, SIGKILL);
	waitpid(bare.pid, NULL, 0);
	printf("%5llu MiB  bare readv %8.2f ms (%5.1f GB/s)  bare mem %8.2f ms  "
	       "run %8.2f ms = %.2f x bare, maps and pagemap %.2f ms = %.0f %%  "
	       "prepare %.1f ms  finish %.1f ms\n",
	       (unsigned long long)(size >> 20), median(readv),
	       (double)size / 1e6 / median(readv), median(mem), median(run),
	       median(run) / median(readv), median(look),
	       100 * median(look) / median(run), median(prepare), median(finish));
}

int main(void)
{
	measure(64ull << 20);
	measure(512ull << 20);
	measure(2048ull << 20);
	return 0;
}
