/* SPDX-License-Identifier: BSD-2-Clause */
/* What benchmarks share: a target process, clocks, medians. Not for tests. */
#ifndef HI_BENCH_SUPPORT_H
#define HI_BENCH_SUPPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct bench_target {
	pid_t pid;
	FILE *in, *out; /* its stdin and stdout */
};

/* Starts build/…/fixtures/name and reads until it says "ready"; exits on failure. */
struct bench_target bench_target_start(const char *name, const char *arg1,
				       const char *arg2);
/* Writes an empty line and returns the number that it answers. */
uint64_t bench_target_ask(struct bench_target *target);
void bench_target_end(struct bench_target *target);

uint64_t bench_now_ns(void);
/* Sorts; the middle one of values[1..n): the first run is dropped. */
uint64_t bench_median(uint64_t *values, size_t n);
/* Nanoseconds of one memcpy of `size` bytes, both sides touched; median of 5. */
uint64_t bench_memcpy_ns(size_t size);
/* Peak resident bytes of ourselves. */
uint64_t bench_peak_rss(void);

#endif
