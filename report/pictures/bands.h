/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bands of a stacked graph: which of a series' bands are drawn, in which order,
 * and what is known of each. Areas are trapezoids over time (as hp2ps has them); a
 * band that a sample does not have is 0 there.
 */
#ifndef HI_REPORT_PICTURES_BANDS_H
#define HI_REPORT_PICTURES_BANDS_H

#include "base/cleanup.h"
#include "report/heap_profile/hp_key.h"
#include "report/heap_profile/hp_reader.h"

enum hi_bands_sort {
	HI_BANDS_SIZE,	    /* by area, the largest on top */
	HI_BANDS_DEVIATION, /* the roughest on top */
	HI_BANDS_NAME,	    /* the first of the alphabet on top */
	HI_BANDS_SLOPE,	    /* the one that grows fastest on top */
	HI_BANDS_NUMBER,    /* the first of the file on top */
};

enum { HI_BANDS_MAX = 200, HI_BANDS_OTHER_COLOUR = -1 };

struct hi_bands_options {
	size_t limit;	  /* bands at most, without OTHER; 0: 20 */
	double min_share; /* the smallest bands that together have less of the total area
			   * than this are not drawn; hp2ps: 0.01 */
	enum hi_bands_sort sort;
	double from, to;	     /* only samples in [from, to]; to 0: all */
	double y_max;		     /* top of the axis; 0: the data's */
	const struct hi_bands *like; /* whose colours and scale are used; NULL: none */
};

struct hi_band {
	const char *name;	   /* the series'; "OTHER" */
	const char *whole;	   /* what a numbered label stands for; NULL: the name */
	uint32_t id;		   /* in the series; UINT32_MAX: OTHER */
	int colour;		   /* from 0; HI_BANDS_OTHER_COLOUR */
	double area;		   /* value unit x sample unit */
	double mean;		   /* over time */
	double peak, last;	   /* values */
	double deviation;	   /* of the samples' values, standard */
	double slope, slope_error; /* least squares, per sample unit; error: standard */
	double *values;		   /* one a sample in range */
};

struct hi_bands {
	const struct hi_hp_series *series; /* borrowed */
	const struct hi_hp_key *key;	   /* borrowed; NULL: none */
	size_t first, n_samples;	   /* of the series' samples those in range */
	struct hi_band *items;		   /* from the bottom of the stack to its top */
	size_t count;
	size_t in_other; /* bands that OTHER adds up */
	/* Not drawn: how many, their area, and their largest total in one sample. */
	size_t n_removed;
	double removed_area, removed_peak;
	double total_area, total_peak; /* of all, the removed ones too */
	double drawn_peak;
	/* The axes. */
	double x_from, x_to, y_max;
	bool outgrown; /* does not fit the scale of options.like, which was widened */
};

/* Chooses and computes the bands. The series outlives them. HI_USAGE: no sample is in
 * the range. */
enum hi_status hi_bands_create(const struct hi_hp_series *series,
			       const struct hi_bands_options *options,
			       struct hi_bands **ret, struct hi_error *err);
/* Fills in `whole` of the bands. The key must outlive the bands. */
void hi_bands_name_labels(struct hi_bands *bands, const struct hi_hp_key *key);
/* Returns the text of a mark of the series, "" unknown. Hostile. */
const char *hi_bands_mark_text(const struct hi_bands *bands, size_t mark);
void hi_bands_destroy(struct hi_bands *bands); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_bands *, hi_bands_destroy)

#endif
