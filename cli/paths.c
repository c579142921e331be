/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>

#include "base/text.h"
#include "cli/command.h"
#include "report/views/paths_report.h"
#include "session/lookup.h"
#include "session/naming.h"
#include "session/path_text.h"

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

static enum hi_status fill_way(struct hi_inspection *in, const struct hi_path *path,
			       struct hi_paths_way *way, struct hi_error *err)
{
	way->steps = hi_arena_alloc(&in->arena, path->length * sizeof(*way->steps) + 1);
	if (!way->steps)
		return hi_fail_memory(err, "ways");
	way->n_steps = path->length;
	way->worst = path->worst;
	way->text = hi_path_text_of_nodes(in, path->nodes, path->length);
	for (size_t i = 0; i < path->length; i++) {
		way->steps[i].info =
			hi_node_info(in->graph, in->results.dominators, path->nodes[i]);
		way->steps[i].edge =
			i ? hi_path_text_of_edge(in, path->nodes[i - 1], path->nodes[i])
			  : "";
	}
	return HI_OK;
}

static enum hi_status find_paths_to_objects(struct hi_inspection *in,
					    const struct targets *t,
					    struct hi_paths_report *report,
					    struct hi_error *err)
{
	struct hi_paths *paths = NULL;
	enum hi_status status = HI_OK;

	if (t->nodes.count == 0)
		return HI_OK;
	status = hi_paths_find(in->graph, in->results.reach, t->nodes.items,
			       t->nodes.count, in->options->selection.paths, &paths, err);
	if (status != HI_OK)
		return status;
	report->more = paths->more;
	report->ways =
		hi_arena_alloc(&in->arena, (paths->n_paths + 1) * sizeof(*report->ways));
	if (!report->ways)
		status = hi_fail_memory(err, "ways");
	for (size_t i = 0; status == HI_OK && i < paths->n_paths; i++)
		status = fill_way(in, &paths->paths[i], &report->ways[report->n_ways++],
				  err);
	hi_paths_destroy(paths);
	return status;
}

static enum hi_status run_paths_command(struct hi_inspection *in,
					const struct hi_report_header *header,
					struct hi_page *page, struct hi_json *json,
					struct hi_error *err)
{
	const char *query = in->options->argument;
	struct targets t = {};
	struct hi_paths_report report = {
		.header = header, .query = query, .steps = in->options->output.verbose};
	uint64_t address;
	enum hi_status status = hi_lookup_is_address(query, &address)
					? find_address(in, address, &t, err)
					: find_type(in, query, &t, err);

	if (status == HI_OK)
		status = find_paths_to_objects(in, &t, &report, err);
	report.target = t.text ? t.text : query;
	report.n_targets = t.nodes.count + t.n_unreachable;
	report.n_unreachable = t.n_unreachable;
	hi_vector_free(&t.nodes);
	if (status != HI_OK)
		return status;
	if (json)
		hi_paths_json(&report, json);
	else
		hi_paths_display(&report, page);
	return HI_OK;
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
};
