/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/merged_births.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/cleanup.h"
#include "base/table.h"
#include "base/text.h"
#include "base/vector.h"
#include "census/events/sampling.h"

struct births_merging {
	const struct hi_births *births;
	const struct hi_context_view *contexts;
	const struct hi_frames *frames;
	struct hi_interner names;
	struct HI_VECTOR(struct hi_merged_node) nodes;
	struct HI_VECTOR(struct hi_merged_frame) merged_frames;
	struct hi_table frame_index; /* number of a name -> frame */
	struct hi_table index;	     /* parent << 32 | frame -> node */
	uint32_t *of_context;	     /* node; 0: not placed yet */
	uint32_t before;	     /* hi_merged.before */
};

static void free_births_merging(struct births_merging *m)
{
	hi_interner_free(&m->names);
	hi_vector_free(&m->nodes);
	hi_vector_free(&m->merged_frames);
	hi_table_free(&m->frame_index);
	hi_table_free(&m->index);
	free(m->of_context);
}

HI_DEFINE_GUARD(struct births_merging *, free_births_merging)

/* UINT32_MAX: out of memory. */
static uint32_t frame_of_function(struct births_merging *m, const char *name,
				  const char *module)
{
	uint32_t number = hi_interner_add(&m->names, name);
	uint32_t file = *module ? hi_interner_add(&m->names, hi_base_name(module)) : 0;
	struct hi_merged_frame frame = {.key = HI_MERGED_PLAIN};
	uint64_t found;

	if (!number || (*module && !file))
		return UINT32_MAX;
	if (hi_table_get(&m->frame_index, number, &found))
		return (uint32_t)found;
	frame.label = hi_interner_name(&m->names, number);
	frame.module = file ? hi_interner_name(&m->names, file) : NULL;
	if (!hi_vector_push(&m->merged_frames, frame) ||
	    !hi_table_put(&m->frame_index, number, m->merged_frames.count - 1))
		return UINT32_MAX;
	return (uint32_t)m->merged_frames.count - 1;
}

/* UINT32_MAX: out of memory. module: path; "" none. */
static uint32_t callee_in_module(struct births_merging *m, uint32_t parent,
				 const char *name, const char *module)
{
	uint32_t frame =
		parent == UINT32_MAX ? UINT32_MAX : frame_of_function(m, name, module);
	uint64_t slot = (uint64_t)parent << 32 | frame, found;
	struct hi_merged_node node = {
		.parent = parent, .frame = frame, .key = HI_MERGED_PLAIN};

	if (frame == UINT32_MAX)
		return UINT32_MAX;
	if (hi_table_get(&m->index, slot, &found))
		return (uint32_t)found;
	node.depth = m->nodes.items[parent].depth + 1;
	if (m->nodes.count >= UINT32_MAX - 1 || !hi_vector_push(&m->nodes, node) ||
	    !hi_table_put(&m->index, slot, m->nodes.count - 1))
		return UINT32_MAX;
	return (uint32_t)m->nodes.count - 1;
}

static uint32_t callee_of(struct births_merging *m, uint32_t parent, const char *name)
{
	return callee_in_module(m, parent, name, "");
}

/* Rows of a context, the innermost first, at most `most`; returns how many there are. */
static size_t list_rows(const struct births_merging *m, uint32_t context,
			const struct hi_frame_row **rows, size_t most)
{
	uint32_t numbers[HI_STACK_FRAMES];
	unsigned n = hi_context_frames(m->contexts, context, numbers);
	size_t count = 0;

	for (unsigned i = 0; i < n; i++) {
		if (numbers[i] >= m->frames->n_frames)
			continue;
		for (uint32_t k = m->frames->first[numbers[i]];
		     k < m->frames->first[numbers[i] + 1]; k++, count++)
			if (count < most)
				rows[count] = &m->frames->rows[k];
	}
	return count;
}

static uint32_t place_context(struct births_merging *m, uint32_t context)
{
	const struct hi_frame_row *rows[HI_MERGED_DEPTH - 1];
	size_t most = HI_MERGED_DEPTH - 1, n;
	uint32_t at = 0;

	if (m->of_context[context])
		return m->of_context[context];
	n = list_rows(m, context, rows, most);
	if (n == 0)
		at = callee_of(m, at, "(no stack)");
	else if (n > most || m->contexts->contexts[context].flags & HI_CONTEXT_CUT)
		at = callee_of(m, at, "...");
	for (size_t i = n < most ? n : most; i > 0; i--)
		at = callee_in_module(m, at, hi_frame_row_name(rows[i - 1]),
				      rows[i - 1]->module);
	if (at != UINT32_MAX)
		m->of_context[context] = at;
	return at;
}

