/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/series/series_past.h"

#include <string.h>

#include "base/alloc.h"
#include "report/heap_profile/hp_names.h"

struct band {
	uint64_t first;
	uint64_t last;			    /* the newest sample that had it */
	uint64_t values[HI_SERIES_HISTORY]; /* of sample n at n modulo the size */
};

struct hi_series_past {
	struct hi_hp_names names;
	struct HI_VECTOR(struct band) bands; /* by number of the name */
};

struct hi_series_past *hi_series_past_create(void)
{
	return hi_calloc(1, sizeof(struct hi_series_past));
}

void hi_series_past_destroy(struct hi_series_past *past)
{
	if (!past)
		return;
	hi_hp_names_free(&past->names);
	hi_vector_free(&past->bands);
	free(past);
}

static void record_band_value(struct band *band, uint64_t sample, uint64_t bytes)
{
	uint64_t from = band->last + 1;

	/* Samples without it, as far back as is kept. */
	if (from + HI_SERIES_HISTORY <= sample)
		from = sample - HI_SERIES_HISTORY + 1;
	for (uint64_t i = from; i < sample; i++)
		band->values[i % HI_SERIES_HISTORY] = 0;
	band->values[sample % HI_SERIES_HISTORY] = bytes;
	band->last = sample;
	if (sample == 1)
		band->first = bytes;
}

bool hi_series_past_add(struct hi_series_past *past, const char *name, uint64_t sample,
			uint64_t bytes)
{
	uint32_t number = hi_hp_names_find(&past->names, name, strlen(name));

	if (number == HI_HP_NO_NAME) {
		if (past->bands.count >= HI_SERIES_MAX_BANDS)
			return true;
		if (!hi_vector_push(&past->bands, (struct band){}))
			return false;
		number = hi_hp_names_add(&past->names, name, strlen(name));
	}
	if (number == HI_HP_NO_NAME) {
		past->bands.count--;
		return false;
	}
	record_band_value(&past->bands.items[number], sample, bytes);
	return true;
}

static const struct band *find_past_band(const struct hi_series_past *past,
					 const char *name)
{
	uint32_t number = hi_hp_names_find(&past->names, name, strlen(name));

	return number == HI_HP_NO_NAME ? NULL : &past->bands.items[number];
}

uint64_t hi_series_past_at(const struct hi_series_past *past, const char *name,
			   uint64_t sample)
{
	const struct band *band = find_past_band(past, name);

	if (!band || sample > band->last || sample + HI_SERIES_HISTORY <= band->last)
		return 0;
	return band->values[sample % HI_SERIES_HISTORY];
}

uint64_t hi_series_past_first(const struct hi_series_past *past, const char *name)
{
	const struct band *band = find_past_band(past, name);

	return band ? band->first : 0;
}
