/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lives of objects, drawn with one character a period, and what their bands are by the
 * definition: object by object, census by census, over every set of uses that the
 * evidence leaves open.
 *
 *	' '  not there		'u'  used		'x'  dies, and is not used before
 *	'.'  not used		'?'  not known		'X'  dies, and was used before
 *							'!'  dies, and it is not known
 */
#ifndef HI_TESTS_CENSUS_LIVES_H
#define HI_TESTS_CENSUS_LIVES_H

#include "base/bits.h"
#include "base/cleanup.h"
#include "census/biography/checks.h"
#include "tests/harness.h"
#include "tests/support/random.h"

HI_DEFINE_GUARD(struct hi_bio *, hi_bio_destroy)

enum { LIVES = 64, LIFE_PERIODS = 64 };
#define PERIOD(p) (1ull << (p))

struct life {
	uint64_t size;
	const char *drawn;
	uint32_t group;
	bool is_inherent, is_older;
	/* The first period; that of the death, 0: none. */
	unsigned from, death;
	uint64_t used, unused; /* evidence, by period */
	uint64_t truth;	       /* uses, where they are drawn at random */
	uint32_t slot;	       /* of its address; 0: one of its own */
	uint32_t former;       /* the life + 1 that was resized into it; 0: none */
};
struct lives {
	struct life of[LIVES];
	uint32_t n, groups;
	unsigned censuses;
	bool by_census; /* no event is reported */
	enum hi_bio_tail tail;
	bool birth_is_idle, death_is_idle;
};

static inline void read_drawn(struct life *life)
{
	life->from = 0;
	life->death = 0;
	life->used = life->unused = 0;
	for (unsigned p = 1; life->drawn[p - 1]; p++) {
		char c = life->drawn[p - 1];

		if (c != ' ' && !life->from)
			life->from = p;
		if (strchr("uX", c))
			life->used |= PERIOD(p);
		if (strchr(".x", c))
			life->unused |= PERIOD(p);
		if (strchr("xX!", c))
			life->death = p;
	}
}

/* ---- by the definition ---- */

/* The band at census t of an object with these uses. */
static inline enum hi_bio_band band_by_definition(const struct life *life, uint64_t uses,
						  unsigned t)
{
	const uint64_t until = PERIOD(t + 1) - 1;

	if (life->is_inherent)
		return HI_BIO_INHERENT;
	if (life->is_older && !(uses & until))
		return HI_BIO_UNUSED;
	if (!uses)
		return HI_BIO_VOID;
	if (!(uses & until))
		return HI_BIO_LAG;
	return uses >> t ? HI_BIO_USE : HI_BIO_DRAG;
}

static inline unsigned last_period(const struct lives *l, const struct life *life)
{
	return life->death ? life->death : l->censuses + 1;
}

/* The periods of which it is open whether the object was used. */
static inline uint64_t open_periods(const struct lives *l, const struct life *life)
{
	const unsigned end = last_period(l, life);
	const bool is_idle = life->death ? l->death_is_idle : l->tail == HI_BIO_AT_CENSUS;
	uint64_t open = (PERIOD(end + 1) - 1) & ~(PERIOD(life->from) - 1);

	if (is_idle)
		open &= ~PERIOD(end);
	if (l->birth_is_idle && !life->is_older && (end > life->from + 1 || life->used))
		open &= ~PERIOD(life->from);
	return open & ~life->used & ~life->unused;
}

static inline bool is_at_census(const struct lives *l, const struct life *life,
				unsigned t)
{
	return life->from <= t && t < last_period(l, life);
}

/* The bands in which the object may be at census t, as a mask. */
static inline uint32_t possible_bands(const struct lives *l, const struct life *life,
				      unsigned t)
{
	const uint64_t open = open_periods(l, life);
	uint64_t subset = open;
	uint32_t mask = 0;

	for (;;) {
		mask |= HI_BIO_BIT(band_by_definition(life, life->used | subset, t));
		if (!subset)
			return mask;
		subset = (subset - 1) & open;
	}
}

