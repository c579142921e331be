/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/pictures/bands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/biography/bands.h"
#include "report/heap_profile/hp_names.h"

enum { USUAL_LIMIT = 20, DROPPED = -2, IN_OTHER = -3, KEPT = -4 };

/* What is summed for one band of the series. */
struct sums {
	long double area, value, square, moment;
	double peak, last;
	uint32_t id;
	int like;      /* position in options.like; -1: not in it */
	int placement; /* DROPPED, IN_OTHER, KEPT, or the index among the kept */
};

struct work {
	const struct hi_hp_series *series;
	const struct hi_bands_options *options;
	struct hi_bands *bands;
	struct sums *sums; /* by band of the series */
	struct sums **order;
	size_t n_kept;
	double *weights;   /* of a sample in an area */
	size_t n_measured; /* samples whose values count: see count_measured_samples */
	double tail;	   /* from the last of those to the empty one */
	double middle, spread; /* of those: mean of the times; sum of their squared
				* distances */
};

void hi_bands_destroy(struct hi_bands *bands)
{
	if (!bands)
		return;
	for (size_t i = 0; i < bands->count; i++)
		free(bands->items[i].values);
	free(bands->items);
	free(bands);
}

void hi_bands_name_labels(struct hi_bands *bands, const struct hi_hp_key *key)
{
	bands->key = key;
	for (size_t i = 0; i < bands->count; i++)
		bands->items[i].whole = hi_hp_key_find(key, bands->items[i].name);
}

const char *hi_bands_mark_text(const struct hi_bands *bands, size_t mark)
{
	if (bands->series->mark_texts)
		return bands->series->mark_texts[mark];
	return bands->key ? hi_hp_key_mark(bands->key, mark) : "";
}

/*
 * A profile ends with an empty sample, written when the program is over. It closes the
 * areas, as in hp2ps, but it is no measurement: statistics of values leave it out.
 */
static size_t count_measured_samples(const struct hi_hp_series *s, size_t first, size_t n)
{
	size_t last = first + n - 1;

	if (n > 1 && last + 1 == s->n_samples && s->starts[last] == s->starts[last + 1])
		return n - 1;
	return n;
}

static void find_sample_range(struct work *w)
{
	const struct hi_hp_series *s = w->series;
	const struct hi_bands_options *o = w->options;
	size_t first = 0, end = s->n_samples;

	while (first < end && s->times[first] < o->from)
		first++;
	while (o->to > 0 && end > first && s->times[end - 1] > o->to)
		end--;
	w->bands->first = first;
	w->bands->n_samples = end - first;
	w->n_measured = end > first ? count_measured_samples(s, first, end - first) : 0;
}

/* Half of the way from the sample before to the one behind; their times. */
static void weigh_samples(struct work *w)
{
	const double *t = w->series->times + w->bands->first;
	size_t n = w->bands->n_samples;

	for (size_t i = 0; i < n; i++) {
		double before = i ? t[i - 1] : t[0], behind = t[i + 1 < n ? i + 1 : i];

		w->weights[i] = (behind - before) / 2;
		if (i < w->n_measured)
			w->middle += t[i] / (double)w->n_measured;
	}
	w->tail = t[n - 1] - t[w->n_measured - 1];
	for (size_t i = 0; i < w->n_measured; i++)
		w->spread += (t[i] - w->middle) * (t[i] - w->middle);
}

static void sum_sample(struct work *w, size_t i)
{
	size_t sample = w->bands->first + i;
	double distance = w->series->times[sample] - w->middle, total = 0;

	for (size_t k = w->series->starts[sample]; k < w->series->starts[sample + 1];
	     k++) {
		const struct hi_hp_point *p = &w->series->points[k];
		struct sums *sums = &w->sums[p->band];
		double v = (double)p->value;

		sums->area += (long double)v * w->weights[i];
		sums->value += v;
		sums->square += (long double)v * v;
		sums->moment += (long double)v * distance;
		sums->peak = v > sums->peak ? v : sums->peak;
		if (i + 1 == w->n_measured)
			sums->last = v;
		total += v;
	}
	if (total > w->bands->total_peak)
		w->bands->total_peak = total;
}

/* For comparisons: where no time passes, no band has an area. */
static double size_of_band(const struct sums *sums)
{
	return sums->area > 0 ? (double)sums->area : (double)sums->value * 1e-300;
}

static int compare_numbers(double a, double b)
{
	return (a > b) - (a < b);
}

static int compare_band_sizes(const void *a, const void *b)
{
	const struct sums *x = *(struct sums *const *)a, *y = *(struct sums *const *)b;
	int sign = compare_numbers(size_of_band(y), size_of_band(x));

	return sign ? sign : (x->id > y->id) - (x->id < y->id);
}

