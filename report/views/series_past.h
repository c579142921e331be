/* SPDX-License-Identifier: BSD-2-Clause */
/* What the last samples of a series had, by name: bounded, whatever the names are. */
#ifndef HI_REPORT_VIEWS_SERIES_PAST_H
#define HI_REPORT_VIEWS_SERIES_PAST_H

#include <stdbool.h>
#include <stdint.h>

enum { HI_SERIES_HISTORY = 40, HI_SERIES_MAX_BANDS = 4096 };

struct hi_series_past;
struct hi_series_past *hi_series_past_create(void); /* NULL: out of memory */
void hi_series_past_destroy(struct hi_series_past *past);

/* Samples come in order; a name that a sample does not have was 0 there. More names
 * than HI_SERIES_MAX_BANDS have no past, which is no error. False: out of memory. */
bool hi_series_past_add(struct hi_series_past *past, const char *name, uint64_t sample,
			uint64_t bytes);
/* 0 also for samples that are too long ago. */
uint64_t hi_series_past_at(const struct hi_series_past *past, const char *name,
			   uint64_t sample);
/* In sample 1. */
uint64_t hi_series_past_first(const struct hi_series_past *past, const char *name);

#endif
