/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Biographies: of each object of a series of censuses, when it was born, when it was used
 * and when it died; and how much memory was in which band (bands.h) at each census. It is
 * independent of processes: a caller reports what it saw. SPEC section 2 is the
 * definition.
 *
 * Periods are numbered from 1, and period t ends at census t (SPEC, "Definitions"). A
 * report belongs to the open period, until hi_bio_end_period() takes its census. An
 * object that is born in period b and dies in period d is at the censuses b to d - 1; one
 * that is born and dies within one period is at none of them, and counts as unseen.
 *
 * A use anywhere in a period makes the object used in all of it, and a use in the period
 * of its death counts, too: an object that is used only there is LAG at every census.
 *
 * Births and deaths are ends of a life in which memory is touched without being used: it
 * is filled, and torn down. The options say whether uses there are excluded. An object
 * that has lived through no whole period has nothing else, so that it may have been used
 * in the period of its birth in any case.
 *
 * Evidence is partial. For each object and period it is known that it was used (a
 * watchpoint, a probe or its contents prove it), or that it was not (its pages were not
 * referenced), or neither. A period without a report is unknown. The bands are bounds
 * over everything that the evidence leaves open.
 *
 * A contradiction (an object that dies twice) is counted in hi_bio_damage() and changes
 * nothing else.
 *
 * Note [Memory of biographies]
 *
 * A living object takes 84 bytes in columns, one bit, and 21 to 43 bytes in an index by
 * address; columns double when they are full. Dead objects take nothing: their records
 * are used again, and their addresses leave the index before they are more than those of
 * the living. A group takes 2,304 bytes for eight periods in which one of its objects was
 * born or died, or changed its band, and 4 bytes for eight other ones; a census takes 160
 * bytes. hi_bio_memory() is the sum.
 */
#ifndef HI_CENSUS_BIOGRAPHY_BIOGRAPHY_H
#define HI_CENSUS_BIOGRAPHY_BIOGRAPHY_H

#include "census/biography/bands.h"

/* No object. */
#define HI_BIO_NONE UINT32_MAX
/* Groups are 0 to HI_BIO_GROUPS - 1. */
enum { HI_BIO_GROUPS = 1 << 24 };
/* In place of a group: all objects that count; those of eras that do not count. */
#define HI_BIO_ALL UINT32_MAX
#define HI_BIO_LEFT_OUT (UINT32_MAX - 1)

struct hi_bio_options {
	/* Births and deaths are reported as they happen. A birth that only a census shows
	 * is then a missed one (it is counted), and what a census does not show any more
	 * is unreachable, as its free would have been reported. Else the censuses are all
	 * that is known. */
	bool has_events;
	/* If it is not known whether an object was used in the period in which it was
	 * born, it was not, if a whole period of its life follows. */
	bool birth_is_idle;
	/* If it is not known whether an object was used in the period in which it
	 * dies, it was not. Without this a destructor may always have used it, and no
	 * DRAG is proved (SPEC L6 has this). Bounds are sound as far as this is true. */
	bool death_is_idle;
	/* Only objects born in these eras count; 0, 0: in all. Objects of era 0 never do. */
	uint32_t era_first, era_last;
};
struct hi_bio;
/* options: NULL for all zero. *ret: hi_bio_destroy(). HI_NO_MEMORY; HI_USAGE: era_first
 * is after era_last. */
enum hi_status hi_bio_create(const struct hi_bio_options *options, struct hi_bio **ret,
			     struct hi_error *err);
void hi_bio_destroy(struct hi_bio *bio);

/* ---- objects ---- */

struct hi_bio_object {
	uint64_t address; /* in the target; not UINT64_MAX */
	uint64_t size;	  /* what counts: cost or requested, as the caller chose */
	uint64_t serial;  /* of its birth, where a recording has it; 0: unknown */
	uint32_t group;	  /* what a break-down counts it in: a type, a site, a root, or
			     hi_bio_era() */
	bool is_inherent; /* its use cannot be seen: INHERENT_USE */
};
/*
 * These three begin a biography, and set *number_ret (may be NULL), which identifies the
 * object until it dies; then another object may have the number. An object that is alive
 * at that address without the death of it having been reported dies before. HI_NO_MEMORY
 * and HI_LIMIT (2^32 - 1 objects, HI_BIO_GROUPS groups): no life has begun; a former one
 * at the address may have ended. HI_USAGE: after hi_bio_finish().
 */
/* It was allocated in the open period. */
enum hi_status hi_bio_born(struct hi_bio *bio, const struct hi_bio_object *object,
			   uint32_t *number_ret, struct hi_error *err);
/* It was there before period 1. It counts from the open period on, and is UNUSED until it
 * is used (SPEC, "External translation"). */
