/* SPDX-License-Identifier: BSD-2-Clause */
/* One object's biography, eras, groups that change, and long series. */
#include "tests/census/lives.h"

/* Plays a drawn life; the last character's period is the open one. */
static struct hi_bio_life life_of(const char *drawn, bool is_older)
{
	struct lives l = {.of = {{.size = 10, .drawn = drawn, .is_older = is_older}},
			  .n = 1,
			  .groups = 1,
			  .censuses = (unsigned)strlen(drawn) - 1};
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = NULL;
	struct hi_bio_life life;

	read_drawn(&l.of[0]);
	bio = play_open(&l);
	HI_ASSERT(hi_bio_life(bio, hi_bio_find(bio, life_address(&l, 0)), &life));
	return life;
}

static void check_state(const char *drawn, enum hi_bio_state state, uint64_t first_proved,
			uint64_t last_proved, uint64_t quiet_from)
{
	struct hi_bio_life life = life_of(drawn, false);

	HI_ASSERT_MSG(state == life.state, "\"%s\": expected state %d, got %d", drawn,
		      state, life.state);
	HI_ASSERT_EQ(first_proved, life.first_proved);
	HI_ASSERT_EQ(last_proved, life.last_proved);
	HI_ASSERT_EQ(quiet_from, life.quiet_from);
	HI_ASSERT(!life.is_older);
}

HI_TEST(biography_life, has_first_and_last_use_and_the_state)
{
	check_state("?", HI_BIO_STATE_NO_USE_SEEN, 0, 0, 0);
	check_state("...", HI_BIO_STATE_NEVER_USED, 0, 0, 1);
	check_state(" ..?", HI_BIO_STATE_NEVER_USED, 0, 0, 2);
	check_state("..??", HI_BIO_STATE_NO_USE_SEEN, 0, 0, 0);
	check_state("?..", HI_BIO_STATE_NO_USE_SEEN, 0, 0, 2);
	check_state(".u", HI_BIO_STATE_USED, 2, 2, 0);
	check_state(".u?", HI_BIO_STATE_USED, 2, 2, 0);
	check_state("u.u.", HI_BIO_STATE_USED, 1, 3, 4);
	check_state("u..", HI_BIO_STATE_NOT_USED_SINCE, 1, 1, 2);
	check_state("u?..", HI_BIO_STATE_NOT_USED_SINCE, 1, 1, 3);
	check_state("u.??", HI_BIO_STATE_NOT_SEEN_SINCE, 1, 1, 0);
}

HI_TEST(biography_life, names_the_evidence)
{
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = NULL;
	const struct hi_bio_object object = {
		.address = 0x1000, .size = 48, .serial = 9, .group = 3};
	struct hi_bio_life life;
	struct hi_error err;
	uint32_t number;

	HI_ASSERT_OK(hi_bio_create(NULL, &bio, &err), &err);
	HI_ASSERT_OK(hi_bio_older(bio, &object, &number, &err), &err);
	hi_bio_used(bio, number, HI_BIO_CONTENT);
	HI_ASSERT_OK(hi_bio_end_period(bio, false, &err), &err);
	hi_bio_used(bio, number, HI_BIO_PROBE);
	HI_ASSERT(hi_bio_life(bio, number, &life));
	HI_ASSERT_EQ(HI_BIO_CONTENT, life.first_evidence);
	HI_ASSERT_EQ(HI_BIO_PROBE, life.last_evidence);
	HI_ASSERT(life.is_older);
	HI_ASSERT_EQ(0x1000, life.object.address);
	HI_ASSERT_EQ(48, life.object.size);
	HI_ASSERT_EQ(9, life.object.serial);
	HI_ASSERT_EQ(3, life.object.group);
}

/* Era 1, then 4 ("load"), then 0, which does not count. */
static void check_eras(uint32_t first, uint32_t last, uint64_t counted)
{
	const struct hi_bio_options options = {.era_first = first, .era_last = last};
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = NULL;
	HI_GUARD(hi_bio_view_destroy) struct hi_bio_view *v = NULL;
	static const uint32_t eras[] = {1, 4, 0};
	struct hi_bio_row row;
	struct hi_error err;
	uint32_t n;

	HI_ASSERT_OK(hi_bio_create(&options, &bio, &err), &err);
	for (unsigned i = 0; i < 3; i++) {
		struct hi_bio_object object = {.address = 0x1000 * (i + 1),
					       .size = 1ull << 4 * i};

		if (i)
			HI_ASSERT_OK(hi_bio_begin_era(bio, eras[i],
						      i == 1 ? "load" : NULL, &err),
				     &err);
		object.group = hi_bio_era(bio);
		HI_ASSERT_EQ(eras[i], object.group);
		HI_ASSERT_OK(hi_bio_born(bio, &object, NULL, &err), &err);
		HI_ASSERT_OK(hi_bio_end_period(bio, false, &err), &err);
	}
	HI_ASSERT_STATUS(HI_USAGE, hi_bio_begin_era(bio, 3, "back", &err));
	check_sound(bio, HI_BIO_AT_CENSUS);
	v = view_of(bio, HI_BIO_AT_CENSUS);
	hi_bio_view_row(v, HI_BIO_ALL, 3, &row);
	HI_ASSERT_EQ(counted, row.live.bytes);
	hi_bio_view_row(v, HI_BIO_LEFT_OUT, 3, &row);
	HI_ASSERT_EQ(0x111 - counted, row.live.bytes);
	hi_bio_view_row(v, 4, 3, &row);
	HI_ASSERT_EQ(counted & 0x10, row.live.bytes);
	HI_ASSERT_EQ(2, (hi_bio_eras(bio, &n), n));
	HI_ASSERT_STREQ("load", hi_bio_eras(bio, &n)[0].name);
	HI_ASSERT_EQ(4, hi_bio_eras(bio, &n)[0].era);
	HI_ASSERT_EQ(2, hi_bio_eras(bio, &n)[0].period);
	HI_ASSERT_STREQ("", hi_bio_eras(bio, &n)[1].name);
}

