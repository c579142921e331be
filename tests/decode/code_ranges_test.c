/* SPDX-License-Identifier: BSD-2-Clause */
/* The innermost range, against a look at all of them. */
#include "base/alloc.h"
#include "decode/modules/code_ranges.h"
#include "tests/harness.h"
#include "tests/support/random.h"

enum { RANGES = 40, SPACE = 100, ROUNDS = 500 };

/* Of those that hold addr: begins last, then ends first, then has the highest id. */
static uint64_t innermost(const struct hi_code_range *ranges, size_t n, uint64_t addr)
{
	const struct hi_code_range *best = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct hi_code_range *r = &ranges[i];

		if (addr < r->start || addr >= r->end)
			continue;
		if (!best || r->start > best->start ||
		    (r->start == best->start &&
		     (r->end < best->end || (r->end == best->end && r->id > best->id))))
			best = r;
	}
	return best ? best->id : HI_CODE_NOTHING;
}

static void check_random_ranges(uint64_t *seed)
{
	struct hi_code_range given[RANGES];
	struct hi_code_ranges ranges = {};
	size_t n = next_random(seed) % RANGES;

	for (size_t i = 0; i < n; i++) {
		uint64_t start = next_random(seed) % SPACE;

		given[i] = (struct hi_code_range){
			start, start + next_random(seed) % (SPACE / 2), i};
		HI_ASSERT(hi_code_ranges_add(&ranges, given[i].start, given[i].end, i));
	}
	HI_ASSERT(hi_code_ranges_seal(&ranges));
	for (uint64_t addr = 0; addr < 2 * SPACE; addr++)
		HI_ASSERT_EQ(innermost(given, n, addr),
			     hi_code_ranges_find(&ranges, addr));
	hi_code_ranges_free(&ranges);
}

HI_TEST(code_ranges, the_innermost_one_is_found_nested_or_not)
{
	uint64_t seed = 7;

	for (int i = 0; i < ROUNDS; i++)
		check_random_ranges(&seed);
}

HI_TEST(code_ranges, ends_of_the_address_space_are_in_order)
{
	struct hi_code_ranges ranges = {};

	HI_ASSERT_EQ(HI_CODE_NOTHING, hi_code_ranges_find(&ranges, 0));
	HI_ASSERT(hi_code_ranges_add(&ranges, 0, UINT64_MAX, 1));
	HI_ASSERT(hi_code_ranges_add(&ranges, 5, 5, 2));
	HI_ASSERT(hi_code_ranges_add(&ranges, 9, 5, 3));
	HI_ASSERT(hi_code_ranges_add(&ranges, UINT64_MAX - 1, UINT64_MAX, 4));
	HI_ASSERT(hi_code_ranges_seal(&ranges));
	HI_ASSERT_EQ(1, hi_code_ranges_find(&ranges, 0));
	HI_ASSERT_EQ(1, hi_code_ranges_find(&ranges, 5));
	HI_ASSERT_EQ(4, hi_code_ranges_find(&ranges, UINT64_MAX - 1));
	HI_ASSERT_EQ(HI_CODE_NOTHING, hi_code_ranges_find(&ranges, UINT64_MAX));
	hi_code_ranges_free(&ranges);
}
