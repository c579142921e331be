/* SPDX-License-Identifier: BSD-2-Clause */
/* What is contradictory, missing or late is counted, and the bands stay sound. */
#include <stdlib.h>

#include "base/alloc.h"
#include "tests/census/lives.h"

static struct hi_bio *new_bio(bool has_events)
{
	const struct hi_bio_options options = {.has_events = has_events};
	struct hi_bio *bio = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_bio_create(&options, &bio, &err), &err);
	return bio;
}

static uint32_t give_birth(struct hi_bio *bio, uint64_t address, uint64_t size)
{
	const struct hi_bio_object object = {.address = address, .size = size};
	struct hi_error err;
	uint32_t number;

	HI_ASSERT_OK(hi_bio_born(bio, &object, &number, &err), &err);
	return number;
}

static void let_die(struct hi_bio *bio, uint64_t address, enum hi_bio_death how)
{
	struct hi_error err;

	HI_ASSERT_OK(hi_bio_died(bio, address, how, &err), &err);
}

static uint32_t see_object(struct hi_bio *bio, uint64_t address, uint64_t size,
			   uint64_t serial)
{
	const struct hi_bio_object object = {
		.address = address, .size = size, .serial = serial};
	struct hi_error err;
	uint32_t number;

	HI_ASSERT_OK(hi_bio_see(bio, &object, &number, &err), &err);
	return number;
}

static void end_period(struct hi_bio *bio, bool is_complete)
{
	struct hi_error err;

	HI_ASSERT_OK(hi_bio_end_period(bio, is_complete, &err), &err);
	check_sound(bio, HI_BIO_AT_CENSUS);
}

static uint64_t live_at(const struct hi_bio *bio, uint64_t t)
{
	HI_GUARD(hi_bio_view_destroy)
	struct hi_bio_view *v = view_of(bio, HI_BIO_AT_CENSUS);
	struct hi_bio_row row;

	hi_bio_view_row(v, HI_BIO_ALL, t, &row);
	HI_ASSERT_EQ(hi_bio_census(bio, t)->live.bytes, row.live.bytes);
	return row.live.bytes;
}

HI_TEST(biography_damage, deaths_of_nothing_and_second_deaths_are_counted)
{
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = new_bio(true);

	give_birth(bio, 0x1000, 10);
	let_die(bio, 0x2000, HI_BIO_FREED);
	let_die(bio, UINT64_MAX, HI_BIO_FREED);
	end_period(bio, false);
	let_die(bio, 0x1000, HI_BIO_FREED);
	HI_ASSERT_EQ(2, hi_bio_damage(bio).died_unknown);
	let_die(bio, 0x1000, HI_BIO_FREED);
	let_die(bio, 0x1000, HI_BIO_UNREACHABLE);
	HI_ASSERT_EQ(4, hi_bio_damage(bio).died_unknown);
	end_period(bio, false);
	HI_ASSERT_EQ(10, live_at(bio, 1));
	HI_ASSERT_EQ(0, live_at(bio, 2));
}

HI_TEST(biography_damage, a_birth_at_a_living_address_ends_the_former_life)
{
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = new_bio(true);
	struct hi_bio_life life;
	uint32_t second;

	give_birth(bio, 0x1000, 10);
	end_period(bio, false);
	second = give_birth(bio, 0x1000, 300);
	HI_ASSERT_EQ(1, hi_bio_damage(bio).born_on_live);
	HI_ASSERT_EQ(1, hi_bio_living(bio));
	HI_ASSERT(hi_bio_life(bio, second, &life));
	HI_ASSERT_EQ(2, life.from);
	end_period(bio, false);
	HI_ASSERT_EQ(10, live_at(bio, 1));
	HI_ASSERT_EQ(300, live_at(bio, 2));
}

HI_TEST(biography_damage, evidence_of_nothing_or_of_the_wrong_kind_is_counted)
{
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = new_bio(true);
	uint32_t number = give_birth(bio, 0x1000, 10);
	struct hi_bio_life life;

	hi_bio_used(bio, number, HI_BIO_PAGE);
	hi_bio_used(bio, number, HI_BIO_UNKNOWN);
	hi_bio_unused(bio, number, HI_BIO_WATCH);
	hi_bio_used(bio, number + 1, HI_BIO_WATCH);
	hi_bio_used(bio, HI_BIO_NONE, HI_BIO_WATCH);
	HI_ASSERT_EQ(5, hi_bio_damage(bio).bad_evidence);
	HI_ASSERT(hi_bio_life(bio, number, &life));
	HI_ASSERT_EQ(0, life.first_proved);
	let_die(bio, 0x1000, HI_BIO_FREED);
	hi_bio_used(bio, number, HI_BIO_WATCH);
	HI_ASSERT_EQ(6, hi_bio_damage(bio).bad_evidence);
	HI_ASSERT(!hi_bio_life(bio, number, &life));
}

