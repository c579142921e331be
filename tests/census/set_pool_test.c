/* SPDX-License-Identifier: BSD-2-Clause */
/* The pool of sets against plain bitmaps, over identities of all sizes. */
#include <stdlib.h>

#include "base/alloc.h"
#include "census/retainers/set_merge_internal.h"
#include "tests/census/set_spec.h"

enum { UNIVERSE = 3000, SETS = 400 };

/* Identities far apart, in an order that is not that of their first use. */
static uint32_t identity_of(uint32_t i)
{
	return (i * 2654435761u) | 1;
}

struct bitmap {
	uint64_t words[UNIVERSE / 64 + 1];
};

static uint32_t count_of(const struct bitmap *b)
{
	uint32_t count = 0;

	for (size_t i = 0; i < sizeof(b->words) / sizeof(b->words[0]); i++)
		count += (uint32_t)__builtin_popcountll(b->words[i]);
	return count;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void check_members(const struct hi_set_pool *pool, uint32_t set,
			  const struct bitmap *truth)
{
	static uint32_t expected[UNIVERSE], members[UNIVERSE];
	uint32_t n = 0;

	for (uint32_t i = 0; i < UNIVERSE; i++) {
		bool has = truth->words[i / 64] >> i % 64 & 1;

		HI_ASSERT_EQ(has, hi_set_has(pool, set, identity_of(i)));
		if (has)
			expected[n++] = identity_of(i);
	}
	qsort(expected, n, sizeof(*expected), compare);
	HI_ASSERT_EQ(n, hi_set_size(pool, set));
	hi_set_members(pool, set, members);
	HI_ASSERT(memcmp(expected, members, n * sizeof(*members)) == 0);
	HI_ASSERT_EQ(set, hi_set_find(pool, members, n));
}

/* Unions of random pairs of what is there, single members at first. */
HI_TEST(census_set_pool, unions_are_those_of_bitmaps_and_stored_once)
{
	HI_GUARD(hi_set_pool_destroy) struct hi_set_pool *pool = new_pool();
	static struct bitmap truth[SETS];
	uint32_t refs[SETS];

	memset(truth, 0, sizeof(truth));
	*spec_random() = 17;
	for (uint32_t i = 0; i < SETS; i++) {
		uint32_t a = random_below(spec_random(), i + 1),
			 b = random_below(spec_random(), i + 1),
			 first = random_below(spec_random(), UNIVERSE);

		if (i < 150) {
			truth[i].words[first / 64] |= BIT(first % 64);
			refs[i] = hi_set_singleton(pool, identity_of(first));
			continue;
		}
		a = a == i ? 0 : a;
		b = b == i ? 0 : b;
		for (size_t w = 0; w < UNIVERSE / 64 + 1; w++)
			truth[i].words[w] = truth[a].words[w] | truth[b].words[w];
		refs[i] = hi_set_union(pool, refs[a], refs[b], UINT32_MAX);
		HI_ASSERT_EQ(refs[i], hi_set_union(pool, refs[b], refs[a], UINT32_MAX));
		HI_ASSERT_EQ(refs[i], hi_set_union(pool, refs[b], refs[i], UINT32_MAX));
		HI_ASSERT_EQ(count_of(&truth[i]) > 40 ? HI_SET_MANY : refs[i],
			     hi_set_union(pool, refs[a], refs[b], 40));
	}
	/* Equal sets have equal refs, others not. */
	for (uint32_t i = 0; i < SETS; i++)
		for (uint32_t k = 0; k < i; k++)
			HI_ASSERT_EQ(memcmp(&truth[i], &truth[k], sizeof(truth[i])) == 0,
				     refs[i] == refs[k]);
	HI_ASSERT(hi_set_pool_number(pool, refs, SETS));
	for (uint32_t i = 0; i < SETS; i++)
		check_members(pool, hi_set_number(pool, refs[i]), &truth[i]);
}

/* Of small sets and large ones; each merge is one of the next round's sets. */
HI_TEST(census_set_pool, merges_are_those_of_unions_one_after_the_other)
{
	HI_GUARD(hi_set_pool_destroy) struct hi_set_pool *pool = new_pool();
	uint32_t refs[SETS], large = 0;
	struct hi_set_merge merge;

	*spec_random() = 19;
	for (uint32_t i = 0; i < SETS; i++)
		refs[i] = hi_set_singleton(
			pool, identity_of(random_below(spec_random(), UNIVERSE)));
	HI_ASSERT(hi_set_merge_init(&merge, pool));
	for (uint32_t round = 0; round < 3000; round++) {
		uint32_t n = 1 + random_below(spec_random(), round % 8 ? 4 : 40),
			 at = random_below(spec_random(), SETS), max;
		uint32_t all = HI_SET_NONE;

		max = random_below(spec_random(), 4)
			      ? UINT32_MAX
			      : 1 + random_below(spec_random(), 80);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t ref = random_below(spec_random(), 400)
					       ? refs[random_below(spec_random(), SETS)]
					       : HI_SET_MANY;

			if (pool->nodes.items[ref].count > max)
				ref = HI_SET_MANY;
			all = all ? hi_set_union(pool, all, ref, max) : ref;
			HI_ASSERT(hi_set_merge_add(&merge, pool, ref, max));
		}
		HI_ASSERT_EQ(all, hi_set_merge_take(&merge, pool, max));
		large += all != HI_SET_MANY && pool->nodes.items[all].count > 64;
		if (all != HI_SET_MANY && pool->nodes.items[all].count < 300)
			refs[at] = all;
	}
	hi_set_merge_deinit(&merge);
	HI_ASSERT(large > 100);
}

