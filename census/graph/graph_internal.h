/* SPDX-License-Identifier: BSD-2-Clause */
/* The private part of a graph: shared by its builder, its destructor and the walks. */
#ifndef HI_CENSUS_GRAPH_GRAPH_INTERNAL_H
#define HI_CENSUS_GRAPH_GRAPH_INTERNAL_H

#include <pthread.h>

#include "base/arena.h"
#include "base/vector.h"
#include "census/graph/graph.h"

/*
 * Note [Rows on huge pages]
 *
 * Walks hop between rows at random. On 4 KiB pages each hop misses the TLB
 * too, and the walk takes half as long again; so the rows of large graphs are moved from
 * the caller's arrays to segments of huge pages, packed, while they are still in the
 * cache of the thread that made them.
 */
struct hi_segment {
	unsigned char *pages;
	size_t size, used;
};

struct hi_graph_private {
	struct hi_arena strings;
	struct hi_root *roots;
	struct hi_type_name *types;
	uint32_t n_chunks;
	uint32_t *no_rows; /* all zero: the rows of chunks that have no edge */
	bool *is_packed;   /* per chunk: lies in a segment */
	struct HI_VECTOR(struct hi_segment) segments;
	pthread_mutex_t lock; /* segments */
};

static inline uint32_t hi_chunk_count(hi_node n_objects)
{
	return (uint32_t)(((uint64_t)n_objects + HI_CHUNK_NODES - 1) >> HI_CHUNK_SHIFT);
}
/* Objects in chunk `index`. */
static inline uint32_t hi_chunk_nodes(hi_node n_objects, uint32_t index)
{
	hi_node rest = n_objects - (index << HI_CHUNK_SHIFT);

	return rest < HI_CHUNK_NODES ? rest : HI_CHUNK_NODES;
}
/* Strings of types and roots are not copied from now on: they stay the caller's and
 * outlive the graph. */
void hi_graph_builder_borrow_strings(struct hi_graph_builder *b);
void hi_edge_chunk_free(struct hi_edge_chunk *chunk);

#endif
