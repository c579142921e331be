/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The object graph: objects, roots, edges with their grade, and the names of types and
 * roots. It is independent of processes.
 *
 * Nodes: [0, n_objects) objects in address order; then one node per root
 * variable; then one per root kind; the last is the super-root. The super-root
 * has an edge to each kind, a kind to each of its variables, and a variable to
 * the objects that it refers to. Root nodes cost 0.
 *
 * Rows are stored in chunks of HI_CHUNK_NODES objects, so that threads fill
 * them independently and nothing is copied or sorted:
 *   edges of object i = to[row[i] .. row[i+1]) of chunk i / HI_CHUNK_NODES.
 */
#ifndef HI_CENSUS_GRAPH_GRAPH_H
#define HI_CENSUS_GRAPH_GRAPH_H

#include "base/cleanup.h"
#include "census/graph/objects.h"

enum { HI_CHUNK_SHIFT = 16, HI_CHUNK_NODES = 1 << HI_CHUNK_SHIFT };

/* Grade of an edge. Exact and interior ones are precise knowledge. */
enum hi_grade {
	HI_GRADE_EXACT,	       /* pointer member of a typed object, to a start */
	HI_GRADE_INTERIOR,     /* the same, to the inside */
	HI_GRADE_CONSERVATIVE, /* a word that looks like a pointer */
	HI_GRADE_WEAK,	       /* retains nothing */
};
static inline bool hi_grade_is_precise(uint8_t grade)
{
	return grade <= HI_GRADE_INTERIOR;
}

enum hi_root_kind {
	HI_ROOT_GLOBAL, /* global or static variable */
	HI_ROOT_TLS,	/* thread-local variable */
	HI_ROOT_STACK,	/* variable of a frame */
	HI_ROOT_REGISTER,
	HI_ROOT_RUNTIME,
	HI_ROOT_UNTYPED, /* words that no variable covers */
	HI_ROOT_KINDS,
};
const char *hi_root_kind_name(enum hi_root_kind kind); /* "globals", … */

/* How well a root identifies the owner of an object, worst first. If several roots lead
 * to an object, those of the best rank hold it by name. */
enum hi_root_rank {
	HI_RANK_BY_KIND, /* what the kind has: variables are the program's */
	HI_RANK_NOBODY,	 /* words that may be left over: registers, memory of unknown use
			  */
	HI_RANK_SYSTEM,	 /* the C library's and the loader's own data */
	HI_RANK_MEMORY,	 /* words in memory that the program mapped */
	HI_RANK_FRAME,	 /* words in frames of the program, and of its threads */
	HI_RANK_PROGRAM, /* variables, and words in the data of modules */
	HI_RANKS,
};

struct hi_root {
	enum hi_root_kind kind;
	const char *name;   /* as in the source: "server", "ns::C::instance",
			     * "main.c:counter", "thread 3 worker() buf"; hostile */
	const char *detail; /* "src/server.c:120" or the module; "" if unknown; hostile */
	const char *type;   /* name of its type; "" if unknown; hostile */
	uint64_t address;   /* 0: in no memory (register) */
	uint64_t size;	    /* bytes of the variable; 0 unknown */
	uint32_t variable; /* handle of the caller (decode/inference); UINT32_MAX: none */
	uint8_t rank;	   /* enum hi_root_rank, as it was given: hi_root_rank() */
};
/* Its rank; never HI_RANK_BY_KIND. */
enum hi_root_rank hi_root_rank(const struct hi_root *root);

enum hi_type_class {
	HI_TYPE_UNKNOWN,
	HI_TYPE_RECORD,
	HI_TYPE_ARRAY,
	HI_TYPE_STRING,
	HI_TYPE_POINTER_ARRAY,
	HI_TYPE_SCALAR,
	HI_TYPE_FIELD, /* no type: the target of a field, by its size class */
	HI_TYPE_CLASSES,
};
/* "record", …, "field", "unknown". */
const char *hi_type_class_name(enum hi_type_class klass);

