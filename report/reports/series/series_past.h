/* SPDX-License-Identifier: BSD-2-Clause */
/* The bytes of each name in the last samples of a series, in bounded memory. */
#ifndef HI_REPORT_REPORTS_SERIES_SERIES_PAST_H
#define HI_REPORT_REPORTS_SERIES_SERIES_PAST_H

#include <stdbool.h>
#include <stdint.h>

enum { HI_SERIES_HISTORY = 40, HI_SERIES_MAX_BANDS = 4096 };

struct hi_series_past;
struct hi_series_past *hi_series_past_create(void); /* NULL: out of memory */
/* Frees it; NULL is fine. */
void hi_series_past_destroy(struct hi_series_past *past);

/* Adds a value. Samples come in order; a name that a sample does not have was 0 in it.
 * Names beyond HI_SERIES_MAX_BANDS have no history, which is no error. False: out of
 * memory. */
bool hi_series_past_add(struct hi_series_past *past, const char *name, uint64_t sample,
			uint64_t bytes);
/* Returns the bytes in a sample; 0 also for samples that are no longer kept. */
uint64_t hi_series_past_at(const struct hi_series_past *past, const char *name,
			   uint64_t sample);
/* Returns the bytes in sample 1. */
uint64_t hi_series_past_first(const struct hi_series_past *past, const char *name);

#endif
