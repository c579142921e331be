/* SPDX-License-Identifier: BSD-2-Clause */
/* Lives drawn at random, beside the definition (tests/census/lives.h). */
#include "tests/census/lives.h"

/* A life within `censuses`, with uses that chance decides; nothing is known of them. */
static struct life draw_life(uint64_t *random, const struct lives *l)
{
	const unsigned n = l->censuses;
	struct life life = {.size = 1 + random_below(random, 99),
			    .group = random_below(random, l->groups),
			    .is_inherent = !random_below(random, 10),
			    .is_older = !random_below(random, 5),
			    .from = 1 + random_below(random, n + 1)};
	const unsigned density = random_below(random, 4);
	unsigned end;

	if (random_below(random, 3))
		life.death = life.from + random_below(random, n + 2 - life.from);
	end = life.death ? life.death : n + 1;
	for (unsigned p = life.from; p <= end; p++)
		if (random_below(random, 4) < density && random_below(random, 2))
			life.truth |= PERIOD(p);
	return life;
}

/* Each period is known with a probability of percent. */
static void draw_evidence(uint64_t *random, const struct lives *l, struct life *life,
			  unsigned percent)
{
	const unsigned end = last_period(l, life);

	/* Where the rules say that there was no use without evidence, there was none. */
	if (life->death ? l->death_is_idle : l->tail == HI_BIO_AT_CENSUS)
		life->truth &= ~PERIOD(end);
	if (l->birth_is_idle && !life->is_older && end > life->from + 1)
		life->truth &= ~PERIOD(life->from);
	for (unsigned p = life->from; p <= end; p++) {
		if (random_below(random, 100) >= percent)
			continue;
		if (life->truth & PERIOD(p))
			life->used |= PERIOD(p);
		else
			life->unused |= PERIOD(p);
	}
	if (l->birth_is_idle && !life->is_older && life->used)
		life->truth &= ~PERIOD(life->from) | life->used;
}

static struct lives draw_lives(uint64_t seed, unsigned max_lives, unsigned max_censuses,
			       unsigned percent)
{
	uint64_t random = seed;
	struct lives l = {.n = random_below(&random, max_lives + 1),
			  .groups = 1 + random_below(&random, 4),
			  .censuses = 1 + random_below(&random, max_censuses),
			  .tail = random_below(&random, 2) ? HI_BIO_AT_CENSUS
							   : HI_BIO_IN_PERIOD,
			  .birth_is_idle = random_below(&random, 2),
			  .death_is_idle = random_below(&random, 2)};

	for (uint32_t i = 0; i < l.n; i++) {
		l.of[i] = draw_life(&random, &l);
		draw_evidence(&random, &l, &l.of[i], percent);
	}
	return l;
}

/* What each census knew, by the evidence that was drawn. */
static void check_evidence_counted(const struct lives *l, const struct hi_bio *bio)
{
	for (unsigned t = 1; t <= l->censuses; t++) {
		const struct hi_bio_amount *e = hi_bio_census(bio, t)->evidence;
		uint64_t used = 0, unused = 0, unknown = 0;

		for (uint32_t i = 0; i < l->n; i++) {
			const struct life *life = &l->of[i];

			if (!is_at_census(l, life, t) || life->is_inherent)
				continue;
			if (life->used & PERIOD(t))
				used += life->size;
			else if (life->unused & PERIOD(t))
				unused += life->size;
			else
				unknown += life->size;
		}
		HI_ASSERT_EQ(used, e[HI_BIO_WATCH].bytes + e[HI_BIO_PROBE].bytes +
					   e[HI_BIO_CONTENT].bytes);
		HI_ASSERT_EQ(unused, e[HI_BIO_PAGE].bytes);
		HI_ASSERT_EQ(unknown, e[HI_BIO_UNKNOWN].bytes);
	}
}

static void check_lives(const struct lives *l, const char *what)
{
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = play_lives(l);
	HI_GUARD(hi_bio_view_destroy) struct hi_bio_view *v = view_of(bio, l->tail);
	struct hi_bio_damage damage = hi_bio_damage(bio), none = {};

	check_by_definition(l, v, what);
	check_evidence_counted(l, bio);
	HI_ASSERT_EQ(0, memcmp(&none, &damage, sizeof(none)));
	HI_ASSERT_EQ(0, hi_bio_living(bio));
}

