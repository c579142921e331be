/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From evidence to bands. With p the first and q the last proved use, P the first and Q
 * the last possible one (P <= p <= q <= Q), and every set of uses that the evidence
 *leaves open contains p and q and lies in [P, Q]:
 *
 *	uses proved:	LAG  proved before P,	possible before p
 *			USE  proved in [p, q],	possible in [P, Q]
 *			DRAG proved after Q,	possible after q
 *	only possible:	VOID possible always, LAG before Q, USE in [P, Q], DRAG after P
 *	none possible:	VOID proved always
 *
 * Of what is older than period 1, UNUSED is in place of VOID and LAG (SPEC, "External
 * translation": "until first observed use ... not lag or void"): it depends on no later
 * use, so that it is proved before P and possible before p.
 */
#include "base/number.h"
#include "census/biography/biography_internal.h"

/* The last period of a life of which something is said. */
static uint64_t last_period_of(const struct hi_bio_columns *o, uint32_t number,
			       struct hi_bio_end end)
{
	if (o->last_proved[number] == end.period || !end.is_idle)
		return end.period;
	return end.period - 1;
}

struct hi_bio_uses hi_bio_uses_until(const struct hi_bio_columns *o, uint32_t number,
				     struct hi_bio_end end)
{
	const uint64_t last = last_period_of(o, number, end);
	const uint64_t quiet_to = o->quiet_to[number];
	struct hi_bio_uses uses = {o->first_proved[number], o->last_proved[number],
				   o->first_possible[number], 0};

	/* Only a run of quiet periods from the birth on is known so far. */
	if (!uses.first_possible) {
		uint64_t next = quiet_to ? quiet_to + 1 : o->from[number];

		uses.first_possible = next <= last ? next : 0;
	}
	if (uses.first_possible)
		uses.last_possible =
			quiet_to && quiet_to >= last ? o->quiet_from[number] - 1 : last;
	return uses;
}

bool hi_bio_uses_are_ordered(const struct hi_bio_columns *o, uint32_t number,
			     struct hi_bio_end end)
{
	struct hi_bio_uses uses = hi_bio_uses_until(o, number, end);

	if (!uses.first_possible)
		return !uses.first_proved && !uses.last_proved && !uses.last_possible;
	if (uses.first_possible < o->from[number] || uses.last_possible > end.period ||
	    uses.first_possible > uses.last_possible)
		return false;
	return !uses.first_proved || (uses.first_possible <= uses.first_proved &&
				      uses.first_proved <= uses.last_proved &&
				      uses.last_proved <= uses.last_possible);
}

/* Periods [from, to). */
struct range {
	uint64_t from, to;
};
/* By column of the store; empty where from >= to. */
struct ranges {
	struct range of[HI_BIO_COLUMNS];
};

static void put_range(struct ranges *ret, enum hi_bio_band band, unsigned end,
		      uint64_t from, uint64_t to)
{
	ret->of[HI_BIO_COLUMN(band, end)] = (struct range){from, to};
}
static void put_both(struct ranges *ret, enum hi_bio_band band, uint64_t from,
		     uint64_t to)
{
	put_range(ret, band, HI_BIO_PROVED, from, to);
	put_range(ret, band, HI_BIO_POSSIBLE, from, to);
}

static void put_possible_use(struct ranges *ret, const struct hi_bio_uses *u,
			     struct range life, bool is_older)
{
	if (is_older) {
		put_range(ret, HI_BIO_UNUSED, HI_BIO_PROVED, life.from,
			  u->first_possible);
		put_range(ret, HI_BIO_UNUSED, HI_BIO_POSSIBLE, life.from, life.to);
	} else {
		put_range(ret, HI_BIO_VOID, HI_BIO_POSSIBLE, life.from, life.to);
		put_range(ret, HI_BIO_LAG, HI_BIO_POSSIBLE, life.from, u->last_possible);
	}
	put_range(ret, HI_BIO_USE, HI_BIO_POSSIBLE, u->first_possible,
		  u->last_possible + 1);
	put_range(ret, HI_BIO_DRAG, HI_BIO_POSSIBLE, u->first_possible + 1, life.to);
}

static void put_proved_use(struct ranges *ret, const struct hi_bio_uses *u,
			   struct range life, bool is_older)
{
	const enum hi_bio_band before = is_older ? HI_BIO_UNUSED : HI_BIO_LAG;

	put_range(ret, before, HI_BIO_PROVED, life.from, u->first_possible);
	put_range(ret, before, HI_BIO_POSSIBLE, life.from, u->first_proved);
	put_range(ret, HI_BIO_USE, HI_BIO_PROVED, u->first_proved, u->last_proved + 1);
	put_range(ret, HI_BIO_USE, HI_BIO_POSSIBLE, u->first_possible,
		  u->last_possible + 1);
	put_range(ret, HI_BIO_DRAG, HI_BIO_PROVED, u->last_possible + 1, life.to);
	put_range(ret, HI_BIO_DRAG, HI_BIO_POSSIBLE, u->last_proved + 1, life.to);
}

/* The ranges of every column, cut to the censuses of the life. */
static void find_band_ranges(const struct hi_bio_columns *o, uint32_t number,
			     struct hi_bio_end end, bool is_settled, struct ranges *ret)
{
	const struct hi_bio_uses uses = hi_bio_uses_until(o, number, end);
	const struct range life = {o->from[number], end.period};
	const bool is_older = o->flags[number] & HI_BIO_IS_OLDER;

	*ret = (struct ranges){};
	ret->of[HI_BIO_COLUMN_LIVE] = life;
	if (is_settled)
		ret->of[HI_BIO_COLUMN_SETTLED] = life;
	if (o->flags[number] & HI_BIO_IS_INHERENT)
		put_both(ret, HI_BIO_INHERENT, life.from, life.to);
	else if (!uses.first_possible)
		put_both(ret, is_older ? HI_BIO_UNUSED : HI_BIO_VOID, life.from, life.to);
	else if (!uses.first_proved)
		put_possible_use(ret, &uses, life, is_older);
	else
		put_proved_use(ret, &uses, life, is_older);
	for (unsigned i = 0; i < HI_BIO_COLUMNS; i++)
		ret->of[i].to = hi_min(ret->of[i].to, life.to);
}

static bool touch_band_ranges(struct hi_band_store *store, uint32_t group,
			      const struct ranges *ranges)
{
	for (unsigned i = 0; i < HI_BIO_COLUMNS; i++) {
		const struct range *r = &ranges->of[i];

		if (r->from < r->to && (!hi_band_store_touch(store, group, r->from) ||
					!hi_band_store_touch(store, group, r->to)))
			return false;
	}
	return true;
}

static void add_band_ranges(struct hi_band_store *store, uint32_t group,
			    const struct ranges *ranges, uint64_t bytes)
{
	for (unsigned i = 0; i < HI_BIO_COLUMNS; i++)
		hi_band_store_add(store, group, i, ranges->of[i].from, ranges->of[i].to,
				  bytes);
}

static uint64_t void_area(const struct hi_bio_columns *o, uint32_t number,
			  struct hi_bio_end end)
{
	return o->size[number] * (end.period - o->from[number]);
}

static void add_areas(struct hi_bio_areas *areas, const struct hi_bio_columns *o,
		      uint32_t number, struct hi_bio_end end)
{
	if (o->flags[number] & (HI_BIO_IS_INHERENT | HI_BIO_IS_OLDER))
		return;
	if (!o->first_proved[number])
		areas->void_possible += void_area(o, number, end);
	if (!hi_bio_uses_until(o, number, end).first_possible)
		areas->void_proved += void_area(o, number, end);
}

enum hi_status hi_bio_settle(const struct hi_bio *bio, struct hi_band_store *store,
			     struct hi_bio_areas *areas, uint32_t number,
			     struct hi_bio_end end, bool is_settled, struct hi_error *err)
{
	const struct hi_bio_columns *o = &bio->o;
	const uint32_t group = hi_bio_store_group(o->group[number]);
	struct ranges ranges;

	find_band_ranges(o, number, end, is_settled, &ranges);
	if (!touch_band_ranges(store, group, &ranges) ||
	    (group != HI_BIO_STORE_LEFT_OUT &&
	     !touch_band_ranges(store, HI_BIO_STORE_ALL, &ranges)))
		return hi_fail_memory(err, "bands of biographies");
	add_band_ranges(store, group, &ranges, o->size[number]);
	if (group == HI_BIO_STORE_LEFT_OUT)
		return HI_OK;
	add_band_ranges(store, HI_BIO_STORE_ALL, &ranges, o->size[number]);
	add_areas(areas, o, number, end);
	return HI_OK;
}
