/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command `browse`: the dominator tree, types, referrers and paths on a terminal.
 *
 * The decoding process draws; the first one sets the modes of the terminal and restores
 * them (Note [Two processes on one terminal] in cli/terminal/browse_terminal.h). The
 * browser itself is a state that takes keys (report/reports/browse/browse.h) and a screen
 * that is drawn of it (report/reports/browse/browse_screen.h), without a terminal in
 * either.
 */
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/command/command.h"
#include "cli/commands/explain.h"
#include "cli/options/option_take.h"
#include "cli/terminal/browse_screen.h"
#include "cli/terminal/browse_terminal.h"
#include "report/parts/decoded_share.h"
#include "session/computed.h"
#include "session/edge_text.h"
#include "session/inspect/restrictions.h"
#include "session/path_text.h"

struct browsing {
	struct hi_inspection *in;
	const struct hi_report_header *header;
};

static const char *text_of_browsed_edge(void *arg, hi_node from, hi_node to)
{
	struct browsing *b = arg;

	/* Kinds and the super-root have no fields. */
	return from < b->in->graph->first_kind ? hi_path_text_of_edge(b->in, from, to)
					       : "";
}

/* What cannot be named keeps its address. */
static void name_browsed_nodes(void *arg, const hi_node *nodes, size_t n,
			       const char **names)
{
	struct browsing *b = arg;
	HI_GUARD(hi_paths_destroy) struct hi_paths *paths = NULL;
	struct hi_error quiet;

	if (hi_kept_ways(b->in, nodes, n, &paths, &quiet) != HI_OK)
		return;
	for (size_t i = 0; i < n; i++)
		if (paths->paths[i].length)
			names[i] = hi_path_text_of_nodes(b->in, paths->paths[i].nodes,
							 paths->paths[i].length);
}

static enum hi_status explain_browsed_node(void *arg, hi_node node, struct hi_page *page,
					   struct hi_error *err)
{
	struct browsing *b = arg;

	return hi_explain_node(b->in, b->header, node, page, err);
}

/* "redis-server, pid 4242", as the title of a page. */
static const char *name_target(const struct hi_report_header *header,
			       struct hi_page *page)
{
	hi_report_header_title(header, page);
	return page->items.count ? page->items.items[0].text : "";
}

static enum hi_status browse_heap(struct browsing *b,
				  const struct hi_field_reader *fields,
				  struct hi_error *err)
{
	HI_GUARD(hi_browse_destroy) struct hi_browse *browse = NULL;
	HI_GUARD(hi_page_destroy) struct hi_page *page = hi_page_create();
	const struct hi_inspection *in = b->in;
	struct hi_browse_heap heap = {.graph = in->graph,
				      .reach = in->shown.reach,
				      .dominators = in->results.dominators,
				      .census = in->results.census,
				      .fields = fields,
				      .threads = hi_inspection_threads(in),
				      .edge_text = text_of_browsed_edge,
				      .name_nodes = name_browsed_nodes,
				      .explain = explain_browsed_node,
				      .full_names = in->options->output.full_names,
				      .arg = b};
	struct hi_browse_about about = {.bytes = in->shown.reach->live_bytes,
					.objects = in->shown.reach->live_objects,
					.at_least = hi_heap_known(b->header) ==
						    HI_HEAP_UNKNOWN,
					.time_ns = b->header->time_ns};
	struct hi_text_options looks = hi_output_looks(in->options, STDOUT_FILENO);
	enum hi_status status;

	if (!page)
		return hi_fail_memory(err, "page");
	about.title = name_target(b->header, page);
	status = hi_browse_create(&heap, &about, &browse, err);
	return status == HI_OK ? hi_browse_show(browse, &looks, err) : status;
}

static enum hi_status run_browse_command(struct hi_inspection *in,
					 const struct hi_report_header *header,
					 struct hi_output *output, struct hi_error *err)
{
	struct browsing b = {.in = in, .header = header};
	struct hi_edge_text_reader names = {};
	struct hi_field_reader fields;
	enum hi_status status = hi_edge_text_open(in, &names, err);

	(void)output;
	if (status != HI_OK)
		return status;
	fields = hi_edge_text_fields(&names);
	status = browse_heap(&b, &fields, err);
	hi_edge_text_close(&names);
	return status;
}

/* Before a target is stopped for nothing. */
static int check_browse(const struct hi_given *given)
{
	if (given->options->target.program)
		return hi_option_wrong("browse: not with -- PROGRAM, which has the "
				       "terminal; heapinspect snap -o FILE -- PROGRAM "
				       "keeps its heap");
	if (hi_browse_terminal_is_possible())
		return 0;
	return hi_option_wrong("browse: standard input and output are no terminal; "
			       "heapinspect retained prints the same tree");
}

const struct hi_command hi_command_browse = {
	.id = HI_COMMAND_BROWSE,
	.name = "browse",
	.arguments = "",
	.purpose = "Browse the dominator tree, types, referrers and paths on a terminal.",
	.help = "The keys are those of ncdu: arrows or h j k l, enter opens a row, ? "
		"shows\n"
		"all keys, q quits. The process runs on while its heap is browsed.\n"
		"\n"
		"Examples:\n"
		"  heapinspect browse --pid 4242\n"
		"  heapinspect browse app.hisnap",
	.wanted = HI_WANT_DOMINATORS | HI_WANT_CENSUS,
	.write = run_browse_command,
	.check = check_browse,
	.reads_keys = true,
};
