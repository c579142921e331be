/* SPDX-License-Identifier: BSD-2-Clause */
/* Live bytes by function in a snapshot: read as they were written, or refused. */
#include "census/snapshot/snapshot_functions.h"
#include "tests/census/snapshots.h"

static const struct hi_live_function written[] = {
	{HI_LIVE_FUNCTION_BEFORE, "", "", "", 3, 300},
	{HI_LIVE_FUNCTION_OTHER, "", "", "", 0, 0},
	{HI_LIVE_FUNCTION_NO_STACK, "", "", "", 1, 7},
	{HI_LIVE_FUNCTION_NAMED, "parse", "a.c", "/bin/app", 2, UINT64_MAX},
	{HI_LIVE_FUNCTION_NAMED, "parse", "b.c", "/lib/b.so", 1ull << 40, 0},
};
enum { ROWS = sizeof(written) / sizeof(*written) };

/* A snapshot of these rows alone. */
static struct hi_snapshot *store_functions(const struct hi_live_function *rows, size_t n)
{
	struct hi_snapshot_options options = {.compress = true};
	struct hi_snapshot_writer *w = NULL;
	struct hi_snapshot *s = NULL;
	struct hi_error err;
	const char *path;
	int fd = memory_file(&path);

	hi_test_defer(close_file, (void *)(intptr_t)fd);
	HI_ASSERT_EQ(HI_OK, hi_snapshot_create(fd, &options, &w, &err));
	if (rows)
		HI_ASSERT_EQ(HI_OK, hi_snapshot_put_functions(w, rows, n, &err));
	HI_ASSERT_EQ(HI_OK, hi_snapshot_finish(w, &err));
	hi_snapshot_writer_destroy(w);
	HI_ASSERT_EQ(HI_OK, hi_snapshot_open(path, &s, &err));
	return s;
}

HI_TEST(snapshot_functions, are_read_as_they_were_written)
{
	HI_GUARD(hi_snapshot_close)
	struct hi_snapshot *s = store_functions(written, ROWS);
	struct hi_live_function *rows = NULL;
	struct hi_error err;
	size_t n = 0;

	HI_ASSERT_EQ(HI_OK, hi_snapshot_functions(s, &rows, &n, &err));
	hi_test_defer(free, rows);
	HI_ASSERT_EQ(ROWS, n);
	for (size_t i = 0; i < n; i++) {
		HI_ASSERT_EQ(written[i].kind, rows[i].kind);
		HI_ASSERT_STREQ(written[i].function, rows[i].function);
		HI_ASSERT_STREQ(written[i].file, rows[i].file);
		HI_ASSERT_STREQ(written[i].module, rows[i].module);
		HI_ASSERT_EQ(written[i].objects, rows[i].objects);
		HI_ASSERT_EQ(written[i].bytes, rows[i].bytes);
	}
}

HI_TEST(snapshot_functions, a_census_may_have_none_or_no_rows)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *none = store_functions(NULL, 0);
	HI_GUARD(hi_snapshot_close)
	struct hi_snapshot *empty = store_functions(written, 0);
	struct hi_live_function *rows = NULL;
	struct hi_error err;
	size_t n = 1;

	HI_ASSERT_EQ(HI_NOT_FOUND, hi_snapshot_functions(none, &rows, &n, &err));
	HI_ASSERT_EQ(HI_OK, hi_snapshot_functions(empty, &rows, &n, &err));
	hi_test_defer(free, rows);
	HI_ASSERT_EQ(0, n);
}

HI_TEST(snapshot_functions, a_kind_that_is_not_known_is_refused)
{
	const struct hi_live_function odd = {
		(enum hi_live_function_kind)HI_LIVE_FUNCTION_KINDS, "", "", "", 1, 1};
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = store_functions(&odd, 1);
	struct hi_live_function *rows = NULL;
	struct hi_error err;
	size_t n;

	HI_ASSERT_EQ(HI_BAD_DATA, hi_snapshot_functions(s, &rows, &n, &err));
	HI_ASSERT_MSG(strstr(err.text, "live.functions"), "%s", err.text);
}
