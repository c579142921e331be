/* SPDX-License-Identifier: BSD-2-Clause */
#include "census/graph/merged.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/table.h"
#include "base/vector.h"

struct making {
	const struct hi_graph *g;
	const struct hi_reach *reach;
	const struct hi_dominators *d;
	struct list HI_VECTOR(struct hi_merged_node) nodes;
	struct hi_table index; /* parent << 32 | key -> node */
	uint32_t *merged;      /* by node of the graph */
	uint64_t cut_objects, cut_bytes;
};

void hi_merged_destroy(struct hi_merged *m)
{
	if (!m)
		return;
	free(m->nodes);
	free(m);
}

const char *hi_merged_name(const struct hi_graph *g, uint32_t key)
{
	uint32_t root = key - g->n_types;

	if (key < g->n_types)
		return *g->types[key].name ? g->types[key].name : "(untyped)";
	if (root < g->n_roots)
		return g->roots[root].name;
	if (root < g->n_roots + HI_ROOT_KINDS)
		return hi_root_kind_name((enum hi_root_kind)(root - g->n_roots));
	return "(all)";
}

/* The child of `parent` with this key; makes it. UINT32_MAX: out of memory. */
static uint32_t child_of(struct making *m, uint32_t parent, uint32_t key)
{
	uint64_t slot = (uint64_t)parent << 32 | key, found;
	struct hi_merged_node node = {.parent = parent, .key = key};

	if (hi_table_get(&m->index, slot, &found))
		return (uint32_t)found;
	node.depth = m->nodes.items[parent].depth + 1;
	if (m->nodes.count >= UINT32_MAX - 1 || !hi_vector_push(&m->nodes, node) ||
	    !hi_table_put(&m->index, slot, m->nodes.count - 1))
		return UINT32_MAX;
	return (uint32_t)m->nodes.count - 1;
}

static uint32_t place_in_merged_tree(struct making *m, hi_node node)
{
	hi_node up = m->d->idom[node];
	uint32_t key = hi_merged_key(m->g, node), parent;

	if (up == HI_NODE_NONE)
		return 0;
	parent = m->merged[up];
	if (m->nodes.items[parent].key == key && up < m->g->n_objects)
		return parent;
	if (m->nodes.items[parent].depth >= HI_MERGED_DEPTH)
		return parent;
	return child_of(m, parent, key);
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
	if (!m->merged || !hi_vector_push(&m->nodes, all))
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

enum hi_status hi_merged_make(const struct hi_graph *g, const struct hi_reach *reach,
			      const struct hi_dominators *d, struct hi_merged **ret,
			      struct hi_error *err)
{
	struct making m = {.g = g, .reach = reach, .d = d};
	struct hi_merged *made = hi_calloc(1, sizeof(*made));
	bool ok = made && merge_dominator_tree(&m);

	free(m.merged);
	hi_table_free(&m.index);
	if (!ok) {
		hi_vector_free(&m.nodes);
		free(made);
		return hi_fail_memory(err, "merged tree");
	}
	made->nodes = m.nodes.items;
	made->count = m.nodes.count;
	made->cut_objects = m.cut_objects;
	made->cut_bytes = m.cut_bytes;
	*ret = made;
	return HI_OK;
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
