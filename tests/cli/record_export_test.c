/* SPDX-License-Identifier: BSD-2-Clause */
/* Exports of a recording, as other programs read them, against what
 * fixtures/recorded_sites.c says that it allocates. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/readers.h"
#include "tests/support/recording_run.h"
#include "tests/support/snapshots.h"

/* Of fixtures/recorded_sites.c. */
enum { BEFORE = 200, FIRST = 500, SECOND = 300, LEAKED = 50, THREADED = 70 };
enum { NODE = 48, NODE_COST = 64, BLOCK = 1000, CHURNED = 100000 };
enum { NODES = FIRST + SECOND + THREADED };

/* IN/app.hirec, in which everything was allocated. */
static const char *record_all_sites(const char *in)
{
	struct hi_fixture *fx = hi_fixture_start("recorded_sites", NULL);
	const char *file = snapshot_path(in, "app.hirec");
	struct recording_run run;
	struct hi_command *c;

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	run = recording_start(fx->pid, "-o", file, NULL);
	hi_fixture_tell(fx, "go");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	hi_fixture_tell(fx, "churn");
	hi_fixture_read_until(fx, "done", NULL, NULL);
	c = recording_end(&run, SIGINT);
	HI_ASSERT_MSG(c->exit_code == 0, "exit %d: %s", c->exit_code, c->err);
	return file;
}

static const char *export_contexts(const char *file, const char *format, const char *in,
				   const char *name)
{
	const char *path = snapshot_path(in, name);
	struct hi_command *c = hi_heapinspect("export", file, "-f", format, "--by",
					      "context", "-o", path);

	HI_ASSERT_MSG(c->exit_code == 0, "-f %s: exit %d: %s", format, c->exit_code,
		      c->err);
	return path;
}

/* ---- pprof ---- */

/* The flat value that Go's pprof prints for a function, of the stacks that have another
 * one; 0: it prints none. */
static long long pprof_flat(const char *path, const char *values, const char *focus,
			    const char *function)
{
	char index[64], focused[128];
	const char *const ask[] = {snapshot_path(readers_directory(), "pprof"),
				   "-top",
				   "-unit=B",
				   "-nodecount=0",
				   "-nodefraction=0",
				   "-edgefraction=0",
				   index,
				   focused,
				   path,
				   NULL};
	size_t n = strlen(function);

	snprintf(index, sizeof(index), "-sample_index=%s", values);
	snprintf(focused, sizeof(focused), "-focus=%s", focus);
	for (const char *line = readers_ask(ask); line; line = strchr(line + 1, '\n')) {
		size_t size = strcspn(line + 1, "\n");

		if (size > n + 2 && strncmp(line + 1 + size - n, function, n) == 0 &&
		    strncmp(line + 1 + size - n - 2, "  ", 2) == 0)
			return atoll(line + 1);
	}
	return 0;
}

static long long churned_bytes(void)
{
	long long sum = 0;

	for (int i = 0; i < CHURNED; i++)
		sum += 100 + i % 7;
	return sum;
}