static inline void row_by_definition(const struct lives *l, uint32_t group, unsigned t,
				     struct hi_bio_row *ret)
{
	*ret = (struct hi_bio_row){};
	for (uint32_t i = 0; i < l->n; i++) {
		const struct life *life = &l->of[i];
		uint32_t mask;

		if ((group != HI_BIO_ALL && group != life->group) ||
		    !is_at_census(l, life, t))
			continue;
		mask = possible_bands(l, life, t);
		HI_ASSERT(hi_bio_set_find(mask) < HI_BIO_SETS);
		ret->sets[hi_bio_set_find(mask)].bytes += life->size;
		ret->sets[hi_bio_set_find(mask)].objects++;
		ret->live.bytes += life->size;
		ret->live.objects++;
		for (unsigned b = 0; b < HI_BIO_BANDS; b++) {
			bool is_proved = mask == HI_BIO_BIT(b);
			bool is_possible = mask & HI_BIO_BIT(b);

			ret->bytes[b].proved += is_proved ? life->size : 0;
			ret->bytes[b].possible += is_possible ? life->size : 0;
			ret->objects[b].proved += is_proved;
			ret->objects[b].possible += is_possible;
		}
	}
}

/* ---- by the model ---- */

static inline uint64_t life_address(const struct lives *l, uint32_t i)
{
	return 0x10000 + 0x1000ull * (l->of[i].slot ? LIVES + l->of[i].slot : i);
}

static inline struct hi_bio_object life_object(const struct lives *l, uint32_t i)
{
	const struct life *life = &l->of[i];

	return (struct hi_bio_object){life_address(l, i), life->size, 0, life->group,
				      life->is_inherent};
}

static inline void play_births(const struct lives *l, struct hi_bio *bio, unsigned p)
{
	struct hi_error err;

	for (uint32_t i = 0; i < l->n; i++) {
		struct hi_bio_object object = life_object(l, i);

		if (l->of[i].from != p || l->of[i].former)
			continue;
		if (l->of[i].is_older)
			HI_ASSERT_OK(hi_bio_older(bio, &object, NULL, &err), &err);
		else if (!l->by_census)
			HI_ASSERT_OK(hi_bio_born(bio, &object, NULL, &err), &err);
		else if (!l->of[i].death || l->of[i].death > p)
			HI_ASSERT_OK(hi_bio_see(bio, &object, NULL, &err), &err);
	}
}

static inline void play_evidence_of(const struct lives *l, uint32_t i, struct hi_bio *bio,
				    unsigned p)
{
	static const enum hi_bio_evidence kinds[] = {HI_BIO_WATCH, HI_BIO_PROBE,
						     HI_BIO_CONTENT};
	uint32_t number = hi_bio_find(bio, life_address(l, i));

	if (number == HI_BIO_NONE)
		return;
	if (l->of[i].used & PERIOD(p))
		hi_bio_used(bio, number, kinds[(i + p) % 3]);
	if (l->of[i].unused & PERIOD(p))
		hi_bio_unused(bio, number, HI_BIO_PAGE);
}

/* The evidence of those that do not become others in this period. */
static inline void play_evidence(const struct lives *l, struct hi_bio *bio, unsigned p)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (!l->of[i].former || l->of[i].from < p)
			play_evidence_of(l, i, bio, p);
}

static inline void play_death(const struct lives *l, uint32_t i, struct hi_bio *bio,
			      unsigned p)
{
	struct hi_error err;

	for (uint32_t k = 0; k < l->n; k++) {
		struct hi_bio_object object = life_object(l, k);

		if (l->of[k].former != i + 1)
			continue;
		HI_ASSERT_OK(hi_bio_resized(bio, life_address(l, i), &object, NULL, &err),
			     &err);
		play_evidence_of(l, k, bio, p);
		return;
	}
	HI_ASSERT_OK(hi_bio_died(bio, life_address(l, i), HI_BIO_FREED, &err), &err);
}

/* A former life comes before the one that it was resized into. */
static inline void play_deaths(const struct lives *l, struct hi_bio *bio, unsigned p)
{
	struct hi_error err;

	for (uint32_t i = 0; i < l->n; i++) {
		struct hi_bio_object object = life_object(l, i);
		bool lives_on = l->of[i].from <= p && p < last_period(l, &l->of[i]);

		if (!l->by_census && l->of[i].death == p)
			play_death(l, i, bio, p);
		if (l->by_census && lives_on)
			HI_ASSERT_OK(hi_bio_see(bio, &object, NULL, &err), &err);
	}
}

