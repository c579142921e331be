/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/table.h"

#include "base/alloc.h"
#include "tests/harness.h"

static void free_table(void *arg)
{
	hi_alloc_fail_at(0);
	hi_table_free(arg);
}

HI_TEST(table, an_empty_table_has_no_keys)
{
	struct hi_table table = {};
	uint64_t value = 7;

	HI_ASSERT(!hi_table_get(&table, 0, &value));
	HI_ASSERT_EQ(7, value);
}

HI_TEST(table, keeps_every_key_through_growth_and_replaces_values)
{
	static struct hi_table table;
	uint64_t value;

	hi_test_defer(free_table, &table);
	for (uint64_t i = 0; i < 20000; i++)
		HI_ASSERT(hi_table_put(&table, i << 12, i));
	for (uint64_t i = 0; i < 20000; i += 2)
		HI_ASSERT(hi_table_put(&table, i << 12, ~i));
	HI_ASSERT_EQ(20000, table.count);
	for (uint64_t i = 0; i < 20000; i++) {
		HI_ASSERT(hi_table_get(&table, i << 12, &value));
		HI_ASSERT_EQ(i % 2 ? i : ~i, value);
		HI_ASSERT(!hi_table_get(&table, (i << 12) + 1, &value));
	}
	HI_ASSERT(!hi_table_get(&table, UINT64_MAX, &value));
}

HI_TEST(table, out_of_memory_leaves_it_as_it_was)
{
	static struct hi_table table;
	uint64_t value, n = 0;

	hi_test_defer(free_table, &table);
	HI_ASSERT(hi_table_put(&table, 0, 100));
	hi_alloc_fail_at(1);
	while (hi_table_put(&table, n + 1, n + 101))
		n++;
	hi_alloc_fail_at(0);
	HI_ASSERT(n > 0 && n < 64);
	for (uint64_t i = 0; i <= n; i++)
		HI_ASSERT(hi_table_get(&table, i, &value) && value == i + 100);
	HI_ASSERT(!hi_table_get(&table, n + 1, &value));
}
