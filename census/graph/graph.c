/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>

#include "base/alloc.h"
#include "census/graph/graph_internal.h"

const char *hi_root_kind_name(enum hi_root_kind kind)
{
	static const char *const names[HI_ROOT_KINDS] = {
		[HI_ROOT_GLOBAL] = "globals",	  [HI_ROOT_TLS] = "thread-locals",
		[HI_ROOT_STACK] = "stack frames", [HI_ROOT_REGISTER] = "registers",
		[HI_ROOT_RUNTIME] = "runtime",	  [HI_ROOT_UNTYPED] = "untyped words",
	};

	return (unsigned)kind < HI_ROOT_KINDS ? names[kind] : "unknown";
}

const char *hi_type_class_name(enum hi_type_class klass)
{
	static const char *const names[HI_TYPE_CLASSES] = {
		[HI_TYPE_UNKNOWN] = "unknown",
		[HI_TYPE_RECORD] = "record",
		[HI_TYPE_ARRAY] = "array",
		[HI_TYPE_STRING] = "string",
		[HI_TYPE_POINTER_ARRAY] = "pointer array",
		[HI_TYPE_SCALAR] = "scalar",
		[HI_TYPE_FIELD] = "field",
	};

	return (unsigned)klass < HI_TYPE_CLASSES ? names[klass] : "unknown";
}

uint64_t hi_graph_cost(const struct hi_graph *g, hi_node node)
{
	return node < g->n_objects ? hi_objects_cost(g->objects, node) : 0;
}

void hi_edge_chunk_free(struct hi_edge_chunk *chunk)
{
	free(chunk->row);
	free(chunk->to);
	free(chunk->grade);
	*chunk = (struct hi_edge_chunk){};
}

static void destroy_graph_private(struct hi_graph_private *priv)
{
	if (!priv)
		return;
	for (size_t i = 0; i < priv->segments.count; i++)
		hi_pages_free(priv->segments.items[i].pages,
			      priv->segments.items[i].size);
	hi_vector_free(&priv->segments);
	hi_arena_free(&priv->strings);
	free(priv->roots);
	free(priv->types);
	free(priv->no_rows);
	free(priv->is_packed);
	pthread_mutex_destroy(&priv->lock);
	free(priv);
}

const char *hi_unreachable_class_key(enum hi_unreachable_class klass)
{
	static const char *const keys[HI_UNREACHABLE_CLASSES] = {
		[HI_UNREACHABLE_NO_CLASS] = "leaked",
		[HI_UNREACHABLE_GARBAGE] = "garbage",
		[HI_UNREACHABLE_UNCOLLECTABLE] = "uncollectable",
		[HI_UNREACHABLE_LOST_REFERENCE] = "lost reference"};

	return keys[klass];
}

void hi_graph_destroy(struct hi_graph *g)
{
	if (!g)
		return;
	for (uint32_t i = 0; g->chunks && i < g->priv->n_chunks; i++) {
		if (g->priv->is_packed[i])
			continue;
		if (g->chunks[i].row == g->priv->no_rows)
			g->chunks[i].row = NULL;
		hi_edge_chunk_free(&g->chunks[i]);
	}
	free(g->chunks);
	hi_edge_chunk_free(&g->root_chunk);
	free(g->unreachable_classes);
	free(g->causes);
	destroy_graph_private(g->priv);
	hi_objects_destroy(g->objects);
	free(g);
}

/* Rows ascend and their edges lead below limit. */
static bool rows_are_valid(const struct hi_edge_chunk *c, uint32_t n, hi_node limit)
{
	if (c->row[0] != 0)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (c->row[i + 1] < c->row[i])
			return false;
	for (uint32_t e = 0; e < c->row[n]; e++)
		if (c->to[e] >= limit || c->grade[e] > HI_GRADE_WEAK)
			return false;
	return true;
}

static bool layout_is_valid(const struct hi_graph *g)
{
	return g->n_objects == g->objects->count && g->first_root == g->n_objects &&
	       g->first_kind == g->first_root + g->n_roots &&
	       g->super_root == g->first_kind + HI_ROOT_KINDS &&
	       g->n_nodes == g->super_root + 1;
}

bool hi_graph_is_valid(const struct hi_graph *g)
{
	uint64_t edges = 0;

	if (!layout_is_valid(g))
		return false;
	for (uint32_t i = 0; i < g->priv->n_chunks; i++) {
		uint32_t n = hi_chunk_nodes(g->n_objects, i);

		if (!rows_are_valid(&g->chunks[i], n, g->n_objects))
			return false;
		edges += g->chunks[i].row[n];
	}
	if (!rows_are_valid(&g->root_chunk, g->n_nodes - g->first_root, g->super_root))
		return false;
	edges += g->root_chunk.row[g->n_nodes - g->first_root];
	for (hi_node i = 0; i < g->n_objects; i++)
		if (g->objects->type[i] >= g->n_types)
			return false;
	return edges == g->n_edges;
}
