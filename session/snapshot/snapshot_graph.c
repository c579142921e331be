/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes what typing knows of a graph to a snapshot: names of edges, used bytes,
 * conflicts.
 */
#include "base/cleanup.h"
#include "base/parallel.h"
#include "census/snapshot/snapshot_texts.h"
#include "decode/describe/edge_labels.h"
#include "decode/describe/field_targets.h"
#include "decode/inference/extent.h"
#include "session/snapshot/snapshot_source.h"

enum { MOST_THREADS = 16 };

struct source {
	struct hi_inspection *in;
	struct hi_edge_labels *labels[MOST_THREADS];
};

static enum hi_status label_graph_edges(void *arg, unsigned worker, hi_node node,
					struct hi_edge_name *names, struct hi_error *err)
{
	struct source *s = arg;

	return hi_edge_names_of(s->labels[worker], node, names, err);
}

static uint64_t used_bytes_of_object(void *arg, hi_node object)
{
	const struct source *s = arg;

	return hi_typing_live_bytes(s->in->decoders.typing, s->in->graph, object);
}

static const char *module_of_graph_root(void *arg, uint32_t i)
{
	const struct source *s = arg;
	const struct hi_root *root = &s->in->graph->roots[i];
	struct hi_module *m =
		root->address ? hi_modules_at(s->in->decoders.modules, root->address)
			      : NULL;

	return m ? m->name : "";
}

static bool type_of_graph_retains(void *arg, uint32_t type)
{
	const struct source *s = arg;
	hi_type_id id = hi_typing_type_id(s->in->decoders.typing, type);

	return s->in->decoders.rulebook && id &&
	       hi_rulebook_is_retainer(s->in->decoders.rulebook, id);
}

enum hi_status hi_snapshot_save_graph(struct hi_inspection *in,
				      struct hi_snapshot_writer *w, struct hi_error *err)
{
	unsigned threads = hi_inspection_threads(in) ? hi_inspection_threads(in)
						     : hi_parallel_threads();
	struct source source = {.in = in};
	struct hi_snapshot_graph graph = {
		.graph = in->graph,
		.reach = in->results.reach,
		.dominators = in->results.dominators,
		.label = label_graph_edges,
		.threads = threads < MOST_THREADS ? threads : MOST_THREADS,
		.used = used_bytes_of_object,
		.module = module_of_graph_root,
		.retains = type_of_graph_retains,
		.arg = &source};
	enum hi_status status = HI_OK;

	for (unsigned i = 0; i < graph.threads && status == HI_OK; i++)
		status = hi_edge_labels_create(in->decoders.typing, in->graph,
					       &source.labels[i], err);
	if (status == HI_OK)
		status = hi_snapshot_put_graph(w, &graph, err);
	for (unsigned i = 0; i < graph.threads; i++)
		hi_edge_labels_destroy(source.labels[i]);
	return status;
}

enum hi_status hi_snapshot_save_outline(struct hi_inspection *in,
					struct hi_snapshot_writer *w,
					struct hi_error *err)
{
	struct source source = {.in = in};
	struct hi_snapshot_graph graph = {.graph = in->graph,
					  .reach = in->results.reach,
					  .retains = type_of_graph_retains,
					  .arg = &source};

	return hi_snapshot_put_outline(w, &graph, err);
}

/* ---- types that pointers disagree about ---- */

enum hi_status hi_snapshot_save_conflicts(const struct hi_inspection *in,
					  struct hi_snapshot_writer *w,
					  struct hi_error *err)
{
	const struct hi_typing_conflict *found;
	size_t n = hi_typing_conflicts(in->decoders.typing, &found);
	struct conflicts HI_VECTOR(struct hi_snapshot_conflict_row) rows = {};
	enum hi_status status = HI_OK;

	for (size_t i = 0; i < n && status == HI_OK; i++) {
		struct hi_snapshot_conflict_row row = {.objects = found[i].objects,
						       .example = found[i].example};

		status = hi_snapshot_put_string(w, found[i].type, &row.type, err);
		if (status == HI_OK)
			status = hi_snapshot_put_string(w, found[i].other, &row.other,
							err);
		if (status == HI_OK && !hi_vector_push(&rows, row))
			status = hi_fail_memory(err, "conflicts");
	}
	if (status == HI_OK)
		status = hi_snapshot_put(w, "conflicts", rows.items, sizeof(*rows.items),
					 rows.count, err);
	if (status == HI_OK)
		status = hi_snapshot_put_number(
			w, "conflicts.objects",
			hi_typing_stats(in->decoders.typing).conflicts, err);
	hi_vector_free(&rows);
	return status;
}

enum hi_status hi_snapshot_source_conflicts(struct hi_inspection *in,
					    const struct hi_typing_conflict **ret,
					    size_t *n_ret, uint64_t *objects_ret,
					    struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;
	const struct hi_snapshot_conflict_row *rows;
	struct hi_typing_conflict *all;
	const void *items = NULL;
	uint64_t n = 0;
	enum hi_status status =
		hi_snapshot_get(s, "conflicts", sizeof(*rows), &items, &n, err);

	*n_ret = 0;
	*ret = NULL;
	*objects_ret = hi_snapshot_number(s, "conflicts.objects", 0);
	if (status != HI_OK)
		return status == HI_NOT_FOUND ? HI_OK : status;
	rows = items;
	status = hi_snapshot_check_texts(s, "conflicts", rows, n, sizeof(*rows), 2, err);
	if (status != HI_OK)
		return status;
	all = hi_arena_alloc(&in->arena, (n + 1) * sizeof(*all));
	if (!all)
		return hi_fail_memory(err, "conflicts");
	for (uint64_t i = 0; i < n; i++) {
		all[i] = (struct hi_typing_conflict){
			.type = hi_snapshot_string(s, rows[i].type),
			.other = hi_snapshot_string(s, rows[i].other),
			.objects = rows[i].objects,
			.example = rows[i].example};
		if (!all[i].type || !all[i].other)
			return hi_fail(err, HI_BAD_DATA, 0,
				       "%.120s: section conflicts: a row without a name",
				       in->options->target.file);
	}
	*ret = all;
	*n_ret = n;
	return HI_OK;
}