/* Strings are hostile; NULL counts as "". */
struct hi_type_name {
	const char *name; /* "" for id 0 */
	uint64_t size;	  /* bytes of one element; 0 unknown */
	enum hi_type_class klass;
	const char *module; /* file name of what defines it (FIELD: its owner); "" */
	/* FIELD only: "via dictEntry.v.val, 48 B" is what the field v.val of the
	 * owner dictEntry leads to, in blocks of the size class 48. */
	const char *owner;   /* type of the field's record, or a variable; "" none */
	const char *field;   /* path in the owner; "" the whole of it */
	uint64_t size_class; /* usable bytes, at most */
	bool indirect;	     /* only through other objects without a type */
	/* Bytes between the start of a block and the address that the program uses for
	 * the object: the header of a runtime. */
	uint8_t front;
};

/* The class of an unreachable object where a runtime has a collector. Among live objects
 * only those that the collector has put aside are classified (UNCOLLECTABLE). */
enum hi_unreachable_class {
	HI_UNREACHABLE_NO_CLASS,       /* no runtime classifies it */
	HI_UNREACHABLE_GARBAGE,	       /* the next collection frees it */
	HI_UNREACHABLE_UNCOLLECTABLE,  /* its type, or what holds it, prevents that */
	HI_UNREACHABLE_LOST_REFERENCE, /* its count, or its holder's, is too high */
	HI_UNREACHABLE_CLASSES,
};
/* "leaked", "garbage", … */
const char *hi_unreachable_class_key(enum hi_unreachable_class klass);

struct hi_edge_chunk {
	uint32_t *row; /* HI_CHUNK_NODES (or fewer) + 1 entries */
	hi_node *to;
	uint8_t *grade;
};

struct hi_graph {
	struct hi_objects *objects; /* owned */
	hi_node n_objects, n_roots, n_nodes;
	hi_node first_root, first_kind, super_root;
	const struct hi_root *roots;	  /* n_roots */
	const struct hi_type_name *types; /* [0] is unknown */
	uint32_t n_types;
	uint64_t n_edges;
	struct hi_edge_chunk *chunks;	 /* objects */
	struct hi_edge_chunk root_chunk; /* all pseudo-nodes, row[node - first_root] */
	struct hi_pools pools; /* blocks that were split; none in a snapshot's graph */
	uint8_t *unreachable_classes; /* n_objects, from hi_alloc; NULL: no collector */
	hi_node *causes; /* objects that make others uncollectable, ascending; from
			  * hi_alloc; NULL: none, or not known (a snapshot does not keep
			  * them) */
	uint32_t n_causes;
	struct hi_graph_private *priv;
};

/* Returns the address of an object as the program uses it: hi_objects_address() is the
 * start of its block, which may begin with a header of a runtime. */
static inline uint64_t hi_graph_address(const struct hi_graph *g, hi_node object)
{
	uint32_t type = g->objects->type[object];
	uint8_t front = type < g->n_types ? g->types[type].front : 0;

	return hi_objects_address(g->objects, object) +
	       (front < hi_objects_usable(g->objects, object) ? front : 0);
}

/* Returns the name of a type by its id, "" where it has none or the id is out of range.
 * Hostile. */
static inline const char *hi_graph_type_name(const struct hi_graph *g, uint32_t type)
{
	return type < g->n_types && g->types[type].name ? g->types[type].name : "";
}

struct hi_edges {
	const hi_node *to;
	const uint8_t *grade;
	uint32_t count;
};

