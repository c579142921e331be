/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct bench_target bench_target_start(const char *name, const char *arg1,
				       const char *arg2)
{
	struct bench_target target = {};
	char path[512], line[256];
	int in[2], out[2];

	snprintf(path, sizeof(path), "%s/%s", HI_FIXTURE_DIR, name);
	if (pipe(in) || pipe(out) || (target.pid = fork()) < 0)
		exit(2);
	if (target.pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		for (int fd = 3; fd < 64; fd++)
			close(fd);
		execl(path, name, arg1, arg2, NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	target.in = fdopen(in[1], "w");
	target.out = fdopen(out[0], "r");
	while (fgets(line, sizeof(line), target.out))
		if (strncmp(line, "ready", 5) == 0)
			return target;
	fprintf(stderr, "%s did not start\n", path);
	exit(2);
}

uint64_t bench_target_ask(struct bench_target *target)
{
	char line[64] = "";

	fputs("\n", target->in);
	fflush(target->in);
	if (!fgets(line, sizeof(line), target->out))
		exit(2);
	return strtoull(line, NULL, 10);
}

void bench_target_end(struct bench_target *target)
{
	fclose(target->in);
	fclose(target->out);
	waitpid(target->pid, NULL, 0);
}

uint64_t bench_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t bench_median(uint64_t *values, size_t n)
{
	if (n < 2)
		return values[0];
	qsort(values + 1, n - 1, sizeof(*values), compare);
	return values[1 + (n - 1) / 2];
}

uint64_t bench_memcpy_ns(size_t size)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char *from = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
	char *to = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
	uint64_t times[6];

	if (from == MAP_FAILED || to == MAP_FAILED)
		exit(2);
	madvise(from, size, MADV_HUGEPAGE);
	madvise(to, size, MADV_HUGEPAGE);
	memset(from, 1, size);
	for (int i = 0; i < 6; i++) {
		uint64_t start = bench_now_ns();

		memcpy(to, from, size);
		__asm__ volatile("" ::"r"(to) : "memory");
		times[i] = bench_now_ns() - start;
	}
	munmap(from, size);
	munmap(to, size);
	return bench_median(times, 6);
}

uint64_t bench_peak_rss(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_maxrss << 10;
}