enum hi_status hi_bio_older(struct hi_bio *bio, const struct hi_bio_object *object,
			    uint32_t *number_ret, struct hi_error *err);
/* The census that ends the open period has found it. If an object with that address, size
 * and serial (where both are known) is alive, it is that one, and its whole life counts
 * in the group that is given now. Else the old one has died and this one was born in the
 * open period. */
enum hi_status hi_bio_see(struct hi_bio *bio, const struct hi_bio_object *object,
			  uint32_t *number_ret, struct hi_error *err);
/* The same where hi_bio_find() of its address is known, as `number`. */
enum hi_status hi_bio_see_found(struct hi_bio *bio, const struct hi_bio_object *object,
				uint32_t number, uint32_t *number_ret,
				struct hi_error *err);

enum hi_bio_death {
	HI_BIO_FREED,
	/* Dead by the census, though still allocated (--live reach). The free that comes
	 * later is expected. With --live alloc such deaths are not reported. */
	HI_BIO_UNREACHABLE,
};
/* The object at that address has died in the open period. An address without one counts
 * as damage. HI_NO_MEMORY: nothing has changed. */
enum hi_status hi_bio_died(struct hi_bio *bio, uint64_t address, enum hi_bio_death how,
			   struct hi_error *err);
/* A block was resized or moved: the death of the old object and the birth of a new one
 * (SPEC L3), also in place. If neither address nor size changed it is the same object,
 * and nothing happens. Errors as above: the old object may have died. */
enum hi_status hi_bio_resized(struct hi_bio *bio, uint64_t old_address,
			      const struct hi_bio_object *object, uint32_t *number_ret,
			      struct hi_error *err);
/* The number of the object that lives at this address; HI_BIO_NONE. */
uint32_t hi_bio_find(const struct hi_bio *bio, uint64_t address);
/* The same, and fast if it is `guess`, which may be any number: objects that are asked
 * for by address often have consecutive ones. */
uint32_t hi_bio_find_near(const struct hi_bio *bio, uint64_t address, uint32_t guess);
/* An object at this address will be reported soon: changes nothing but the time that it
 * takes. */
void hi_bio_expect(const struct hi_bio *bio, uint64_t address);

/* ---- evidence ---- */

/* Strongest first (SPEC, "Use evidence"). */
enum hi_bio_evidence {
	HI_BIO_UNKNOWN,
	HI_BIO_WATCH,	/* used: a watchpoint was hit */
	HI_BIO_PROBE,	/* used: a function was called with it */
	HI_BIO_CONTENT, /* used: its bytes differ from the last census */
	HI_BIO_PAGE,	/* not used: its pages were not referenced */
	HI_BIO_EVIDENCE
};
/* Reports a use in the open period. The strongest of several reports counts; a proof of
 * use outweighs HI_BIO_PAGE, and the contradiction is counted. Reports about inherently
 * used objects change nothing. A number without an object, or evidence of the other kind,
 * is damage. */
void hi_bio_used(struct hi_bio *bio, uint32_t number, enum hi_bio_evidence evidence);
void hi_bio_unused(struct hi_bio *bio, uint32_t number, enum hi_bio_evidence evidence);

/* ---- periods ---- */

/* The open period; 1 at first. */
uint64_t hi_bio_period(const struct hi_bio *bio);
/* Takes the census of the open period and begins the next one. is_complete: every object
 * that is alive was reported to hi_bio_see() in this period; the others die in it.
 * HI_NO_MEMORY: the period is still open, and what was found dead is dead; the call may
 * be repeated. HI_USAGE: after hi_bio_finish(). */
enum hi_status hi_bio_end_period(struct hi_bio *bio, bool is_complete,
				 struct hi_error *err);

/* State of the period after the last census, when the series ends. */
enum hi_bio_tail {
	HI_BIO_AT_CENSUS, /* the target did not run in it: what is not proved to be used
			     there was not */
	HI_BIO_IN_PERIOD, /* it ran on: what is not known is unknown there, too */
};
/* The final scan (SPEC: "At exit ... everything left dies with e = N+1"). Nothing may be
 * reported afterwards. HI_NO_MEMORY: some objects are still alive; call it again. */
enum hi_status hi_bio_finish(struct hi_bio *bio, enum hi_bio_tail tail,
			     struct hi_error *err);

/* ---- eras: labels of phases (SPEC section 2; GHC's -he) ---- */

/* The era in which objects are born now; 1 at first. */
uint32_t hi_bio_era(const struct hi_bio *bio);
/* Begins an era, which has a name (copied; NULL: none). Era 0 means: do not count objects
 * that are born in it. HI_USAGE: it is lower than one before. HI_NO_MEMORY. */
enum hi_status hi_bio_begin_era(struct hi_bio *bio, uint32_t era, const char *name,
				struct hi_error *err);
