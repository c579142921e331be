/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/summary.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cli/command/command.h"
#include "session/computed.h"
#include "session/dominator_tree.h"
#include "session/inspect/leak_cycles.h"
#include "session/leak_sites.h"
#include "session/leak_texts.h"
#include "session/operands.h"
#include "session/path_text.h"
#include "session/recorded.h"
#include "session/suspect_text.h"

/* Rows of a page and of JSON. */
enum { TOP_TEXT = 10, TOP_JSON = 100 };

struct suspect_text {
	const char **names, **paths;
};

/* As describe_suspects() and hi_suspect_text() ask for them. */
static void prepare_suspect_paths(struct hi_inspection *in, const struct hi_suspects *s)
{
	HI_GUARD(free)
	hi_node *objects = hi_alloc(2 * (s->count + s->n_lesser) * sizeof(*objects));
	size_t n = 0;

	for (size_t i = 0; objects && i < s->count + s->n_lesser; i++) {
		const struct hi_suspect *suspect =
			i < s->count ? &s->items[i] : &s->lesser[i - s->count];

		objects[n++] = suspect->top;
		if (suspect->accumulation == in->graph->super_root)
			objects[n++] = suspect->example;
	}
	if (n)
		hi_path_text_prepare_objects(in, objects, n);
}

static enum hi_status describe_suspects(struct hi_inspection *in,
					const struct hi_suspect *items, size_t n,
					struct suspect_text *ret, struct hi_error *err)
{
	struct suspect_text w = {
		.names = hi_arena_alloc(&in->arena, (n + 1) * sizeof(*w.names)),
		.paths = hi_arena_alloc(&in->arena, (n + 1) * sizeof(*w.paths))};

	if (!w.names || !w.paths)
		return hi_fail_memory(err, "suspects");
	for (size_t i = 0; i < n; i++) {
		w.names[i] = hi_path_text_from_root(in, items[i].top);
		w.paths[i] = hi_suspect_text(in, &items[i]);
	}
	*ret = w;
	return HI_OK;
}

/* What else the file can tell. */
static enum hi_status note_recording(struct hi_inspection *in, struct hi_error *err)
{
	const struct hi_recorded *recorded = NULL;
	enum hi_status status = hi_inspect_recorded_if_any(in, &recorded, err);
	char time[24];

	if (status == HI_OK && recorded && recorded->births->is_traced)
		hi_inspect_note(
			in, "the program has traced itself (tracemalloc): census --by "
			    "site, leaks and explain show the lines that allocated");
	else if (status == HI_OK && recorded)
		hi_inspect_note(
			in,
			"the file has a recording of %s: census --by site, leaks "
			"and explain show where objects were allocated",
			hi_text_duration(time, recorded->births->end_ns -
						       recorded->births->start_ns));
	return status;
}

/* By the elements; of none, by what holds the memory itself. */
static enum hi_status find_suspect_makers(struct hi_inspection *in,
					  const struct hi_suspect *items,
					  struct hi_summary_suspect *shown, size_t n,
					  struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (size_t i = 0; status == HI_OK && i < n; i++) {
		hi_node node =
			items[i].children ? items[i].example : items[i].accumulation;

		if (hi_graph_is_object(in->graph, node))
			status = hi_object_sites_fit(in, node, &shown[i].made_by, err);
	}
	return status;
}

/* Names the lines that can have made suspects and leaks, and the texts of leaks. */
static enum hi_status find_summary_makers(struct hi_inspection *in,
					  struct hi_summary_report *report,
					  struct hi_error *err)
{
	const struct hi_suspects *s = in->results.suspects;
	enum hi_status status = find_suspect_makers(in, s->items, report->suspects,
						    report->n_suspects, err);

	if (status == HI_OK)
		status = find_suspect_makers(in, s->lesser, report->lesser,
					     report->n_lesser, err);
	for (size_t i = 0; status == HI_OK && i < report->n_leaks; i++) {
		struct hi_summary_leak *leak = &report->leaks[i];

		status = hi_leak_sites_fit(in, leak->named, &leak->kind, &leak->made_by,
					   err);
		if (status == HI_OK)
			status =
				hi_leak_text_add_row(in, leak->example, &leak->kind, err);
	}
	return status;
}

