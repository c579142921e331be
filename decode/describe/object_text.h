/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects as text: edges, fields with their values, the evidence for a type. For paths
 * and explain. */
#ifndef HI_DECODE_DESCRIBE_OBJECT_TEXT_H
#define HI_DECODE_DESCRIBE_OBJECT_TEXT_H

#include "decode/inference/typing.h"

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
	char path[96];	  /* "ht_table[0]", "" for the whole */
	const char *type; /* hostile; lives as long as the types; NULL: unknown */
	char value[96];	  /* printable; pointers as 0x…, strings quoted; escaped */
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
