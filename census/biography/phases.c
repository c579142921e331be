/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From evidence to bands. With p the first and q the last proved use, P the first and Q
 * the last possible one (P <= p <= q <= Q), and every set of uses that the evidence
 * leaves open contains p and q and lies in [P, Q]:
 *
 *	uses proved:	LAG  proved before P,	possible before p
 *			USE  proved in [p, q],	possible in [P, Q]
 *			DRAG proved after Q,	possible after q
 *	only possible:	VOID possible always, LAG before Q, USE in [P, Q], DRAG after P
 *	none possible:	VOID proved always
 *
 * For objects older than period 1, UNUSED is in place of VOID and LAG (SPEC, "External
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

/* The object has lived through no whole period, and of that of its birth nothing is
 * known but that uses there would not count. */
static bool is_all_birth(const struct hi_bio_columns *o, uint32_t number,
			 struct hi_bio_end end)
{
	return o->flags[number] & HI_BIO_IS_BORN_IDLE && !o->first_proved[number] &&
	       end.period <= o->from[number] + 1;
}

struct hi_bio_uses hi_bio_uses_until(const struct hi_bio_columns *o, uint32_t number,
				     struct hi_bio_end end)
{
	const uint64_t last = last_period_of(o, number, end);
	const uint64_t quiet_to = o->quiet_to[number];
	struct hi_bio_uses uses = {o->first_proved[number], o->last_proved[number],
				   o->first_possible[number], 0};

	if (is_all_birth(o, number, end)) {
		uses.first_possible = o->from[number];
		uses.last_possible = quiet_to >= last ? o->from[number] : last;
		return uses;
	}
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

/* Periods [from, to) in which an object is in one set of bands. */
struct stretch {
	uint64_t from, to;
	unsigned set;
};
enum { TURNS = 6, STRETCHES = TURNS + 1 };
struct stretches {
	struct stretch of[STRETCHES];
	unsigned n;
};

/* The censuses at which the set may become another one, ascending. */
static void list_turns(const struct hi_bio_uses *u, uint64_t ret[TURNS])
{
	const uint64_t turns[TURNS] = {u->first_possible, u->first_possible + 1,
				       u->first_proved,	  u->last_proved + 1,
				       u->last_possible,  u->last_possible + 1};

	for (unsigned i = 0; i < TURNS; i++) {
		unsigned at = i;

		for (; at && ret[at - 1] > turns[i]; at--)
			ret[at] = ret[at - 1];
		ret[at] = turns[i];
	}
}

static void add_stretch(struct stretches *ret, uint64_t from, uint64_t to, unsigned set)
{
	struct stretch *last = ret->n ? &ret->of[ret->n - 1] : NULL;

	if (from >= to)
		return;
	if (last && last->set == set)
		last->to = to;
	else
		ret->of[ret->n++] = (struct stretch){from, to, set};
}

/* The censuses of a life, one stretch after the other. */
static void divide_life(const struct hi_bio_columns *o, uint32_t number,
			struct hi_bio_end end, struct stretches *ret)
{
	const struct hi_bio_uses uses = hi_bio_uses_until(o, number, end);
	const uint8_t flags = o->flags[number];
	uint64_t turns[TURNS], from = o->from[number];

	list_turns(&uses, turns);
	ret->n = 0;
	for (unsigned i = 0; i <= TURNS; i++) {
		uint64_t to = i < TURNS ? hi_min(turns[i], end.period) : end.period;

		if (from >= to)
			continue;
		add_stretch(ret, from, to,
			    hi_bio_set_find(
				    hi_bio_uses_bands(&uses, flags & HI_BIO_IS_INHERENT,
						      flags & HI_BIO_IS_OLDER, from)));
		from = to;
	}
}

static bool touch_stretches(struct hi_band_store *store, uint32_t group,
			    const struct stretches *stretches)
{
	for (unsigned i = 0; i < stretches->n; i++)
		if (!hi_band_store_touch(store, group, stretches->of[i].from) ||
		    !hi_band_store_touch(store, group, stretches->of[i].to))
			return false;
	return true;
}

static void add_stretches(struct hi_band_store *store, uint32_t group,
			  const struct stretches *stretches, bool is_settled,
			  uint64_t bytes)
{
	const struct stretch *of = stretches->of;

	for (unsigned i = 0; i < stretches->n; i++)
		hi_band_store_add(store, group, of[i].set, of[i].from, of[i].to, bytes);
	if (is_settled && stretches->n)
		hi_band_store_add(store, group, HI_BIO_COLUMN_SETTLED, of[0].from,
				  of[stretches->n - 1].to, bytes);
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
	struct stretches stretches;

	divide_life(o, number, end, &stretches);
	if (!touch_stretches(store, group, &stretches) ||
	    (group != HI_BIO_STORE_LEFT_OUT &&
	     !touch_stretches(store, HI_BIO_STORE_ALL, &stretches)))
		return hi_fail_memory(err, "bands of biographies");
	add_stretches(store, group, &stretches, is_settled, o->size[number]);
	if (group == HI_BIO_STORE_LEFT_OUT)
		return HI_OK;
	add_stretches(store, HI_BIO_STORE_ALL, &stretches, is_settled, o->size[number]);
	add_areas(areas, o, number, end);
	return HI_OK;
}
