/* SPDX-License-Identifier: BSD-2-Clause */
/* The worked examples L1 to L4 and L6 of the specification, drawn (tests/census/lives.h),
 * with its figures. */
#include "tests/census/lives.h"

enum { NODE, BUF, ARENA, TYPES };
enum { L1_CENSUSES = 6 };

/* The type of each is that of L4. */
static struct lives l1_lives(void)
{
	struct lives l = {
		.of =
			{
				{.size = 100, .drawn = "..u..x", .group = NODE},
				{.size = 40, .drawn = " ...x", .group = NODE},
				{.size = 16, .drawn = "u..u..", .group = NODE},
				{.size = 64, .drawn = "  ux", .group = BUF},
				{.size = 200, .drawn = "   ...", .group = BUF},
				{.size = 8, .drawn = " X", .group = BUF},
				{.size = 1000,
				 .drawn = "......",
				 .group = ARENA,
				 .is_inherent = true},
			},
		.n = 7,
		.groups = TYPES,
		.censuses = L1_CENSUSES,
	};

	for (uint32_t i = 0; i < l.n; i++)
		read_drawn(&l.of[i]);
	return l;
}

static void check_exact(const struct hi_bio_row *row, enum hi_bio_band band,
			uint64_t bytes)
{
	HI_ASSERT_EQ(bytes, row->bytes[band].proved);
	HI_ASSERT_EQ(bytes, row->bytes[band].possible);
}

HI_TEST(biography_drawn, l1_has_the_table_of_the_specification)
{
	static const uint64_t table[L1_CENSUSES][8] = {
		/* notUsed used VOID LAG USE INHERENT DRAG live */
		{100, 16, 0, 100, 16, 1000, 0, 1116},
		{140, 16, 40, 100, 16, 1000, 0, 1156},
		{40, 180, 40, 0, 180, 1000, 0, 1220},
		{240, 116, 240, 0, 16, 1000, 100, 1356},
		{200, 116, 200, 0, 0, 1000, 116, 1316},
		{200, 16, 200, 0, 0, 1000, 16, 1216},
	};
	const struct lives l = l1_lives();
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = play_lives(&l);
	HI_GUARD(hi_bio_view_destroy) struct hi_bio_view *v = view_of(bio, l.tail);

	HI_ASSERT_EQ(L1_CENSUSES, hi_bio_view_censuses(v));
	for (unsigned t = 1; t <= L1_CENSUSES; t++) {
		const struct hi_bio_census *census = hi_bio_census(bio, t);
		const uint64_t *expected = table[t - 1];
		struct hi_bio_row row;

		hi_bio_view_row(v, HI_BIO_ALL, t, &row);
		HI_ASSERT_EQ(expected[0], census->not_used.bytes);
		HI_ASSERT_EQ(expected[1], census->used.bytes);
		for (unsigned band = 0; band < HI_BIO_UNUSED; band++)
			check_exact(&row, band, expected[2 + band]);
		check_exact(&row, HI_BIO_UNUSED, 0);
		HI_ASSERT_EQ(expected[7], row.live.bytes);
		HI_ASSERT_EQ(expected[7], row.settled.bytes);
		HI_ASSERT_EQ(t == 2 ? 8 : 0, census->unseen.bytes);
	}
	HI_ASSERT_EQ(8, hi_bio_unseen(bio, HI_BIO_ALL).bytes);
	HI_ASSERT_EQ(1, hi_bio_unseen(bio, BUF).objects);
	HI_ASSERT_EQ(0, hi_bio_unseen(bio, NODE).objects);
}

/* voidNew and dragNew, as what a band gains from one census to the next. */
HI_TEST(biography_drawn, l1_has_the_differences_of_the_specification)
{
	static const int64_t void_new[] = {0, 40, 0, 200, -40, 0, -200};
	static const int64_t drag_new[] = {0, 0, 0, 100, 16, -100, -16};
	const struct lives l = l1_lives();
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = play_lives(&l);
	HI_GUARD(hi_bio_view_destroy) struct hi_bio_view *v = view_of(bio, l.tail);
	struct hi_bio_row before = {}, row;

	for (unsigned t = 1; t <= L1_CENSUSES + 1; t++, before = row) {
		hi_bio_view_row(v, HI_BIO_ALL, t, &row);
		HI_ASSERT_EQ(void_new[t - 1], row.bytes[HI_BIO_VOID].proved -
						      before.bytes[HI_BIO_VOID].proved);
		HI_ASSERT_EQ(drag_new[t - 1], row.bytes[HI_BIO_DRAG].proved -
						      before.bytes[HI_BIO_DRAG].proved);
	}
}

