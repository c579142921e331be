/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A series that the first version wrote of fixtures/growing_service.c, kept: it must be
 * readable for ever. It held 10, 100, 40, 60 and 20 nodes, one census each, and two
 * blocks of stdio; --full first,last,peaks:1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "report/heap_profile/hp_reader.h"
#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/schema.h"
#include "tests/support/snapshots.h"

#define FILE_V1 HI_SOURCE_DIR "/tests/data/series-v1.hisnap"
enum { CENSUSES = 5, NODE = 64 /* bytes, with malloc's header */ };
static const long long nodes[CENSUSES] = {10, 100, 40, 60, 20};
static const bool whole[CENSUSES] = {true, true, false, true, true};

static long long nodes_in(json_t *rows)
{
	return doc_sum_of(rows, "type", "struct node", "count");
}

HI_TEST_SCENARIO(series_file, a_series_of_version_1_is_read)
{
	struct hi_command *c = hi_heapinspect("snapshots", FILE_V1, "--json");
	json_t *doc = doc_of(c), *rows = doc_at(doc, "rows");
	char which[24];

	hi_check_schema(c, "snapshots.v1.json");
	HI_ASSERT_STREQ("exited", doc_text(doc, "end"));
	HI_ASSERT_EQ(0, doc_number(doc, "damaged") + doc_number(doc, "lost") +
				doc_number(doc, "torn"));
	HI_ASSERT_EQ(CENSUSES, json_array_size(rows));
	for (size_t i = 0; i < CENSUSES; i++) {
		json_t *row = doc_at(rows, "%zu", i);

		HI_ASSERT_EQ(nodes[i] + 2, doc_number(row, "objects"));
		HI_ASSERT_EQ(whole[i], !doc_is_null(row, "graph"));
		snprintf(which, sizeof(which), "%zu", i + 1);
		doc = doc_of(hi_heapinspect("snapshots", FILE_V1, "--census", which,
					    "--json"));
		HI_ASSERT_EQ(nodes[i], nodes_in(doc_at(doc, "types")));
		/* With a graph or without: the census by type is there. */
		c = hi_heapinspect("census", FILE_V1, "--census", which, "--json");
		doc = doc_of(c);
		hi_check_schema(c, "rows.v1.json");
		HI_ASSERT_EQ(nodes[i], nodes_in(doc_at(doc, "rows")));
		HI_ASSERT_EQ((long long)i + 1, doc_number(doc, "snapshot.census"));
		c = hi_heapinspect("census", FILE_V1, "--census", which, "--by",
				   "module");
		HI_ASSERT_EQ(whole[i] ? 0 : 2, c->exit_code);
	}
}

HI_TEST_SCENARIO(series_file, every_command_takes_one_of_its_censuses)
{
	static const char *const commands[] = {"summary",   "census", "retained", "leaks",
					       "retainers", "export", "check"};
	static const char *const more[][2] = {{"--all"},
					      {"--by", "type2"},
					      {"--all"},
					      {"--all"},
					      {"--all"},
					      {"-f", "heapsnapshot"},
					      {"--fail-on", "leak.bytes > 0"}};

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		struct hi_command *c =
			hi_heapinspect(commands[i], FILE_V1 "@2", more[i][0], more[i][1]);

		HI_ASSERT_MSG(c->exit_code == 0, "%s: %s", commands[i], c->err);
		HI_ASSERT(*c->out);
	}
	HI_ASSERT(strstr(hi_heapinspect(FILE_V1 "@peak")->out, "census 2 of 5"));
	HI_ASSERT(strstr(hi_heapinspect(FILE_V1)->out, "census 5 of 5"));
	HI_ASSERT_EQ(2, hi_heapinspect(FILE_V1 "@3")->exit_code);
	HI_ASSERT(strstr(hi_heapinspect(FILE_V1 "@3")->err, "only sums"));
	HI_ASSERT_EQ(2, hi_heapinspect(FILE_V1 "@2", "--census", "1")->exit_code);
	/* A gate against an earlier census of the same file. */
	HI_ASSERT_EQ(1, hi_heapinspect("check", FILE_V1, "--baseline", FILE_V1 "@first",
				       "--fail-on", "growth(live.bytes) > 1%")
				->exit_code);
}

