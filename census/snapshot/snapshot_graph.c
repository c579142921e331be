/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the graph of a snapshot, through the same builder as every other graph. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "census/graph/graph_internal.h"
#include "census/snapshot/snapshot_graph_internal.h"

/* ---- types and roots ---- */

static const struct hi_row_member type_members[] = {
#define TYPE_MEMBER(name)                                                                \
	HI_ROW_MEMBER(struct hi_snapshot_type, name, struct hi_type_name, name)
	TYPE_MEMBER(name),  TYPE_MEMBER(module), TYPE_MEMBER(owner),
	TYPE_MEMBER(field), TYPE_MEMBER(size),	 TYPE_MEMBER(size_class),
	TYPE_MEMBER(klass),
#undef TYPE_MEMBER
};
const struct hi_row_map hi_snapshot_type_map =
	HI_ROW_MAP("types", struct hi_type_name, type_members);

static const struct hi_row_member root_members[] = {
#define ROOT_MEMBER(name)                                                                \
	HI_ROW_MEMBER(struct hi_snapshot_root, name, struct hi_root, name)
	ROOT_MEMBER(name), ROOT_MEMBER(detail), ROOT_MEMBER(type), ROOT_MEMBER(address),
	ROOT_MEMBER(size), ROOT_MEMBER(kind),	ROOT_MEMBER(rank),
#undef ROOT_MEMBER
};
const struct hi_row_map hi_snapshot_root_map =
	HI_ROW_MAP("roots", struct hi_root, root_members);

/* Texts that were checked. */
static const char *text_at(const struct hi_snapshot *s, uint32_t offset)
{
	return s->strings + offset;
}

enum hi_status hi_snapshot_types(struct hi_snapshot *s, struct hi_error *err)
{
	uint64_t n = 0;

	return hi_snapshot_rows(s, "types", &s->types, &n, err);
}

/* All but the first. Its members are those of a row but for two flags. */
enum hi_status hi_snapshot_add_types(struct hi_snapshot *s, struct hi_graph_builder *b,
				     struct hi_error *err)
{
	enum hi_status status = HI_OK;

	for (uint32_t i = 1; i < s->bounds[HI_BOUND_TYPES] && status == HI_OK; i++) {
		const struct hi_snapshot_type *row = &s->types[i];
		struct hi_type_name type = {
			.indirect = row->flags & HI_SNAPSHOT_TYPE_INDIRECT,
			.front = (uint8_t)(row->flags >> HI_SNAPSHOT_TYPE_FRONT)};
		uint32_t id;

		hi_snapshot_unpack_row(s, &hi_snapshot_type_map, row, &type);
		status = hi_graph_builder_type(b, &type, &id, err);
	}
	return status;
}

static enum hi_status add_snapshot_roots(struct hi_snapshot *s,
					 struct hi_graph_builder *b, struct hi_error *err)
{
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_rows(s, "roots", &s->roots, &n, err);

	for (uint64_t i = 0; i < n && status == HI_OK; i++) {
		struct hi_root root = {.variable = UINT32_MAX};
		uint32_t rank = s->roots[i].rank, index;

		hi_snapshot_unpack_row(s, &hi_snapshot_root_map, &s->roots[i], &root);
		root.rank = rank < HI_RANKS ? (uint8_t)rank : 0;
		status = hi_graph_builder_root(b, &root, &index, err);
	}
	return status;
}

/* ---- edges ---- */

static enum hi_status add_root_edges(struct hi_snapshot *s, struct hi_graph_builder *b,
				     struct hi_error *err)
{
	uint64_t n_roots = s->bounds[HI_BOUND_ROOTS], n;
	const uint32_t *row, *to = NULL;
	const uint8_t *grade = NULL;
	enum hi_status status = hi_snapshot_rows(s, "roots.row", &row, &n, err);

	if (status != HI_OK)
		return status;
	hi_snapshot_bound(s, HI_BOUND_ROOT_EDGES, row[n_roots]);
	status = hi_snapshot_rows(s, "roots.to", &to, &n, err);
	if (status == HI_OK)
		status = hi_snapshot_rows(s, "roots.grade", &grade, &n, err);
	if (status != HI_OK)
		return status;
	for (uint64_t i = 0; i < n_roots; i++) {
		if (row[0] != 0 || row[i] > row[i + 1] || row[i + 1] > row[n_roots])
			return hi_snapshot_bad(s, "roots.row", err, "not in order");
		for (uint32_t e = row[i]; e < row[i + 1]; e++)
			if (hi_graph_builder_root_edge(b, (uint32_t)i, to[e],
						       (enum hi_grade)grade[e],
						       err) != HI_OK)
				return err && err->status == HI_NO_MEMORY
					       ? HI_NO_MEMORY
					       : hi_snapshot_bad(
							 s, "roots.to", err,
							 "edge %u has an invalid target",
							 e);
	}
	return HI_OK;
}