/* The band that has the one object of size 10 at each of the four censuses; '-': it is
 * not there. */
static void check_l2(const char *drawn, enum hi_bio_tail tail, const char *expected)
{
	static const char letters[] = "VLUID";
	struct lives l = {.of = {{.size = 10, .drawn = drawn}},
			  .n = 1,
			  .groups = 1,
			  .censuses = 4,
			  .tail = tail};
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = NULL;
	HI_GUARD(hi_bio_view_destroy) struct hi_bio_view *v = NULL;

	read_drawn(&l.of[0]);
	bio = play_lives(&l);
	v = view_of(bio, tail);
	for (unsigned t = 1; t <= 4; t++) {
		struct hi_bio_row row;

		hi_bio_view_row(v, HI_BIO_ALL, t, &row);
		for (unsigned band = 0; band < HI_BIO_UNUSED; band++)
			check_exact(&row, band,
				    expected[t - 1] == letters[band] ? 10 : 0);
	}
}

HI_TEST(biography_drawn, l2_has_the_boundaries_of_the_specification)
{
	check_l2(" X", HI_BIO_AT_CENSUS, "----");
	check_l2(" ux", HI_BIO_AT_CENSUS, "-U--");
	check_l2(" u.x", HI_BIO_AT_CENSUS, "-UD-");
	check_l2(" .x", HI_BIO_AT_CENSUS, "-V--");
	check_l2("....u", HI_BIO_IN_PERIOD, "LLLL");
	check_l2("....u", HI_BIO_AT_CENSUS, "LLLL");
}

/* 48 bytes become 96 in period 4, in place or elsewhere. */
static void check_l3(uint64_t new_address)
{
	static const enum hi_bio_band bands[] = {HI_BIO_LAG, HI_BIO_USE, HI_BIO_DRAG,
						 HI_BIO_USE, HI_BIO_DRAG};
	const struct hi_bio_object old = {.address = 0x1000, .size = 48};
	const struct hi_bio_object new = {.address = new_address, .size = 96};
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = NULL;
	HI_GUARD(hi_bio_view_destroy) struct hi_bio_view *v = NULL;
	struct hi_error err;
	uint32_t number;

	HI_ASSERT_OK(hi_bio_create(NULL, &bio, &err), &err);
	HI_ASSERT_OK(hi_bio_born(bio, &old, &number, &err), &err);
	for (unsigned p = 1; p <= 5; p++) {
		if (p == 4) {
			hi_bio_unused(bio, number, HI_BIO_PAGE);
			HI_ASSERT_OK(
				hi_bio_resized(bio, old.address, &new, &number, &err),
				&err);
		}
		if (p == 2 || p == 4)
			hi_bio_used(bio, number, HI_BIO_PROBE);
		else
			hi_bio_unused(bio, number, HI_BIO_PAGE);
		HI_ASSERT_OK(hi_bio_end_period(bio, false, &err), &err);
		check_sound(bio, HI_BIO_AT_CENSUS);
	}
	HI_ASSERT_OK(hi_bio_finish(bio, HI_BIO_AT_CENSUS, &err), &err);
	v = view_of(bio, HI_BIO_AT_CENSUS);
	for (unsigned t = 1; t <= 5; t++) {
		struct hi_bio_row row;

		hi_bio_view_row(v, HI_BIO_ALL, t, &row);
		for (unsigned band = 0; band < HI_BIO_BANDS; band++)
			check_exact(&row, band,
				    band != bands[t - 1] ? 0 : (t < 4 ? 48 : 96));
	}
}

HI_TEST(biography_drawn, l3_a_resized_block_is_a_death_and_a_birth)
{
	check_l3(0x2000);
	check_l3(0x1000);
}

