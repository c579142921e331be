/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The allocation traces of a .heapsnapshot: the stacks of a recording as a tree from the
 * outermost function to the innermost one, and the number of the node that allocated an
 * object.
 *
 * A node of the tree is one function, so an address in inlined code has several. Its
 * count and size are those of the allocations which it made itself, with the bytes that
 * were requested.
 */
#ifndef HI_REPORT_EXPORTS_TRACES_H
#define HI_REPORT_EXPORTS_TRACES_H

#include "census/graph/objects.h"
#include "report/exports/export.h"

struct hi_traces;

/* *ret NULL: there is no recording. hi_traces_destroy(). HI_NO_MEMORY, HI_LIMIT. */
enum hi_status hi_traces_make(struct hi_export *x, struct hi_traces **ret,
			      struct hi_error *err);
void hi_traces_destroy(struct hi_traces *t); /* NULL is fine */
/* How many functions there are; with NULL 0. */
uint32_t hi_traces_functions(const struct hi_traces *t);
/* The node of an object; 0: none is known, and with NULL. */
uint32_t hi_traces_of(const struct hi_traces *t, hi_node object);
/* Writes the fields of the functions, one after the other. number: of a string in the
 * table of the snapshot. */
void hi_traces_put_functions(const struct hi_traces *t, FILE *out,
			     uint32_t (*number)(void *arg, const char *text), void *arg);
void hi_traces_put_tree(const struct hi_traces *t, FILE *out);

#endif
