/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names for objects that have no type: the nearest typed field that leads to them, and
 * their size class. "via dictEntry.v.val, 48 B"; through other objects without a type:
 * "via dictEntry.v.val …, 48 B". They become types of the graph of class HI_TYPE_FIELD;
 * the evidence of the objects stays HI_EVIDENCE_NONE.
 *
 * Use: the scan gives a label to every object without a type that a field or a root
 * variable leads to. It leaves hi_field_label_tag(id) in the type column; id counts from
 * 1 in a table of labels of the caller. Typed objects have their graph type there, all
 * others 0. After all rows were given to the builder, and before it is sealed, call
 *
 *	status = hi_field_names_apply(typing->objects, b, label_of, typing, n, err);
 *
 * The column then has nothing but graph types. Conservative runs (no types) need no call.
 * If several fields lead to an object, the caller chooses its label; all else depends on
 * the column, the rows and the labels' texts alone, not on the order of their ids. Needs
 * 4 bytes for each object that is named indirectly, while it runs.
 */
#ifndef HI_DECODE_INFERENCE_FIELD_NAMES_H
#define HI_DECODE_INFERENCE_FIELD_NAMES_H

#include "census/graph/graph.h"

enum {
	HI_FIELD_LABEL_MAX = (1 << 30) - 1,
	HI_FIELD_LABEL_INDIRECT = 1 << 30, /* of field_names.c */
};
#define HI_FIELD_LABEL_TAG (1u << 31) /* no graph type has this bit */

/* Returns the type that an object with this label has in the graph; id up to
 * HI_FIELD_LABEL_MAX. */
static inline uint32_t hi_field_label_tag(uint32_t id)
{
	return HI_FIELD_LABEL_TAG | id;
}

/* NULL counts as "". Labels that read the same are one. */
struct hi_field_label {
	const char *owner;  /* the record's type, with or without "struct "; or the
			     * root variable */
	const char *field;  /* "v.val", "ht_table[]"; "" the variable itself; in
			     * parentheses what has no name: "(behind it)" */
	const char *module; /* that defines the owner; "" unknown */
};
/* id is in [1, n_labels]; never NULL. */
typedef const struct hi_field_label *hi_field_label_fn(void *arg, uint32_t id);

/* The text between owner and field: ".", " " or "". */
const char *hi_field_joint(const char *owner, const char *field);

/* objects: the builder's. HI_USAGE: a tag is no label's. */
enum hi_status hi_field_names_apply(struct hi_objects *objects,
				    struct hi_graph_builder *b, hi_field_label_fn *label,
				    void *arg, uint32_t n_labels, struct hi_error *err);

/* Exact up to 512 bytes, above that the next power of two. */
uint64_t hi_size_class(uint64_t usable);
/* "48 B", "≤ 4 KiB"; out needs 32 bytes. Returns out. */
char *hi_size_class_text(char out[32], uint64_t size_class);

/* Has any of n entries of a type column one of these bits? */
bool hi_types_have_any(const uint32_t *type, size_t n, uint32_t bits);

#endif
