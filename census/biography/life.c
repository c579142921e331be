/* SPDX-License-Identifier: BSD-2-Clause */
/* The biography of one object, as far as it is known now. */
#include "base/bits.h"
#include "census/biography/biography_internal.h"

/* A run of quiet periods through the last one that has ended, or the open one; after the
 * period of birth, where that is quiet by rule. */
static uint64_t quiet_from_now(const struct hi_bio *bio, uint32_t number)
{
	const struct hi_bio_columns *o = &bio->o;
	const uint64_t to = o->quiet_to[number], from = o->quiet_from[number];
	const bool has_birth = bio->options.birth_is_idle && from == o->from[number] &&
			       !(o->flags[number] & HI_BIO_IS_OLDER);

	if (!to || to + 1 < bio->period)
		return 0;
	return !has_birth ? from : from < to ? from + 1 : 0;
}

static enum hi_bio_state state_of(const struct hi_bio *bio, uint32_t number,
				  const struct hi_bio_life *life)
{
	if (life->object.is_inherent)
		return HI_BIO_STATE_INHERENT;
	if (!life->last_proved)
		return life->first_possible || !bio->o.quiet_to[number]
			       ? HI_BIO_STATE_NO_USE_SEEN
			       : HI_BIO_STATE_NEVER_USED;
	if (life->last_proved + 1 >= bio->period)
		return HI_BIO_STATE_USED;
	return life->quiet_from ? HI_BIO_STATE_NOT_USED_SINCE
				: HI_BIO_STATE_NOT_SEEN_SINCE;
}

/* See phases.c. */
static uint32_t bands_of_used(const struct hi_bio_uses *u, bool is_older, uint64_t t)
{
	uint32_t mask = 0;

	if (t < u->first_proved)
		mask |= HI_BIO_BIT(is_older ? HI_BIO_UNUSED : HI_BIO_LAG);
	if (t >= u->first_possible && t <= u->last_possible)
		mask |= HI_BIO_BIT(HI_BIO_USE);
	if (t > u->last_proved)
		mask |= HI_BIO_BIT(HI_BIO_DRAG);
	return mask;
}

static uint32_t bands_of_perhaps_used(const struct hi_bio_uses *u, bool is_older,
				      uint64_t t)
{
	uint32_t mask = HI_BIO_BIT(is_older ? HI_BIO_UNUSED : HI_BIO_VOID);

	if (!u->first_possible)
		return mask;
	if (t < u->last_possible && !is_older)
		mask |= HI_BIO_BIT(HI_BIO_LAG);
	if (t >= u->first_possible && t <= u->last_possible)
		mask |= HI_BIO_BIT(HI_BIO_USE);
	if (t > u->first_possible)
		mask |= HI_BIO_BIT(HI_BIO_DRAG);
	return mask;
}

uint32_t hi_bio_uses_bands(const struct hi_bio_uses *uses, bool is_inherent,
			   bool is_older, uint64_t t)
{
	if (is_inherent)
		return HI_BIO_BIT(HI_BIO_INHERENT);
	return uses->first_proved ? bands_of_used(uses, is_older, t)
				  : bands_of_perhaps_used(uses, is_older, t);
}

uint32_t hi_bio_life_bands(const struct hi_bio_life *life, uint64_t end, uint64_t t)
{
	const struct hi_bio_uses uses = {life->first_proved, life->last_proved,
					 life->first_possible, life->last_possible};

	if (t < life->from || t >= end)
		return 0;
	return hi_bio_uses_bands(&uses, life->object.is_inherent, life->is_older, t);
}

bool hi_bio_life(const struct hi_bio *bio, uint32_t number, struct hi_bio_life *ret)
{
	const struct hi_bio_columns *o = &bio->o;
	struct hi_bio_uses uses;

	if (number >= o->count || !(o->flags[number] & HI_BIO_IS_ALIVE))
		return false;
	uses = hi_bio_uses_until(o, number, (struct hi_bio_end){bio->period, true});
	*ret = (struct hi_bio_life){
		.object = {o->address[number], o->size[number], o->serial[number],
			   o->group[number], o->flags[number] & HI_BIO_IS_INHERENT},
		.from = o->from[number],
		.is_older = o->flags[number] & HI_BIO_IS_OLDER,
		.is_seen = hi_bit(o->seen, number),
		.era = o->era[number],
		.first_proved = uses.first_proved,
		.last_proved = uses.last_proved,
		.first_possible = uses.first_possible,
		.last_possible = uses.last_possible,
		.first_evidence = o->first_evidence[number],
		.last_evidence = o->last_evidence[number],
		.quiet_from = quiet_from_now(bio, number),
	};
	ret->state = state_of(bio, number, ret);
	return true;
}