/* Of three objects the second one is born when nothing counts. */
HI_TEST(biography_life, objects_left_out_are_not_counted)
{
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = NULL;
	HI_GUARD(hi_bio_view_destroy) struct hi_bio_view *v = NULL;
	struct hi_bio_row row;
	struct hi_error err;

	HI_ASSERT_OK(hi_bio_create(NULL, &bio, &err), &err);
	for (unsigned i = 0; i < 3; i++) {
		const struct hi_bio_object object = {.address = 0x1000 * (i + 1),
						     .size = 1ull << 4 * i};

		hi_bio_leave_out(bio, i == 1);
		HI_ASSERT_OK(hi_bio_see(bio, &object, NULL, &err), &err);
	}
	HI_ASSERT_OK(hi_bio_end_period(bio, false, &err), &err);
	v = view_of(bio, HI_BIO_AT_CENSUS);
	hi_bio_view_row(v, HI_BIO_ALL, 1, &row);
	HI_ASSERT_EQ(0x101, row.live.bytes);
	hi_bio_view_row(v, HI_BIO_LEFT_OUT, 1, &row);
	HI_ASSERT_EQ(0x10, row.live.bytes);
}

HI_TEST(biography_life, eras_are_restrictions_and_break_downs)
{
	const struct hi_bio_options back = {.era_first = 2, .era_last = 1};
	struct hi_bio *bio = NULL;
	struct hi_error err;

	check_eras(0, 0, 0x11);
	check_eras(1, 3, 0x1);
	check_eras(2, 4, 0x10);
	check_eras(5, 9, 0);
	HI_ASSERT_STATUS(HI_USAGE, hi_bio_create(&back, &bio, &err));
}

/* A census may find another group: the whole life counts there. */
HI_TEST(biography_life, the_group_of_the_last_census_has_the_life)
{
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = NULL;
	HI_GUARD(hi_bio_view_destroy) struct hi_bio_view *v = NULL;
	struct hi_bio_object object = {.address = 0x1000, .size = 10};
	struct hi_bio_row row;
	struct hi_error err;

	HI_ASSERT_OK(hi_bio_create(NULL, &bio, &err), &err);
	for (unsigned p = 1; p <= 2; p++, object.group = 2) {
		HI_ASSERT_OK(hi_bio_see(bio, &object, NULL, &err), &err);
		HI_ASSERT_OK(hi_bio_end_period(bio, true, &err), &err);
	}
	HI_ASSERT_EQ(3, hi_bio_groups(bio));
	check_sound(bio, HI_BIO_AT_CENSUS);
	v = view_of(bio, HI_BIO_AT_CENSUS);
	hi_bio_view_row(v, 0, 1, &row);
	HI_ASSERT_EQ(0, row.live.bytes);
	hi_bio_view_row(v, 2, 1, &row);
	HI_ASSERT_EQ(10, row.live.bytes);
}

HI_TEST(biography_life, names_of_bands_are_read)
{
	struct hi_error err;
	uint32_t mask = 0;

	HI_ASSERT_OK(hi_bio_bands_parse("void,lag,use,inherent,drag,unused", &mask, &err),
		     &err);
	HI_ASSERT_EQ(HI_BIO_EVERY_BAND, mask);
	HI_ASSERT_OK(hi_bio_bands_parse("drag,drag", &mask, &err), &err);
	HI_ASSERT_EQ(HI_BIO_BIT(HI_BIO_DRAG), mask);
	HI_ASSERT_STATUS(HI_USAGE, hi_bio_bands_parse("drag,,void", &mask, &err));
	HI_ASSERT_STATUS(HI_USAGE, hi_bio_bands_parse("", &mask, &err));
	HI_ASSERT_STATUS(HI_USAGE, hi_bio_bands_parse("dragon", &mask, &err));
	HI_ASSERT(strstr(err.text, "\"dragon\" is no band"));
	HI_ASSERT_EQ(HI_BIO_BIT(HI_BIO_DRAG), mask);
	HI_ASSERT_OK(hi_bio_bands_parse("idle", &mask, &err), &err);
	HI_ASSERT_EQ(HI_BIO_BIT(HI_BIO_DRAG) | HI_BIO_BIT(HI_BIO_UNUSED), mask);
	HI_ASSERT_OK(hi_bio_bands_parse("idle,drag,void", &mask, &err), &err);
	HI_ASSERT_EQ(HI_BIO_IDLE | HI_BIO_BIT(HI_BIO_VOID), mask);
	HI_ASSERT_STREQ("INHERENT_USE", hi_bio_band_name(HI_BIO_INHERENT));
}

