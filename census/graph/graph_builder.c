/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one way into the graph. Rows of objects are taken over as they are;
 * root edges and the loose edges of small graphs are counted into rows at the
 * seal, in the order in which they came.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vector.h"
#include "census/graph/graph_internal.h"

enum { SEGMENT_SIZE = 32 << 20, PACKED_MIN = 64 << 10 };

struct loose_edge {
	uint32_t from; /* an object, or the index of a root */
	hi_node to;
	uint8_t grade;
};
struct loose_edges HI_VECTOR(struct loose_edge);

struct hi_graph_builder {
	struct hi_graph *graph; /* objects, chunks, private parts so far */
	struct HI_VECTOR(struct hi_root) roots;
	struct HI_VECTOR(struct hi_type_name) types;
	struct loose_edges root_edges, edges;
	_Atomic bool has_chunks;
	bool borrows_strings;
};

void hi_graph_builder_destroy(struct hi_graph_builder *b)
{
	if (!b)
		return;
	hi_graph_destroy(b->graph);
	hi_vector_free(&b->roots);
	hi_vector_free(&b->types);
	hi_vector_free(&b->root_edges);
	hi_vector_free(&b->edges);
	free(b);
}

static struct hi_graph *graph_alloc(struct hi_objects *objects)
{
	HI_GUARD(hi_graph_destroy) struct hi_graph *g = hi_calloc(1, sizeof(*g));

	if (!g) {
		hi_objects_destroy(objects);
		return NULL;
	}
	g->objects = objects;
	g->n_objects = objects->count;
	g->priv = hi_calloc(1, sizeof(*g->priv));
	if (!g->priv)
		return NULL;
	g->priv->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	g->priv->n_chunks = hi_chunk_count(g->n_objects);
	g->priv->no_rows = hi_calloc(HI_CHUNK_NODES + 1, sizeof(uint32_t));
	g->priv->is_packed = hi_calloc(g->priv->n_chunks, sizeof(bool));
	if (!g->priv->no_rows || !g->priv->is_packed)
		return NULL;
	g->chunks = hi_calloc(g->priv->n_chunks, sizeof(*g->chunks));
	return g->chunks ? hi_take(g) : NULL;
}

enum hi_status hi_graph_builder_create(struct hi_objects *objects,
				       struct hi_graph_builder **ret,
				       struct hi_error *err)
{
	const struct hi_type_name no_type = {
		.name = "", .module = "", .owner = "", .field = ""};
	HI_GUARD(hi_graph_builder_destroy)
	struct hi_graph_builder *b = hi_calloc(1, sizeof(*b));

	if (!b) {
		hi_objects_destroy(objects);
		return hi_fail_memory(err, "object graph");
	}
	b->graph = graph_alloc(objects);
	if (!b->graph || !hi_vector_push(&b->types, no_type))
		return hi_fail_memory(err, "object graph");
	*ret = hi_take(b);
	return HI_OK;
}

void hi_graph_builder_borrow_strings(struct hi_graph_builder *b)
{
	b->borrows_strings = true;
}

/* "" needs no copy; NULL counts as "". */
static const char *copy_string(struct hi_graph_builder *b, const char *text)
{
	if (b->borrows_strings)
		return text ? text : "";
	return text && *text ? hi_arena_strdup(&b->graph->priv->strings, text) : "";
}

enum hi_status hi_graph_builder_type(struct hi_graph_builder *b,
				     const struct hi_type_name *type, uint32_t *id_ret,
				     struct hi_error *err)
{
	struct hi_type_name copy = *type;

	copy.name = copy_string(b, type->name);
	copy.module = copy_string(b, type->module);
	copy.owner = copy_string(b, type->owner);
	copy.field = copy_string(b, type->field);
	if (b->types.count >= UINT32_MAX)
		return hi_fail(err, HI_LIMIT, 0, "object graph: too many types");
	if (!copy.name || !copy.module || !copy.owner || !copy.field ||
	    !hi_vector_push(&b->types, copy))
		return hi_fail_memory(err, "type names");
	*id_ret = (uint32_t)b->types.count - 1;
	return HI_OK;
}

enum hi_status hi_graph_builder_root(struct hi_graph_builder *b,
				     const struct hi_root *root, uint32_t *index_ret,
				     struct hi_error *err)
{
	uint64_t nodes = (uint64_t)b->graph->n_objects + b->roots.count + HI_ROOT_KINDS;
	struct hi_root copy = *root;

