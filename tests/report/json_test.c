/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON: always valid, always UTF-8, always as the shipped schemas say. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/reports/census/census_report.h"
#include "report/reports/explain/explain_report.h"
#include "report/reports/leaks/leaks_report.h"
#include "report/reports/paths/paths_report.h"
#include "report/reports/retained/retained_report.h"
#include "report/reports/waste/waste_report.h"
#include "tests/report/sample.h"
#include "tests/support/golden.h"
#include "tests/support/json.h"
#include "tests/support/schema.h"

/* What the writer made, freed at the end of the test. */
struct document {
	char *text;
	size_t size;
	FILE *out;
	struct hi_json json;
};

static void document_free(struct document *d)
{
	if (d->out)
		fclose(d->out);
	free(d->text);
	free(d);
}

static struct document *document_open(void)
{
	struct document *d = calloc(1, sizeof(*d));

	HI_ASSERT(d != NULL);
	hi_test_defer(document_free, d);
	d->out = open_memstream(&d->text, &d->size);
	HI_ASSERT(d->out != NULL);
	hi_json_init(&d->json, d->out);
	return d;
}

static const char *document_close(struct document *d)
{
	HI_ASSERT(hi_json_finish(&d->json));
	fclose(d->out);
	d->out = NULL;
	return d->text;
}

