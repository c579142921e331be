/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bands of every census and group, at one moment of a series: biographies that have
 * ended count as they are, the others as if they ended now (SPEC: "the final scan is
 * applied to a copy and its contribution is printed as provisional"). The provisional
 * part of a row is live - settled. After hi_bio_finish() all is final.
 */
#ifndef HI_CENSUS_BIOGRAPHY_VIEW_H
#define HI_CENSUS_BIOGRAPHY_VIEW_H

#include "base/cleanup.h"
#include "census/biography/biography.h"

struct hi_bio_view;
/* tail: how the living ones would end. Takes time for every living object and every page
 * of differences, and a copy of these. The view does not change with the biographies.
 * *ret: hi_bio_view_destroy(). HI_NO_MEMORY. */
enum hi_status hi_bio_view_make(const struct hi_bio *bio, enum hi_bio_tail tail,
				struct hi_bio_view **ret, struct hi_error *err);
void hi_bio_view_destroy(struct hi_bio_view *view);
HI_DEFINE_GUARD(struct hi_bio_view *, hi_bio_view_destroy)
/* The number of censuses and of groups that it was made with. */
uint64_t hi_bio_view_censuses(const struct hi_bio_view *view);
uint32_t hi_bio_view_groups(const struct hi_bio_view *view);
/* Census t (from 1) of a group, HI_BIO_ALL, or HI_BIO_LEFT_OUT (the amount that a
 * restriction hides). All 0 if there is none. */
void hi_bio_view_row(const struct hi_bio_view *view, uint32_t group, uint64_t t,
		     struct hi_bio_row *ret);

#endif
