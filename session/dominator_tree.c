/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/dominator_tree.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "session/edge_text.h"
#include "session/path_text.h"

enum { LEAST_NAMED = 1000 }; /* of live: of the largest object without a name */

HI_DEFINE_GUARD(struct hi_kept_tree *, hi_kept_tree_destroy)

struct hi_kept_tree {
	struct hi_edge_text_reader names;
	struct hi_field_reader fields;
	const struct hi_reach *reach; /* that it was made for */
	struct hi_tree *tree;
};

static const char *text_of_tree_edge(void *arg, hi_node from, hi_node to)
{
	struct hi_inspection *in = arg;

	/* Kinds and the super-root have no fields. */
	return from < in->graph->first_kind ? hi_path_text_of_edge(in, from, to) : "";
}

/* What cannot be named keeps its address; and so does what is hardly worth a walk through
 * the whole heap. */
static void name_tree_nodes(void *arg, const hi_node *nodes, size_t n, const char **names)
{
	struct hi_inspection *in = arg;
	uint64_t least = in->shown.reach->live_bytes / LEAST_NAMED, most = 0;
	HI_GUARD(hi_paths_destroy) struct hi_paths *paths = NULL;
	struct hi_error quiet;

	for (size_t i = 0; i < n; i++)
		if (in->results.dominators->retained[nodes[i]] > most)
			most = in->results.dominators->retained[nodes[i]];
	if (most < least ||
	    hi_paths_shortest(in->graph, nodes, n, &paths, &quiet) != HI_OK)
		return;
	for (size_t i = 0; i < n; i++)
		if (paths->paths[i].length)
			names[i] = hi_path_text_of_nodes(in, paths->paths[i].nodes,
							 paths->paths[i].length);
}

static enum hi_status make_kept_tree(struct hi_inspection *in, struct hi_kept_tree *kept,
				     struct hi_error *err)
{
	struct hi_browse_heap heap = {.graph = in->graph,
				      .reach = in->shown.reach,
				      .dominators = in->results.dominators,
				      .threads = 1,
				      .edge_text = text_of_tree_edge,
				      .name_nodes = name_tree_nodes,
				      .full_names = in->options->output.full_names,
				      .arg = in};
	enum hi_status status = hi_edge_text_open(in, &kept->names, err);

	if (status != HI_OK)
		return status;
	kept->fields = hi_edge_text_fields(&kept->names);
	heap.fields = &kept->fields;
	kept->reach = in->shown.reach;
	return hi_tree_create(&heap, &kept->tree, err);
}

enum hi_status hi_inspect_tree(struct hi_inspection *in, struct hi_tree **ret,
			       struct hi_error *err)
{
	HI_GUARD(hi_kept_tree_destroy) struct hi_kept_tree *kept = NULL;
	enum hi_status status;

	if (in->tree && in->tree->reach == in->shown.reach) {
		*ret = in->tree->tree;
		return HI_OK;
	}
	hi_kept_tree_destroy(hi_take(in->tree));
	kept = hi_calloc(1, sizeof(*kept));
	if (!kept)
		return hi_fail_memory(err, "tree");
	hi_inspect_phase(in, "dominator tree");
	status = make_kept_tree(in, kept, err);
	if (status != HI_OK)
		return status;
	in->tree = hi_take(kept);
	*ret = in->tree->tree;
	return HI_OK;
}

void hi_kept_tree_destroy(struct hi_kept_tree *kept)
{
	if (!kept)
		return;
	hi_tree_destroy(kept->tree);
	hi_edge_text_close(&kept->names);
	free(kept);
}