static uint32_t place_object(struct births_merging *m, hi_node object)
{
	uint32_t context = m->births->context[object];

	if (context == HI_BIRTH_NONE)
		return m->before = callee_of(m, 0, "(before the recording)");
	if (context == HI_BIRTH_OTHER || context >= m->contexts->n_contexts)
		return callee_of(m, 0, "(not recorded)");
	return place_context(m, context);
}

static bool merge_objects(struct births_merging *m, const struct hi_graph *g,
			  const uint64_t *mask)
{
	for (hi_node i = 0; i < g->n_objects && i < m->births->n_objects; i++) {
		uint32_t at;

		if (!hi_bit(mask, i))
			continue;
		at = place_object(m, i);
		if (at == UINT32_MAX)
			return false;
		m->nodes.items[at].objects++;
		m->nodes.items[at].bytes += hi_objects_cost(g->objects, i);
	}
	return true;
}

/* ---- samples ---- */

/* Allocations that samples represent beside themselves. */
struct merged_unseen {
	double objects, bytes;
};

static void add_merged_unseen(struct hi_merged_node *node, const struct merged_unseen *u)
{
	node->objects += hi_estimate_round(u->objects);
	node->bytes += hi_estimate_round(u->bytes);
}

static void take_merged_unseen(struct hi_merged_node *node, const struct merged_unseen *u)
{
	uint64_t objects = hi_estimate_round(u->objects);
	uint64_t bytes = hi_estimate_round(u->bytes);

	node->objects -= objects < node->objects ? objects : node->objects;
	node->bytes -= bytes < node->bytes ? bytes : node->bytes;
}

static void sum_merged_unseen(struct births_merging *m, const struct hi_graph *g,
			      const uint64_t *mask, struct merged_unseen *by_node)
{
	const struct hi_births *b = m->births;

	for (hi_node i = 0; i < g->n_objects && i < b->n_objects; i++) {
		uint32_t at;
		double others;

		if (!hi_bit(mask, i) || !hi_birth_is_known(b, i))
			continue;
		at = place_object(m, i);
		if (at >= m->nodes.count)
			continue;
		others = 1 / hi_sample_probability(b->sample_bytes, b->size[i]) - 1;
		by_node[at].objects += others;
		by_node[at].bytes += others * (double)hi_objects_cost(g->objects, i);
	}
}

/* Nodes get what their samples stand for; that is taken from the objects without a
 * record. */
static bool weigh_merged_samples(struct births_merging *m, const struct hi_graph *g,
				 const uint64_t *mask)
{
	HI_GUARD(free) struct merged_unseen *by_node = NULL;
	uint32_t before = m->before = callee_of(m, 0, "(before the recording)");
	struct merged_unseen all = {};

	if (before == UINT32_MAX)
		return false;
	by_node = hi_calloc(m->nodes.count, sizeof(*by_node));
	if (!by_node)
		return false;
	sum_merged_unseen(m, g, mask, by_node);
	for (size_t i = 0; i < m->nodes.count; i++) {
		add_merged_unseen(&m->nodes.items[i], &by_node[i]);
		all.objects += by_node[i].objects;
		all.bytes += by_node[i].bytes;
	}
	take_merged_unseen(&m->nodes.items[before], &all);
	return true;
}

static bool begin_births_merging(struct births_merging *m, const struct hi_graph *g)
{
	uint32_t root = hi_merged_key(g, g->super_root);

	m->of_context =
		hi_calloc((size_t)m->contexts->n_contexts + 1, sizeof(*m->of_context));
	return m->of_context &&
	       hi_vector_push(&m->merged_frames,
			      (struct hi_merged_frame){.key = root, .label = ""}) &&
	       hi_vector_push(&m->nodes,
			      (struct hi_merged_node){.parent = UINT32_MAX, .key = root});
}

enum hi_status hi_merged_births_make(const struct hi_graph *g, const uint64_t *mask,
				     const struct hi_births *births,
				     const struct hi_context_view *contexts,
				     const struct hi_frames *frames,
				     struct hi_merged **ret, struct hi_error *err)
{
	struct births_merging m = {
		.births = births, .contexts = contexts, .frames = frames};
	HI_GUARD(free_births_merging) struct births_merging *owned = &m;
	struct hi_merged *merged = NULL;

	if (begin_births_merging(owned, g) && merge_objects(owned, g, mask) &&
	    (!births->sample_bytes || weigh_merged_samples(owned, g, mask)))
		merged = hi_calloc(1, sizeof(*merged));
	if (!merged)
		return hi_fail_memory(err, "stacks of a recording");
	merged->count = m.nodes.count;
	merged->nodes = hi_take(m.nodes.items);
	merged->n_frames = m.merged_frames.count;
	merged->frames = hi_take(m.merged_frames.items);
	merged->labels = m.names;
	merged->before = m.before;
	m.names = (struct hi_interner){};
	*ret = merged;
	return HI_OK;
}
