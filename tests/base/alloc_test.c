/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/parallel.h"
#include "base/vector.h"
#include "tests/harness.h"

HI_TEST(alloc, the_nth_allocation_and_all_after_it_fail)
{
	void *first, *second;

	hi_alloc_fail_at(2);
	first = hi_alloc(1);
	second = hi_alloc(1);
	hi_alloc_fail_at(0);
	HI_ASSERT(first && !second);
	free(first);
}

HI_TEST(alloc, one_failure_alone_is_counted)
{
	uint64_t before = hi_alloc_failures();
	void *first, *second, *third;

	hi_alloc_fail_once(2);
	first = hi_alloc(1);
	second = hi_pages_alloc(1);
	third = hi_alloc(1);
	hi_alloc_fail_at(0);
	HI_ASSERT(first && !second && third);
	HI_ASSERT_EQ(1, hi_alloc_failures() - before);
	free(first);
	free(third);
}

HI_TEST(alloc, a_product_that_wraps_is_refused)
{
	HI_ASSERT(!hi_realloc_array(NULL, SIZE_MAX / 2, 3));
}

HI_TEST(vector, keeps_its_elements_when_growing_fails)
{
	struct HI_VECTOR(int) v = {};

	for (int i = 0; i < 16; i++)
		HI_ASSERT(hi_vector_push(&v, i));
	hi_alloc_fail_at(1);
	HI_ASSERT(!hi_vector_push(&v, 16));
	hi_alloc_fail_at(0);
	HI_ASSERT_EQ(16, v.count);
	HI_ASSERT_EQ(15, v.items[15]);
	HI_ASSERT(hi_vector_push(&v, 16));
	hi_vector_free(&v);
}

HI_TEST(arena, strings_larger_than_a_chunk_fit)
{
	struct hi_arena arena = {};
	char *big = hi_arena_alloc(&arena, 1 << 20);
	char *text = hi_arena_printf(&arena, "%d-%s", 7, "x");

	HI_ASSERT(big && text);
	HI_ASSERT_STREQ("7-x", text);
	hi_arena_free(&arena);
}

static void count_task(void *arg, size_t task, unsigned worker)
{
	_Atomic uint64_t *sum = arg;

	(void)worker;
	atomic_fetch_add(sum, task);
}

HI_TEST(parallel, every_task_runs_exactly_once)
{
	_Atomic uint64_t sum = 0;

	hi_parallel(4, 1000, count_task, &sum);
	HI_ASSERT_EQ(1000 * 999 / 2, sum);
}
