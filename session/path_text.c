/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/path_text.h"

#include <stdlib.h>

#include "base/cleanup.h"

static bool refers_to(const struct hi_graph *g, hi_node from, hi_node to)
{
	struct hi_edges edges = hi_graph_edges(g, from);

	for (uint32_t i = 0; i < edges.count; i++)
		if (edges.to[i] == to)
			return true;
	return false;
}

const char *hi_path_text_of_edge(struct hi_inspection *in, hi_node from, hi_node to)
{
	if (from >= in->graph->first_kind)
		return "";
	return in->source->edge_text(in, from, to);
}

static const char *append_path_text(struct hi_inspection *in, const char *a,
				    const char *b)
{
	const char *both = hi_arena_printf(&in->arena, "%s%s", a, b);

	return both ? both : a;
}

const char *hi_path_text_of_nodes(struct hi_inspection *in, const hi_node *nodes,
				  size_t n)
{
	enum { HEAD = 24, TAIL = 8 };
	const char *text = "";

	/* A path to the root itself has no edge. */
	if (n == 1 && nodes[0] >= in->graph->first_root &&
	    nodes[0] < in->graph->first_kind)
		return in->graph->roots[nodes[0] - in->graph->first_root].name;
	for (size_t i = 0; i + 1 < n; i++) {
		/* A list of a million nodes is a long path: its ends are enough. */
		if (n > HEAD + TAIL + 2 && i == HEAD) {
			char skipped[48];

			i = n - 1 - TAIL;
			snprintf(skipped, sizeof(skipped), " … %zu steps … ",
				 i - (size_t)HEAD);
			text = append_path_text(in, text, skipped);
		}
		text = append_path_text(in, text,
					hi_path_text_of_edge(in, nodes[i], nodes[i + 1]));
	}
	return text;
}

const char *hi_path_text_from_root(struct hi_inspection *in, hi_node object)
{
	struct hi_paths *paths = NULL;
	struct hi_error quiet;
	const char *text = "";

	if (!hi_graph_is_object(in->graph, object) ||
	    hi_paths_find(in->graph, in->results.reach, &object, 1, 1, &paths, &quiet) !=
		    HI_OK)
		return "";
	if (paths->n_paths)
		text = hi_path_text_of_nodes(in, paths->paths[0].nodes,
					     paths->paths[0].length);
	hi_paths_destroy(paths);
	return text;
}

const char *hi_path_text_between(struct hi_inspection *in, hi_node top, hi_node below)
{
	struct chain HI_VECTOR(hi_node) up = {};
	const hi_node *idom = in->results.dominators->idom;
	const char *text = "";
	bool gap = false;

	if (top == below)
		return "";
	for (hi_node i = below; i != HI_NODE_NONE && i != top; i = idom[i])
		if (!hi_vector_push(&up, i))
			break;
	for (size_t i = up.count, step = 0; i-- > 0;) {
		hi_node from = i + 1 == up.count ? top : up.items[i + 1];

		if (step++ >= HI_PATH_TEXT_STEPS && i > 0) {
			gap = true;
			continue;
		}
		if (gap || !refers_to(in->graph, from, up.items[i])) {
			text = append_path_text(in, text, *text ? "…" : "");
			gap = false;
			continue;
		}
		text = append_path_text(in, text,
					hi_path_text_of_edge(in, from, up.items[i]));
	}
	hi_vector_free(&up);
	return text;
}
