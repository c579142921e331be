/* SPDX-License-Identifier: BSD-2-Clause */
/* The worked examples of the space profile, drawn, with the figures of the specification.
 */
#include "base/alloc.h"
#include "census/events/glibc_cost.h"
#include "census/space/space.h"
#include "tests/census/space_lives.h"

/* Contexts, sites and functions are the same. */
enum { NONE, PARSE, CACHE };
enum { UNKNOWN, NODE, BUF, ENTRY };

static struct space_life blocks(uint32_t function, uint32_t type, unsigned number,
				uint64_t requested, unsigned born, unsigned dies)
{
	static uint64_t address;
	uint64_t cost = hi_glibc_cost(requested);
	struct hi_space_amount amount = {number, number * cost,
					 number * (cost - requested)};

	return (struct space_life){.address = address += 0x1000,
				   .context = function,
				   .type = type,
				   .born = born,
				   .dies = dies,
				   .amount = amount,
				   .assumed_overhead = amount.overhead};
}

/* M2; the life of the two bufs is the caller's. */
static struct space_lives m2_lives(unsigned buf_born, unsigned buf_dies)
{
	return (struct space_lives){
		.of = {blocks(PARSE, NODE, 10, 24, 1, 2),
		       blocks(PARSE, NODE, 3, 24, 1, 0),
		       blocks(PARSE, BUF, 2, 100, buf_born, buf_dies),
		       blocks(CACHE, ENTRY, 5, 40, 1, 0)},
		.n = 4,
		.censuses = 4,
		.site = {NONE, PARSE, CACHE},
		.function = {NONE, PARSE, CACHE},
	};
}

static struct hi_space_amount sum_function(const struct hi_space_result *r,
					   uint32_t function, unsigned age)
{
	struct hi_space_amount sum = {}, one;

	for (size_t i = 0; i < r->n_rows; i++)
		if (r->rows[i].function == function) {
			one = hi_space_at_age(&r->rows[i], age);
			hi_space_add(&sum, &one);
		}
	return sum;
}

static uint64_t survived_of(const struct hi_space_result *r, uint32_t function)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->n_rows; i++)
		if (r->rows[i].function == function)
			sum += hi_space_survived(&r->rows[i]).size;
	return sum;
}

static uint64_t live_of(const struct hi_space_result *r, uint32_t function)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->n_rows; i++)
		if (r->rows[i].function == function)
			sum += hi_space_live(&r->rows[i]).size;
	return sum;
}

static void check_amount(struct hi_space_amount expected, struct hi_space_amount actual)
{
	HI_ASSERT_EQ(expected.number, actual.number);
	HI_ASSERT_EQ(expected.size, actual.size);
	HI_ASSERT_EQ(expected.overhead, actual.overhead);
}

static void check_m2(const struct space_lives *l)
{
	static const uint64_t parse[] = {640, 640, 320, 96, 96};
	HI_GUARD(hi_space_destroy) struct hi_space *space = play_space_lives(l);
	struct hi_space_sites sites = sites_of_lives(l);
	struct hi_space_result r;
	struct hi_error err;

	HI_ASSERT_OK(hi_space_result(space, &sites, &r, &err), &err);
	HI_ASSERT_EQ(3, r.n_rows);
	check_amount((struct hi_space_amount){15, 640, 128}, sum_function(&r, PARSE, 0));
	for (unsigned age = 0; age <= 4; age++) {
		HI_ASSERT_EQ(parse[age], sum_function(&r, PARSE, age).size);
		HI_ASSERT_EQ(240, sum_function(&r, CACHE, age).size);
	}
	HI_ASSERT_EQ(1152, survived_of(&r, PARSE));
	HI_ASSERT_EQ(960, survived_of(&r, CACHE));
	check_amount((struct hi_space_amount){3, 96, 24},
		     hi_space_at_age(find_space_row(&r, PARSE, NODE), 2));
	check_amount((struct hi_space_amount){2, 224, 24},
		     hi_space_at_age(find_space_row(&r, PARSE, BUF), 2));
	/* Live at census 4. */
	HI_ASSERT_EQ(96, live_of(&r, PARSE));
	HI_ASSERT_EQ(240, live_of(&r, CACHE));
	HI_ASSERT_EQ(96, hi_space_live_at_age(find_space_row(&r, PARSE, NODE), 4).size);
	hi_space_result_free(&r);
}

