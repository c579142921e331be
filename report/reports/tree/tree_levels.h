/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dominator tree to be opened level by level, each by an address of its own: lists of
 * browse_rows.h, and what nodes are called in addresses (report/address.h) and on
 * command lines. It is made once for a heap; a level costs what is in it.
 *
 *	tree				the top
 *	tree/0x55d0c8a2b2a0		below an object
 *	tree/server			below a variable
 *	tree/0x55d0c8a2b2a0?group=3	the objects of the third row there
 */
#ifndef HI_REPORT_REPORTS_TREE_TREE_LEVELS_H
#define HI_REPORT_REPORTS_TREE_TREE_LEVELS_H

#include "base/cleanup.h"
#include "report/reports/browse/browse_rows.h"

struct hi_tree {
	struct hi_browse_heap heap;
	struct hi_browser browser;
	hi_node *by_name; /* roots, by name, then by node */
	struct hi_table
		by_address; /* of roots: the node; UINT64_MAX: there are several */
	struct hi_browse_list *top; /* NULL: not made yet */
};

/* Borrows what heap leads to. Linear in the heap. *ret: hi_tree_destroy(). HI_NO_MEMORY.
 */
enum hi_status hi_tree_create(const struct hi_browse_heap *heap, struct hi_tree **ret,
			      struct hi_error *err);
void hi_tree_destroy(struct hi_tree *tree); /* NULL is fine */
HI_DEFINE_GUARD(struct hi_tree *, hi_tree_destroy)

/* The object that has the address in it, or the variable there; HI_NODE_NONE. */
hi_node hi_tree_node_at(const struct hi_tree *tree, uint64_t address);
/* The variable of this name; of several the one that retains most; HI_NODE_NONE. */
hi_node hi_tree_node_named(const struct hi_tree *tree, const char *name);
/* What leads to the node on a command line: "0x…" or a name, raw; "": nothing does. Lives
 * as long as the page. */
const char *hi_tree_argument(const struct hi_tree *tree, hi_node node,
			     struct hi_page *page);
/* The address of the level below a node; HI_NODE_NONE: of the top. group: of the objects
 * of this row, from 1; 0: none. "": there is none. Lives as long as the page. */
const char *hi_tree_address(const struct hi_tree *tree, hi_node node, size_t group,
			    struct hi_page *page);

struct hi_tree_level {
	hi_node node; /* HI_NODE_NONE: the top */
	size_t group; /* row of its level that was opened, from 1; 0: none */
	struct hi_browse_list *list;
	struct hi_browse_list *above; /* of a group: the level that it is in */
	bool keeps_list, keeps_above; /* they are the tree's */
};

/* Opens a level. ret: hi_tree_level_close(), before the tree is destroyed. HI_NOT_FOUND:
 * no root leads to the node. HI_USAGE: the row is no group. HI_NO_MEMORY, or what the
 * reader of fields returns. */
enum hi_status hi_tree_open(struct hi_tree *tree, hi_node node, size_t group,
			    struct hi_tree_level *ret, struct hi_error *err);
void hi_tree_level_close(struct hi_tree_level *level);

#endif