/* Finds the first edge of each chunk; chunk_first[n_chunks] is the number of edges. */
static enum hi_status find_chunks(struct hi_snapshot *s, hi_node n, const uint32_t *rows,
				  struct hi_error *err)
{
	uint32_t n_chunks = hi_chunk_count(n);
	uint64_t at = 0;

	free(s->chunk_first);
	s->chunk_first = hi_calloc((size_t)n_chunks + 1, sizeof(*s->chunk_first));
	if (!s->chunk_first)
		return hi_fail_memory(err, "edges");
	for (uint32_t i = 0; i < n_chunks; i++) {
		s->chunk_first[i] = at;
		at += rows[(size_t)i * (HI_CHUNK_NODES + 1) + hi_chunk_nodes(n, i)];
	}
	s->chunk_first[n_chunks] = at;
	return HI_OK;
}

static enum hi_status add_edges(struct hi_snapshot *s, hi_node n,
				struct hi_graph_builder *b, struct hi_error *err)
{
	uint32_t n_chunks = hi_chunk_count(n);
	uint32_t *rows = NULL;
	hi_node *to = NULL;
	uint8_t *grades = NULL;
	uint64_t n_rows = 0;
	enum hi_status status = hi_snapshot_rows(s, "edges.row", &rows, &n_rows, err);

	if (status == HI_OK)
		status = find_chunks(s, n, rows, err);
	if (status != HI_OK)
		return status;
	hi_snapshot_bound(s, HI_BOUND_EDGES, s->chunk_first[n_chunks]);
	status = hi_snapshot_rows(s, "edges.to", &to, &n_rows, err);
	if (status == HI_OK)
		status = hi_snapshot_rows(s, "edges.grade", &grades, &n_rows, err);
	for (uint32_t i = 0; i < n_chunks && status == HI_OK; i++) {
		struct hi_edge_chunk c = {.row = rows + (size_t)i * (HI_CHUNK_NODES + 1),
					  .to = to + s->chunk_first[i],
					  .grade = grades + s->chunk_first[i]};

		status = hi_graph_builder_borrow_chunk(b, i, c, err);
		if (status == HI_USAGE)
			status = hi_snapshot_bad(
				s, "edges.row", err,
				"rows or edges of part %u are inconsistent", i);
	}
	return status;
}

/* ---- long names ---- */

/*
 * Note [Long names of many]
 *
 * A row of 4 bytes may name a text of a megabyte, and so may a million of them: exports
 * and tables of SQL write it out each time. Real names are long as well, but few, or
 * those of few. So the names of all objects may have so much together, and this for each,
 * and those of edges too.
 */
#define NAMES_FREE (UINT64_C(1) << 30)
enum { NAME_OF_OBJECT = 4096, NAME_OF_EDGE = 1024 };

static enum hi_status names_are_too_long(const struct hi_snapshot *s, const char *section,
					 struct hi_error *err)
{
	return hi_snapshot_bad(s, section, err, "its names are too long for so many");
}

/* After the types were checked. */
static enum hi_status check_object_names(struct hi_snapshot *s, struct hi_error *err)
{
	uint32_t n_types = (uint32_t)s->bounds[HI_BOUND_TYPES];
	HI_GUARD(free) size_t *sizes = hi_calloc((size_t)n_types + 1, sizeof(*sizes));
	uint64_t sum = 0, n = 0;
	size_t longest = 0;
	const uint32_t *types = NULL;
	enum hi_status status = hi_snapshot_rows(s, "objects.type", &types, &n, err);

	if (!sizes)
		return hi_fail_memory(err, "types");
	for (uint32_t i = 0; i < n_types; i++) {
		sizes[i] = strlen(text_at(s, s->types[i].name)) +
			   strlen(text_at(s, s->types[i].module));
		longest = sizes[i] > longest ? sizes[i] : longest;
	}
	if (status != HI_OK || longest <= NAME_OF_OBJECT)
		return status;
	for (uint64_t i = 0; i < n; i++)
		sum += sizes[types[i]];
	return sum > NAMES_FREE + n * NAME_OF_OBJECT
		       ? names_are_too_long(s, "objects.type", err)
		       : HI_OK;
}

/* The same texts come again and again: a few lengths are remembered. */
struct known_length {
	uint32_t offset; /* zeroed: that of "" */
	size_t length;
};
enum { KNOWN_LENGTHS = 1024 };

