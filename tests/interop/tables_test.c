/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables as DuckDB and hyparquet read them; tests/interop has the questions. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/exports/parquet_writer.h"
#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/readers.h"
#include "tests/support/snapshots.h"

/* All tables in all forms; what the readers found in them. */
static json_t *ask(const char *in, const char *file)
{
	static const char *const tables[] = {"objects", "edges", "types", "roots"},
				 *const formats[] = {"parquet", "csv", "ndjson"};
	const char *const argv[] = {"node", HI_SOURCE_DIR "/tests/interop/tables.mjs",
				    readers_directory(), in, NULL};
	char name[32];

	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 3; k++) {
			snprintf(name, sizeof(name), "%s.%s", tables[i], formats[k]);
			readers_export(file, formats[k], tables[i], in, name);
		}
	return readers_ask_json(argv);
}

static void check_sums(const char *in, const char *file)
{
	json_t *doc = doc_of(hi_heapinspect("--json", file));
	json_t *found = ask(in, file);

	HI_ASSERT(doc_number(found, "live_objects") > 1000);
	HI_ASSERT(doc_number(found, "edges") > 1000);
	HI_ASSERT_EQ(doc_number(doc, "objects.live"), doc_number(found, "live_objects"));
	HI_ASSERT_EQ(doc_number(doc, "bytes.live"), doc_number(found, "live_bytes"));
	/* Leaks of both verdicts. */
	HI_ASSERT_EQ(doc_number(doc, "objects.leak") + doc_number(doc, "objects.likely"),
		     doc_number(found, "leak_objects"));
	HI_ASSERT_EQ(doc_number(doc, "bytes.leak") + doc_number(doc, "bytes.likely"),
		     doc_number(found, "leak_bytes"));
	HI_ASSERT_EQ(doc_number(doc, "objects.live"), doc_number(found, "typed_objects"));
	HI_ASSERT_EQ(doc_number(doc, "bytes.live"), doc_number(found, "typed_bytes"));
	HI_ASSERT_EQ(0, doc_number(found, "loose_edges"));
	HI_ASSERT_EQ(0, doc_number(found, "wrong_types"));
}

HI_TEST_INTEROP(interop_tables, duckdb_reads_tables_with_our_sums)
{
	char *in = snapshot_directory();
	const char *core =
		snapshot_core(snapshot_fixture("mixed_heap", "/dev/null", "1500"), in);

	check_sums(in, snapshot_of_core(core, in, "a.hisnap", NULL));
}

HI_TEST_INTEROP_SLOW(interop_tables, duckdb_reads_tables_of_python)
{
	char *in = snapshot_directory();

	check_sums(in, readers_python(in));
}

HI_TEST_INTEROP(interop_tables, duckdb_reads_tables_of_many_censuses)
{
	static const char file[] = HI_SOURCE_DIR "/tests/data/series-v1.hisnap",
			  *const tables[] = {"censuses", "sums"};
	char *in = snapshot_directory();

	for (int i = 0; i < 2; i++) {
		const char *const argv[] = {
			"node",
			HI_SOURCE_DIR "/tests/interop/parquet.mjs",
			readers_directory(),
			readers_export(file, "parquet", tables[i], in, "x.parquet"),
			readers_export(file, "ndjson", tables[i], in, "x.ndjson"),
			NULL};

		HI_ASSERT(doc_number(readers_ask_json(argv), "rows") > 1);
	}
}

/* ---- the writer alone, with rows that are as bad as they may be ---- */

struct pair {
	FILE *parquet, *ndjson;
	const char *parquet_path, *ndjson_path;
};

static struct pair open_pair(const char *in)
{
	struct pair pair = {.parquet_path = snapshot_path(in, "x.parquet"),
			    .ndjson_path = snapshot_path(in, "x.ndjson")};

	pair.parquet = fopen(pair.parquet_path, "w");
	pair.ndjson = fopen(pair.ndjson_path, "w");
	HI_ASSERT(pair.parquet && pair.ndjson);
	return pair;
}

