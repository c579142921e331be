/* SPDX-License-Identifier: BSD-2-Clause */
/* Exports of a recording, as other programs read them, against what
 * fixtures/recorded_sites.c says that it allocates. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/support/json.h"
#include "tests/support/readers.h"
#include "tests/support/recorded_sites.h"
#include "tests/support/snapshots.h"

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
	static const char program[] = HI_FIXTURE_DIR "/recorded_sites";
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

static void check_pprof_of_the_contexts(const char *file)
{
	char *in = snapshot_directory();
	const char *pprof = snapshot_path(readers_directory(), "pprof"), *raw;
	const char *path = export_contexts(file, "pprof", in, "app.pb.gz");
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
static void check_pprof_of_the_heap(const char *file)
{
	char *in = snapshot_directory();
	const char *pprof = snapshot_path(readers_directory(), "pprof");
	const char *path = snapshot_path(in, "heap.pb.gz");
	const char *const ask[] = {pprof, "-raw", path, NULL};
	struct hi_command *c = hi_heapinspect("export", file, "-f", "pprof", "-o", path);

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

/* The one point whose functions begin so, from the innermost on. */
static const json_t *point_of(const json_t *view, const char *functions)
{
	const json_t *found = NULL;
	json_t *point;

	doc_each (point, doc_at(view, "points")) {
		const char *names = doc_text(point, "functions");

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
		HI_ASSERT_EQ(blocks * bytes_each, doc_number(point, "%s", known[i][0]));
		HI_ASSERT_EQ(blocks, doc_number(point, "%s", known[i][1]));
	}
	HI_ASSERT(!doc_find(point, "gb") && !doc_find(point, "tl"));
}

static void check_dhat_sums(const json_t *view)
{
	const json_t *points = doc_at(view, "points");

	HI_ASSERT_EQ(doc_sum(points, "tb"), doc_number(view, "bytes"));
	HI_ASSERT_EQ(doc_sum(points, "tbk"), doc_number(view, "blocks"));
	HI_ASSERT(doc_number(view, "blocks") >= NODES + LEAKED + CHURNED);
}

static void check_dhat_in_its_viewer(const char *file)
{
	char *in = snapshot_directory();
	json_t *view = view_dhat(export_contexts(file, "dhat", in, "app.dhat"));
	const json_t *churned = point_of(view, "churn_blocks<main<");

	check_point(view, "xmalloc<make_node<prepend_node<make_first<go<main<", FIRST,
		    NODE);
	check_point(view, "xmalloc<make_node<prepend_node<make_second<go<main<", SECOND,
		    NODE);
	check_point(view, "xmalloc<make_node<prepend_node<run_thread<", THREADED, NODE);
	check_point(view, "leak_blocks<go<main<", LEAKED, BLOCK);
	HI_ASSERT_EQ(CHURNED, doc_number(churned, "tbk"));
	HI_ASSERT_EQ(1, doc_number(churned, "mbk"));
	HI_ASSERT_EQ(106, doc_number(churned, "mb"));
	HI_ASSERT_EQ(0, doc_number(churned, "ebk"));
	check_dhat_sums(view);
	HI_ASSERT(strstr(doc_text(view, "page"), ": churn_blocks ("));
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

	HI_ASSERT_EQ(objects, doc_number(stack, "objects"));
	HI_ASSERT_EQ(objects * cost, doc_number(stack, "bytes"));
}

/* The row of the function in recorded_sites.c; count and size are what was allocated
 * there. */
static void check_traced_function(const json_t *traces, const char *name, int count,
				  long long size)
{
	json_t *row = doc_row(doc_at(traces, "functions"), "name", name);

	HI_ASSERT_MSG(strstr(doc_text(row, "file"), "/recorded_sites.c"), "%s",
		      doc_text(row, "file"));
	HI_ASSERT(doc_number(row, "line") > 0);
	HI_ASSERT_EQ(count, doc_number(row, "count"));
	HI_ASSERT_EQ(size, doc_number(row, "size"));
}

/* Retained sizes are read from the same file, by other programs. */
static void compare_retained(const char *file, const char *in, const char *path)
{
	const char *const ask[] = {"node",
				   HI_SOURCE_DIR "/tests/interop/heapsnapshots.mjs",
				   readers_directory(), path, NULL};

	readers_export(file, "ndjson", NULL, in, "app.ndjson");
	HI_ASSERT(doc_number(readers_ask_json(ask), "live") >= BEFORE + NODES);
}

static void check_heapsnapshot_has_the_stacks(const char *file)
{
	char *in = snapshot_directory();
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
		     doc_number(point_of(traces, "leak_blocks<go<main<"), "objects"));
	check_traced_function(traces, "xmalloc", NODES, NODES * NODE);
	check_traced_function(traces, "leak_blocks", LEAKED, LEAKED * BLOCK);
	check_traced_function(traces, "churn_blocks", CHURNED, churned_bytes());
	compare_retained(file, in, path);
}

HI_TEST_ROOT(record_exports, exports_of_one_recording_agree)
{
	struct recorded_sites s = sites_record(NULL);

	check_pprof_of_the_contexts(s.file);
	check_pprof_of_the_heap(s.file);
	check_heapsnapshot_has_the_stacks(s.file);
	check_dhat_in_its_viewer(s.file);
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
