/* SPDX-License-Identifier: BSD-2-Clause */
/* Exports of a drawn recording, with what a real one has seldom: a stack that is cut, one
 * that is missing, inlined functions, frames of no module (tests/census/snapshots.h). */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "tests/census/snapshots.h"
#include "tests/support/json.h"
#include "tests/support/readers.h"
#include "tests/support/snapshots.h"

enum { OBJECTS = 300 };

static const char *draw_recording(const char *in)
{
	OWN(graph) *g = drawn_graph_of(5, OBJECTS, false);
	OWN(reach) *reach = reach_of(g);
	const char *file = snapshot_path(in, "drawn.hirec");
	struct hi_error err;
	int fd = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	HI_ASSERT(fd >= 0);
	HI_ASSERT_OK(try_write(fd, g, reach, NULL, false, &err), &err);
	close(fd);
	return file;
}

static const char *export_drawn(const char *in, const char *format)
{
	const char *path = snapshot_path(in, "drawn.export");
	struct hi_command *c = hi_heapinspect("export", draw_recording(in), "-f", format,
					      "--by", "context", "-o", path);

	HI_ASSERT_MSG(c->exit_code == 0, "%s", c->err);
	HI_ASSERT_MSG(strstr(c->err, "lost events (1)"), "%s", c->err);
	return path;
}

HI_TEST_INTEROP(interop_recordings, pprof_has_a_line_for_each_inlined_function)
{
	char *in = snapshot_directory();
	const char *const ask[] = {snapshot_path(readers_directory(), "pprof"), "-raw",
				   export_drawn(in, "pprof"), NULL};
	static const char *const words[] = {
		" 5         50: ",
		" 9        900: ",
		" 8        800: ",
		" xmalloc x.h:3 s=0()\n             parse p.c:7 s=0()\n",
		" (no module) :0",
		" f :0",
		" main main.c:12",
		" (no stack) ",
		" ... ",
		" (before the recording) "};
	const char *raw = readers_ask(ask);

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		HI_ASSERT_MSG(strstr(raw, words[i]), "no '%s' in %s", words[i], raw);
}

static long long number_of_point(const json_t *view, const char *functions,
				 const char *key)
{
	json_t *point = doc_row(doc_at(view, "points"), "functions", functions);

	return doc_number(point, "%s", key);
}

HI_TEST_INTEROP(interop_recordings, dhat_says_where_a_stack_is_cut)
{
	char *in = snapshot_directory();
	const char *const ask[] = {"node", HI_SOURCE_DIR "/tests/interop/dhat_view.mjs",
				   "/usr/libexec/valgrind/dh_view.js",
				   export_drawn(in, "dhat"), NULL};
	static const char cut[] = "f<xmalloc<parse<main<[outer frames are missing]";
	json_t *view;

	readers_need("valgrind");
	view = readers_ask_json(ask);
	HI_ASSERT_EQ(800, number_of_point(view, cut, "tb"));
	HI_ASSERT_EQ(7, number_of_point(view, cut, "ebk"));
	HI_ASSERT_EQ(900, number_of_point(view, "?\?\?<main", "tb"));
	HI_ASSERT_EQ(50, number_of_point(view, "[no stack]", "tb"));
	HI_ASSERT_EQ(2, number_of_point(view, "[no stack]", "mbk"));
	HI_ASSERT_EQ(50 + 900 + 800, doc_number(view, "bytes"));
}

HI_TEST_INTEROP(interop_recordings, traces_have_a_node_for_each_inlined_function)
{
	char *in = snapshot_directory();
	const char *file = draw_recording(in);
	const char *const ask[] = {
		"node", HI_SOURCE_DIR "/tests/interop/traces.mjs", readers_directory(),
		readers_export(file, "heapsnapshot", NULL, in, "drawn.heapsnapshot"),
		NULL};
	static const char *const stacks[] = {"(root)", "(no module)<main<(root)",
					     "f<xmalloc<parse<main<(root)"};
	json_t *traces = readers_ask_json(ask);
	long long objects[3] = {};

	for (uint32_t i = 0; i < OBJECTS; i++)
		if (drawn_context(i) < 3)
			objects[drawn_context(i)]++;
	for (int i = 0; i < 3; i++)
		HI_ASSERT_EQ(objects[i], number_of_point(traces, stacks[i], "objects"));
	/* "(root)" and those of the frames. */
	HI_ASSERT_EQ(1 + 5, doc_number(traces, "count"));
}
