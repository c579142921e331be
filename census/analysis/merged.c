/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/analysis/merged.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/table.h"
#include "base/vector.h"
#include "census/analysis/merged_labels.h"

enum {
	CHAIN = 4,  /* merged nodes of one type, one below the other */
	KEYED = 32, /* children of a merged node whose keys stay as they occur often */
};

struct making {
	const struct hi_graph *g;
	const struct hi_reach *reach;
	const struct hi_dominators *d;
	struct hi_merged_labelling labels; /* label NULL: there are none */
	struct list HI_VECTOR(struct hi_merged_node) nodes;
	struct HI_VECTOR(uint32_t) keyed; /* by merged node */
	struct frame_list HI_VECTOR(struct hi_merged_frame) frames;
	struct hi_table frame_index; /* label << 32 | key -> frame */
	struct hi_table index;	     /* parent << 32 | frame -> node */
	uint32_t *merged;	     /* by node of the graph */
	uint64_t cut_objects, cut_bytes;
};

void hi_merged_destroy(struct hi_merged *m)
{
	if (!m)
		return;
	free(m->nodes);
	free(m->frames);
	hi_interner_free(&m->labels);
	free(m);
}

const char *hi_merged_name(const struct hi_graph *g, uint32_t key)
{
	uint32_t root = key - g->n_types;

	if (key == HI_MERGED_PLAIN)
		return "";
	if (key < g->n_types)
		return *g->types[key].name ? g->types[key].name : "(untyped)";
	if (root < g->n_roots)
		return g->roots[root].name;
	if (root < g->n_roots + HI_ROOT_KINDS)
		return hi_root_kind_name((enum hi_root_kind)(root - g->n_roots));
	return "(all)";
}

/* The frame of this key and label; makes it. UINT32_MAX: out of memory. */
static uint32_t frame_of(struct making *m, uint32_t key, uint32_t label)
{
	uint64_t slot = (uint64_t)label << 32 | key, found;
	struct hi_merged_frame frame = {
		.key = key,
		.label = label ? hi_interner_name(m->labels.names, label) : ""};

	if (hi_table_get(&m->frame_index, slot, &found))
		return (uint32_t)found;
	if (m->frames.count >= UINT32_MAX - 1 || !hi_vector_push(&m->frames, frame) ||
	    !hi_table_put(&m->frame_index, slot, m->frames.count - 1))
		return UINT32_MAX;
	return (uint32_t)m->frames.count - 1;
}

/* The child of `parent` with this frame; makes it. UINT32_MAX: out of memory. */
static uint32_t child_of(struct making *m, uint32_t parent, uint32_t frame)
{
	uint64_t slot = (uint64_t)parent << 32 | frame, found;
	struct hi_merged_node node = {.parent = parent, .frame = frame};

	if (frame == UINT32_MAX)
		return UINT32_MAX;
	if (hi_table_get(&m->index, slot, &found))
		return (uint32_t)found;
	node.key = m->frames.items[frame].key;
	node.depth = m->nodes.items[parent].depth + 1;
	if (m->nodes.count >= UINT32_MAX - 1 || !hi_vector_push(&m->nodes, node) ||
	    !hi_vector_push(&m->keyed, 0) ||
	    !hi_table_put(&m->index, slot, m->nodes.count - 1))
		return UINT32_MAX;
	return (uint32_t)m->nodes.count - 1;
}

static bool has_merged_child(const struct making *m, uint32_t parent, uint32_t key,
			     uint32_t label)
{
	uint64_t frame, child;

	return hi_table_get(&m->frame_index, (uint64_t)label << 32 | key, &frame) &&
	       hi_table_get(&m->index, (uint64_t)parent << 32 | frame, &child);
}

/* The label of a node below `parent`: with its key only where that is telling. */
static uint32_t label_below(struct making *m, uint32_t parent, hi_node node)
{
	const struct hi_merged_labelling *l = &m->labels;
	uint32_t label = l->label ? l->label[node] : 0;
	const struct hi_merged_label *of = label ? &l->of.items[label - 1] : NULL;

	if (!label || of->folded == label || hi_merged_is_worth_a_name(m->g, m->d, node))
		return label;
	if (of->count < 2)
		return of->folded;
	if (has_merged_child(m, parent, hi_merged_key(m->g, node), label))
		return label;
	if (m->keyed.items[parent] >= KEYED)
		return of->folded;
	m->keyed.items[parent]++;
	return label;
}

/* The object of a run (a list, a tree) below `parent`: the node of the run that it is
 * part of; UINT32_MAX: none, it gets its own. */
static uint32_t find_run_node(const struct making *m, uint32_t parent, uint32_t key,
			      const char *label)
{
	uint32_t at = parent, top = parent, length = 0;

	if (m->nodes.items[at].key == key && key < m->g->n_types &&
	    hi_merged_is_library_field(label))
		return at; /* the next node of a container */
	while (m->nodes.items[at].key == key && key < m->g->n_types) {
		/* Labels are interned: one text has one address. */
		if (m->frames.items[m->nodes.items[at].frame].label == label)
			return at;
		top = at;
		length++;
		at = m->nodes.items[at].parent;
	}
	return length >= CHAIN ? top : UINT32_MAX;
}