HI_TEST(biography_drawn, l4_has_the_bands_of_each_type)
{
	static const uint64_t drag_void[TYPES][L1_CENSUSES] = {
		{0, 40, 40, 140, 116, 16}, {0, 0, 0, 200, 200, 200}, {}};
	static const uint64_t lag[TYPES][L1_CENSUSES] = {{100, 100}};
	static const uint64_t use[TYPES][L1_CENSUSES] = {{16, 16, 116, 16}, {0, 0, 64}};
	static const uint64_t inherent[TYPES][L1_CENSUSES] = {
		{}, {}, {1000, 1000, 1000, 1000, 1000, 1000}};
	static const struct {
		const char *bio;
		const uint64_t (*rows)[L1_CENSUSES];
	} selections[] = {{"drag,void", drag_void},
			  {"lag", lag},
			  {"use", use},
			  {"inherent", inherent}};
	const struct lives l = l1_lives();
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = play_lives(&l);
	HI_GUARD(hi_bio_view_destroy) struct hi_bio_view *v = view_of(bio, l.tail);
	struct hi_error err;

	HI_ASSERT_EQ(TYPES, hi_bio_view_groups(v));
	for (unsigned i = 0; i < 4; i++)
		for (unsigned k = 0; k < TYPES * L1_CENSUSES; k++) {
			uint32_t mask, type = k / L1_CENSUSES, t = k % L1_CENSUSES + 1;
			struct hi_bio_row row;
			struct hi_bio_sum sum;

			HI_ASSERT_OK(hi_bio_bands_parse(selections[i].bio, &mask, &err),
				     &err);
			hi_bio_view_row(v, type, t, &row);
			sum = hi_bio_row_sum(&row, mask);
			HI_ASSERT_EQ(selections[i].rows[type][t - 1], sum.bytes.proved);
			HI_ASSERT_EQ(selections[i].rows[type][t - 1], sum.bytes.possible);
		}
}

/* USE and DRAG of census 2 of three objects of 32 bytes, whose sum is always 96. */
static void check_l6(const char *const drawn[3], bool death_is_idle, uint64_t use_proved,
		     uint64_t use_possible)
{
	struct lives l = {
		.n = 3, .groups = 1, .censuses = 3, .death_is_idle = death_is_idle};
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = NULL;
	HI_GUARD(hi_bio_view_destroy) struct hi_bio_view *v = NULL;
	struct hi_bio_row row;
	struct hi_bio_sum sum;

	for (unsigned i = 0; i < 3; i++) {
		l.of[i] = (struct life){.size = 32, .drawn = drawn[i]};
		read_drawn(&l.of[i]);
	}
	bio = play_lives(&l);
	v = view_of(bio, l.tail);
	hi_bio_view_row(v, HI_BIO_ALL, 2, &row);
	HI_ASSERT_EQ(use_proved, row.bytes[HI_BIO_USE].proved);
	HI_ASSERT_EQ(use_possible, row.bytes[HI_BIO_USE].possible);
	HI_ASSERT_EQ(96 - use_possible, row.bytes[HI_BIO_DRAG].proved);
	HI_ASSERT_EQ(96 - use_proved, row.bytes[HI_BIO_DRAG].possible);
	sum = hi_bio_row_sum(&row, HI_BIO_BIT(HI_BIO_USE) | HI_BIO_BIT(HI_BIO_DRAG));
	HI_ASSERT_EQ(96, sum.bytes.proved);
	HI_ASSERT_EQ(96, sum.bytes.possible);
}

/* p's bytes changed, q's page was referenced, r's was not. What happened in the period of
 * their deaths matters: the specification has no uses there. */
HI_TEST(biography_drawn, l6_has_the_bounds_of_the_specification)
{
	check_l6((const char *[]){"uux", "u?x", "u.x"}, false, 32, 64);
	check_l6((const char *[]){"uu!", "u?!", "u.!"}, true, 32, 64);
	check_l6((const char *[]){"uu!", "u?!", "u.!"}, false, 32, 96);
	check_l6((const char *[]){"uuX", "u?X", "u.X"}, true, 96, 96);
}

static struct hi_bio_row draw_row(const char *drawn, unsigned censuses, unsigned t)
{
	struct lives l = {.of = {{.size = 10, .drawn = drawn}},
			  .n = 1,
			  .groups = 1,
			  .censuses = censuses,
			  .birth_is_idle = true,
			  .death_is_idle = true};
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = NULL;
	HI_GUARD(hi_bio_view_destroy) struct hi_bio_view *v = NULL;
	struct hi_bio_row row;

	read_drawn(&l.of[0]);
	bio = play_lives(&l);
	v = view_of(bio, l.tail);
	hi_bio_view_row(v, HI_BIO_ALL, t, &row);
	return row;
}

