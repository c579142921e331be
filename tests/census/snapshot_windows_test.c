/* SPDX-License-Identifier: BSD-2-Clause */
/* Estimates by windows in a snapshot: read as they were written, or refused. */
#include <math.h>

#include "census/snapshot/snapshot_format.h"
#include "census/snapshot/snapshot_sections.h"
#include "census/snapshot/snapshot_windows.h"
#include "tests/census/snapshots.h"

static const struct hi_window_row written[] = {
	{.site = {.module = "", .function = "", .file = ""},
	 .figures = {.rate = {{1, 0.5, 2}, {24, 12, 48}, 3}}},
	{.has_site = true,
	 .site = {"/bin/app", "parse", "a.c", 0x1234, 17, HI_FRAME_INLINED},
	 .figures = {.rate = {{100.25, 90, INFINITY}, {1e12, 1e11, INFINITY}, 1 << 20},
		     .seen_live = 7,
		     .seen_lost = UINT64_MAX,
		     .unseen_frees = 2,
		     .live_bytes = {0, 0, 4096},
		     .lost = {3, 3, 3},
		     .lost_bytes = {300, 0, INFINITY}}},
};
static const struct hi_window_result all = {
	.rows = written,
	.n_rows = 2,
	.totals = {4, 5, 6, 7, 8, 9},
	.load = {.cpu_ns = 10,
		 .cpu_of_ns = 11,
		 .gap_cpu_ns = 12,
		 .gap_ns = 13,
		 .hits = 14,
		 .trap_ns = 15,
		 .program_ns = 16,
		 .covered_ns = 17,
		 .n = 26,
		 .cpu_squares_ns = 27},
	.late_hits = 18,
	.duration_ns = 19,
	.blind_ns = 31,
	.choice = {HI_WINDOWS_BECAME_DEAR, 32, 33},
	.events = 20,
	.lost_events = 21,
	.allocator = "libc.so.6",
	.objects = 22,
	.bytes = 23,
	.lost = 24,
	.lost_bytes = 25,
};

/* result: NULL: rows of the section as they are. */
static struct hi_snapshot *store_windows(const struct hi_window_result *result,
					 const struct hi_snapshot_window_site *rows,
					 size_t n)
{
	struct hi_snapshot_options options = {.compress = true};
	struct hi_snapshot_writer *w = NULL;
	struct hi_snapshot *s = NULL;
	struct hi_error err;
	const char *path;
	int fd = memory_file(&path);

	hi_test_defer(close_file, (void *)(intptr_t)fd);
	HI_ASSERT_EQ(HI_OK, hi_snapshot_create(fd, &options, &w, &err));
	if (result)
		HI_ASSERT_EQ(HI_OK, hi_snapshot_put_windows(w, result, &err));
	else if (rows)
		HI_ASSERT_EQ(HI_OK,
			     hi_snapshot_put_section(w, "windows.sites", rows, n, &err));
	HI_ASSERT_EQ(HI_OK, hi_snapshot_finish(w, &err));
	hi_snapshot_writer_destroy(w);
	HI_ASSERT_EQ(HI_OK, hi_snapshot_open(path, &s, &err));
	return s;
}

static void check_estimate(struct hi_bounded want, struct hi_bounded got)
{
	HI_ASSERT(!(want.value < got.value) && !(want.value > got.value));
	HI_ASSERT(!(want.low < got.low) && !(want.low > got.low));
	HI_ASSERT(!(want.high < got.high) && !(want.high > got.high));
}