static double largest_part(const struct work *w)
{
	double area = w->bands->total_area;

	if (area > 0)
		return area;
	for (size_t i = 0; i < w->series->n_bands; i++)
		area += size_of_band(&w->sums[i]);
	return area;
}

/* Which bands are drawn, which are summed in OTHER, which are left out. The order
 * of w->order is by size then. */
static void choose_shown_bands(struct work *w)
{
	size_t n = w->series->n_bands, limit = w->options->limit;
	double room = w->options->min_share * largest_part(w), gone = 0;

	for (size_t i = 0; i < n; i++)
		w->order[i] = &w->sums[i];
	qsort(w->order, n, sizeof(*w->order), compare_band_sizes);
	for (size_t i = n; i > 0; i--) {
		struct sums *sums = w->order[i - 1];

		gone += size_of_band(sums);
		sums->placement =
			gone < room || !(size_of_band(sums) > 0) ? DROPPED : IN_OTHER;
		if (sums->placement == DROPPED && size_of_band(sums) > 0)
			w->bands->n_removed++;
	}
	/* Those of the other graph come first. */
	for (size_t i = 0; i < n && w->n_kept < limit; i++)
		if (w->order[i]->like >= 0 && size_of_band(w->order[i]) > 0) {
			w->bands->n_removed -= w->order[i]->placement == DROPPED;
			w->order[i]->placement = KEPT;
			w->n_kept++;
		}
	for (size_t i = 0; i < n && w->n_kept < limit; i++)
		if (w->order[i]->placement == IN_OTHER) {
			w->order[i]->placement = KEPT;
			w->n_kept++;
		}
	for (size_t i = 0; i < n; i++)
		w->bands->in_other += w->order[i]->placement == IN_OTHER;
}

static void describe_band(const struct work *w, const struct sums *sums,
			  struct hi_band *band)
{
	double n = (double)w->n_measured, mean = (double)sums->value / n;
	double duration = w->bands->x_to - w->bands->x_from - w->tail, rest;
	double square = (double)(sums->square - sums->value * sums->value / n);

	square = square > 0 ? square : 0;
	band->area = (double)sums->area;
	band->mean =
		duration > 0 ? (band->area - sums->last * w->tail / 2) / duration : mean;
	band->peak = sums->peak;
	band->last = sums->last;
	band->deviation = sqrt(square / n);
	if (w->spread > 0) {
		band->slope = (double)sums->moment / w->spread;
		rest = square - band->slope * band->slope * w->spread;
		if (n > 2 && rest > 0)
			band->slope_error = sqrt(rest / (n - 2) / w->spread);
	}
}

/* The empty sample at the end is no fall to 0: the bands keep their height up to it. */
static void hold_last_values(struct work *w)
{
	struct hi_bands *b = w->bands;

	for (size_t i = 0; w->n_measured < b->n_samples && i < b->count; i++)
		b->items[i].values[b->n_samples - 1] =
			b->items[i].values[b->n_samples - 2];
}

/* One row of values a band; OTHER's row, if there is one, is the first. */
static enum hi_status fill_values(struct work *w, struct hi_error *err)
{
	struct hi_bands *b = w->bands;
	size_t n = b->n_samples;

	for (size_t i = 0; i < b->count; i++) {
		b->items[i].values = hi_calloc(n, sizeof(double));
		if (!b->items[i].values)
			return hi_fail_memory(err, "bands");
	}
	for (size_t i = 0; i < n; i++) {
		const struct hi_hp_series *s = w->series;
		double removed = 0, drawn = 0;

		for (size_t k = s->starts[b->first + i]; k < s->starts[b->first + i + 1];
		     k++) {
			int placement = w->sums[s->points[k].band].placement;
			double v = (double)s->points[k].value;

			if (placement == DROPPED) {
				removed += v;
				continue;
			}
			drawn += v;
			b->items[placement == IN_OTHER ? 0 : placement].values[i] += v;
		}
		b->removed_peak = removed > b->removed_peak ? removed : b->removed_peak;
		b->drawn_peak = drawn > b->drawn_peak ? drawn : b->drawn_peak;
	}
	hold_last_values(w);
	return HI_OK;
}

/* The totals of OTHER from its values: the bands' own would not have its peak. */
static void describe_other(struct work *w)
{
	struct hi_band *other = &w->bands->items[0];
	struct sums sums = {};

	for (size_t i = 0; i < w->bands->n_samples; i++) {
		double v = other->values[i];

		if (i == w->n_measured)
			break; /* zeros */
		sums.area += (long double)v * w->weights[i];
		sums.value += v;
		sums.square += (long double)v * v;
		sums.moment += (long double)v *
			       (w->series->times[w->bands->first + i] - w->middle);
		sums.peak = v > sums.peak ? v : sums.peak;
		sums.last = v;
	}
	describe_band(w, &sums, other);
}

