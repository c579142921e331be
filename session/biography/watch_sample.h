/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A uniform sample of the objects of a series, some of which are watched at a time.
 *
 * Note [Which objects are watched]
 *
 * Each object has a random number, which its address, the time of its birth and a seed
 * make, so that it has the same one at each census, whatever it is used for. The sample
 * are the K live objects with the lowest numbers. So it is a uniform sample of what is
 * live at that census, drawn without putting back, in which objects are from their first
 * census to their death: each is in it with the probability K / live. K grows with the
 * number of censuses alone, by as many objects as there are watchpoints in HOLD periods.
 *
 * The objects of the sample that were watched in the fewest periods are watched; in each
 * period one word of them, the next one in the next period. A hit proves that the object
 * was used. That there was none proves nothing, as other words may have been used, or the
 * object in another period: the possible bands of an object of the sample allow for that,
 * and estimates from them (census/biography/sample_bands.h) are bounds.
 *
 * An address may be given out again within a period. So the hits of a period count when
 * the census at its end has the same object, by the time of its birth.
 */
#ifndef HI_SESSION_BIOGRAPHY_WATCH_SAMPLE_H
#define HI_SESSION_BIOGRAPHY_WATCH_SAMPLE_H

#include "census/biography/bands.h"
#include "session/live/watch_evidence.h"

/* An object at a census. */
struct hi_watch_object {
	uint64_t address, serial; /* identify it */
	uint64_t usable;	  /* bytes of it that may be watched */
	uint64_t size;		  /* what counts */
	uint32_t number;	  /* in the biographies */
};

struct hi_watch_member {
	struct hi_watch_object object;
	uint64_t random;
	uint64_t hits;	  /* that are proofs */
	uint32_t periods; /* in which it was watched */
	/* When it was watched for the last time, until the end of the period: 0: never.
	 */
	uint64_t watched_at; /* the number of the census */
	uint64_t hits_then;
};

struct hi_watch_sample;
/* n_slots: 1 to HI_WATCHPOINTS_MAX. *ret: hi_watch_sample_destroy(). HI_NO_MEMORY. */
enum hi_status hi_watch_sample_create(unsigned n_slots, uint64_t seed,
				      struct hi_watch_sample **ret, struct hi_error *err);
void hi_watch_sample_destroy(struct hi_watch_sample *sample); /* NULL is fine */

/* A census begins. evidence (here and below; NULL: nothing is hit): takes its hits of the
 * period that it ends. */
void hi_watch_sample_begin(struct hi_watch_sample *sample,
			   struct hi_watch_evidence *evidence);
/* Hits of the object in that period: each is a proof of its use. To be asked once. */
uint64_t hi_watch_sample_hits(struct hi_watch_sample *sample, uint64_t address,
			      uint64_t serial);
/* The census has this object, which is certainly told from others. False: no memory. */
bool hi_watch_sample_offer(struct hi_watch_sample *sample,
			   const struct hi_watch_object *object);
/* It has no more. Watches objects in the period that begins. */
void hi_watch_sample_end(struct hi_watch_sample *sample,
			 struct hi_watch_evidence *evidence);

/* After a census: the sample, and what it was taken from. */
const struct hi_watch_member *
hi_watch_sample_members(const struct hi_watch_sample *sample, size_t *n_ret,
			struct hi_bio_amount *population_ret);

struct hi_watch_totals {
	uint64_t objects; /* that were watched, also dead ones */
	uint64_t used;	  /* of them, those with a proof */
	uint64_t hits;	  /* proofs */
};
struct hi_watch_totals hi_watch_sample_totals(const struct hi_watch_sample *sample);

#endif