/* As many bytes of the file as that, by another name. */
static const char *cut_to(const char *in, const char *name, long size)
{
	const char *path = snapshot_path(in, name);
	char command[512];

	snprintf(command, sizeof(command), "head -c %ld '%s' > '%s'", size, FILE_V1,
		 path);
	HI_ASSERT_EQ(0, hi_command_run(0, "sh", "-c", command, NULL)->exit_code);
	return path;
}

HI_TEST_SCENARIO(series_file, truncated_file_names_its_loss)
{
	const char *in = snapshot_directory();
	struct hi_command *c =
		hi_heapinspect("summary", "--json", cut_to(in, "a.hisnap", 46000));
	json_t *snapshot = doc_at(doc_of(c), "snapshot"), *list, *row;
	long long wrong = 0;

	HI_ASSERT_STREQ("", c->err);
	HI_ASSERT_EQ(1, doc_size(snapshot, "warnings"));
	HI_ASSERT(strstr(doc_text(snapshot, "warnings.0"), "not complete"));
	/* The last one that is there answers: of 2, because 3 has no graph. */
	HI_ASSERT_EQ(2, doc_number(snapshot, "census"));
	c = hi_heapinspect("snapshots", "--json", cut_to(in, "b.hisnap", 46000));
	hi_check_schema(c, "snapshots.v1.json");
	list = doc_at(doc_of(c), "rows");
	HI_ASSERT(json_array_size(list) >= 2 && json_array_size(list) < CENSUSES);
	HI_ASSERT_STREQ("open", doc_text(doc_of(c), "end"));
	HI_ASSERT(doc_number(doc_of(c), "torn") > 0);
	for (size_t i = 0; i < json_array_size(list); i++) {
		row = doc_item(list, i);
		wrong += llabs(doc_number(row, "objects") - nodes[i] - 2);
	}
	HI_ASSERT_EQ(0, wrong);
	/* Not one census is complete. */
	c = hi_heapinspect(cut_to(in, "c.hisnap", 6000));
	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_MSG(strstr(c->err, "contains no complete census"), "%s", c->err);
}

/* SQL over all of them. */
HI_TEST_SCENARIO(series_file, a_query_sees_all_censuses)
{
	struct hi_command *c = hi_heapinspect(
		"query", FILE_V1, "--format", "csv",
		"SELECT census, count, shallow FROM censuses WHERE type = 'struct node' "
		"ORDER BY census");
	size_t n = 0;

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	for (char *line = strtok(c->out, "\r\n"); line; line = strtok(NULL, "\r\n")) {
		long long census, count, bytes;

		if (sscanf(line, "%lld,%lld,%lld", &census, &count, &bytes) != 3)
			continue;
		HI_ASSERT_EQ((long long)n + 1, census);
		HI_ASSERT_EQ(nodes[n], count);
		HI_ASSERT_EQ(nodes[n] * NODE, bytes);
		n++;
	}
	HI_ASSERT_EQ(CENSUSES, n);
}

/* ---- over time ---- */

static const char *export_to(const char *name, const char *const *words)
{
	const char *path = snapshot_path(snapshot_directory(), name);
	struct hi_command *c = hi_heapinspect("export", FILE_V1, "-o", path, words[0],
					      words[1], words[2], words[3]);

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	return path;
}

HI_TEST_SCENARIO(series_file, it_is_exported_as_a_heap_profile_and_drawn)
{
	const char *words[4] = {"-f", "hp"};
	const char *path = export_to("x.hp", words);
	struct hi_hp_series *hp = NULL;
	struct hi_command *a, *b;
	struct hi_error err;

	HI_ASSERT_OK(hi_hp_read(path, &hp, &err), &err);
	hi_test_defer(hi_hp_series_destroy, hp);
	HI_ASSERT_EQ(CENSUSES + 1, hp->n_samples); /* the last one is the end */
	for (size_t i = 0; i < CENSUSES; i++) {
		uint64_t bytes = 0;

		for (size_t k = hp->starts[i]; k < hp->starts[i + 1]; k++)
			if (strcmp(hp->bands[hp->points[k].band], "struct_node") == 0)
				bytes += hp->points[k].value;
		HI_ASSERT_EQ(nodes[i] * NODE, bytes);
		/* One every six seconds. */
		HI_ASSERT(hp->times[i] > 6 * (double)i - 0.5 &&
			  hp->times[i] < 6 * (double)i + 0.5);
	}
	a = hi_heapinspect("graph", path);
	b = hi_heapinspect("graph", FILE_V1);
	HI_ASSERT_MSG(a->exit_code == 0 && b->exit_code == 0, "%s%s", a->err, b->err);
	/* Of the highest census, and names as each has them. */
	HI_ASSERT(strstr(a->out, "peak 14.3 KiB") && strstr(b->out, "peak 14.3 KiB"));
	HI_ASSERT(strstr(a->out, ">struct_node<") && strstr(b->out, ">struct node<"));
}

