/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of some kilobytes that unpack to much more. */
#include <stdlib.h>

#include "base/memory_bound.h"
#include "census/snapshot/snapshot_format.h"
#include "census/snapshot/snapshot_sections.h"
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

/* Any table: `n` rows of section "conflicts", each with the text at `offset`. */
static enum hi_status read_table_of_texts(size_t length, unsigned n, uint32_t offset,
					  struct hi_error *err)
{
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *w = NULL;
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	static struct hi_snapshot_conflict_row rows[1000];
	const struct hi_snapshot_conflict_row *read;
	HI_GUARD(free) char *text = malloc(length + 1);
	struct hi_snapshot_options options = {};
	const char *path;
	uint32_t at;
	uint64_t n_read;
	int fd = memory_file(&path);

	hi_test_defer(close_file, (void *)(intptr_t)fd);
	HI_ASSERT(text && n <= 1000);
	memset(text, 'a', length);
	text[length] = 0;
	HI_ASSERT_OK(hi_snapshot_create(fd, &options, &w, err), err);
	HI_ASSERT_OK(hi_snapshot_put_string(w, text, &at, err), err);
	for (unsigned i = 0; i < n; i++)
		rows[i] = (struct hi_snapshot_conflict_row){.other = at};
	rows[n / 2].type = offset;
	HI_ASSERT_OK(hi_snapshot_put_section(w, "conflicts", rows, n, err), err);
	HI_ASSERT_OK(hi_snapshot_finish(w, err), err);
	HI_ASSERT_OK(hi_snapshot_open(path, &s, err), err);
	return hi_snapshot_rows(s, "conflicts", &read, &n_read, err);
}

HI_TEST(census_snapshot_bomb, a_table_of_texts_has_a_length_that_its_rows_explain)
{
	struct hi_error err;

	HI_ASSERT_EQ(HI_BAD_DATA, read_table_of_texts(MIB, 1000, 0, &err));
	HI_ASSERT_MSG(strstr(err.text, "section conflicts: its texts are too long"), "%s",
		      err.text);
	HI_ASSERT_OK(read_table_of_texts(MIB, 60, 0, &err), &err);
	HI_ASSERT_EQ(HI_BAD_DATA, read_table_of_texts(10, 60, UINT32_MAX, &err));
	HI_ASSERT_MSG(strstr(err.text, "row 30: type refers to a string"), "%s",
		      err.text);
}

/* ---- names of many ---- */

struct named {
	const struct hi_graph *graph;
	const char *text;
};

static enum hi_status name_all_alike(void *arg, unsigned worker, hi_node node,
				     struct hi_edge_name *names, struct hi_error *err)
{
	const struct named *n = arg;

	(void)worker;
	(void)err;
	for (uint32_t i = 0; i < hi_graph_edges(n->graph, node).count; i++)
		names[i] = (struct hi_edge_name){.text = n->text, .key = 1};
	return HI_OK;
}

/* A ring of n objects of one type; the type and the edges have long names. */
static const char *write_named(uint32_t n, size_t type_length, size_t edge_length)
{
	HI_GUARD(free) char *type_name = calloc(1, type_length + 1);
	HI_GUARD(free) char *edge_name = calloc(1, edge_length + 1);
	HI_GUARD(hi_snapshot_writer_destroy) struct hi_snapshot_writer *w = NULL;
	struct hi_snapshot_options options = {};
	struct hi_snapshot_graph in = {.label = name_all_alike, .threads = 1};
	struct hi_type_name type = {.name = type_name, .size = 8};
	struct hi_graph_builder *b;
	uint64_t state = 5;
	struct hi_objects *objects = drawn_objects(&state, n, false);
	struct named named = {.text = edge_name};
	struct hi_error err;
	const char *path;
	uint32_t id;
	int fd = memory_file(&path);

	HI_ASSERT(type_name && edge_name);
	memset(type_name, 't', type_length);
	memset(edge_name, 'e', edge_length);
	hi_test_defer(close_file, (void *)(intptr_t)fd);
	n = objects->count;
	for (hi_node i = 0; i < n; i++)
		objects->type[i] = 1;
	HI_ASSERT_OK(hi_graph_builder_create(objects, &b, &err), &err);
	HI_ASSERT_OK(hi_graph_builder_type(b, &type, &id, &err), &err);
	for (hi_node i = 0; i < n; i++)
		edge(b, i, (i + 1) % n, HI_GRADE_EXACT);
	{
		OWN(graph) *g = sealed(b);
		OWN(reach) *r = reach_of(g);

		named.graph = in.graph = g;
		in.reach = r;
		in.arg = &named;
		HI_ASSERT_OK(hi_snapshot_create(fd, &options, &w, &err), &err);
		HI_ASSERT_OK(hi_snapshot_put_graph(w, &in, &err), &err);
		HI_ASSERT_OK(hi_snapshot_finish(w, &err), &err);
	}
	return path;
}

static enum hi_status read_named(const char *path, struct hi_error *err)
{
	HI_GUARD(hi_snapshot_close) struct hi_snapshot *s = NULL;
	OWN(graph) *g = NULL;
	enum hi_status status = hi_snapshot_open(path, &s, err);

	if (status == HI_OK)
		status = hi_snapshot_graph(s, &g, err);
	return status == HI_OK ? hi_snapshot_open_labels(s, err) : status;
}

HI_TEST(census_snapshot_bomb, long_names_of_many_edges_are_refused)
{
	struct hi_error err;

	HI_ASSERT_EQ(HI_BAD_DATA, read_named(write_named(600, 10, MIB), &err));
	HI_ASSERT_MSG(strstr(err.text, "section edges.name: its names are too long"),
		      "%s", err.text);
	HI_ASSERT_OK(read_named(write_named(100, 10, MIB), &err), &err);
	HI_ASSERT_OK(read_named(write_named(9000, 10, 1000), &err), &err);
}

HI_TEST(census_snapshot_bomb, a_long_name_of_the_type_of_many_objects_is_refused)
{
	struct hi_error err;

	HI_ASSERT_EQ(HI_BAD_DATA, read_named(write_named(600, 4 * MIB, 10), &err));
	HI_ASSERT_MSG(strstr(err.text, "section objects.type: its names are too long"),
		      "%s", err.text);
	HI_ASSERT_OK(read_named(write_named(100, 4 * MIB, 10), &err), &err);
	HI_ASSERT_OK(read_named(write_named(9000, 4000, 10), &err), &err);
}
