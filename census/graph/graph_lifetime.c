/* SPDX-License-Identifier: BSD-2-Clause */
/* Frees a graph, and checks its invariants. */
#include <stdlib.h>

#include "base/alloc.h"
#include "census/graph/graph_internal.h"

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
	hi_pools_free(&g->pools);
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
