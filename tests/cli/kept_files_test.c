/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of minor version 5, one of each kind: whatever becomes of the code, they are read
 * as they were. The figures are those of the fixture's own answers when the files were
 * made, by these commands:
 *
 *	v1.5-snap, -contents	space_lives: node 4, entry 5, lost 6, buf 2
 *	v1.5-series		the same; "drop node 2" between censuses 2 and 3
 *	v1.5-record.hirec	node 4 before; then node 3, entry 5, buf 2, brief 7,
 *				lost 6, drop buf 1 (--keep-events --sample all)
 *	v1.5-alloc.hirec	node 4 before; node 3, entry 5 | mark "load", buf 2,
 *				node 10 | brief 7, drop node 10; | is an end of a period
 *	v1.5-bio.hisnap		lives: old, young, dead, never, 400000 bytes each, before
 *				period 1; write young, write dead | write young |
 */
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/stored.h"

static void expect_type(json_t *doc, const char *type, long long count, long long bytes)
{
	json_t *row = doc_row(doc_at(doc, "rows"), "type", type);

	HI_ASSERT_EQ(count, doc_number(row, "count"));
	HI_ASSERT_EQ(bytes, doc_number(row, "shallow"));
}

static void expect_heap(const char *file)
{
	json_t *doc = doc_of(hi_heapinspect("census", file, "--all", "--json"));

	HI_ASSERT_EQ(592, doc_number(doc, "live.bytes"));
	HI_ASSERT_EQ(3, doc_size(doc, "rows"));
	expect_type(doc, "struct node", 4, 128);
	expect_type(doc, "struct entry", 5, 240);
	expect_type(doc, "struct buf", 2, 224);
	doc = doc_of(hi_heapinspect("leaks", file, "--json"));
	HI_ASSERT_EQ(6, doc_number(doc, "leaks.objects"));
	HI_ASSERT_EQ(192, doc_number(doc, "leaks.bytes"));
	/* What was computed when it was written, and blocks of the allocator. */
	doc = doc_of(hi_heapinspect("retained", file, "--json"));
	HI_ASSERT(doc_size(doc, "rows") > 0);
	doc = doc_of(hi_heapinspect("waste", file, "--json"));
	HI_ASSERT_EQ(4, doc_size(doc, "pages"));
	HI_ASSERT_EQ(0, hi_heapinspect(file)->exit_code);
}

HI_TEST_SCENARIO(kept_files, of_a_heap_have_its_objects)
{
	const char *file = stored_file("v1.5-snap.hisnap");

	expect_heap(file);
	HI_ASSERT(hi_heapinspect("paths", "struct entry", file)->exit_code == 0);
}

/* Each node leads to the one before it; its values are 0. */
HI_TEST_SCENARIO(kept_files, with_contents_have_values)
{
	const char *file = stored_file("v1.5-contents.hisnap");
	json_t *doc, *fields;

	expect_heap(file);
	doc = doc_of(hi_heapinspect("explain", "nodes", file, "--json"));
	fields = doc_at(doc, "rows.0.fields");
	HI_ASSERT_EQ(3, json_array_size(fields));
	HI_ASSERT_STREQ("next", doc_text(fields, "0.path"));
	HI_ASSERT_STREQ("struct node", doc_text(fields, "0.to_type"));
	HI_ASSERT_STREQ(doc_text(fields, "0.to"), doc_text(fields, "0.value"));
	HI_ASSERT_STREQ("values[1]", doc_text(fields, "2.path"));
	HI_ASSERT_STREQ("0", doc_text(fields, "2.value"));
}

HI_TEST_SCENARIO(kept_files, of_a_series_have_all_censuses)
{
	static const long long bytes[] = {592, 592, 528, 528}, objects[] = {11, 11, 9, 9};
	const char *file = stored_file("v1.5-series.hisnap");
	json_t *doc = doc_of(hi_heapinspect("snapshots", file, "--json"));

	HI_ASSERT_EQ(4, doc_size(doc, "rows"));
	for (size_t i = 0; i < 4; i++) {
		HI_ASSERT_EQ(bytes[i], doc_number(doc, "rows.%zu.bytes", i));
		HI_ASSERT_EQ(objects[i], doc_number(doc, "rows.%zu.objects", i));
		HI_ASSERT_EQ(192, doc_number(doc, "rows.%zu.leaked", i));
	}
	doc = doc_of(hi_heapinspect("census", file, "--all", "--json"));
	expect_type(doc, "struct node", 2, 64);
	doc = doc_of(hi_heapinspect("census", file, "--census", "2", "--json", "--all"));
	expect_type(doc, "struct node", 4, 128);
}

HI_TEST_SCENARIO(kept_files, of_a_recording_have_births_and_events)
{
	const char *file = stored_file("v1.5-record.hirec");
	json_t *doc =
		doc_of(hi_heapinspect("census", file, "--by", "site", "--all", "--json"));
	struct hi_command *c;

	HI_ASSERT_EQ(576, doc_number(doc, "live.bytes"));
	HI_ASSERT_EQ(240,
		     doc_number(doc_row(doc_at(doc, "rows"), "site.function", "cache"),
				"bytes"));
	HI_ASSERT_EQ(208,
		     doc_number(doc_row(doc_at(doc, "rows"), "site.function", "parse"),
				"bytes"));
	c = hi_heapinspect(
		"query", "-f", "csv",
		"select kind, count(*) from events group by kind order by kind", file);
	HI_ASSERT_MSG(strstr(c->out, "alloc,23") && strstr(c->out, "free,8"), "%s%s",
		      c->out, c->err);
}

static void expect_allocated(json_t *doc, const char *function, long long number,
			     long long size)
{
	json_t *row = doc_row(doc_at(doc, "functions"), "name", function);

	HI_ASSERT_EQ(number, doc_number(row, "alloc.number"));
	HI_ASSERT_EQ(size, doc_number(row, "alloc.size"));
}

HI_TEST_SCENARIO(kept_files, of_a_space_profile_have_functions_and_ages)
{
	const char *file = stored_file("v1.5-alloc.hirec");
	json_t *doc = doc_of(hi_heapinspect("alloc", file, "--all", "--json")), *row;

	expect_allocated(doc, "cache", 5, 240);
	expect_allocated(doc, "parse", 22, 864);
	row = doc_row(doc_at(doc, "functions"), "name", "parse");
	HI_ASSERT_EQ(15, doc_number(row, "ages.1.number"));
	HI_ASSERT_EQ(5, doc_number(row, "ages.2.number"));
	doc = doc_of(
		hi_heapinspect("alloc", file, "--from-mark", "load", "--all", "--json"));
	expect_allocated(doc, "parse", 19, 768);
}

HI_TEST_SCENARIO(kept_files, of_biographies_have_bands)
{
	const char *file = stored_file("v1.5-bio.hisnap");
	json_t *doc = doc_of(hi_heapinspect("bio", file, "--all", "--json"));
	json_t *last = doc_at(doc, "censuses.%zu.bands", doc_size(doc, "censuses") - 1);

	HI_ASSERT_EQ(401408, doc_number(last, "use.bytes.proved"));
	HI_ASSERT_EQ(401408, doc_number(last, "drag.bytes.proved"));
	HI_ASSERT_EQ(2 * 401408, doc_number(last, "unused_since_attach.bytes.proved"));
	HI_ASSERT_EQ(0, doc_number(last, "void.bytes.possible"));
}
