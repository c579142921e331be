/* SPDX-License-Identifier: BSD-2-Clause */
/* Snapshot files as sources (session/source.h). */
#include <inttypes.h>

#include "session/edge_text.h"
#include "session/snapshot/snapshot_source.h"

static void close_snapshot(struct hi_inspection *in)
{
	hi_graph_destroy(in->graph);
	hi_snapshot_source_close(in->snapshot);
}

static enum hi_status refuse_without_image(const struct hi_inspection *in,
					   const char *what, struct hi_error *err)
{
	(void)in;
	return hi_fail(err, HI_UNSUPPORTED, 0,
		       "%s: needs the process or a core file: a snapshot has no contents",
		       what);
}

/* It came with the graph. */
static enum hi_status keep_snapshot_reach(struct hi_inspection *in, struct hi_error *err)
{
	(void)in, (void)err;
	return HI_OK;
}

/* They lie in the inspection's arena. */
static void close_snapshot_roots(struct hi_inspection *in)
{
	(void)in;
}

static bool snapshot_has_census(const struct hi_inspection *in)
{
	return hi_snapshot_has(in->snapshot->snapshot, "census");
}

static bool snapshot_heap_is_known(const struct hi_inspection *in)
{
	return hi_snapshot_source_heap_is_known(in->snapshot->snapshot);
}

static size_t list_snapshot_conflicts(struct hi_inspection *in,
				      const struct hi_typing_conflict **ret,
				      uint64_t *objects_ret)
{
	struct hi_error err = {};
	size_t n = 0;

	/* A file of an earlier version has none, which is no failure. */
	if (hi_snapshot_source_conflicts(in, ret, &n, objects_ret, &err) != HI_OK)
		in->snapshot->failure = err;
	return n;
}

static enum hi_status open_snapshot_used_bytes(struct hi_inspection *in,
					       struct hi_error *err)
{
	if (in->snapshot->used)
		return HI_OK;
	return hi_snapshot_used(in->snapshot->snapshot, &in->snapshot->used, err);
}

static uint64_t snapshot_used_bytes(const struct hi_inspection *in, hi_node object)
{
	uint32_t used;

	if (!in->snapshot->used)
		return UINT64_MAX;
	used = in->snapshot->used[object];
	return used == UINT32_MAX ? hi_objects_usable(in->graph->objects, object) : used;
}

static const char *snapshot_root_module(const struct hi_inspection *in,
					const struct hi_root *root)
{
	return hi_snapshot_root_module(in->snapshot->snapshot,
				       (uint32_t)(root - in->graph->roots));
}

static bool snapshot_type_retains(const struct hi_inspection *in, uint32_t type)
{
	return hi_snapshot_type_retains(in->snapshot->snapshot, type);
}

static bool snapshot_knows_fields(const struct hi_inspection *in)
{
	(void)in;
	return true;
}

static enum hi_status open_snapshot_edge_texts(struct hi_edge_text_reader *reader,
					       struct hi_error *err)
{
	struct hi_snapshot_source *stored = reader->in->snapshot;
	enum hi_status status = HI_OK;

	/* All names are checked, once. */
	if (!stored->has_labels)
		status = hi_snapshot_open_labels(stored->snapshot, err);
	stored->has_labels |= status == HI_OK;
	return status;
}

static enum hi_status read_snapshot_edge_names(struct hi_edge_text_reader *reader,
					       unsigned worker, hi_node node,
					       struct hi_edge_name *names,
					       struct hi_error *err)
{
	const struct hi_graph *g = reader->in->graph;
	uint32_t n = hi_graph_edges(g, node).count;

	(void)worker, (void)err;
	for (uint32_t i = 0; i < n; i++)
		names[i] =
			hi_snapshot_edge_name(reader->in->snapshot->snapshot, g, node, i);
	return HI_OK;
}

static enum hi_status read_snapshot_edge_texts(struct hi_edge_text_reader *reader,
					       hi_node node, const char **texts,
					       struct hi_error *err)
{
	uint32_t n = hi_graph_edges(reader->in->graph, node).count;
	enum hi_status status;

	if (!hi_vector_reserve(&reader->names, n))
		return hi_fail_memory(err, "labels");
	status = read_snapshot_edge_names(reader, 0, node, reader->names.items, err);
	if (status != HI_OK)
		return status;
	return hi_edge_names_texts(&reader->texts, reader->names.items, n,
				   reader->with_marks, texts)
		       ? HI_OK
		       : hi_fail_memory(err, "labels");
}

