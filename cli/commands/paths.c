/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "census/analysis/path_index.h"
#include "cli/command/command.h"
#include "report/reports/paths/paths_merge.h"
#include "report/reports/paths/paths_report.h"
#include "session/computed.h"
#include "session/inspect/restrictions.h"
#include "session/operands.h"
#include "session/path_text.h"
#include "session/user.h"

struct targets {
	struct target_list HI_VECTOR(hi_node) nodes; /* live ones */
	uint64_t n_unreachable;
	const char *text; /* the target of the paths, as text */
};

static enum hi_status add_target(struct hi_inspection *in, struct targets *t,
				 hi_node node, struct hi_error *err)
{
	if (!hi_bit(in->results.reach->any, node)) {
		t->n_unreachable++;
		return HI_OK;
	}
	if (!hi_vector_push(&t->nodes, node))
		return hi_fail_memory(err, "targets");
	return HI_OK;
}

static enum hi_status find_address(struct hi_inspection *in, uint64_t address,
				   struct targets *t, struct hi_error *err)
{
	uint64_t offset = 0;
	hi_node node = hi_objects_find(in->graph->objects, address, &offset);
	char bytes[24];
	struct hi_node_info info;

	if (node == HI_NODE_NONE)
		return hi_fail(err, HI_NOT_FOUND, address,
			       "0x%" PRIx64 " is in no allocated block; see heapinspect "
			       "explain 0x%" PRIx64,
			       address, address);
	if (!hi_naming_shows(in, node))
		return hi_fail(
			err, HI_NOT_FOUND, address,
			"0x%" PRIx64
			" is not among the objects that --under and --retained-by select",
			address);
	info = hi_node_info(in->graph, NULL, node);
	t->text = hi_arena_printf(&in->arena, "%s 0x%" PRIx64 " (%s)",
				  *info.type ? info.type : "(untyped)", info.address,
				  hi_text_bytes(bytes, info.shallow));
	return add_target(in, t, node, err);
}

static enum hi_status find_type(struct hi_inspection *in, const char *pattern,
				struct targets *t, struct hi_error *err)
{
	const struct hi_objects *o = in->graph->objects;
	struct hi_type_set set = {};
	char n[32];
	enum hi_status status = hi_lookup_types(in, pattern, &set, err);

	for (hi_node i = 0; status == HI_OK && i < o->count; i++)
		if (hi_type_set_has(&set, o->type[i]) &&
		    !(o->flags[i] & HI_OBJECT_INTERNAL) && hi_naming_shows(in, i))
			status = add_target(in, t, i, err);
	hi_type_set_free(&set);
	if (status != HI_OK)
		return status;
	t->text = hi_arena_printf(&in->arena, "%s (%s live)", pattern,
				  hi_text_count(n, t->nodes.count));
	return HI_OK;
}

/* ---- ways ---- */

/* So many are looked at, to say how many are alike. */
enum { LOOKED_AT = 10000 };

struct ways {
	struct ways_list HI_VECTOR(struct hi_paths_way) list;
	bool more;
	uint64_t n_doubtful; /* left out: hide_doubtful_ways() */
	/* Of all that are looked at: most of them are not shown. */
	struct hi_arena *arena;
};

/* The first key behind a root of a runtime is a variable's name: of a module, of a
 * frame. */
static bool is_named_by_key(const struct hi_inspection *in, const struct hi_path *path)
{
	const struct hi_root *root;
	hi_node node = path->nodes[0];

	if (node < in->graph->first_root || node >= in->graph->first_kind)
		return false;
	root = &in->graph->roots[node - in->graph->first_root];
	return root->kind == HI_ROOT_RUNTIME ||
	       (root->kind == HI_ROOT_STACK && !*root->type);
}

static enum hi_status add_way(struct hi_inspection *in, const struct hi_path *path,
			      struct ways *ways, struct hi_error *err)
{
	struct hi_paths_way way = {
		.worst = path->worst, .n_steps = path->length, .n_alike = 1};

	way.nodes = hi_arena_alloc(ways->arena, path->length * sizeof(*way.nodes) + 1);
	way.steps = hi_arena_alloc(ways->arena, sizeof(*way.steps));
	if (!way.steps || !way.nodes)
		return hi_fail_memory(err, "ways");
	memcpy(way.nodes, path->nodes, path->length * sizeof(*way.nodes));
	way.text = way.pattern =
		hi_path_text_in(in, ways->arena, path->nodes, path->length);
	way.named_by_key = is_named_by_key(in, path);
	/* Of those that are shown, fill_steps() makes the others. */
	way.steps[0].info =
		hi_node_info(in->graph, in->results.dominators, path->nodes[0]);
	if (!hi_vector_push(&ways->list, way))
		return hi_fail_memory(err, "ways");
	return HI_OK;
}

