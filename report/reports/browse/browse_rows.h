/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists of rows to browse a heap by, each made when it is opened: the dominator tree
 * level by level, types with their objects, the referrers of an object, a path to it.
 *
 *	struct hi_browse_heap heap = { … };
 *	struct hi_browser browser;
 *	struct hi_browse_list *top, *below;
 *	status = hi_browser_init(&browser, &heap, err);
 *	status = hi_browse_top(&browser, &top, err);
 *	status = hi_browse_open(&browser, top, 0, &below, err);
 *	hi_browse_list_destroy(below), …; hi_browser_deinit(&browser);
 *
 * Of a list of the dominator tree, the bytes of all rows are those of what was opened
 * (only with a restriction, where `reach` is of a part, less), and so are the objects. A
 * list has at most HI_BROWSE_ROWS rows; the others are one more, the last.
 */
#ifndef HI_REPORT_REPORTS_BROWSE_BROWSE_ROWS_H
#define HI_REPORT_REPORTS_BROWSE_BROWSE_ROWS_H

#include "census/analysis/groups.h"
#include "report/parts/report_node.h"

enum {
	HI_BROWSE_ROWS = 1000,
	/* Of a longer list the objects from there on are one row. */
	HI_BROWSE_LINKS = 20000,
	/* Of a node that dominates more directly, each is a row and none a group. */
	HI_BROWSE_CHILDREN = 200000,
	/* The edges of a node with more of them have no names. */
	HI_BROWSE_EDGES = 1 << 16,
};

/* Borrowed; everything but graph, reach and dominators may be NULL. */
struct hi_browse_heap {
	const struct hi_graph *graph;
	const struct hi_reach *reach; /* of what is to be seen */
	const struct hi_dominators *dominators;
	const struct hi_census *census; /* by type */
	const struct hi_field_reader *fields;
	unsigned threads;
	/* How `from` refers to `to`; "" unknown. Lives as long as arg. */
	const char *(*edge_text)(void *arg, hi_node from, hi_node to);
	/* Fills in names, paths from a root to n nodes; "" unknown. Live as long as arg.
	 */
	void (*name_nodes)(void *arg, const hi_node *nodes, size_t n, const char **names);
	/* Fills the page with all that is known about a node. */
	enum hi_status (*explain)(void *arg, hi_node node, struct hi_page *page,
				  struct hi_error *err);
	bool full_names; /* of types */
	void *arg;
};

struct hi_browser {
	const struct hi_browse_heap *heap;
	struct hi_grouping grouping;
	hi_node *place; /* by node: where it is in the dominators' order */
	struct hi_type_names type_names;
	uint32_t most_children;	     /* HI_BROWSE_CHILDREN, but in tests */
	struct hi_browse_walk *walk; /* finds paths meanwhile; NULL: none does */
};

enum hi_browse_row_kind {
	HI_BROWSE_NODE,	  /* a variable or an object */
	HI_BROWSE_GROUP,  /* several objects of one type that one field leads to */
	HI_BROWSE_ITSELF, /* what was opened itself; of a list its objects */
	HI_BROWSE_TYPE,
	HI_BROWSE_REST, /* the rows that are too many */
};

struct hi_browse_row {
	enum hi_browse_row_kind kind;
	hi_node node;	  /* GROUP, ITSELF: the one that retains most; else NONE */
	uint32_t group;	  /* GROUP: which of the list's groups */
	uint32_t type;	  /* TYPE */
	const char *name; /* safe; "" */
	const char *what; /* the type, safe */
	uint64_t members; /* GROUP, ITSELF, REST: how many; else 1 */
	uint64_t objects; /* with those below */
	uint64_t bytes;	  /* retained; of TYPE and ITSELF their own; UINT64_MAX unknown */
	bool opens;
};

enum hi_browse_list_kind {
	HI_BROWSE_TREE,	     /* the top, or below a node */
	HI_BROWSE_MEMBERS,   /* of a group, or of a list */
	HI_BROWSE_TYPES,     /* of the live heap */
	HI_BROWSE_OBJECTS,   /* of a type */
	HI_BROWSE_REFERRERS, /* of a node */
	HI_BROWSE_PATH,	     /* from a root to a node */
};

struct hi_browse_list {
	enum hi_browse_list_kind kind;
	bool is_chain;	   /* MEMBERS: of a list, one behind the other */
	hi_node node;	   /* what was opened; HI_NODE_NONE */
	const char *title; /* safe: what was opened; "" */
	const char *step;  /* safe: the row that was opened, in few words; "" */
	struct hi_browse_row_list HI_VECTOR(struct hi_browse_row) rows;
	uint64_t bytes;		     /* what a share of 100 % is */
	struct hi_group_list groups; /* of GROUP rows */
	struct hi_positions at;	     /* of the objects of ITSELF */
	struct hi_page *page;	     /* owns the texts */
};

/* Borrows heap. Linear in the heap. Where there may be threads, one looks for paths to
 * all objects from now on. HI_NO_MEMORY. */
enum hi_status hi_browser_init(struct hi_browser *ret, const struct hi_browse_heap *heap,
			       struct hi_error *err);
void hi_browser_deinit(struct hi_browser *browser);

/* The top of the dominator tree; linear in the heap. All of these: *ret
 * hi_browse_list_destroy(); HI_NO_MEMORY, or what the reader of fields returns. */
enum hi_status hi_browse_top(struct hi_browser *browser, struct hi_browse_list **ret,
			     struct hi_error *err);
/* What is behind a row that opens: in a list of referrers, its referrers; of a type its
 * objects; else what it dominates. */
enum hi_status hi_browse_open(struct hi_browser *browser, struct hi_browse_list *list,
			      size_t row, struct hi_browse_list **ret,
			      struct hi_error *err);
/* HI_UNSUPPORTED: there is no census. */
enum hi_status hi_browse_types(struct hi_browser *browser, struct hi_browse_list **ret,
			       struct hi_error *err);
enum hi_status hi_browse_referrers(struct hi_browser *browser, hi_node node,
				   struct hi_browse_list **ret, struct hi_error *err);
/* The shortest path; no rows: there is none. */
enum hi_status hi_browse_path(struct hi_browser *browser, hi_node node,
			      struct hi_browse_list **ret, struct hi_error *err);
void hi_browse_list_destroy(struct hi_browse_list *list); /* NULL is fine */

#endif
