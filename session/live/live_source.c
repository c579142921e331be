/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes and core files as sources: what is decoded from an image of memory. They
 * differ in how the image is made.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "decode/describe/edge_labels.h"
#include "decode/describe/field_targets.h"
#include "decode/inference/integers.h"
#include "decode/inference/leak_names.h"
#include "decode/inference/unreachable_classes.h"
#include "decode/inference/verdict.h"
#include "decode/inference/extent.h"
#include "decode/usage/contents.h"
#include "decode/usage/heap_use.h"
#include "decode/usage/ledger.h"
#include "session/census_cache.h"
#include "session/edge_text.h"
#include "session/live/blocks.h"
#include "session/live/decoding.h"
#include "session/live/freeze.h"
#include "session/live/header.h"
#include "session/live/keeper.h"
#include "session/live/live_explain.h"
#include "session/live/live_modules.h"
#include "session/live/live_recorded.h"
#include "session/live/recorder.h"

/* ---- opening and closing ---- */

static enum hi_status begin_process(struct hi_inspection *in, struct hi_error *err)
{
	enum hi_status status = hi_freeze(in, err);

	if (status == HI_OK)
		hi_freeze_report(in);
	return status;
}

/* Not where something of them may be missing because memory ran out. */
static void return_modules(struct hi_inspection *in)
{
	struct hi_census_cache *census_cache = in->run->census_cache;

	if (!census_cache || !in->decoders.types || in->diagnostics.short_of_memory ||
	    hi_inspect_lost_something(in))
		return;
	census_cache->modules = hi_take(in->decoders.modules);
	census_cache->types = hi_take(in->decoders.types);
}

static void close_image(struct hi_inspection *in)
{
	hi_typing_destroy(in->decoders.typing);
	hi_graph_destroy(in->graph);
	hi_rulebook_destroy(in->decoders.rulebook);
	hi_runtime_release(in->decoders.runtime);
	hi_allocator_release(in->decoders.allocator);
	return_modules(in);
	hi_types_close(in->decoders.types);
	hi_modules_close(in->decoders.modules);
	hi_image_destroy(in->image);
	if (in->run->keeper)
		hi_keeper_end_image(in->run->keeper);
	free(in->stop.allocator_text);
	hi_stop_site_close(in->stop.own_site);
	if (in->stop.is_observed)
		hi_stop_observers_end_census(&in->run->observers);
	hi_target_close(in->stop.target);
}

static enum hi_status check_image(const struct hi_inspection *in, struct hi_error *err)
{
	return hi_image_check(in->image, err);
}

static enum hi_status have_image(const struct hi_inspection *in, const char *what,
				 struct hi_error *err)
{
	(void)in, (void)what, (void)err;
	return HI_OK;
}

/* ---- results ---- */

static enum hi_status compute_image_reach(struct hi_inspection *in, struct hi_error *err)
{
	enum hi_status status = hi_reach_compute(in->graph, hi_inspection_threads(in),
						 &in->results.reach, err);

	if (status == HI_OK && in->decoders.runtime)
		status = hi_runtime_classify_unreachable(in->decoders.typing,
							 in->decoders.runtime, in->graph,
							 in->results.reach, err);
	if (status == HI_OK)
		status = hi_integers_count(in->decoders.typing, in->graph,
					   in->results.reach, err);
	if (status == HI_OK && in->results.reach->leak_objects) {
		hi_inspect_phase(in, "verdicts of leaks");
		status = hi_leak_verdicts(in->decoders.typing, in->graph,
					  in->results.reach, err);
	}
	return status;
}

static enum hi_status find_image_leak_groups(struct hi_inspection *in,
					     struct hi_error *err)
{
	return hi_leak_names_find(in->decoders.typing, in->decoders.types, in->graph,
				  in->results.reach, &in->results.leak_groups, err);
}

static enum hi_status find_image_roots(struct hi_inspection *in, size_t *wrong,
				       size_t *column, struct hi_error *err)
{
	(void)wrong, (void)column;
	return in->profile.roots
		       ? hi_named_roots_find(in->profile.roots, in->decoders.typing,
					     in->graph, err)
		       : HI_OK;
}

static void close_image_roots(struct hi_inspection *in)
{
	hi_named_roots_close(in->profile.roots);
}

static enum hi_status compute_image_dominators(struct hi_inspection *in,
					       struct hi_error *err)
{
	return hi_dominators_compute(in->graph, in->results.reach,
				     &in->results.dominators, err);
}

static bool image_has_census(const struct hi_inspection *in)
{
	(void)in;
	return false;
}

static enum hi_status compute_image_census(struct hi_inspection *in, struct hi_error *err)
{
	return hi_census_by_type(in->graph, in->shown.reach, in->results.dominators,
				 &in->results.census, err);
}

static enum hi_status fill_image_ledger(struct hi_inspection *in, struct hi_error *err)
{
	struct hi_error quiet;
	uint64_t rss = in->stop.target ? in->stop.target->rss : HI_UNKNOWN;