static void check_pprof_values(const char *path)
{
	HI_ASSERT_EQ(NODES, pprof_flat(path, "inuse_objects", ".", "xmalloc"));
	HI_ASSERT_EQ(NODES * NODE, pprof_flat(path, "inuse_space", ".", "xmalloc"));
	HI_ASSERT_EQ(NODES, pprof_flat(path, "alloc_objects", ".", "xmalloc"));
	HI_ASSERT_EQ(NODES * NODE, pprof_flat(path, "alloc_space", ".", "xmalloc"));
	HI_ASSERT_EQ(FIRST, pprof_flat(path, "inuse_objects", "make_first", "xmalloc"));
	HI_ASSERT_EQ(SECOND, pprof_flat(path, "inuse_objects", "make_second", "xmalloc"));
	HI_ASSERT_EQ(THREADED,
		     pprof_flat(path, "inuse_objects", "run_thread", "xmalloc"));
	HI_ASSERT_EQ(0, pprof_flat(path, "inuse_objects", ".", "churn_blocks"));
	HI_ASSERT_EQ(CHURNED, pprof_flat(path, "alloc_objects", ".", "churn_blocks"));
	HI_ASSERT_EQ(churned_bytes(),
		     pprof_flat(path, "alloc_space", ".", "churn_blocks"));
	HI_ASSERT_EQ(LEAKED * BLOCK, pprof_flat(path, "alloc_space", ".", "leak_blocks"));
	HI_ASSERT_EQ(0, pprof_flat(path, "inuse_space", ".", "leak_blocks"));
	HI_ASSERT_EQ(BEFORE,
		     pprof_flat(path, "inuse_objects", ".", "(before the recording)"));
	HI_ASSERT_EQ(BEFORE * NODE_COST,
		     pprof_flat(path, "inuse_space", ".", "(before the recording)"));
	HI_ASSERT_EQ(0, pprof_flat(path, "alloc_space", ".", "(before the recording)"));
}

/* "recorded_sites BUILD-ID" of the mapping, as readelf has it. */
static void check_pprof_mapping(const char *raw)
{
	static const char program[] = HI_BINARY_DIR "/fixtures/recorded_sites";
	struct hi_command *c = hi_command_run(0, "readelf", "-n", program, NULL);
	const char *id = strstr(c->out, "Build ID: ");
	char mapping[600];

	HI_ASSERT(id);
	snprintf(mapping, sizeof(mapping), "%s %.40s", program, id + 10);
	HI_ASSERT_MSG(strstr(raw, mapping), "no %s in %s", mapping, raw);
}

/* "0xADDR M=1 FUNCTION …/recorded_sites.c:LINE", where the fixture has that text. */
static void check_pprof_line(const char *raw, const char *function, const char *text)
{
	char shell[300], place[200];
	struct hi_command *c;
	const char *at;

	snprintf(shell, sizeof(shell),
		 "grep -n '%s' " HI_SOURCE_DIR "/fixtures/recorded_sites.c | cut -d: -f1",
		 text);
	c = hi_command_run(0, "sh", "-c", shell, NULL);
	snprintf(place, sizeof(place), "/fixtures/recorded_sites.c:%d s=", atoi(c->out));
	snprintf(shell, sizeof(shell), " M=1 %s /", function);
	at = strstr(raw, shell);
	HI_ASSERT_MSG(at, "no%s in %s", shell, raw);
	HI_ASSERT_MSG(strncmp(strstr(at, "/fixtures/"), place, strlen(place)) == 0,
		      "%s at %.200s", place, at);
}

HI_TEST_ROOT(record_exports, pprof_has_what_is_in_use_and_what_was_allocated)
{
	char *in = snapshot_directory();
	const char *pprof = snapshot_path(readers_directory(), "pprof"), *raw;
	const char *path =
		export_contexts(record_all_sites(in), "pprof", in, "app.pb.gz");
	const char *const ask[] = {pprof, "-raw", path, NULL};

	check_pprof_values(path);
	raw = readers_ask(ask);
	HI_ASSERT_MSG(strstr(raw, "inuse_objects/count inuse_space/bytes[dflt] "
				  "alloc_objects/count alloc_space/bytes"),
		      "%.400s", raw);
	check_pprof_mapping(raw);
	check_pprof_line(raw, "xmalloc", "malloc(size)");
	check_pprof_line(raw, "leak_blocks", "calloc(1, 1000)");
}

/* Without --by context it is the heap's own profile, recording or not. */
HI_TEST_ROOT(record_exports, pprof_of_the_heap_is_another_one)
{
	char *in = snapshot_directory();
	const char *pprof = snapshot_path(readers_directory(), "pprof");
	const char *path = snapshot_path(in, "heap.pb.gz");
	const char *const ask[] = {pprof, "-raw", path, NULL};
	struct hi_command *c =
		hi_heapinspect("export", record_all_sites(in), "-f", "pprof", "-o", path);

	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT(strstr(readers_ask(ask), "retained_space/bytes"));
}

