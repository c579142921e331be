/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Give every block a type with its evidence, find its edges with their grade,
 * enumerate the roots with their names: image + blocks + types -> graph.
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
	unsigned threads;  /* 0: hi_parallel_threads() */
	/* What is known beyond debug information (hi_rulebook_source); zeroed: nothing.
	 */
	struct hi_rule_source rules;
	/* Says what is in its blocks, and what keeps it; NULL: none. Outlives the
	 * typing. */
	struct hi_runtime *runtime;
};

struct hi_typing_stats {
	uint64_t roots_ns, propagate_ns, scan_ns;
	uint64_t followed;  /* candidates for an object's type that were followed */
	uint64_t conflicts; /* objects with two types, none the beginning of the other */
	uint64_t by_shape;  /* typed by size and layout (Note [Containers of members]) */
	uint64_t bounded;   /* loops of rules that were cut at their bound */
	struct hi_subobject_stats subobjects;
	uint64_t outside_bytes;	 /* of objects in memory that no allocator walks */
	uint64_t outside_loader; /* of these objects: the dynamic linker's own */
	uint64_t words_scanned, bytes_scanned;
	uint64_t unreadable_bytes; /* of live blocks */
	uint64_t frames, truncated_stacks;
};

struct hi_typing; /* keeps layouts, for describe.h; borrows image, modules, types */

/*
 * Builds the graph over objects (taken). types may be NULL: no debug
 * information at all. allocator may be NULL (no heap known): then roots and
 * nothing else.
 */
enum hi_status hi_typing_run(const struct hi_image *image, struct hi_modules *modules,
			     struct hi_types *types, struct hi_allocator *allocator,
			     struct hi_objects *objects,
			     const struct hi_typing_options *options,
			     struct hi_typing **typing_ret, struct hi_graph **graph_ret,
			     struct hi_error *err);
/* Two candidates for objects, none the beginning of the other: which the objects
 * have, and which another pointer has. By objects; borrowed. */
struct hi_typing_conflict {
	const char *type, *other; /* hostile */
	uint64_t objects;
	uint64_t example; /* address of one */
};
size_t hi_typing_conflicts(const struct hi_typing *typing,
			   const struct hi_typing_conflict **ret);
struct hi_typing_stats hi_typing_stats(const struct hi_typing *typing);
void hi_typing_destroy(struct hi_typing *typing);

/* ---- in words (describe.c), for paths and explain ---- */

/* How `from` refers to `to`, appended to the text so far: "->ht_table[0][17]",
 * ".next", or " +0x18" for untyped memory. For a root node: its name first.
 * Writes a C-like path into out; returns its length. */
size_t hi_typing_describe_edge(struct hi_typing *typing, const struct hi_graph *graph,
			       hi_node from, hi_node to, char *out, size_t out_size);

struct hi_field {
	char path[96]; /* "ht_table[0]", "" for the whole */
	char type[96];
	char value[96]; /* printable; pointers as 0x…, strings quoted; escaped */
	uint64_t offset, size;
	hi_node to; /* object that it points to, else HI_NODE_NONE */
	enum hi_grade grade;
};
/* Fields of an object with their values, at most max; returns the number that there
 * are in *total_ret. Untyped memory gives words. */
enum hi_status hi_typing_fields(struct hi_typing *typing, const struct hi_graph *graph,
				hi_node node, struct hi_field *fields, size_t max,
				size_t *n_ret, size_t *total_ret, struct hi_error *err);
/* The evidence for its type, in words: "pointed to by server.db (struct redisDb *)". */
size_t hi_typing_explain_type(struct hi_typing *typing, const struct hi_graph *graph,
			      hi_node node, char *out, size_t out_size);

#endif
