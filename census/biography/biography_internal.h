/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Note [Runs of quiet periods]
 *
 * Bounds need four periods of an object: its first and last proved use, and the first and
 * last period that is not proved to be without use. The last two need no history: before
 * the first possible use is one run of quiet periods, and after the last one another. So
 * an object has the latest run of quiet periods, and the first possible use as soon as a
 * period was not quiet. A period without a report costs nothing: a run that ends before a
 * period shows that the period was not quiet.
 */
#ifndef HI_CENSUS_BIOGRAPHY_BIOGRAPHY_INTERNAL_H
#define HI_CENSUS_BIOGRAPHY_BIOGRAPHY_INTERNAL_H

#include "base/interner.h"
#include "base/table.h"
#include "census/biography/band_store_internal.h"
#include "census/biography/biography.h"

enum hi_bio_flags {
	HI_BIO_IS_ALIVE = 1,
	HI_BIO_IS_INHERENT = 2,
	HI_BIO_IS_OLDER = 4,
	/* The period of its birth is quiet by rule alone (birth_is_idle). */
	HI_BIO_IS_BORN_IDLE = 8,
};
/* One element an object each; a dead one's `group` is the next free number. */
#define HI_BIO_OBJECT_COLUMNS(X)                                                         \
	X(uint64_t, address)                                                             \
	X(uint64_t, size)                                                                \
	X(uint64_t, serial)                                                              \
	X(uint64_t, from)                                                                \
	X(uint64_t, first_proved)                                                        \
	X(uint64_t, last_proved)                                                         \
	X(uint64_t,                                                                      \
	  first_possible) /* 0: every period until now was quiet, or is not    \
				       looked at yet */         \
	X(uint64_t, quiet_from)                                                          \
	X(uint64_t, quiet_to) /* 0: no run */                                            \
	X(uint32_t, group)                                                               \
	X(uint32_t, era)                                                                 \
	X(uint8_t, flags)                                                                \
	X(uint8_t, first_evidence)                                                       \
	X(uint8_t, last_evidence)                                                        \
	X(uint8_t, quiet_evidence)

struct hi_bio_columns {
#define HI_BIO_COLUMN_FIELD(type, name) type *name;
	HI_BIO_OBJECT_COLUMNS(HI_BIO_COLUMN_FIELD)
#undef HI_BIO_COLUMN_FIELD
	uint64_t *seen; /* bits */
	uint32_t count, capacity;
	uint32_t first_free; /* HI_BIO_NONE: there is none */
	uint32_t living;
};

/* Rows of the store: all objects, those left out, then the groups. */
enum { HI_BIO_STORE_ALL, HI_BIO_STORE_LEFT_OUT, HI_BIO_STORE_GROUPS };
static inline uint32_t hi_bio_store_group(uint32_t group)
{
	return group == HI_BIO_ALL	  ? HI_BIO_STORE_ALL
	       : group == HI_BIO_LEFT_OUT ? HI_BIO_STORE_LEFT_OUT
					  : group + HI_BIO_STORE_GROUPS;
}

/* SPEC: the sum over t of VOID[t] is the sum of size * periods over the void objects.
 * Both modulo 2^64. */
struct hi_bio_areas {
	uint64_t void_proved, void_possible;
};

struct hi_bio {
	struct hi_bio_options options;
	uint64_t period;
	bool is_finished;
	struct hi_bio_columns o;
	struct hi_table index; /* address: number, or one of the two below */
	uint32_t unreachable;  /* entries HI_BIO_INDEX_UNREACHABLE */
	uint32_t n_groups;
	struct hi_band_store store; /* of dead objects */
	struct hi_bio_areas areas;  /* of them */
	struct hi_bio_census now;   /* of the open period */
	struct HI_VECTOR(struct hi_bio_census) censuses;
	struct HI_VECTOR(struct hi_bio_amount) unseen; /* by group of the store */
	uint32_t era, last_era;
	bool leaves_out; /* what is born now */
	struct HI_VECTOR(struct hi_bio_era_mark) eras;
	struct hi_interner names; /* of eras */
	struct hi_bio_damage damage;
	uint64_t freed_late;
	uint64_t misordered; /* lives whose periods are not in order (checks.h) */
};
#define HI_BIO_INDEX_DEAD UINT64_MAX
#define HI_BIO_INDEX_UNREACHABLE (UINT64_MAX - 1)

/* ---- columns.c ---- */

/* The number for a new object; HI_BIO_NONE: out of memory, or of numbers. */
uint32_t hi_bio_columns_take(struct hi_bio_columns *o);
void hi_bio_columns_give_back(struct hi_bio_columns *o, uint32_t number);
size_t hi_bio_columns_memory(const struct hi_bio_columns *o);
void hi_bio_columns_free(struct hi_bio_columns *o);

/* ---- phases.c ---- */

/* How far a life goes and what is known of its end. */
struct hi_bio_end {
	uint64_t period; /* of its death */
	bool is_idle;	 /* it was not used there, unless that is proved */
};
/* Periods of use, 0: none. */
struct hi_bio_uses {
	uint64_t first_proved, last_proved, first_possible, last_possible;
};
struct hi_bio_uses hi_bio_uses_until(const struct hi_bio_columns *o, uint32_t number,
				     struct hi_bio_end end);
/* The bands in which such an object may be at census t of its life (life.c). */
uint32_t hi_bio_uses_bands(const struct hi_bio_uses *uses, bool is_inherent,
			   bool is_older, uint64_t t);
/* Adds the whole life of an object to the bands of its group and of all. is_settled: it
 * is dead. HI_NO_MEMORY: nothing was added. */
enum hi_status hi_bio_settle(const struct hi_bio *bio, struct hi_band_store *store,
			     struct hi_bio_areas *areas, uint32_t number,
			     struct hi_bio_end end, bool is_settled,
			     struct hi_error *err);
/* Whether its periods are in order: phases only advance. */
bool hi_bio_uses_are_ordered(const struct hi_bio_columns *o, uint32_t number,
			     struct hi_bio_end end);

/* ---- objects.c ---- */

/* The object dies in the open period. entry: what its address is in the index from now
 * on, a HI_BIO_INDEX. HI_NO_MEMORY: nothing has changed. */
enum hi_status hi_bio_end_life(struct hi_bio *bio, uint32_t number, bool is_idle,
			       uint64_t entry, struct hi_error *err);

/* ---- evidence.c ---- */

/* The evidence about the open period that an object has. */
enum hi_bio_evidence hi_bio_evidence_now(const struct hi_bio *bio, uint32_t number);
/* Adds the object to the counters of the open period, or takes it away from them. */
void hi_bio_count_now(struct hi_bio *bio, uint32_t number, bool is_added);

static inline void hi_bio_amount_add(struct hi_bio_amount *amount, uint64_t bytes)
{
	amount->bytes += bytes;
	amount->objects++;
}
static inline void hi_bio_amount_take(struct hi_bio_amount *amount, uint64_t bytes)
{
	amount->bytes -= bytes;
	amount->objects--;
}

#endif
