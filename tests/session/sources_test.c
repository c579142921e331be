/* SPDX-License-Identifier: BSD-2-Clause */
/* The contract of session/source.h: one program as a process, as a core file and as a
 * snapshot file. All of them give the same answers, or say that they have none. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "census/snapshot/snapshot_file.h"
#include "decode/usage/contents.h"
#include "decode/usage/heap_use.h"
#include "session/edge_text.h"
#include "session/inspect/inspect.h"
#include "session/mapped_files.h"
#include "session/snapshot/snapshot_source.h"
#include "tests/harness.h"
#include "tests/support/fixture.h"
#include "tests/support/workshop.h"

enum {
	WANTED = HI_WANT_DOMINATORS | HI_WANT_LEAKS | HI_WANT_CENSUS | HI_WANT_LEDGER,
	SOURCES = 3
};

static struct hi_inspection *open_source(const struct hi_options *options)
{
	struct hi_inspection *in = NULL;
	struct hi_error err = {};

	HI_ASSERT_OK(hi_inspect_open(options, NULL, WANTED, &in, &err), &err);
	hi_test_defer(hi_inspect_close, in);
	return in;
}

static void save_snapshot(struct hi_inspection *in, const char *path)
{
	struct hi_snapshot_options options = {.threads = 1};
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct hi_error err = {};
	struct hi_report_header header;

	HI_ASSERT(fd >= 0);
	HI_ASSERT_OK(hi_inspect_make_header(in, &header, &err), &err);
	HI_ASSERT_OK(hi_snapshot_save(in, &header, fd, &options, &err), &err);
	close(fd);
}

/* The same program three times; the options stay. */
static void open_sources(struct hi_inspection *in[SOURCES])
{
	static struct hi_options options[SOURCES];
	static char core[320], file[320];
	const char *directory = workshop_open();
	struct hi_fixture *fx = hi_fixture_start("leak_shapes", "acyclic", "3", NULL);

	hi_fixture_read_until(fx, "ready", NULL, NULL);
	workshop_run("gcore -o core %d >/dev/null 2>&1", (int)fx->pid);
	snprintf(core, sizeof(core), "%s/core.%d", directory, (int)fx->pid);
	snprintf(file, sizeof(file), "%s/app.hisnap", directory);
	for (size_t i = 0; i < SOURCES; i++)
		options[i] =
			(struct hi_options){.output.quiet = true, .decoding.threads = 1};
	options[0].target.pid = fx->pid;
	options[1].target.core = core;
	options[2].target.file = file;
	in[0] = open_source(&options[0]);
	in[1] = open_source(&options[1]);
	save_snapshot(in[1], file);
	in[2] = open_source(&options[2]);
	hi_fixture_end(fx);
}

HI_TEST_SCENARIO(sources, are_chosen_by_what_the_options_name)
{
	struct hi_options file = {.target.file = "a.hisnap", .target.pid = 1},
			  process = {.target.pid = 1}, core = {.target.core = "core"};

	HI_ASSERT_STREQ("snapshot", hi_source_select(&file)->name);
	HI_ASSERT_STREQ("process", hi_source_select(&process)->name);
	HI_ASSERT_STREQ("core", hi_source_select(&core)->name);
}

HI_TEST_SCENARIO(sources, have_the_same_results)
{
	struct hi_inspection *in[SOURCES];

	open_sources(in);
	for (size_t i = 1; i < SOURCES; i++) {
		HI_ASSERT_EQ(in[0]->results.reach->live_objects,
			     in[i]->results.reach->live_objects);
		HI_ASSERT_EQ(in[0]->results.reach->live_bytes,
			     in[i]->results.reach->live_bytes);
		HI_ASSERT_EQ(in[0]->results.leaks->objects,
			     in[i]->results.leaks->objects);
		HI_ASSERT_EQ(in[0]->results.leaks->bytes, in[i]->results.leaks->bytes);
		HI_ASSERT_EQ(in[0]->results.census->n_rows,
			     in[i]->results.census->n_rows);
		HI_ASSERT_EQ(in[0]->graph->n_objects, in[i]->graph->n_objects);
		HI_ASSERT_EQ(hi_inspect_allocated(in[0]), hi_inspect_allocated(in[i]));
		HI_ASSERT_EQ(hi_inspect_heap_is_known(in[0]),
			     hi_inspect_heap_is_known(in[i]));
		HI_ASSERT(in[i]->results.ledger_known);
	}
}

HI_TEST_SCENARIO(sources, have_the_same_header)
{
	struct hi_inspection *in[SOURCES];
	struct hi_report_header header[SOURCES];
	struct hi_error err = {};

	open_sources(in);
	for (size_t i = 0; i < SOURCES; i++) {
		HI_ASSERT_OK(hi_inspect_make_header(in[i], &header[i], &err), &err);
		HI_ASSERT_OK(hi_inspect_check(in[i], &err), &err);
		HI_ASSERT_STREQ(header[0].exe, header[i].exe);
		HI_ASSERT_STREQ(header[0].build_id, header[i].build_id);
	}
	HI_ASSERT(!header[0].file && !header[1].file);
	HI_ASSERT_STREQ(in[2]->options->target.file, header[2].file);
}

