/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/merged_heap.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "census/analysis/merged_births.h"
#include "session/computed.h"
#include "session/edge_text.h"
#include "session/path_text.h"
#include "session/recorded.h"

struct namer {
	struct hi_inspection *in;
	struct hi_edge_text_reader reader;
};

static enum hi_status read_merged_labels(void *arg, hi_node node, const char **texts,
					 struct hi_error *err)
{
	return hi_edge_text_read(&((struct namer *)arg)->reader, node, texts, err);
}

static enum hi_status name_merged_tops(void *arg, const hi_node *nodes, size_t n,
				       const char **texts, struct hi_error *err)
{
	struct hi_inspection *in = ((struct namer *)arg)->in;
	struct hi_paths *paths = NULL;
	enum hi_status status = hi_kept_ways(in, nodes, n, &paths, err);

	if (status != HI_OK)
		return status;
	for (size_t i = 0; i < n; i++)
		texts[i] = paths->paths[i].length
				   ? hi_path_text_of_nodes(in, paths->paths[i].nodes,
							   paths->paths[i].length)
				   : "";
	hi_paths_destroy(paths);
	return HI_OK;
}

static enum hi_status merge_by_context(struct hi_inspection *in, struct hi_merged **ret,
				       struct hi_error *err)
{
	const struct hi_recorded *recorded = NULL;
	HI_GUARD(free) uint64_t *live = NULL;
	enum hi_status status = hi_inspect_recorded(in, &recorded, err);

	if (status != HI_OK)
		return status;
	live = hi_inspect_live_bits(in);
	if (!live)
		return hi_fail_memory(err, "stacks of a recording");
	return hi_merged_births_make(in->graph, live, recorded->births,
				     &recorded->contexts, &recorded->frames, ret, err);
}

enum hi_status hi_inspect_merge(struct hi_inspection *in, struct hi_merged **ret,
				struct hi_error *err)
{
	struct namer namer = {.in = in};
	const struct hi_merged_labels labels = {read_merged_labels, name_merged_tops,
						&namer};
	enum hi_status status;

	if (in->options->selection.has_born_by)
		return merge_by_context(in, ret, err);
	status = hi_edge_text_open(in, &namer.reader, err);
	if (status == HI_OK)
		status = hi_merged_make(in->graph, in->results.reach,
					in->results.dominators, &labels, ret, err);
	hi_edge_text_close(&namer.reader);
	return status;
}