/* From now on what is born does not count, whatever its era is; or it does again. */
void hi_bio_leave_out(struct hi_bio *bio, bool leaves_out);
struct hi_bio_era_mark {
	uint32_t era;
	uint64_t period;  /* in which it began */
	const char *name; /* "" */
};
/* Every era in the order of their beginnings; era 1 has none unless it was named. Valid
 * until the next one begins. */
const struct hi_bio_era_mark *hi_bio_eras(const struct hi_bio *bio, uint32_t *n_ret);

/* ---- what is known of one object ---- */

enum hi_bio_state {
	HI_BIO_STATE_INHERENT,
	HI_BIO_STATE_NEVER_USED,  /* proved: not used since it is followed */
	HI_BIO_STATE_NO_USE_SEEN, /* no use is proved, none is excluded */
	HI_BIO_STATE_USED,	  /* used in the open period, or in the one before it */
	HI_BIO_STATE_NOT_USED_SINCE, /* proved: not used since quiet_from */
	HI_BIO_STATE_NOT_SEEN_SINCE, /* used; whether it was used since is not known */
	HI_BIO_STATES
};
struct hi_bio_life {
	struct hi_bio_object object;
	uint64_t
		from; /* the period of its birth; of an older one: since when it counts */
	bool is_older; /* than period 1 */
	bool is_seen;  /* by a census of the open period */
	uint32_t era;  /* of its birth */
	/* Periods of use, 0: none. Proved; and those that are not excluded. */
	uint64_t first_proved, last_proved, first_possible, last_possible;
	enum hi_bio_evidence first_evidence, last_evidence;
	uint64_t quiet_from; /* not used from this period on, through the last one that
				has ended; 0: not known */
	enum hi_bio_state state;
};
/* Fills ret; false (and untouched) when no object has that number. The open period has
 * only the reports so far. The life of an object that dies is to be had before its death
 * is reported. */
bool hi_bio_life(const struct hi_bio *bio, uint32_t number, struct hi_bio_life *ret);
/* The bands in which the object may be at census t, as a mask, if its life ends in period
 * `end`, about which no more becomes known: 0 when it is not at that census, one bit when
 * the band is proved. A caller that samples objects keeps their lives for it
 * (sample_bands.h). */
uint32_t hi_bio_life_bands(const struct hi_bio_life *life, uint64_t end, uint64_t t);

/* ---- counters ---- */

struct hi_bio_damage {
	uint64_t died_unknown;	 /* deaths where no object was alive: also second ones */
	uint64_t born_on_live;	 /* births at an address that had not been freed */
	uint64_t replaced;	 /* a census found another object there */
	uint64_t births_missed;	 /* a census found it, no event (has_events) */
	uint64_t revived;	 /* found by a census after it was unreachable */
	uint64_t contradictions; /* used, and not used, in one period */
	uint64_t bad_evidence;	 /* of no object, or of the wrong kind */
	uint64_t bad_address;	 /* UINT64_MAX */
	uint64_t after_end;	 /* reported after hi_bio_finish() */
};
struct hi_bio_damage hi_bio_damage(const struct hi_bio *bio);
/* Frees that came after the object was unreachable: no damage. */
uint64_t hi_bio_freed_late(const struct hi_bio *bio);

/* Counts of a census itself: the other side of the checks (checks.h). */
struct hi_bio_census {
	struct hi_bio_amount live, inherent;
	/* The other objects: those with a proved use until this census, and the rest.
	 * SPEC's used[t] and notUsed[t]. */
	struct hi_bio_amount used, not_used;
	/* Born and dead in this period (SPEC: "invisible"). */
	struct hi_bio_amount unseen;
	/* Evidence about this period for objects that are live and not inherent, by the
	 * strongest; [HI_BIO_UNKNOWN]: none. */
	struct hi_bio_amount evidence[HI_BIO_EVIDENCE];
};
/* The number of censuses, N. */
uint64_t hi_bio_censuses(const struct hi_bio *bio);
/* Census t, 1 to N; NULL: there is none. Valid until the next period ends. */
const struct hi_bio_census *hi_bio_census(const struct hi_bio *bio, uint64_t t);
/* Returns the unseen objects of one group, HI_BIO_ALL or HI_BIO_LEFT_OUT, in all
 * periods. */
struct hi_bio_amount hi_bio_unseen(const struct hi_bio *bio, uint32_t group);
/* The number of groups: one above the highest that an object has had. */
uint32_t hi_bio_groups(const struct hi_bio *bio);
/* Objects that are alive. */
uint32_t hi_bio_living(const struct hi_bio *bio);
/* Bytes of memory that the biographies take. */
size_t hi_bio_memory(const struct hi_bio *bio);

#endif