static inline void check_sound(const struct hi_bio *bio, enum hi_bio_tail tail)
{
	HI_GUARD(hi_bio_view_destroy) struct hi_bio_view *view = NULL;
	struct hi_bio_checks checks;
	struct hi_error err;

	HI_ASSERT_OK(hi_bio_view_make(bio, tail, &view, &err), &err);
	hi_bio_check(bio, view, &checks);
	HI_ASSERT_EQ(0, hi_bio_checks_failed(&checks));
	hi_bio_check_last(bio, view, &checks);
	HI_ASSERT_EQ(0, hi_bio_checks_failed(&checks));
}

/* Plays the censuses, each with its checks. The open period is the one behind them. */
static inline struct hi_bio *play_open(const struct lives *l)
{
	const struct hi_bio_options options = {.birth_is_idle = l->birth_is_idle,
					       .death_is_idle = l->death_is_idle,
					       .has_events = !l->by_census};
	struct hi_bio *bio = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_bio_create(&options, &bio, &err), &err);
	for (unsigned p = 1; p <= l->censuses + 1; p++) {
		HI_ASSERT_EQ(p, hi_bio_period(bio));
		play_births(l, bio, p);
		play_evidence(l, bio, p);
		play_deaths(l, bio, p);
		if (p > l->censuses)
			break;
		HI_ASSERT_OK(hi_bio_end_period(bio, l->by_census, &err), &err);
		check_sound(bio, l->tail);
	}
	return bio;
}
/* The same, and its end. */
static inline struct hi_bio *play_lives(const struct lives *l)
{
	struct hi_bio *bio = play_open(l);
	struct hi_error err;

	HI_ASSERT_OK(hi_bio_finish(bio, l->tail, &err), &err);
	check_sound(bio, l->tail);
	return bio;
}

static inline struct hi_bio_view *view_of(const struct hi_bio *bio, enum hi_bio_tail tail)
{
	struct hi_bio_view *view = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_bio_view_make(bio, tail, &view, &err), &err);
	return view;
}

static inline void check_same_row(const struct hi_bio_row *a, const struct hi_bio_row *b,
				  const char *what, unsigned t)
{
	for (unsigned band = 0; band < HI_BIO_BANDS; band++) {
		const struct hi_bio_bounds *x = &a->bytes[band], *y = &b->bytes[band];

		HI_ASSERT_MSG(
			x->proved == y->proved && x->possible == y->possible,
			"%s: census %u, %s: expected [%llu, %llu], got [%llu, %llu]",
			what, t, hi_bio_band_name(band), (unsigned long long)x->proved,
			(unsigned long long)x->possible, (unsigned long long)y->proved,
			(unsigned long long)y->possible);
		HI_ASSERT_EQ(a->objects[band].proved, b->objects[band].proved);
		HI_ASSERT_EQ(a->objects[band].possible, b->objects[band].possible);
	}
	for (unsigned set = 0; set < HI_BIO_SETS; set++) {
		HI_ASSERT_EQ(a->sets[set].bytes, b->sets[set].bytes);
		HI_ASSERT_EQ(a->sets[set].objects, b->sets[set].objects);
	}
	HI_ASSERT_EQ(a->live.bytes, b->live.bytes);
	HI_ASSERT_EQ(a->live.objects, b->live.objects);
}

/* Every census and group beside the definition. */
static inline void check_by_definition(const struct lives *l, const struct hi_bio_view *v,
				       const char *what)
{
	struct hi_bio_row expected, row;

	HI_ASSERT_EQ(l->censuses, hi_bio_view_censuses(v));
	for (unsigned t = 1; t <= l->censuses; t++) {
		row_by_definition(l, HI_BIO_ALL, t, &expected);
		hi_bio_view_row(v, HI_BIO_ALL, t, &row);
		check_same_row(&expected, &row, what, t);
		for (uint32_t g = 0; g < l->groups; g++) {
			row_by_definition(l, g, t, &expected);
			hi_bio_view_row(v, g, t, &row);
			check_same_row(&expected, &row, what, t);
		}
	}
}

#endif