/* The figures are those of bufs that two censuses have seen: either of these. */
HI_TEST(space_drawn, m2_has_the_figures_of_the_specification)
{
	struct space_lives born_later = m2_lives(2, 4), dies_earlier = m2_lives(1, 3);

	check_m2(&born_later);
	check_m2(&dies_earlier);
}

/* As the specification has it in words: three censuses see the bufs. */
HI_TEST(space_drawn, bufs_that_three_censuses_have_seen_survive_three_times)
{
	struct space_lives l = m2_lives(1, 4);
	HI_GUARD(hi_space_destroy) struct hi_space *space = play_space_lives(&l);
	struct hi_space_sites sites = sites_of_lives(&l);
	struct hi_space_result r;
	struct hi_error err;

	HI_ASSERT_OK(hi_space_result(space, &sites, &r, &err), &err);
	HI_ASSERT_EQ(1152 + 224, survived_of(&r, PARSE));
	HI_ASSERT_EQ(96 + 224, sum_function(&r, PARSE, 3).size);
	hi_space_result_free(&r);
}

HI_TEST(space_drawn, live_is_what_was_live_and_is_born_without_what_died)
{
	static const struct {
		uint64_t born, died, live;
	} expected[] = {{656, 0, 656}, {224, 320, 560}, {0, 0, 560}, {0, 224, 336}};
	struct space_lives l = m2_lives(2, 4);
	HI_GUARD(hi_space_destroy) struct hi_space *space = play_space_lives(&l);
	const struct hi_space_period *history = hi_space_history(space);

	for (unsigned t = 0; t < 4; t++) {
		HI_ASSERT_EQ(expected[t].born, history[t].born.size);
		HI_ASSERT_EQ(expected[t].died, history[t].died.size);
		HI_ASSERT_EQ(expected[t].live, history[t].live.size);
	}
}

/* The type of an object that no census sees is unknown, whatever survives of its site. */
HI_TEST(space_drawn, the_short_lived_have_no_type)
{
	struct space_lives l = {
		.of = {blocks(1, NODE, 3, 24, 1, 0), blocks(1, NODE, 7, 24, 2, 2),
		       blocks(2, NODE, 1, 24, 1, 0), blocks(2, BUF, 1, 24, 1, 0),
		       blocks(2, NODE, 5, 24, 2, 2), blocks(3, BUF, 4, 24, 2, 2)},
		.n = 6,
		.censuses = 2,
		.site = {0, 1, 2, 3},
		.function = {0, 1, 2, 3},
	};
	HI_GUARD(hi_space_destroy) struct hi_space *space = play_space_lives(&l);
	struct hi_space_sites sites = sites_of_lives(&l);
	struct hi_space_result r;
	struct hi_error err;

	HI_ASSERT_OK(hi_space_result(space, &sites, &r, &err), &err);
	HI_ASSERT_EQ(3, hi_space_at_age(find_space_row(&r, 1, NODE), 0).number);
	HI_ASSERT_EQ(7, hi_space_at_age(find_space_row(&r, 1, UNKNOWN), 0).number);
	HI_ASSERT_EQ(1, hi_space_at_age(find_space_row(&r, 2, NODE), 0).number);
	HI_ASSERT_EQ(5, hi_space_at_age(find_space_row(&r, 2, UNKNOWN), 0).number);
	HI_ASSERT_EQ(4, hi_space_at_age(find_space_row(&r, 3, UNKNOWN), 0).number);
	hi_space_result_free(&r);
}

