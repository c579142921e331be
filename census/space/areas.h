/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The area below a curve of bytes over time: bytes x time, as the space-time graphs of
 * Runciman and Wakeling have it.
 *
 * Between two samples the curve is a straight line. So a sample counts for half of the
 * time from the one before it to the one after it; the ends of the curve have one side
 * only, and a curve of one sample has no area. Areas are whole numbers here: the area of
 * a sum of curves is exactly the sum of their areas.
 */
#ifndef HI_CENSUS_SPACE_AREAS_H
#define HI_CENSUS_SPACE_AREAS_H

#include <stddef.h>
#include <stdint.h>

struct hi_area {
	unsigned __int128 halves; /* of a byte for a nanosecond; at most all ones */
};

/* Returns the weight of a sample, in halves of nanoseconds. Times do not decrease; i <
 * n. */
uint64_t hi_area_weight(const uint64_t *times_ns, size_t n, size_t i);
/* Adds a sample. */
void hi_area_add(struct hi_area *area, uint64_t bytes, uint64_t weight);
void hi_area_sum(struct hi_area *area, const struct hi_area *more);
/* Below 0, 0 or above it. */
int hi_area_compare(const struct hi_area *a, const struct hi_area *b);
/* Bytes x seconds, rounded. */
double hi_area_byte_seconds(const struct hi_area *area);
/* The mean over a time; 0 where no time passes. */
uint64_t hi_area_mean(const struct hi_area *area, uint64_t time_ns);
/* Bytes x seconds as a decimal number without rounding: "12.5". Returns out. */
enum { HI_AREA_TEXT = 64 };
char *hi_area_decimal(char out[HI_AREA_TEXT], const struct hi_area *area);

#endif