/* The top of the dominator tree, for a page that draws. *has_ret: it is there, and
 * hi_tree_report_free() frees it. */
static enum hi_status open_summary_tree(struct hi_inspection *in,
					const struct hi_report_header *header,
					const struct hi_page *page,
					struct hi_tree_report *ret, bool *has_ret,
					struct hi_error *err)
{
	struct hi_tree *tree = NULL;
	enum hi_status status;

	*has_ret = false;
	if (!page || !page->draws || !in->shown.reach->live_bytes)
		return HI_OK;
	status = hi_inspect_tree(in, &tree, err);
	if (status == HI_OK)
		status = hi_tree_report_make(tree, header, HI_NODE_NONE, 0, HI_TREE_ROWS,
					     ret, err);
	*has_ret = status == HI_OK;
	return status;
}

/* Finds the fields that close cycles among the leaks, if these are large. */
static enum hi_status find_summary_cycles(struct hi_inspection *in,
					  struct hi_leak_cycles *ret,
					  struct hi_error *err)
{
	HI_GUARD(hi_cycle_edges_destroy) struct hi_cycle_edges *edges = NULL;
	enum hi_status status = HI_OK;

	if (hi_leak_cycles_matter(in))
		status = hi_leak_cycles_find(in, &edges, err);
	if (status == HI_OK)
		status = hi_leak_cycles_take(in->graph, edges, &in->arena, ret, err);
	return status;
}

enum hi_status hi_summary_of_inspection(struct hi_inspection *in,
					const struct hi_report_header *header, size_t top,
					bool has_sets, const struct hi_tree_report *tree,
					struct hi_summary_report **ret,
					struct hi_error *err)
{
	const struct hi_owners *owners = NULL;
	const struct hi_nearest *nearest = NULL;
	const struct hi_suspects *s = in->results.suspects;
	struct suspect_text words = {}, lesser = {};
	struct hi_leak_cycles *cycles = hi_arena_alloc(&in->arena, sizeof(*cycles));
	enum hi_status status;
	struct hi_summary_inputs inputs = {
		.header = header,
		.graph = in->graph,
		.reach = in->shown.reach,
		.dominators = &in->shown.dominators,
		.leaks = in->results.leaks,
		.census = in->results.census,
		.suspects = in->results.suspects,
		.ledger = in->results.ledger_known ? &in->results.ledger : NULL,
		.cycles = cycles,
		.top = top,
		.tree = tree,
	};

	if (!cycles)
		return hi_fail_memory(err, "summary");
	*cycles = (struct hi_leak_cycles){};
	prepare_suspect_paths(in, s);
	status = describe_suspects(in, s->items, s->count, &words, err);
	inputs.suspect_names = words.names;
	inputs.suspect_paths = words.paths;
	if (status == HI_OK)
		status = describe_suspects(in, s->lesser, s->n_lesser, &lesser, err);
	inputs.lesser_names = lesser.names;
	inputs.lesser_paths = lesser.paths;
	hi_inspect_phase(in, "owners");
	if (status == HI_OK)
		status = hi_kept_owners(in, &owners, err);
	inputs.owners = owners;
	if (status == HI_OK && owners->n_shared_by_many && !has_sets)
		status = hi_kept_nearest(in, &nearest, err);
	inputs.nearest = nearest;
	if (status == HI_OK)
		status = find_summary_cycles(in, cycles, err);
	return status == HI_OK ? hi_summary_report_create(&inputs, ret, err) : status;
}

static enum hi_status run_summary_command(struct hi_inspection *in,
					  const struct hi_report_header *header,
					  struct hi_page *page, struct hi_json *json,
					  struct hi_error *err)
{
	struct hi_summary_report *report = NULL;
	struct hi_tree_report map;
	bool has_map = false;
	enum hi_status status = HI_OK;