/* ---- DHAT ---- */

static json_t *view_dhat(const char *path)
{
	static const char viewer[] = "/usr/libexec/valgrind/dh_view.js";
	const char *const ask[] = {"node", HI_SOURCE_DIR "/tests/interop/dhat_view.mjs",
				   viewer, path, NULL};

	readers_need("valgrind");
	readers_need("node");
	return readers_ask_json(ask);
}

static long long number_in(const json_t *object, const char *name)
{
	json_t *number = json_object_get(object, name);

	HI_ASSERT_MSG(json_is_integer(number), "no number %s", name);
	return json_integer_value(number);
}

/* The one point whose functions begin so, from the innermost on. */
static const json_t *point_of(const json_t *view, const char *functions)
{
	const json_t *found = NULL;
	json_t *point;
	size_t i;

	json_array_foreach(json_object_get(view, "points"), i, point)
	{
		const char *names =
			json_string_value(json_object_get(point, "functions"));

		if (strncmp(names, functions, strlen(functions)) != 0)
			continue;
		HI_ASSERT_MSG(!found, "two points by %s", functions);
		found = point;
	}
	HI_ASSERT_MSG(found, "no point by %s", functions);
	return found;
}

static void check_point(const json_t *view, const char *functions, int blocks,
			int bytes_each)
{
	const json_t *point = point_of(view, functions);
	static const char *const known[][2] = {
		{"tb", "tbk"}, {"mb", "mbk"}, {"eb", "ebk"}};

	for (int i = 0; i < 3; i++) {
		HI_ASSERT_EQ(blocks * bytes_each, number_in(point, known[i][0]));
		HI_ASSERT_EQ(blocks, number_in(point, known[i][1]));
	}
	HI_ASSERT(!json_object_get(point, "gb") && !json_object_get(point, "tl"));
}

static void check_dhat_sums(const json_t *view)
{
	long long bytes = 0, blocks = 0;
	json_t *point;
	size_t i;

	json_array_foreach(json_object_get(view, "points"), i, point)
	{
		bytes += number_in(point, "tb");
		blocks += number_in(point, "tbk");
	}
	HI_ASSERT_EQ(bytes, number_in(view, "bytes"));
	HI_ASSERT_EQ(blocks, number_in(view, "blocks"));
	HI_ASSERT(blocks >= NODES + LEAKED + CHURNED);
}

HI_TEST_ROOT(record_exports, dhat_is_what_its_viewer_reads)
{
	char *in = snapshot_directory();
	const char *file = record_all_sites(in);
	json_t *view = view_dhat(export_contexts(file, "dhat", in, "app.dhat"));
	const json_t *churned = point_of(view, "churn_blocks<main<");

	check_point(view, "xmalloc<make_node<prepend_node<make_first<go<main<", FIRST,
		    NODE);
	check_point(view, "xmalloc<make_node<prepend_node<make_second<go<main<", SECOND,
		    NODE);
	check_point(view, "xmalloc<make_node<prepend_node<run_thread<", THREADED, NODE);
	check_point(view, "leak_blocks<go<main<", LEAKED, BLOCK);
	HI_ASSERT_EQ(CHURNED, number_in(churned, "tbk"));
	HI_ASSERT_EQ(1, number_in(churned, "mbk"));
	HI_ASSERT_EQ(106, number_in(churned, "mb"));
	HI_ASSERT_EQ(0, number_in(churned, "ebk"));
	check_dhat_sums(view);
	HI_ASSERT(strstr(json_string_value(json_object_get(view, "page")),
			 ": churn_blocks ("));
}