static enum hi_status check_edge_names(const struct hi_snapshot *s, const char *name,
				       const uint32_t *labels, uint64_t n,
				       uint64_t numbers, struct hi_error *err)
{
	HI_GUARD(free)
	struct known_length *known = hi_calloc(KNOWN_LENGTHS, sizeof(*known));
	uint64_t sum = 0, most = NAMES_FREE / 4 + n * NAME_OF_EDGE;

	if (!known)
		return hi_fail_memory(err, "names of edges");
	for (uint64_t i = 0; i < n && sum <= most; i++) {
		struct known_length *k;

		if (labels[i] >= numbers)
			continue;
		k = &known[labels[i] * 0x9e3779b1u >> 22];
		if (k->offset != labels[i])
			*k = (struct known_length){labels[i],
						   strlen(text_at(s, labels[i]))};
		sum += k->length;
	}
	return sum > most ? names_are_too_long(s, name, err) : HI_OK;
}

/* ---- all of it ---- */

static enum hi_status build_snapshot_graph(struct hi_snapshot *s, hi_node n,
					   struct hi_graph_builder *b,
					   struct hi_error *err)
{
	enum hi_status status = hi_snapshot_add_types(s, b, err);

	if (status == HI_OK)
		status = check_object_names(s, err);
	if (status == HI_OK)
		status = add_snapshot_roots(s, b, err);
	if (status == HI_OK)
		status = add_root_edges(s, b, err);
	return status == HI_OK ? add_edges(s, n, b, err) : status;
}

static enum hi_status take_unreachable_classes(struct hi_snapshot *s, struct hi_graph *g,
					       struct hi_error *err)
{
	const struct hi_snapshot_unreachable *rows;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_rows(s, "fates", &rows, &n, err);

	if (status != HI_OK || !rows)
		return status;
	g->unreachable_classes =
		hi_calloc((size_t)g->n_objects + 1, sizeof(*g->unreachable_classes));
	if (!g->unreachable_classes)
		return hi_fail_memory(err, "classes of unreachable objects");
	for (uint64_t i = 0; i < n; i++)
		g->unreachable_classes[rows[i].object] =
			(uint8_t)rows[i].unreachable_class;
	return HI_OK;
}

/* All that most commands read of a heap, so that it is refused before the first column is
 * unpacked. */
static enum hi_status check_heap_room(struct hi_snapshot *s, struct hi_error *err)
{
	static const char *const names[] = {
		"types",	   "roots",	     "windows",	      "large",
		"objects.address", "objects.usable", "objects.type",  "objects.flags",
		"fates",	   "edges.row",	     "edges.to",      "edges.grade",
		"roots.row",	   "roots.to",	     "roots.grade",   "reach.any",
		"reach.exact",	   "reach.likely",   "reach.internal"};

	return hi_snapshot_check_room(s, names, sizeof(names) / sizeof(names[0]), err);
}

enum hi_status hi_snapshot_graph(struct hi_snapshot *s, struct hi_graph **ret,
				 struct hi_error *err)
{
	static const char *const columns[] = {
		"edges.to",  "objects.address", "objects.usable", "objects.type",
		"edges.row", "edges.grade",	"objects.flags"};
	HI_GUARD(hi_graph_builder_destroy) struct hi_graph_builder *b = NULL;
	struct hi_objects *objects = NULL;
	hi_node n;
	enum hi_status status = check_heap_room(s, err);

	if (status == HI_OK)
		status = hi_snapshot_types(s, err);
	if (status == HI_OK) {
		hi_snapshot_prepare(s, columns, sizeof(columns) / sizeof(columns[0]));
		status = hi_snapshot_objects(s, &objects, err);
	}
	if (status != HI_OK)
		return status;
	n = objects->count;
	status = hi_graph_builder_create(objects, &b, err);
	if (status == HI_OK)
		hi_graph_builder_borrow_strings(b);
	if (status == HI_OK)
		status = build_snapshot_graph(s, n, b, err);
	if (status == HI_OK)
		status = hi_graph_seal(hi_take(b), ret, err);
	if (status != HI_OK)
		return status;
	hi_snapshot_bound(s, HI_BOUND_NODES, (*ret)->n_nodes);
	status = take_unreachable_classes(s, *ret, err);
	if (status != HI_OK)
		hi_graph_destroy(hi_take(*ret));
	return status;
}

const char *hi_snapshot_root_module(const struct hi_snapshot *s, uint32_t root)
{
	return s->strings + s->roots[root].module;
}

bool hi_snapshot_type_retains(const struct hi_snapshot *s, uint32_t type)
{
	return s->types[type].flags & HI_SNAPSHOT_TYPE_RETAINS;
}

/* ---- labels ---- */