HI_TEST_SCENARIO(series_file, ms_print_reads_it_over_time)
{
	const char *words[4] = {"-f", "massif"};
	struct hi_command *c =
		hi_command_run(0, "ms_print", export_to("x.massif", words), NULL);
	long long n, time, total, useful;
	size_t found = 0;

	HI_ASSERT_MSG(c->exit_code == 0 && !*c->err, "%s", c->err);
	HI_ASSERT(strstr(c->out, "Number of snapshots: 5"));
	HI_ASSERT(strstr(c->out, "Detailed snapshots: [0, 1 (peak), 3, 4]"));
	for (char *from = c->out, *to = c->out;; from++)
		if (*from != ',' && !(*to++ = *from))
			break;
	for (char *line = strtok(c->out, "\n"); line; line = strtok(NULL, "\n"))
		if (sscanf(line, " %lld %lld %lld %lld", &n, &time, &total, &useful) ==
		    4) {
			HI_ASSERT_EQ((long long)found, n);
			HI_ASSERT_EQ(0, (total - nodes[n] * NODE) -
						(useful - nodes[n] * NODE));
			HI_ASSERT(total - nodes[n] * NODE > 8000 &&
				  total - nodes[n] * NODE < 9000); /* stdio's */
			found++;
		}
	HI_ASSERT_EQ(CENSUSES, found);
}

HI_TEST_SCENARIO(series_file, its_tables_are_csv_and_lines_of_json)
{
	struct hi_command *csv =
		hi_heapinspect("export", FILE_V1, "-f", "csv", "--table", "censuses");
	struct hi_command *sums =
		hi_heapinspect("export", FILE_V1, "-f", "ndjson", "--table", "sums");
	size_t line_number = 0, found = 0;
	json_t *lines, *row;

	HI_ASSERT_EQ(0, csv->exit_code + sums->exit_code);
	for (char *line = strtok(csv->out, "\r\n"); line; line = strtok(NULL, "\r\n")) {
		long long census, bytes, objects;

		if (line_number++ == 0) {
			HI_ASSERT_STREQ("census,time_ns,wall_ns,cpu_ns,pause_ns,bytes,"
					"objects,leaked,likely,garbage,uncollectable,"
					"lost,graph",
					line);
			continue;
		}
		HI_ASSERT_EQ(3, sscanf(line, "%lld,%*d,%*d,%*d,%*d,%lld,%lld,", &census,
				       &bytes, &objects));
		HI_ASSERT_EQ((long long)line_number - 1, census);
		HI_ASSERT_EQ(nodes[census - 1] + 2, objects);
		HI_ASSERT_EQ(whole[census - 1], line[strlen(line) - 1] != ',');
	}
	HI_ASSERT_EQ(CENSUSES + 1, line_number);
	lines = doc_lines(sums->out);
	doc_each (row, lines) {
		if (strcmp(doc_text(row, "type"), "struct node") == 0)
			HI_ASSERT_EQ(nodes[found++], doc_number(row, "count"));
	}
	HI_ASSERT_EQ(CENSUSES, found);
	HI_ASSERT_EQ(2, hi_heapinspect("export", HI_SOURCE_DIR "/tests/data/v1.hisnap",
				       "-f", "csv", "--table", "censuses")
				->exit_code);
	HI_ASSERT_EQ(
		2, hi_heapinspect("export", "--pid", "1", "-f", "csv", "--table", "sums")
			   ->exit_code);
}
