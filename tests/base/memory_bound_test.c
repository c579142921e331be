/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/memory_bound.h"
#include "base/parallel.h"
#include "base/process_bound.h"
#include "tests/harness.h"

enum { MIB = 1 << 20 };

static void remove_bound(void *arg)
{
	(void)arg;
	hi_unpacked_set_bound(UINT64_MAX, false);
	hi_process_note_bound(0);
}

static enum hi_status take(struct hi_unpacked *file, uint64_t bytes, struct hi_error *err)
{
	return hi_unpacked_take(file, bytes, "a.file", "its part", err);
}

HI_TEST(memory_bound, a_file_unpacks_to_what_is_free_and_to_so_many_times_its_size)
{
	struct hi_unpacked file = {.file_size = MIB};
	uint64_t most = HI_UNPACKED_FREE + HI_UNPACKED_TIMES * UINT64_C(1) * MIB;
	struct hi_error err;

	HI_ASSERT_OK(take(&file, most - 1, &err), &err);
	HI_ASSERT_EQ(HI_LIMIT, take(&file, 2, &err));
	HI_ASSERT_OK(take(&file, 1, &err), &err);
	HI_ASSERT_EQ(HI_LIMIT, take(&file, 1, &err));
	hi_unpacked_release(&file, most);
	HI_ASSERT_EQ(HI_LIMIT, take(&file, UINT64_MAX, &err));
	HI_ASSERT_OK(take(&file, most, &err), &err);
	hi_unpacked_release(&file, most);
}

HI_TEST(memory_bound, all_files_share_one_bound_and_the_message_names_it)
{
	struct hi_unpacked a = {.file_size = MIB}, b = a;
	struct hi_error err;

	hi_test_defer(remove_bound, NULL);
	hi_unpacked_set_bound(10 * MIB, false);
	HI_ASSERT_OK(take(&a, 6 * MIB, &err), &err);
	HI_ASSERT_EQ(HI_LIMIT, take(&b, 5 * MIB, &err));
	HI_ASSERT_STREQ(
		"a.file: its part unpacks to 5.0 MiB, more than 10.0 MiB with all "
		"other files: --max-memory SIZE permits it",
		err.text);
	HI_ASSERT_EQ(0, b.taken);
	hi_unpacked_release(&a, 6 * MIB);
	HI_ASSERT_OK(take(&b, 10 * MIB, &err), &err);
	hi_unpacked_release(&b, 10 * MIB);
}

HI_TEST(memory_bound, one_that_the_user_gives_is_the_only_one)
{
	struct hi_unpacked file = {.file_size = 1};
	struct hi_error err;

	hi_test_defer(remove_bound, NULL);
	hi_unpacked_set_bound(UINT64_C(1) << 40, true);
	HI_ASSERT_OK(hi_unpacked_check(&file, UINT64_C(1) << 40, "", "", &err), &err);
	HI_ASSERT_EQ(HI_LIMIT,
		     hi_unpacked_check(&file, (UINT64_C(1) << 40) + 1, "", "", &err));
	HI_ASSERT_EQ(0, file.taken);
}

/* hi_task_fn */
static void take_some(void *arg, size_t task, unsigned worker)
{
	(void)task;
	(void)worker;
	(void)hi_unpacked_take(arg, 3, "", "", NULL);
}

HI_TEST(memory_bound, threads_never_take_more_together)
{
	struct hi_unpacked file = {.file_size = 1};

	hi_test_defer(remove_bound, NULL);
	hi_unpacked_set_bound(3000 + 2, true);
	hi_parallel(4, 100000, take_some, &file);
	HI_ASSERT_EQ(3000, file.taken);
	hi_unpacked_release(&file, 3000);
}

HI_TEST(memory_bound, a_lack_of_memory_names_the_bound_of_the_process)
{
	struct hi_error err;

	HI_ASSERT_EQ(HI_NO_MEMORY, hi_fail_memory(&err, "table"));
	HI_ASSERT_STREQ("table: out of memory", err.text);
	hi_test_defer(remove_bound, NULL);
	hi_process_note_bound(UINT64_C(64) << 20);
	HI_ASSERT_EQ(HI_NO_MEMORY, hi_fail_memory(&err, "table"));
	HI_ASSERT_STREQ("table: out of memory (at most 64.0 MiB: --max-memory)",
			err.text);
}