static uint32_t place_in_merged_tree(struct making *m, hi_node node)
{
	hi_node up = m->d->idom[node];
	uint32_t key = hi_merged_key(m->g, node), parent, frame, run;

	if (up == HI_NODE_NONE)
		return 0;
	parent = m->merged[up];
	frame = frame_of(m, key, label_below(m, parent, node));
	if (frame == UINT32_MAX)
		return UINT32_MAX;
	run = find_run_node(m, parent, key, m->frames.items[frame].label);
	if (run != UINT32_MAX)
		return run;
	if (m->nodes.items[parent].depth >= HI_MERGED_DEPTH)
		return parent;
	return child_of(m, parent, frame);
}

static void count_merged_object(struct making *m, hi_node object, uint32_t at)
{
	struct hi_merged_node *node = &m->nodes.items[at];
	uint64_t cost = hi_objects_cost(m->g->objects, object);

	node->bytes += cost;
	node->objects++;
	if (node->key != hi_merged_key(m->g, object)) {
		m->cut_bytes += cost;
		m->cut_objects++;
	}
}

static bool merge_dominator_tree(struct making *m)
{
	const struct hi_graph *g = m->g;
	struct hi_merged_node all = {.parent = UINT32_MAX,
				     .key = hi_merged_key(g, g->super_root)};

	m->merged = hi_calloc(g->n_nodes, sizeof(*m->merged));
	if (!m->merged || frame_of(m, all.key, 0) != 0 ||
	    !hi_vector_push(&m->nodes, all) || !hi_vector_push(&m->keyed, 0))
		return false;
	for (hi_node i = 0; i < m->d->n_order; i++) {
		hi_node node = m->d->order[i];
		uint32_t at = place_in_merged_tree(m, node);

		if (at == UINT32_MAX)
			return false;
		m->merged[node] = at;
		if (node >= g->n_objects || !hi_bit(m->reach->any, node) ||
		    g->objects->flags[node] & HI_OBJECT_INTERNAL)
			continue;
		count_merged_object(m, node, at);
	}
	return true;
}

static void free_making(struct making *m)
{
	free(m->merged);
	hi_table_free(&m->index);
	hi_table_free(&m->frame_index);
	hi_vector_free(&m->keyed);
	hi_vector_free(&m->nodes);
	hi_vector_free(&m->frames);
	hi_merged_labelling_free(&m->labels);
}

enum hi_status hi_merged_make(const struct hi_graph *g, const struct hi_reach *reach,
			      const struct hi_dominators *d,
			      const struct hi_merged_labels *labels,
			      struct hi_merged **ret, struct hi_error *err)
{
	HI_GUARD(hi_merged_destroy) struct hi_merged *made = hi_calloc(1, sizeof(*made));
	struct making m = {.g = g, .reach = reach, .d = d};
	enum hi_status status = made ? HI_OK : hi_fail_memory(err, "merged tree");

	if (made)
		m.labels.names = &made->labels;
	if (status == HI_OK && labels)
		status = hi_merged_label_all(g, d, labels, &m.labels, err);
	if (status == HI_OK && !merge_dominator_tree(&m))
		status = hi_fail_memory(err, "merged tree");
	if (status == HI_OK) {
		made->nodes = hi_take(m.nodes.items);
		made->count = m.nodes.count;
		made->frames = hi_take(m.frames.items);
		made->n_frames = m.frames.count;
		made->cut_objects = m.cut_objects;
		made->cut_bytes = m.cut_bytes;
		*ret = hi_take(made);
	}
	free_making(&m);
	return status;
}

uint64_t *hi_merged_below(const struct hi_merged *m)
{
	uint64_t *below = hi_calloc(m->count, sizeof(*below));

	if (!below)
		return NULL;
	/* Parents come before their children. */
	for (size_t i = m->count; i-- > 0;) {
		below[i] += m->nodes[i].bytes;
		if (i)
			below[m->nodes[i].parent] += below[i];
	}
	return below;
}

bool hi_merged_list_children(const struct hi_merged *m, uint32_t **first_ret,
			     uint32_t **child_ret)
{
	size_t n = m->count;
	uint32_t *first = *first_ret = hi_calloc(n + 2, sizeof(*first));
	uint32_t *child = *child_ret = hi_calloc(n + 1, sizeof(*child));

	if (!first || !child)
		return false;
	for (size_t i = 1; i < n; i++)
		first[m->nodes[i].parent + 2]++;
	for (size_t i = 2; i < n + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 1; i < n; i++)
		child[first[m->nodes[i].parent + 1]++] = (uint32_t)i;
	return true;
}
