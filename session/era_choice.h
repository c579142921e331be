/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `--era FROM[-TO]`: of which eras the objects count, as they begin one after the other.
 * Each end is a number, or a name; a name means each era that has it. A text with more
 * than one '-' is one name, and with one '-' it is a name, too, if an era has it.
 */
#ifndef HI_SESSION_ERA_CHOICE_H
#define HI_SESSION_ERA_CHOICE_H

#include "census/biography/biography.h"

struct hi_era_end {
	const char *name; /* of `length` bytes */
	size_t length;
	uint32_t number; /* 0: it is a name */
};

/* Zero-initialised is all eras. */
struct hi_era_choice {
	const char *text; /* as typed; borrowed */
	struct hi_era_end from, to;
	bool is_in;	   /* what is born now counts */
	bool has_from;	   /* FROM has begun */
	bool has_to;	   /* TO has, as the last one that counts */
	bool is_to_before; /* TO has begun when FROM had not */
	bool ends;	   /* with this era, if its name is TO */
};

/* HI_USAGE: an end is missing; a number is none, or is 0, which does not count; TO is
 * before FROM. */
enum hi_status hi_era_choice_parse(const char *text, struct hi_era_choice *ret,
				   struct hi_error *err);
/* An era begins. Returns whether what is born in it counts. */
bool hi_era_choice_begin(struct hi_era_choice *choice, uint32_t era, const char *name);
/* After all eras, which are those (hi_bio_eras()). HI_NOT_FOUND: FROM has not begun, and
 * the text has those that have; HI_USAGE: TO was before it. */
enum hi_status hi_era_choice_check(const struct hi_era_choice *choice,
				   const struct hi_bio_era_mark *eras, uint32_t n,
				   struct hi_error *err);
/* FROM has begun, and TO, which is a name, has not: all since FROM counts. */
bool hi_era_choice_is_open(const struct hi_era_choice *choice);

/* The number of an era that begins now: a name gets the next one. False: it begins with a
 * digit, and is no number. */
bool hi_era_number(const struct hi_bio *bio, const char *name, uint32_t *ret);

#endif
