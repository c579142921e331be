/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/retained_names.h"

#include "session/path_text.h"

enum { NAMED = 200 }; /* of all rows, those that get a name */

/* Paths from a root to those on top: one walk for all. */
static void name_tops(struct hi_inspection *in, struct hi_retained_report *r)
{
	hi_node tops[NAMED];
	size_t rows[NAMED], n = 0;
	struct hi_paths *paths = NULL;
	struct hi_error quiet;

	for (size_t i = 0; i < r->n_rows && i < NAMED; i++)
		if (!r->rows[i].depth && r->rows[i].info.sort == HI_NODE_OBJECT &&
		    hi_bit(in->results.reach->any, r->rows[i].info.node)) {
			rows[n] = i;
			tops[n++] = r->rows[i].info.node;
		}
	if (!n || hi_paths_shortest(in->graph, tops, n, &paths, &quiet) != HI_OK)
		return;
	for (size_t k = 0; k < n; k++)
		if (paths->paths[k].length)
			r->rows[rows[k]].info.name = hi_path_text_of_nodes(
				in, paths->paths[k].nodes, paths->paths[k].length);
	hi_paths_destroy(paths);
}

void hi_retained_name_rows(struct hi_inspection *in, struct hi_retained_report *r)
{
	enum { DEEPEST = 16 };
	hi_node above[DEEPEST] = {};

	if (!r->tree)
		return;
	name_tops(in, r);
	for (size_t i = 0; i < r->n_rows && i < NAMED; i++) {
		struct hi_node_info *info = &r->rows[i].info;
		unsigned depth = r->rows[i].depth;

		if (depth >= DEEPEST)
			continue;
		above[depth] = info->node;
		if (info->sort == HI_NODE_OBJECT && depth)
			info->name =
				hi_path_text_between(in, above[depth - 1], info->node);
	}
}