/* Data for the comparison in qsort. */
struct placed {
	struct hi_band band;
	int like;
	enum hi_bands_sort sort;
};

static int compare_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	int sign = 0;

	/* The other graph's bands keep their order, below all new ones. */
	if (x->like >= 0 || y->like >= 0) {
		if (x->like < 0 || y->like < 0)
			return x->like < 0 ? 1 : -1;
		return x->like - y->like;
	}
	if (x->sort == HI_BANDS_NAME)
		sign = strcmp(y->band.name, x->band.name);
	else if (x->sort == HI_BANDS_DEVIATION)
		sign = compare_numbers(x->band.deviation, y->band.deviation);
	else if (x->sort == HI_BANDS_SLOPE)
		sign = compare_numbers(x->band.slope, y->band.slope);
	else if (x->sort == HI_BANDS_NUMBER)
		sign = compare_numbers(y->band.id, x->band.id);
	if (!sign)
		sign = compare_numbers(x->band.area, y->band.area);
	if (!sign)
		sign = compare_numbers(x->band.mean, y->band.mean);
	return sign ? sign : (y->band.id > x->band.id) - (y->band.id < x->band.id);
}

/* The bands that are drawn, in the order of the stack, with the position of each in
 * options.like. */
static enum hi_status place_bands(struct work *w, struct hi_error *err)
{
	struct hi_bands *b = w->bands;
	HI_GUARD(free) struct placed *placed = hi_calloc(w->n_kept + 1, sizeof(*placed));
	size_t n = 0, other = b->in_other > 0;

	b->items = hi_calloc(w->n_kept + 1, sizeof(*b->items));
	if (!placed || !b->items)
		return hi_fail_memory(err, "bands");
	for (size_t i = 0; i < w->series->n_bands; i++) {
		struct sums *sums = w->order[i];

		if (sums->placement != KEPT)
			continue;
		describe_band(w, sums, &placed[n].band);
		placed[n].band.id = sums->id;
		placed[n].band.name = w->series->bands[sums->id];
		placed[n].like = sums->like;
		placed[n++].sort = w->options->sort;
	}
	qsort(placed, n, sizeof(*placed), compare_placed);
	if (other)
		b->items[0] = (struct hi_band){
			.name = "OTHER",
			.id = UINT32_MAX,
			.colour = HI_BANDS_OTHER_COLOUR,
		};
	for (size_t i = 0; i < n; i++) {
		b->items[other + i] = placed[i].band;
		w->sums[placed[i].band.id].placement = (int)(other + i);
	}
	b->count = other + n;
	return HI_OK;
}

/*
 * Bands of a biography have an order, from memory that is used, at the bottom, to memory
 * that never was, and colours of their own (palette of graph_svg.c: green, teal, blue,
 * purple, orange, red).
 */
static const struct {
	enum hi_bio_band band;
	int colour;
} bio_bands[] = {{HI_BIO_USE, 2},    {HI_BIO_INHERENT, 4}, {HI_BIO_LAG, 0},
		 {HI_BIO_UNUSED, 6}, {HI_BIO_DRAG, 1},	   {HI_BIO_VOID, 3}};

/* -1: it is none. */
static int position_of_bio_band(const char *name)
{
	for (size_t i = 0; i < sizeof(bio_bands) / sizeof(*bio_bands); i++)
		if (strcmp(name, hi_bio_band_name(bio_bands[i].band)) == 0)
			return (int)i;
	return -1;
}

static bool is_biography(const struct work *w)
{
	bool ret = w->series->n_bands && w->options->sort == HI_BANDS_SIZE &&
		   !w->options->like;

	for (size_t i = 0; ret && i < w->series->n_bands; i++)
		ret = position_of_bio_band(w->series->bands[i]) >= 0;
	return ret;
}

static void place_as_biography(struct work *w)
{
	for (size_t i = 0; i < w->series->n_bands; i++)
		w->sums[i].like = position_of_bio_band(w->series->bands[i]);
}

/* The other graph's colours for its bands; the free ones, the largest band first,
 * for the rest. */
