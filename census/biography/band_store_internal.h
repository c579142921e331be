/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Difference arrays over periods, one set for each group: what is in a column in the
 * periods [from, to) is added at `from` and taken away at `to` (SPEC, "On destruction":
 * voidNew, dragNew). Their prefix sums are the bands.
 *
 * Note [Pages of differences]
 *
 * Most types change in few periods of a long series. So a group has pages of
 * HI_BIO_PAGE_PERIODS periods, and a directory that names them; a period in which nothing
 * changes has no page. After hi_band_store_sum() a missing page stands for the last row
 * before it: the directory has that page, marked as carried.
 */
#ifndef HI_CENSUS_BIOGRAPHY_BAND_STORE_INTERNAL_H
#define HI_CENSUS_BIOGRAPHY_BAND_STORE_INTERNAL_H

#include "base/vector.h"
#include "census/biography/bands.h"

enum { HI_BIO_PAGE_PERIODS = 8 };

/* A column for each set of bands, and one more. */
enum { HI_BIO_COLUMN_SETTLED = HI_BIO_SETS, HI_BIO_COLUMNS };

/* Modulo 2^64: a difference may be negative, a sum of them is not. */
struct hi_band_cell {
	struct hi_bio_amount columns[HI_BIO_COLUMNS];
};
struct hi_band_directory HI_VECTOR(uint32_t); /* page + 1, by period; 0: none */
struct hi_band_store {
	struct HI_VECTOR(struct hi_band_cell) cells;
	struct HI_VECTOR(struct hi_band_directory) groups;
};

/* Makes room for a change at this period; false: out of memory, or of page numbers. */
bool hi_band_store_touch(struct hi_band_store *store, uint32_t group, uint64_t period);
/* Adds the amount in the periods [from, to), nothing if that is empty. Both ends must
 * have been touched. */
void hi_band_store_add(struct hi_band_store *store, uint32_t group, unsigned column,
		       uint64_t from, uint64_t to, uint64_t bytes);
/* *ret: hi_band_store_free(). False: out of memory. */
bool hi_band_store_clone(const struct hi_band_store *store, struct hi_band_store *ret);
/* Turns differences into their prefix sums. Nothing may be added afterwards. */
void hi_band_store_sum(struct hi_band_store *store);
/* The cell of a period, of a store that was summed; NULL: all is 0. */
const struct hi_band_cell *hi_band_store_at(const struct hi_band_store *store,
					    uint32_t group, uint64_t period);
/* Whether each column of the group, not summed, adds up to 0. */
bool hi_band_store_balances(const struct hi_band_store *store, uint32_t group);
size_t hi_band_store_memory(const struct hi_band_store *store);
void hi_band_store_free(struct hi_band_store *store);

#endif
