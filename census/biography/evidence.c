/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/biography/biography_internal.h"

enum hi_bio_evidence hi_bio_evidence_now(const struct hi_bio *bio, uint32_t number)
{
	const struct hi_bio_columns *o = &bio->o;

	if (o->last_proved[number] == bio->period)
		return o->last_evidence[number];
	if (o->quiet_to[number] == bio->period)
		return o->quiet_evidence[number];
	return HI_BIO_UNKNOWN;
}

static void count_amount(struct hi_bio_amount *amount, uint64_t bytes, bool is_added)
{
	if (is_added)
		hi_bio_amount_add(amount, bytes);
	else
		hi_bio_amount_take(amount, bytes);
}

void hi_bio_count_now(struct hi_bio *bio, uint32_t number, bool is_added)
{
	const struct hi_bio_columns *o = &bio->o;
	const uint64_t size = o->size[number];
	struct hi_bio_census *now = &bio->now;

	if (o->group[number] == HI_BIO_LEFT_OUT)
		return;
	count_amount(&now->live, size, is_added);
	if (o->flags[number] & HI_BIO_IS_INHERENT) {
		count_amount(&now->inherent, size, is_added);
		return;
	}
	count_amount(o->first_proved[number] ? &now->used : &now->not_used, size,
		     is_added);
	count_amount(&now->evidence[hi_bio_evidence_now(bio, number)], size, is_added);
}

/* Whether evidence about the object means something; counts it as damage if not. */
static bool accept_evidence(struct hi_bio *bio, uint32_t number, bool is_right_kind)
{
	if (bio->is_finished)
		bio->damage.after_end++;
	else if (!is_right_kind || number >= bio->o.count ||
		 !(bio->o.flags[number] & HI_BIO_IS_ALIVE))
		bio->damage.bad_evidence++;
	else
		return !(bio->o.flags[number] & HI_BIO_IS_INHERENT);
	return false;
}

/* The first period that is not quiet, if that was not known: the open one, or one before
 * it about which nothing was reported. */
static void end_first_run(struct hi_bio_columns *o, uint32_t number, uint64_t period)
{
	uint64_t next = o->quiet_to[number] ? o->quiet_to[number] + 1 : o->from[number];

	if (!o->first_possible[number])
		o->first_possible[number] = next < period ? next : period;
}

/* There is evidence of the open period. */
static void note_birth(struct hi_bio *bio, uint32_t number)
{
	if (bio->o.from[number] == bio->period)
		bio->o.flags[number] &= (uint8_t)~HI_BIO_IS_BORN_IDLE;
}

static void put_use(struct hi_bio *bio, uint32_t number, enum hi_bio_evidence evidence)
{
	struct hi_bio_columns *o = &bio->o;

	note_birth(bio, number);
	end_first_run(o, number, bio->period);
	if (!o->first_proved[number])
		o->first_proved[number] = bio->period;
	if (o->first_proved[number] == bio->period)
		o->first_evidence[number] = (uint8_t)evidence;
	o->last_proved[number] = bio->period;
	o->last_evidence[number] = (uint8_t)evidence;
	o->quiet_from[number] = o->quiet_to[number] = 0;
}

void hi_bio_used(struct hi_bio *bio, uint32_t number, enum hi_bio_evidence evidence)
{
	enum hi_bio_evidence before;

	if (!accept_evidence(bio, number,
			     evidence >= HI_BIO_WATCH && evidence <= HI_BIO_CONTENT))
		return;
	before = hi_bio_evidence_now(bio, number);
	if (before == HI_BIO_PAGE)
		bio->damage.contradictions++;
	if (before != HI_BIO_UNKNOWN && before <= evidence)
		return;
	hi_bio_count_now(bio, number, false);
	put_use(bio, number, evidence);
	hi_bio_count_now(bio, number, true);
}

static void put_quiet(struct hi_bio *bio, uint32_t number, enum hi_bio_evidence evidence)
{
	struct hi_bio_columns *o = &bio->o;
	const uint64_t period = bio->period;
	const bool is_of_birth = o->quiet_to[number] == period;
	const bool goes_on =
		is_of_birth || (o->quiet_to[number] == period - 1 && o->quiet_to[number]);

	note_birth(bio, number);
	if (!goes_on) {
		/* The time between the birth, or the last run, and now is unknown. */
		if (o->quiet_to[number] || o->from[number] < period)
			end_first_run(o, number, period);
		o->quiet_from[number] = period;
	}
	o->quiet_to[number] = period;
	o->quiet_evidence[number] = (uint8_t)evidence;
}

void hi_bio_unused(struct hi_bio *bio, uint32_t number, enum hi_bio_evidence evidence)
{
	enum hi_bio_evidence before;

	if (!accept_evidence(bio, number, evidence == HI_BIO_PAGE))
		return;
	before = hi_bio_evidence_now(bio, number);
	if (before == HI_BIO_PAGE)
		return;
	if (before != HI_BIO_UNKNOWN) {
		bio->damage.contradictions++;
		return;
	}
	hi_bio_count_now(bio, number, false);
	put_quiet(bio, number, evidence);
	hi_bio_count_now(bio, number, true);
}