/* --all: as many as are looked at. */
static size_t count_wanted_paths(const struct hi_inspection *in)
{
	return in->options->selection.all ? LOOKED_AT : in->options->selection.paths;
}

/* Those whose worst edge has this grade; `before` better ones are known. */
static enum hi_status add_ways(struct hi_inspection *in, const struct targets *t,
			       enum hi_grade worst, size_t before, struct ways *ways,
			       struct hi_error *err)
{
	size_t k = count_wanted_paths(in);
	struct hi_paths_wanted wanted = {.k = k, .most = LOOKED_AT, .worst = worst};
	struct hi_paths *paths = NULL;
	enum hi_status status = hi_kept_paths(in, &wanted.index, err);

	/* They may come first again. */
	wanted.k += before;
	if (wanted.most < wanted.k)
		wanted.most = wanted.k;
	if (status == HI_OK)
		status = hi_paths_search(in->graph, t->nodes.items, t->nodes.count,
					 &wanted, &paths, err);
	if (status != HI_OK)
		return status;
	ways->more |= paths->more;
	hi_path_text_prepare(in, paths);
	for (size_t i = 0; status == HI_OK && i < paths->n_paths; i++)
		if (paths->paths[i].worst == worst)
			status = add_way(in, &paths->paths[i], ways, err);
	hi_paths_destroy(paths);
	return status;
}

/* Best evidence first; a word of a stack without a name says least. */
static int compare_ways(const void *a, const void *b)
{
	const struct hi_paths_way *x = *(const struct hi_paths_way *const *)a;
	const struct hi_paths_way *y = *(const struct hi_paths_way *const *)b;
	bool x_untyped = x->steps[0].info.kind == HI_ROOT_UNTYPED;
	bool y_untyped = y->steps[0].info.kind == HI_ROOT_UNTYPED;

	if (x->worst != y->worst)
		return x->worst < y->worst ? -1 : 1;
	if (x_untyped != y_untyped)
		return x_untyped ? 1 : -1;
	if (x->n_steps != y->n_steps)
		return x->n_steps < y->n_steps ? -1 : 1;
	return x < y ? -1 : x > y; /* as they were found */
}

/* By pointers: where each stood is part of the order. */
static enum hi_status sort_ways(struct ways *ways, struct hi_error *err)
{
	size_t n = ways->list.count;
	HI_GUARD(free)
	const struct hi_paths_way **order = hi_calloc(n + 1, sizeof(*order));
	HI_GUARD(free) struct hi_paths_way *copy = hi_calloc(n + 1, sizeof(*copy));

	if (!order || !copy)
		return hi_fail_memory(err, "ways");
	for (size_t i = 0; i < n; i++)
		order[i] = &ways->list.items[i];
	qsort(order, n, sizeof(*order), compare_ways);
	for (size_t i = 0; i < n; i++)
		copy[i] = *order[i];
	if (n)
		memcpy(ways->list.items, copy, n * sizeof(*copy));
	return HI_OK;
}

/* Adds the ways of one kind, merged. */
static enum hi_status add_merged_ways(struct hi_inspection *in, const struct targets *t,
				      enum hi_grade worst, struct ways *ways,
				      struct hi_error *err)
{
	struct ways found = {.arena = ways->arena};
	enum hi_status status = add_ways(in, t, worst, ways->list.count, &found, err);

	if (status == HI_OK)
		status = sort_ways(&found, err);
	if (status == HI_OK && !in->options->selection.each)
		status = hi_paths_merge(found.list.items, &found.list.count, ways->arena,
					err);
	ways->more |= found.more;
	for (size_t i = 0; i < found.list.count; i++)
		found.list.items[i].more_alike = found.more;
	for (size_t i = 0; status == HI_OK && i < found.list.count; i++)
		if (!hi_vector_push(&ways->list, found.list.items[i]))
			status = hi_fail_memory(err, "ways");
	hi_vector_free(&found.list);
	return status;
}

/* A word that is no pointer leads anywhere, and then on through half of the heap: such a
 * way of many steps says nothing. One is left where there is no other way. */
enum { MOST_DOUBTFUL_STEPS = 32 };

