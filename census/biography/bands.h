/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bands of a biography: what live memory is at a census (SPEC section 2,
 * "Definitions"; lag, drag, void and use are those of Runciman and Rojemo, as GHC's -hb
 * has them).
 *
 * An amount is known as bounds: `proved` is in the band whatever the evidence leaves
 * open, `possible` is not excluded from it. proved <= truth <= possible. If the evidence
 * is complete, both are equal.
 */
#ifndef HI_CENSUS_BIOGRAPHY_BANDS_H
#define HI_CENSUS_BIOGRAPHY_BANDS_H

#include "base/error.h"

/* In the order in which GHC writes them; the last one is ours. */
enum hi_bio_band {
	HI_BIO_VOID,	 /* born, and not used until its death */
	HI_BIO_LAG,	 /* born, and not used before a later period */
	HI_BIO_USE,	 /* from the first to the last period of use, both included */
	HI_BIO_INHERENT, /* of a kind whose use cannot be seen: in no other band */
	HI_BIO_DRAG,	 /* after the last period of use, until its death */
	HI_BIO_UNUSED, /* older than the first period, and not used since: whether it was
			  used before is not known. Never in VOID or LAG */
	HI_BIO_BANDS
};
/* A set of bands is a mask of HI_BIO_BIT(). */
#define HI_BIO_BIT(band) (1u << (band))
#define HI_BIO_EVERY_BAND (HI_BIO_BIT(HI_BIO_BANDS) - 1)
/* Bands of memory that is not used any more, or never was. */
#define HI_BIO_NOT_USED                                                                  \
	(HI_BIO_BIT(HI_BIO_VOID) | HI_BIO_BIT(HI_BIO_DRAG) | HI_BIO_BIT(HI_BIO_UNUSED))

/* Bands of memory that is not used any more, also where it is older than the first period. */
#define HI_BIO_IDLE (HI_BIO_BIT(HI_BIO_DRAG) | HI_BIO_BIT(HI_BIO_UNUSED))

/* "VOID", "INHERENT_USE", "UNUSED-SINCE-ATTACH": as heap profiles write them. */
const char *hi_bio_band_name(enum hi_bio_band band);
/* Reads names with commas between them, "drag,void", as --bio has them: void, lag, use,
 * inherent, drag, unused; idle is the last two. HI_USAGE: there is no such band; the text lists them. */
enum hi_status hi_bio_bands_parse(const char *text, uint32_t *mask_ret,
				  struct hi_error *err);

struct hi_bio_bounds {
	uint64_t proved, possible;
};
struct hi_bio_amount {
	uint64_t bytes, objects;
};
/*
 * Note [Sets of bands]
 *
 * The evidence leaves an object at a census one band, or some: a set of bands. The sets
 * that there can be are few, so a row has what is in each of them. Sums of bands are made
 * of these: bounds of single bands do not add up, as an object that may be LAG or USE is
 * in both, and what is neither would then be too little.
 */
enum { HI_BIO_SETS = 17 };
/* The mask of a set, 0 to HI_BIO_SETS - 1. */
uint32_t hi_bio_set_mask(unsigned set);
/* The set that has this mask; HI_BIO_SETS: there is none. */
unsigned hi_bio_set_find(uint32_t mask);

/* One census of one group. */
struct hi_bio_row {
	struct hi_bio_bounds bytes[HI_BIO_BANDS], objects[HI_BIO_BANDS];
	struct hi_bio_amount live;    /* at the census */
	struct hi_bio_amount settled; /* of those: what is dead by now. The bands of the
					 others can still change: they are provisional */
	/* They add up to live; all 0 where they are not known (files of before). */
	struct hi_bio_amount sets[HI_BIO_SETS];
};
/* Sets the bounds and what is live from the sets. */
void hi_bio_row_of_sets(struct hi_bio_row *row);
void hi_bio_row_add(struct hi_bio_row *sum, const struct hi_bio_row *more);
struct hi_bio_sum {
	struct hi_bio_bounds bytes, objects;
};
/*
 * Bytes in one of the bands of the mask: proved of the objects that can be in no other
 * band, possible of those that can be in one of them. If the sets are not known, of
 * the bounds, which are wider.
 */
struct hi_bio_sum hi_bio_row_sum(const struct hi_bio_row *row, uint32_t mask);

/* Live bytes in parts that add up: what is proved of each band; of the rest what is
 * proved to be in HI_BIO_NOT_USED; and what is not known. */
enum { HI_BIO_PART_NOT_USED = HI_BIO_BANDS, HI_BIO_PART_NOT_KNOWN, HI_BIO_PARTS };
void hi_bio_row_parts(const struct hi_bio_row *row, uint64_t ret[HI_BIO_PARTS]);
/* As hi_bio_band_name(); "NOT-USED" and "NOT-KNOWN" for the last two. */
const char *hi_bio_part_name(unsigned part);

#endif