/* It has nothing to say without one. */
HI_TEST_SCENARIO(record_exports, dhat_needs_a_recording)
{
	struct hi_command *c = hi_heapinspect(
		"export", HI_SOURCE_DIR "/tests/data/v1.hisnap", "-f", "dhat");

	HI_ASSERT_EQ(2, c->exit_code);
	HI_ASSERT_STREQ("", c->out);
	HI_ASSERT_MSG(strstr(c->err, "heapinspect record"), "%s", c->err);
}

/* ---- traces in a .heapsnapshot ---- */

static json_t *read_traces(const char *path)
{
	const char *const ask[] = {"node", HI_SOURCE_DIR "/tests/interop/traces.mjs",
				   readers_directory(), path, NULL};

	return readers_ask_json(ask);
}

static void check_traced_stack(const json_t *traces, const char *functions, int objects,
			       int cost)
{
	const json_t *stack = point_of(traces, functions);

	HI_ASSERT_EQ(objects, number_in(stack, "objects"));
	HI_ASSERT_EQ(objects * cost, number_in(stack, "bytes"));
}

/* The row of the function in recorded_sites.c; count and size are what was allocated
 * there. */
static void check_traced_function(const json_t *traces, const char *name, int count,
				  long long size)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(traces, "functions"), i, row)
	{
		const char *file = json_string_value(json_object_get(row, "file"));

		if (strcmp(json_string_value(json_object_get(row, "name")), name) != 0)
			continue;
		HI_ASSERT_MSG(strstr(file, "/recorded_sites.c"), "%s", file);
		HI_ASSERT(number_in(row, "line") > 0);
		HI_ASSERT_EQ(count, number_in(row, "count"));
		HI_ASSERT_EQ(size, number_in(row, "size"));
		return;
	}
	hi_test_fail(__FILE__, __LINE__, "no function %s", name);
}

/* Retained sizes are read from the same file, by other programs. */
static void compare_retained(const char *file, const char *in, const char *path)
{
	const char *const ask[] = {"node",
				   HI_SOURCE_DIR "/tests/interop/heapsnapshots.mjs",
				   readers_directory(), path, NULL};

	readers_export(file, "ndjson", NULL, in, "app.ndjson");
	HI_ASSERT(number_in(readers_ask_json(ask), "live") >= BEFORE + NODES);
}

HI_TEST_ROOT(record_exports, heapsnapshot_has_the_stacks_of_its_objects)
{
	char *in = snapshot_directory();
	const char *file = record_all_sites(in);
	const char *path =
		readers_export(file, "heapsnapshot", NULL, in, "app.heapsnapshot");
	json_t *traces = read_traces(path);

	check_traced_stack(traces, "xmalloc<make_node<prepend_node<make_first<go<main<",
			   FIRST, NODE_COST);
	check_traced_stack(traces, "xmalloc<make_node<prepend_node<make_second<go<main<",
			   SECOND, NODE_COST);
	check_traced_stack(traces, "xmalloc<make_node<prepend_node<run_thread<", THREADED,
			   NODE_COST);
	HI_ASSERT_EQ(LEAKED,
		     number_in(point_of(traces, "leak_blocks<go<main<"), "objects"));
	check_traced_function(traces, "xmalloc", NODES, NODES * NODE);
	check_traced_function(traces, "leak_blocks", LEAKED, LEAKED * BLOCK);
	check_traced_function(traces, "churn_blocks", CHURNED, churned_bytes());
	compare_retained(file, in, path);
}

HI_TEST_SCENARIO(record_exports, heapsnapshot_without_a_recording_has_no_traces)
{
	struct hi_command *c =
		hi_heapinspect("export", HI_SOURCE_DIR "/tests/data/v1.hisnap", "-q",
			       "-f", "heapsnapshot");

	HI_ASSERT_EQ(0, c->exit_code);
	HI_ASSERT(strstr(c->out, "\"trace_node_fields\":[],"));
	HI_ASSERT(strstr(c->out, "\"trace_function_count\":0}"));
	HI_ASSERT(strstr(c->out, "\"trace_function_infos\":[],\"trace_tree\":[],"));
}