/* With complete evidence, proved and possible are the one truth. */
HI_TEST(biography_random, known_lives_have_the_bands_of_the_definition)
{
	for (uint64_t seed = 0; seed < 5000; seed++) {
		struct lives l = draw_lives(seed, 8, 8, 100);
		HI_GUARD(hi_bio_destroy) struct hi_bio *bio = play_lives(&l);
		HI_GUARD(hi_bio_view_destroy)
		struct hi_bio_view *v = view_of(bio, l.tail);

		check_by_definition(&l, v, "known");
		for (unsigned t = 1; t <= l.censuses; t++) {
			struct hi_bio_row row;
			uint64_t sum = 0;

			hi_bio_view_row(v, HI_BIO_ALL, t, &row);
			for (unsigned band = 0; band < HI_BIO_BANDS; band++) {
				HI_ASSERT_EQ(row.bytes[band].proved,
					     row.bytes[band].possible);
				sum += row.bytes[band].proved;
			}
			HI_ASSERT_EQ(hi_bio_census(bio, t)->live.bytes, sum);
		}
	}
}

/* The bounds are as close as the evidence permits: over all sets of uses that it leaves
 * open. */
HI_TEST(biography_random, partly_known_lives_have_the_closest_bounds)
{
	for (uint64_t seed = 0; seed < 5000; seed++) {
		struct lives l = draw_lives(seed, 6, 7, (unsigned)seed % 100);

		check_lives(&l, "events");
	}
}

/* Addresses are used again, and blocks are resized, in place or not: each object that
 * dies may become the next one drawn. */
static void link_lives(uint64_t *random, struct lives *l)
{
	for (uint32_t i = 1; i < l->n; i++) {
		struct life *former = &l->of[i - 1], *life = &l->of[i];

		if (!former->death || life->is_older)
			continue;
		if (life->from > former->death) {
			life->slot = former->slot ? former->slot : i;
			former->slot = life->slot;
		} else if (life->from == former->death && life->size != former->size) {
			life->former = i;
			life->slot = random_below(random, 2) ? former->slot : 0;
			if (life->slot == 0 && random_below(random, 2))
				life->slot = former->slot = i;
		}
	}
}

HI_TEST(biography_random, reused_addresses_and_resized_blocks_are_told_apart)
{
	unsigned reused = 0, resized = 0, in_place = 0;

	for (uint64_t seed = 0; seed < 3000; seed++) {
		struct lives l = draw_lives(seed, 10, 7, (unsigned)seed % 101);
		uint64_t random = seed;

		link_lives(&random, &l);
		for (uint32_t i = 1; i < l.n; i++) {
			bool is_same = l.of[i].slot && l.of[i].slot == l.of[i - 1].slot;

			resized += l.of[i].former > 0;
			in_place += l.of[i].former && is_same;
			reused += !l.of[i].former && is_same;
		}
		check_lives(&l, "linked");
	}
	HI_ASSERT(reused > 500 && resized > 500 && in_place > 200);
}

/* Without events, by what each census has. Objects of one period are in none of them. */
HI_TEST(biography_random, censuses_alone_give_the_same_bands)
{
	for (uint64_t seed = 0; seed < 1000; seed++) {
		struct lives l = draw_lives(seed, 6, 7, (unsigned)seed % 100);

		l.by_census = true;
		/* No census shows a death behind the last one, nor the rule for it. */
		l.death_is_idle = l.tail == HI_BIO_AT_CENSUS;
		check_lives(&l, "censuses");
	}
}

/* The bands of the truth, object by object. */
static void true_row(const struct lives *l, uint32_t group, unsigned t,
		     struct hi_bio_amount ret[HI_BIO_BANDS])
{
	memset(ret, 0, HI_BIO_BANDS * sizeof(*ret));
	for (uint32_t i = 0; i < l->n; i++) {
		const struct life *life = &l->of[i];
		unsigned band = band_by_definition(life, life->truth, t);

		if ((group != HI_BIO_ALL && group != life->group) ||
		    !is_at_census(l, life, t))
			continue;
		ret[band].bytes += life->size;
		ret[band].objects++;
	}
}