/* Does each name something? In older files all are offsets. */
static enum hi_status check_labels(const struct hi_snapshot *s, const char *name,
				   const uint32_t *labels, uint64_t n, uint64_t n_tails,
				   struct hi_error *err)
{
	uint64_t numbers = s->labels_are_offsets ? UINT64_MAX : HI_SNAPSHOT_INDEX;
	uint64_t end = HI_SNAPSHOT_TAILED + (n_tails << HI_SNAPSHOT_TAIL_SHIFT);
	uint32_t wild = 0;

	for (uint64_t i = 0; i < n; i++)
		wild |= labels[i] < numbers ? labels[i] >= s->n_strings
					    : labels[i] >= end;
	return wild ? hi_snapshot_bad(s, name, err,
				      "an edge refers to a string that does not exist")
		    : check_edge_names(s, name, labels, n, numbers, err);
}

static enum hi_status open_label_column(struct hi_snapshot *s, const char *name,
					uint64_t n_tails, const uint32_t **ret,
					struct hi_error *err)
{
	const uint32_t *labels;
	uint64_t n = 0;
	enum hi_status status = hi_snapshot_rows(s, name, &labels, &n, err);

	if (status == HI_OK && labels)
		status = check_labels(s, name, labels, n, n_tails, err);
	if (status == HI_OK)
		*ret = labels;
	return status;
}

enum hi_status hi_snapshot_open_labels(struct hi_snapshot *s, struct hi_error *err)
{
	bool old = !hi_snapshot_has(s, "edges.name") && !hi_snapshot_has(s, "roots.name");
	uint64_t n_tails = 0;
	enum hi_status status =
		old ? HI_OK : hi_snapshot_rows(s, "edges.tail", &s->tails, &n_tails, err);

	s->labels_are_offsets = old;
	if (status == HI_OK)
		status = open_label_column(s, old ? "edges.label" : "edges.name", n_tails,
					   &s->labels, err);
	return status == HI_OK ? open_label_column(s, old ? "roots.label" : "roots.name",
						   n_tails, &s->root_labels, err)
			       : status;
}

struct hi_edge_name hi_snapshot_label_decode(uint32_t value, const char *strings,
					     const uint32_t *tails)
{
	uint32_t tail = value >> HI_SNAPSHOT_TAIL_SHIFT & (HI_SNAPSHOT_TAILS - 1);

	if (value < HI_SNAPSHOT_INDEX)
		return (struct hi_edge_name){.text = strings + value, .key = value + 1};
	if (value >= HI_SNAPSHOT_TAILED)
		return (struct hi_edge_name){.kind = HI_NAME_INDEX,
					     .number = value & HI_SNAPSHOT_TAILED_MOST,
					     .text = strings + tails[tail],
					     .key = tails[tail] + 1};
	if (value >= HI_SNAPSHOT_OFFSET)
		return (struct hi_edge_name){.kind = HI_NAME_OFFSET,
					     .number = 8ull *
						       (value & HI_SNAPSHOT_NUMBER_MOST)};
	return (struct hi_edge_name){.kind = HI_NAME_INDEX,
				     .number = value & HI_SNAPSHOT_NUMBER_MOST};
}

static struct hi_edge_name decode_edge_name(const struct hi_snapshot *s, uint32_t value)
{
	if (s->labels_are_offsets)
		return (struct hi_edge_name){.text = s->strings + value,
					     .key = value + 1};
	return hi_snapshot_label_decode(value, s->strings, s->tails);
}

struct hi_edge_name hi_snapshot_edge_name(const struct hi_snapshot *s,
					  const struct hi_graph *g, hi_node node,
					  uint32_t index)
{
	uint32_t chunk = node >> HI_CHUNK_SHIFT;
	const struct hi_edge_chunk *c;
	hi_node at = node;

	if (node < g->n_objects && s->labels) {
		c = &g->chunks[chunk];
		at &= HI_CHUNK_NODES - 1;
		return decode_edge_name(
			s, s->labels[s->chunk_first[chunk] + c->row[at] + index]);
	}
	if (node < g->first_root || node >= g->first_kind || !s->root_labels)
		return (struct hi_edge_name){};
	return decode_edge_name(
		s, s->root_labels[g->root_chunk.row[node - g->first_root] + index]);
}

const char *hi_snapshot_label(const struct hi_snapshot *s, const struct hi_graph *g,
			      hi_node node, uint32_t index, char buffer[HI_EDGE_TEXT])
{
	struct hi_edge_name name = hi_snapshot_edge_name(s, g, node, index);

	return hi_edge_name_text(&name, buffer);
}

enum hi_status hi_snapshot_used(struct hi_snapshot *s, const uint32_t **ret,
				struct hi_error *err)
{
	uint64_t n = 0;

	return hi_snapshot_rows(s, "objects.used", ret, &n, err);
}