static void check_window_row(const struct hi_window_row *want,
			     const struct hi_window_row *got)
{
	const struct hi_window_site *x = &want->figures, *y = &got->figures;

	HI_ASSERT_EQ(want->has_site, got->has_site);
	HI_ASSERT_STREQ(want->site.module, got->site.module);
	HI_ASSERT_STREQ(want->site.function, got->site.function);
	HI_ASSERT_STREQ(want->site.file, got->site.file);
	HI_ASSERT_EQ(want->site.line, got->site.line);
	HI_ASSERT_EQ(want->site.offset, got->site.offset);
	HI_ASSERT_EQ(want->site.flags, got->site.flags);
	HI_ASSERT_EQ(x->rate.seen, y->rate.seen);
	HI_ASSERT_EQ(x->seen_live, y->seen_live);
	HI_ASSERT_EQ(x->seen_lost, y->seen_lost);
	HI_ASSERT_EQ(x->unseen_frees, y->unseen_frees);
	check_estimate(x->rate.allocs, y->rate.allocs);
	check_estimate(x->rate.bytes, y->rate.bytes);
	check_estimate(x->live_bytes, y->live_bytes);
	check_estimate(x->lost, y->lost);
	check_estimate(x->lost_bytes, y->lost_bytes);
}

HI_TEST(snapshot_windows, are_read_as_they_were_written)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = store_windows(&all, NULL, 0);
	struct hi_window_row *rows = NULL;
	struct hi_window_result got;
	struct hi_error err;

	HI_ASSERT(hi_snapshot_has_windows(s));
	HI_ASSERT_OK(hi_snapshot_windows(s, &rows, &got, &err), &err);
	hi_test_defer(free, rows);
	HI_ASSERT_EQ(2, got.n_rows);
	for (size_t i = 0; i < 2; i++)
		check_window_row(&written[i], &got.rows[i]);
	HI_ASSERT_EQ(0, memcmp(&all.totals, &got.totals, sizeof(got.totals)));
	HI_ASSERT_EQ(0, memcmp(&all.load, &got.load, sizeof(got.load)));
	HI_ASSERT_EQ(18, got.late_hits);
	HI_ASSERT_EQ(19, got.duration_ns);
	HI_ASSERT_EQ(31, got.blind_ns);
	HI_ASSERT_EQ(0, memcmp(&all.choice, &got.choice, sizeof(got.choice)));
	HI_ASSERT_EQ(20, got.events);
	HI_ASSERT_EQ(21, got.lost_events);
	HI_ASSERT_STREQ("libc.so.6", got.allocator);
	HI_ASSERT_EQ(22, got.objects);
	HI_ASSERT_EQ(23, got.bytes);
	HI_ASSERT_EQ(24, got.lost);
	HI_ASSERT_EQ(25, got.lost_bytes);
}

HI_TEST(snapshot_windows, a_file_may_have_none)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = store_windows(NULL, NULL, 0);
	struct hi_window_row *rows = NULL;
	struct hi_window_result got;
	struct hi_error err;

	HI_ASSERT(!hi_snapshot_has_windows(s));
	HI_ASSERT_EQ(HI_NOT_FOUND, hi_snapshot_windows(s, &rows, &got, &err));
}

static void expect_refused_row(const struct hi_snapshot_window_site *row)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = store_windows(NULL, row, 1);
	struct hi_window_row *rows = NULL;
	struct hi_window_result got;
	struct hi_error err;

	HI_ASSERT_EQ(HI_BAD_DATA, hi_snapshot_windows(s, &rows, &got, &err));
	HI_ASSERT_MSG(strstr(err.text, "windows.sites"), "%s", err.text);
}

HI_TEST(snapshot_windows, what_is_no_estimate_is_refused)
{
	struct hi_snapshot_window_site row = {};

	row.leaked[1] = 1; /* above its value */
	expect_refused_row(&row);
	row = (struct hi_snapshot_window_site){.live_bytes = {2, 1, 1}};
	expect_refused_row(&row);
	for (int i = 0; i < 3; i++) {
		row = (struct hi_snapshot_window_site){};
		row.bytes[i] = NAN;
		expect_refused_row(&row);
		row.bytes[i] = INFINITY;
		expect_refused_row(&row);
		row.bytes[i] = -1;
		expect_refused_row(&row);
	}
	row = (struct hi_snapshot_window_site){.open = 32};
	expect_refused_row(&row);
	row = (struct hi_snapshot_window_site){.has_site = 2};
	expect_refused_row(&row);
}