	if (page)
		status = note_recording(in, err);
	if (status == HI_OK)
		status = open_summary_tree(in, header, page, &map, &has_map, err);
	/* JSON has the sets themselves. */
	if (status == HI_OK)
		status = hi_summary_of_inspection(
			in, header,
			hi_lookup_top(in->options, json ? TOP_JSON : TOP_TEXT),
			json != NULL, has_map ? &map : NULL, &report, err);
	if (status == HI_OK && report)
		status = find_summary_makers(in, report, err);
	if (status == HI_OK && json)
		hi_summary_json(report, json);
	else if (status == HI_OK)
		hi_summary_display(report, page);
	hi_summary_report_destroy(report);
	if (has_map)
		hi_tree_report_free(&map);
	return status;
}

const struct hi_command hi_command_summary = {
	.id = HI_COMMAND_SUMMARY,
	.name = "summary",
	.arguments = "",
	.purpose = "Show what is on the heap of a process, what keeps it there, and what "
		   "has leaked.",
	.help = "Look at a heap:\n"
		"  summary    one page: memory, types, owners, leaks, suspects (the "
		"default)\n"
		"  census     live bytes by type\n"
		"  retained   retained sizes, as a tree from the variables down\n"
		"  tree       one level of the dominator tree, below any object\n"
		"  browse     browse the dominator tree and types in a terminal\n"
		"  query      SQL over objects, edges, types and roots\n"
		"Find out why it is there:\n"
		"  leaks      allocated objects that no root leads to\n"
		"  paths      the shortest paths from a root to an address or a type\n"
		"  up         from the objects of a type up to the roots\n"
		"  roots      what named roots hold, each alone and together\n"
		"  retainers  live bytes by the set of their nearest retainers\n"
		"  explain    one address: its type and evidence, fields, references to "
		"it\n"
		"  waste      identical, zero-filled and unused bytes, fragmentation\n"
		"  audit      reference counts of a runtime against the references "
		"found\n"
		"Follow a process:\n"
		"  record     follow allocations: which functions made live objects\n"
		"  bio        which memory is used, and which is no longer used\n"
		"  alloc      which functions allocate, and how much of it survives\n"
		"  deep       costs of functions in their calling contexts\n"
		"  safepoints where --at can stop the process, and how often each is "
		"hit\n"
		"  mark, era  put a mark into running series; begin a phase in running "
		"bios\n"
		"Keep, compare, pass on:\n"
		"  snap       write a snapshot file, which every command takes\n"
		"  snapshots  list the censuses in a snapshot file\n"
		"  peaks      live memory at its peaks\n"
		"  spacetime  live memory over time in bands, and their areas\n"
		"  graph      draw a heap profile over time\n"
		"  diff       compare two snapshots: objects born, objects died\n"
		"  check      fail a build when a limit is exceeded\n"
		"  report     the reports of a snapshot as one HTML file with links\n"
		"  ticket     the summary as Markdown, for an issue tracker\n"
		"  serve      serve a file as linked web pages, on this machine only\n"
		"  export     the heap in the formats of other programs\n"
		"Examples:\n"
		"  heapinspect --pid 4242\n"
		"  heapinspect --pid 4242 --json -o heap.json\n"
		"  heapinspect leaks -- ./program --its --options\n"
		"  heapinspect --pid 4242 --at gc --timeout 30s\n"
		"  heapinspect --pid 4242 --at 'handle_request if arg1 > 4096'\n"
		"  heapinspect census --core core.4242 --all\n"
		"  heapinspect snap --pid 4242 -o app.hisnap\n"
		"\nExit status: 0 success; 1 a gate failed or a difference was found; 2 "
		"wrong\n"
		"usage or an error; 3 cannot attach; 4 the result is not complete "
		"(--strict);\n"
		"124 the pause budget or --timeout ran out.",
	.wanted = HI_WANT_DOMINATORS | HI_WANT_LEAKS | HI_WANT_CENSUS | HI_WANT_SUSPECTS |
		  HI_WANT_LEDGER | HI_WANT_OWNERS | HI_WANT_PACKED,
	.run = run_summary_command,
	.targets = "[COMMAND] " HI_COMMAND_TARGETS,
	.page = HI_COMMAND_PAGE,
};