static void check_holds(const struct hi_bio_amount *truth, const struct hi_bio_row *row,
			uint32_t mask)
{
	struct hi_bio_sum sum = hi_bio_row_sum(row, mask);
	struct hi_bio_amount in = {};

	for (unsigned band = 0; band < HI_BIO_BANDS; band++) {
		HI_ASSERT(row->bytes[band].proved <= truth[band].bytes);
		HI_ASSERT(truth[band].bytes <= row->bytes[band].possible);
		HI_ASSERT(row->objects[band].proved <= truth[band].objects);
		HI_ASSERT(truth[band].objects <= row->objects[band].possible);
		in.bytes += mask & HI_BIO_BIT(band) ? truth[band].bytes : 0;
		in.objects += mask & HI_BIO_BIT(band) ? truth[band].objects : 0;
	}
	HI_ASSERT(sum.bytes.proved <= in.bytes && in.bytes <= sum.bytes.possible);
	HI_ASSERT(sum.objects.proved <= in.objects && in.objects <= sum.objects.possible);
}

/* Of one band, the sum is what the row has. */
static void check_single_sums(const struct hi_bio_row *row)
{
	for (unsigned band = 0; band < HI_BIO_BANDS; band++) {
		struct hi_bio_sum sum = hi_bio_row_sum(row, HI_BIO_BIT(band));

		HI_ASSERT_EQ(row->bytes[band].proved, sum.bytes.proved);
		HI_ASSERT_EQ(row->bytes[band].possible, sum.bytes.possible);
		HI_ASSERT_EQ(row->objects[band].proved, sum.objects.proved);
		HI_ASSERT_EQ(row->objects[band].possible, sum.objects.possible);
	}
}

/* Object by object: proved where it can be in no other band, possible where in one. */
static void check_sum_by_definition(const struct lives *l, uint32_t group, unsigned t,
				    const struct hi_bio_row *row, uint32_t mask)
{
	struct hi_bio_bounds expected = {};
	struct hi_bio_sum sum = hi_bio_row_sum(row, mask);

	for (uint32_t i = 0; i < l->n; i++) {
		const struct life *life = &l->of[i];
		uint32_t bands;

		if ((group != HI_BIO_ALL && group != life->group) ||
		    !is_at_census(l, life, t))
			continue;
		bands = possible_bands(l, life, t);
		expected.proved += bands & ~mask ? 0 : life->size;
		expected.possible += bands & mask ? life->size : 0;
	}
	HI_ASSERT_EQ(expected.proved, sum.bytes.proved);
	HI_ASSERT_EQ(expected.possible, sum.bytes.possible);
}

HI_TEST(biography_random, sums_of_bands_are_those_of_the_objects)
{
	for (uint64_t seed = 0; seed < 1000; seed++) {
		struct lives l = draw_lives(seed, 8, 8, (unsigned)seed % 101);
		HI_GUARD(hi_bio_destroy) struct hi_bio *bio = play_lives(&l);
		HI_GUARD(hi_bio_view_destroy)
		struct hi_bio_view *v = view_of(bio, l.tail);
		uint64_t random = seed;

		for (unsigned t = 1; t <= l.censuses; t++) {
			uint32_t mask = random_below(&random, HI_BIO_EVERY_BAND + 1);
			struct hi_bio_row row;

			hi_bio_view_row(v, HI_BIO_ALL, t, &row);
			check_sum_by_definition(&l, HI_BIO_ALL, t, &row, mask);
			check_sum_by_definition(&l, HI_BIO_ALL, t, &row, HI_BIO_NOT_USED);
			hi_bio_view_row(v, 0, t, &row);
			check_sum_by_definition(&l, 0, t, &row, mask);
		}
	}
}

static void check_parts(const struct hi_bio_row *row)
{
	uint64_t parts[HI_BIO_PARTS], sum = 0;

	hi_bio_row_parts(row, parts);
	for (unsigned part = 0; part < HI_BIO_PARTS; part++)
		sum += parts[part];
	HI_ASSERT_EQ(row->live.bytes, sum);
	for (unsigned band = 0; band < HI_BIO_BANDS; band++)
		HI_ASSERT_EQ(row->bytes[band].proved, parts[band]);
	HI_ASSERT_EQ(hi_bio_row_sum(row, HI_BIO_NOT_USED).bytes.proved,
		     parts[HI_BIO_VOID] + parts[HI_BIO_DRAG] + parts[HI_BIO_UNUSED] +
			     parts[HI_BIO_PART_NOT_USED]);
}