/* Runs a python program with the document on its stdin; its exit code. */
static int run_python(const char *program, const char *argument, const char *text,
		      size_t size)
{
	int in[2], status;
	pid_t pid;

	HI_ASSERT(pipe(in) == 0);
	fflush(NULL);
	pid = fork();
	HI_ASSERT(pid >= 0);
	if (pid == 0) {
		dup2(in[0], 0);
		close(in[0]);
		close(in[1]);
		execl("/usr/bin/python3", "python3", "-c", program, argument,
		      (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	while (size > 0) {
		ssize_t n = write(in[1], text, size);

		if (n <= 0)
			break;
		text += n;
		size -= (size_t)n;
	}
	close(in[1]);
	HI_ASSERT(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static void need_python(const char *module)
{
	char program[128];

	snprintf(program, sizeof(program), "import %s", module);
	if (run_python(program, "", "", 0) != 0)
		HI_SKIP("needs python3");
}

/* Returns 0, or 1 where it is not as the schema says. */
static int validate_closed(struct document *d, const char *schema)
{
	const char *fault = hi_schema_fault(hi_schema_read(schema), doc_parse(d->text));

	if (fault)
		hi_test_note("%s", fault);
	return fault != NULL;
}

static int validate(struct document *d, const char *schema)
{
	document_close(d);
	return validate_closed(d, schema);
}

HI_TEST(report_json, every_byte_becomes_valid_json_and_comes_back_as_its_escape)
{
	struct document *d = document_open();
	char text[2];

	need_python("json");
	hi_json_object(&d->json, NULL);
	hi_json_array(&d->json, "bytes");
	for (int c = 1; c < 256; c++) {
		text[0] = (char)c;
		text[1] = 0;
		hi_json_text(&d->json, NULL, text);
	}
	hi_json_end(&d->json);
	hi_json_end(&d->json);
	document_close(d);
	HI_ASSERT_EQ(
		0,
		run_python(
			"import json, sys\n"
			"rows = json.loads(sys.stdin.buffer.read().decode('utf-8'))"
			"['bytes']\n"
			"assert len(rows) == 255\n"
			"plain = {9: '\\\\t', 10: '\\\\n', 13: '\\\\r', 92: '\\\\\\\\'}\n"
			"for i, s in enumerate(rows, 1):\n"
			"    want = plain.get(i, chr(i) if 32 <= i < 127 else "
			"'\\\\x%02x' % i)\n"
			"    assert s == want, (i, s, want)\n",
			"", d->text, d->size));
}

HI_TEST(report_json, unknown_is_null_and_numbers_are_plain)
{
	struct document *d = document_open();

	hi_json_object(&d->json, NULL);
	hi_json_number(&d->json, "unknown", UINT64_MAX);
	hi_json_number(&d->json, "large", UINT64_MAX - 1);
	hi_json_signed(&d->json, "negative", -5);
	hi_json_address(&d->json, "address", 0x55d0c8a412a0);
	hi_json_address(&d->json, "none", 0);
	hi_json_text(&d->json, "text", NULL);
	hi_json_bool(&d->json, "yes", true);
	hi_json_end(&d->json);
	HI_ASSERT_STREQ("{\n  \"unknown\": null,\n  \"large\": 18446744073709551614,\n"
			"  \"negative\": -5,\n  \"address\": \"0x55d0c8a412a0\",\n"
			"  \"none\": null,\n  \"text\": null,\n  \"yes\": true\n}\n",
			document_close(d));
}

HI_TEST(report_json, a_row_is_one_line_and_empty_containers_stay_closed)
{
	struct document *d = document_open();

	hi_json_object(&d->json, NULL);
	hi_json_array(&d->json, "rows");
	for (int i = 0; i < 2; i++) {
		hi_json_object(&d->json, NULL);
		hi_json_signed(&d->json, "a", i);
		hi_json_array(&d->json, "b");
		hi_json_signed(&d->json, NULL, i);
		hi_json_end(&d->json);
		hi_json_end(&d->json);
	}
	hi_json_end(&d->json);
	hi_json_array(&d->json, "none");
	hi_json_end(&d->json);
	hi_json_end(&d->json);
	HI_ASSERT_STREQ("{\n  \"rows\": [\n    {\"a\": 0, \"b\": [0]},\n"
			"    {\"a\": 1, \"b\": [1]}\n  ],\n  \"none\": []\n}\n",
			document_close(d));
}

HI_TEST(report_json, text_that_is_escaped_already_is_not_escaped_twice)
{
	struct document *d = document_open();

	hi_json_array(&d->json, NULL);
	hi_json_escaped(&d->json, NULL, "\"a\\x01b\"");
	hi_json_escaped(&d->json, NULL, "\033[31m");
	hi_json_end(&d->json);
	HI_ASSERT_STREQ("[\n  \"\\\"a\\\\x01b\\\"\",\n  \"\\\\x1b[31m\"\n]\n",
			document_close(d));
}

HI_TEST(report_json, nesting_too_deep_is_told)
{
	struct document *d = document_open();

	for (int i = 0; i < HI_JSON_DEPTH + 3; i++)
		hi_json_array(&d->json, NULL);
	for (int i = 0; i < HI_JSON_DEPTH + 3; i++)
		hi_json_end(&d->json);
	HI_ASSERT(!hi_json_finish(&d->json));
}

/* 100,663,296 of the live bytes have no type, and 5 MiB are alive by conservative edges
 * alone (sample.h). */
HI_TEST(report_json, the_summary_is_what_its_schema_says)
{
	struct sample *s = sample_make();
	struct document *d = document_open();
	struct hi_summary_report *report;
	struct hi_error err;

	HI_ASSERT_OK(hi_summary_report_create(&s->inputs, &report, &err), &err);
	hi_summary_json(report, &d->json);
	hi_summary_report_destroy(report);
	HI_EXPECT_GOLDEN("summary-json", document_close(d));
	HI_ASSERT_EQ(0, validate_closed(d, "summary.v1.json"));
	/* The schema can refuse: a document whose suspects have another name. */
	memcpy(strstr(d->text, "suspects"), "SUSPECTS", 8);
	HI_ASSERT_EQ(1, validate_closed(d, "summary.v1.json"));
}

/* A core does not have these, and they are null: pid, RSS, live bytes, types, allocator.
 */
HI_TEST(report_json, a_core_without_a_heap_is_what_the_schema_says)
{
	struct sample *s = sample_make();
	struct document *d = document_open();
	struct hi_summary_report *report;
	struct hi_error err;

	s->header.pid = 0;
	s->header.exe = "";
	s->header.build_id[0] = 0;
	s->header.core = "core.1";
	s->header.mode = "core";
	s->header.pause_ns = s->header.time_ns = UINT64_MAX;
	s->header.safepoint = NULL;
	s->header.allocator = NULL;
	s->header.shares = NULL;
	s->ledger.rss = HI_UNKNOWN;
	for (size_t i = 0; i < s->ledger.n_rows; i++)
		s->ledger.rows[i].resident = HI_UNKNOWN;
	HI_ASSERT_OK(hi_summary_report_create(&s->inputs, &report, &err), &err);
	hi_summary_json(report, &d->json);
	hi_summary_report_destroy(report);
	HI_EXPECT_GOLDEN("summary-json-core", document_close(d));
	HI_ASSERT_EQ(0, validate_closed(d, "summary.v1.json"));
}

/* 987,654,321 B of the refused one are in no number. */
HI_TEST(report_json, each_allocator_is_listed_and_a_refused_one_has_no_numbers)
{
	const struct hi_report_allocator list[] = {
		{"jemalloc", "5.3.0", "redis-server", "its page map", "bitmaps, bins", "",
		 9, 1000, 64000, 0, 0},
		{.name = "musl", .refused = SAMPLE_HOSTILE, .live_bytes = 987654321}};
	struct sample *s = sample_make();
	struct document *d = document_open();
	struct hi_summary_report *report;
	struct hi_error err;

	s->header.allocators = list;
	s->header.n_allocators = 2;
	HI_ASSERT_OK(hi_summary_report_create(&s->inputs, &report, &err), &err);
	hi_summary_json(report, &d->json);
	hi_summary_report_destroy(report);
	HI_ASSERT_EQ(0, validate(d, "summary.v1.json"));
	d = document_open();
	hi_report_header_json(&s->header, "heapinspect/none/v1", &d->json);
	hi_json_end(&d->json);
	HI_EXPECT_GOLDEN("header-json", document_close(d));
}

/* The step that writes the document has not ended; without -v there is no member. */
HI_TEST(report_json, steps_that_have_ended_are_listed_in_their_order)
{
	struct hi_phase list[] = {
		{.name = "modules", .ns = 3000, .cpu_ns = 2000, .peak_bytes = 4096},
		{.name = "dominators", .ns = 1, .peak_bytes = 8192},
		{.name = "report"}};
	const struct hi_phases phases = {.items = list, .count = 3};
	struct sample *s = sample_make();
	struct document *d = document_open();
	const char *text;

	hi_report_header_json(&s->header, "heapinspect/none/v1", &d->json);
	hi_json_end(&d->json);
	HI_ASSERT(!strstr(document_close(d), "phases"));
	s->header.phases = &phases;
	d = document_open();
	hi_report_header_json(&s->header, "heapinspect/none/v1", &d->json);
	hi_json_end(&d->json);
	text = document_close(d);
	HI_ASSERT_MSG(strstr(text, "  \"phases\": [\n"
				   "    {\"name\": \"modules\", \"wall_ns\": 3000, "
				   "\"cpu_ns\": 2000, \"peak_bytes\": 4096},\n"
				   "    {\"name\": \"dominators\", \"wall_ns\": 1, "
				   "\"cpu_ns\": 0, \"peak_bytes\": 8192}\n  ],\n"),
		      "%s", text);
}

/* Wasted are 40,960 - 6,400 B, and 65,536 - 1,300 * 48 + 20 B beyond the top. */
HI_TEST(report_json, slabs_and_free_blocks_of_every_kind_are_what_the_schema_says)
{
	struct hi_slab_class classes[] = {
		{"jemalloc", 64, 10, 40960, 640, 100, 40, 2, 3, 12288, 0},
		{"mimalloc", 48, 1, 65536, 1300, 1300, 0, 0, 0, 0, 20}};
	struct hi_heap_use use = {.slab_classes = classes,
				  .n_slab_classes = 2,
				  .states = (1u << HI_BLOCK_STATES) - 1};
	struct hi_waste waste = {};
	struct hi_restrict only = {.top = 1};
	struct sample *s = sample_make();
	struct document *d = document_open();
	struct hi_waste_report *report;
	struct hi_error err;

	HI_ASSERT_OK(
		hi_waste_report_create(&(struct hi_waste_inputs){.header = &s->header,
								 .graph = s->graph,
								 .waste = &waste,
								 .use = &use,
								 .only = &only},
				       &report, &err),
		&err);
	hi_waste_json(report, &d->json);
	hi_waste_report_destroy(report);
	HI_EXPECT_GOLDEN("waste-json-slabs", document_close(d));
	HI_ASSERT_EQ(0, validate_closed(d, "rows.v1.json"));
}

HI_TEST(report_json, census_retained_and_leaks_are_what_the_schema_says)
{
	struct sample *s = sample_make();
	struct hi_restrict only = {.top = 3, .min_size = 1000};
	struct hi_census_report *census;
	struct hi_retained_report *retained;
	struct hi_leaks_report *leaks;
	struct document *d;
	struct hi_error err;

	HI_ASSERT_OK(hi_census_report_create(&s->header, s->graph, &s->census, &only,
					     &census, &err),
		     &err);
	d = document_open();
	hi_census_json(census, &d->json);
	hi_census_report_destroy(census);
	HI_ASSERT_EQ(0, validate(d, "rows.v1.json"));
	HI_ASSERT_OK(hi_retained_report_create(&s->header, s->graph, &s->reach,
					       &s->dominators, &s->census, &only, NULL,
					       UINT64_MAX, &retained, &err),
		     &err);
	d = document_open();
	hi_retained_json(retained, &d->json);
	hi_retained_report_destroy(retained);
	HI_ASSERT_EQ(0, validate(d, "rows.v1.json"));
	HI_ASSERT_OK(hi_leaks_report_create(&s->header, s->graph, &s->reach, &s->leaks,
					    &only, &leaks, &err),
		     &err);
	d = document_open();
	hi_leaks_json(leaks, &d->json);
	hi_leaks_report_destroy(leaks);
	HI_ASSERT_EQ(0, validate(d, "rows.v1.json"));
}

HI_TEST(report_json, paths_and_explain_are_what_the_schema_says)
{
	struct sample *s = sample_make();
	struct hi_paths_step steps[2] = {
		{.info = hi_node_info(s->graph, &s->dominators, s->graph->first_root),
		 .edge = ""},
		{.info = hi_node_info(s->graph, &s->dominators, 0), .edge = "server.db"}};
	struct hi_paths_way way = {.text = "server.db",
				   .pattern = "server.db",
				   .n_alike = 1,
				   .steps = steps,
				   .n_steps = 2};
	struct hi_paths_report paths = {.header = &s->header,
					.query = "0x1",
					.target = SAMPLE_HOSTILE,
					.n_targets = 1,
					.ways = &way,
					.n_ways = 1};
	struct hi_explain_field field = {.path = "next",
					 .type = "struct node *",
					 .value = "\"a\\n\"",
					 .size = 8,
					 .points = true,
					 .to = steps[1].info};
	struct hi_explain_link link = {.info = steps[0].info, .text = "server.db"};
	struct hi_explain_report explain = {.header = &s->header,
					    .address = SAMPLE_HEAP,
					    .state = "live",
					    .mapping = "[heap]",
					    .block = SAMPLE_HEAP,
					    .usable = 88,
					    .cost = 96,
					    .info = steps[1].info,
					    .evidence = SAMPLE_HOSTILE,
					    .fields = &field,
					    .n_fields = 1,
					    .n_fields_total = 1,
					    .referrers = &link,
					    .n_referrers = 1,
					    .n_referrers_total = 1,
					    .dominators = &steps[0].info,
					    .n_dominators = 1};
	struct document *d = document_open();

	hi_paths_json(&paths, &d->json);
	HI_ASSERT_EQ(0, validate(d, "rows.v1.json"));
	d = document_open();
	hi_explain_json(&explain, &d->json);
	HI_ASSERT_EQ(0, validate(d, "rows.v1.json"));
}