/* M1: rows of the seed, as sums over its types. */
HI_TEST(space_drawn, m1_totals_are_sums_over_types_and_ages)
{
	/* records, pairs, closures of age 0; then what was copied, by age. */
	static const struct hi_space_amount born[] = {
		{40085, 747144, 213232}, {52892, 423136, 0}, {416, 6656, 1664}};
	static const uint64_t copied[] = {211160, 21440, 2528, 240};
	struct hi_space_amount sum = {};
	struct space_lives l = {.censuses = 4, .site = {0, 1}, .function = {0, 1}};
	struct hi_space_result r;
	struct hi_error err;

	for (unsigned i = 0; i < 3; i++)
		hi_space_add(&sum, &born[i]);
	check_amount((struct hi_space_amount){93393, 1176936, 214896}, sum);
	/* Lives that end so that each age has what the seed has. */
	for (unsigned age = 1; age <= 4; age++) {
		struct hi_space_amount one = {
			1, copied[age - 1] - (age < 4 ? copied[age] : 0), 0};

		l.of[l.n++] = (struct space_life){.address = age,
						  .context = 1,
						  .type = 1,
						  .born = 1,
						  .dies = age < 4 ? age + 1 : 0,
						  .amount = one};
	}
	HI_GUARD(hi_space_destroy) struct hi_space *space = play_space_lives(&l);
	struct hi_space_sites sites = sites_of_lives(&l);

	HI_ASSERT_OK(hi_space_result(space, &sites, &r, &err), &err);
	for (unsigned age = 1; age <= 4; age++)
		HI_ASSERT_EQ(copied[age - 1], sum_function(&r, 1, age).size);
	HI_ASSERT_EQ(235368, survived_of(&r, 1));
	hi_space_result_free(&r);
}

HI_TEST(space_drawn, blocks_of_glibc_cost_a_word_and_whole_sixteens)
{
	static const uint64_t costs[][2] = {{0, 32},  {1, 32},	  {24, 32},   {25, 48},
					    {40, 48}, {100, 112}, {104, 112}, {105, 128}};

	for (unsigned i = 0; i < sizeof(costs) / sizeof(*costs); i++)
		HI_ASSERT_EQ(costs[i][1], hi_glibc_cost(costs[i][0]));
}

/* Plays a life and adds it up, with the nth allocation of memory failing. */
static enum hi_status play_without_memory(uint64_t nth)
{
	const struct space_life life = blocks(PARSE, NODE, 1, 24, 1, 0);
	struct hi_space_object o = {.address = 1,
				    .context = PARSE,
				    .type = NODE,
				    .born = 1,
				    .amount = life.amount,
				    .assumed_overhead = life.assumed_overhead};
	uint32_t same[] = {NONE, PARSE};
	struct hi_space_sites sites = {same, 2, same, 2, NULL};
	HI_GUARD(hi_space_destroy) struct hi_space *space = NULL;
	struct hi_space_result r = {};
	struct hi_error err;
	enum hi_status status;

	hi_alloc_fail_once(nth);
	status = hi_space_create(&space, &err);
	if (status == HI_OK)
		status = hi_space_allocated(space, PARSE, &life.amount, &err);
	if (status == HI_OK)
		status = hi_space_see(space, &o, &err);
	for (unsigned t = 0; status == HI_OK && t < 2; t++)
		status = hi_space_end_period(space, &err);
	if (status == HI_OK)
		status = hi_space_result(space, &sites, &r, &err);
	hi_alloc_fail_at(0);
	HI_ASSERT(status == HI_NO_MEMORY || r.n_rows == 1);
	hi_space_result_free(&r);
	return status;
}

HI_TEST(space_drawn, without_memory_there_is_an_error)
{
	uint64_t nth = 1;

	while (play_without_memory(nth) != HI_OK)
		HI_ASSERT(nth++ < 100);
	HI_ASSERT(nth > 5);
}