/* Neither evidence nor chains of it are stored. */
static enum hi_status explain_snapshot_object(struct hi_inspection *in, hi_node object,
					      struct hi_explain_report *report,
					      struct hi_error *err)
{
	(void)in, (void)object, (void)report, (void)err;
	return HI_OK;
}

static const char *explain_snapshot_likely(struct hi_inspection *in, hi_node object)
{
	(void)in, (void)object;
	return NULL;
}

static const char *snapshot_mapping_name(const struct hi_inspection *in, uint64_t address)
{
	(void)in, (void)address;
	return "";
}

static enum hi_status find_snapshot_block(struct hi_inspection *in, uint64_t address,
					  struct hi_block *ret, bool *found_ret,
					  struct hi_error *err)
{
	(void)in, (void)ret;
	*found_ret = false;
	return hi_fail(err, HI_NOT_FOUND, 0,
		       "0x%" PRIx64
		       " is in no object and no variable of this snapshot; for "
		       "other addresses, use the process or a core file",
		       address);
}

static const struct hi_result_ops snapshot_results = {
	.compute_reach = keep_snapshot_reach,
	.find_leak_groups = hi_snapshot_source_leak_groups,
	.find_alloc_sites = hi_snapshot_source_alloc_sites,
	.compute_dominators = hi_snapshot_source_dominators,
	.compute_census = hi_snapshot_source_census,
	.fill_ledger = hi_snapshot_source_ledger,
	.make_header = hi_snapshot_source_make_header,
	.allocated_bytes = hi_snapshot_source_allocated,
	.heap_is_known = snapshot_heap_is_known,
	.list_mapped_files = hi_snapshot_source_mapped_files,
	.list_conflicts = list_snapshot_conflicts,
	.read_recorded = hi_snapshot_source_read_recorded,
	.read_events = hi_snapshot_source_read_events,
	.read_windows = hi_snapshot_source_read_windows,
	.close_recorded = hi_snapshot_source_close_recorded,
};

static const struct hi_stored_ops snapshot_stored = {
	.has_census = snapshot_has_census,
	.has_answer = hi_snapshot_source_has_answer,
	.read_retained = hi_snapshot_source_retained,
	.read_suspects = hi_snapshot_source_suspects,
	.read_owners = hi_snapshot_source_owners,
	.read_nearest = hi_snapshot_source_nearest,
	.read_lives = hi_snapshot_source_read_lives,
};

static const struct hi_content_ops snapshot_contents = {
	.compare_contents = hi_snapshot_source_waste,
	.find_equal = hi_snapshot_source_equal,
	.measure_heap_use = hi_snapshot_source_heap_use,
	.open_used_bytes = open_snapshot_used_bytes,
	.used_bytes = snapshot_used_bytes,
	.read_beginning = hi_snapshot_source_read_beginning,
	.find_block = find_snapshot_block,
	.mapping_name = snapshot_mapping_name,
};

static const struct hi_text_ops snapshot_texts = {
	.edge_text = hi_snapshot_source_edge_text,
	.open_edge_texts = open_snapshot_edge_texts,
	.read_edge_texts = read_snapshot_edge_texts,
	.read_edge_names = read_snapshot_edge_names,
	.list_fields = hi_snapshot_source_fields,
	.has_values = hi_snapshot_source_has_contents,
	.explain_object = explain_snapshot_object,
	.explain_likely = explain_snapshot_likely,
};

static const struct hi_retainer_ops snapshot_retainers = {
	.find_roots = hi_snapshot_source_roots,
	.close_roots = close_snapshot_roots,
	.root_module = snapshot_root_module,
	.type_retains = snapshot_type_retains,
	.knows_fields = snapshot_knows_fields,
	.mark_field_targets = hi_snapshot_source_field_targets,
};

const struct hi_source_ops hi_source_snapshot = {
	.name = "snapshot",
	.open = hi_snapshot_source_open,
	.close = close_snapshot,
	.check = hi_snapshot_source_check,
	.require_image = refuse_without_image,
	.results = &snapshot_results,
	.stored = &snapshot_stored,
	.contents = &snapshot_contents,
	.texts = &snapshot_texts,
	.retainers = &snapshot_retainers,
};
