/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by browse_rows.c (the dominator tree) and browse_lists.c (all other lists). */
#ifndef HI_REPORT_REPORTS_BROWSE_BROWSE_ROWS_INTERNAL_H
#define HI_REPORT_REPORTS_BROWSE_BROWSE_ROWS_INTERNAL_H

#include "report/reports/browse/browse_rows.h"

/* A list without rows, which has the names of types until hi_browse_list_close(). NULL:
 * out of memory. */
struct hi_browse_list *hi_browse_list_create(struct hi_browser *browser,
					     enum hi_browse_list_kind kind, hi_node node);
/* Ends the making of the list (taken), with this status so far; sets *ret if all went
 * well. */
enum hi_status hi_browse_list_close(struct hi_browser *browser,
				    struct hi_browse_list *list, enum hi_status status,
				    struct hi_browse_list **ret, struct hi_error *err);
/* Adds one variable or object. name: how it is referred to, escaped already, or "". */
enum hi_status hi_browse_push_node(const struct hi_browser *browser,
				   struct hi_browse_list *list, hi_node node,
				   const char *name, struct hi_error *err);
enum hi_status hi_browse_push_row(struct hi_browse_list *list, struct hi_browse_row row,
				  struct hi_error *err);
/* How many objects go with a node, itself too; 0: it is not reachable. */
uint64_t hi_browse_objects(const struct hi_browser *browser, hi_node node);

/* The HI_BROWSE_ROWS nodes that retain most. */
struct hi_browse_best {
	const uint64_t *retained;
	struct hi_positions nodes; /* a heap: the least is the first */
};
/* False: out of memory. */
bool hi_browse_best_add(struct hi_browse_best *best, hi_node node);
void hi_browse_best_sort(struct hi_browse_best *best); /* the largest first */

/* A thread that walks the heap, for paths. NULL: there is none, which is fine. */
struct hi_browse_walk *hi_browse_walk_start(const struct hi_browse_heap *heap);
/* Waits until it is done. NULL: it failed, or there is none. */
const struct hi_path_tree *hi_browse_walk_wait(struct hi_browse_walk *walk);
void hi_browse_walk_end(struct hi_browse_walk *walk); /* NULL is fine */

/* Of browse_lists.c. */
enum hi_status hi_browse_objects_of_type(struct hi_browser *browser, uint32_t type,
					 struct hi_browse_list **ret,
					 struct hi_error *err);

#endif