/* Column 1: numbers up to the greatest, missing in runs; 2: texts, empty, long and
 * missing; 3: never there. */
static void put_row(struct pair *pair, struct hi_parquet *p, uint64_t i)
{
	static const char *const texts[] = {"", "a", "zwölf", "\xf0\x9f\xa6\x94 \\n"};
	static const char *const as_json[] = {"", "a", "zwölf", "\xf0\x9f\xa6\x94 \\\\n"};
	uint64_t number = i % 7 == 3 ? UINT64_MAX : i * 0x9e3779b97f4a7c15;
	static char longer[3000];
	bool has_number = i / 5 % 3 != 1;
	struct hi_error err;

	memset(longer, 'x', sizeof(longer) - 1);
	fprintf(pair->ndjson, has_number ? "{\"n\":\"%" PRIu64 "\"," : "{\"n\":null,",
		number);
	if (has_number)
		hi_parquet_number(p, number);
	else
		hi_parquet_null(p);
	if (i % 11 == 5) {
		hi_parquet_null(p);
		fprintf(pair->ndjson, "\"t\":null,\"never\":null}\n");
	} else {
		bool is_long = i % 13 == 7;

		hi_parquet_text(p, is_long ? longer : texts[i % 4]);
		fprintf(pair->ndjson, "\"t\":\"%s\",\"never\":null}\n",
			is_long ? longer : as_json[i % 4]);
	}
	hi_parquet_null(p);
	HI_ASSERT_OK(hi_parquet_end_row(p, &err), &err);
}

static void check_rows_as(uint64_t rows, uint32_t a_group, uint64_t bytes, int groups,
			  bool uncompressed)
{
	struct hi_parquet_options options = {.group_rows = a_group,
					     .group_bytes = bytes,
					     .uncompressed = uncompressed};
	struct pair pair = open_pair(snapshot_directory());
	const char *const argv[] = {"node",
				    HI_SOURCE_DIR "/tests/interop/parquet.mjs",
				    readers_directory(),
				    pair.parquet_path,
				    pair.ndjson_path,
				    NULL};
	struct hi_parquet *p;
	struct hi_error err;
	json_t *found;

	HI_ASSERT_OK(hi_parquet_create(pair.parquet, &options, &p, &err), &err);
	HI_ASSERT_OK(hi_parquet_column(p, "n", HI_PARQUET_NUMBER, &err), &err);
	HI_ASSERT_OK(hi_parquet_column(p, "t", HI_PARQUET_TEXT, &err), &err);
	HI_ASSERT_OK(hi_parquet_column(p, "never", HI_PARQUET_TEXT, &err), &err);
	for (uint64_t i = 0; i < rows; i++)
		put_row(&pair, p, i);
	HI_ASSERT_OK(hi_parquet_finish(p, NULL, 0, &err), &err);
	hi_parquet_destroy(p);
	HI_ASSERT(fclose(pair.parquet) == 0 && fclose(pair.ndjson) == 0);
	found = readers_ask_json(argv);
	HI_ASSERT_EQ((long long)rows, doc_number(found, "rows"));
	if (groups >= 0)
		HI_ASSERT_EQ(groups, doc_number(found, "groups"));
}

static void check_rows(uint64_t rows, uint32_t a_group, uint64_t bytes, int groups)
{
	check_rows_as(rows, a_group, bytes, groups, false);
}

HI_TEST_INTEROP(interop_tables, a_parquet_file_may_have_any_number_of_groups)
{
	check_rows(0, 0, 0, 0);
	check_rows(1, 0, 0, 1);
	check_rows(1000, 1, 0, 1000);
	check_rows(1000, 9, 0, 112);
	check_rows(1000, 8, 0, 125);
	check_rows(5000, 0, 0, 1);
	check_rows(5000, 0, 1 << 16, -1); /* by bytes */
	check_rows_as(1000, 9, 0, 112, true);
	check_rows_as(0, 0, 0, 0, true);
}
