/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes what typing knows of a graph to a snapshot: names of edges, used bytes,
 * conflicts.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "census/snapshot/snapshot_format.h"
#include "census/snapshot/snapshot_sections.h"
#include "decode/describe/edge_labels.h"
#include "decode/describe/field_targets.h"
#include "decode/inference/extent.h"
#include "session/snapshot/prepared.h"
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

struct hi_snapshot_names {
	struct source source;
	struct hi_snapshot_graph graph;
	struct hi_snapshot_labels *labels; /* NULL: not begun */
};

void hi_snapshot_names_destroy(struct hi_snapshot_names *names)
{
	if (!names)
		return;
	hi_snapshot_labels_end(names->labels);
	for (unsigned i = 0; i < MOST_THREADS; i++)
		hi_edge_labels_destroy(names->source.labels[i]);
	free(names);
}

static enum hi_status create_names(struct hi_inspection *in, unsigned threads,
				   struct hi_error *err)
{
	struct hi_snapshot_names *names = hi_calloc(1, sizeof(*names));
	enum hi_status status = HI_OK;

	in->names = names;
	if (!names)
		return hi_fail_memory(err, "labels");
	threads = threads ? threads : hi_parallel_threads();
	names->source.in = in;
	names->graph = (struct hi_snapshot_graph){
		.graph = in->graph,
		.reach = in->results.reach,
		.label = label_graph_edges,
		.kept = &names->labels,
		.threads = threads < MOST_THREADS ? threads : MOST_THREADS,
		.used = used_bytes_of_object,
		.module = module_of_graph_root,
		.retains = type_of_graph_retains,
		.arg = &names->source};
	for (unsigned i = 0; i < names->graph.threads && status == HI_OK; i++)
		status = hi_edge_labels_create(in->decoders.typing, in->graph,
					       &names->source.labels[i], err);
	return status;
}

enum hi_status hi_snapshot_names_begin(struct hi_inspection *in, struct hi_error *err)
{
	enum hi_status status = create_names(in, hi_inspection_threads(in), err);

	return status == HI_OK ? hi_snapshot_labels_begin_beside(&in->names->graph, err)
			       : status;
}

void hi_snapshot_names_make(struct hi_inspection *in)
{
	hi_snapshot_labels_make(in->names->labels);
}

void hi_snapshot_names_help(struct hi_inspection *in)
{
	hi_snapshot_labels_help(in->names->labels);
}

enum hi_status hi_snapshot_save_graph(struct hi_inspection *in,
				      struct hi_snapshot_writer *w,
				      struct hi_snapshot_labels **labels_ret,
				      struct hi_error *err)
{
	enum hi_status status =
		in->names ? HI_OK : create_names(in, hi_inspection_threads(in), err);

	if (status == HI_OK) {
		in->names->graph.dominators = in->results.dominators;
		status = hi_snapshot_put_graph(w, &in->names->graph, err);
		*labels_ret = hi_take(in->names->labels);
	}
	hi_snapshot_names_destroy(hi_take(in->names));
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

static const struct hi_row_member conflict_members[] = {
#define CONFLICT_MEMBER(name)                                                            \
	HI_ROW_MEMBER(struct hi_snapshot_conflict_row, name, struct hi_typing_conflict,  \
		      name)
	CONFLICT_MEMBER(type),
	CONFLICT_MEMBER(other),
	CONFLICT_MEMBER(objects),
	CONFLICT_MEMBER(example),
#undef CONFLICT_MEMBER
};
static const struct hi_row_map conflict_map =
	HI_ROW_MAP("conflicts", struct hi_typing_conflict, conflict_members);

enum hi_status hi_snapshot_save_conflicts(const struct hi_inspection *in,
					  struct hi_snapshot_writer *w,
					  struct hi_error *err)
{
	const struct hi_typing_conflict *found;
	size_t n = hi_typing_conflicts(in->decoders.typing, &found);
	enum hi_status status = hi_snapshot_put_rows(w, &conflict_map, found, n, err);

	return status == HI_OK
		       ? hi_snapshot_put_number(
				 w, "conflicts.objects",
				 hi_typing_stats(in->decoders.typing).conflicts, err)
		       : status;
}

enum hi_status hi_snapshot_source_conflicts(struct hi_inspection *in,
					    const struct hi_typing_conflict **ret,
					    size_t *n_ret, uint64_t *objects_ret,
					    struct hi_error *err)
{
	struct hi_snapshot *s = in->snapshot->snapshot;

	*objects_ret = hi_snapshot_number(s, "conflicts.objects", 0);
	return hi_snapshot_take_rows(s, &conflict_map, &in->arena, ret, n_ret, err);
}
