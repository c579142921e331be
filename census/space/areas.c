/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/space/areas.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Halves of nanoseconds. */
#define HALVES_PER_S 2000000000ull

uint64_t hi_area_weight(const uint64_t *times_ns, size_t n, size_t i)
{
	return times_ns[i + 1 < n ? i + 1 : i] - times_ns[i ? i - 1 : i];
}

void hi_area_add(struct hi_area *area, uint64_t bytes, uint64_t weight)
{
	struct hi_area more = {(unsigned __int128)bytes * weight};

	hi_area_sum(area, &more);
}

void hi_area_sum(struct hi_area *area, const struct hi_area *more)
{
	if (__builtin_add_overflow(area->halves, more->halves, &area->halves))
		area->halves = ~(unsigned __int128)0;
}

int hi_area_compare(const struct hi_area *a, const struct hi_area *b)
{
	return (a->halves > b->halves) - (a->halves < b->halves);
}

double hi_area_byte_seconds(const struct hi_area *area)
{
	return (double)area->halves / (double)HALVES_PER_S;
}

uint64_t hi_area_mean(const struct hi_area *area, uint64_t time_ns)
{
	unsigned __int128 all = (unsigned __int128)time_ns * 2, mean;

	if (!time_ns)
		return 0;
	mean = area->halves / all + (area->halves % all >= all - area->halves % all);
	return mean > UINT64_MAX ? UINT64_MAX : (uint64_t)mean;
}

/* 128 bits are 39 digits. */
static char *format_whole(char *end, unsigned __int128 number)
{
	*--end = '\0';
	do
		*--end = (char)('0' + (int)(number % 10));
	while (number /= 10);
	return end;
}

char *hi_area_decimal(char out[HI_AREA_TEXT], const struct hi_area *area)
{
	uint64_t part = (uint64_t)(area->halves % HALVES_PER_S);
	char whole[48];
	size_t n;

	n = (size_t)snprintf(
		out, HI_AREA_TEXT, "%s.%010" PRIu64,
		format_whole(whole + sizeof(whole), area->halves / HALVES_PER_S),
		part * 5);
	while (out[n - 1] == '0')
		n--;
	out[out[n - 1] == '.' ? n - 1 : n] = '\0';
	return out;
}
