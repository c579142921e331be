/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The biographies of a series: takes its censuses one by one, identifies the objects of
 * the census before, and collects proofs that they were used or not (census/biography has
 * the definitions).
 *
 * Note [Which object is the same]
 *
 * An address is given out again, and another object of the same size may then lie there.
 * The recording distinguishes them: it has the time of each birth. An object without a
 * record is older than the recording where all allocations are recorded, and then it is
 * the same one, as its free would have been seen. Objects outside of the recorded
 * allocator (of a runtime's own heap, in mappings), and of samples all without a record,
 * may have been replaced unseen: that their bytes differ proves nothing then. That their
 * pages were not referenced still proves that they were neither used nor replaced. If
 * events were lost, the same holds for all that was born before.
 */
#ifndef HI_SESSION_BIOGRAPHY_LIVES_H
#define HI_SESSION_BIOGRAPHY_LIVES_H

#include "census/biography/biography.h"
#include "session/era_choice.h"
#include "session/biography/object_groups.h"
#include "session/biography/watch_sample.h"
#include "session/live/page_evidence.h"
#include "session/live/use_evidence.h"

struct hi_lives_options {
	enum hi_lives_live live;
	enum hi_lives_ends birth_use, death_use;
	const char *inherent; /* types whose use cannot be seen; NULL: none */
	unsigned watch;	      /* watchpoints that were asked for; 0: none */
	const char *no_watch; /* why there are none of them; "", NULL: there are. Read
				 when it is asked for */
	bool uses;	      /* calls that pass objects were to be seen */
	const char *no_uses;  /* as no_watch */
	bool retainers;	      /* groups by retainer sets, too */
	const char *era;      /* FROM[-TO] (era_choice.h); NULL: all eras */
};

/* How objects of the last census were told from others. */
struct hi_lives_known {
	struct hi_bio_amount certain;	/* by the recording */
	struct hi_bio_amount uncertain; /* by address, size and type alone */
	struct hi_bio_amount left_out;	/* of samples: what has no record */
};

struct hi_lives_census {
	bool is_recorded;	     /* allocations were followed */
	uint64_t sample_bytes;	     /* mean distance of samples; 0: all are */
	uint64_t at_ns;		     /* since the first census */
	uint64_t took_ns;	     /* of it, this module */
	bool has_pages;		     /* its period has evidence from pages */
	struct hi_lives_known known; /* of what counts */
	struct hi_bio_amount unseen; /* born and dead in its period, by the events */
};

/* Sources of proofs of use; each may be NULL. Borrowed. */
struct hi_lives_evidence {
	struct hi_page_evidence *pages;
	struct hi_watch_evidence *watch;
	struct hi_use_evidence *uses;
};

struct hi_lives;
/* Strings are borrowed. *ret: hi_lives_destroy(). HI_USAGE: era. HI_NO_MEMORY. */
enum hi_status hi_lives_create(const struct hi_lives_options *options,
			       struct hi_lives **ret, struct hi_error *err);
void hi_lives_destroy(struct hi_lives *lives);
/* Before the first census; without it there is no evidence but contents. */
void hi_lives_use_evidence(struct hi_lives *lives,
			   const struct hi_lives_evidence *evidence);
/*
 * Adds a census. The first one begins period 1: what it has is older. HI_USAGE:
 * --inherent names no type of the first census. HI_NO_MEMORY, HI_LIMIT.
 */
enum hi_status hi_lives_add(struct hi_lives *lives, struct hi_inspection *in,
			    uint64_t at_ns, struct hi_error *err);
/* An era begins, of this name or number. HI_LIMIT: its number is not higher than those
 * before. HI_NO_MEMORY. */
enum hi_status hi_lives_begin_era(struct hi_lives *lives, const char *name,
				  struct hi_error *err);

const struct hi_lives_options *hi_lives_asked(const struct hi_lives *lives);
struct hi_bio *hi_lives_bio(struct hi_lives *lives);
const struct hi_era_choice *hi_lives_eras(const struct hi_lives *lives);
const struct hi_object_groups *hi_lives_groups(const struct hi_lives *lives);
/* Censuses 1 to hi_bio_censuses(); [0] is where period 1 begins. */
const struct hi_lives_census *hi_lives_censuses(const struct hi_lives *lives,
						size_t *n_ret);
/* The sample that is watched; NULL: none. */
const struct hi_watch_sample *hi_lives_sample(const struct hi_lives *lives);
/* Watchpoints that were asked for, why none were set at the last census ("": they were),
 * and what they have cost until then. */
unsigned hi_lives_watch(const struct hi_lives *lives, const char **missing_ret,
			struct hi_watch_counts *ret);
/* The same of calls that pass objects. */
bool hi_lives_uses(const struct hi_lives *lives, const char **missing_ret,
		   struct hi_use_counts *ret);
/* Why pages are no evidence of the last period; NULL: they are. */
const char *hi_lives_no_pages(const struct hi_lives *lives);

/* An object that the last census has counted. */
struct hi_lives_object {
	uint32_t object; /* in the graph of that census */
	uint32_t number; /* in the biographies */
};
/* All of them, ascending by object. Valid until the next census. */
const struct hi_lives_object *hi_lives_objects(const struct hi_lives *lives,
					       size_t *n_ret);
/* For samples: the variance of what is estimated to be live of a group, in bytes squared.
 */
double hi_lives_variance(const struct hi_lives *lives, uint32_t group);
/* Fills in the life of an object of that number which the last census has. False: it has
 * none, or the object does not count (of era 0). */
bool hi_lives_at_end(const struct hi_lives *lives, uint32_t number,
		     struct hi_bio_life *ret);

#endif
