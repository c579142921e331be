/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages that are left out of a frozen memory after its seal (attach/frozen_memory.h),
 * against one that was sealed without them. */
#include <stdlib.h>
#include <string.h>

#include "attach/frozen_memory.h"
#include "base/alloc.h"
#include "tests/harness.h"

#define PAGE 4096u
#define PAGES 200u
#define START 0x10000000ull

/* A span of PAGES pages, all present, of which some are held. */
static struct hi_frozen *make_frozen(const bool *held)
{
	struct hi_pages *pages = hi_alloc(PAGES * sizeof(*pages));
	unsigned char *host = hi_pages_alloc(PAGES * PAGE);
	struct hi_frozen *frozen = NULL;
	struct hi_error err;

	HI_ASSERT(pages && host);
	for (uint64_t i = 0; i < PAGES; i++) {
		memset(host + i * PAGE, (int)i, PAGE);
		pages[i] = (struct hi_pages){START + i * PAGE, START + (i + 1) * PAGE,
					     HI_PAGES_PRESENT |
						     (held[i] ? HI_PAGES_HELD : 0)};
	}
	HI_ASSERT_OK(hi_frozen_create("test", &frozen, &err), &err);
	hi_test_defer(hi_memory_destroy, hi_frozen_memory(frozen));
	HI_ASSERT_OK(hi_frozen_own(frozen, host, PAGES * PAGE, &err), &err);
	HI_ASSERT_OK(hi_frozen_add_span(frozen, START, START + PAGES * PAGE, host, &err),
		     &err);
	HI_ASSERT_OK(hi_frozen_seal(frozen, pages, PAGES, &err), &err);
	return frozen;
}

static void expect_same(struct hi_frozen *a, struct hi_frozen *b)
{
	for (uint64_t at = START; at < START + PAGES * PAGE; at += PAGE / 2) {
		uint64_t starts[2] = {}, ends[2] = {};
		size_t avail[2] = {};
		bool more;

		HI_ASSERT_EQ(hi_memory_view(hi_frozen_memory(a), at, &avail[0]) != NULL,
			     hi_memory_view(hi_frozen_memory(b), at, &avail[1]) != NULL);
		HI_ASSERT_EQ(avail[0], avail[1]);
		HI_ASSERT_EQ(hi_frozen_resident(a, START, at),
			     hi_frozen_resident(b, START, at));
		more = hi_frozen_next_held(a, at, UINT64_MAX, &starts[0], &ends[0]);
		HI_ASSERT_EQ(more, hi_frozen_next_held(b, at, UINT64_MAX, &starts[1],
						       &ends[1]));
		HI_ASSERT_EQ(starts[0], starts[1]);
		HI_ASSERT_EQ(ends[0], ends[1]);
	}
}

/* With holes from the beginning, or none. */
static void leave_out_some(bool full, unsigned seed)
{
	bool held[PAGES], rest[PAGES];
	struct hi_frozen *frozen;
	struct hi_error err;

	srand(seed);
	for (size_t i = 0; i < PAGES; i++)
		held[i] = rest[i] = full || rand() % 5;
	frozen = make_frozen(held);
	for (int i = 0; i < 12; i++) {
		uint64_t first = (uint64_t)rand() % PAGES, n = 1 + (uint64_t)rand() % 9;
		uint64_t end = first + n < PAGES ? first + n : PAGES;

		HI_ASSERT_OK(hi_frozen_leave_out(frozen, START + first * PAGE,
						 START + end * PAGE, &err),
			     &err);
		memset(rest + first, 0, end - first);
		expect_same(make_frozen(rest), frozen);
	}
}

HI_TEST(frozen, pages_left_out_later_read_as_never_held)
{
	for (unsigned seed = 1; seed < 20; seed++)
		leave_out_some(seed % 2, seed);
}