/* Returns the edges that leave a node; borrowed from the graph. */
static inline struct hi_edges hi_graph_edges(const struct hi_graph *g, hi_node node)
{
	const struct hi_edge_chunk *c;
	uint32_t i, from;

	if (node < g->n_objects) {
		c = &g->chunks[node >> HI_CHUNK_SHIFT];
		i = node & (HI_CHUNK_NODES - 1);
	} else {
		c = &g->root_chunk;
		i = node - g->first_root;
	}
	from = c->row[i];
	return (struct hi_edges){c->to + from, c->grade + from, c->row[i + 1] - from};
}
/* Returns whether the object is the allocator's own: not live and no leak. */
static inline bool hi_is_internal(const struct hi_graph *g, hi_node object)
{
	return g->objects->flags[object] & HI_OBJECT_INTERNAL;
}
/* Is the node an object, not a root variable, a root kind or the super-root? */
static inline bool hi_graph_is_object(const struct hi_graph *g, hi_node node)
{
	return node < g->n_objects;
}
/* Cost of an object; 0 for root nodes. */
uint64_t hi_graph_cost(const struct hi_graph *g, hi_node node);

/* Builders are the only way to make a graph: first the objects are sealed, then types,
 * roots and edges are added. */
struct hi_graph_builder;
enum hi_status
hi_graph_builder_create(struct hi_objects *objects /* taken, also on failure */,
			struct hi_graph_builder **ret, struct hi_error *err);
/* Adds a type and returns its id, counted from 1. Copies the strings. The caller
 * writes the type column of objects itself (objects->type[id] = type). HI_NO_MEMORY. */
enum hi_status hi_graph_builder_type(struct hi_graph_builder *b,
				     const struct hi_type_name *type, uint32_t *id_ret,
				     struct hi_error *err);
/* Adds a root and returns its index (not its node). Copies the strings. HI_NO_MEMORY. */
enum hi_status hi_graph_builder_root(struct hi_graph_builder *b,
				     const struct hi_root *root, uint32_t *index_ret,
				     struct hi_error *err);
/* Adds an edge from root (its index, from hi_graph_builder_root) to an object.
 * HI_NO_MEMORY. */
enum hi_status hi_graph_builder_root_edge(struct hi_graph_builder *b, uint32_t root,
					  hi_node to, enum hi_grade grade,
					  struct hi_error *err);
/*
 * Adds all rows of object chunk `index`. Takes the three arrays (from hi_alloc; row has
 * one entry more than the chunk has objects, and row[0] is 0), also on failure. Chunks
 * may be added by several threads and in any order, each exactly once.
 */
enum hi_status hi_graph_builder_chunk(struct hi_graph_builder *b, uint32_t index,
				      struct hi_edge_chunk chunk, struct hi_error *err);
/* The same with arrays that the builder copies: they stay the caller's. */
enum hi_status hi_graph_builder_copy_chunk(struct hi_graph_builder *b, uint32_t index,
					   const struct hi_edge_chunk *chunk,
					   struct hi_error *err);
/* The same with arrays that the builder borrows: they stay the caller's and outlive
 * the graph. HI_USAGE: the rows are not valid. */
enum hi_status hi_graph_builder_borrow_chunk(struct hi_graph_builder *b, uint32_t index,
					     struct hi_edge_chunk chunk,
					     struct hi_error *err);
/* Returns the edges of an object whose chunk was added; no edges before that. */
struct hi_edges hi_graph_builder_edges(const struct hi_graph_builder *b, hi_node object);
/* Adds one edge, in any order. For tests and small graphs; not together with
 * hi_graph_builder_chunk(). */
enum hi_status hi_graph_builder_edge(struct hi_graph_builder *b, hi_node from, hi_node to,
				     enum hi_grade grade, struct hi_error *err);
/* Makes the graph. Takes b, also on failure. Chunks that were not added have no edges.
 * Parallel edges stay. HI_NO_MEMORY. */
enum hi_status hi_graph_seal(struct hi_graph_builder *b, struct hi_graph **ret,
			     struct hi_error *err);
void hi_graph_builder_destroy(struct hi_graph_builder *b);
HI_DEFINE_GUARD(struct hi_graph_builder *, hi_graph_builder_destroy)
void hi_graph_destroy(struct hi_graph *g);
HI_DEFINE_GUARD(struct hi_graph *, hi_graph_destroy)
/* Returns whether the invariants hold: all ids in range, rows ascending. For tests and
 * debug builds. */
bool hi_graph_is_valid(const struct hi_graph *g);

#endif