/* Nothing is known of the periods of birth and death: what lies between them decides. */
HI_TEST(biography_drawn, uses_at_birth_and_death_do_not_count)
{
	struct hi_bio_row row = draw_row("?..!", 4, 1);

	check_exact(&row, HI_BIO_VOID, 10);
	row = draw_row("?.u!", 4, 1);
	check_exact(&row, HI_BIO_LAG, 10);
	row = draw_row("?u.!", 4, 3);
	check_exact(&row, HI_BIO_DRAG, 10);
	/* It lived through no whole period: it may have done all of its work. */
	row = draw_row("?!", 4, 1);
	HI_ASSERT_EQ(0, row.bytes[HI_BIO_VOID].proved);
	HI_ASSERT_EQ(10, row.bytes[HI_BIO_VOID].possible);
	HI_ASSERT_EQ(10, row.bytes[HI_BIO_USE].possible);
}

/* GHC 9.0.2 reports VOID of most of a list that is read completely in periods 2 and 3. */
HI_TEST(biography_drawn, a_list_that_is_read_twice_is_in_use)
{
	enum { CELLS = 2000, CELL = 24 };
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = NULL;
	HI_GUARD(hi_bio_view_destroy) struct hi_bio_view *v = NULL;
	struct hi_bio_row row;
	struct hi_error err;

	HI_ASSERT_OK(hi_bio_create(NULL, &bio, &err), &err);
	for (unsigned p = 1; p <= 4; p++) {
		for (unsigned i = 0; i < CELLS; i++) {
			const struct hi_bio_object cell = {.address = 0x1000 + 32 * i,
							   .size = CELL};

			if (p == 1)
				HI_ASSERT_OK(hi_bio_born(bio, &cell, NULL, &err), &err);
			if (p == 2 || p == 3)
				hi_bio_used(bio, hi_bio_find(bio, cell.address),
					    HI_BIO_WATCH);
			else
				hi_bio_unused(bio, hi_bio_find(bio, cell.address),
					      HI_BIO_PAGE);
			if (p == 4)
				HI_ASSERT_OK(hi_bio_died(bio, cell.address, HI_BIO_FREED,
							 &err),
					     &err);
		}
		HI_ASSERT_OK(hi_bio_end_period(bio, false, &err), &err);
	}
	v = view_of(bio, HI_BIO_AT_CENSUS);
	for (unsigned t = 1; t <= 4; t++) {
		hi_bio_view_row(v, HI_BIO_ALL, t, &row);
		check_exact(&row, HI_BIO_VOID, 0);
		check_exact(&row, HI_BIO_LAG, t == 1 ? CELLS * CELL : 0);
		check_exact(&row, HI_BIO_USE, t == 2 || t == 3 ? CELLS * CELL : 0);
		check_exact(&row, HI_BIO_DRAG, 0);
	}
	HI_ASSERT_EQ(CELLS * CELL, hi_bio_census(bio, 2)->evidence[HI_BIO_WATCH].bytes);
	HI_ASSERT_EQ(0, hi_bio_census(bio, 2)->evidence[HI_BIO_UNKNOWN].bytes);
}

/* What is older than the series is never VOID or LAG. */
HI_TEST(biography_drawn, object_older_than_the_series_is_unused_until_its_first_use)
{
	struct lives l = {.of = {{.size = 10, .drawn = "..u.", .is_older = true},
				 {.size = 100, .drawn = "....", .is_older = true}},
			  .n = 2,
			  .groups = 1,
			  .censuses = 4};
	static const uint64_t unused[] = {110, 110, 100, 100};
	static const uint64_t use[] = {0, 0, 10, 0}, drag[] = {0, 0, 0, 10};
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = NULL;
	HI_GUARD(hi_bio_view_destroy) struct hi_bio_view *v = NULL;
	struct hi_bio_row row;

	read_drawn(&l.of[0]);
	read_drawn(&l.of[1]);
	bio = play_lives(&l);
	v = view_of(bio, l.tail);
	for (unsigned t = 1; t <= 4; t++) {
		hi_bio_view_row(v, HI_BIO_ALL, t, &row);
		check_exact(&row, HI_BIO_UNUSED, unused[t - 1]);
		check_exact(&row, HI_BIO_USE, use[t - 1]);
		check_exact(&row, HI_BIO_DRAG, drag[t - 1]);
		check_exact(&row, HI_BIO_VOID, 0);
		check_exact(&row, HI_BIO_LAG, 0);
	}
}