static void colour_bands(struct work *w)
{
	const struct hi_bands *like = w->options->like;
	bool taken[HI_BANDS_MAX + 1] = {};
	int next = 0;

	for (size_t i = 0; like && i < like->count; i++)
		if (like->items[i].colour >= 0 && like->items[i].colour < HI_BANDS_MAX)
			taken[like->items[i].colour] = true;
	for (size_t i = 0; i < w->series->n_bands; i++) {
		struct sums *sums = w->order[i];

		if (sums->placement < 0)
			continue;
		if (sums->like >= 0) {
			w->bands->items[sums->placement].colour =
				like ? like->items[sums->like].colour
				     : bio_bands[sums->like].colour;
			continue;
		}
		while (next < HI_BANDS_MAX && taken[next])
			next++;
		w->bands->items[sums->placement].colour = next++;
	}
}

static void scale_band_axis(struct work *w)
{
	struct hi_bands *b = w->bands;
	const struct hi_bands *like = w->options->like;

	b->y_max = b->drawn_peak;
	if (like) {
		b->outgrown = b->drawn_peak > like->y_max || b->x_to > like->x_to ||
			      b->x_from < like->x_from;
		b->y_max = fmax(b->y_max, like->y_max);
		b->x_from = fmin(b->x_from, like->x_from);
		b->x_to = fmax(b->x_to, like->x_to);
	}
	if (w->options->y_max > 0)
		b->y_max = w->options->y_max;
}

/* Positions in the other graph, by name. */
static enum hi_status find_like(struct work *w, struct hi_error *err)
{
	const struct hi_bands *like = w->options->like;
	struct hi_hp_names names = {};
	enum hi_status status = HI_OK;

	for (size_t i = 0; like && i < like->count && status == HI_OK; i++) {
		const char *name = like->items[i].name;

		/* OTHER has number UINT32_MAX there: its colour is no band's. */
		if (like->items[i].id == UINT32_MAX)
			name = "";
		if (hi_hp_names_add(&names, name, strlen(name)) == HI_HP_NO_NAME)
			status = hi_fail_memory(err, "bands");
	}
	for (size_t i = 0; i < w->series->n_bands && status == HI_OK; i++) {
		const char *name = w->series->bands[i];
		uint32_t at = hi_hp_names_find(&names, name, strlen(name));

		w->sums[i].id = (uint32_t)i;
		w->sums[i].like = at == HI_HP_NO_NAME ? -1 : (int)at;
	}
	hi_hp_names_free(&names);
	return status;
}

static enum hi_status build_bands(struct work *w, struct hi_error *err)
{
	struct hi_bands *b = w->bands;
	size_t n_bands = w->series->n_bands;
	enum hi_status status;

	w->sums = hi_calloc(n_bands + 1, sizeof(*w->sums));
	w->order = hi_calloc(n_bands + 1, sizeof(struct sums *));
	w->weights = hi_calloc(b->n_samples, sizeof(double));
	if (!w->sums || !w->order || !w->weights)
		return hi_fail_memory(err, "bands");
	weigh_samples(w);
	status = find_like(w, err);
	if (status != HI_OK)
		return status;
	if (is_biography(w))
		place_as_biography(w);
	for (size_t i = 0; i < b->n_samples; i++)
		sum_sample(w, i);
	for (size_t i = 0; i < n_bands; i++)
		b->total_area += (double)w->sums[i].area;
	choose_shown_bands(w);
	status = place_bands(w, err);
	if (status == HI_OK)
		status = fill_values(w, err);
	if (status != HI_OK)
		return status;
	for (size_t i = 0; i < n_bands; i++)
		b->removed_area +=
			w->sums[i].placement == DROPPED ? (double)w->sums[i].area : 0;
	if (b->in_other)
		describe_other(w);
	colour_bands(w);
	scale_band_axis(w);
	return HI_OK;
}

enum hi_status hi_bands_create(const struct hi_hp_series *series,
			       const struct hi_bands_options *options,
			       struct hi_bands **ret, struct hi_error *err)
{
	HI_GUARD(hi_bands_destroy) struct hi_bands *bands = hi_calloc(1, sizeof(*bands));
	struct hi_bands_options o = *options;
	struct work w = {.series = series, .options = &o, .bands = bands};
	enum hi_status status;

	if (!bands)
		return hi_fail_memory(err, "bands");
	o.limit = !o.limit		   ? USUAL_LIMIT
		  : o.limit > HI_BANDS_MAX ? HI_BANDS_MAX
					   : o.limit;
	bands->series = series;
	find_sample_range(&w);
	if (!bands->n_samples)
		return hi_fail(err, HI_USAGE, 0, "no sample between %.6f and %.6f",
			       o.from, o.to);
	bands->x_from = series->times[bands->first];
	bands->x_to = series->times[bands->first + bands->n_samples - 1];
	status = build_bands(&w, err);
	free(w.sums);
	free((void *)w.order);
	free(w.weights);
	if (status == HI_OK)
		*ret = hi_take(bands);
	return status;
}