	(void)err;
	hi_inspect_phase(in, "ledger");
	in->results.ledger_known = hi_ledger_fill(in->image, in->decoders.allocator,
						  in->graph, in->results.reach, rss,
						  &in->results.ledger, &quiet) == HI_OK;
	if (in->results.ledger_known && in->decoders.runtime)
		hi_ledger_add_runtime(&in->results.ledger, in->image,
				      in->decoders.runtime);
	if (!in->results.ledger_known)
		hi_inspect_warn(in, "no ledger: %s", quiet.text);
	return HI_OK;
}

static uint64_t image_allocated_bytes(const struct hi_inspection *in)
{
	const struct hi_allocator *a = in->decoders.allocator;

	if (!a)
		return UINT64_MAX;
	return a->bytes[HI_BLOCK_LIVE] + a->bytes[HI_BLOCK_INTERNAL] +
	       hi_typing_stats(in->decoders.typing).outside_bytes +
	       (in->decoders.runtime ? in->decoders.runtime->used_bytes : 0);
}

static bool image_heap_is_known(const struct hi_inspection *in)
{
	return in->decoders.allocator && !*in->decoders.not_decoded &&
	       !hi_decoding_has_much_outside(in);
}

static bool image_has_answer(const struct hi_inspection *in)
{
	(void)in;
	return false;
}

static enum hi_status read_image_retained(struct hi_inspection *in,
					  const struct hi_report_header *header,
					  struct hi_retained_report **ret,
					  struct hi_error *err)
{
	(void)in, (void)header, (void)ret;
	return hi_fail(err, HI_NOT_FOUND, 0, "retained: no stored table");
}

static size_t list_image_conflicts(struct hi_inspection *in,
				   const struct hi_typing_conflict **ret,
				   uint64_t *objects_ret)
{
	*objects_ret = hi_typing_stats(in->decoders.typing).conflicts;
	return hi_typing_conflicts(in->decoders.typing, ret);
}

/* ---- contents and use ---- */

static enum hi_status compare_image_contents(struct hi_inspection *in,
					     const struct hi_contents_options *options,
					     struct hi_waste **ret, struct hi_error *err)
{
	return hi_contents_compare(in->image, in->decoders.typing, in->graph,
				   in->shown.reach, options, ret, err);
}

static enum hi_status find_image_equal(struct hi_inspection *in,
				       struct hi_contents_marks *own,
				       const uint32_t **ret, struct hi_error *err)
{
	struct hi_contents_options options = {.threads = hi_inspection_threads(in),
					      .marks = own};
	struct hi_waste *waste = NULL;
	enum hi_status status =
		hi_contents_compare(in->image, in->decoders.typing, in->graph,
				    in->results.reach, &options, &waste, err);

	hi_waste_destroy(waste);
	*ret = own->equal;
	return status;
}

static enum hi_status measure_image_heap_use(struct hi_inspection *in,
					     struct hi_heap_use *ret,
					     struct hi_error *err)
{
	return hi_heap_use_measure(in->image, in->decoders.allocator,
				   hi_inspection_threads(in), ret, err);
}

static enum hi_status open_image_used_bytes(struct hi_inspection *in,
					    struct hi_error *err)
{
	(void)in, (void)err;
	return HI_OK;
}

static uint64_t image_used_bytes(const struct hi_inspection *in, hi_node object)
{
	return hi_typing_live_bytes(in->decoders.typing, in->graph, object);
}

/* ---- types and retainers ---- */

static const char *image_root_module(const struct hi_inspection *in,
				     const struct hi_root *root)
{
	struct hi_module *module = hi_modules_at(in->decoders.modules, root->address);

	return module ? module->name : "";
}

static bool image_type_retains(const struct hi_inspection *in, uint32_t type)
{
	hi_type_id id =
		in->decoders.rulebook ? hi_typing_type_id(in->decoders.typing, type) : 0;

	return id && hi_rulebook_is_retainer(in->decoders.rulebook, id);
}

static bool image_knows_fields(const struct hi_inspection *in)
{
	return in->decoders.types != NULL;
}

static enum hi_status mark_image_field_targets(struct hi_inspection *in, const char *text,
					       const bool *has, const char *field,
					       uint64_t *bits, struct hi_error *err)
{
	size_t column = 0;
	struct hi_error before = {};
	enum hi_status status =
		hi_field_targets(in->decoders.typing, in->graph, in->decoders.modules,
				 in->decoders.types, has, field, bits, &column, &before);

	if (status == HI_OK || status == HI_NO_MEMORY) {
		if (status != HI_OK)
			*err = before;
		return status;
	}
	return hi_fail(err, HI_USAGE, 0, "--retainer %.80s: %s", text, before.text);
}

/* ---- edges and objects as text ---- */

enum { EDGE_MAX = 512 };

static const char *image_edge_text(struct hi_inspection *in, hi_node from, hi_node to)
{
	char text[EDGE_MAX] = "";
	const char *kept;

	hi_typing_describe_step(in->decoders.typing, in->graph, from, to, text,
				sizeof(text));
	kept = hi_arena_strdup(&in->arena, text);
	return kept ? kept : "";
}

