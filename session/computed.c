/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/computed.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/analysis/alloc_sites.h"
#include "census/analysis/nearest_holder.h"
#include "census/analysis/owners.h"
#include "census/analysis/path_index.h"
#include "census/analysis/subgraph.h"
#include "session/edge_text.h"

enum hi_status hi_kept_paths(struct hi_inspection *in, struct hi_path_index **ret,
			     struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (!in->kept.paths)
		status = hi_path_index_create(in->graph, hi_inspection_threads(in),
					      &in->kept.paths, err);
	*ret = in->kept.paths;
	return status;
}

enum hi_status hi_kept_ways(struct hi_inspection *in, const hi_node *targets, size_t n,
			    struct hi_paths **ret, struct hi_error *err)
{
	struct hi_path_index *index = in->kept.paths;
	HI_GUARD(hi_paths_destroy) struct hi_paths *paths = NULL;
	enum hi_status status = HI_OK;

	if (!index || !hi_path_index_is_measured(index, HI_GRADE_CONSERVATIVE))
		return hi_paths_shortest(in->graph, targets, n, ret, err);
	paths = hi_calloc(1, sizeof(*paths));
	if (!paths || !(paths->paths = hi_calloc(n + 1, sizeof(*paths->paths))))
		return hi_fail_memory(err, "paths to a root");
	for (paths->n_paths = 0; status == HI_OK && paths->n_paths < n; paths->n_paths++)
		status = hi_path_index_way(index, targets[paths->n_paths],
					   &paths->paths[paths->n_paths], err);
	if (status == HI_OK)
		*ret = hi_take(paths);
	return status;
}

enum hi_status hi_kept_referrers(struct hi_inspection *in, hi_node node, size_t max,
				 struct hi_referrers **ret, struct hi_error *err)
{
	return in->kept.paths
		       ? hi_path_index_referrers(in->kept.paths, node, max, ret, err)
		       : hi_referrers_find(in->graph, node, max,
					   hi_inspection_threads(in), ret, err);
}

enum hi_status hi_kept_shown_dominators(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_dominators shown = *in->results.dominators;
	enum hi_status status = HI_OK;

	if (in->shown.dominators.order)
		return HI_OK;
	if (in->shown.reach != in->results.reach)
		status = hi_within_dominators(in->graph, in->shown.reach,
					      in->results.dominators, &shown, err);
	if (status == HI_OK)
		in->shown.dominators = shown;
	return status;
}

enum hi_status hi_kept_owners(struct hi_inspection *in, const struct hi_owners **ret,
			      struct hi_error *err)
{
	enum hi_status status = HI_NOT_FOUND;

	if (in->kept.owners)
		status = HI_OK;
	else if (in->source->stored && in->shown.reach == in->results.reach)
		status = in->source->stored->read_owners(in, &in->kept.owners, err);
	if (status == HI_NOT_FOUND)
		status = hi_owners_compute(in->graph, in->results.reach,
					   &in->shown.dominators, &in->kept.owners, err);
	*ret = in->kept.owners;
	return status;
}

enum hi_status hi_kept_nearest(struct hi_inspection *in, const struct hi_nearest **ret,
			       struct hi_error *err)
{
	enum hi_status status = HI_NOT_FOUND;

	if (in->kept.nearest)
		status = HI_OK;
	else if (in->source->stored && in->shown.reach == in->results.reach)
		status = in->source->stored->read_nearest(in, &in->kept.nearest, err);
	if (status == HI_NOT_FOUND)
		status = hi_nearest_compute(in->graph, in->results.reach,
					    &in->kept.nearest, err);
	*ret = in->kept.nearest;
	return status;
}

enum hi_status hi_kept_alloc_sites(struct hi_inspection *in,
				   const struct hi_alloc_sites **ret,
				   struct hi_error *err)
{
	enum hi_status status = HI_OK;

	if (!in->kept.has_alloc_sites)
		status = in->source->contents->open_used_bytes(in, err);
	if (status == HI_OK && !in->kept.has_alloc_sites)
		status = in->source->results->find_alloc_sites(in, &in->kept.alloc_sites,
							       err);
	in->kept.has_alloc_sites = status == HI_OK;
	*ret = in->kept.alloc_sites;
	return status;
}

/* Of types alone there is nothing to prepare. */
static bool has_heap(const struct hi_inspection *in)
{
	return in->graph && in->graph->n_objects;
}

bool hi_kept_warm_up(struct hi_inspection *in)
{
	struct hi_path_index *index = NULL;
	struct hi_error quiet;

	if (!has_heap(in) || in->kept.has_failed)
		return false;
	if (!in->kept.has_names) {
		struct hi_edge_text_reader names = {};

		in->kept.has_names = true;
		in->kept.has_failed = hi_edge_text_open(in, &names, &quiet) != HI_OK;
		hi_edge_text_close(&names);
		return true;
	}
	if (!in->kept.paths) {
		in->kept.has_failed = hi_kept_paths(in, &index, &quiet) != HI_OK;
		return true;
	}
	/* In the order in which searches go through them. */
	for (enum hi_grade worst = HI_GRADE_EXACT; worst <= HI_GRADE_CONSERVATIVE;
	     worst++)
		if (!hi_path_index_is_measured(in->kept.paths, worst)) {
			in->kept.has_failed = hi_path_index_measure(in->kept.paths, worst,
								    &quiet) != HI_OK;
			return true;
		}
	return false;
}

void hi_kept_free(struct hi_kept *kept)
{
	hi_path_index_destroy(kept->paths);
	hi_owners_destroy(kept->owners);
	hi_nearest_destroy(kept->nearest);
	hi_alloc_sites_destroy(kept->alloc_sites);
	*kept = (struct hi_kept){};
}