	if ((unsigned)root->kind >= HI_ROOT_KINDS)
		return hi_fail(err, HI_USAGE, root->address, "object graph: root kind");
	/* The super-root and this one, below HI_NODE_NONE. */
	if (nodes + 2 >= HI_NODE_NONE)
		return hi_fail(err, HI_LIMIT, 0, "object graph: too many roots");
	copy.name = copy_string(b, root->name);
	copy.detail = copy_string(b, root->detail);
	copy.type = copy_string(b, root->type);
	if (!copy.name || !copy.detail || !copy.type || !hi_vector_push(&b->roots, copy))
		return hi_fail_memory(err, "roots");
	*index_ret = (uint32_t)b->roots.count - 1;
	return HI_OK;
}

static enum hi_status add_loose(struct loose_edges *edges, struct loose_edge edge,
				struct hi_error *err)
{
	if (edges->count >= UINT32_MAX)
		return hi_fail(err, HI_LIMIT, 0, "object graph: too many edges");
	if (!hi_vector_push(edges, edge))
		return hi_fail_memory(err, "edges");
	return HI_OK;
}

enum hi_status hi_graph_builder_root_edge(struct hi_graph_builder *b, uint32_t root,
					  hi_node to, enum hi_grade grade,
					  struct hi_error *err)
{
	struct loose_edge edge = {root, to, (uint8_t)grade};

	if (root >= b->roots.count || to >= b->graph->n_objects ||
	    (unsigned)grade > HI_GRADE_WEAK)
		return hi_fail(err, HI_USAGE, 0, "object graph: root edge %u -> %u", root,
			       to);
	return add_loose(&b->root_edges, edge, err);
}

enum hi_status hi_graph_builder_edge(struct hi_graph_builder *b, hi_node from, hi_node to,
				     enum hi_grade grade, struct hi_error *err)
{
	struct loose_edge edge = {from, to, (uint8_t)grade};

	if (from >= b->graph->n_objects || to >= b->graph->n_objects ||
	    (unsigned)grade > HI_GRADE_WEAK || b->has_chunks)
		return hi_fail(err, HI_USAGE, 0, "object graph: edge %u -> %u", from, to);
	return add_loose(&b->edges, edge, err);
}

/* The compiler makes vectors of branch-free passes, at -O3. */
#if defined(__GNUC__) && !defined(__clang__)
#define HI_VECTORS __attribute__((optimize("O3")))
#else
#define HI_VECTORS
#endif

HI_VECTORS
static bool row_descends(const uint32_t *row, uint32_t n)
{
	uint32_t descends = 0;

	for (uint32_t i = 0; i < n; i++)
		descends |= row[i + 1] < row[i];
	return descends;
}

HI_VECTORS
static bool edges_are_valid(const hi_node *to, const uint8_t *grade, uint32_t n,
			    hi_node limit)
{
	uint32_t beyond = 0;
	uint8_t grades = 0;

	for (uint32_t e = 0; e < n; e++)
		beyond |= to[e] >= limit;
	for (uint32_t e = 0; e < n; e++)
		grades |= grade[e];
	return !beyond && grades <= HI_GRADE_WEAK;
}

static bool chunk_is_valid(const struct hi_edge_chunk *chunk, uint32_t n, hi_node limit)
{
	return chunk->row[0] == 0 && !row_descends(chunk->row, n) &&
	       edges_are_valid(chunk->to, chunk->grade, chunk->row[n], limit);
}

static size_t pad_to_cache_line(size_t size)
{
	return (size + 63) & ~(size_t)63;
}

/* Room in the last segment, or in a new one; NULL when out of memory. */
static void *segment_room(struct hi_graph_private *priv, size_t size)
{
	struct hi_segment segment = {.size = SEGMENT_SIZE};
	size_t n = priv->segments.count;

	if (n &&
	    priv->segments.items[n - 1].size - priv->segments.items[n - 1].used >= size) {
		struct hi_segment *last = &priv->segments.items[n - 1];

		last->used += size;
		return last->pages + last->used - size;
	}
	if (segment.size < size)
		segment.size = size;
	if (!hi_vector_reserve(&priv->segments, n + 1))
		return NULL;
	segment.pages = hi_pages_alloc(segment.size);
	if (!segment.pages)
		return NULL;
	segment.used = size;
	priv->segments.items[priv->segments.count++] = segment;
	return segment.pages;
}

static void copy_edge_rows(const struct hi_edge_chunk *from, size_t n,
			   const struct hi_edge_chunk *to)
{
	size_t edges = from->row[n];

	memcpy(to->row, from->row, (n + 1) * sizeof(*to->row));
	if (!edges)
		return;
	memcpy(to->to, from->to, edges * sizeof(*to->to));
	memcpy(to->grade, from->grade, edges);
}

