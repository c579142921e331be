/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of some kilobytes that unpack to much more. */
#include <stdlib.h>

#include "base/memory_bound.h"
#include "tests/census/snapshots.h"

enum { MIB = 1 << 20 };
static const uint8_t zeros[MIB];

static void remove_bound(void *arg)
{
	(void)arg;
	hi_unpacked_set_bound(UINT64_MAX, false);
}

struct zeros_left {
	size_t mebibytes;
};

static enum hi_status next_zeros(void *arg, const void **bytes, size_t *size,
				 struct hi_error *err)
{
	struct zeros_left *left = arg;

	(void)err;
	*bytes = zeros;
	*size = left->mebibytes ? sizeof(zeros) : 0;
	left->mebibytes -= left->mebibytes != 0;
	return HI_OK;
}

/* A drawn heap, and a section "a.bomb" of that many zeros. */
static const char *write_bomb(size_t mebibytes)
{
	OWN(graph) *g = drawn_graph(3, 60);
	OWN(reach) *r = reach_of(g);
	OWN(dominators) *d = dominators_of(g, r);
	struct hi_snapshot_options options = {.compress = true, .threads = 2};
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *w = NULL;
	struct zeros_left left = {mebibytes};
	struct hi_error err;
	const char *path;
	int fd = memory_file(&path);

	hi_test_defer(close_file, (void *)(intptr_t)fd);
	HI_ASSERT_OK(hi_snapshot_create(fd, &options, &w, &err), &err);
	HI_ASSERT_OK(hi_snapshot_put_pieces(w, "a.bomb", 1, next_zeros, &left, &err),
		     &err);
	HI_ASSERT_OK(drawn_put(w, g, r, d, &err), &err);
	return path;
}

static enum hi_status read_bomb(struct hi_snapshot *s, struct hi_error *err)
{
	const void *items;
	uint64_t n;

	return hi_snapshot_get(s, "a.bomb", 1, &items, &n, err);
}

HI_TEST(census_snapshot_bomb, is_refused_before_it_is_unpacked_and_the_rest_is_read)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	OWN(graph) *g = NULL;
	struct hi_error err;

	HI_ASSERT_OK(hi_snapshot_open(write_bomb(200), &s, &err), &err);
	HI_ASSERT_MSG(hi_snapshot_size(s) < MIB, "%lu",
		      (unsigned long)hi_snapshot_size(s));
	HI_ASSERT_EQ(HI_LIMIT, read_bomb(s, &err));
	HI_ASSERT_MSG(strstr(err.text, "a.bomb unpacks to 200.0 MiB, more than ") &&
			      strstr(err.text, "--max-memory"),
		      "%s", err.text);
	HI_ASSERT(hi_snapshot_bytes_read(s) < MIB);
	HI_ASSERT_OK(hi_snapshot_graph(s, &g, &err), &err);
}

HI_TEST(census_snapshot_bomb, is_read_where_the_user_permits_it)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	struct hi_error err;

	hi_test_defer(remove_bound, NULL);
	hi_unpacked_set_bound(UINT64_C(300) * MIB, true);
	HI_ASSERT_OK(hi_snapshot_open(write_bomb(200), &s, &err), &err);
	HI_ASSERT_OK(read_bomb(s, &err), &err);
	HI_ASSERT_EQ(200 * MIB, hi_snapshot_bytes_read(s) / MIB * MIB);
}

HI_TEST(census_snapshot_bomb, a_heap_is_refused_before_its_first_column_is_read)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	OWN(graph) *g = NULL;
	struct hi_error err;
	uint64_t before;

	hi_test_defer(remove_bound, NULL);
	HI_ASSERT_OK(hi_snapshot_open(write_bomb(1), &s, &err), &err);
	before = hi_snapshot_bytes_read(s);
	hi_unpacked_set_bound(before + 1000, false);
	HI_ASSERT_EQ(HI_LIMIT, hi_snapshot_graph(s, &g, &err));
	HI_ASSERT_MSG(strstr(err.text, "its heap unpacks to "), "%s", err.text);
	HI_ASSERT_EQ(before, hi_snapshot_bytes_read(s));
	hi_unpacked_set_bound(before + MIB, false);
	HI_ASSERT_OK(hi_snapshot_graph(s, &g, &err), &err);
}

HI_TEST(census_snapshot_bomb, what_a_closed_file_has_taken_is_free_again)
{
	const char *path = write_bomb(9);
	struct hi_error err;

	hi_test_defer(remove_bound, NULL);
	hi_unpacked_set_bound(UINT64_C(10) * MIB, true);
	for (unsigned i = 0; i < 3; i++) {
		HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;

		HI_ASSERT_OK(hi_snapshot_open(path, &s, &err), &err);
		HI_ASSERT_OK(read_bomb(s, &err), &err);
	}
}

/* ---- texts ---- */

struct fake_row {
	uint32_t text[4];
	uint8_t rest[24];
};

/* Rows of types, each of which is named by what follows a letter of a long text. */
static const char *write_long_names(uint32_t rows, size_t length)
{
	struct hi_snapshot_options options = {.compress = true, .threads = 2};
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *w = NULL;
	HI_GUARD(free) struct fake_row *row = calloc(rows, sizeof(*row));
	HI_GUARD(free) char *text = malloc(length + 1);
	uint32_t offset = 0;
	struct hi_error err;
	const char *path;
	int fd = memory_file(&path);

	hi_test_defer(close_file, (void *)(intptr_t)fd);
	HI_ASSERT(row && text);
	memset(text, 'a', length);
	text[length] = 0;
	HI_ASSERT_OK(hi_snapshot_create(fd, &options, &w, &err), &err);
	HI_ASSERT_OK(hi_snapshot_put_string(w, text, &offset, &err), &err);
	for (uint32_t i = 1; i < rows; i++)
		row[i].text[0] = offset + i % 1000;
	HI_ASSERT_OK(hi_snapshot_put(w, "types", row, sizeof(*row), rows, &err), &err);
	HI_ASSERT_OK(hi_snapshot_finish(w, &err), &err);
	return path;
}

static enum hi_status read_outline(const char *path, struct hi_error *err)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	OWN(graph) *g = NULL;
	OWN(reach) *r = NULL;
	enum hi_status status = hi_snapshot_open(path, &s, err);

	return status == HI_OK ? hi_snapshot_outline(s, &g, &r, err) : status;
}

HI_TEST(census_snapshot_bomb, a_long_text_of_too_many_rows_is_refused)
{
	struct hi_error err;

	/* 100,000 rows with a megabyte each would be 100 GB. */
	HI_ASSERT_EQ(HI_BAD_DATA, read_outline(write_long_names(100000, MIB), &err));
	HI_ASSERT_MSG(strstr(err.text, "section types: its texts are too long"), "%s",
		      err.text);
	/* A few long ones are read, and many of usual length. */
	HI_ASSERT_OK(read_outline(write_long_names(50, MIB), &err), &err);
	HI_ASSERT_OK(read_outline(write_long_names(100000, 1000), &err), &err);
}
