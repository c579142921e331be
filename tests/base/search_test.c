/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdint.h>

#include "base/search.h"
#include "tests/harness.h"

/* The first item that is not below key, by looking at all of them. */
static size_t first_by_hand(const uint64_t *items, size_t n, uint64_t key)
{
	size_t i = 0;

	while (i < n && items[i] < key)
		i++;
	return i;
}

HI_TEST(search, search_equals_a_look_at_all_items)
{
	uint64_t items[32];

	for (size_t n = 0; n <= 32; n++) {
		for (size_t k = 0; k < n; k++)
			items[k] = k / 3 * 10; /* with equal ones */
		for (uint64_t key = 0; key < 120; key++) {
			size_t first = first_by_hand(items, n, key);

			HI_ASSERT_EQ(first, hi_search(i, n, items[i] < key));
			if (n < 2)
				continue;
			HI_ASSERT_EQ(first < 2 ? 2 : first,
				     hi_search_from(i, 2, n, items[i] < key));
		}
	}
}

HI_TEST(search, stays_in_range_where_nothing_is_in_order)
{
	for (uint32_t n = 0; n < 50; n++) {
		uint32_t looks = 0;
		uint32_t found = hi_search(i, n, (looks++, i * 2654435761u >> 31));

		HI_ASSERT(found <= n && looks <= 7);
	}
}

HI_TEST(search, counts_beyond_four_thousand_million)
{
	const uint64_t n = 1ull << 63;

	HI_ASSERT_EQ(n - 7, hi_search(i, n, i < n - 7));
	HI_ASSERT_EQ(n, hi_search(i, n, true));
	HI_ASSERT_EQ((uint64_t)0, hi_search(i, n, false));
}

HI_TEST(search, probes_find_what_was_put_in)
{
	enum { SLOTS = 64, KEYS = 40 };
	uint32_t slots[SLOTS] = {};

	/* Few hashes, so that most keys meet others; the last slots wrap around. */
	for (uint32_t key = 1; key <= KEYS; key++)
		slots[hi_probe(i, SLOTS, key % 5 + 61, !slots[i])] = key;
	for (uint32_t key = 1; key <= 2 * KEYS; key++) {
		uint32_t n =
			hi_probe(i, SLOTS, key % 5 + 61, !slots[i] || slots[i] == key);

		HI_ASSERT_EQ(key <= KEYS ? key : 0, slots[n]);
	}
}
