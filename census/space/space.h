/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The space profile: which functions allocate, and how much of that survives how many
 * censuses, by type. The definitions are those of the profiler of MLWorks, with censuses
 * in place of collections.
 *
 * Time is divided into periods, counted from 1; census t ends period t. An object that
 * was born in period p and is live at census t has age t - p + 1 there. Each function,
 * type and age has an amount: age 0 is all that was allocated, and age g the part that at
 * least g censuses found live. *Survived* is the sum over the ages from 1 on, so that an
 * object counts once for each census that it saw.
 *
 * Pure: it is independent of processes. Contexts, sites, functions and types are numbers
 * of the caller; type 0 is unknown.
 */
#ifndef HI_CENSUS_SPACE_SPACE_H
#define HI_CENSUS_SPACE_SPACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"

/* size: bytes that the allocator consumes; overhead: of them, what was not requested. */
struct hi_space_amount {
	uint64_t number, size, overhead;
};
static inline void hi_space_add(struct hi_space_amount *sum,
				const struct hi_space_amount *more)
{
	sum->number += more->number;
	sum->size += more->size;
	sum->overhead += more->overhead;
}

/* ---- what happens ---- */

/* An object at a census. It is the same at two of them if address and serial are. */
struct hi_space_object {
	uint64_t address, serial;
	uint32_t context, type;
	uint32_t born; /* period; 0 counts as 1 */
	struct hi_space_amount amount;
	/* Its overhead as hi_space_allocated() had it, where the size was not known yet.
	 */
	uint64_t assumed_overhead;
};

struct hi_space;
/* *ret: hi_space_destroy(). HI_NO_MEMORY. */
enum hi_status hi_space_create(struct hi_space **ret, struct hi_error *err);
void hi_space_destroy(struct hi_space *space); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_space *, hi_space_destroy)

/* Before anything was allocated: periods are told by kind of context, too. */
typedef uint32_t hi_space_kind_fn(const void *arg, uint32_t context);
void hi_space_tell_kinds(struct hi_space *space, hi_space_kind_fn *kind_of,
			 const void *arg);

/* Was allocated in the open period, whatever became of it. HI_NO_MEMORY. */
enum hi_status hi_space_allocated(struct hi_space *space, uint32_t context,
				  const struct hi_space_amount *amount,
				  struct hi_error *err);
/* Is live at the census that ends the open period, and is part of what was allocated.
 * Objects come in any order, each once. HI_NO_MEMORY. */
enum hi_status hi_space_see(struct hi_space *space, const struct hi_space_object *object,
			    struct hi_error *err);
/* Takes the census: what was not seen is dead. The next period begins. HI_NO_MEMORY. */
enum hi_status hi_space_end_period(struct hi_space *space, struct hi_error *err);
/* Periods that have ended. */
uint32_t hi_space_periods(const struct hi_space *space);
/* Bytes that it takes here. */
uint64_t hi_space_memory(const struct hi_space *space);

/* ---- what it amounts to ---- */

/* Amounts of period t, at index t - 1: born and died in it, and live at its end. live[t]
 * = live[t - 1] + born - died. */
struct hi_space_period {
	struct hi_space_amount born, died, live;
};
const struct hi_space_period *hi_space_history(const struct hi_space *space);

/* The same of the contexts of one kind; kinds without an amount have none. */
struct hi_space_kind_period {
	uint32_t period, kind; /* period: from 1 on */
	struct hi_space_period amounts;
};

/* `all`: at this age, the same up to the step before it; a row has steps where the amount
 * falls after them, in ascending order of age. `live`: the part that is live at the last
 * census and has just this age. */
struct hi_space_step {
	uint32_t age;
	struct hi_space_amount all, live;
};

/* Amounts of one function and type. Nothing is older than the last step. */
struct hi_space_row {
	uint32_t function, type;
	uint32_t n_steps;
	const struct hi_space_step *steps;
};
struct hi_space_result {
	struct hi_space_row *rows; /* by function, then by type */
	size_t n_rows;
	void *owned;
};

/* Which contexts are one site, and which function that is in. */
struct hi_space_sites {
	const uint32_t *of_context;
	uint32_t n_contexts; /* others are site 0 */
	const uint32_t *function;
	uint32_t n_sites; /* others have function 0 */
	/* By context, what its rows are of in place of the site's function; others are
	 * of 0. NULL: functions. */
	const uint32_t *group_of_context;
};
/*
 * Computes the result up to the last census. The type of an object that died before a
 * census has seen it is unknown. HI_NO_MEMORY. hi_space_result_free().
 */
enum hi_status hi_space_result(const struct hi_space *space,
			       const struct hi_space_sites *sites,
			       struct hi_space_result *ret, struct hi_error *err);
void hi_space_result_free(struct hi_space_result *result);

/* Sum over the ages from 1 on. */
struct hi_space_amount hi_space_survived(const struct hi_space_row *row);
/* Return the live amount at the last census; and the part of just one age. */
struct hi_space_amount hi_space_live(const struct hi_space_row *row);
struct hi_space_amount hi_space_live_at_age(const struct hi_space_row *row, uint32_t age);
/* The amount at an age; zeros where it has none. */
struct hi_space_amount hi_space_at_age(const struct hi_space_row *row, uint32_t age);
/* The last age at which it has something; 0 where there is none. */
uint32_t hi_space_last_age(const struct hi_space_row *row);
/* Returns whether it has less at this age than at the one before; true for ages 0 and 1.
 * A sum falls also where one of its parts has less. */
bool hi_space_falls_at(const struct hi_space_row *row, uint32_t age);
/* Adds up n rows. steps: room for all of their steps together, which *ret borrows. */
void hi_space_sum_rows(const struct hi_space_row *rows, size_t n,
		       struct hi_space_step *steps, struct hi_space_row *ret);

#endif