/* A proof of use outweighs a page, in either order, and the strongest one counts. */
HI_TEST(biography_damage, contradictions_are_counted_and_the_use_counts)
{
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = new_bio(true);
	uint32_t a = give_birth(bio, 0x1000, 10), b = give_birth(bio, 0x2000, 200);
	struct hi_bio_life life;

	hi_bio_used(bio, a, HI_BIO_CONTENT);
	hi_bio_unused(bio, a, HI_BIO_PAGE);
	hi_bio_used(bio, a, HI_BIO_WATCH);
	hi_bio_used(bio, a, HI_BIO_PROBE);
	hi_bio_unused(bio, b, HI_BIO_PAGE);
	hi_bio_unused(bio, b, HI_BIO_PAGE);
	HI_ASSERT_EQ(1, hi_bio_damage(bio).contradictions);
	hi_bio_used(bio, b, HI_BIO_CONTENT);
	HI_ASSERT_EQ(2, hi_bio_damage(bio).contradictions);
	end_period(bio, false);
	HI_ASSERT_EQ(10, hi_bio_census(bio, 1)->evidence[HI_BIO_WATCH].bytes);
	HI_ASSERT_EQ(200, hi_bio_census(bio, 1)->evidence[HI_BIO_CONTENT].bytes);
	HI_ASSERT_EQ(0, hi_bio_census(bio, 1)->evidence[HI_BIO_PAGE].objects);
	HI_ASSERT_EQ(0, hi_bio_census(bio, 1)->evidence[HI_BIO_UNKNOWN].objects);
	HI_ASSERT(hi_bio_life(bio, a, &life));
	HI_ASSERT_EQ(HI_BIO_WATCH, life.first_evidence);
	HI_ASSERT(hi_bio_life(bio, b, &life));
	HI_ASSERT_EQ(1, life.first_proved);
	HI_ASSERT_EQ(0, life.quiet_from);
}

/* --live reach: dead by the census; its free comes later, or it is found again. */
HI_TEST(biography_damage, unreachable_objects_are_dead_until_they_are_freed_or_seen)
{
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = new_bio(true);

	give_birth(bio, 0x1000, 1);
	give_birth(bio, 0x2000, 20);
	give_birth(bio, 0x3000, 300);
	end_period(bio, false);
	let_die(bio, 0x1000, HI_BIO_UNREACHABLE);
	see_object(bio, 0x2000, 20, 0);
	end_period(bio, true);
	HI_ASSERT_EQ(20, live_at(bio, 2));
	let_die(bio, 0x1000, HI_BIO_FREED);
	HI_ASSERT_EQ(1, hi_bio_freed_late(bio));
	HI_ASSERT_EQ(0, hi_bio_damage(bio).died_unknown);
	see_object(bio, 0x2000, 20, 0);
	see_object(bio, 0x3000, 300, 0);
	HI_ASSERT_EQ(1, hi_bio_damage(bio).revived);
	HI_ASSERT_EQ(0, hi_bio_damage(bio).births_missed);
	end_period(bio, true);
	HI_ASSERT_EQ(320, live_at(bio, 3));
	let_die(bio, 0x3000, HI_BIO_UNREACHABLE);
	give_birth(bio, 0x3000, 7);
	HI_ASSERT_EQ(1, hi_bio_damage(bio).born_on_live);
	end_period(bio, false);
	HI_ASSERT_EQ(27, live_at(bio, 4));
}

/* A number that is used again within a period was not seen by its census. */
HI_TEST(biography_damage, object_born_after_the_census_was_not_seen_by_it)
{
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = new_bio(true);
	uint32_t first = give_birth(bio, 0x1000, 10);

	HI_ASSERT_EQ(first, see_object(bio, 0x1000, 10, 0));
	let_die(bio, 0x1000, HI_BIO_FREED);
	HI_ASSERT_EQ(first, give_birth(bio, 0x2000, 20));
	end_period(bio, true);
	HI_ASSERT_EQ(0, hi_bio_living(bio));
	HI_ASSERT_EQ(30, hi_bio_census(bio, 1)->unseen.bytes);
}

/* Another size or serial at an address is another object. */
HI_TEST(biography_damage, a_census_tells_a_reused_address_by_size_and_serial)
{
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = new_bio(false);
	struct hi_bio_life life;
	uint32_t number;

	see_object(bio, 0x1000, 10, 0);
	end_period(bio, true);
	number = see_object(bio, 0x1000, 10, 77);
	HI_ASSERT_EQ(0, hi_bio_damage(bio).replaced);
	HI_ASSERT(hi_bio_life(bio, number, &life));
	HI_ASSERT_EQ(1, life.from);
	end_period(bio, true);
	number = see_object(bio, 0x1000, 10, 78);
	HI_ASSERT_EQ(1, hi_bio_damage(bio).replaced);
	HI_ASSERT(hi_bio_life(bio, number, &life));
	HI_ASSERT_EQ(3, life.from);
	number = see_object(bio, 0x1000, 11, 78);
	HI_ASSERT_EQ(2, hi_bio_damage(bio).replaced);
	end_period(bio, true);
	HI_ASSERT_EQ(10, live_at(bio, 2));
	HI_ASSERT_EQ(11, live_at(bio, 3));
	HI_ASSERT_EQ(10, hi_bio_census(bio, 3)->unseen.bytes);
}

