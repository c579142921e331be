/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Type inference: from an image, its blocks and its types to a graph. Every block gets a
 * type with its evidence, its edges with their grade; roots get their names.
 */
#ifndef HI_DECODE_INFERENCE_TYPING_H
#define HI_DECODE_INFERENCE_TYPING_H

#include "census/graph/graph.h"
#include "decode/allocator.h"
#include "decode/frames/frames.h"
#include "decode/inference/subobjects.h"
#include "decode/runtime.h"
#include "decode/rules/rules.h"

struct hi_typing_options {
	bool conservative; /* every word of every block and root may be a pointer; no
			      types */
	bool redact;	   /* paths have no keys of elements */
	unsigned threads;  /* 0: hi_parallel_threads() */
	/* Rules of containers and hints (hi_rulebook_source); zeroed: none. */
	struct hi_rule_source rules;
	/* Knows the objects in its blocks, and its roots; NULL: none. Outlives the
	 * typing. */
	struct hi_runtime *runtime;
};

struct hi_typing_stats {
	uint64_t roots_ns, propagate_ns, scan_ns;
	uint64_t followed;  /* type candidates that were followed */
	uint64_t conflicts; /* objects with two types, none of which begins with the other
			     */
	uint64_t by_shape;  /* typed by size and layout (Note [Containers of members]) */
	uint64_t bounded;   /* loops of rules that were cut at their bound */
	struct hi_subobject_stats subobjects;
	uint64_t outside_bytes;	 /* of objects in memory that no allocator walks */
	uint64_t outside_loader; /* of these objects: the dynamic linker's own */
	uint64_t words_scanned, bytes_scanned;
	uint64_t unreadable_bytes; /* of live blocks */
	uint64_t frames, truncated_stacks;
};

struct hi_typing; /* keeps layouts, for describe.h */

/*
 * Builds the graph over `objects`, which it takes. Image, modules, types and allocator
 * are borrowed and outlive the typing. types may be NULL: no debug information at all.
 * allocator may be NULL: no heap is known, the graph has roots only.
 * *typing_ret: hi_typing_destroy(); *graph_ret: hi_graph_destroy().
 */
enum hi_status hi_typing_run(const struct hi_image *image, struct hi_modules *modules,
			     struct hi_types *types, struct hi_allocator *allocator,
			     struct hi_objects *objects,
			     const struct hi_typing_options *options,
			     struct hi_typing **typing_ret, struct hi_graph **graph_ret,
			     struct hi_error *err);
struct hi_block_sizes;
/* How the allocators round requests up; lives as long as typing. */
const struct hi_block_sizes *hi_typing_sizes(const struct hi_typing *typing);
/* A conflict: objects with one type to which another pointer has another type; none
 * begins with the other. */
struct hi_typing_conflict {
	const char *type, *other; /* of the objects; of the other pointer; hostile */
	uint64_t objects;
	uint64_t example; /* address of one */
};
/* All conflicts, the most objects first; borrowed. Returns their number. */
size_t hi_typing_conflicts(const struct hi_typing *typing,
			   const struct hi_typing_conflict **ret);
/* Returns times and counts of the inspection, for the report. */
struct hi_typing_stats hi_typing_stats(const struct hi_typing *typing);
/* Frees it; NULL is fine. */
void hi_typing_destroy(struct hi_typing *typing);

/* ---- descriptions (describe.c), for paths and explain ---- */

/*
 * Writes the path by which `from` refers to `to` into out, at most out_size bytes with
 * the NUL: "->ht_table[0][17]", ".next", or " +0x18" for untyped memory; for a root node
 * its name first. Returns the length.
 */
size_t hi_typing_describe_edge(struct hi_typing *typing, const struct hi_graph *graph,
			       hi_node from, hi_node to, char *out, size_t out_size);
/* The same for a step of a path: it ends in HI_EDGE_LINK where it leads on in the same
 * container (census/graph/edge_name.h). */
size_t hi_typing_describe_step(struct hi_typing *typing, const struct hi_graph *graph,
			       hi_node from, hi_node to, char *out, size_t out_size);

struct hi_field {
	char path[96]; /* "ht_table[0]", "" for the whole */
	char type[96];
	char value[96]; /* printable; pointers as 0x…, strings quoted; escaped */
	uint64_t offset, size;
	hi_node to; /* object that it points to, else HI_NODE_NONE */
	enum hi_grade grade;
};
/* Fields of an object with their values, the first `max` of *total_ret; *n_ret is how
 * many were written. Untyped memory gives words. */
enum hi_status hi_typing_fields(struct hi_typing *typing, const struct hi_graph *graph,
				hi_node node, struct hi_field *fields, size_t max,
				size_t *n_ret, size_t *total_ret, struct hi_error *err);
/* Writes the evidence for the object's type: "pointed to by server.db (struct redisDb
 * *)". Returns the length. */
size_t hi_typing_explain_type(struct hi_typing *typing, const struct hi_graph *graph,
			      hi_node node, char *out, size_t out_size);

#endif