static void hide_doubtful_ways(struct ways *ways)
{
	size_t kept = 0;

	for (size_t i = 0; i < ways->list.count; i++) {
		const struct hi_paths_way *way = &ways->list.items[i];

		if (way->worst < HI_GRADE_CONSERVATIVE || !kept ||
		    way->n_steps <= MOST_DOUBTFUL_STEPS + 1)
			ways->list.items[kept++] = *way;
		else
			ways->n_doubtful += way->n_alike;
	}
	ways->list.count = kept;
}

static enum hi_status fill_steps(struct hi_inspection *in, struct hi_arena *arena,
				 struct hi_paths_way *way, struct hi_error *err)
{
	way->steps = hi_arena_alloc(arena, way->n_steps * sizeof(*way->steps) + 1);
	if (!way->steps)
		return hi_fail_memory(err, "ways");
	for (size_t i = 0; i < way->n_steps; i++) {
		hi_node node = way->nodes[i];

		way->steps[i].edge =
			i ? hi_path_text_of_edge(in, way->nodes[i - 1], node) : "";
		way->steps[i].info =
			hi_node_info(in->graph, in->results.dominators, node);
	}
	return HI_OK;
}

static enum hi_status find_paths_to_objects(struct hi_inspection *in,
					    const struct targets *t, struct ways *ways,
					    struct hi_error *err)
{
	size_t k = count_wanted_paths(in);
	struct hi_path_index *index = NULL;
	enum hi_status status = HI_OK;

	if (!in->phases.progress && !hi_inspection_is_quiet(in))
		in->phases.progress = hi_user_start_progress();
	hi_inspect_phase(in, "paths to a root");
	if (t->nodes.count)
		status = hi_kept_paths(in, &index, err);
	if (t->nodes.count == 0 || status != HI_OK)
		return status;
	for (enum hi_grade worst = HI_GRADE_EXACT;
	     status == HI_OK && worst <= HI_GRADE_CONSERVATIVE && ways->list.count < k;
	     worst++)
		if (worst == HI_GRADE_EXACT || hi_path_index_has_grade(index, worst))
			status = add_merged_ways(in, t, worst, ways, err);
	if (status != HI_OK)
		return status;
	if (!in->options->selection.all)
		hide_doubtful_ways(ways);
	if (ways->list.count > k) {
		ways->list.count = k;
		ways->more = true;
	}
	for (size_t i = 0; status == HI_OK && i < ways->list.count; i++)
		status = fill_steps(in, ways->arena, &ways->list.items[i], err);
	return status;
}

static enum hi_status run_paths_command(struct hi_inspection *in,
					const struct hi_report_header *header,
					struct hi_page *page, struct hi_json *json,
					struct hi_error *err)
{
	const char *query = in->options->argument;
	struct targets t = {};
	struct hi_arena arena = {};
	struct ways ways = {.arena = &arena};
	struct hi_paths_report report = {
		.header = header, .query = query, .steps = in->options->output.verbose};
	uint64_t address;
	enum hi_status status = hi_lookup_is_address(query, &address)
					? find_address(in, address, &t, err)
					: find_type(in, query, &t, err);

	if (status == HI_OK)
		status = find_paths_to_objects(in, &t, &ways, err);
	hi_inspect_phase(in, NULL);
	hi_user_end_progress(hi_take(in->phases.progress));
	report.target = t.text ? t.text : query;
	report.n_targets = t.nodes.count + t.n_unreachable;
	report.n_unreachable = t.n_unreachable;
	report.ways = ways.list.items;
	report.n_ways = ways.list.count;
	report.more = ways.more;
	report.n_doubtful = ways.n_doubtful;
	report.doubtful_steps = MOST_DOUBTFUL_STEPS;
	if (status == HI_OK && json)
		hi_paths_json(&report, json);
	else if (status == HI_OK)
		hi_paths_display(&report, page);
	hi_vector_free(&t.nodes);
	hi_vector_free(&ways.list);
	hi_arena_free(&arena);
	return status;
}

const struct hi_command hi_command_paths = {
	.id = HI_COMMAND_PATHS,
	.name = "paths",
	.arguments = "ADDRESS|TYPE",
	.purpose = "Show the shortest paths from a root to an object, field by field.",
	.help = "Examples:\n"
		"  heapinspect paths 0x55d0c8a412a0 --pid 4242\n"
		"  heapinspect paths 'struct conn' -k 3 -v --pid 4242",
	.wanted = HI_WANT_DOMINATORS,
	.run = run_paths_command,
	.page = HI_COMMAND_PAGE_WITH_ARGUMENT,
	.page_form = "of",
};
