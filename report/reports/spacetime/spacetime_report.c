/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/reports/spacetime/spacetime_report.h"

#include <stdlib.h>
#include <string.h>

static enum hi_status fail_spacetime(struct hi_error *err)
{
	return hi_fail_memory(err, "space-time graph");
}

/* ---- sums ---- */

static bool is_unit(const char *unit, const char *wanted)
{
	return !*unit || strcmp(unit, wanted) == 0;
}

static void place_samples(struct hi_spacetime_report *r)
{
	const struct hi_hp_series *s = r->series;

	for (size_t i = 0; i < s->n_samples; i++)
		r->times_ns[i] = (uint64_t)((s->times[i] - s->times[0]) * 1e9 + .5);
	r->duration_ns = r->times_ns[s->n_samples - 1];
}

static void add_band_point(struct hi_spacetime_report *r, size_t sample, uint64_t weight,
			   const struct hi_hp_point *point)
{
	struct hi_spacetime_band *band = &r->bands[point->band];

	hi_area_add(&band->area, point->value, weight);
	band->samples += point->value != 0;
	if (point->value > band->most)
		band->most = point->value;
	if (sample + 1 == r->series->n_samples)
		band->last = point->value;
	r->totals[sample] += point->value;
}

/* The total is added up by itself: it is no sum of areas. */
static void sum_samples(struct hi_spacetime_report *r)
{
	const struct hi_hp_series *s = r->series;

	for (size_t i = 0; i < s->n_samples; i++) {
		uint64_t weight = hi_area_weight(r->times_ns, s->n_samples, i);

		for (size_t k = s->starts[i]; k < s->starts[i + 1]; k++)
			add_band_point(r, i, weight, &s->points[k]);
		hi_area_add(&r->total, r->totals[i], weight);
		if (r->totals[i] > r->most)
			r->most = r->totals[i];
	}
}

/* Where no time passes, the largest maximum first. */
static int compare_spacetime_bands(const void *a, const void *b)
{
	const struct hi_spacetime_band *x = a, *y = b;
	int order = hi_area_compare(&y->area, &x->area);

	if (order)
		return order;
	if (x->most != y->most)
		return x->most > y->most ? -1 : 1;
	return strcmp(x->name, y->name);
}

enum hi_status hi_spacetime_report_make(const struct hi_hp_series *series, size_t top,
					struct hi_spacetime_report *ret,
					struct hi_error *err)
{
	size_t n = series->n_bands;

	*ret = (struct hi_spacetime_report){
		.series = series, .file = "", .by = "", .n_bands = n};
	if (!is_unit(series->value_unit, "bytes") ||
	    !is_unit(series->sample_unit, "seconds"))
		return hi_fail(err, HI_USAGE, 0,
			       "spacetime: the profile has %.40s over %.40s, not bytes "
			       "over seconds",
			       *series->value_unit ? series->value_unit : "bytes",
			       *series->sample_unit ? series->sample_unit : "seconds");
	ret->bands = hi_arena_alloc(&ret->arena, (n + 1) * sizeof(*ret->bands));
	ret->times_ns =
		hi_arena_alloc(&ret->arena, series->n_samples * sizeof(*ret->times_ns));
	ret->totals =
		hi_arena_alloc(&ret->arena, series->n_samples * sizeof(*ret->totals));
	if (!ret->bands || !ret->times_ns || !ret->totals)
		return fail_spacetime(err);
	for (uint32_t i = 0; i < n; i++)
		ret->bands[i] =
			(struct hi_spacetime_band){.name = series->bands[i], .id = i};
	place_samples(ret);
	sum_samples(ret);
	for (size_t i = 0; i < n; i++)
		ret->bands[i].mean = hi_area_mean(&ret->bands[i].area, ret->duration_ns);
	ret->mean = hi_area_mean(&ret->total, ret->duration_ns);
	qsort(ret->bands, n, sizeof(*ret->bands), compare_spacetime_bands);
	ret->n_shown = n < top ? n : top;
	ret->hidden.bands = n - ret->n_shown;
	for (size_t i = ret->n_shown; i < n; i++)
		hi_area_sum(&ret->hidden.area, &ret->bands[i].area);
	return HI_OK;
}

void hi_spacetime_report_free(struct hi_spacetime_report *report)
{
	hi_arena_free(&report->arena);
	*report = (struct hi_spacetime_report){};
}