static enum hi_status open_image_edge_texts(struct hi_edge_text_reader *reader,
					    struct hi_error *err)
{
	return hi_edge_labels_create(reader->in->decoders.typing, reader->in->graph,
				     &reader->decoded, err);
}

static enum hi_status read_image_edge_texts(struct hi_edge_text_reader *reader,
					    hi_node node, const char **texts,
					    struct hi_error *err)
{
	return hi_edge_labels_of(reader->decoded, node, reader->with_marks, texts, err);
}

static enum hi_status list_image_fields(struct hi_inspection *in, hi_node node,
					struct hi_field *fields, size_t max,
					size_t *n_ret, size_t *total_ret,
					struct hi_error *err)
{
	return hi_typing_fields(in->decoders.typing, in->graph, node, fields, max, n_ret,
				total_ret, err);
}

static bool image_has_values(const struct hi_inspection *in)
{
	(void)in;
	return true;
}

static const char *image_mapping_name(const struct hi_inspection *in, uint64_t address)
{
	static const char *const kinds[] = {"anonymous memory",
					    "a file",
					    "[heap]",
					    "[stack]",
					    "[vdso]",
					    "shared memory",
					    "a mapping of the kernel"};
	const struct hi_mapping *m = hi_image_mapping_at(in->image, address);

	if (!m)
		return "";
	return m->path && *m->path ? m->path : kinds[m->kind];
}

static enum hi_status find_image_block(struct hi_inspection *in, uint64_t address,
				       struct hi_block *ret, bool *found_ret,
				       struct hi_error *err)
{
	enum hi_status status = hi_blocks_find(in, address, ret, err);

	*found_ret = status == HI_OK;
	return status == HI_NOT_FOUND ? HI_OK : status;
}

/* A series of censuses makes biographies (session/biography). */
static enum hi_status refuse_lives(struct hi_inspection *in, struct hi_error *err)
{
	(void)in;
	return hi_fail(err, HI_NOT_FOUND, 0, "one census has no biographies");
}

static enum hi_status refuse_suspects(struct hi_inspection *in, struct hi_error *err)
{
	(void)in;
	return hi_fail(err, HI_NOT_FOUND, 0, "an image has no suspects");
}

static enum hi_status refuse_nearest(struct hi_inspection *in, struct hi_nearest **ret,
				     struct hi_error *err)
{
	(void)in, (void)ret;
	return hi_fail(err, HI_NOT_FOUND, 0, "an image has no nearest variables");
}

static enum hi_status refuse_owners(struct hi_inspection *in, struct hi_owners **ret,
				    struct hi_error *err)
{
	(void)in, (void)ret;
	return hi_fail(err, HI_NOT_FOUND, 0, "an image has no owners");
}

#define IMAGE_OPERATIONS                                                                 \
	.open = hi_decoding_run, .close = close_image, .check = check_image,             \
	.require_image = have_image, .compute_reach = compute_image_reach,               \
	.find_leak_groups = find_image_leak_groups, .find_roots = find_image_roots,      \
	.close_roots = close_image_roots,                                                \
	.compute_dominators = compute_image_dominators, .has_census = image_has_census,  \
	.compute_census = compute_image_census, .fill_ledger = fill_image_ledger,        \
	.make_header = hi_live_make_header, .allocated_bytes = image_allocated_bytes,    \
	.heap_is_known = image_heap_is_known, .has_answer = image_has_answer,            \
	.read_retained = read_image_retained, .list_mapped_files = hi_live_mapped_files, \
	.list_conflicts = list_image_conflicts,                                          \
	.compare_contents = compare_image_contents, .find_equal = find_image_equal,      \
	.measure_heap_use = measure_image_heap_use,                                      \
	.open_used_bytes = open_image_used_bytes, .used_bytes = image_used_bytes,        \
	.root_module = image_root_module, .type_retains = image_type_retains,            \
	.knows_fields = image_knows_fields,                                              \
	.mark_field_targets = mark_image_field_targets, .edge_text = image_edge_text,    \
	.open_edge_texts = open_image_edge_texts,                                        \
	.read_edge_texts = read_image_edge_texts, .list_fields = list_image_fields,      \
	.has_values = image_has_values, .explain_object = hi_live_explain_object,        \
	.explain_likely = hi_live_explain_likely, .mapping_name = image_mapping_name,    \
	.find_block = find_image_block, .read_recorded = hi_live_read_recorded,          \
	.read_events = hi_live_read_events, .read_lives = refuse_lives,                  \
	.read_suspects = refuse_suspects, .read_owners = refuse_owners,                  \
	.read_nearest = refuse_nearest, .close_recorded = hi_live_close_recorded

const struct hi_source_ops hi_source_process = {
	.name = "process", .begin = begin_process, IMAGE_OPERATIONS};

const struct hi_source_ops hi_source_core = {.name = "core", IMAGE_OPERATIONS};