static void check_groups_add_up(const struct lives *l, const struct hi_bio_view *v,
				unsigned t)
{
	struct hi_bio_row all, row;
	uint64_t live = 0, possible[HI_BIO_BANDS] = {}, proved[HI_BIO_BANDS] = {};

	hi_bio_view_row(v, HI_BIO_ALL, t, &all);
	for (uint32_t g = 0; g < l->groups; g++) {
		hi_bio_view_row(v, g, t, &row);
		live += row.live.bytes;
		for (unsigned band = 0; band < HI_BIO_BANDS; band++) {
			proved[band] += row.bytes[band].proved;
			possible[band] += row.bytes[band].possible;
		}
	}
	HI_ASSERT_EQ(all.live.bytes, live);
	for (unsigned band = 0; band < HI_BIO_BANDS; band++) {
		HI_ASSERT_EQ(all.bytes[band].proved, proved[band]);
		HI_ASSERT_EQ(all.bytes[band].possible, possible[band]);
	}
}

/* Long lives: every band, census and group, and sums of bands chosen by chance. */
HI_TEST(biography_random, the_truth_is_within_the_bounds)
{
	for (uint64_t seed = 0; seed < 1000; seed++) {
		struct lives l = draw_lives(seed, LIVES, 40, (unsigned)seed % 101);
		HI_GUARD(hi_bio_destroy) struct hi_bio *bio = play_lives(&l);
		HI_GUARD(hi_bio_view_destroy)
		struct hi_bio_view *v = view_of(bio, l.tail);
		uint64_t random = seed;

		for (unsigned t = 1; t <= l.censuses; t++) {
			for (uint32_t g = 0; g <= l.groups; g++) {
				uint32_t group = g < l.groups ? g : HI_BIO_ALL;
				struct hi_bio_amount truth[HI_BIO_BANDS];
				struct hi_bio_row row;

				true_row(&l, group, t, truth);
				hi_bio_view_row(v, group, t, &row);
				check_single_sums(&row);
				check_parts(&row);
				check_holds(truth, &row,
					    random_below(&random, HI_BIO_EVERY_BAND + 1));
			}
			check_groups_add_up(&l, v, t);
		}
	}
}

/* One object's life says the same as the bands. */
static void check_living(const struct lives *l, const struct hi_bio *open)
{
	for (uint32_t i = 0; i < l->n && l->tail == HI_BIO_AT_CENSUS; i++) {
		uint32_t number = hi_bio_find(open, life_address(l, i));
		struct hi_bio_life life;

		HI_ASSERT_EQ(!l->of[i].death, hi_bio_life(open, number, &life));
		if (l->of[i].death)
			continue;
		HI_ASSERT_EQ(l->of[i].from, life.from);
		for (unsigned t = 1; t <= l->censuses; t++)
			HI_ASSERT_EQ(is_at_census(l, &l->of[i], t)
					     ? possible_bands(l, &l->of[i], t)
					     : 0,
				     hi_bio_life_bands(&life, l->censuses + 1, t));
	}
}

/* A series that goes on: what has ended is final in each view. */
HI_TEST(biography_random, a_view_of_an_open_series_is_that_of_one_that_ends_now)
{
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct lives l = draw_lives(seed, LIVES / 2, 8, (unsigned)seed % 101);
		HI_GUARD(hi_bio_destroy) struct hi_bio *open = play_open(&l);
		HI_GUARD(hi_bio_destroy) struct hi_bio *ended = play_lives(&l);
		HI_GUARD(hi_bio_view_destroy)
		struct hi_bio_view *now = view_of(open, l.tail);
		HI_GUARD(hi_bio_view_destroy)
		struct hi_bio_view *end = view_of(ended, l.tail);

		check_living(&l, open);
		for (unsigned t = 1; t <= l.censuses; t++) {
			struct hi_bio_row a, b;
			uint64_t settled = 0;

			hi_bio_view_row(end, HI_BIO_ALL, t, &a);
			hi_bio_view_row(now, HI_BIO_ALL, t, &b);
			check_same_row(&a, &b, "open", t);
			for (uint32_t i = 0; i < l.n; i++)
				if (l.of[i].death && is_at_census(&l, &l.of[i], t))
					settled += l.of[i].size;
			HI_ASSERT_EQ(settled, b.settled.bytes);
			HI_ASSERT_EQ(a.live.bytes, a.settled.bytes);
		}
	}
}