/* Of every edge, one by one and all of a node at once. */
HI_TEST_SCENARIO(sources, describe_edges_alike)
{
	struct hi_inspection *in[SOURCES];
	struct hi_edge_text_reader readers[SOURCES] = {};
	const char *texts[SOURCES][64];
	struct hi_error err = {};
	const struct hi_graph *g;

	open_sources(in);
	g = in[0]->graph;
	for (size_t i = 0; i < SOURCES; i++)
		HI_ASSERT_OK(hi_edge_text_open(in[i], &readers[i], &err), &err);
	for (hi_node node = 0; node < g->n_objects; node++) {
		struct hi_edges edges = hi_graph_edges(g, node);

		if (edges.count > 64)
			continue;
		for (size_t i = 0; i < SOURCES; i++) {
			HI_ASSERT_EQ(edges.count,
				     hi_graph_edges(in[i]->graph, node).count);
			HI_ASSERT_OK(hi_edge_text_read(&readers[i], node, texts[i], &err),
				     &err);
		}
		for (uint32_t k = 0; k < edges.count; k++)
			for (size_t i = 1; i < SOURCES; i++) {
				HI_ASSERT_STREQ(texts[0][k], texts[i][k]);
				HI_ASSERT_STREQ(in[0]->source->texts->edge_text(
							in[0], node, edges.to[k]),
						in[i]->source->texts->edge_text(
							in[i], node, edges.to[k]));
			}
	}
	for (size_t i = 0; i < SOURCES; i++)
		hi_edge_text_close(&readers[i]);
}

HI_TEST_SCENARIO(sources, know_the_bytes_that_are_used)
{
	struct hi_inspection *in[SOURCES];
	struct hi_error err = {};

	open_sources(in);
	for (size_t i = 0; i < SOURCES; i++)
		HI_ASSERT_OK(in[i]->source->contents->open_used_bytes(in[i], &err), &err);
	for (hi_node node = 0; node < in[0]->graph->n_objects; node++)
		for (size_t i = 1; i < SOURCES; i++)
			HI_ASSERT_EQ(in[0]->source->contents->used_bytes(in[0], node),
				     in[i]->source->contents->used_bytes(in[i], node));
}

HI_TEST_SCENARIO(sources, compare_contents_alike)
{
	struct hi_contents_options options = {.threads = 1, .top = 10};
	struct hi_waste *waste[SOURCES] = {};
	struct hi_heap_use use[SOURCES];
	struct hi_inspection *in[SOURCES];
	struct hi_error err = {};

	open_sources(in);
	for (size_t i = 0; i < SOURCES; i++) {
		HI_ASSERT_OK(in[i]->source->contents->compare_contents(in[i], &options,
								       &waste[i], &err),
			     &err);
		HI_ASSERT_OK(
			in[i]->source->contents->measure_heap_use(in[i], &use[i], &err),
			&err);
		HI_ASSERT_EQ(waste[0]->n_groups, waste[i]->n_groups);
	}
	for (size_t i = 0; i < SOURCES; i++) {
		hi_waste_destroy(waste[i]);
		hi_heap_use_free(&use[i]);
	}
}

HI_TEST_SCENARIO(sources, list_the_same_mapped_files)
{
	struct hi_inspection *in[SOURCES];
	const struct hi_mapped_file *files[SOURCES];
	size_t n[SOURCES];
	struct hi_error err = {};

	open_sources(in);
	for (size_t i = 0; i < SOURCES; i++) {
		HI_ASSERT_OK(hi_mapped_files_of(in[i], &files[i], &n[i], &err), &err);
		HI_ASSERT(n[i] > 0);
		HI_ASSERT_STREQ(files[0][0].path, files[i][0].path);
		HI_ASSERT_STREQ(files[0][0].build_id, files[i][0].build_id);
	}
}

/* What only an image has is refused with a status, not answered with nothing. */
HI_TEST_SCENARIO(sources, without_an_image_say_so)
{
	struct hi_inspection *in[SOURCES];
	struct hi_error err = {};
	struct hi_block block;
	bool found = true;

	open_sources(in);
	for (size_t i = 0; i < 2; i++) {
		HI_ASSERT_OK(in[i]->source->require_image(in[i], "audit", &err), &err);
		HI_ASSERT_OK(in[i]->source->contents->find_block(in[i], 8, &block, &found,
								 &err),
			     &err);
		HI_ASSERT(!found);
	}
	HI_ASSERT_STATUS(HI_UNSUPPORTED,
			 in[2]->source->require_image(in[2], "audit", &err));
	HI_ASSERT_STATUS(HI_NOT_FOUND, in[2]->source->contents->find_block(
					       in[2], 8, &block, &found, &err));
	HI_ASSERT(!found);
}