HI_TEST(biography_damage, nothing_is_taken_after_the_end_or_out_of_range)
{
	HI_GUARD(hi_bio_destroy) struct hi_bio *bio = new_bio(true);
	struct hi_bio_object object = {.address = UINT64_MAX, .size = 1};
	struct hi_error err;

	HI_ASSERT_STATUS(HI_BAD_DATA, hi_bio_born(bio, &object, NULL, &err));
	HI_ASSERT_EQ(1, hi_bio_damage(bio).bad_address);
	object = (struct hi_bio_object){.address = 1, .size = 1, .group = HI_BIO_GROUPS};
	HI_ASSERT_STATUS(HI_LIMIT, hi_bio_born(bio, &object, NULL, &err));
	object.group = 0;
	HI_ASSERT_OK(hi_bio_finish(bio, HI_BIO_AT_CENSUS, &err), &err);
	HI_ASSERT_STATUS(HI_USAGE, hi_bio_born(bio, &object, NULL, &err));
	HI_ASSERT_STATUS(HI_USAGE, hi_bio_see(bio, &object, NULL, &err));
	HI_ASSERT_STATUS(HI_USAGE, hi_bio_died(bio, 1, HI_BIO_FREED, &err));
	HI_ASSERT_STATUS(HI_USAGE, hi_bio_end_period(bio, false, &err));
	hi_bio_used(bio, 0, HI_BIO_WATCH);
	HI_ASSERT_EQ(5, hi_bio_damage(bio).after_end);
}

/* Any call may fail for memory; what is there then is still sound. */
HI_TEST(biography_damage, without_memory_nothing_is_lost)
{
	for (uint64_t nth = 1; nth < 60; nth++) {
		HI_GUARD(hi_bio_destroy) struct hi_bio *bio = new_bio(true);
		struct hi_error err;
		unsigned failed = 0;

		hi_alloc_fail_at(nth);
		for (unsigned i = 0; i < 3000; i++) {
			const struct hi_bio_object object = {.address =
								     0x1000 + 16ull * i,
							     .size = 16,
							     .group = i % 50};

			failed += hi_bio_born(bio, &object, NULL, &err) != HI_OK;
			if (i % 3 == 0)
				failed += hi_bio_died(bio, 0x1000 + 8ull * i,
						      HI_BIO_FREED, &err) != HI_OK;
			if (i % 100 == 99)
				failed += hi_bio_end_period(bio, false, &err) != HI_OK;
		}
		hi_alloc_fail_at(0);
		HI_ASSERT_MSG(failed, "allocation %llu never came",
			      (unsigned long long)nth);
		end_period(bio, false);
		HI_ASSERT_EQ(hi_bio_census(bio, hi_bio_censuses(bio))->live.bytes,
			     16 * hi_bio_living(bio));
		HI_ASSERT_OK(hi_bio_finish(bio, HI_BIO_AT_CENSUS, &err), &err);
		check_sound(bio, HI_BIO_AT_CENSUS);
	}
}

/* Births and deaths at chance addresses, many of them wrong: sound, and the counters
 * add up. */
HI_TEST(biography_damage, chance_is_counted_and_sound)
{
	for (uint64_t seed = 0; seed < 200; seed++) {
		HI_GUARD(hi_bio_destroy) struct hi_bio *bio = new_bio(seed % 2);
		uint64_t random = seed, alive = 0, wrong_deaths = 0, wrong_births = 0;
		const unsigned periods = 3 + random_below(&random, 30);

		for (unsigned i = 0; i < 40 * periods; i++) {
			const unsigned slot = random_below(&random, 40);
			const uint64_t bit = 1ull << slot;
			uint32_t number = hi_bio_find(bio, 0x1000 + slot);

			HI_ASSERT_EQ(!!(alive & bit), number != HI_BIO_NONE);
			HI_ASSERT_EQ(number, hi_bio_find_near(bio, 0x1000 + slot,
							      random_below(&random, 50)));
			HI_ASSERT_EQ(number,
				     hi_bio_find_near(bio, 0x1000 + slot, HI_BIO_NONE));
			switch (random_below(&random, 4)) {
			case 0:
				wrong_births += !!(alive & bit);
				give_birth(bio, 0x1000 + slot, 1 + slot);
				alive |= bit;
				break;
			case 1:
				wrong_deaths += !(alive & bit);
				let_die(bio, 0x1000 + slot, HI_BIO_FREED);
				alive &= ~bit;
				break;
			case 2:
				hi_bio_used(bio, number, HI_BIO_CONTENT);
				break;
			default:
				hi_bio_unused(bio, number, HI_BIO_PAGE);
			}
			if (i % 40 == 39)
				end_period(bio, false);
		}
		HI_ASSERT_EQ(wrong_births, hi_bio_damage(bio).born_on_live);
		HI_ASSERT_EQ(wrong_deaths, hi_bio_damage(bio).died_unknown);
		HI_ASSERT_EQ(__builtin_popcountll(alive), hi_bio_living(bio));
	}
}