/* 10^5 periods: one object is used in the middle, one is born and dies every period. */
HI_TEST(biography_life, long_series_are_counted_with_little_memory)
{
	enum { PERIODS = 100000, MIDDLE = 50000 };
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = NULL;
	HI_GUARD(hi_bio_view_destroy) struct hi_bio_view *v = NULL;
	struct hi_bio_object old = {.address = 0x1000, .size = 7, .group = 1};
	struct hi_bio_checks checks;
	struct hi_bio_row row;
	struct hi_error err;
	uint32_t number;

	HI_ASSERT_OK(hi_bio_create(NULL, &bio, &err), &err);
	HI_ASSERT_OK(hi_bio_born(bio, &old, &number, &err), &err);
	for (uint64_t p = 1; p <= PERIODS; p++) {
		struct hi_bio_object brief = {.address = 0x2000 + 16 * p, .size = 100};

		if (p == MIDDLE)
			hi_bio_used(bio, number, HI_BIO_PROBE);
		else
			hi_bio_unused(bio, number, HI_BIO_PAGE);
		if (p > 1)
			HI_ASSERT_OK(
				hi_bio_died(bio, brief.address - 16, HI_BIO_FREED, &err),
				&err);
		HI_ASSERT_OK(hi_bio_born(bio, &brief, NULL, &err), &err);
		HI_ASSERT_OK(hi_bio_end_period(bio, false, &err), &err);
	}
	v = view_of(bio, HI_BIO_AT_CENSUS);
	hi_bio_check(bio, v, &checks);
	HI_ASSERT_EQ(0, hi_bio_checks_failed(&checks));
	for (uint64_t t = 1; t <= PERIODS; t++) {
		hi_bio_view_row(v, 1, t, &row);
		HI_ASSERT_EQ(t < MIDDLE ? 7 : 0, row.bytes[HI_BIO_LAG].proved);
		HI_ASSERT_EQ(t == MIDDLE ? 7 : 0, row.bytes[HI_BIO_USE].proved);
		HI_ASSERT_EQ(t > MIDDLE ? 7 : 0, row.bytes[HI_BIO_DRAG].proved);
		hi_bio_view_row(v, HI_BIO_ALL, t, &row);
		HI_ASSERT_EQ(107, row.live.bytes);
	}
	/* Censuses (160 bytes), and twice the pages of all and of the brief ones (2,304
	 * bytes for 8 periods); vectors are up to half as long again. The index forgot
	 * the addresses. */
	HI_ASSERT(hi_bio_memory(bio) < 3 * PERIODS * (160 + 2 * 2304 / 8) / 2 + 1000000);
}

/* Neither records nor addresses of dead objects stay, also within one period. */
HI_TEST(biography_life, dead_objects_take_no_memory)
{
	enum { ROUNDS = 2000, BATCH = 100 };
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = NULL;
	struct hi_bio_object o = {.size = 16};
	struct hi_error err;

	HI_ASSERT_OK(hi_bio_create(NULL, &bio, &err), &err);
	for (uint64_t first = 1; first <= ROUNDS * BATCH; first += BATCH) {
		for (o.address = first; o.address < first + BATCH; o.address++)
			HI_ASSERT_OK(hi_bio_born(bio, &o, NULL, &err), &err);
		for (o.address = first; o.address < first + BATCH; o.address++)
			HI_ASSERT_OK(hi_bio_died(bio, o.address, HI_BIO_FREED, &err),
				     &err);
	}
	HI_ASSERT_EQ(ROUNDS * BATCH, hi_bio_unseen(bio, HI_BIO_ALL).objects);
	HI_ASSERT(hi_bio_memory(bio) < 200000);
}

/* Where most periods change nothing, groups take little. */
HI_TEST(biography_life, quiet_groups_take_little_memory)
{
	enum { GROUPS = 1000, PERIODS = 8000 };
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_bio_create(NULL, &bio, &err), &err);
	for (uint64_t p = 1; p <= PERIODS; p++) {
		struct hi_bio_object o = {
			.address = 16 * p, .size = 16, .group = (uint32_t)(p % GROUPS)};

		HI_ASSERT_OK(hi_bio_born(bio, &o, NULL, &err), &err);
		if (p > 500)
			HI_ASSERT_OK(hi_bio_died(bio, 16 * (p - 500), HI_BIO_FREED, &err),
				     &err);
		HI_ASSERT_OK(hi_bio_end_period(bio, false, &err), &err);
	}
	check_sound(bio, HI_BIO_AT_CENSUS);
	/* Dense arrays would take 2,304 MB. An object changes two to three pages. */
	HI_ASSERT(hi_bio_memory(bio) < 100000000);
}