/* Note [Rows on huge pages]. False: they are few, or there is no memory. */
static bool pack_rows(struct hi_graph *g, uint32_t index, const struct hi_edge_chunk *c)
{
	size_t n = hi_chunk_nodes(g->n_objects, index), edges = c->row[n];
	size_t row = (n + 1) * sizeof(*c->row), to = edges * sizeof(*c->to);
	struct hi_edge_chunk packed;
	unsigned char *room;

	if (row + to + edges < PACKED_MIN)
		return false;
	pthread_mutex_lock(&g->priv->lock);
	room = segment_room(g->priv, pad_to_cache_line(row) + pad_to_cache_line(to) +
					     pad_to_cache_line(edges));
	pthread_mutex_unlock(&g->priv->lock);
	if (!room)
		return false;
	packed.row = (uint32_t *)(void *)room;
	packed.to = (hi_node *)(void *)(room + pad_to_cache_line(row));
	packed.grade = room + pad_to_cache_line(row) + pad_to_cache_line(to);
	copy_edge_rows(c, n, &packed);
	g->chunks[index] = packed;
	g->priv->is_packed[index] = true;
	return true;
}

static bool keep_copy_of_rows(struct hi_graph *g, uint32_t index,
			      const struct hi_edge_chunk *c)
{
	size_t n = hi_chunk_nodes(g->n_objects, index), edges = c->row[n];
	struct hi_edge_chunk copy = {.row = hi_alloc((n + 1) * sizeof(*c->row)),
				     .to = hi_alloc(edges * sizeof(*c->to)),
				     .grade = hi_alloc(edges)};

	if (!copy.row || !copy.to || !copy.grade) {
		hi_edge_chunk_free(&copy);
		return false;
	}
	copy_edge_rows(c, n, &copy);
	g->chunks[index] = copy;
	return true;
}

/* May these be the rows of the chunk, which has none yet? */
static bool may_be_rows(const struct hi_graph_builder *b, uint32_t index,
			const struct hi_edge_chunk *chunk)
{
	const struct hi_graph *g = b->graph;

	return index < g->priv->n_chunks && !g->chunks[index].row && !b->edges.count &&
	       chunk->row &&
	       chunk_is_valid(chunk, hi_chunk_nodes(g->n_objects, index), g->n_objects);
}

enum hi_status hi_graph_builder_chunk(struct hi_graph_builder *b, uint32_t index,
				      struct hi_edge_chunk chunk, struct hi_error *err)
{
	if (!may_be_rows(b, index, &chunk)) {
		hi_edge_chunk_free(&chunk);
		return hi_fail(err, HI_USAGE, 0, "object graph: rows of chunk %u", index);
	}
	b->has_chunks = true;
	if (pack_rows(b->graph, index, &chunk))
		hi_edge_chunk_free(&chunk);
	else
		b->graph->chunks[index] = chunk;
	return HI_OK;
}

enum hi_status hi_graph_builder_copy_chunk(struct hi_graph_builder *b, uint32_t index,
					   const struct hi_edge_chunk *chunk,
					   struct hi_error *err)
{
	if (!may_be_rows(b, index, chunk))
		return hi_fail(err, HI_USAGE, 0, "object graph: rows of chunk %u", index);
	b->has_chunks = true;
	if (!pack_rows(b->graph, index, chunk) &&
	    !keep_copy_of_rows(b->graph, index, chunk))
		return hi_fail_memory(err, "edges");
	return HI_OK;
}

enum hi_status hi_graph_builder_borrow_chunk(struct hi_graph_builder *b, uint32_t index,
					     struct hi_edge_chunk chunk,
					     struct hi_error *err)
{
	if (!may_be_rows(b, index, &chunk))
		return hi_fail(err, HI_USAGE, 0, "object graph: rows of chunk %u", index);
	b->has_chunks = true;
	b->graph->chunks[index] = chunk;
	b->graph->priv->is_packed[index] = true;
	return HI_OK;
}

struct hi_edges hi_graph_builder_edges(const struct hi_graph_builder *b, hi_node object)
{
	const struct hi_edge_chunk *c = &b->graph->chunks[object >> HI_CHUNK_SHIFT];
	uint32_t i = object & (HI_CHUNK_NODES - 1), from;

	if (!c->row)
		return (struct hi_edges){};
	from = c->row[i];
	return (struct hi_edges){c->to + from, c->grade + from, c->row[i + 1] - from};
}

/* ---- sealing ---- */

/* n rows, all empty, with room for `edges`. */
static bool alloc_chunk_rows(struct hi_edge_chunk *c, size_t n, size_t edges)
{
	c->row = hi_calloc(n + 1, sizeof(*c->row));
	c->to = hi_alloc(edges * sizeof(*c->to));
	c->grade = hi_alloc(edges);
	return c->row && c->to && c->grade;
}

/*
 * Counting sort of the edges whose `from` is in [first, first + n) into rows
 * that have been allocated; stable. row[] must be zero.
 */