HI_TEST(census_set_pool, trimming_keeps_numbered_sets_and_frees_the_others)
{
	HI_GUARD(hi_set_pool_destroy) struct hi_set_pool *pool = new_pool();
	static struct bitmap truth[40];
	uint32_t number[40];
	size_t most = 0, after = 0;

	memset(truth, 0, sizeof(truth));
	*spec_random() = 18;
	for (uint32_t round = 0; round < 40; round++) {
		uint32_t ref = HI_SET_NONE;

		for (uint32_t i = 0; i < 200; i++) {
			uint32_t member = random_below(spec_random(), UNIVERSE);
			uint32_t one = hi_set_singleton(pool, identity_of(member));

			truth[round].words[member / 64] |= BIT(member % 64);
			ref = ref ? hi_set_union(pool, ref, one, UINT32_MAX) : one;
		}
		most = pool->nodes.count > most ? pool->nodes.count : most;
		HI_ASSERT(hi_set_pool_number(pool, &ref, 1));
		number[round] = hi_set_number(pool, ref);
		HI_ASSERT_EQ(HI_SET_FIRST + round, number[round]);
		HI_ASSERT(hi_set_pool_trim(pool));
		after = pool->nodes.count;
		for (uint32_t k = 0; k <= round; k++)
			check_members(pool, number[k], &truth[k]);
	}
	HI_ASSERT_EQ(HI_SET_FIRST + 40, hi_set_pool_end(pool));
	/* 40 sets of less than 50 leaves. */
	HI_ASSERT(after < 40 * 100);
	HI_ASSERT(most > after);
}

HI_TEST(census_set_pool, no_sets_and_many_have_no_members)
{
	HI_GUARD(hi_set_pool_destroy) struct hi_set_pool *pool = new_pool();

	for (uint32_t set = 0; set < 5; set++) {
		HI_ASSERT_EQ(0, hi_set_size(pool, set));
		HI_ASSERT(!hi_set_has(pool, set, 1));
	}
	HI_ASSERT_EQ(HI_SET_FIRST, hi_set_pool_end(pool));
	HI_ASSERT_EQ(HI_SET_NONE, hi_set_find(pool, (uint32_t[]){1}, 1));
}

static const char *name_of(void *arg, uint32_t identity)
{
	const char *const *names = arg;

	return names[identity];
}

HI_TEST(census_set_pool, labels_join_names_and_fit)
{
	const char *names[] = {"", "hsc", "eps", "fc"};
	uint32_t members[] = {1, 2, 3};
	char out[32];

	HI_ASSERT_EQ(10, hi_set_label(members, 3, "-", name_of, names, out, 32));
	HI_ASSERT_STREQ("hsc-eps-fc", out);
	HI_ASSERT_EQ(3, hi_set_label(members, 1, "-", name_of, names, out, 32));
	HI_ASSERT_STREQ("hsc", out);
	HI_ASSERT_EQ(10, hi_set_label(members, 3, ",", name_of, names, out, 8));
	HI_ASSERT_STREQ("hsc,eps", out);
	HI_ASSERT_EQ(10, hi_set_label(members, 3, ",", name_of, names, out, 1));
	HI_ASSERT_STREQ("", out);
	HI_ASSERT_EQ(0, hi_set_label(members, 0, ",", name_of, names, out, 32));
	HI_ASSERT_STREQ("", out);
}