static void rows_fill(struct hi_edge_chunk *c, const struct loose_edges *edges,
		      uint32_t first, uint32_t n)
{
	for (size_t i = 0; i < edges->count; i++)
		if (edges->items[i].from - first < n)
			c->row[edges->items[i].from - first + 1]++;
	for (uint32_t i = 0; i < n; i++)
		c->row[i + 1] += c->row[i];
	for (size_t i = 0; i < edges->count; i++) {
		const struct loose_edge *edge = &edges->items[i];
		uint32_t at;

		if (edge->from - first >= n)
			continue;
		at = c->row[edge->from - first]++;
		c->to[at] = edge->to;
		c->grade[at] = edge->grade;
	}
	/* Each entry is now the end of its row; move them up. */
	for (uint32_t i = n; i > 0; i--)
		c->row[i] = c->row[i - 1];
	c->row[0] = 0;
}

static size_t count_from(const struct loose_edges *edges, uint32_t first, uint32_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < edges->count; i++)
		count += edges->items[i].from - first < n;
	return count;
}

static enum hi_status seal_object_rows(struct hi_graph_builder *b, struct hi_error *err)
{
	struct hi_graph *g = b->graph;

	for (uint32_t i = 0; i < g->priv->n_chunks; i++) {
		uint32_t n = hi_chunk_nodes(g->n_objects, i);
		struct hi_edge_chunk *c = &g->chunks[i];
		size_t edges;

		if (!c->row) {
			edges = count_from(&b->edges, i << HI_CHUNK_SHIFT, n);
			if (!edges)
				c->row = g->priv->no_rows;
			else if (!alloc_chunk_rows(c, n, edges))
				return hi_fail_memory(err, "edges");
			else
				rows_fill(c, &b->edges, i << HI_CHUNK_SHIFT, n);
		}
		g->n_edges += c->row[n];
	}
	return HI_OK;
}

static void put_kind_edge(struct hi_edge_chunk *c, uint32_t row, uint32_t *at, hi_node to)
{
	c->to[*at] = to;
	c->grade[(*at)++] = HI_GRADE_EXACT;
	c->row[row + 1] = *at;
}

/* The rows of kinds and super-root follow those of the variables. */
static void seal_kinds(struct hi_graph *g)
{
	struct hi_edge_chunk *c = &g->root_chunk;
	uint32_t at = c->row[g->n_roots], row = g->n_roots;

	for (unsigned kind = 0; kind < HI_ROOT_KINDS; kind++, row++) {
		c->row[row + 1] = at;
		for (hi_node i = 0; i < g->n_roots; i++)
			if ((unsigned)g->roots[i].kind == kind)
				put_kind_edge(c, row, &at, g->first_root + i);
	}
	for (unsigned kind = 0; kind < HI_ROOT_KINDS; kind++)
		put_kind_edge(c, row, &at, g->first_kind + kind);
	g->n_edges += at;
}

static enum hi_status seal_root_rows(struct hi_graph_builder *b, struct hi_error *err)
{
	struct hi_graph *g = b->graph;
	uint64_t edges = (uint64_t)b->root_edges.count + g->n_roots + HI_ROOT_KINDS;

	if (edges >= UINT32_MAX)
		return hi_fail(err, HI_LIMIT, 0, "object graph: too many root edges");
	if (!alloc_chunk_rows(&g->root_chunk, (size_t)g->n_roots + HI_ROOT_KINDS + 1,
			      edges))
		return hi_fail_memory(err, "root edges");
	rows_fill(&g->root_chunk, &b->root_edges, 0, g->n_roots);
	seal_kinds(g);
	return HI_OK;
}

enum hi_status hi_graph_seal(struct hi_graph_builder *b, struct hi_graph **ret,
			     struct hi_error *err)
{
	HI_GUARD(hi_graph_builder_destroy) struct hi_graph_builder *owned = b;
	struct hi_graph *g = b->graph;
	enum hi_status status;

	if ((uint64_t)g->n_objects + b->roots.count + HI_ROOT_KINDS + 1 >= HI_NODE_NONE)
		return hi_fail(err, HI_LIMIT, 0, "object graph: too many nodes");
	g->n_roots = (hi_node)b->roots.count;
	g->first_root = g->n_objects;
	g->first_kind = g->first_root + g->n_roots;
	g->super_root = g->first_kind + HI_ROOT_KINDS;
	g->n_nodes = g->super_root + 1;
	g->roots = g->priv->roots = hi_take(b->roots.items);
	g->n_types = (uint32_t)b->types.count;
	g->types = g->priv->types = hi_take(b->types.items);
	status = seal_object_rows(b, err);
	if (status == HI_OK)
		status = seal_root_rows(b, err);
	if (status == HI_OK)
		*ret = hi_take(b->graph);
	return status;
}
